package chunker

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromafs/chromafs/fixtures"
	"github.com/chromafs/chromafs/fixtures/corpora"
)

// page is a real file that can be cut.
type page struct {
	name    string
	syntax  Syntax
	content []byte
}

// pages reads those of a corpus.
func pages(tb testing.TB, corpus string) []page {
	tb.Helper()
	dir := corpora.Dir(tb, corpus)
	var out []page
	for _, name := range corpora.Files(tb, corpus) {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			tb.Fatal(err)
		}
		if Check(content) == nil {
			out = append(out, page{name, SyntaxOf(name), content})
		}
	}
	if len(out) == 0 {
		tb.Fatalf("no page in %s", corpus)
	}
	return out
}

func TestCorpora(t *testing.T) {
	for _, corpus := range corpora.Names {
		t.Run(corpus, func(t *testing.T) {
			for _, p := range pages(t, corpus) {
				examine(t, p.syntax, p.content)
				if p.syntax == Text {
					continue
				}
				blocks := split(nil, p.syntax, p.content)
				if got, want := countHeadings(blocks), plainHeadings(p.content); got != want {
					t.Errorf("%s: %d headings, a plain scan finds %d", p.name, got, want)
				}
				if got := opening(p.syntax, p.content); got != blocks[0] && got.level+blocks[0].level > 0 {
					t.Errorf("%s: opening finds %+v, split %+v", p.name, got, blocks[0])
				}
				if t.Failed() {
					t.Fatal(p.name)
				}
			}
		})
	}
}

func countHeadings(blocks []block) int {
	n := 0
	for _, b := range blocks {
		if b.level > 0 {
			n++
		}
	}
	return n
}

// plainHeadings counts the lines that look like ATX headings outside of what look like code fences.
func plainHeadings(content []byte) int {
	n := 0
	var fence []byte
	for line := range bytes.Lines(content) {
		line = bytes.TrimSpace(line)
		switch {
		case fence != nil:
			if bytes.Equal(line, fence) {
				fence = nil
			}
		case bytes.HasPrefix(line, []byte("```")):
			fence = line[:len(line)-len(bytes.TrimLeft(line, "`"))]
		default:
			marker, _, _ := bytes.Cut(line, []byte(" "))
			if len(marker) > 0 && len(marker) < 7 && len(bytes.Trim(marker, "#")) == 0 {
				n++
			}
		}
	}
	return n
}

func TestFixtures(t *testing.T) {
	kinds := map[error]int{}
	for _, site := range fixtures.All() {
		dir := fixtures.Dir(t, site.Name)
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			examine(t, SyntaxOf(name), content)
			var refused *Error
			errors.As(Check(content), &refused)
			if refused == nil {
				refused = &Error{}
			}
			kinds[refused.Err]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []error{nil, ErrNotUTF8, ErrNUL, ErrLineTooLong} {
		if kinds[want] == 0 {
			t.Errorf("no file with error %v", want)
		}
	}
}

// BenchmarkSplit reports MB/s beside SHA-256 over the same files. Short documents are one chunk each and need no
// parsing, so that long ones are shown alone too.
func BenchmarkSplit(b *testing.B) {
	for _, set := range []struct {
		name   string
		syntax Syntax
		over   int // bytes
	}{
		{"md", Markdown, -1},
		{"md-long", Markdown, TargetBytes},
		{"mdx", MDX, -1},
		{"mdx-long", MDX, TargetBytes},
		{"text", Text, -1},
	} {
		var files [][]byte
		size := 0
		for _, corpus := range corpora.Names {
			for _, p := range pages(b, corpus) {
				if p.syntax == set.syntax && len(p.content) > set.over {
					files = append(files, p.content)
					size += len(p.content)
				}
			}
		}
		run := func(name string, f func(content []byte)) {
			b.Run(set.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					for _, content := range files {
						f(content)
					}
				}
			})
		}
		run("sha256", func(content []byte) { sha256.Sum256(content) })
		run("split", func(content []byte) { _, _ = Split(set.syntax, content) })
	}
}
