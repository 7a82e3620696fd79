package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSpecMarkers(t *testing.T) {
	cases := []struct{ name, content, want string }{
		{"none", `{"openapi":"3.1.0","groups":["a"],"public":true}`, ""},
		{"json", "{\"openapi\":\"3.1.0\",\n\"x-mint\":{\"metadata\":{\n\"groups\":[\"a\"]}}}", "3:groups"},
		{"json operation", "\ufeff{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{\"get\":{\n\"x-mint\":{\"metadata\":{\"public\":true,\"groups\":[]}}}}}}", "2:public 2:groups"},
		{"json beside it", `{"openapi":"3.1.0","x-mint":{"href":"groups"},"groups":{"groups":1}, "a":[{"x-mint":1},{"groups":1}]}`, ""},
		{"json in lists", `{"openapi":"3.1.0","x-mint":[1,[{"a":"b"}],{"groups":1}]}`, "1:groups"},
		{"json escapes", `{"openapi":"3.1.0","a":"\ud83d\ude00","x\u002dmint":{"groups":1},"x-mint":{}}`, "1:groups"},
		{"json values", `{"openapi":"3.1.0","a":"x-mint","groups":["x-mint",{"groups":1}]}`, ""},
		{"yaml", "openapi: 3.1.0\nx-mint:\n  metadata:\n    title: x\n    groups: [a]\n", "5:groups"},
		{"yaml operation", "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      'x-mint': {metadata: {\"groups\": [a]}}\n  /groups: {groups: 1}\n", "5:groups"},
		{"yaml text", "openapi: 3.1.0\ninfo: |\n  x-mint:\n    groups: a\n", ""},
		{"yaml alias", "openapi: 3.1.0\na: &m\n  groups: [a]\nx-mint: *m\nb: *m\n", "3:groups"},
		{"yaml merge", "openapi: 3.1.0\na: &m {groups: [a]}\n\nx-mint:\n  metadata:\n    <<: *m\n", "2:groups"},
		{"yaml circle", "openapi: 3.1.0\nx-mint: &m\n  a: *m\n  groups: 1\n", "4:groups"},
		{"yaml beside it", "openapi: 3.1.0\nx-mint:\n  href: groups\ngroups: 1\n", ""},
		{"broken json", "{\"openapi\":\"3.1.0\",\"public\":1,\n\"x-mint\":{\"groups\":1]}", "2:groups"},
		{"broken yaml", "openapi: 3.1.0\ngroups: 1\nx-mint:\n\tgroups: [a]\n- public : x\n", "4:groups 5:public"},
		{"deep", `{"openapi":"3.1.0","x-mint":` + strings.Repeat(`[`, 1<<20), ""},
		{"large", "openapi: 3.1.0\nx-mint:\n  groups: a\n" + strings.Repeat("#\n", maxYAML/2), "3:groups"},
	}
	for _, c := range cases {
		name := "api.yaml"
		if strings.Contains(c.name, "json") {
			name = "api.json"
		}
		got, err := open(t, tree(t, map[string]string{name: c.content}), Options{}).Read(name)
		if err != nil || got.Kind != Spec {
			t.Fatalf("%s: %+v, %v", c.name, got.Kind, err)
		}
		var found []string
		for _, m := range got.Markers {
			if m.Path != name {
				t.Errorf("%s: marker of %q", c.name, m.Path)
			}
			found = append(found, fmt.Sprintf("%d:%s", m.Line, m.Key))
		}
		if strings.Join(found, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, found, c.want)
		}
	}
	plain, err := open(t, tree(t, map[string]string{"x.json": `{"x-mint":{"groups":["a"]}}`}), Options{}).Read("x.json")
	if err != nil || len(plain.Markers) > 0 {
		t.Errorf("no description: %v, %v", plain.Markers, err)
	}
}

// FuzzSpecMarkers compares the scan of JSON with a whole parse, and with that of the same as YAML.
func FuzzSpecMarkers(f *testing.F) {
	f.Add([]byte(`{"x-mint":{"metadata":[{"groups":[1]},"x"]},"groups":{"x-mint":1}}`))
	f.Add([]byte(`[{"x-mint":[]},{"public":{"x-mint":{"public":null}}}]`))
	f.Add([]byte("x-mint: &a\n  groups: *a\n? *a\n: 1\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		found := specMarkers(content)
		for _, n := range found {
			if n.line < 1 || n.line > 1+strings.Count(string(content), "\n") {
				t.Errorf("line %d", n.line)
			}
		}
		var v any
		if json.Unmarshal(content, &v) != nil {
			return
		}
		plain, err := json.Marshal(v) // each key once
		if err != nil {
			t.Fatal(err)
		}
		fromJSON := specMarkers(plain)
		if want := countMarkers(v, false); len(fromJSON) != want {
			t.Errorf("%s: %v, want %d", plain, fromJSON, want)
		}
		text, err := yaml.Marshal(v)
		if err != nil {
			return
		}
		if fromYAML := specMarkers(text); len(fromYAML) != len(fromJSON) {
			t.Errorf("%s: %v, as JSON %v", text, fromYAML, fromJSON)
		}
	})
}

func countMarkers(v any, below bool) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if below && isMarker(key) {
				n++
			}
			n += countMarkers(value, below || key == mintKey)
		}
	case []any:
		for _, value := range v {
			n += countMarkers(value, below)
		}
	}
	return n
}
