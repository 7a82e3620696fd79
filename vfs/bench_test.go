package vfs_test

import (
	"fmt"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/vfs"
)

// manual is a site of n pages in folders of a hundred.
func manual(n int) []page {
	pages := make([]page, n)
	for i := range pages {
		pages[i] = page{path: fmt.Sprintf("part-%d/%d/page-%d.md", i/10_000, i/100, i), content: "text\n", access: access.Everyone()}
		if i%7 == 0 {
			pages[i].access = groups("staff")
		}
	}
	return pages
}

// BenchmarkSession is a further session on a loaded tree, up to its first listing.
func BenchmarkSession(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		tree, store := build(b, manual(n))
		shared := vfs.NewShared(tree, store, vfs.Options{})
		b.Run(fmt.Sprintf("pages=%d", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := shared.For(anonymous).ReadDir("."); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadDir(b *testing.B) {
	fsys := open(b, anonymous, manual(100_000)...)
	for name, dir := range map[string]string{"pages": "part-3/333", "folders": "part-3"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := fsys.ReadDir(dir); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadFile(b *testing.B) {
	tree, store := build(b, manual(100_000))
	for name, bytes := range map[string]int64{"kept": 0, "fetched": -1} {
		fsys := vfs.New(tree, store, operator, vfs.Options{CacheBytes: bytes})
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := fsys.ReadFile("part-3/333/page-33333.md"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCandidates is a search's thousand hits, first with the index of revisions made for them.
func BenchmarkCandidates(b *testing.B) {
	tree, store := build(b, manual(100_000))
	var ids []string
	for i := 0; i < tree.Len(); i += tree.Len() / 1000 {
		ids = append(ids, tree.IDs(i)...)
	}
	shared := vfs.NewShared(tree, store, vfs.Options{})
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			vfs.New(tree, store, anonymous, vfs.Options{}).Candidates(ids)
		}
	})
	b.Run("further", func(b *testing.B) {
		for b.Loop() {
			if n := len(shared.For(anonymous).Candidates(ids)); n == 0 || n == len(ids) {
				b.Fatalf("%d of %d", n, len(ids))
			}
		}
	})
}
