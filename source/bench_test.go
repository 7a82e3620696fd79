package source

import (
	"testing"

	"github.com/chromafs/chromafs/fixtures/corpora"
)

// TestCorpora reads real sites: everything is accounted for, every page has a title but the few that have none.
func TestCorpora(t *testing.T) {
	for name, untitled := range map[string]int{"mintlify-starter": 3, "mem0-docs": 10} {
		t.Run(name, func(t *testing.T) {
			dir := corpora.Dir(t, name)
			testPartition(t, dir, Options{Check: checkText})
			f := open(t, dir, Options{Check: checkText})
			pages := 0
			for _, p := range list(t, f).Files {
				got, err := f.Read(p)
				if err != nil {
					continue // judged by the partition
				}
				if got.Kind == Page {
					pages++
				}
				if got.Kind == Page && got.Title == "" {
					t.Logf("no title: %s", p)
					untitled--
				}
				if len(got.Warnings) > 0 || got.Own != nil {
					t.Errorf("%s: %v %v", p, got.Warnings, got.Own)
				}
			}
			if pages == 0 || untitled < 0 {
				t.Errorf("%d pages, %d more without a title than there may be", pages, -untitled)
			}
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	f := open(b, corpora.Dir(b, "tldr"), Options{})
	for b.Loop() {
		if l := list(b, f); len(l.Files) == 0 {
			b.Fatal("no files")
		}
	}
}

// BenchmarkRead is one file of many small ones, checked and hashed.
func BenchmarkRead(b *testing.B) {
	f := open(b, corpora.Dir(b, "tldr"), Options{Check: checkText})
	files := list(b, f).Files
	for i := 0; b.Loop(); i++ {
		if _, err := f.Read(files[i%len(files)]); err != nil && i == 0 {
			b.Fatal(err)
		}
	}
}
