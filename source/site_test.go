package source

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func (n *navigation) fileNames() string {
	return strings.Join(slices.Sorted(maps.Keys(n.files)), " ")
}

func TestSiteRefs(t *testing.T) {
	page := `{"group": "g", "pages": ["p"]}`
	cases := []struct {
		name  string
		files map[string]string // docs.json under ""
		pages string
		names string // beside docs.json
	}{
		{"navigation", map[string]string{"": `{"navigation": {"$ref": "./a/b.json"}}`, "a/b.json": page}, "p=-", "a/b.json"},
		{"whole file", map[string]string{"": `{"$ref": "a.json", "name": "x"}`, "a.json": `{"$ref": "b.json", "name": "y"}`, "b.json": `{"navigation": ` + page + `}`}, "p=-", "a.json b.json"},
		{"from the folder", map[string]string{"": `{"navigation": {"$ref": "a/b.json"}}`, "a/b.json": `{"groups": [{"$ref": "/c.json"}, {"$ref": "../c.json"}]}`, "c.json": page}, "p=-", "a/b.json c.json"},
		{"item, array, text", map[string]string{"": `{"navigation": {"groups": {"$ref": "g.json"}, "public": false}}`, "g.json": `[{"group": "g", "pages": ["a", {"$ref": "p.json"}, {"$ref": "t.json"}]}]`, "p.json": `["b", "c"]`, "t.json": `"d"`}, "a=false b=false c=false d=false", "g.json p.json t.json"},
		{"sibling wins", map[string]string{"": `{"navigation": {"groups": [{"$ref": "a.json", "public": false}, {"$ref": "b.json"}]}}`, "a.json": `{"group": "g", "public": true, "pages": ["a"]}`, "b.json": `{"$ref": "a.json", "pages": ["b"]}`}, "a=false b=true", "a.json b.json"},
		{"sibling adds", map[string]string{"": `{"navigation": {"groups": [{"public": true, "$ref": "a.json"}]}}`, "a.json": page}, "p=true", "a.json"},
		{"sibling title makes a group", map[string]string{"": `{"navigation": {"groups": [{"$ref": "a.json", "group": "g"}]}}`, "a.json": `{"public": true, "pages": ["a"]}`}, "a=true", "a.json"},
		{"icons beside a list", map[string]string{"": `{"navigation": {"groups": {"$ref": "a.json", "icon": "x"}}}`, "a.json": "[" + page + "]"}, "p=-", "a.json"},
		{"key twice in either", map[string]string{"": `{"navigation": {"groups": [{"$ref": "a.json", "x": 1, "x": 2}, {"$ref": "b.json"}]}}`, "a.json": page, "b.json": `{"x": 1, "x": 1, "pages": ["q"]}`}, "p=fault q=fault", "a.json b.json"},
		{"same file often", map[string]string{"": `{"navigation": {"groups": [{"$ref": "a.json"}, {"group": "g", "public": false, "pages": [{"$ref": "a.json"}]}]}}`, "a.json": page}, "p=false", "a.json"},
		{"outside, but named", map[string]string{"": `{"navigation": ` + page + `, "redirects": {"$ref": "r.json"}, "colors": {"$ref": "missing.json"}, "x": {"$ref": "../y"}, "z": {"$ref": 1}}`, "r.json": `[{"$ref": "s.json"}, {"$ref": "r.json"}]`, "s.json": "{"}, "p=-", "r.json s.json"},
		{"descriptions are no part", map[string]string{"": `{"navigation": {"openapi": {"$ref": "a.json"}, "pages": ["p"]}}`, "a.json": "{}"}, "p=-", ""},
		{"mark", map[string]string{"": `{"navigation": {"$ref": "a.json"}}`, "a.json": "\ufeff" + page}, "p=-", "a.json"},
		{"not an object", map[string]string{"": `[{"$ref": "a.json"}]`}, "", ""},
		{"no navigation", map[string]string{"": `{"navigation": null}`}, "", ""},
		{"whole file a list", map[string]string{"": `{"$ref": "a.json"}`, "a.json": `["x"]`}, "", "a.json"},
	}
	for _, c := range cases {
		n := readNav(t, docs(c.files))
		names := strings.TrimSpace(strings.Replace(n.fileNames(), "docs.json", "", 1))
		if n.answers() != c.pages || strings.Join(strings.Fields(names), " ") != c.names || n.fault != nil {
			t.Errorf("%s: %s, files %s, fault %v; want %s, files %s", c.name, n.answers(), names, n.fault, c.pages, c.names)
		}
	}
}

// docs names the file "" docs.json.
func docs(files map[string]string) map[string]string {
	out := maps.Clone(files)
	out["docs.json"] = files[""]
	delete(out, "")
	return out
}

func TestSiteFaults(t *testing.T) {
	in := func(s string) string { return "{\n\"navigation\": " + s + "}" }
	cases := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"empty", map[string]string{"": ""}, "docs.json:1: empty"},
		{"blank", map[string]string{"": "\n \n"}, "docs.json:1: empty"},
		{"cut off", map[string]string{"": "{\"x\":\n["}, "docs.json:2: unexpected EOF"},
		{"cut off behind a key", map[string]string{"": "{\"x\""}, "docs.json:1: unexpected EOF"},
		{"cut off in a key", map[string]string{"": "{\"x"}, "docs.json:1: unexpected EOF"},
		{"comma", map[string]string{"": "{\n\"x\": [1,]}"}, "docs.json:2: invalid character"},
		{"comment", map[string]string{"": "{\n// x\n}"}, "docs.json:2: invalid character"},
		{"two texts", map[string]string{"": "{}\n{}"}, "docs.json:2: something follows"},
		{"UTF-16", map[string]string{"": "\xff\xfe{\x00}\x00"}, "docs.json:1: invalid character"},
		{"navigation twice", map[string]string{"": "{\"navigation\": {},\n\"navigation\": {}}"}, "docs.json:2: malformed access: the key is there twice"},
		{"mint.json", map[string]string{"": in(`{"$ref": "mint.json"}`), "mint.json": "\n["}, "mint.json:2: unexpected EOF"},
		{"ref to nothing", map[string]string{"": in(`{"$ref": "a.json"}`)}, `docs.json:2: $ref to "a.json": no such file`},
		{"ref out", map[string]string{"": in(`{"$ref": "../a.json"}`)}, "docs.json:2: $ref leaves the folder"},
		{"ref out from the top", map[string]string{"": in(`{"$ref": "/../a.json"}`)}, "docs.json:2: $ref leaves the folder"},
		{"ref to the folder", map[string]string{"": in(`{"$ref": "./"}`)}, "docs.json:2: $ref leaves the folder"},
		{"ref to a folder", map[string]string{"": in(`{"$ref": "a"}`), "a/b": ""}, `docs.json:2: $ref to "a": not a regular file`},
		{"ref with a fragment", map[string]string{"": in(`{"$ref": "a.json#/x"}`), "a.json": "{}"}, "docs.json:2: $ref leads to a part"},
		{"ref of a wrong type", map[string]string{"": in(`{"$ref": ["a.json"]}`)}, "docs.json:2: $ref is no text"},
		{"ref to itself", map[string]string{"": in(`{"$ref": "docs.json"}`)}, "docs.json:2: $ref goes in a circle"},
		{"ref in a circle", map[string]string{"": in(`{"$ref": "a.json"}`), "a.json": `{"$ref": "b/c.json"}`, "b/c.json": "[\n{\"$ref\": \"../a.json\"}]"}, "b/c.json:2: $ref goes in a circle"},
		{"whole file in a circle", map[string]string{"": `{"$ref": "a.json"}`, "a.json": `{"$ref": "docs.json"}`}, "a.json:1: $ref goes in a circle"},
		{"ref to no JSON", map[string]string{"": in(`{"$ref": "a.md"}`), "a.md": "# A"}, "a.md:1: invalid character"},
		{"ref replaced by a sibling", map[string]string{"": in(`{"$ref": "a.json", "x": 1}`), "a.json": `{"x": {"$ref": "b.json"}}`}, `a.json:1: $ref to "b.json": no such file`},
		{"public beside a list", map[string]string{"": in("{\"public\": false, \"pages\": [\"p\"], \"openapi\": \"o\", \"groups\": {\"$ref\": \"a.json\",\n\"public\": false}}"), "a.json": "[]"}, "docs.json:3: beside a $ref"},
		{"pages beside a list", map[string]string{"": in(`{"$ref": "a.json", "pages": []}`), "a.json": "[]"}, "docs.json:2: beside a $ref"},
		{"navigation beside a list", map[string]string{"": "{\"$ref\": \"a.json\",\n\"navigation\": {}}", "a.json": "[]"}, "docs.json:2: beside a $ref"},
		{"deep", map[string]string{"": in(strings.Repeat("[", 1<<20))}, "docs.json:2: nested more than"},
		{"deep in pieces", deepRefs(), "nested more than"},
		{"fan", fan(30), "too many values"},
		{"flat fan", flatFan(), "too many values"},
		{"long chain", chain(maxSiteFiles), `more than 200 files`},
		{"large", map[string]string{"": in(`{"$ref": "a.json"}`), "a.json": strings.Repeat(" ", maxSiteBytes)}, "docs.json:2: $ref to \"a.json\": more than"},
		{"many values", map[string]string{"": in("[" + strings.Repeat("0,", maxSiteValues) + "0]")}, "docs.json:2: too many values"},
	}
	for _, c := range cases {
		n := readNav(t, docs(c.files))
		if n.fault == nil || !strings.Contains(n.fault.Error(), c.want) || len(n.pages)+len(n.specs)+len(n.warnings) > 0 || n.marked != nil || !n.files["docs.json"] {
			t.Errorf("%s: fault %v, want %s; pages %s, files %s", c.name, n.fault, c.want, n.answers(), n.fileNames())
		}
	}
	if n := readNav(t, docs(chain(maxSiteFiles-1))); n.fault != nil || n.answers() != "p=-" {
		t.Errorf("a chain just short enough: %v", n.fault)
	}
}

// chain is a configuration of so many files beside docs.json.
func chain(n int) map[string]string {
	files := map[string]string{"": `{"navigation": {"$ref": "1.json"}}`}
	for i := range n {
		files[fmt.Sprintf("%d.json", i+1)] = fmt.Sprintf(`{"$ref": "%d.json", "pages": ["p"]}`, i+2)
	}
	files[fmt.Sprintf("%d.json", n)] = "{}"
	return files
}

// fan is n files each of which has the next one in it twice.
func fan(n int) map[string]string {
	files := map[string]string{"": `{"navigation": {"$ref": "1.json"}}`}
	for i := range n {
		files[fmt.Sprintf("%d.json", i+1)] = strings.ReplaceAll(`{"groups": [{"$ref": "N"}, {"$ref": "N"}]}`, "N", fmt.Sprintf("%d.json", i+2))
	}
	files[fmt.Sprintf("%d.json", n+1)] = "{}"
	return files
}

// flatFan has a broad object in it many times.
func flatFan() map[string]string {
	var broad []string
	for i := range 10_000 {
		broad = append(broad, fmt.Sprintf(`"%d":0`, i))
	}
	items := strings.Repeat(`{"$ref":"a.json"},`, 10_000)
	return map[string]string{"": `{"navigation":[` + items + `0]}`, "a.json": "{" + strings.Join(broad, ",") + "}"}
}

func deepRefs() map[string]string {
	half := strings.Repeat("[", maxNesting/2+10)
	end := strings.Repeat("]", len(half))
	return map[string]string{"": `{"navigation": ` + half + `{"$ref":"a.json"}` + end + `}`, "a.json": half + end}
}

// What is no regular file is not read, wherever a link leads.
func TestSiteLinks(t *testing.T) {
	target := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(target, []byte(`{"navigation": {"pages": ["a"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		link string
		docs string
	}{
		{"docs.json", "docs.json", ""},
		{"mint.json", "mint.json", ""},
		{"a target", "a.json", `{"navigation": {"$ref": "a.json"}}`},
		{"a folder above", "d", `{"navigation": {"$ref": "d/x.json"}}`},
	}
	for _, c := range cases {
		dir := tree(t, map[string]string{"in/x.json": "{}"})
		if c.docs != "" {
			write(t, dir, "docs.json", c.docs)
		}
		for _, to := range []string{target, "in/x.json", filepath.Dir(target), "in"} {
			link := filepath.Join(dir, c.link)
			os.Remove(link)
			if err := os.Symlink(to, link); err != nil {
				t.Skip(err)
			}
			eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
				if n := f.readNavigation(); n.fault == nil || len(n.pages) > 0 {
					t.Errorf("%s -> %s: %+v", c.name, to, n)
				}
			})
		}
	}
}
