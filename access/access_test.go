package access

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRecordValues(t *testing.T) {
	cases := []struct {
		a          Access
		visibility string
		groups     []string
	}{
		{Everyone(), "public", []string{"*"}},
		{SignedIn(), "authenticated", []string{"*"}},
		{Access{Groups: []string{"*", "admin"}}, "authenticated", []string{"*"}},
		{Access{Groups: []string{"admin", "dev"}}, "groups", []string{"admin", "dev"}},
		{Nobody(), "denied", []string{"chromafs:none"}},
	}
	for _, c := range cases {
		if c.a.Visibility() != c.visibility || !slices.Equal(c.a.RecordGroups(), c.groups) {
			t.Errorf("%+v: %s %q; want %s %q", c.a, c.a.Visibility(), c.a.RecordGroups(), c.visibility, c.groups)
		}
	}
}

func TestAllows(t *testing.T) {
	admin, dev := Viewer{Groups: []string{"admin"}}, Viewer{Groups: []string{"dev"}}
	signedIn, anonymous, operator := Viewer{SignedIn: true}, Viewer{}, Viewer{Operator: true}
	cases := []struct {
		name    string
		a       Access
		yes, no []Viewer
	}{
		{"everyone", Everyone(), []Viewer{anonymous, signedIn, admin, operator}, nil},
		{"signed in", SignedIn(), []Viewer{signedIn, admin, operator}, []Viewer{anonymous}},
		{"admin", Access{Groups: []string{"admin"}}, []Viewer{admin, operator}, []Viewer{anonymous, signedIn, dev}},
		{"nobody", Nobody(), []Viewer{operator}, []Viewer{anonymous, signedIn, admin}},
		{"zero value", Access{}, []Viewer{operator}, []Viewer{anonymous, signedIn, admin}},
	}
	for _, c := range cases {
		for _, v := range c.yes {
			if !c.a.Allows(v) {
				t.Errorf("%s hides from %+v", c.name, v)
			}
		}
		for _, v := range c.no {
			if c.a.Allows(v) {
				t.Errorf("%s shows to %+v", c.name, v)
			}
		}
	}
}

// A viewer can't claim a name of ours to see what nobody may.
func TestReservedNameOpensNothing(t *testing.T) {
	if (Access{}).Allows(Viewer{Groups: []string{"chromafs:none"}}) {
		t.Error("chromafs:none opened a denied page")
	}
}

func TestValidate(t *testing.T) {
	many := make([]string, MaxGroups+1)
	for i := range many {
		many[i] = strings.Repeat("a", i+1)
	}
	bad := map[string]Access{
		"public with groups": {Public: true, Groups: []string{"a"}},
		"unsorted":           {Groups: []string{"b", "a"}},
		"repeated":           {Groups: []string{"a", "a"}},
		"empty name":         {Groups: []string{""}},
		"reserved":           {Groups: []string{"chromafs:x"}},
		"not UTF-8":          {Groups: []string{"\xff"}},
		"NUL":                {Groups: []string{"a\x00"}},
		"long":               {Groups: []string{strings.Repeat("x", MaxGroupBytes+1)}},
		"many":               {Groups: many},
	}
	for name, a := range bad {
		if err := a.Validate(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, a := range []Access{Everyone(), SignedIn(), Nobody(), {Groups: []string{"a", "b"}}} {
		if err := a.Validate(); err != nil {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func TestParseDefault(t *testing.T) {
	for s, want := range map[string]Access{"public": Everyone(), "authenticated": SignedIn()} {
		if got, err := ParseDefault(s); err != nil || !got.Equal(want) {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "Public", "nobody", "*"} {
		if got, err := ParseDefault(s); !errors.Is(err, ErrMalformed) || !got.Equal(Nobody()) {
			t.Errorf("%q: %+v, %v; want nobody and an error", s, got, err)
		}
	}
}
