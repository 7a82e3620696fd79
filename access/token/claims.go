package token

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/chromafs/chromafs/access"
)

const (
	maxGroups = 10_000
	maxDate   = 253402300799 // the end of the year 9999, in seconds since 1970
)

// member is the viewer whom the claims of a verified token describe.
func (v *Verifier) member(segment string) (access.Viewer, error) {
	claims, err := decodeSegment(segment)
	if err != nil {
		return access.Viewer{}, fmt.Errorf("its set of claims is %w", err)
	}
	if err := v.check(claims); err != nil {
		return access.Viewer{}, err
	}
	value, given, err := lookup(claims, v.options.GroupsClaim)
	var groups []string
	if given && err == nil {
		groups, err = names(value)
	}
	var viewer access.Viewer
	if err == nil {
		viewer, err = access.Member(groups)
	}
	if err != nil {
		return access.Viewer{}, fmt.Errorf("claim %q, which --token-groups-claim names: %w", v.options.GroupsClaim, err)
	}
	return viewer, nil
}

// check adds what the parser leaves out: a token that is for somebody while nobody said that we are; and dates that
// overflow, which it takes for others.
func (v *Verifier) check(claims map[string]any) error {
	if _, given := claims["aud"]; given && v.options.Audience == "" {
		return errors.New("it is for an audience (aud): say with --token-audience which one this is")
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		value, given := claims[name]
		if seconds, ok := value.(float64); given && (!ok || seconds < 0 || seconds > maxDate) {
			return fmt.Errorf("%s is no date in seconds since 1970", name)
		}
	}
	return nil
}

// lookup finds a claim by its name, or else by a path of names with dots between. It is not given where any name of the
// path isn't; a value on the way that is no object is an error.
func lookup(claims map[string]any, claim string) (value any, given bool, err error) {
	if value, given = claims[claim]; given {
		return value, true, nil
	}
	value = claims
	for name := range strings.SplitSeq(claim, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false, fmt.Errorf("what should hold %q is no object", name)
		}
		if value, given = object[name]; !given {
			return nil, false, nil
		}
	}
	return value, true, nil
}

// names reads a list of names, or one name, and skips those that no page can name. Text is never split: a name may hold
// spaces and commas.
func names(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	if len(list) > maxGroups {
		return nil, fmt.Errorf("%d groups, at most %d", len(list), maxGroups)
	}
	groups := make([]string, 0, len(list))
	for _, item := range list {
		name, ok := item.(string)
		if !ok {
			return nil, errors.New("neither a list of names nor a name")
		}
		if !nameless(name) {
			groups = append(groups, name)
		}
	}
	return groups, nil
}

// nameless reports whether no page can name the group, so that being in it says nothing. Names that are reserved are not
// skipped but refused, whatever their form.
func nameless(group string) bool {
	malformed := group == "" || len(group) > access.MaxGroupBytes || !utf8.ValidString(group) || strings.Contains(group, "\x00")
	return malformed && !strings.HasPrefix(group, access.ReservedPrefix)
}
