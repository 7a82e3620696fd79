package source

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/chromafs/chromafs/access"
)

// accessRules are access.rules with their globs, in order.
type accessRules struct {
	rules []access.Rule
	globs globs // one for each rule
	own   []string
}

func parseAccessRules(rules []access.Rule) (accessRules, error) {
	out := accessRules{rules: rules}
	for _, r := range rules {
		g, err := parseGlobs(r.At.String()+": access.rules", []string{r.Glob})
		if err != nil {
			return accessRules{}, err
		}
		out.globs = append(out.globs, g...)
		out.own = append(out.own, strings.Trim(strings.TrimPrefix(r.Glob, "./"), "/"))
	}
	return out, nil
}

// find is the last rule that matches, or nil. Named is set where the rule names the file itself: the last part of its glob
// is the file's name, without any wildcard.
func (a accessRules) find(name string) (rule *access.Rule, named bool) {
	for i := len(a.rules) - 1; i >= 0; i-- {
		if a.matches(i, name) {
			return &a.rules[i], a.names(i, name)
		}
	}
	return nil, false
}

func (a accessRules) matches(i int, name string) bool {
	return doublestar.MatchUnvalidated(a.globs[i].match, name)
}

func (a accessRules) names(i int, name string) bool {
	return !strings.ContainsAny(path.Base(a.own[i]), "*?[{") && doublestar.MatchUnvalidated(a.own[i], name)
}
