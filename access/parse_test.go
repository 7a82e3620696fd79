package access

import (
	"errors"
	"strings"
	"testing"
)

type list = []any

type object = map[string]any

func TestParseGroups(t *testing.T) {
	many := list{}
	for i := range MaxGroups + 1 {
		many = append(many, strings.Repeat("x", i+1))
	}
	cases := []struct {
		name  string
		value any
		want  string // in words, or the error's
	}{
		{"one", list{"admin"}, `groups "admin"`},
		{"sorted and distinct", list{"b", "a", "b"}, `groups "a", "b"`},
		{"any", list{"*"}, "any signed-in viewer"},
		{"none", list{}, "nobody"},
		{"includes", list{object{"includes": list{"a"}}}, `groups "a"`},
		{"excludes", list{object{"includes": list{"*"}, "excludes": list{"x"}}}, `any signed-in viewer but groups "x"`},
		{"several objects", list{object{"includes": list{"a"}, "excludes": list{"x"}}, "b", object{"includes": list{"c"}}}, `groups "a", "b", "c" but groups "x"`},
		{"includes of nobody", list{object{"includes": list{}, "excludes": list{"x"}}}, "nobody"},
		{"text", "admin", "groups is text, not a list: write [name, …]"},
		{"empty", nil, "groups is empty"},
		{"bool", true, "groups is true or false"},
		{"number", list{"a", 1}, "item 2 of groups is a number"},
		{"nested list", list{list{"a"}}, "item 1 of groups is a list"},
		{"object alone", object{"includes": list{"a"}}, "groups is an object"},
		{"excludes alone", list{object{"excludes": list{"a"}}}, "no includes"},
		{"unknown key", list{object{"includes": list{"a"}, "exclude": list{"a"}}}, `"exclude" is neither`},
		{"includes of text", list{object{"includes": "a"}}, "includes is text"},
		{"excludes of null", list{object{"includes": list{"a"}, "excludes": nil}}, "excludes is empty"},
		{"number in excludes", list{object{"includes": list{"a"}, "excludes": list{2}}}, "item 1 of excludes is a number"},
		{"everybody excluded", list{object{"includes": list{"a"}, "excludes": list{"*"}}}, "can't be excluded"},
		{"reserved", list{"chromafs:none"}, "is reserved"},
		{"reserved and excluded", list{object{"includes": list{}, "excludes": list{"chromafs:x"}}}, "is reserved"},
		{"empty name", list{""}, "empty group name"},
		{"long name", list{strings.Repeat("x", MaxGroupBytes+1)}, "129 bytes"},
		{"many", many, "101 groups"},
	}
	for _, c := range cases {
		got, err := ParseGroups(c.value)
		if err != nil {
			if !errors.Is(err, ErrMalformed) || !got.Equal(Nobody()) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, %v; want %q", c.name, got, err, c.want)
			}
			continue
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestParsePublic(t *testing.T) {
	for _, v := range []bool{true, false} {
		if got, err := ParsePublic(v); err != nil || got != v {
			t.Errorf("%t: %t, %v", v, got, err)
		}
	}
	for _, v := range []any{nil, "true", 1, list{true}, object{}} {
		if got, err := ParsePublic(v); !errors.Is(err, ErrMalformed) || got {
			t.Errorf("%v: %t, %v", v, got, err)
		}
	}
}

func TestParseRule(t *testing.T) {
	for value, want := range map[string]Access{"public": Everyone(), "authenticated": SignedIn(), "nobody": Nobody()} {
		if got, err := ParseRule(value); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
	if got, err := ParseRule(list{"a"}); err != nil || got.String() != `groups "a"` {
		t.Errorf("a list: %v, %v", got, err)
	}
	for _, v := range []any{"admin", "", nil, list{"a", "public"}, list{"nobody"}, true, 3, object{"includes": list{"a"}}} {
		if got, err := ParseRule(v); !errors.Is(err, ErrMalformed) || !got.Equal(Nobody()) {
			t.Errorf("%v: %v, %v", v, got, err)
		}
	}
}

func TestMember(t *testing.T) {
	v, err := Member([]string{"a", "b"})
	if err != nil || !v.SignedIn || len(v.Groups) != 2 || v.Operator {
		t.Errorf("%+v, %v", v, err)
	}
	if v, err := Member(nil); err != nil || !v.SignedIn {
		t.Errorf("no groups: %+v, %v", v, err)
	}
	for _, g := range []string{"", "*", "chromafs:none", "\xff", "a\x00", strings.Repeat("x", MaxGroupBytes+1)} {
		if v, err := Member([]string{"a", g}); !errors.Is(err, ErrMalformed) || v.SignedIn || v.Groups != nil {
			t.Errorf("%q: %+v, %v", g, v, err)
		}
	}
}
