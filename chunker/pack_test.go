package chunker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// filled is a paragraph of n bytes, the last two of them LFs, in lines of up to 100 bytes.
func filled(n int) string {
	s := strings.Repeat(strings.Repeat("x", 99)+"\n", n/100) + strings.Repeat("x", n%100)
	return s[:n-2] + "\n\n"
}

func fenced(n int) string { return "```\n" + filled(n-9) + "```\n\n" }

// TestPack names the parts of each document by numbers and says which end up in one chunk.
func TestPack(t *testing.T) {
	type parts []string
	cases := []struct {
		name   string
		syntax Syntax
		parts  parts
		want   string // "1 2|3": a cut before part 3; "~" stands for cuts inside the part before it
	}{
		{"to the target", Markdown, parts{filled(900), filled(900), filled(900), filled(900)}, "1 2|3 4"},
		{"exactly the target", Markdown, parts{filled(1000), filled(1000), filled(1000), filled(1000)}, "1 2|3 4"},
		{"heading when half full", Markdown, parts{filled(1000), "# A\n\n", filled(900), filled(1100)}, "1|2 3|4"},
		{"heading when not half full", Markdown, parts{filled(999), "# A\n\n", filled(900), filled(900)}, "1 2 3|4"},
		{"headings keep what follows", Markdown, parts{filled(600), "# A\n\n", "## B\n\n", fenced(3000), filled(900)}, "1|2 3 4|5"},
		{"heading before too long a fence", Markdown, parts{filled(900), "# A\n\n", fenced(20000)}, "1|2 3~"},
		{"heading that doesn't fit with what follows", Markdown, parts{filled(900), "# A\n\n", fenced(MaxBytes)}, "1 2|3"},
		{"small takes the next", Markdown, parts{filled(499), fenced(9000), filled(900)}, "1 2|3"},
		{"no longer small", Markdown, parts{filled(500), fenced(9000), filled(900)}, "1|2|3"},
		{"small but not over the limit", Markdown, parts{filled(499), fenced(16000), filled(900)}, "1|2|3"},
		{"small end", Markdown, parts{fenced(9000), filled(900), fenced(9000), filled(499)}, "1|2|3 4"},
		{"small end over the limit", Markdown, parts{fenced(16000), filled(499)}, "1|2"},
		{"end that is not small", Markdown, parts{fenced(9000), filled(501)}, "1|2"},
		{"frontmatter", Markdown, parts{"---\na: b\n---\n", fenced(9000), filled(900)}, "1 2|3"},
		{"fence up to the limit", Markdown, parts{filled(900), fenced(MaxBytes), filled(900)}, "1|2|3"},
		{"fence over the limit", Markdown, parts{filled(900), fenced(MaxBytes + 1), filled(1900), filled(900)}, "1|2~ 3|4"},
		{"table", MDX, parts{filled(900), strings.Repeat("| a | b |\n", 1500) + "\n", filled(900)}, "1|2|3"},
		{"list", Markdown, parts{filled(900), strings.Repeat("- a\n\n", 900) + "\n", filled(900)}, "1|2|3"},
		{"element", MDX, parts{filled(900), "<A>\n\n", filled(3000), "# A\n\n", filled(9000), "</A>\n\n", filled(900)}, "1|2 3 4 5 6|7"},
		{"element over the limit", MDX, parts{"<A>\n\n", filled(3000), "# A\n\n", filled(14000), "</A>\n\n", filled(900)}, "1 2|3 4|5 6"},
		{"elements in one over the limit", MDX, parts{"<A>\n\n", "<B>\n\n" + filled(9000) + "</B>\n\n",
			"<B>\n\n" + filled(9000) + "</B>\n\n", "</A>\n\n"}, "1 2|3 4"},
		{"element not closed", MDX, parts{"<A>\n\n", filled(1500), filled(1500), filled(1500)}, "1 2|3|4"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := strings.Join(c.parts, "")
			if got := cutsOf(c.parts, examine(t, c.syntax, []byte(doc))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// cutsOf describes where chunks begin as TestPack does.
func cutsOf(parts []string, chunks []Chunk) string {
	var starts []int
	start := 0
	for _, c := range chunks {
		starts = append(starts, start)
		start += len(c.Text) + 1
	}
	var out strings.Builder
	end := 0
	for i, p := range parts {
		start, end = end, end+len(p)
		switch {
		case i == 0:
		case slices.Contains(starts, start):
			out.WriteByte('|')
		default:
			out.WriteByte(' ')
		}
		fmt.Fprint(&out, i+1)
		if slices.ContainsFunc(starts, func(s int) bool { return start < s && s < end }) {
			out.WriteByte('~')
		}
	}
	return out.String()
}

// TestLines says how what has no blocks is cut.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 4999) + "\n"
	cases := []struct {
		name    string
		content string
		sizes   []int
	}{
		{"as many lines as fit", strings.Repeat(strings.Repeat("x", 299)+"\n", 14), []int{1799, 1799, 600}},
		{"a small end", strings.Repeat(strings.Repeat("x", 99)+"\n", 24), []int{2400}},
		{"a line over the target", "a\n" + long + "b\n" + strings.Repeat("c\n", 300), []int{1, 4999, 602}},
		{"an empty line stays before the cut", strings.Repeat(strings.Repeat("x", 99)+"\n", 20) + "\n" + long, []int{2000, 5000}},
		{"empty lines", strings.Repeat("\n", 5000), []int{1999, 1999, 1000}},
	}
	for _, c := range cases {
		var sizes []int
		for _, chunk := range examine(t, Text, []byte(c.content)) {
			sizes = append(sizes, len(chunk.Text))
		}
		if !slices.Equal(sizes, c.sizes) {
			t.Errorf("%s: sizes %d, want %d", c.name, sizes, c.sizes)
		}
	}
}
