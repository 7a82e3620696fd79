package source

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
)

// resolve surveys a folder and decides.
func resolve(t *testing.T, dir string, o Options, pinned *access.Access) (*Resolution, error) {
	t.Helper()
	f := open(t, dir, o)
	listing, err := f.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Survey(t.Context(), listing)
	if err != nil {
		t.Fatal(err)
	}
	return s.Resolve(pinned)
}

// restricted is the text of a page with groups in its frontmatter.
func restricted(groups string) string { return "---\ngroups: [" + groups + "]\n---\n" }

const opened = "---\npublic: true\n---\n"

func ruled(list ...any) (out []access.Rule) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, access.Rule{Glob: list[i].(string), Access: list[i+1].(access.Access), At: access.Place{Path: "chromafs.yaml", Line: 3 + i}})
	}
	return out
}

// TestResolve has a small site for each rule. What is wanted is, for each path, who sees it and what decides, where.
func TestResolve(t *testing.T) {
	everyone, staff := access.Everyone(), access.Access{Groups: []string{"staff"}}
	nav := func(pages string) string { return `{"navigation": {"groups": [` + pages + `]}}` }
	cases := []struct {
		name  string
		files map[string]string
		o     Options
		want  map[string]string
	}{
		{"frontmatter groups", map[string]string{"a.md": restricted("staff")}, Options{},
			map[string]string{"a.md": `groups "staff"; groups in its frontmatter a.md:2`}},
		{"frontmatter in a rarer extension", map[string]string{"a.mkd": restricted("staff")}, Options{},
			map[string]string{"a.mkd": `groups "staff"; groups in its frontmatter a.mkd:2`}},
		{"frontmatter public", map[string]string{"a.md": opened, "b.md": ""}, Options{},
			map[string]string{"a.md": "everyone; public in its frontmatter a.md:2", "b.md": "any signed-in viewer; the default a.md:2"}},
		{"navigation", map[string]string{"docs.json": nav("{\"group\": \"g\",\n\"public\": true, \"pages\": [\"a\", \"x/b.md\"]}"), "a.mdx": "", "x/b.md": "", "c.md": ""}, Options{},
			map[string]string{"a.mdx": "everyone; public in the navigation docs.json:2", "x/b.md": "everyone; public in the navigation docs.json:2", "c.md": "any signed-in viewer; the default docs.json:2"}},
		{"same name, several extensions", map[string]string{"docs.json": nav(`{"group": "g", "public": true, "pages": ["a"]}`), "a.mdx": "", "a.md": ""}, Options{},
			map[string]string{"a.mdx": "everyone; public in the navigation docs.json:1", "a.md": "any signed-in viewer; the default docs.json:1"}},
		{"closed in the navigation", map[string]string{"docs.json": nav(`{"group": "g", "public": false, "pages": ["a"]}`), "a.mdx": "", "a.md": "", "b.md": ""}, Options{Default: &everyone},
			map[string]string{"a.mdx": "any signed-in viewer; public in the navigation docs.json:1", "a.md": "any signed-in viewer; public in the navigation docs.json:1", "b.md": "everyone; the default "}},
		{"listed twice, by two names", map[string]string{"docs.json": nav(`{"group": "f", "pages": ["a", "b"]}, {"group": "g", "public": true, "pages": ["a.mdx", "c"]}, {"group": "h", "public": false, "pages": ["b.mdx", "c.mdx"]}`), "a.mdx": "", "b.mdx": "", "c.mdx": ""},
			Options{Default: &staff}, map[string]string{
				"a.mdx": `groups "staff"; the default `, "b.mdx": "any signed-in viewer; public in the navigation docs.json:1", "c.mdx": "everyone; public in the navigation docs.json:1",
			}},
		{"mint.json", map[string]string{"mint.json": `{"navigation": [{"group": "g", "public": true, "pages": ["a"]}]}`, "a.mdx": ""}, Options{},
			map[string]string{"a.mdx": "everyone; public in the navigation mint.json:1"}},
		{"rules, the last match", map[string]string{"a.md": "", "in/b.md": "", "in/open/c.md": ""},
			Options{Rules: ruled("**", access.SignedIn(), "in", staff, "in/open/**", everyone)},
			map[string]string{"a.md": "any signed-in viewer; a rule chromafs.yaml:3", "in/b.md": `groups "staff"; a restricting rule chromafs.yaml:5`, "in/open/c.md": "everyone; a rule chromafs.yaml:7"}},
		{"a rule that restricts wins over public", map[string]string{"in/a.md": opened}, Options{Rules: ruled("in/**", staff)},
			map[string]string{"in/a.md": `groups "staff"; a restricting rule chromafs.yaml:3`}},
		{"configured default", map[string]string{"a.md": "", "b.md": restricted("staff")}, Options{Default: &everyone},
			map[string]string{"a.md": "everyone; the default ", "b.md": `groups "staff"; groups in its frontmatter b.md:2`}},
		{"nothing said", map[string]string{"a.md": ""}, Options{Unmarked: true}, map[string]string{"a.md": "everyone; the default "}},
		{"marker in a fence", map[string]string{"a.md": "---\ntitle: x\n---\n```yaml\ngroups: [staff]\n```\n"}, Options{Unmarked: true},
			map[string]string{"a.md": "everyone; the default "}},
		{"malformed groups", map[string]string{"a.md": "---\ngroups: staff\n---\n", "b.md": ""}, Options{},
			map[string]string{"a.md": "nobody; malformed a.md:2", "b.md": "any signed-in viewer; the default a.md:2"}},
		{"broken frontmatter", map[string]string{"a.md": "---\na: b: c\n---\n"}, Options{Unmarked: true}, map[string]string{"a.md": "nobody; malformed a.md:2"}},
		{"broken docs.json", map[string]string{"docs.json": "{", "a.md": "", "b.md": opened, "c.md": restricted("staff")}, Options{Default: &everyone},
			map[string]string{"a.md": "nobody; malformed docs.json:1", "docs.json": "nobody; malformed docs.json:1",
				"b.md": "everyone; public in its frontmatter b.md:2", "c.md": `groups "staff"; groups in its frontmatter c.md:2`}},
		{"broken docs.json, a rule that restricts", map[string]string{"docs.json": "{", "a.md": ""}, Options{Rules: ruled("a.md", staff)},
			map[string]string{"a.md": `groups "staff"; a restricting rule chromafs.yaml:3`}},
		{"wrong type in the navigation", map[string]string{"docs.json": nav(`{"group": "g", "public": "yes", "pages": ["a"]}`), "a.md": "", "b.md": ""}, Options{},
			map[string]string{"a.md": "nobody; malformed docs.json:1", "b.md": "any signed-in viewer; the default docs.json:1"}},
		{"snippets", map[string]string{
			"open.mdx": opened + "import A from \"/snippets/a.mdx\"\nimport B from './snippets/b'\n", "snippets/a.mdx": "", "snippets/b.jsx": "import '../lib/c.js'\n", "lib/c.js": "",
			"in/staff.mdx": restricted("staff") + "import B from '../snippets/b.jsx'\n```\nimport A from \"/snippets/a.mdx\"\n```\n",
		}, Options{Default: &everyone}, map[string]string{
			"snippets/a.mdx": "everyone; the default ", "snippets/b.jsx": `groups "staff"; a page that uses it in/staff.mdx:4`,
			"lib/c.js": `groups "staff"; a page that uses it snippets/b.jsx:1`,
		}},
		{"a rule names the snippet", map[string]string{"a.mdx": restricted("staff") + "import A from \"/snippets/a.mdx\"\n", "snippets/a.mdx": "", "snippets/b.mdx": ""},
			Options{Rules: ruled("snippets/a.mdx", everyone)}, map[string]string{"snippets/a.mdx": "everyone; a rule chromafs.yaml:3"}},
		{"a rule for many does not name it", map[string]string{"a.mdx": restricted("staff") + "import A from \"/snippets/a.mdx\"\n", "snippets/a.mdx": ""},
			Options{Rules: ruled("snippets/a*", everyone)}, map[string]string{"snippets/a.mdx": `groups "staff"; a page that uses it a.mdx:4`}},
		{"Snippet element", map[string]string{"a.mdx": restricted("staff") + "<Snippet file=\"s.mdx\" />\n", "_snippets/s.mdx": ""}, Options{Default: &everyone},
			map[string]string{"_snippets/s.mdx": `groups "staff"; a page that uses it a.mdx:4`}},
		{"includes", map[string]string{
			"in/a.md": restricted("staff") + "<!--@include: ../v.md{3,}-->\n--8<-- \"in/m.md\"\n{% include \"g.md\" %}\n```\n<!--@include: ./code.md-->\n```\n",
			"v.md":    "", "in/m.md": "", "in/g.md": "", "in/code.md": "",
		}, Options{Default: &everyone}, map[string]string{
			"v.md": `groups "staff"; a page that uses it in/a.md:4`, "in/m.md": `groups "staff"; a page that uses it in/a.md:5`,
			"in/g.md": `groups "staff"; a page that uses it in/a.md:6`, "in/code.md": `groups "staff"; a page that uses it in/a.md:8`,
		}},
		{"spec in parts", map[string]string{
			"api/one.yaml": "openapi: 3.1.0\npaths:\n  /a:\n    $ref: 'paths/a.yaml#/x'\n", "api/paths/a.yaml": "x: {schema: {$ref: ../b.json}}\ny: {$ref: '#/x'}\n",
			"api/b.json": `{"x": {"$ref": "users_{id}.yaml#/a"}, "y": {"$ref":"it's,o%20o.yaml"}}`, "api/users_{id}.yaml": "", "api/it's,o o.yaml": "", "api/c.json": `{}`, "a.mdx": "---\ngroups: [staff]\nopenapi: api/one.yaml GET /a\n---\n",
		}, Options{Default: &everyone}, map[string]string{
			"api/one.yaml": `groups "staff"; a page that uses it a.mdx:3`, "api/paths/a.yaml": `groups "staff"; a page that uses it api/one.yaml:4`,
			"api/b.json": `groups "staff"; a page that uses it api/paths/a.yaml:1`, "api/users_{id}.yaml": `groups "staff"; a page that uses it api/b.json:1`,
			"api/it's,o o.yaml": `groups "staff"; a page that uses it api/b.json:1`, "api/c.json": "everyone; the default ",
		}},
		{"spec beside the page and at the root", map[string]string{
			"x/api.json": `{"openapi": "3.1.0"}`, "api.json": `{"openapi": "3.1.0"}`, "x/a.mdx": "---\ngroups: [staff]\nopenapi: api.json GET /a\n---\n",
		}, Options{Default: &everyone}, map[string]string{
			"x/api.json": `groups "staff"; a page that uses it x/a.mdx:3`, "api.json": `groups "staff"; a page that uses it x/a.mdx:3`,
		}},
		{"spec that is elsewhere", map[string]string{"specs/o.yaml": "openapi: 3.1.0\n", "p.yaml": "openapi: 3.1.0\n", "x/a.mdx": "---\ngroups: [staff]\nopenapi: o.yaml GET /x\n---\n"}, Options{Default: &everyone},
			map[string]string{"specs/o.yaml": `groups "staff"; a page that uses it x/a.mdx:3`, "p.yaml": "everyone; the default "}},
		{"spec that is not there stands for any", map[string]string{"specs/o.yaml": "openapi: 3.1.0\n", "p.yaml": "a: b\n", "x/a.mdx": "---\ngroups: [staff]\nopenapi: q.yaml GET /x\n---\n"}, Options{Default: &everyone},
			map[string]string{"specs/o.yaml": `groups "staff"; a page that uses it x/a.mdx:3`, "p.yaml": "everyone; the default "}},
		{"operations of a closed group", map[string]string{"o.yaml": "openapi: 3.1.0\n", "docs.json": nav(`{"group": "g", "public": false, "pages": ["GET /x"]}`)}, Options{Default: &everyone},
			map[string]string{"o.yaml": "any signed-in viewer; a page that uses it docs.json:1"}},
		{"imports with a query, and names with one", map[string]string{
			"a.mdx": restricted("staff") + "import A from './a.txt?raw'\nimport B from './b#1.txt'\nimport C from './sub'\n", "a.txt": "", "b#1.txt": "", "sub/index.md": "",
		}, Options{Default: &everyone}, map[string]string{
			"a.txt": `groups "staff"; a page that uses it a.mdx:4`, "b#1.txt": `groups "staff"; a page that uses it a.mdx:5`, "sub/index.md": `groups "staff"; a page that uses it a.mdx:6`,
		}},
		{"spec without its extension", map[string]string{"api/o.yaml": "openapi: 3.1.0\n", "a.mdx": "---\ngroups: [staff]\nopenapi: api/o GET /x\n---\n"}, Options{Default: &everyone},
			map[string]string{"api/o.yaml": `groups "staff"; a page that uses it a.mdx:3`}},
		{"aliases", map[string]string{
			"x/a.mdx": restricted("staff") + "import A from '@/snippets/a.mdx'\nimport B from '@site/docs/snippets/b.mdx'\nimport C from '~/snippets/c.mdx'\n", "snippets/a.mdx": "", "snippets/b.mdx": "", "snippets/c.mdx": "",
		}, Options{Default: &everyone}, map[string]string{
			"snippets/a.mdx": `groups "staff"; a page that uses it x/a.mdx:4`, "snippets/b.mdx": `groups "staff"; a page that uses it x/a.mdx:5`, "snippets/c.mdx": `groups "staff"; a page that uses it x/a.mdx:6`,
		}},
		{"navigation closes what is spelt otherwise", map[string]string{"docs.json": nav(`{"group": "g", "public": false, "pages": ["In/B", "x"]}`), "in/b.MDX": "", "x/index.md": ""}, Options{Default: &everyone},
			map[string]string{"in/b.MDX": "any signed-in viewer; public in the navigation docs.json:1", "x/index.md": "any signed-in viewer; public in the navigation docs.json:1"}},
		{"navigation opens only what is spelt so", map[string]string{"docs.json": nav(`{"group": "g", "public": true, "pages": ["In/B", "x"]}`), "in/b.mdx": "", "x/index.md": ""}, Options{},
			map[string]string{"in/b.mdx": "any signed-in viewer; the default docs.json:1", "x/index.md": "any signed-in viewer; the default docs.json:1"}},
		{"lists by other names", map[string]string{"LLMS.txt": "", "llms.txt~": "", "docs.json.bak": "", "x/chromafs.yml": "", "a.md": restricted("staff")}, Options{Default: &everyone},
			map[string]string{"LLMS.txt": "nobody; a page that it may name a.md", "llms.txt~": "nobody; a page that it may name a.md", "docs.json.bak": "nobody; a page that it may name a.md", "x/chromafs.yml": "nobody; a page that it may name a.md"}},
		{"specs", map[string]string{
			"one.json": `{"openapi": "3.1.0"}`, "two.json": `{"openapi": "3.1.0"}`, "not.json": `{}`,
			"a.mdx": "---\ngroups: [staff]\nopenapi: one.json GET /a\n---\n",
		}, Options{Default: &everyone}, map[string]string{
			"one.json": `groups "staff"; a page that uses it a.mdx:3`, "two.json": "everyone; the default ", "not.json": "everyone; the default ",
		}},
		{"spec not named", map[string]string{
			"one.json": `{"openapi": "3.1.0"}`, "two.yaml": "openapi: 3.1.0\n", "not.json": `{}`, "a.mdx": "---\ngroups: [staff]\nopenapi: get /a\n---\n",
		}, Options{Default: &everyone}, map[string]string{
			"one.json": `groups "staff"; a page that uses it a.mdx:3`, "two.yaml": `groups "staff"; a page that uses it a.mdx:3`, "not.json": "everyone; the default ",
		}},
		{"spec not named, but the site's", map[string]string{
			"one.json": `{"openapi": "3.1.0"}`, "two.json": `{"openapi": "3.1.0"}`, "docs.json": `{"api": {"openapi": "/one.json"}, "navigation": {}}`,
			"a.mdx": "---\ngroups: [staff]\nopenapi: GET /a\n---\n",
		}, Options{Default: &everyone}, map[string]string{
			"one.json": `groups "staff"; a page that uses it a.mdx:3`, "two.json": "everyone; the default ", "docs.json": "nobody; a page that it may name a.mdx",
		}},
		{"spec of a closed group", map[string]string{"one.json": `{"openapi": "3.1.0"}`, "docs.json": nav(`{"group": "g", "public": false, "openapi": "one.json"}`)}, Options{Default: &everyone},
			map[string]string{"one.json": "any signed-in viewer; a page made of it docs.json:1"}},
		{"x-mint", map[string]string{"one.json": "{\"openapi\": \"3.1.0\", \"paths\": {\"/a\": {\"get\": {\"x-mint\": {\"metadata\": {\n\"groups\": [\"staff\"]}}}}}}"}, Options{Default: &everyone},
			map[string]string{"one.json": `groups "staff"; a page made of it one.json:2`}},
		{"x-mint opens nothing", map[string]string{"one.json": `{"openapi": "3.1.0", "x-mint": {"public": true}}`}, Options{},
			map[string]string{"one.json": "any signed-in viewer; the default one.json:1"}},
		{"lists, nothing hidden", map[string]string{"docs.json": `{"navigation": {}}`, "llms.txt": "", "x/llms-full.txt": "", "a.md": ""}, Options{Default: &everyone},
			map[string]string{"docs.json": "everyone; the default ", "llms.txt": "everyone; the default ", "x/llms-full.txt": "everyone; the default "}},
		{"lists", map[string]string{
			"docs.json": `{"navigation": {"$ref": "nav/x.json"}}`, "nav/x.json": "{}", "nav/y.json": "{}", "mint.json": "{}", "llms.txt": "", "x/llms-full.txt": "",
			"chromafs.yaml": "", "my.yaml": "", "a.md": restricted("staff"),
		}, Options{Default: &everyone, Config: "my.yaml"}, map[string]string{
			"docs.json": "nobody; a page that it may name a.md", "nav/x.json": "nobody; a page that it may name a.md", "nav/y.json": "everyone; the default ",
			"mint.json": "nobody; a page that it may name a.md", "llms.txt": "nobody; a page that it may name a.md", "x/llms-full.txt": "nobody; a page that it may name a.md",
			"chromafs.yaml": "nobody; a page that it may name a.md", "my.yaml": "nobody; a page that it may name a.md",
		}},
		{"a rule names the list", map[string]string{"llms.txt": "", "llms-full.txt": "", "a.md": restricted("staff")}, Options{Rules: ruled("**", everyone, "llms.txt", everyone)},
			map[string]string{"llms.txt": "everyone; a rule chromafs.yaml:5", "llms-full.txt": "nobody; a page that it may name a.md"}},
		{"condition", map[string]string{"a.md": "---\nif: visitor.claims.unsigned.beta\n---\n"}, Options{Default: &everyone},
			map[string]string{"a.md": "nobody; a condition that can't be mapped a.md:2"}},
	}
	for _, c := range cases {
		res, err := resolve(t, tree(t, c.files), c.o, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, want := range c.want {
			d := res.Find(name)
			if d == nil {
				t.Errorf("%s: %s is not there", c.name, name)
				continue
			}
			if got := fmt.Sprintf("%s; %s %s", d.Access, d.Reason.Source, d.Reason.At); got != want {
				t.Errorf("%s: %s\n got %s\nwant %s", c.name, name, got, want)
			}
		}
	}
}

func symlink(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Skip(err)
	}
}

func TestResolveDefault(t *testing.T) {
	signedIn, everyone := access.SignedIn(), access.Everyone()
	dir := tree(t, map[string]string{"a.md": ""})
	if _, err := resolve(t, dir, Options{}, nil); !errors.Is(err, ErrNoDefault) {
		t.Errorf("nothing said: %v", err)
	}
	if _, err := resolve(t, dir, Options{}, &everyone); !errors.Is(err, ErrNoDefault) {
		t.Errorf("nothing said, pinned open: %v", err)
	}
	for _, o := range []Options{{}, {Unmarked: true}} {
		if res, err := resolve(t, dir, o, &signedIn); err != nil || !res.Default.Access.Equal(signedIn) {
			t.Errorf("the last marker is gone: %+v, %v", res, err)
		}
	}
}

// Each place that can't be understood is reported once, however many pages depend on it.
func TestResolveFaults(t *testing.T) {
	dir := tree(t, map[string]string{
		"docs.json": "{\"navigation\": {\"groups\": [{\"group\": \"g\", \"public\": 1, \"pages\": [\"a\", \"b\"]},\n{\"group\": \"h\", \"public\": 1, \"pages\": [\"none\"]}]}}", "a.md": "", "b.md": "",
		"c.md": "---\nx: 1\ngroups: c\n---\n", "d.md": "---\npublic: no\n---\n",
	})
	res, err := resolve(t, dir, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range res.Faults {
		got = append(got, f.At.String())
	}
	if want := "c.md:3 d.md:2 docs.json:1 docs.json:2"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestResolveLinksAccess(t *testing.T) {
	staff := access.Access{Groups: []string{"staff"}}
	dir := tree(t, map[string]string{"a.md": "", "in/b.md": ""})
	symlink(t, "../a.md", dir+"/in/l.md")
	symlink(t, "in/b.md", dir+"/m.md")
	res, err := resolve(t, dir, Options{Rules: ruled("**", access.Everyone(), "in/**", staff)}, nil)
	if err != nil || len(res.Links) != 2 {
		t.Fatalf("%+v, %v", res, err)
	}
	if l, m := res.Find("in/l.md"), res.Find("m.md"); !l.Access.Equal(staff) || !m.Access.Equal(access.Everyone()) {
		t.Errorf("%v, %v", l.Access, m.Access)
	}
}

// What is used, or is a list, by way of a link is the file behind it.
func TestResolveThroughLinks(t *testing.T) {
	everyone := access.Everyone()
	dir := tree(t, map[string]string{
		"a.mdx":        restricted("staff") + "import A from '/snippets/a.mdx'\nimport B from '/parts/b.mdx'\n",
		"shared/a.mdx": "", "shared/b.mdx": "", "gen/all.txt": "", "v2/c.md": "", "snippets/other.mdx": "",
		"docs.json": `{"navigation": {"groups": [{"group": "g", "public": false, "pages": ["current/c"]}]}}`,
	})
	symlink(t, "../shared/a.mdx", dir+"/snippets/a.mdx")
	symlink(t, "shared", dir+"/parts")
	symlink(t, "gen/all.txt", dir+"/llms.txt")
	symlink(t, "v2", dir+"/current")
	res, err := resolve(t, dir, Options{Default: &everyone}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]access.Source{
		"shared/a.mdx": access.FromUse, "shared/b.mdx": access.FromUse, "gen/all.txt": access.FromList, "v2/c.md": access.FromNavigation,
	} {
		if d := res.Find(name); d.Reason.Source != want {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestResolveWarnings(t *testing.T) {
	dir := tree(t, map[string]string{
		"docs.json": "{\"navigation\": {\"groups\": [\n{\"group\": \"g\", \"public\": true, \"pages\": [\"none\"]}]}}", "x/docs.json": "{}", "x/chromafs.yaml": "", "in/a.md": "", "page.html": restricted("staff"),
	})
	res, err := resolve(t, dir, Options{Rules: ruled("in", access.SignedIn(), "docs/in", access.Nobody(), "in/a.md", access.SignedIn())}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range res.Warnings {
		got = append(got, fmt.Sprintf("%s:%d", w.Path, w.Line))
	}
	page, err := open(t, dir, Options{}).Read("page.html")
	if err != nil || len(page.Warnings) != 1 || page.Warnings[0].Line != 2 {
		t.Errorf("%+v, %v", page, err)
	}
	if want := "chromafs.yaml:5 docs.json:2 x/chromafs.yaml:0 x/docs.json:0"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRulesRefused(t *testing.T) {
	for _, glob := range []string{"", "[", "../a", "\xff"} {
		_, err := Open(t.TempDir(), Options{Rules: ruled("**", access.Everyone(), glob, access.Everyone())})
		if !errors.Is(err, ErrGlob) || !strings.Contains(err.Error(), "chromafs.yaml:5") {
			t.Errorf("%q: %v", glob, err)
		}
	}
}

func TestSurveyExplains(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "", "b.bin": "\x00"})
	symlink(t, "nowhere", dir+"/l")
	f := open(t, dir, Options{Check: func(b []byte) error {
		if strings.Contains(string(b), "\x00") {
			return errors.New("NUL")
		}
		return nil
	}})
	listing, err := f.Walk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Survey(t.Context(), listing)
	if err != nil || len(s.Files) != 1 || len(s.Links) != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	var ignored *Ignored
	if s.Explain("a.md") != nil || !errors.As(s.Explain("b.bin"), &ignored) || !errors.As(s.Explain("l"), &ignored) || s.Explain("c") == nil {
		t.Errorf("%v, %v, %v, %v", s.Explain("a.md"), s.Explain("b.bin"), s.Explain("l"), s.Explain("c"))
	}
}
