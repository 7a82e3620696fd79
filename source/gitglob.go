package source

import "strings"

// translate rewrites a glob of git for doublestar, and reports false for one that can never match. They differ in
// braces, runs of stars, "/**" at the end (git wants a name there), and character classes.
func translate(p string, base bool) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(p); {
		switch c := p[i]; c {
		case '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			out.WriteString(stars(p, i, n, base))
			i += n
		case '?':
			out.WriteByte('?')
			i++
		case '[':
			set, n, ok := parseClass(p[i:])
			set['/'] = false
			if !ok || set == (byteSet{}) {
				return "", false
			}
			set.write(&out)
			i += n
		case '\\':
			if i++; i == len(p) {
				return "", false
			}
			fallthrough
		default:
			writeLiteral(&out, p[i])
			i++
		}
	}
	return out.String(), !strings.HasSuffix(p, "/")
}

// stars gives n stars at p[i:] their meaning: any folders where they stand alone between slashes, else part of a name.
func stars(p string, i, n int, base bool) string {
	after := strings.TrimPrefix(p[i+n:], `\`)
	if n < 2 || base || (i > 0 && p[i-1] != '/') || (after != "" && after[0] != '/') {
		return "*"
	}
	if i > 0 && after == "" {
		return "**/*"
	}
	return "**"
}

func writeLiteral(out *strings.Builder, c byte) {
	if c < 0x80 && c != '/' && !isAlnum(c) {
		out.WriteByte('\\')
	}
	out.WriteRune(rune(c))
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// latin1 makes one character of each byte, so that globs compare bytes as git does.
func latin1(s string) string {
	ascii := true
	for i := 0; i < len(s) && ascii; i++ {
		ascii = s[i] < 0x80
	}
	if ascii {
		return s
	}
	out := make([]rune, len(s))
	for i := range out {
		out[i] = rune(s[i])
	}
	return string(out)
}

// byteSet is the meaning of a character class.
type byteSet [256]bool

func (s *byteSet) invert() {
	for c := range s {
		s[c] = !s[c]
	}
}

func (s *byteSet) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s[c] = true
	}
}

func (s *byteSet) write(out *strings.Builder) {
	out.WriteByte('[')
	for lo := 0; lo < len(s); lo++ {
		if !s[lo] {
			continue
		}
		hi := lo
		for hi+1 < len(s) && s[hi+1] {
			hi++
		}
		writeLiteral(out, byte(lo))
		if hi > lo {
			out.WriteByte('-')
			writeLiteral(out, byte(hi))
		}
		lo = hi
	}
	out.WriteByte(']')
}

// parseClass reads the class that p begins with, as git's wildmatch does, and returns its length.
func parseClass(p string) (set byteSet, n int, ok bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	prev := -1 // what a range may start from
	for first := i; i < len(p); {
		size := 0
		switch {
		case p[i] == ']' && i > first:
			if negated {
				set.invert()
			}
			return set, i + 1, true
		case p[i] == '-' && prev >= 0 && !strings.HasPrefix(p[i+1:], "]"):
			var hi byte
			if hi, size = classByte(p[i+1:]); size == 0 {
				return set, 0, false
			}
			set.addRange(byte(prev), hi)
			prev, size = -1, size+1
		case isNamedClass(p[i:]):
			if size = set.addNamed(p[i:]); size == 0 {
				return set, 0, false
			}
			prev = -1
		default:
			var c byte
			if c, size = classByte(p[i:]); size == 0 {
				return set, 0, false
			}
			set[c], prev = true, int(c)
		}
		i += size
	}
	return set, 0, false
}

// classByte reads one byte of a class, escaped or not; the size is 0 at the end of p.
func classByte(p string) (c byte, size int) {
	switch {
	case p == "" || p == `\`:
		return 0, 0
	case p[0] == '\\':
		return p[1], 2
	}
	return p[0], 1
}

// namedClasses are pairs of first and last byte.
var namedClasses = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
	"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf",
}

// isNamedClass reports whether p begins with something like [:alpha:], known or not.
func isNamedClass(p string) bool {
	end := strings.IndexByte(p, ']')
	return strings.HasPrefix(p, "[:") && (end < 0 || end > 2 && p[end-1] == ':')
}

// addNamed adds a named class and returns its length, 0 for one that does not exist.
func (s *byteSet) addNamed(p string) int {
	name, _, closed := strings.Cut(p[len("[:"):], ":]")
	pairs := namedClasses[name]
	if !closed || pairs == "" {
		return 0
	}
	for i := 0; i < len(pairs); i += 2 {
		s.addRange(pairs[i], pairs[i+1])
	}
	return len(name) + len("[::]")
}
