package vfs_test

import (
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/vfs"
)

// FuzzNames gives any names and ids to sessions of a site with hidden pages: each answers as if there were none.
func FuzzNames(f *testing.F) {
	pages := guarded()
	tree, _ := build(f, pages)
	for i, p := range pages {
		f.Add(p.path)
		f.Add(p.path + "/" + p.link)
		f.Add(tree.Rev(i) + "#0")
	}
	for _, name := range []string{"", ".", "..", "/", "links/", "./links", "links//via", "own/here/here/up/open.md", "*", "links/*", "[", "a\x00", "\xff", "LINKS/VIA"} {
		f.Add(name)
	}
	f.Add(strings.Repeat("own/here/", 50))
	type session struct {
		viewer       access.Viewer
		full, pruned *vfs.FS
	}
	var sessions []session
	for _, v := range []access.Viewer{anonymous, signedIn, staff, {Groups: []string{"guests", "staff"}}} {
		sessions = append(sessions, session{v, open(f, v, pages...), open(f, operator, seenBy(v, pages)...)})
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, s := range sessions {
			for op, ask := range operations {
				if got, want := ask(s.full, name), ask(s.pruned, name); got != want {
					t.Errorf("%+v: %s %q: %s\nwithout the hidden pages: %s", s.viewer, op, name, got, want)
				}
			}
		}
	})
}
