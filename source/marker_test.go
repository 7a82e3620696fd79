package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/fixtures"
)

func TestSiteMarkers(t *testing.T) {
	cases := []struct {
		name     string
		files    map[string]string
		want     string // path:line of each marker
		warnings int
	}{
		{"none", map[string]string{"a.md": ""}, "", 0},
		{"outside the navigation", map[string]string{"docs.json": `{"public": true, "navbar": {"public": true}}`}, "", 0},
		{"group", map[string]string{"docs.json": "{\n\"navigation\": {\"groups\": [\n{\"pages\": [\"public\"],\n\"public\": true}]}}"}, "docs.json:4", 0},
		{"page called public", map[string]string{"docs.json": `{"navigation": {"groups": [{"group": "public", "pages": ["public"]}]}}`}, "", 0},
		{"mint", map[string]string{"mint.json": "\ufeff{\"navigation\": [{\"public\": false}]}"}, "mint.json:1", 0},
		{"nested name", map[string]string{"docs.json": `{"x": {"navigation": {"public": true}}}`}, "", 0},
		{"ref", map[string]string{
			"docs.json":   `{"navigation": {"$ref": "./nav/a.json"}, "colors": {"$ref": "c.json"}}`,
			"nav/a.json":  "{\"groups\": [\n{\"$ref\": \"b.json\"}, {\"$ref\": \"b.json\"}]}",
			"nav/b.json":  "{\n\n\"public\": true}",
			"nav/c.json":  `{"public": true}`,
			"nav/d/e.txt": "",
		}, "nav/b.json:3", 0},
		{"ref at the top", map[string]string{"docs.json": `{"$ref": "all.json"}`, "all.json": `{"navigation": [{"public": true}]}`}, "all.json:1", 0},
		{"ref circle", map[string]string{"docs.json": `{"navigation": {"$ref": "docs.json", "public": true}}`}, "docs.json:1 docs.json:1", 0},
		{"ref outside", map[string]string{"docs.json": `{"navigation": {"$ref": "../../etc/passwd"}}`}, "", 1},
		{"ref to nothing", map[string]string{"docs.json": `{"navigation": {"$ref": "no.json"}}`}, "", 1},
		{"malformed", map[string]string{"docs.json": "{\n\"x\": {\"public\": true},\n\"$ref\": \"n.json\",}", "n.json": `{"public" : 1}`}, "docs.json:2 n.json:1", 1},
		{"empty", map[string]string{"docs.json": ""}, "", 1},
		{"not an object", map[string]string{"docs.json": `"navigation"`}, "", 0},
	}
	for _, c := range cases {
		markers, warnings, err := open(t, tree(t, c.files), Options{}).Markers()
		var got []string
		for _, m := range markers {
			got = append(got, fmt.Sprintf("%s:%d", m.Path, m.Line))
		}
		if err != nil || strings.Join(got, " ") != c.want || len(warnings) != c.warnings {
			t.Errorf("%s: %q, warnings %v, error %v, want %q", c.name, got, warnings, err, c.want)
		}
	}
}

func TestSiteMarkersBounded(t *testing.T) {
	files := map[string]string{}
	for i := range maxSiteFiles + 1 {
		name := fmt.Sprintf("n%d.json", i)
		files[name] = fmt.Sprintf(`{"$ref": "n%d.json"}`, i+1)
	}
	files["docs.json"] = `{"navigation": {"$ref": "n0.json"}}`
	if _, _, err := open(t, tree(t, files), Options{}).Markers(); !errors.Is(err, ErrSite) {
		t.Errorf("a long chain: %v", err)
	}
	deep := `{"navigation":` + strings.Repeat("[", 1<<20)
	if _, warnings, err := open(t, tree(t, map[string]string{"docs.json": deep}), Options{}).Markers(); err != nil || len(warnings) != 1 {
		t.Errorf("deep: %v, %v", warnings, err)
	}
	dir := t.TempDir()
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "docs.json")); err != nil {
		t.Skip(err)
	}
	if _, _, err := open(t, dir, Options{}).Markers(); !errors.Is(err, ErrSite) {
		t.Errorf("a link: %v", err)
	}
}

func TestSiteMarkersFixtures(t *testing.T) {
	for _, name := range []string{"docs-json-ref", "starter"} {
		markers, warnings, err := open(t, fixtures.Dir(t, name), Options{}).Markers()
		t.Log(name, markers, warnings)
		if err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", name, warnings, err)
		}
	}
}

// FuzzSiteScan compares with a whole parse.
func FuzzSiteScan(f *testing.F) {
	f.Add([]byte(`{"navigation":{"groups":[{"public":true,"$ref":"x.json"}]}}`))
	f.Add([]byte(`{"$ref":"x","navigation":[{"a":{"public":null}}]} trailing`))
	f.Fuzz(func(t *testing.T, content []byte) {
		scan := siteScan{content: content, lines: lineCount{text: content, line: 1}}
		err := scan.run()
		for _, line := range scan.public {
			if line < 1 || line > 1+strings.Count(string(content), "\n") {
				t.Errorf("line %d", line)
			}
		}
		var site struct {
			Navigation any `json:"navigation"`
		}
		if json.Unmarshal(content, &site) != nil || strings.Count(strings.ToLower(string(content)), `navigation`) != 1 {
			return // encoding/json takes the last of several, and any case
		}
		if err != nil {
			t.Errorf("%q: %v", content, err)
		}
		if want := holdsPublic(site.Navigation); want && len(scan.public) == 0 {
			t.Errorf("%q: not found", content)
		}
	})
}

func holdsPublic(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if key == "public" || holdsPublic(value) {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if holdsPublic(value) {
				return true
			}
		}
	}
	return false
}
