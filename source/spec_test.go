package source

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/chromafs/chromafs/fixtures"
)

func TestIsSpec(t *testing.T) {
	cases := map[string]bool{
		`{"openapi":"3.1.0"}`: true,
		"\ufeff{\r\n  \"info\": {\"x\": [1]},\r\n  \"swagger\" : \"2.0\"}": true,
		`{"openapi": "/api.json"}`:                     false,
		"openapi: \"3.1.0\"\n":                         true,
		"openapi: \"/api.json\"\n":                     false,
		`{"asyncapi": 2}`:                              true,
		`{"a": {"openapi": "3.1.0"}}`:                  false,
		`{"a": ["openapi", "3.1.0"]}`:                  false,
		`{"a": "\"openapi\": \"3.1.0\""}`:              false,
		`{"a": "}", "openapi": "3.1.0"}`:               true,
		`{"a": "\\", "openapi": "3.1.0"}`:              true,
		`{"openapi": "https://example.com/spec.json"}`: false,
		`{"openapi": ["a.json"]}`:                      false,
		`{"info": "openapi", "x": "3.0"}`:              false,
		`{"a": {"b": 1, "openapi": "3.1.0"}, "c": 1}`:  false,
		`[{"openapi": "3.1.0"}]`:                       false,
		`{} {"openapi": "3.1.0"}`:                      false,
		`"openapi"`:                                    false,
		"":                                             false,
		"openapi: 3.1.0\n":                             true,
		"openapi: '3.1.0'":                             true,
		"\ufeff# c\n\n%YAML 1.2\n---\ninfo:\n  x: y\nswagger: \"2.0\"\n": true,
		"info:\n  openapi: 3.1.0\n":                                      false,
		"  info: x\n  openapi: 3.1.0\n":                                  true,
		"text: |\n  openapi: 3.1.0\n":                                    false,
		"# openapi: 3.1.0\n":                                             false,
		"#openapi: 3\nopenapi: 3.0.3 # c\n":                              true,
		"a: b\n---\nopenapi: 3.1.0\n":                                    false,
		"--- # c\nopenapi: 3.1.0\n":                                      true,
		"--- {openapi: 3.1.0}\n":                                         true,
		"--- |\nopenapi: 3.1.0\n":                                        false,
		"---\n---\nopenapi: 3.1.0\n":                                     false,
		"a: b\n...\nopenapi: 3.1.0\n":                                    false,
		"{info: {title: it's, a: '}'}, # }\n openapi: 3}":                true,
		"{info: {openapi: 3}}":                                           false,
		"\"openapi\": \"3.0\"\n":                                         true,
		"openapi:3.0\n":                                                  false,
		"openapi: spec.yaml\n":                                           false,
		"openapi-version: 3\n":                                           false,
		"- openapi: 3\n":                                                 false,
		"x-openapi: 3\r\nopenapi: 3\r\n":                                 true,
		strings.Repeat("[", 1<<20):                                       false,
		"{" + strings.Repeat(`"a":{`, 1<<18) + `"openapi":"3"`:           false,
	}
	for content, want := range cases {
		if got := isSpec([]byte(content)); got != want {
			t.Errorf("%.80q: %v, want %v", content, got, want)
		}
	}
}

func TestSpecFixture(t *testing.T) {
	f := open(t, fixtures.Dir(t, "openapi-ref"), Options{})
	specs := 0
	for _, p := range list(t, f).Files {
		got, err := f.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		if got.Kind == Spec {
			specs++
		}
		t.Log(p, got.Kind)
	}
	if specs < 2 {
		t.Errorf("%d specs", specs)
	}
}

// FuzzIsSpec compares with a whole parse, where the text is simple enough that both must agree.
func FuzzIsSpec(f *testing.F) {
	f.Add([]byte(`{"a":{"openapi":"3"},"swagger":"2.0"}`))
	f.Add([]byte("a: b\nopenapi: 3.1\n"))
	f.Add([]byte("--- {'asyncapi': 2}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		got := isSpec(content)
		var object map[string]json.RawMessage
		if json.Unmarshal(content, &object) != nil || !json.Valid(content) {
			return
		}
		want := false
		for _, key := range []string{"openapi", "swagger", "asyncapi"} {
			value := strings.TrimPrefix(string(object[key]), `"`)
			want = want || value != "" && value[0] >= '0' && value[0] <= '9'
		}
		// Escapes in keys are not read, and of a key given twice either may count.
		if strings.Contains(string(content), `\`) || strings.Count(string(content), "api") > 1 || strings.Count(string(content), "swagger") > 1 {
			return
		}
		if got != want {
			t.Errorf("%q: %v, a parser says %v", content, got, want)
		}
	})
}

// TestIsSpecAgreesWithYAML compares both on what a YAML encoder writes.
func TestIsSpecAgreesWithYAML(t *testing.T) {
	values := []any{"3.1.0", 2.0, "spec.yaml", []string{"openapi"}, map[string]any{"openapi": "3.1.0"}, "a\nopenapi: 3\n", nil}
	yes := 0
	for _, key := range []string{"openapi", "swagger", "asyncapi", "other"} {
		for i, value := range values {
			for j, before := range values {
				text, err := yaml.Marshal(map[string]any{"a": before, key: value, "zz": before})
				if err != nil {
					t.Fatal(err)
				}
				want := key != "other" && i < 2
				if want {
					yes++
				}
				if got := isSpec(text); got != want {
					t.Errorf("%d %d: %v, want %v for\n%s", i, j, got, want, text)
				}
			}
		}
	}
	if yes == 0 {
		t.Fatal("no spec tried")
	}
}
