package vfs

import (
	"slices"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
)

// A revision with the hash of another's is not taken for it.
func TestRevsWithOneHash(t *testing.T) {
	e := snapshot.Entry{Access: access.Everyone(), Size: 1, Chunks: 1}
	var entries []snapshot.Entry
	for _, e.Path = range []string{"a", "b", "c"} {
		entries = append(entries, e)
	}
	tree, err := snapshot.New(snapshot.Header{}, entries)
	if err != nil {
		t.Fatal(err)
	}
	r := newRevs(tree)
	for i := range entries {
		r.list = append(r.list, r.hash("none")|uint64(i), r.hash(tree.Rev(2))|uint64(i))
	}
	slices.Sort(r.list)
	if i, ok := r.find("none"); ok {
		t.Errorf("found entry %d for no revision", i)
	}
	for want := range entries {
		if i, ok := r.find(tree.Rev(want)); !ok || i != want {
			t.Errorf("found entry %d, %t; want %d", i, ok, want)
		}
	}
}
