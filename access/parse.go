package access

import "fmt"

// ParseGroups reads the value of groups as YAML, TOML or JSON decoders give it: a list of names, or of objects with
// includes and excludes, which are lists of names too. An empty list is nobody. Of several objects the includes add up,
// and so do the excludes, which win. Its errors wrap ErrMalformed.
func ParseGroups(value any) (Access, error) {
	list, ok := value.([]any)
	if !ok {
		return Nobody(), fmt.Errorf("%w: groups is %s, not a list: write [name, …]", ErrMalformed, kindOf(value))
	}
	var a Access
	for i, item := range list {
		var err error
		switch v := item.(type) {
		case string:
			a.Groups = append(a.Groups, v)
		case map[string]any:
			err = a.add(v)
		default:
			err = fmt.Errorf("%w: item %d of groups is %s, not a name: put it in quotes", ErrMalformed, i+1, kindOf(item))
		}
		if err != nil {
			return Nobody(), err
		}
	}
	return a.normal()
}

// add adds an object with includes and excludes. Without includes it would name nobody, and is taken for a slip.
func (a *Access) add(object map[string]any) error {
	for key := range object {
		if key != "includes" && key != "excludes" {
			return fmt.Errorf("%w: %q is neither includes nor excludes", ErrMalformed, key)
		}
	}
	if _, ok := object["includes"]; !ok {
		return fmt.Errorf("%w: no includes: write includes: [\"*\"] for any signed-in viewer", ErrMalformed)
	}
	includes, err := names("includes", object["includes"])
	if err != nil {
		return err
	}
	a.Groups = append(a.Groups, includes...)
	if _, ok := object["excludes"]; !ok {
		return nil
	}
	excludes, err := names("excludes", object["excludes"])
	a.Excludes = append(a.Excludes, excludes...)
	return err
}

func names(key string, value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: %s is %s, not a list of names", ErrMalformed, key, kindOf(value))
	}
	out := make([]string, len(list))
	for i, item := range list {
		if out[i], ok = item.(string); !ok {
			return nil, fmt.Errorf("%w: item %d of %s is %s, not a name: put it in quotes", ErrMalformed, i+1, key, kindOf(item))
		}
	}
	return out, nil
}

// normal sorts, and checks. Excludes of nobody are dropped: they change nothing.
func (a Access) normal() (Access, error) {
	a.Groups, a.Excludes = union(a.Groups, nil), union(a.Excludes, nil)
	if len(a.Groups) == 0 {
		a.Groups = nil
	}
	if len(a.Excludes) == 0 {
		a.Excludes = nil
	}
	check := a
	if len(a.Groups) == 0 {
		check.Groups, a.Excludes = []string{AnySignedIn}, nil
	}
	if err := check.Validate(); err != nil {
		return Nobody(), err
	}
	return a, nil
}

// ParsePublic reads the value of public: only true and false are words for it.
func ParsePublic(value any) (bool, error) {
	v, ok := value.(bool)
	if !ok {
		return false, fmt.Errorf("%w: public is %s, neither true nor false", ErrMalformed, kindOf(value))
	}
	return v, nil
}

// words are what a rule may allow that is no list of groups.
var words = map[string]Access{"public": Everyone(), "authenticated": SignedIn(), "nobody": Nobody()}

// ParseRule reads what a rule allows: public, authenticated, nobody, or a list as ParseGroups has it.
func ParseRule(value any) (Access, error) {
	word, ok := value.(string)
	if a, known := words[word]; ok && known {
		return a, nil
	}
	if !ok {
		a, err := ParseGroups(value)
		for _, g := range a.Groups {
			if _, known := words[g]; known {
				return Nobody(), fmt.Errorf("%w: a group can't be called %s in a rule: write allow: %s", ErrMalformed, g, g)
			}
		}
		return a, err
	}
	return Nobody(), fmt.Errorf("%w: %q is none of public, authenticated, nobody, and groups are a list: [name, …]", ErrMalformed, word)
}

// kindOf names the type of a decoded value.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "empty"
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any, map[any]any:
		return "an object"
	}
	return "a number or date"
}
