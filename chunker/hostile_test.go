package chunker

import (
	"strings"
	"testing"
)

// TestHostile takes documents that cost quadratic time or memory where nesting, or a search for what closes something,
// is not bounded. It fails by taking minutes.
func TestHostile(t *testing.T) {
	const size = maxParse / 2 // goldmark gets all of it
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	line := func(s string) string { return strings.Repeat(s, (MaxBytes-1)/len(s)) + "\n" }
	var steps strings.Builder
	for indent := ""; steps.Len() < size/2; indent += "  " {
		steps.WriteString(indent + "- a\n")
	}
	cases := map[string]string{
		"quotes":                    fill(line(">")),
		"quotes, then text":         line(">") + fill("a\n"),
		"quotes, then one":          line(">") + fill(">\n"),
		"lists":                     fill(line("- ")),
		"lists, then blank lines":   line("- ") + fill("\n") + "a",
		"lists by indentation":      steps.String() + fill("\n")[:size/3] + "a",
		"lists in quotes":           fill(line("> 1. ")),
		"items":                     fill("- a\n"),
		"empty items":               fill("-\n"),
		"attributes":                fill(line("<a b=c ")),
		"attributes of one tag":     fill("<a" + strings.Repeat(" b=\"c\"", 2000) + ">\n"),
		"open attribute":            fill("<a b=\"\n"),
		"underlines":                fill("a\n=\n"),
		"link definitions":          fill("[a]: b\n"),
		"brackets":                  fill(line("[")),
		"tabs":                      fill(line("\t-")),
		"fences":                    fill("````\n" + strings.Repeat(" ", 1000) + "```` a\n"),
		"backticks":                 fill(line("`")),
		"comments":                  fill("{/*\n\n"),
		"elements left open":        fill("<a>\n\n</b>\n\n"),
		"elements closed outside":   fill("<a>\n\n<b>\n\n</a>\n\n"),
		"elements in elements":      fill("<a>\n\n")[:size/3] + fill("</a>\n\n")[:size/3],
		"braces":                    fill("<a {\n"),
		"imports":                   fill("import (\n\n"),
		"byte order and open front": "\ufeff---\n" + fill("a\n"),
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			for _, syntax := range []Syntax{Markdown, MDX} {
				chunks, err := Split(syntax, []byte(content))
				if err != nil {
					t.Fatal(err)
				}
				var texts []string
				for _, c := range chunks {
					texts = append(texts, string(c.Text))
				}
				if string(Join(texts...)) != content {
					t.Error("the chunks give another document")
				}
			}
		})
	}
}
