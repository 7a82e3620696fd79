package source

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// glob is one include or exclude glob.
type glob struct {
	text  string   // as written
	match string   // as doublestar reads it, everything below included
	parts []string // of match
}

type globs []glob

// parseGlobs refuses malformed globs; list is the name of the setting.
func parseGlobs(list string, texts []string) (globs, error) {
	var out globs
	for _, text := range texts {
		p := strings.Trim(strings.TrimPrefix(text, "./"), "/")
		parts := strings.Split(p, "/")
		if p == "" || !utf8.ValidString(p) || !doublestar.ValidatePattern(p) || slices.Contains(parts, "..") {
			return nil, fmt.Errorf("%s: %w %q", list, ErrGlob, text)
		}
		if parts[len(parts)-1] != "**" {
			p += "/**"
		}
		out = append(out, glob{text: text, match: p, parts: strings.Split(p, "/")})
	}
	return out, nil
}

// find returns the first glob that matches the path, or nil.
func (gs globs) find(path string) *glob {
	for i := range gs {
		if doublestar.MatchUnvalidated(gs[i].match, path) {
			return &gs[i]
		}
	}
	return nil
}

// brings reports whether the path is included: a glob matches it, and no wildcard stands for the start of a hidden name.
func (gs globs) brings(path string) bool {
	for i := range gs {
		if doublestar.MatchUnvalidated(gs[i].match, path) && gs[i].spells(path) {
			return true
		}
	}
	return false
}

func (g *glob) spells(path string) bool {
	start := 0
	for name := range strings.SplitSeq(path, "/") {
		if hidden(name) != "" && doublestar.MatchUnvalidated(g.match, path[:start]+mask(name)+path[start+len(name):]) {
			return false
		}
		start += len(name) + 1
	}
	return true
}

// mask changes the start of a name, so that only a wildcard there still matches.
func mask(name string) string { return "\x01" + name[1:] }

// mayBring reports whether something below the folder dir may be included. It may say yes too often.
func (gs globs) mayBring(dir string) bool {
	names := strings.Split(dir, "/")
	return slices.ContainsFunc(gs, func(g glob) bool { return reaches(g.parts, names) })
}

func reaches(parts, names []string) bool {
	for i, name := range names {
		switch {
		case i == len(parts):
			return false
		case parts[i] == "**":
			for _, name := range names[i:] {
				spelled := func(part string) bool { return spells(part, name) }
				if hidden(name) != "" && !slices.ContainsFunc(parts[i+1:], spelled) {
					return false
				}
			}
			return true
		case !doublestar.ValidatePattern(parts[i]):
			return true // braces with a slash inside
		case !doublestar.MatchUnvalidated(parts[i], name) || hidden(name) != "" && !spells(parts[i], name):
			return false
		}
	}
	return true
}

func spells(part, name string) bool {
	return !doublestar.ValidatePattern(part) ||
		doublestar.MatchUnvalidated(part, name) && !doublestar.MatchUnvalidated(part, mask(name))
}

// hidden is the default rule that leaves out a name, or empty.
func hidden(name string) Reason {
	switch {
	case name == "node_modules":
		return NodeModules
	case strings.HasPrefix(name, ".") && name != ".well-known":
		return DotName
	}
	return ""
}
