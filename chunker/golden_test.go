package chunker

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden compares the chunks of whole documents with what was thought right once. A change here is one that cuts
// pages anew: it needs another Version.
func TestGolden(t *testing.T) {
	docs, err := filepath.Glob("testdata/golden/*.*")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range docs {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		compared++
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(examine(t, SyntaxOf(name), content))
			if *update {
				if err := os.WriteFile(name+".golden", got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name + ".golden")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	if compared == 0 {
		t.Fatal("no document")
	}
}

func describe(chunks []Chunk) []byte {
	var out bytes.Buffer
	for _, c := range chunks {
		lines := strings.Split(strings.TrimRight(string(c.Text), "\r\n"), "\n")
		fmt.Fprintf(&out, "line %d, %d bytes, headings %q\n", c.StartLine, len(c.Text), c.Headings)
		fmt.Fprintf(&out, "  first %.80q\n   last %.80q\n", lines[0], lines[len(lines)-1])
	}
	return out.Bytes()
}
