package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/fixtures"
	"github.com/chromafs/chromafs/fixtures/corpora"
)

func readNav(t testing.TB, files map[string]string) *navigation {
	t.Helper()
	return open(t, tree(t, files), Options{}).readNavigation()
}

// answer is what is said in a word: true, false, fault, or - for nothing.
func answer(said *access.Said) string {
	switch {
	case said == nil:
		return "-"
	case said.Fault != nil:
		return "fault"
	}
	return fmt.Sprint(*said.Public)
}

func (n *navigation) answers() string {
	var out []string
	for _, p := range n.pages {
		out = append(out, p.name+"="+answer(p.said))
	}
	return strings.Join(out, " ")
}

func TestNavigationPages(t *testing.T) {
	cases := []struct{ name, navigation, want string }{
		{"nothing said", `{"groups": [{"group": "g", "pages": ["a", "b"]}]}`, "a=- b=-"},
		{"group", `{"groups": [{"group": "g", "public": true, "pages": ["a"]}, {"group": "h", "public": false, "pages": ["b"]}]}`, "a=true b=false"},
		{"nearest", `{"groups": [{"group": "g", "public": true, "pages": ["a", {"group": "h", "public": false, "pages": ["b",
			{"group": "i", "pages": ["c", {"group": "j", "public": true, "pages": ["d"]}]}]}, "e"]}]}`, "a=true b=false c=false d=true e=true"},
		{"key behind the pages", `{"groups": [{"pages": ["a"], "public": true, "group": "g"}]}`, "a=true"},
		{"root", `{"groups": [{"group": "g", "public": true, "root": "/r", "pages": []}]}`, "r=true"},
		{"root that holds more", `{"groups": [{"group": "g", "public": false, "root": {"x": {"pages": ["a"]}}}, {"group": "h", "root": ["b"]}]}`, "a=false b=-"},
		{"groups are no access", `{"groups": [{"group": "g", "groups": ["admin"], "pages": ["a"]}]}`, "a=-"},
		{"hidden is no access", `{"tabs": [{"tab": "t", "hidden": true, "pages": ["a"]}]}`, "a=-"},
		{"a page called public", `{"groups": [{"group": "public", "pages": ["public"]}]}`, "public=-"},
		{"unknown keys", `{"public": false, "x": [[{"y": {"pages": [["a"]]}}]]}`, "a=false"},
		{"names", `{"pages": ["/a", "./b", "//./c", "d/./e.mdx", "/", ""]}`, "a=- b=- c=- d/e.mdx=-"},
		{"operations", `{"pages": ["GET /a", "api.json POST /b", "my api.yaml delete  /c", "PURGE /d", "WEBHOOK e", "x WEBHOOK f", "GET", "get started", "FAQ page", "G/h"]}`,
			"GET=- get started=- FAQ page=- G/h=-"},
		{"no navigation in it", `"x"`, ""},

		{"first wins", `{"groups": [{"group": "g", "public": true, "pages": ["a"]}, {"group": "h", "public": false, "pages": ["a", "b"]},
			{"group": "i", "public": true, "pages": ["b"]}, {"group": "j", "public": 1, "pages": ["a", "b"]}]}`, "a=true b=false"},
		{"the same page", `{"pages": [{"group": "g", "public": true, "pages": ["a"]}, {"group": "h", "public": false, "pages": ["/a", "./a"]}]}`, "a=true"},
		{"first says nothing", `{"groups": [{"group": "g", "pages": ["a", "b", "c"]}, {"group": "h", "public": true, "pages": ["a", "b"]},
			{"group": "i", "public": false, "pages": ["b"]}, {"group": "j", "public": "no", "pages": ["c"]}]}`, "a=- b=false c=fault"},

		{"wrong types", `{"groups": [{"group": "g", "public": null, "pages": ["a"]}, {"group": "g", "public": "true", "pages": ["b"]}, {"group": "g", "public": 1, "pages": ["c"]},
			{"group": "g", "public": [true], "pages": ["d"]}, {"group": "g", "public": {}, "pages": ["e"]}, {"tab": "t", "public": "", "pages": ["f"]}]}`,
			"a=fault b=fault c=fault d=fault e=fault f=fault"},
		{"wrong type, mended by groups", `{"public": "yes", "pages": ["a", {"group": "g", "public": false, "pages": ["b"]}, {"group": "g", "public": true, "pages": ["c"]},
			{"tab": "t", "public": false, "pages": ["d"]}, {"tab": "t", "public": true, "pages": ["e"]}, {"group": "g", "pages": ["f"]}]}`,
			"a=fault b=false c=true d=fault e=fault f=fault"},
		{"wrong spelling", `{"groups": [{"group": "g", "Public": false, "pages": ["a", {"group": "h", "public": true, "pages": ["b"]}]}, {"group": "g", "public": true, "\u200bpublic": true, "pages": ["c"]},
			{"tab": "t", "pub\u00adlic ": 1, "pages": ["d"]}, {"group": "g", "publics": 1, "Groups": [], "pages": ["e"]}]}`, "a=fault b=true c=fault d=fault e=-"},
		{"public twice", `{"groups": [{"group": "g", "public": false, "public": false, "pages": ["a"]}, {"group": "h", "pages": ["b"]}]}`, "a=fault b=-"},
		{"any key twice, not mended", `{"groups": [{"group": "g", "pages": ["a"], "pages": ["b", {"group": "h", "public": true, "pages": ["c"]}]}]}`, "a=fault b=fault c=fault"},
	}
	for _, c := range cases {
		n := readNav(t, map[string]string{"docs.json": `{"name": "x", "navigation": ` + c.navigation + `}`})
		if got := n.answers(); got != c.want || n.fault != nil {
			t.Errorf("%s: %s, fault %v, want %s", c.name, got, n.fault, c.want)
		}
	}
}

// Every division but a group can only restrict.
func TestNavigationDivisions(t *testing.T) {
	divisions := []struct{ list, key, name string }{
		{"tabs", "tab", "a tab"}, {"anchors", "anchor", "an anchor"}, {"dropdowns", "dropdown", "a dropdown"},
		{"languages", "language", "a language"}, {"versions", "version", "a version"}, {"products", "product", "a product"},
		{"menu", "item", "a menu item"}, {"novelties", "novelty", "what is no group"},
	}
	const text = `{"navigation": {"global": {"LIST": [
		{"KEY": "1", "pages": ["a"]},
		{"KEY": "2", "public": true, "pages": ["b", {"group": "g", "pages": ["c"]}]},
		{"KEY": "3", "public": false, "pages": ["d", {"group": "g", "public": true, "pages": ["e"]}]},
		{"group": "g", "public": false, "pages": ["f"], "LIST": [
			{"KEY": "4", "public": true, "pages": ["g"]}]},
		{"group": "g", "public": true, "LIST": [{"KEY": "5", "pages": ["h"]}, {"KEY": "6", "public": false, "pages": ["i"]}]}
	]}}}`
	for _, d := range divisions {
		n := readNav(t, map[string]string{"docs.json": strings.NewReplacer("LIST", d.list, "KEY", d.key).Replace(text)})
		if got, want := n.answers(), "a=- b=- c=- d=false e=true f=false g=false h=true i=false"; got != want {
			t.Errorf("%s: %s, want %s", d.key, got, want)
		}
		want := "public: true on " + d.name + " opens nothing: put it on its groups"
		if w := fmt.Sprint(n.warnings); w != fmt.Sprint([]Warning{{"docs.json", 3, want}, {"docs.json", 6, want}}) {
			t.Errorf("%s: warnings %s", d.key, w)
		}
	}
	n := readNav(t, map[string]string{"docs.json": `{"navigation": {"public": true, "pages": ["a"]}}`})
	if n.answers() != "a=-" || len(n.warnings) != 1 || n.marked == nil {
		t.Errorf("the navigation itself: %s, %v, %v", n.answers(), n.warnings, n.marked)
	}
	n = readNav(t, map[string]string{"docs.json": "{\"navigation\": {\n\"PUBLIC\": true, \"pages\": [\"a\"]}}"})
	if f := n.pages[0].said.Fault; f.Error() != `docs.json:2: key "PUBLIC": write public` || n.marked == nil || *n.marked != f.At {
		t.Errorf("%v, marked %v", f, n.marked)
	}
	n = readNav(t, map[string]string{"docs.json": `{"navigation": [{"$ref": "t.json"}, {"$ref": "t.json"}]}`, "t.json": `{"tab": "t", "public": true}`})
	if len(n.warnings) != 1 {
		t.Errorf("one tab in two places: %v", n.warnings)
	}
}

func TestNavigationPlaces(t *testing.T) {
	n := readNav(t, map[string]string{"docs.json": "\ufeff{\"public\": 1,\r\n\"navigation\": {\"tabs\": [\n{\"$ref\": \"nav/t.json\",\n\"public\": true}],\n\"groups\":\n[]}}", "nav/t.json": `{"tab": "t",
		"groups": [{"group": "g", "public":
			false, "pages": [
			"a"]},
		{"public": 0,
			"pages": ["b"]}, {"icon": 1,
			"icon": 2, "pages": ["c"]}],
		"openapi": "x.json"}`})
	if *n.marked != (access.Place{Path: "docs.json", Line: 4}) {
		t.Errorf("marked at %s", n.marked)
	}
	var got []string
	for _, p := range n.pages {
		at := p.said.PublicAt
		if p.said.Fault != nil {
			at = p.said.Fault.At
		}
		got = append(got, fmt.Sprintf("%s@%d by %s", p.name, p.at.Line, at))
	}
	if want := "a@4 by nav/t.json:2, b@6 by nav/t.json:5, c@7 by nav/t.json:7"; strings.Join(got, ", ") != want {
		t.Errorf("%s", strings.Join(got, ", "))
	}
	if len(n.specs) != 1 || n.specs[0] != (navSpec{name: "x.json", at: access.Place{Path: "nav/t.json", Line: 8}}) {
		t.Errorf("%+v", n.specs)
	}
}

func TestNavigationOfMint(t *testing.T) {
	mint := `{"navigation": [{"group": "g", "public": true, "pages": ["a", {"group": "h", "pages": ["b"]}]}], "openapi": "o.json"}`
	cases := []struct {
		name, docs, pages, files, marked string
		warnings                         int
	}{
		{"alone", "", "a=true b=true", "mint.json", "mint.json:1", 0},
		{"with docs.json", `{"navigation": {"pages": ["a"]}}`, "a=-", "docs.json mint.json", "<nil>", 1},
		{"with docs.json that has none", `{}`, "", "docs.json mint.json", "<nil>", 1},
	}
	for _, c := range cases {
		files := map[string]string{"mint.json": mint}
		if c.docs != "" {
			files["docs.json"] = c.docs
		}
		n := readNav(t, files)
		marked := "<nil>"
		if n.marked != nil {
			marked = n.marked.String()
		}
		if n.answers() != c.pages || n.fileNames() != c.files || len(n.warnings) != c.warnings || marked != c.marked || n.fault != nil {
			t.Errorf("%s: %s, files %s, warnings %v, marked %s, fault %v", c.name, n.answers(), n.fileNames(), n.warnings, marked, n.fault)
		}
	}
	if n := readNav(t, map[string]string{"a.md": ""}); n.answers() != "" || n.fileNames() != "" || n.fault != nil || n.marked != nil {
		t.Errorf("neither: %+v", n)
	}
	broken := map[string]string{"docs.json": `{"navigation": {"pages": ["a"]}}`, "mint.json": "{"}
	if n := readNav(t, broken); n.answers() != "a=-" || n.fileNames() != "docs.json mint.json" || n.fault != nil {
		t.Errorf("a broken mint.json that is not read: %+v", n)
	}
}

func TestNavigationSpecs(t *testing.T) {
	cases := []struct{ name, config, want string }{
		{"text", `{"navigation": {"tabs": [{"tab": "t", "openapi": "/api/v1.json"}]}}`, "api/v1.json=-"},
		{"list, object, URL", `{"navigation": {"groups": [{"group": "g", "public": true, "openapi": ["a.json", {"source": "./b.yaml", "directory": "d"}, "https://x.example/c.json", ""]}]}}`, "a.json=true b.yaml=true"},
		{"no source", `{"navigation": {"openapi": {"directory": "d"}, "asyncapi": {"$ref": "x.json"}}}`, "=-"},
		{"no description", `{"navigation": {"openapi": false, "asyncapi": null}}`, ""},
		{"whole file", `{"api": {"openapi": ["a.json"], "asyncapi": {"source": "b.json"}}, "openapi": "c.json", "x": [{"openapi": "d.json"}], "navigation": {}}`, "a.json=- b.json=- c.json=- d.json=-"},
		{"entry with a file", `{"navigation": {"groups": [{"group": "g", "public": false, "pages": ["/a.json GET /x", "a.json POST /y", "my b.json WEBHOOK z"]}]}}`, "a.json=false my b.json=false"},
		{"entry without one", `{"navigation": {"groups": [{"group": "g", "public": false, "pages": ["GET /x", "GET /y"]}]}}`, "=false"},
		{"entry below the key", `{"navigation": {"groups": [{"group": "g", "public": true, "openapi": "a.json", "pages": [{"group": "h", "public": false, "pages": ["b", "GET /x"]}]}]}}`, "a.json=true a.json=false"},
		{"nearest key", `{"navigation": {"openapi": "a.json", "pages": [{"group": "h", "public": true, "openapi": ["b.json", "c.json"], "pages": ["GET /x"]}]}}`, "a.json=- b.json=true c.json=true"},
		{"channels look like pages", `{"navigation": {"asyncapi": "a.json", "pages": [{"group": "g", "public": false, "pages": ["channel"]}, {"group": "g", "public": true, "openapi": "b.json", "pages": ["page"]}]}}`, "a.json=- a.json=false b.json=true"},
		{"malformed", `{"navigation": {"groups": [{"group": "g", "public": 1, "openapi": "a.json"}]}}`, "a.json=fault"},
	}
	for _, c := range cases {
		n := readNav(t, map[string]string{"docs.json": c.config})
		var got []string
		for _, s := range n.specs {
			got = append(got, s.name+"="+answer(s.said))
		}
		if strings.Join(got, " ") != c.want || n.fault != nil {
			t.Errorf("%s: %q, fault %v, want %s", c.name, got, n.fault, c.want)
		}
	}
}

func TestNavigationFixtures(t *testing.T) {
	n := open(t, fixtures.Dir(t, "docs-json-ref"), Options{}).readNavigation()
	files := "config/groups/reference.json config/navigation.json config/pages/nested.json docs.json"
	if n.answers() != "index=- guide.mdx=- guide=- reference/overview=- reference/deep=-" || n.fileNames() != files || n.fault != nil {
		t.Errorf("%s, files %s, fault %v", n.answers(), n.fileNames(), n.fault)
	}
	if len(n.specs) != 1 || n.specs[0].name != "openapi.json" || len(n.warnings) > 0 {
		t.Errorf("%+v, %v", n.specs, n.warnings)
	}
}

// TestNavigationSites reads real sites: each page that they list is there.
func TestNavigationSites(t *testing.T) {
	sites := map[string]struct{ pages, unknown int }{
		fixtures.Dir(t, "starter"):         {9, 0},
		corpora.Dir(t, "mintlify-starter"): {21, 0},
		corpora.Dir(t, "mem0-docs"):        {200, 0},
	}
	for dir, want := range sites {
		n := open(t, dir, Options{}).readNavigation()
		if n.fault != nil || n.marked != nil || len(n.warnings) > 0 || len(n.pages) < want.pages {
			t.Errorf("%s: %d pages, fault %v, marked %v, %v", dir, len(n.pages), n.fault, n.marked, n.warnings)
		}
		for _, p := range n.pages {
			found, err := filepath.Glob(filepath.Join(dir, p.name) + ".md*")
			if _, plain := os.Stat(filepath.Join(dir, p.name)); err != nil || len(found) == 0 && plain != nil {
				t.Logf("%s: no file for %q", dir, p.name)
				want.unknown--
			}
		}
		if want.unknown < 0 {
			t.Errorf("%s: %d pages too many have no file", dir, -want.unknown)
		}
	}
}
