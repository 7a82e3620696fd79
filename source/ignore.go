package source

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFiles are the files whose lines name what to ignore, the strongest first: a "!" in .chromafsignore brings back
// what .gitignore names.
var ignoreFiles = [...]string{".chromafsignore", ".mintignore", ".gitignore"}

// rule is one line of an ignore file, with the meaning that gitignore(5) gives it: bytes are compared, "?" is one byte,
// and letters keep their case whatever core.ignoreCase says.
type rule struct {
	origin  string // "guides/.gitignore:3: *.tmp"
	negate  bool
	dirOnly bool
	base    bool   // compared with the last name of the path alone
	prefix  string // the text before the first special character
	suffix  string // all the rest is "*" and this text
	glob    string // all the rest, as doublestar reads it, over latin1
	kind    restKind
}

type restKind int

const (
	restNone restKind = iota
	restSuffix
	restGlob
)

// rules are one ignore file's, and those of the same name in the folders above.
type rules struct {
	dir    string
	list   []rule
	parent *rules
}

// find returns the rule that decides about a path: the last one of the deepest file that matches.
func (rs *rules) find(name string, isDir bool) *rule {
	for ; rs != nil; rs = rs.parent {
		rel := name
		if rs.dir != "" {
			rel = name[len(rs.dir)+1:]
		}
		base := path.Base(rel)
		for i := len(rs.list) - 1; i >= 0; i-- {
			if r := &rs.list[i]; r.match(rel, base, isDir) {
				return r
			}
		}
	}
	return nil
}

func (r *rule) match(rel, base string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if r.base {
		rel = base
	}
	rest, ok := strings.CutPrefix(rel, r.prefix)
	if !ok {
		return false
	}
	switch r.kind {
	case restNone:
		return rest == ""
	case restSuffix:
		return strings.HasSuffix(rest, r.suffix)
	default:
		return doublestar.MatchUnvalidated(r.glob, latin1(rest))
	}
}

// parseRules reads the ignore file called name of a folder. Lines that can never match are left out.
func parseRules(dir, name string, content []byte, parent *rules) *rules {
	rs := &rules{dir: dir, parent: parent}
	content = bytes.TrimPrefix(content, bom)
	for n := 1; len(content) > 0; n++ {
		var line []byte
		line, content, _ = bytes.Cut(content, []byte("\n"))
		text := string(bytes.TrimSuffix(line, []byte("\r")))
		text, _, _ = strings.Cut(text, "\x00") // where git's C strings end
		if r, ok := parseRule(trimSpaces(text)); ok {
			r.origin = fmt.Sprintf("%s:%d: %s", path.Join(dir, name), n, text)
			rs.list = append(rs.list, r)
		}
	}
	return rs
}

func parseRule(p string) (rule, bool) {
	if p == "" || p[0] == '#' {
		return rule{}, false
	}
	var r rule
	p, r.negate = strings.CutPrefix(p, "!")
	p, r.dirOnly = strings.CutSuffix(p, "/")
	r.base = !strings.Contains(p, "/")
	p = strings.TrimPrefix(p, "/")
	if p == "" {
		return rule{}, false
	}
	n := strings.IndexAny(p, special)
	if n < 0 {
		r.prefix = p
		return r, true
	}
	r.prefix, p = p[:n], p[n:]
	if r.base && p[0] == '*' && !strings.ContainsAny(p[1:], special) {
		r.kind, r.suffix = restSuffix, p[1:]
		return r, true
	}
	var ok bool
	r.kind = restGlob
	r.glob, ok = translate(p, r.base)
	return r, ok
}

const special = `*?[\`

// trimSpaces drops spaces at the end, but not one behind a backslash.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}
