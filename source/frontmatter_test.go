package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/fixtures"
)

// page reads content as a page does, without a file.
func page(content string) *File {
	f := &File{Facts: Facts{Path: "p.md", Kind: Page}, Content: []byte(content)}
	f.readFacts(f.Content)
	return f
}

// said is what one place says in short, with its lines: "2:public=true 3:groups=nobody 4:if 5:fault".
func said(s *access.Said) string {
	if s == nil {
		return ""
	}
	var out []string
	add := func(line int, format string, args ...any) {
		out = append(out, fmt.Sprintf("%d:", line)+fmt.Sprintf(format, args...))
	}
	if s.Public != nil {
		add(s.PublicAt.Line, "public=%t", *s.Public)
	}
	if s.Groups != nil {
		add(s.GroupsAt.Line, "groups=%s", s.Groups)
	}
	if s.Condition != nil {
		add(s.Condition.Line, "if")
	}
	if s.Fault != nil {
		add(s.Fault.At.Line, "fault")
	}
	return strings.Join(out, " ")
}

// warned are the lines of warnings.
func warned(f *File) (lines []int) {
	for _, w := range f.Warnings {
		lines = append(lines, w.Line)
	}
	return lines
}

func TestFrontmatterTitle(t *testing.T) {
	cases := []struct{ content, title string }{
		{"---\ntitle: A\n---\n# B\n", "A"},
		{"\ufeff---\r\ntitle: 'A: b'\r\n---\r\n# B\r\n", "A: b"},
		{"--- \ntitle: A\n...\n# B\n", "A"},
		{"---\ntitle: >\n  A\n  b\n---\n", "A b"},
		{"---\ntitle: 404\n---\n", "404"},
		{"---\ntitle: &t A\nsidebarTitle: *t\n---\n", "A"},
		{"---\nx: &t A\ntitle: *t\n---\n", "A"},
		{"---\ntitle: null\n---\n# B\n", "B"},
		{"---\ntitle: [a]\n---\n# B\n", "B"},
		{"---\n---\n# B\n", "B"},
		{"---\n# a comment\n---\n# B\n", "B"},
		{"---\nsub:\n  title: A\n  public: true\n---\n# B\n", "B"},
		{"----\ntitle: A\n---\n# B\n", "B"},
		{"\n---\ntitle: A\n---\n# B\n", "B"},
		{"# B\n---\npublic: true\n---\n", "B"},
		{"", ""},
		{"---\ntext: |\n  public: true\n---\n", ""},
		{"---\ntitle: A\n---\n```yaml\npublic: true\n```\n", "A"},
		{"---\n<<: &m {title: A, <<: *m}\ntitle: B\n---\n", "B"},
		{"+++\ntitle = \"A \\\"b\\\"\"\n+++\n# B\n", "A \"b\""},
		{"+++\r\ntitle = \"\"\"\r\nA\r\nb\"\"\"\r\n+++\r\n", "A b"},
		{"+++\ntitle = 'A'\n[extra]\ntitle = 'C'\npublic = true\n+++\n", "A"},
		{"+++\n[extra]\ntitle = 'C'\n+++\n# B\n", "B"},
		{"+++\ntitle = 404\n+++\n# B\n", "B"},
	}
	for _, c := range cases {
		if f := page(c.content); f.Title != c.title || f.Own != nil || len(f.Warnings) > 0 {
			t.Errorf("%q: %q, want %q; %s %v", c.content, f.Title, c.title, said(f.Own), f.Warnings)
		}
	}
}

func TestFrontmatterAccess(t *testing.T) {
	cases := []struct{ front, want string }{
		{"groups: [b, a]", `2:groups=groups "a", "b"`},
		{"title: A\npublic: true", "3:public=true"},
		{"public: False\ngroups:\n  - a\n", `2:public=false 3:groups=groups "a"`},
		{"groups: []", "2:groups=nobody"},
		{"groups: ['*', \"404\"]", "2:groups=any signed-in viewer"},
		{"groups: [{includes: [a], excludes: [b]}]", `2:groups=groups "a" but groups "b"`},
		{"\"groups\" : [a]", `2:groups=groups "a"`},
		{"{title: A, public: false}", "2:public=false"},
		{"\"p\\u0075blic\": false", "2:public=false"},
		{"x: &k public\n*k : true", "2:public=true"},
		{"x: &m\n  groups: [a]\n<<: *m", `3:groups=groups "a"`},
		{"x: &m {title: A}\n<<: [*m, {groups: [a]}]", `3:groups=groups "a"`},
		{"x: &a [a]\ngroups: *a", `3:groups=groups "a"`},
		{"x: &m {includes: [a]}\ngroups:\n  - <<: *m\n    excludes: [b]", `3:groups=groups "a" but groups "b"`},
		{"x: &m {includes: [a]}\ngroups:\n  - <<: [{includes: [b]}, *m]", `3:groups=groups "b"`},
		{"? groups\n: [a]", `2:groups=groups "a"`},
		{"? [a]\n: b\npublic: true", "4:public=true"},

		{"groups: admin", "2:fault"},
		{"groups:", "2:fault"},
		{"title: A\ngroups: null", "3:fault"},
		{"groups: {includes: [a]}", "2:fault"},
		{"groups: [404]", "2:fault"},
		{"groups: [yes, true]", "2:fault"},
		{"groups: [2024-01-01]", "2:fault"},
		{"groups: ['chromafs:none']", "2:fault"},
		{"groups: ['']", "2:fault"},
		{"groups: [!secret a]", "2:fault"},
		{"groups: !!set {a, b}", "2:fault"},
		{"groups: [!!binary YQ==]", "2:fault"},
		{"groups: [{includes: [a], includes: [b]}]", "2:fault"},
		{"groups: [{[a]: b}]", "2:fault"},
		{"groups: [{<<: a, includes: [a]}]", "2:fault"},
		{"x: &x\n  y: 1\n  groups: [a]\n  x: *x\ngroups: *x", "6:fault"},
		{"groups: [" + strings.Repeat("a, ", maxNodes) + "]", "2:fault"},
		{"groups: [" + strings.Repeat("g", access.MaxGroupBytes+1) + "]", "2:fault"},
		{"public: yes", "2:fault"},
		{"public: on", "2:fault"},
		{"public: 1", "2:fault"},
		{"public:", "2:fault"},
		{"public: !!bool yes", "2:fault"},
		{"public: true\ngroups: admin", "2:public=true 3:fault"},
		{"public: x\ngroups: [a]", `3:groups=groups "a" 2:fault`},
		{"public: x\ngroups: x", "2:fault"},
		{"Groups: [a]", "2:fault"},
		{"PUBLIC: true", "2:fault"},
		{"' public': true\npublic: true", "3:public=true 2:fault"},
		{"\u200bgroups: [a]", "2:fault"},
		{"gr\u00adoups: [a]", "2:fault"},
		{"title: A\n\u00a0public: false", "3:fault"},
		{"title: A\n\"\ufeffpublic\": false", "3:fault"},
		{"title: A\n\ufeffpublic: false", "3:fault"},
		{"publi\u200d\ufe0fc: false", "2:fault"},

		{"if: visitor.claims.plan == 'pro'", "2:if"},
		{"public: true\nif: ['a', {b: [\"x visitor.claims\"]}]", "2:public=true 3:if"},
		{"if: {visitor.claims: x}", "2:if"},
		{"if: visitors", ""},
		{"if: true", ""},
		{"IF: visitor.claims", ""},
		{"sub: {if: visitor.claims, groups: [a]}", ""},
	}
	for _, c := range cases {
		f := page("---\n" + c.front + "\n---\n")
		if got := said(f.Own); got != c.want {
			t.Errorf("%.80q: %s, want %s; %+v", c.front, got, c.want, f.Own)
		}
		if condition := strings.Contains(c.want, "if"); (len(f.Warnings) > 0) != condition {
			t.Errorf("%.80q: warnings %v", c.front, f.Warnings)
		}
	}
}

func TestFrontmatterTOML(t *testing.T) {
	cases := []struct{ front, want string }{
		{"public = true", "2:public=true"},
		{"title = 'A'\n\"groups\" = [\n  'a',\n]\npublic = false", `6:public=false 3:groups=groups "a"`},
		{"\"p\\u0075blic\" = true", "2:public=true"},
		{"# x\n[[groups]]\nincludes = ['a']\nexcludes = ['b']", `3:groups=groups "a" but groups "b"`},
		{"groups = []", "2:groups=nobody"},
		{"groups = 'admin'", "2:fault"},
		{"groups = [1]", "2:fault"},
		{"groups = [1979-05-27]", "2:fault"},
		{"x = 1\ngroups.includes = ['a']", "3:fault"},
		{"x = 1\n[groups]\nincludes = ['a']", "3:fault"},
		{"public = 'yes'", "2:fault"},
		{"Public = true", "2:fault"},
		{"if = 'visitor.claims'", "2:if"},
		{"[extra]\ngroups = 1", ""},
		{"x = '''\n[a]\n'''\n[extra]\ngroups = 1", ""},
		{"public = yes", "2:fault"},
		{"title = 'A'\ntitle = 'B'", "3:fault"},
		{"title = 'A'\nx", "3:fault"},
		{"x: 1", "2:fault"},
	}
	for _, c := range cases {
		f := page("+++\n" + c.front + "\n+++\n# B\n")
		if got := said(f.Own); got != c.want {
			t.Errorf("%q: %s, want %s; %+v", c.front, got, c.want, f.Own)
		}
	}
}

// TestFrontmatterBroken tells what nobody can read, and is for nobody, from what is no frontmatter.
func TestFrontmatterBroken(t *testing.T) {
	cases := []struct {
		content, said string
		warned        []int
	}{
		{"---", "", []int{1}},
		{"---\ntitle: A\n\n# B\n", "", []int{1}},
		{"+++\ntitle = 'A'\n# B\n", "", []int{1}},
		{"---\ntext\n\n```\npublic: true\n```\n", "", []int{1}},
		{"---\ntitle: A\npublic: true\n\n```\ngroups: x\n```\n", "3:fault", nil},
		{"---\n\n# B\n\"Groups\" : x\n", "4:fault", nil},
		{"---\nif: visitor.claims\n", "2:fault", nil},
		{"---\n\n \t\u200b' groups' : x\n", "3:fault", nil},
		{"---\n{title: A, sub: {}, \n\nicon: x, public: true\n", "4:fault", nil},
		{"---\na: {b: c}, public: true\n", "2:fault", nil},
		{"---\n? groups\n", "", []int{1}},
		{"---\nThere are two groups: admins and users.\n", "", []int{1}},
		{"---\nThere are admins, groups: {none}, public: none.\n", "2:fault", nil},
		{"---\nThere are {none}.\nadmins, groups: one, public: none.\n", "", []int{1}},
		{"---\n\n| key | value |\n|---|---|\n| public: | true |\n| `groups:` | a |\n", "", []int{1}},
		{"---\n\n  ```yaml\n  public: true\n  ```\n", "", []int{1}},
		{"---\n\n- ````yaml\n  ```\n  public: true\n  ```\n  ````\n", "", []int{1}},
		{"---\n\n~~~~\n~~~\npublic: true\n~~~\n~~~~\n", "", []int{1}},
		{"+++\ngroups = ['a']\n", "2:fault", nil},
		{"---\ntext\n---\n# B\n", "", []int{2}},
		{"---\n\n\n- a\n- b\n---\n# B\n", "", []int{4}},
		{"---\n- a\n- {public: true}\n---\n# B\n", "3:fault", nil},
		{"---\ntitle: A: b\n---\n# B\n", "2:fault", nil},
		{"---\ntitle: A: b\npublic: true\n---\n# B\n", "2:fault", nil},
		{"---\ntitle: A\ntitle: C\n---\n# B\n", "3:fault", nil},
		{"---\na: b\n--- x\nc: d\n---\n# B\n", "4:fault", nil},
		{"---\n 0:\npublic: true\n---\n# B\n", "2:fault", nil},
		{"---\npublic: true\n```\n---\n```\n# B\n", "3:fault", nil},
		{"---\n\xff\xfe#\x00\npublic: true\n---\n# B\n", "1:fault", nil},
		{"---\n" + strings.Repeat("a: b\n", maxFront/5+1) + "---\n# B\n", "1:fault", nil},
		{"---\nx: *y\n---\n# B\n", "2:fault", nil},
	}
	for _, c := range cases {
		f := page(c.content)
		if got := said(f.Own); got != c.said || !slices.Equal(warned(f), c.warned) {
			t.Errorf("%.80q: %s %v, want %s %v; %+v", c.content, got, f.Warnings, c.said, c.warned, f.Own)
		}
	}
}

func TestFrontmatterWords(t *testing.T) {
	cases := map[string]string{
		"---\ngroups: admin\n---\n": "p.md:2: malformed access: groups is text, not a list: write [name, …]",
		"---\npublic: yes\n---\n":   "p.md:2: malformed access: public is text, neither true nor false: write true or false",
		"---\nGroups: [a]\n---\n":   `p.md:2: key "Groups": write groups`,
		"---\na: 1\na: 2\n---\n": `p.md:3: frontmatter is broken: key "a" is there twice: remove one: ` +
			"mend it, or, if it is not frontmatter, begin the page with a line of text",
		"---\ngroups: [a]\n": "p.md:2: frontmatter has no end: close it with a line ---, " +
			"or, if it is a rule and not frontmatter, begin the page with a line of text",
		"+++\na = \n+++\n": "p.md:2: frontmatter is broken: unexpected character U+000A at start of value: " +
			"mend it, or, if it is not frontmatter, begin the page with a line of text",
	}
	for content, want := range cases {
		f := page(content)
		if f.Own == nil || f.Own.Fault == nil {
			t.Errorf("%q: no fault", content)
		} else if got := f.Own.Fault.Error(); got != want {
			t.Errorf("%q:\n got %s\nwant %s", content, got, want)
		}
	}
}

// TestFrontmatterHostile holds what takes other parsers minutes or gigabytes.
func TestFrontmatterHostile(t *testing.T) {
	bomb := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	for _, key := range []string{"groups", "public", "if"} {
		f := page("---\n" + bomb + key + ": *a12\n---\n")
		if f.Own == nil || f.Own.Fault == nil && f.Own.Condition == nil {
			t.Errorf("aliases below %s: %s", key, said(f.Own))
		}
	}
	long := maxFront - 100
	yaml := map[string]string{
		"deep lists":  strings.Repeat("[", long),
		"deep maps":   strings.Repeat("{a: ", long/4),
		"deep blocks": strings.Repeat("- ", long/2),
		"quotes":      strings.Repeat("\"", long),
		"anchors":     strings.Repeat("&a ", long/3),
		"tags":        strings.Repeat("!t ", long/3),
		"merges":      "x: &x {a: b}\n" + strings.Repeat("<<: *x\n", long/7) + "[",
		"same key":    strings.Repeat("a: b\n", long/5),
		"too long":    strings.Repeat("a: b\n", maxFront),
	}
	toml := map[string]string{
		"deep lists":  "a = " + strings.Repeat("[", long),
		"deep maps":   "a = " + strings.Repeat("{a = ", long/5),
		"deep keys":   strings.Repeat("a.", long/2) + "a = ",
		"deep tables": strings.Repeat("["+strings.Repeat("a.", 100)+"b]\n", long/210) + "[",
		"quotes":      "a = " + strings.Repeat("\"", long),
		"too long":    strings.Repeat("\n", maxFront),
	}
	for mark, texts := range map[string]map[string]string{"---": yaml, "+++": toml} {
		for name, text := range texts {
			f := page(mark + "\n" + text + "\npublic: true\n" + mark + "\n# B\n")
			if f.Title != "B" || len(f.Warnings) > 0 || f.Own == nil || f.Own.Fault == nil {
				t.Errorf("%s %s: title %q, warnings %d, %s", mark, name, f.Title, len(f.Warnings), said(f.Own))
			}
		}
	}
	whole := page("+++\n" + strings.Repeat("a.", long/4) + "a = 1\ngroups = " + strings.Repeat("[", long/8) + strings.Repeat("]", long/8) + "\n+++\n")
	if f := page("\n---\n" + strings.Repeat(`,"groups":`, 200_000) + "\npublic: true\n---\n"); said(f.Own) != "4:fault" {
		t.Errorf("commas: %s", said(f.Own))
	}
	if got := said(whole.Own); got != "3:fault" && got != "2:fault" {
		t.Errorf("deep keys and lists: %s", got)
	}
}

// These are the pages of the fixture that are for nobody, or deserve a warning.
var (
	brokenPages   = []string{"malformed.md", "repeated-key.md", "tabs.md"}
	doubtfulPages = []string{"list.md", "rule-only.md", "scalar.md", "unclosed.md"}
)

func TestFrontmatterFixture(t *testing.T) {
	dir := fixtures.Dir(t, "frontmatter")
	pages, err := filepath.Glob(filepath.Join(dir, "*.md*"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, p := range pages {
		content, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		f, name := page(string(content)), filepath.Base(p)
		if (len(f.Warnings) > 0) != slices.Contains(doubtfulPages, name) {
			t.Errorf("%s: warnings %v", name, f.Warnings)
		}
		if (f.Own != nil) != slices.Contains(brokenPages, name) || f.Own != nil && f.Own.Fault == nil {
			t.Errorf("%s: %s", name, said(f.Own))
		}
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{
		"---\ntitle: A\ngroups: [a, {includes: [b]}]\n---\n# B", "---\na: &x [*x]\n<<: *x\npublic: *x\n---\n", "---\n? {a: b}\n: c\n...\n",
		"+++\ntitle = \"\\u00e9\"\ngroups = [\"a\"]\n+++\n", "+++\n[[groups]]\nincludes = []\n+++\nif", "---\nIF: 1\nif: visitor.\n--- a\n",
		"---\nopenapi: \"a.json get /x\"\ngroups: a\n", "\ufeff<!-- x -->\n---json\n{a, groups: b}\n---\n", "---\r\n...\npublic:\n---",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		p := page(string(content))
		testFacts(t, p)
		lower := bytes.ToLower(content)
		word := bytes.Contains(lower, []byte("groups")) || bytes.Contains(lower, []byte("public")) || bytes.Contains(lower, []byte("if"))
		plain := !bytes.ContainsFunc(content, func(r rune) bool { return r == '\\' || r > 0x7f }) // no escapes, no ſ
		if plain && !word && p.Own != nil && (p.Own.Fault == nil || p.Own.Groups != nil || p.Own.Public != nil || p.Own.Condition != nil) {
			t.Errorf("%q says %s", content, said(p.Own))
		}
		// A key of its own line is found whatever is above it, unless that can make it part of a longer value.
		above := string(content)
		if strings.ContainsAny(above, "\"'[{|>%&*!`@") || strings.Contains(above, "---") || strings.Contains(above, "...") {
			return
		}
		if marked := page("---\n" + above + "\npublic: true\n---\n"); marked.Own == nil {
			t.Errorf("%q: nothing said, warnings %v", above, marked.Warnings)
		}
	})
}

// testFacts checks that what is said has a place in the file.
func testFacts(t *testing.T, f *File) {
	t.Helper()
	last := 1 + strings.Count(string(f.Content), "\n")
	check := func(what string, at access.Place) {
		if at.Path != f.Path || at.Line < 1 || at.Line > last {
			t.Errorf("%s at %s, in %d lines", what, at, last)
		}
	}
	for _, w := range f.Warnings {
		check(w.Text, access.Place{Path: w.Path, Line: w.Line})
	}
	parts := []access.Said{}
	if f.Own != nil {
		parts = append(parts, *f.Own)
	}
	if f.Uses != nil {
		parts = append(parts, f.Uses.Parts...)
		for _, u := range f.Uses.Files {
			check("use", access.Place{Path: f.Path, Line: u.Line})
		}
		if len(f.Uses.Parts)+len(f.Uses.Files) == 0 {
			t.Error("uses of nothing")
		}
	}
	for _, s := range parts {
		if s.Groups != nil {
			check("groups", s.GroupsAt)
		}
		if s.Public != nil {
			check("public", s.PublicAt)
		}
		if s.Condition != nil {
			check("condition", *s.Condition)
		}
		if s.Fault != nil {
			check(s.Fault.Error(), s.Fault.At)
		}
		if s == (access.Said{}) {
			t.Error("something said of nothing")
		}
	}
}
func TestHeading(t *testing.T) {
	cases := map[string]string{
		"# A\n":                          "A",
		"#\tA":                           "A",
		"   # A # \n":                    "A",
		"    # A\n":                      "",
		"# A#\n":                         "A#",
		"# C# ##":                        "C#",
		"#\n# B":                         "B",
		"# ##\n# B":                      "B",
		"#A\n## B\n# C":                  "C",
		"```\n# A\n```\n# B":             "B",
		"~~~~\n# A\n~~~\n# A\n~~~~\n# B": "B",
		"```\n# A\n~~~\n``` x\n# A":      "",
		"``` a`b\n# B":                   "B",
		"text\n====\n":                   "text",
		"\n====\n# B":                    "B",
		"```\nx\n```\n===\n# B":          "B",
		"# [[":                           "[[",
		"text\r\n# A\r\n":                "A",
		"":                               "",
	}
	for body, want := range cases {
		if got := heading([]byte(body)); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}
