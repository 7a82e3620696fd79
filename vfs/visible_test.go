package vfs_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/vfs"
)

func guarded() []page {
	everyone, members := access.Everyone(), access.SignedIn()
	return []page{
		{path: "members/m.md", content: "m\n", access: members},
		{path: "mixed/a/hidden.md", content: "h\n", access: access.Nobody()},
		{path: "mixed/b/open.md", content: "o\n", access: everyone},
		{path: "nobody/n.md", content: "n\n", access: access.Nobody()},
		{path: "staff/s.md", content: "s\n", access: groups("staff")},
		{path: "links/to-members", link: "../members", access: everyone},
		{path: "links/to-nobody", link: "../nobody/n.md", access: everyone},
		{path: "links/to-open", link: "../mixed/b/open.md", access: groups("staff")},
		{path: "links/via", link: "to-open", access: everyone},
		{path: "only/link", link: "../members/m.md", access: everyone},
		{path: "chain/link", link: "../only", access: everyone},
		{path: "circle1/link", link: "../circle2", access: everyone},
		{path: "circle2/link", link: "../circle1", access: everyone},
		{path: "dangling", link: "gone.md", access: everyone},
		{path: "gate/a/up", link: "../../mixed", access: everyone},
		{path: "gate/out", link: "a/up/../../passwd", access: everyone},
		{path: "loop", link: "loop", access: groups("staff")},
		{path: "around", link: "nobody/../mixed/b/open.md", access: everyone},
		{path: "past/file", link: "../mixed/b/open.md/../open.md", access: everyone},
		{path: "ring1", link: "ring2", access: everyone},
		{path: "ring2", link: "ring1", access: groups("staff")},
		{path: "apart/a.md", content: "a\n", access: access.Access{Groups: []string{"*"}, Excludes: []string{"guests"}}},
		{path: "apart/b.md", content: "b\n", access: access.Access{Groups: []string{"staff"}, Excludes: []string{"guests", "interns"}}},
		{path: "to-apart", link: "apart/a.md", access: everyone},
		{path: "own/up", link: "../own/../mixed/b", access: everyone},
		{path: "own/here", link: ".", access: everyone},
		{path: "alone/here", link: ".", access: everyone},
		{path: "both/file", link: "../mixed/b/open.md", access: everyone},
		{path: "both/folder", link: "../mixed/b", access: everyone},
		{path: "neither/n", link: "../nobody/n.md", access: everyone},
		{path: "both-and", link: "both/../neither", access: everyone},
		{path: "both-or", link: "both/../mixed", access: everyone},
	}
}

func TestVisibility(t *testing.T) {
	forAll := []string{"both/", "both/file", "both/folder", "both-or", "gate/", "gate/a/", "gate/a/up", "mixed/", "mixed/b/", "mixed/b/open.md", "own/", "own/here", "own/up"}
	forMembers := slices.Concat(forAll, []string{
		"chain/", "chain/link", "links/", "links/to-members", "members/", "members/m.md", "only/", "only/link",
	})
	notForGuests := []string{"apart/", "apart/a.md", "to-apart"}
	forStaff := slices.Concat(forMembers, []string{"links/to-open", "links/via", "staff/", "staff/s.md"})
	tests := map[string]struct {
		viewer access.Viewer
		want   []string
	}{
		"anonymous":   {anonymous, forAll},
		"signed in":   {signedIn, slices.Concat(forMembers, notForGuests)},
		"stranger":    {access.Viewer{Groups: []string{"sales"}}, slices.Concat(forMembers, notForGuests)},
		"guest":       {access.Viewer{Groups: []string{"guests"}}, forMembers},
		"staff":       {staff, slices.Concat(forStaff, notForGuests, []string{"apart/b.md"})},
		"intern":      {access.Viewer{Groups: []string{"interns", "staff"}}, slices.Concat(forStaff, notForGuests)},
		"staff guest": {access.Viewer{Groups: []string{"guests", "staff"}}, forStaff},
		"operator": {operator, slices.Concat(forStaff, notForGuests, []string{
			"apart/b.md", "around", "both-and", "links/to-nobody", "neither/", "neither/n", "mixed/a/", "mixed/a/hidden.md", "nobody/", "nobody/n.md",
		})},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := slices.Sorted(slices.Values(walk(t, open(t, tt.viewer, guarded()...))))
			if slices.Sort(tt.want); !slices.Equal(got, tt.want) {
				t.Fatalf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestForbiddenIsAbsent(t *testing.T) {
	fsys := open(t, anonymous, guarded()...)
	for _, name := range []string{
		"members", "members/m.md", "members/m.md/x", "members/none", "nobody/n.md", "mixed/a", "mixed/a/hidden.md", "staff",
		"links", "links/to-members", "links/to-members/m.md", "links/via", "links/to-open", "links/to-nobody", "only", "only/link/x",
		"circle1", "circle1/link/link", "dangling", "gate/out", "loop", "loop/x", "around", "around/x", "past", "past/file", "ring1",
		"ring1/x", "ring2", "apart", "apart/a.md", "apart/a.md/x", "to-apart", "to-apart/x", "alone/here", "alone/here/here",
		"neither", "both-and", "both-and/n", "gate/a/up/a", "gate/a/up/a/hidden.md", "own/up/../a", "mixed/b/../a/hidden.md", "own/here/none",
	} {
		absent(t, fsys, name)
	}
}

// absent holds all answers about a path to those about one of the same shape that never was.
func absent(t *testing.T, fsys *vfs.FS, name string) {
	t.Helper()
	never := strings.Map(func(r rune) rune {
		if r == '/' || r == '.' {
			return r
		}
		return 'z'
	}, name)
	for op, ask := range operations {
		got, want := ask(fsys, name), strings.ReplaceAll(ask(fsys, never), never, name)
		if got != want {
			t.Errorf("%s %s: %s\nbut of a path that never was: %s", op, name, got, want)
		}
	}
	var pathError *fs.PathError
	if _, err := fsys.Stat(name); fs.ValidPath(name) && (!errors.As(err, &pathError) || pathError.Err != fs.ErrNotExist || pathError.Path != name) {
		t.Errorf("%s: %#v", name, err)
	}
}

// TestHiddenEntriesLeaveNoTrace asks about what is visible, which must not look different for what is hidden in it.
func TestHiddenEntriesLeaveNoTrace(t *testing.T) {
	pages := guarded()
	for i := range pages {
		pages[i].mtime = int64(1_600_000_000 + i)
	}
	for _, viewer := range []access.Viewer{anonymous, signedIn, staff, {Groups: []string{"guests", "staff"}}} {
		full, pruned := open(t, viewer, pages...), open(t, operator, seenBy(viewer, pages)...)
		for _, name := range paths(names(pages)) {
			for op, ask := range operations {
				if got, want := ask(full, name), ask(pruned, name); got != want {
					t.Errorf("%+v: %s %s: %s\nwithout the hidden pages: %s", viewer, op, name, got, want)
				}
			}
		}
	}
}

func names(pages []page) (list []string) {
	for _, p := range pages {
		list = append(list, p.path)
	}
	return list
}
