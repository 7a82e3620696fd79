package vfs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

func TestCandidates(t *testing.T) {
	pages := public(
		page{path: "a-b.md", content: "1\n"},
		page{path: "a/x.md", content: "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"},
		page{path: "link", link: "a/x.md"},
		page{path: "secret/s.md", content: "1\n2\n", access: groups("staff")},
		page{path: "z.md", content: ""},
	)
	tree, store := build(t, pages)
	id := func(i, chunk int) string { return snapshot.RecordID(tree.Rev(i), chunk) }
	older := tree.At(1)
	older.SHA256[0]++
	rev, stale := tree.Rev(1), snapshot.Rev(tree.Header(), older)
	tests := []struct {
		name   string
		viewer access.Viewer
		ids    []string
		want   string
	}{
		{"nothing", anonymous, nil, ""},
		{"in order", anonymous, []string{id(4, 0), id(1, 10), id(1, 2), id(0, 0), id(1, 0)}, "a-b.md#0 a/x.md#0 a/x.md#2 a/x.md#10 z.md#0"},
		{"each once", anonymous, []string{id(1, 2), id(0, 0), id(1, 2), id(1, 2)}, "a-b.md#0 a/x.md#2"},
		{"hidden", anonymous, []string{id(3, 0), id(3, 1)}, ""},
		{"hidden among others", signedIn, []string{id(3, 0), id(0, 0), id(3, 1)}, "a-b.md#0"},
		{"for a member", staff, []string{id(3, 1), id(0, 0)}, "a-b.md#0 secret/s.md#1"},
		{"for the operator", operator, []string{id(3, 1)}, "secret/s.md#1"},
		{"a link has no chunks", operator, []string{id(2, 0)}, ""},
		{"no such chunk", operator, []string{id(1, 11), id(0, 1), id(1, -1)}, ""},
		{"older revision, other records", operator, []string{snapshot.RecordID(stale, 0), "part:" + rev + "#0", "__path_tree__"}, ""},
		{"no ids", operator, []string{
			"", "#", "#0", rev, rev + "#", rev + "#x", rev + "#-1", rev + "#007", rev + "#+1", rev + "#1 ", rev + "#1#1", rev + "##1",
			" " + rev + "#1", rev[1:] + "#1", rev + "a#1", strings.ToUpper(rev) + "#1", rev + "#99999999999999999999", "x#-1", "\xff#0", rev + "#0x1",
		}, ""},
	}
	for _, tt := range tests {
		var got []string
		for _, c := range vfs.New(tree, store, tt.viewer, vfs.Options{}).Candidates(tt.ids) {
			got = append(got, fmt.Sprintf("%s#%d", c.Path, c.Chunk))
			if !slices.Contains(tt.ids, c.ID) {
				t.Errorf("%s: id %q was not asked about", tt.name, c.ID)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %q, want %s", tt.name, got, tt.want)
		}
	}
	if store.Calls() > 0 {
		t.Errorf("%d fetches", store.Calls())
	}
}

// Who sees nothing finds nothing, whatever a search has found.
func TestNoCandidatesForNobody(t *testing.T) {
	pages := []page{{path: "a.md", content: "a\n", access: groups("staff")}, {path: "b.md", content: "b\n"}}
	tree, store := build(t, pages)
	shared := vfs.NewShared(tree, store, vfs.Options{})
	ids := slices.Concat(tree.IDs(0), tree.IDs(1))
	for _, v := range []access.Viewer{anonymous, signedIn, {Groups: []string{"legal"}}} {
		if got := shared.For(v).Candidates(ids); len(got) > 0 {
			t.Errorf("%+v: %v", v, got)
		}
	}
}

func TestCandidatesOfManySessions(t *testing.T) {
	tree, store := build(t, site())
	shared := vfs.NewShared(tree, store, vfs.Options{})
	var ids []string
	for i := range tree.Len() {
		ids = append(ids, tree.IDs(i)...)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if all, some := shared.For(operator).Candidates(ids), shared.For(anonymous).Candidates(ids); len(all) != len(ids) || len(some) >= len(all) {
				t.Errorf("%d of %d, %d", len(all), len(ids), len(some))
			}
		})
	}
	group.Wait()
}
