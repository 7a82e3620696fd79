package source

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestJSONTree(t *testing.T) {
	left := 100
	root, fault := parseJSON("x.json", []byte("\ufeff{\"a\": [1,\n\"b\\n\", true],\n\n \"c\"\n:{}, \"a\": null}"), &left)
	if fault != nil {
		t.Fatal(fault)
	}
	a, c := root.member("a"), root.member("c")
	switch {
	case root.kind != jsonObject || len(root.members) != 3 || root.member("b") != nil || left != 93:
		t.Errorf("%+v, %d left", root, left)
	case root.repeated == nil || root.repeated.Line != 5 || root.twice("c", "a").line != 5 || root.twice("c") != nil:
		t.Errorf("repeated at %v", root.repeated)
	case a.line != 1 || a.value.kind != jsonArray || a.value.members[0].value.kind != jsonOther:
		t.Errorf("%+v", a)
	case a.value.members[1].value.text != "b\n" || a.value.members[1].value.at.Line != 2 || !a.value.members[2].value.truth:
		t.Errorf("%+v", a.value)
	case c.at().String() != "x.json:4" || c.value.at.String() != "x.json:5":
		t.Errorf("%v %v", c.at(), c.value.at)
	}
	if _, fault := parseJSON("x.json", []byte("[1,2]"), new(2)); fault == nil || !errors.Is(fault, errValues) {
		t.Errorf("three values of two: %v", fault)
	}
	for levels, ok := range map[int]bool{maxNesting: true, maxNesting + 1: false} {
		_, fault := parseJSON("x.json", []byte(strings.Repeat("[", levels)+strings.Repeat("]", levels)), new(1000))
		if (fault == nil) != ok {
			t.Errorf("%d levels: %v", levels, fault)
		}
	}
}

// FuzzJSONTree compares with encoding/json.
func FuzzJSONTree(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"x\u00e9\ud800",true,false,null],"a":{}}`, " [] ", "", `{"a":1,}`, `[1 2]`, `{1:2}`, `{"a"}`, `"\xff"`, "[1]]", "1e999", "tru", "{}x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		root, fault := parseJSON("x", content, new(1<<20))
		content = []byte(strings.TrimPrefix(string(content), string(bom)))
		if fault != nil {
			if lines := 1 + strings.Count(string(content), "\n"); fault.At.Line < 1 || fault.At.Line > lines {
				t.Errorf("fault in line %d of %d", fault.At.Line, lines)
			}
			if json.Valid(content) && !errors.Is(fault, errNesting) {
				t.Errorf("%q: %v", content, fault)
			}
			return
		}
		if !json.Valid(content) {
			t.Fatalf("%q: taken", content)
		}
		d := json.NewDecoder(strings.NewReader(string(content)))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(plain(root), numberless(want)) {
			t.Errorf("%q: %v, want %v, %v", content, plain(root), want, err)
		}
	})
}

// plain is a value as encoding/json has it, but for numbers.
func plain(v *jsonValue) any {
	switch v.kind {
	case jsonBool:
		return v.truth
	case jsonString:
		return v.text
	case jsonArray:
		out := []any{}
		for _, m := range v.members {
			out = append(out, plain(m.value))
		}
		return out
	case jsonObject:
		out := map[string]any{}
		for _, m := range v.members {
			out[m.key] = plain(m.value)
		}
		return out
	}
	return nil
}

func numberless(v any) any {
	switch v := v.(type) {
	case json.Number:
		return nil
	case []any:
		for i := range v {
			v[i] = numberless(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = numberless(v[key])
		}
	}
	return v
}
