package chunker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// outlined lists blocks one a line: the number of the first line, the depth in dots, the level and text of a heading.
func outlined(content string, blocks []block) []string {
	var out []string
	for _, b := range blocks {
		s := fmt.Sprintf("%d%s", 1+strings.Count(content[:b.start], "\n"), strings.Repeat(".", int(b.depth)))
		if b.level > 0 {
			s += fmt.Sprintf(" h%d %s", b.level, oneLine([]byte(content[b.text:b.text+b.size])))
		}
		out = append(out, s)
	}
	return out
}

type blockCase struct{ name, content, want string } // want: joined with a comma and a blank

func checkBlocks(t *testing.T, syntax Syntax, cases []blockCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			blocks := split(nil, syntax, []byte(c.content))
			if got := strings.Join(outlined(c.content, blocks), ", "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := opening(syntax, []byte(c.content)); got != blocks[0] && got.level+blocks[0].level > 0 {
				t.Errorf("opening finds %+v, split %+v", got, blocks[0])
			}
		})
	}
}

// bothSyntaxes see these alike.
var bothSyntaxes = []blockCase{
	{"empty", "", "1"},
	{"blank", "\n \n\t\n", "1"},
	{"paragraphs", "\na\nb\n\nc\n", "1, 5"},
	{"headings", "# A #\ntext\n## B \\# ##\n###### C#\n####### no\n", "1 h1 A, 2, 3 h2 B \\#, 4 h6 C#, 5"},
	{"no headings", "#a\n\n\\# b\n", "1, 3"},
	{"empty headings", "#\n## ##\n", "1 h1 , 2 h2 "},
	{"indented heading", "   # A\n", "1 h1 A"},
	{"heading without LF", "a\n\n# A", "1, 3 h1 A"},
	{"CR LF", "# A\r\n\r\na\r\n\r\nb\r\n", "1 h1 A, 3, 5"},
	{"YAML", "---\ntitle: a\n# no\n---\n# A\n", "1, 5 h1 A"},
	{"YAML ended by dots", "---\ntitle: a\n...\n# A\n", "1, 4 h1 A"},
	{"TOML", "+++\ntitle = 1\n\n---\n\n+++\n\n# A\n", "1, 8 h1 A"},
	{"empty frontmatter", "---\n---\na\n", "1, 3"},
	{"frontmatter not at the start", "\n+++\n# A\n+++\n", "1, 3 h1 A, 4"},
	{"frontmatter left open", "+++\n# A\n", "1, 2 h1 A"},
	{"byte order mark", "\ufeff# A\n", "1 h1 A"},
	{"byte order mark and frontmatter", "\ufeff---\ntitle: a\n---\n# A\n", "1, 4 h1 A"},
	{"fence", "```go\n# no\n\n~~~\n````\n# A\n", "1, 6 h1 A"},
	{"tilde fence", "~~~~ a`b\n# no\n\n~~~\n\n ~~~~\n# A\n", "1, 7 h1 A"},
	{"fence left open", "a\n\n```\n# no\n\n``` no\n", "1, 3"},
	{"no fence", "``` a`b\n\n# A\n", "1, 3 h1 A"},
	{"table", "| a |\n|---|\n| b |\n\nc\n", "1, 5"},
}

func TestMarkdownBlocks(t *testing.T) {
	checkBlocks(t, Markdown, bothSyntaxes)
	checkBlocks(t, Markdown, []blockCase{
		{"underlined", "A\n===\nB\n C\n---\ntext\n", "1 h1 A, 3 h2 B C, 6"},
		{"underlined after blanks", "\n A \n-\n", "1 h2 A"},
		{"break", "a\n\n---\n\nb\n", "1, 3, 5"},
		{"list", "- a\n\n  # no\n\n  ```\n  b\n\n# A\n", "1, 8 h1 A"},
		{"two lists", "- a\n- b\n\n* c\n", "1, 4"},
		{"quote", "> # no\n> a\nb\n\n# A\n", "1, 5 h1 A"},
		{"code by indentation", "a\n\n    # no\n\n    b\nc\n", "1, 3, 6"},
		{"comment", "<!--\n\n# no\n\n-->\n# A\n", "1, 6 h1 A"},
		{"HTML", "<div>\n# no\n\n# A\n", "1, 4 h1 A"},
		{"JSX is HTML", "<Card>\n\n# A\n\n</Card>\n", "1, 3 h1 A, 5"},
		{"link definitions", "[a]: b\n[c]: d\n\n# A\n", "1, 4 h1 A"},
	})
}

func TestMDXBlocks(t *testing.T) {
	checkBlocks(t, MDX, bothSyntaxes)
	checkBlocks(t, MDX, []blockCase{
		{"element", "<Card>\n\na\n\n# A\n\n</Card>\n\nb\n", "1, 3., 5. h1 A, 7., 9"},
		{"heading right after a tag", "<Steps>\n  <Step>\n    ## A\n  </Step>\n</Steps>\n\nb\n", "1, 3.. h2 A, 4.., 5., 7"},
		{"no blank line after an element", "<A>\n\na\n</A>\nb\n", "1, 3., 5"},
		{"one line", "<A>a</A>\n\n<B />\n\n<C><D/></C>\n\na\n", "1, 3, 5, 7"},
		{"fragment", "<>\n\na\n\n</>\n\nb\n", "1, 3., 5., 7"},
		{"tag of many lines", "<A\n  b=\"> /\n  c\"\n  d={{e: '>'}}\n>\n\na\n\n</A>\n\nb\n", "1, 7., 9., 11"},
		{"closed tag of many lines", "<A\n  b={() => {\n\n  }}\n/>\n\na\n", "1, 7"},
		{"tag left open", "<A b\n\na\n\n# A\n", "1, 3, 5 h1 A"},
		{"brace left open", "<A b={\n\na\n# A\n\nb\n", "1, 4 h1 A, 6"},
		{"element left open", "<A>\n\na\n\n<B>\n\nb\n\n</B>\n\nc\n", "1, 3, 5, 7., 9., 11"},
		{"inner element left open", "<A>\n\n<br>\n\na\n\n</A>\n\nb\n", "1, 3., 5., 7., 9"},
		{"closed only", "</A>\n\n</>\n\na\n", "1, 3, 5"},
		{"less than", "a < b\n\n< b\n\n<3\n\n<\n", "1, 3, 5, 7"},
		{"fence in an element", "<A>\n    ```\n    </A>\n\n    # no\n    ```\n</A>\n\na\n", "1, 9"},
		{"import", "import {\n\n  a,\n} from 'b'\n\n# A\n", "1, 6 h1 A"},
		{"export", "export const a = [\n\n  // b\n];\n\n# A\n", "1, 6 h1 A"},
		{"export left open", "export const a = '('\n\n b\n\n# A\n\nc\n", "1, 5 h1 A, 7"},
		{"prose about imports", "a\nimport {\n\nexports (\n\nimport\n", "1, 4, 6"},
		{"comment", "{/* a\n\n# no\n\n*/}\nb\n\nc\n", "1, 8"},
		{"comment of one line", "{/* a */}\n\n# A\n", "1, 3 h1 A"},
		{"comment left open", "{/* a\n\n{/* b\n\n# A\n", "1, 3, 5 h1 A"},
		{"heading at any indentation", "\t\t## A\n\na\n", "1 h2 A, 3"},
		{"fence without blank lines", "a\n```\n\n```\nb\n\nc\n", "1, 7"},
	})
}

// TestLargeMarkdownBlocks goes beyond the size that goldmark gets.
func TestLargeMarkdownBlocks(t *testing.T) {
	cases := slices.DeleteFunc(slices.Clone(bothSyntaxes), func(c blockCase) bool { return strings.Contains(c.name, "left open") })
	cases = append(cases,
		blockCase{name: "no MDX", content: "<A>\n\n# A\n\n    # no\n\nimport {\n\n{/*\n\n# B\n"},
	)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			large := c.content + "\n" + strings.Repeat("\n", maxParse)
			small := outlined(c.content, split(nil, Markdown, []byte(c.content)))
			if got := outlined(large, split(nil, Markdown, []byte(large))); !slices.Equal(got, small) {
				t.Errorf("got  %q\nwant %q", got, small)
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	var doc strings.Builder
	fill := strings.Repeat("text ", TargetBytes/5) + "\n\n"
	for _, h := range []string{"", "## B", "# A", "## B", "#### D", "### C", "##", "", "Long\ntitle\n=====", "# A"} {
		doc.WriteString(h + "\n\n" + fill)
	}
	var got []string
	for _, c := range examine(t, Markdown, []byte(doc.String())) {
		got = append(got, strings.Join(c.Headings, "/"))
	}
	want := []string{"", "B", "A", "A/B", "A/B/D", "A/B/C", "A", "A", "Long title", "A"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
