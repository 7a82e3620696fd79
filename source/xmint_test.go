package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/chromafs/chromafs/access"
)

// parts are those of a list in short, as said has them.
func parts(list []access.Said) string {
	var out []string
	for i := range list {
		out = append(out, said(&list[i]))
	}
	return strings.Join(out, " | ")
}

func TestMintParts(t *testing.T) {
	cases := []struct{ name, content, want string }{
		{"none", `{"openapi":"3.1.0","groups":["a"],"public":true}`, ""},
		{"json", "{\"openapi\":\"3.1.0\",\n\"x-mint\":{\"metadata\":{\n\"groups\":[\"a\"]}}}", `3:groups=groups "a"`},
		{"json operation", "\ufeff{\"openapi\":\"3.1.0\",\"paths\":{\"/a\":{\"get\":{\n\"x-mint\":{\"metadata\":{\"public\":true,\"groups\":[]}}}}}}",
			"2:public=true 2:groups=nobody"},
		{"json beside it", `{"openapi":"3.1.0","x-mint":{"href":"groups"},"groups":{"groups":1}, "a":[{"x-mint":1},{"groups":1}]}`, ""},
		{"json in lists", `{"openapi":"3.1.0","x-mint":[1,[{"a":"b"}],{"groups":1}, {"public":false}]}`, "1:fault | 1:public=false"},
		{"json nested", `{"openapi":"3.1.0","x-mint":{"public":true,"x":{"groups":["a"]},"groups":[]}}`, `1:public=true 1:groups=nobody | 1:groups=groups "a"`},
		{"json value", `{"openapi":"3.1.0","x-mint":{"groups":[{"includes":["a"],"excludes":["b"]}],"public":{"groups":["c"]}}}`,
			`1:groups=groups "a" but groups "b" 1:fault`},
		{"json escapes", `{"openapi":"3.1.0","a":"\ud83d\ude00","x\u002dmint":{"groups":[]},"x-mint":{}}`, "1:groups=nobody"},
		{"json escaped alone", `{"openapi":"3.1.0","x\u002dmint":{"groups":["a"]}}`, `1:groups=groups "a"`},
		{"json escaped whole", `{"openapi":"3.1.0","\u0078\u002D\u006d\u0069\u006E\u0074":{"groups":["a"]}}`, `1:groups=groups "a"`},
		{"yaml escaped alone", "openapi: 3.1.0\n\"x\\x2dmint\":\n  groups: [a]\n", `3:groups=groups "a"`},
		{"json values", `{"openapi":"3.1.0","a":"x-mint","groups":["x-mint",{"groups":1}]}`, ""},
		{"json twice", `{"openapi":"3.1.0","x-mint":{"groups":["a"],"groups":["b"]}}`, `1:groups=groups "a" 1:fault`},
		{"json twice within", `{"openapi":"3.1.0","x-mint":{"groups":[{"includes":["a"],"includes":["b"]}]}}`, "1:fault"},
		{"json case", `{"openapi":"3.1.0","x-mint":{"Public":true}}`, "1:fault"},
		{"json large value", `{"openapi":"3.1.0","x-mint":{"groups":[` + strings.Repeat(`[],`, maxNodes) + `0]}}`, "1:fault"},
		{"yaml", "openapi: 3.1.0\nx-mint:\n  metadata:\n    title: x\n    groups: [a]\n", `5:groups=groups "a"`},
		{"yaml operation", "openapi: 3.1.0\npaths:\n  /a:\n    get:\n      'x-mint': {metadata: {\"groups\": [a]}}\n  /groups: {groups: 1}\n", `5:groups=groups "a"`},
		{"yaml text", "openapi: 3.1.0\ninfo: |\n  x-mint:\n    groups: a\n", ""},
		{"yaml alias", "openapi: 3.1.0\na: &m\n  groups: [a]\nx-mint: *m\nb: *m\n", `3:groups=groups "a"`},
		{"yaml merge", "openapi: 3.1.0\na: &m {groups: [a]}\n\nx-mint:\n  metadata:\n    <<: *m\n    public: true\n", `2:groups=groups "a" | 7:public=true`},
		{"yaml circle", "openapi: 3.1.0\nx-mint: &m\n  a: *m\n  groups: *m\n", "4:fault"},
		{"yaml word", "openapi: 3.1.0\nx-mint:\n  public: yes\n  groups: admin\n", "3:fault"},
		{"yaml twice", "openapi: 3.1.0\nx-mint:\n  public: true\n  public: false\n", "3:public=true 4:fault"},
		{"yaml beside it", "openapi: 3.1.0\nx-mint:\n  href: groups\ngroups: 1\n", ""},
		{"broken json", "{\"openapi\":\"3.1.0\",\"public\":1,\n\"x-mint\":{\"groups\":1]}", "2:fault"},
		{"broken yaml", "openapi: 3.1.0\ngroups: 1\nx-mint:\n\tgroups: [a]\n- public : x\n", "4:fault"},
		{"broken, no marker", "openapi: 3.1.0\ngroups: 1\nx-mint:\n\ta: [a]\n", ""},
		{"deep", `{"openapi":"3.1.0","x-mint":` + strings.Repeat(`[`, 1<<20), ""},
		{"deep json value", `{"openapi":"3.1.0","x-mint":{"groups":` + strings.Repeat(`[`, 1<<20), "1:fault"},
		{"large", "openapi: 3.1.0\nx-mint:\n  groups: [a]\n" + strings.Repeat("#\n", maxYAML/2), "3:fault"},
		{"large json", `{"openapi":"3.1.0","x-mint":{"groups":[]}` + strings.Repeat(" ", maxYAML) + "}", "1:groups=nobody"},
	}
	for _, c := range cases {
		name := "api.yaml"
		if strings.Contains(c.name, "json") {
			name = "api.json"
		}
		got, err := open(t, tree(t, map[string]string{name: c.content}), Options{Lazy: LazyOptions{SpecBytes: -1}}).Read(name)
		if err != nil || got.Kind != Spec || got.Own != nil {
			t.Fatalf("%s: %+v, %v", c.name, got, err)
		}
		testFacts(t, got)
		if found := mintParts(name, got.Content); parts(found) != c.want || (got.Uses == nil) != (c.want == "") {
			t.Errorf("%s: %s, want %s; %+v", c.name, parts(found), c.want, found)
		}
	}
}

// TestMintPartsSplit reads files that are no whole description.
func TestMintPartsSplit(t *testing.T) {
	cases := []struct{ name, content, want string }{
		{"x.json", `{"x-mint":{"groups":["a"]}}`, `1:groups=groups "a"`},
		{"paths/a.yaml", "get:\n  x-mint:\n    metadata:\n      public: false\n", "4:public=false"},
		{"a.yml", "openapi: !!str 3.1.0\nx-mint:\n  groups: admin\n", "3:fault"},
		{"b.yaml", "get:\n  x-mint: {\"\\u200bgroups\": [a]}\n", "2:fault"},
		{"c.json", `{"x-mint":{"href":"/a"},"groups":1}`, ""},
		{"d.txt", "x-mint:\n  public: false\n", ""},
	}
	for _, c := range cases {
		got, err := open(t, tree(t, map[string]string{c.name: c.content}), Options{}).Read(c.name)
		if err != nil || got.Kind != Plain {
			t.Fatalf("%s: %+v, %v", c.name, got, err)
		}
		testFacts(t, got)
		var found []access.Said
		if got.Uses != nil {
			found = got.Uses.Parts
		}
		if parts(found) != c.want {
			t.Errorf("%s: %s, want %s", c.name, parts(found), c.want)
		}
	}
}

func TestMintPartsWords(t *testing.T) {
	cases := map[string]string{
		"x-mint:\n  groups: [a]\n" + strings.Repeat("#\n", maxYAML/2): "a.yaml:2: too large to be read for x-mint: convert it to JSON",
		"{\n\"x-mint\": {\n\"public\": x}}":                           "a.yaml:3: ",
		"x-mint:\n  groups: [a\n":                                     "a.yaml:2: broken, so that x-mint can't be read: yaml: line ",
		"{\n\"x-mint\": {\"groups\": []},\n\"public\": 1]}":           "a.yaml:2: broken, so that x-mint can't be read: invalid character ']'",
	}
	for content, want := range cases {
		found := mintParts("a.yaml", []byte(content))
		if len(found) != 1 || found[0].Fault == nil || !strings.HasPrefix(found[0].Fault.Error(), want) {
			t.Errorf("%.40q: %v, want %s", content, found, want)
			for _, s := range found {
				t.Log(s.Fault)
			}
		}
	}
}

// FuzzMintParts compares the scan of JSON with a whole parse, and with that of the same as YAML.
func FuzzMintParts(f *testing.F) {
	f.Add([]byte(`{"x-mint":{"metadata":[{"groups":[1]},"x"]},"groups":{"x-mint":1}}`))
	f.Add([]byte(`[{"x-mint":[]},{"public":{"x-mint":{"public":null, "groups":["a"]}}}]`))
	f.Add([]byte("x-mint: &a\n  groups: *a\n? *a\n: 1\n"))
	f.Add([]byte("x-mint:\n <<: &a {groups: [a]}\n b: *a\n public: true\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		file := &File{Facts: Facts{Path: "a.yaml", Kind: Spec}, Content: content}
		file.readFacts(file.Content)
		testFacts(t, file)
		var v any
		if json.Unmarshal(content, &v) != nil {
			return
		}
		plain, err := json.Marshal(v) // each key once
		if err != nil {
			t.Fatal(err)
		}
		fromJSON := mintParts("a", plain)
		if want := countParts(v, false); len(fromJSON) != want {
			t.Errorf("%s: %s, want %d", plain, parts(fromJSON), want)
		}
		text, err := yaml.Marshal(v)
		if err != nil {
			return
		}
		if fromYAML := mintParts("a", text); faultless(fromYAML) != faultless(fromJSON) {
			t.Errorf("%s: %s, as JSON %s", text, parts(fromYAML), parts(fromJSON))
		}
	})
}

// faultless counts the parts, and those that can be understood.
func faultless(list []access.Said) string {
	n := 0
	for _, s := range list {
		if s.Fault == nil {
			n++
		}
	}
	return fmt.Sprint(len(list), n)
}

func countParts(v any, below bool) (n int) {
	switch v := v.(type) {
	case map[string]any:
		found := 0
		for key, value := range v {
			if below && marker(key) != "" {
				found = 1
				continue
			}
			n += countParts(value, below || key == mintKey)
		}
		n += found
	case []any:
		for _, value := range v {
			n += countParts(value, below)
		}
	}
	return n
}
