package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/fixtures"
)

// page reads content as a page does, without a file.
func page(content string) *File {
	f := &File{Path: "p.md", Content: []byte(content)}
	f.readPage()
	return f
}

// notes are warnings and markers in short: "w3" is a warning for line 3, "public@2" a marker.
func notes(f *File) string {
	var out []string
	for _, w := range f.Warnings {
		out = append(out, fmt.Sprintf("w%d", w.Line))
	}
	for _, m := range f.Markers {
		out = append(out, fmt.Sprintf("%s@%d", m.Key, m.Line))
	}
	return strings.Join(out, " ")
}

func TestFrontmatter(t *testing.T) {
	cases := []struct{ content, title, notes string }{
		{"---\ntitle: A\n---\n# B\n", "A", ""},
		{"\ufeff---\r\ntitle: 'A: b'\r\n---\r\n# B\r\n", "A: b", ""},
		{"--- \ntitle: A\n...\n# B\n", "A", ""},
		{"---\ntitle: >\n  A\n  b\n---\n", "A b", ""},
		{"---\ntitle: 404\n---\n", "404", ""},
		{"---\ntitle: &t A\nsidebarTitle: *t\n---\n", "A", ""},
		{"---\nx: &t A\ntitle: *t\n---\n", "A", ""},
		{"---\ntitle: null\n---\n# B\n", "B", ""},
		{"---\ntitle: [a]\n---\n# B\n", "B", ""},
		{"---\n---\n# B\n", "B", ""},
		{"---\n# a comment\n---\n# B\n", "B", ""},
		{"---\nsub:\n  title: A\n  public: true\n---\n# B\n", "B", ""},
		{"----\ntitle: A\n---\n# B\n", "B", ""},
		{"\n---\ntitle: A\n---\n# B\n", "B", ""},
		{"# B\n---\npublic: true\n---\n", "B", ""},
		{"", "", ""},
		{"---", "", "w1"},
		{"---\ntitle: A\n\n# B\n", "B", "w1"},
		{"---\npublic: true\n\n```\ngroups: x\n```\n", "", "w1 public@2"},
		{"---\ntitle: A: b\npublic: true\n---\n# B\n", "B", "w2 public@3"},
		{"---\ntitle: A\ntitle: C\n\"groups\" : x\n---\n# B\n", "B", "w3 groups@4"},
		{"---\ntext\n---\n# B\n", "B", "w2"},
		{"---\n- a\n- {public: true}\n---\n# B\n", "B", "w2 public@3"},
		{"---\ngroups:\n  - a\ntitle: A\npublic: true\n---\n", "A", "groups@2 public@5"},
		{"---\n\"p\\u0075blic\": no\n---\n", "", "public@2"},
		{"---\nx: &m\n  groups: [a]\n<<: *m\n---\n", "", "groups@3"},
		{"---\n{title: A, public: false}\n---\n", "A", "public@2"},
		{"---\ntext: |\n  public: true\n---\n", "", ""},
		{"---\ntitle: A\n---\n```yaml\npublic: true\n```\n", "A", ""},
		{"---\n? [a]\n: b\npublic: true\n---\n# B\n", "B", "public@4"},
		{"---\nx: &k public\n*k : true\n---\n", "", "public@2"},
		{"---\nx: &m {title: A}\n<<: [*m, {groups: a}]\n---\n", "A", "groups@3"},
		{"---\n<<: &m {title: A, <<: *m}\ntitle: B\n---\n", "B", ""},
		{"+++\ntitle = \"A \\\"b\\\"\"\npublic = true\n+++\n# B\n", "A \"b\"", "public@3"},
		{"+++\ntitle = 'A'\n[extra]\ntitle = 'C'\n+++\n", "A", ""},
		{"+++\n[extra]\ntitle = 'C'\n+++\n# B\n", "B", ""},
		{"+++\ntitle = 'A'\n# B\n", "B", "w1"},
		{"---\n 0:\npublic: true\n---\n# B\n", "B", "w2 public@3"},
		{"---\n\xff\xfe#\x00\npublic: true\n---\n# B\n", "B", "w1 public@3"},
	}
	for _, c := range cases {
		f := page(c.content)
		if f.Title != c.title || notes(f) != c.notes {
			t.Errorf("%q:\n got %q, %q %v\nwant %q, %q", c.content, f.Title, notes(f), f.Warnings, c.title, c.notes)
		}
	}
}

// TestFrontmatterHostile holds what takes other parsers minutes or gigabytes.
func TestFrontmatterHostile(t *testing.T) {
	bomb := "---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 9), ","))
	}
	bomb += "title: A\n---\n"
	if f := page(bomb); f.Title != "A" && len(f.Warnings) == 0 {
		t.Errorf("aliases: %q, %v", f.Title, f.Warnings)
	}
	long := maxFront - 100
	for name, text := range map[string]string{
		"deep lists":  strings.Repeat("[", long),
		"deep maps":   strings.Repeat("{a: ", long/4),
		"deep blocks": strings.Repeat("- ", long/2),
		"quotes":      strings.Repeat("\"", long),
		"anchors":     strings.Repeat("&a ", long/3),
		"tags":        strings.Repeat("!t ", long/3),
		"merges":      "x: &x {a: b}\n" + strings.Repeat("<<: *x\n", long/7) + "[",
		"same key":    strings.Repeat("a: b\n", long/5),
		"too long":    strings.Repeat("a: b\n", maxFront),
	} {
		f := page("---\n" + text + "\npublic: true\n---\n# B\n")
		if f.Title != "B" || len(f.Warnings) != 1 || len(f.Markers) != 1 {
			t.Errorf("%s: title %q, warnings %d, markers %v", name, f.Title, len(f.Warnings), f.Markers)
		}
	}
}

// troubled are the pages of the fixture that deserve a warning.
var troubled = []string{"list.md", "malformed.md", "repeated-key.md", "rule-only.md", "scalar.md", "tabs.md", "unclosed.md"}

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
		f := page(string(content))
		bad := slices.Contains(troubled, filepath.Base(p))
		if (len(f.Warnings) > 0) != bad || len(f.Markers) > 0 {
			t.Errorf("%s: warnings %v, markers %v", filepath.Base(p), f.Warnings, f.Markers)
		}
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, seed := range []string{"---\ntitle: A\n---\n# B", "---\na: &x [*x]\n<<: *x\n---\n", "+++\ntitle = \"\\u00e9\"\n+++\n", "---\n? {a: b}\n: c\n...\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		p := page(string(content))
		last := 1 + strings.Count(string(content), "\n")
		for _, w := range p.Warnings {
			if w.Line < 1 || w.Line > last+1 || w.Text == "" { // the line after the last may be to blame
				t.Errorf("warning %+v in %d lines", w, last)
			}
		}
		// A key of its own line is found whatever is above it, unless that can make it part of a longer value.
		above := string(content)
		if strings.ContainsAny(above, "\"'[{|>%&*!`@") || strings.Contains(above, "---") || strings.Contains(above, "...") {
			return
		}
		marked := page("---\n" + above + "\npublic: true\n---\n")
		if len(marked.Markers) == 0 {
			t.Errorf("%q: no marker, warnings %v", above, marked.Warnings)
		}
	})
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
