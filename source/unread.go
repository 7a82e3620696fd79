package source

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/chromafs/chromafs/access"
)

// unread is a fault where the page says who may see it in what some platform may take for frontmatter, but is none here.
// Content is all of the page, and body what splitFront left of it.
func (f front) unread(content, body []byte) *access.Fault {
	var o opening
	switch {
	case f.delimiter == "":
		o = findOpening(content)
	case f.dots:
		o = opening{body, f.delimiter, "is behind the line ...", "remove that line, or write --- instead if this is not frontmatter"}
	}
	end := ending(o.text, o.delimiter)
	if end < 0 && f.cut && o.delimiter != "" {
		end = len(o.text)
	}
	if end < 0 || markerLine(o.text[:end]) == 0 {
		return nil
	}
	line := markerLine(withoutCode(o.text, end))
	if line == 0 {
		return nil
	}
	line += bytes.Count(content[:len(content)-len(o.text)], []byte("\n"))
	at := access.Place{Path: f.path, Line: min(line, 1+bytes.Count(content, []byte("\n")))}
	return &access.Fault{At: at, Err: fmt.Errorf("this looks like frontmatter, but it %s and is not read: %s", o.why, o.next)}
}

// opening is where something that looks like frontmatter begins.
type opening struct {
	text      []byte // up to the end of the page, from behind the delimiter on
	delimiter string // empty for none
	why, next string // why it is not frontmatter, and what to do
}

// comment is one of HTML or of MDX.
var comment = regexp.MustCompile(`^(?s:<!--.*?-->|\{\s*/\*.*?\*/\s*\})`)

// aloneCR is a first line, or all before it, that a carriage return ends and no line feed.
var aloneCR = regexp.MustCompile(`^(?:\x{feff})?[^\n]*?\r(?:[^\n]|$)`)

// findOpening looks behind what has no meaning for a page.
func findOpening(content []byte) (o opening) {
	oldMac := aloneCR.Match(content)
	if oldMac {
		content = bytes.ReplaceAll(content, []byte("\r"), []byte("\n"))
	}
	rest, comments := bytes.TrimLeftFunc(content, unseen), false
	for len(rest) > 0 && (rest[0] == '<' || rest[0] == '{') {
		n := len(comment.Find(rest))
		if n == 0 {
			return o
		}
		rest, comments = bytes.TrimLeftFunc(rest[n:], unseen), true
	}
	delimiter := string(rest[:min(3, len(rest))])
	if delimiter != "---" && delimiter != "+++" || len(rest) > 3 && rest[3] == rest[0] {
		return o
	}
	before := bytes.TrimPrefix(content[:len(content)-len(rest)], bom)
	o = opening{text: rest[3:], delimiter: delimiter}
	o.next = "make " + delimiter + " all of the first line, or, if this is not frontmatter, " + beginWithText
	switch {
	case comments:
		o.why = "stands behind a comment"
	case bytes.Contains(before, []byte("\n")):
		o.why = "stands behind an empty line"
	case len(before) > 0:
		o.why = "stands behind white space or invisible characters"
	case oldMac:
		o.why = "has lines that end in a carriage return alone"
	default:
		o.why = "has more than " + delimiter + " in its first line"
	}
	return o
}

// ending is the offset of the line that ends what the delimiter began, or -1.
func ending(text []byte, delimiter string) int {
	if delimiter == "" {
		return -1
	}
	for at := 0; at < len(text); {
		line, rest := cutLine(text[at:])
		line = bytes.TrimFunc(line, unseen)
		more, ok := bytes.CutPrefix(line, []byte(delimiter))
		if ok && (len(more) == 0 || more[0] != delimiter[0]) || delimiter == "---" && string(line) == "..." {
			return at
		}
		at = len(text) - len(rest)
	}
	return -1
}

// withoutCode is the text up to an offset, with spaces for fenced code.
func withoutCode(text []byte, end int) []byte {
	out := bytes.Clone(text[:end])
	for _, f := range fences(text) {
		for i := f.start; i < min(f.end, end); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	return out
}

// markerText is what may be a marker, in text without white space.
var markerText = regexp.MustCompile(`(?im)(?:^\??|[{,])["']?(?:(?:public|groups)["']?[:=]|if["']?[:=].*visitor\.)`)

// markerLine is the line, from 1, of what may be a marker in text that can't be parsed, or 0: a key that begins a line, or
// that follows a brace, or a comma in braces.
func markerLine(text []byte) int {
	text = bytes.Map(func(r rune) rune {
		if r != '\n' && unseen(r) {
			return -1
		}
		return r
	}, text)
	lines := lineCount{text: text, line: 1}
	depth, braced, from := 0, false, 0 // braced: there is one in the line
	for _, at := range markerText.FindAllIndex(text, -1) {
		between := text[from:at[0]]
		from = at[0]
		depth += bytes.Count(between, []byte("{")) - bytes.Count(between, []byte("}"))
		end := bytes.LastIndexByte(between, '\n')
		braced = braced && end < 0 || bytes.IndexByte(between[end+1:], '{') >= 0
		if text[at[0]] != ',' || depth > 0 || braced {
			return lines.to(at[1])
		}
	}
	return 0
}

// doubtful is the meta of what may be frontmatter or not: it is, if something in it looks like a marker.
func (f front) doubtful(line int, text string) meta {
	if at := markerLine(f.text); at > 0 {
		return f.fault(1+at, text)
	}
	return meta{warnings: []note{{f.clamp(line), text}}}
}

// beginWithText is the way out for a page whose first lines are taken for frontmatter; an empty line or a comment is none.
const beginWithText = "begin the page with a line of text"

// errNoEnd: nothing closes the frontmatter.
func errNoEnd(delimiter string) error {
	return errors.New("frontmatter has no end: close it with a line " + delimiter + ", or, if it is a rule and not frontmatter, " + beginWithText)
}
