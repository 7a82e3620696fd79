package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
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
	}
}

func TestVisibility(t *testing.T) {
	openOnly := []string{"gate/", "gate/a/", "gate/a/up", "mixed/", "mixed/b/", "mixed/b/open.md"}
	forMembers := []string{
		"chain/", "chain/link", "gate/", "gate/a/", "gate/a/up", "links/", "links/to-members", "members/", "members/m.md",
		"mixed/", "mixed/b/", "mixed/b/open.md", "only/", "only/link",
	}
	tests := map[string]struct {
		viewer access.Viewer
		want   []string
	}{
		"anonymous": {anonymous, openOnly},
		"signed in": {signedIn, forMembers},
		"stranger":  {access.Viewer{Groups: []string{"sales"}}, forMembers},
		"staff": {staff, slices.Sorted(slices.Values(slices.Concat(forMembers,
			[]string{"links/to-open", "links/via", "loop", "staff/", "staff/s.md"})))},
		"operator": {operator, slices.Sorted(slices.Values(slices.Concat(forMembers, []string{
			"links/to-nobody", "links/to-open", "links/via", "loop", "mixed/a/", "mixed/a/hidden.md",
			"nobody/", "nobody/n.md", "staff/", "staff/s.md",
		})))},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := walk(t, open(t, tt.viewer, guarded()...)); !slices.Equal(got, tt.want) {
				t.Fatalf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestForbiddenIsAbsent holds every answer about a forbidden path to the answer about a path that isn't there.
func TestForbiddenIsAbsent(t *testing.T) {
	fsys := open(t, anonymous, guarded()...)
	for _, name := range []string{
		"members", "members/m.md", "members/m.md/x", "members/none", "nobody/n.md", "mixed/a", "mixed/a/hidden.md", "staff",
		"links", "links/to-members", "links/to-members/m.md", "links/via", "links/to-open", "links/to-nobody", "only",
		"circle1", "circle1/link/link", "dangling", "gate/out", "loop", "loop/x",
	} {
		for op, answer := range operations(fsys) {
			err := answer(name)
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %s: %v", op, name, err)
				continue
			}
			absent := strings.ReplaceAll(answer("absent").Error(), "absent", name)
			if err.Error() != absent {
				t.Errorf("%s %s: %q, but of an absent path %q", op, name, err, absent)
			}
		}
	}
}

func operations(fsys *vfs.FS) map[string]func(string) error {
	return map[string]func(string) error{
		"open":     func(p string) error { _, err := fsys.Open(p); return err },
		"stat":     func(p string) error { _, err := fsys.Stat(p); return err },
		"lstat":    func(p string) error { _, err := fsys.Lstat(p); return err },
		"readlink": func(p string) error { _, err := fsys.ReadLink(p); return err },
		"readfile": func(p string) error { _, err := fsys.ReadFile(p); return err },
		"readdir":  func(p string) error { _, err := fsys.ReadDir(p); return err },
	}
}

// TestPruneLikeFiltering compares random trees with trees from which the forbidden pages were left out beforehand.
func TestPruneLikeFiltering(t *testing.T) {
	classes := []access.Access{access.Everyone(), access.SignedIn(), groups("staff"), groups("legal", "staff"), access.Nobody()}
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var pages []page
		for i := range 1 + rng.IntN(60) {
			p := page{path: fmt.Sprintf("%c/%c-%c/%d.md", 'a'+rng.IntN(4), 'a'+rng.IntN(3), 'a'+rng.IntN(3), i)}
			p.access = classes[rng.IntN(len(classes))]
			pages = append(pages, p)
		}
		for _, viewer := range []access.Viewer{anonymous, signedIn, staff, operator} {
			var allowed []page
			for _, p := range pages {
				if p.access.Allows(viewer) {
					allowed = append(allowed, p)
				}
			}
			got, want := walk(t, open(t, viewer, pages...)), walk(t, open(t, operator, allowed...))
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, viewer %+v:\ngot  %q\nwant %q", seed, viewer, got, want)
			}
		}
	}
}
