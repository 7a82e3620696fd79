package chunker

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var syntaxes = []Syntax{Text, Markdown, MDX}

// examine splits content and holds the result against everything that the package promises.
func examine(t *testing.T, syntax Syntax, content []byte) []Chunk {
	t.Helper()
	chunks, err := Split(syntax, content)
	if again := Check(content); !reflect.DeepEqual(err, again) {
		t.Fatalf("Split says %v, Check %v", err, again)
	}
	if want := fault(content); err != nil || want != nil {
		if !reflect.DeepEqual(err, want) || chunks != nil {
			t.Fatalf("%d chunks and error %v, want %v", len(chunks), err, want)
		}
		return nil
	}
	texts := make([][]byte, len(chunks))
	line := 1
	for i, c := range chunks {
		if len(c.Text) > MaxBytes || len(c.Text) == 0 && len(content) > 0 {
			t.Errorf("chunk %d has %d bytes", i, len(c.Text))
		}
		if c.StartLine != line {
			t.Errorf("chunk %d starts at line %d, want %d", i, c.StartLine, line)
		}
		if len(c.Headings) > 6 || slices.Contains(c.Headings, "") {
			t.Errorf("chunk %d has headings %q", i, c.Headings)
		}
		line += 1 + bytes.Count(c.Text, newline)
		texts[i] = c.Text
	}
	if got := Join(texts...); !bytes.Equal(got, content) {
		t.Errorf("%d chunks give %d bytes, want %d", len(chunks), len(got), len(content))
	}
	if len(content) <= TargetBytes && len(chunks) != 1 {
		t.Errorf("%d bytes in %d chunks", len(content), len(chunks))
	}
	if again, _ := Split(syntax, slices.Clone(content)); !reflect.DeepEqual(again, chunks) {
		t.Error("the same bytes were cut in another way")
	}
	return chunks
}

// fault is Check, written for being read.
func fault(content []byte) error {
	var lines [][]byte
	for line := range bytes.Lines(content) {
		lines = append(lines, line)
	}
	for _, f := range []struct {
		err error
		bad func(line []byte) bool
	}{
		{ErrNotUTF8, func(line []byte) bool { return !utf8.Valid(line) }},
		{ErrNUL, func(line []byte) bool { return bytes.Contains(line, []byte{0}) }},
		{ErrLineTooLong, func(line []byte) bool { return len(line) > MaxBytes }},
	} {
		if i := slices.IndexFunc(lines, f.bad); i >= 0 {
			return &Error{Line: i + 1, Err: f.err}
		}
	}
	return nil
}

func TestSplitEnds(t *testing.T) {
	long := strings.Repeat("x", MaxBytes-1)
	cases := []struct {
		name, content string
		texts         []string // where they matter
	}{
		{"empty", "", []string{""}},
		{"one LF", "\n", []string{"\n"}},
		{"one line", "a", []string{"a"}},
		{"final LFs", "a\n\n\n", []string{"a\n\n\n"}},
		{"only LFs", strings.Repeat("\n", 3*MaxBytes), nil},
		{"final LFs over the limit", "a" + strings.Repeat("\n", 3*MaxBytes), nil},
		{"first LFs over the limit", strings.Repeat("\n", 3*MaxBytes) + "a", nil},
		{"longest line", long + "\n", []string{long + "\n"}},
		{"longest line without LF", long + "x", []string{long + "x"}},
		{"longest lines", long + "\n" + long + "\n", []string{long, long + "\n"}},
		{"LF before the longest line", "\n" + long + "\na", []string{"\n" + long, "a"}},
		{"LFs before the last longest line", "\n\n" + long + "\n", []string{"\n", long + "\n"}},
		{"LF between longest lines", long + "\n\n" + long + "\n", []string{long + "\n", long + "\n"}},
		{"LF after longest lines", "\n" + long + "\n\n", []string{"\n" + long, "\n"}},
		{"LF before every longest line but one", "\n" + long + "\n\n" + long + "\n" + long + "\n",
			[]string{"\n" + long, "\n" + long, long + "\n"}},
		{"CR LF", strings.Repeat("0123456789\r\n", 300), nil},
		{"CR alone ends no line", strings.Repeat("0123456789\r", 300), nil},
		{"VT, FF, NEL, U+2028 end no line", strings.Repeat("a\v\f\u0085\u2028\u2029", 300), nil},
	}
	for _, c := range cases {
		for _, syntax := range syntaxes {
			t.Run(fmt.Sprintf("%s/%d", c.name, syntax), func(t *testing.T) {
				var texts []string
				for _, chunk := range examine(t, syntax, []byte(c.content)) {
					texts = append(texts, string(chunk.Text))
				}
				if c.texts != nil && !slices.Equal(texts, c.texts) {
					t.Errorf("%d chunks: %.40q", len(texts), texts)
				}
				if got := Join(texts...); string(got) != c.content {
					t.Error("strings joined differ")
				}
			})
		}
	}
}

func TestSplitRefuses(t *testing.T) {
	long := strings.Repeat("x", MaxBytes-1)
	cases := []struct {
		name, content string
		err           error
		line          int
	}{
		{"UTF-16", "\xff\xfea\x00", ErrNotUTF8, 1},
		{"Latin-1 late", strings.Repeat("a\n", 5000) + "\xe9\n", ErrNotUTF8, 5001},
		{"cut rune at the end", "a\n\n\xe2\x82", ErrNotUTF8, 3},
		{"surrogate", "\xed\xa0\x80", ErrNotUTF8, 1},
		{"NUL late", strings.Repeat("a\n", 9000) + "b\x00", ErrNUL, 9001},
		{"long line", long + "x\n", ErrLineTooLong, 1},
		{"long line without LF", "a\n" + long + "xx", ErrLineTooLong, 2},
		{"long line between others", "a\n\n" + long + "x\n" + long + "\n", ErrLineTooLong, 3},
		{"no cut", "\n" + long + "\n", ErrLineTooLong, 2},
		{"no cut without LF", "\n" + long + "\n\n" + long + "x", ErrLineTooLong, 2},
	}
	for _, c := range cases {
		for _, syntax := range syntaxes {
			chunks, err := Split(syntax, []byte(c.content))
			var typed *Error
			if chunks != nil || !errors.As(err, &typed) || !errors.Is(err, c.err) || typed.Line != c.line {
				t.Errorf("%s: %d chunks, error %v, want line %d: %v", c.name, len(chunks), err, c.line, c.err)
			}
			if again := Check([]byte(c.content)); !reflect.DeepEqual(again, err) {
				t.Errorf("%s: Check says %v", c.name, again)
			}
		}
	}
}

// TestSplitRandom makes documents of everything that has a meaning for some syntax, with lengths around the limits.
func TestSplitRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 16384))
	for range 300 {
		doc := randomDocument(rng)
		for _, syntax := range syntaxes {
			examine(t, syntax, doc)
		}
		if t.Failed() {
			t.Fatalf("document: %.2000q", doc)
		}
	}
}

func randomDocument(rng *rand.Rand) []byte {
	lines := []string{"", "", "", "", "# A", "## B ##", "Title\n===", "---", "text", "- item", "  - inner", "1. one", "> quote",
		"```", "~~~~", "    code", "<Card>", "</Card>", "<Tabs title=\"a", "<p>", "{/*", "*/}", "import {", "} from 'x'",
		"| a | b |", "\t", "é\u2028", "export const a = {"}
	ends := []string{"\n", "\n", "\n", "\r\n"}
	lengths := []int{10, 100, TargetBytes / 4, TargetBytes, TargetBytes + 1, MaxBytes - 2, MaxBytes - 1}
	var doc []byte
	for range rng.IntN(120) {
		doc = append(doc, lines[rng.IntN(len(lines))]...)
		if rng.IntN(8) == 0 {
			n := lengths[rng.IntN(1+rng.IntN(len(lengths)))]
			doc = append(append(doc, '\n'), bytes.Repeat([]byte("x"), n)...)
			doc = append(doc, '\n')
			continue
		}
		doc = append(doc, ends[rng.IntN(len(ends))]...)
	}
	if n := len(doc); n > 0 && rng.IntN(3) == 0 {
		doc = doc[:n-1]
	}
	return doc
}

func TestTextAliasesContent(t *testing.T) {
	content := []byte(strings.Repeat("line\n", 1000))
	chunks, err := Split(Text, content)
	if err != nil || len(chunks) < 2 {
		t.Fatal(len(chunks), err)
	}
	if &chunks[0].Text[0] != &content[0] {
		t.Error("the text was copied")
	}
	if _ = append(chunks[0].Text, "over"...); !bytes.Equal(content, []byte(strings.Repeat("line\n", 1000))) {
		t.Error("appending to a text changes the file")
	}
}

func TestSyntaxOf(t *testing.T) {
	for name, want := range map[string]Syntax{
		"a/b.md": Markdown, "a.markdown": Markdown, "README.MD": Markdown, "a.mdx": MDX, "a.md/b": Text, "md": Text,
		"openapi.json": Text, ".md": Markdown, "": Text,
	} {
		if got := SyntaxOf(name); got != want {
			t.Errorf("%q is %d, want %d", name, got, want)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n\n", "# A\n\ntext\n", "---\ntitle: a\n---\n\n# A\n\n- b\n\n  c\n", "A\n=\n\nB\n-\n", "\ufeff# A\r\n",
		"```js\n# no\n```\n> - ~~~\n", "<Tabs>\n<Tab a=\"b\" c={{d: '}'}}>\n\n## B\n\n</Tab>\n</Tabs>\n",
		"import {\n  a,\n} from 'b'\n\n{/* # no\n\n*/}\n\nc\n", "<!--\n\n# no\n\n-->\n", "a\x00\xff", "\t- a\n\n\t\tb\n", "#\v#\n",
	} {
		f.Add(byte(0), []byte(seed), uint16(0))
		f.Add(byte(1), []byte(seed), uint16(700))
		f.Add(byte(2), []byte(seed), uint16(700))
	}
	f.Fuzz(func(t *testing.T, syntax byte, content []byte, repeat uint16) {
		// Repeated, since what fits one chunk shows little.
		n := min(int(repeat), 2*MaxBytes/(1+len(content)))
		content = bytes.Repeat(content, 1+n)
		s := syntaxes[int(syntax)%len(syntaxes)]
		examine(t, s, content)
		if fault(content) == nil && len(content) <= TargetBytes {
			var first block
			if blocks := split(nil, s, content); len(blocks) > 0 {
				first = blocks[0]
			}
			if got := opening(s, content); got != first {
				t.Errorf("opening finds %+v, split %+v", got, first)
			}
		}
	})
}
