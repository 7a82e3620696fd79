package vfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/vfs"
)

// linked is a site of links: through folders, in chains, upwards.
func linked() []page {
	return public(
		page{path: "pages/x.md", content: "x\n"},
		page{path: "pages/sub/y.md", content: "y\n"},
		page{path: "pages.en", link: "pages"},
		page{path: "pages.uk", link: "pages.en/"},
		page{path: "direct", link: "pages.en/x.md"},
		page{path: "dot", link: "./pages/../pages/./x.md"},
		page{path: "sub", link: "pages/sub"},
		page{path: "other/physical", link: "../sub/../x.md"},
		page{path: "root/all", link: ".."},
	)
}

func TestLinks(t *testing.T) {
	fsys := open(t, anonymous, linked()...)
	tests := []struct {
		path, content string
		err           error
	}{
		{"pages.en/x.md", "x\n", nil},
		{"pages.uk/sub/y.md", "y\n", nil},
		{"direct", "x\n", nil},
		{"dot", "x\n", nil},
		{"sub/y.md", "y\n", nil},
		{"other/physical", "x\n", nil}, // ".." leaves pages/sub, not the root
		{"root/all/root/all/direct", "x\n", nil},
		{"pages/x.md/z", "", syscall.ENOTDIR},
		{"direct/z", "", syscall.ENOTDIR},
		{"pages.en/none", "", fs.ErrNotExist},
		{"none/x.md", "", fs.ErrNotExist},
		{"pages", "", syscall.EISDIR},
		{"pages.en", "", syscall.EISDIR},
		{"../pages/x.md", "", fs.ErrInvalid},
		{"/pages/x.md", "", fs.ErrInvalid},
		{"pages//x.md", "", fs.ErrInvalid},
		{"", "", fs.ErrInvalid},
	}
	for _, tt := range tests {
		body, err := fsys.ReadFile(tt.path)
		if string(body) != tt.content || !errors.Is(err, tt.err) {
			t.Errorf("%q: got %q, %v; want %q, %v", tt.path, body, err, tt.content, tt.err)
		}
		var pathError *fs.PathError
		if err != nil && (!errors.As(err, &pathError) || pathError.Path != tt.path) {
			t.Errorf("%q: error %v is no *fs.PathError of this path", tt.path, err)
		}
	}
}

func TestHopsAreBounded(t *testing.T) {
	pages := public(page{path: "end.md", content: "end\n"}, page{path: "l00", link: "end.md"})
	for i := 1; i < 60; i++ {
		pages = append(pages, page{path: fmt.Sprintf("l%02d", i), link: fmt.Sprintf("l%02d", i-1), access: access.Everyone()})
	}
	pages = append(pages, public(
		page{path: "dir/f.md", content: "f\n"}, page{path: "dir/l0", link: "f.md"}, page{path: "d00", link: "dir"},
		page{path: "loop1", link: "loop2"}, page{path: "loop2", link: "loop1"}, page{path: "self", link: "self"}, page{path: "deeper", link: "deeper/x"},
	)...)
	for i := 1; i < 40; i++ {
		pages = append(pages, page{path: fmt.Sprintf("d%02d", i), link: fmt.Sprintf("d%02d", i-1), access: access.Everyone()})
	}
	fsys := open(t, anonymous, pages...)
	if body, err := fsys.ReadFile("l39"); string(body) != "end\n" {
		t.Errorf("40 links: %q, %v", body, err)
	}
	if _, err := fsys.Stat("d39/f.md"); err != nil {
		t.Errorf("40 links to a folder: %v", err)
	}
	if _, err := fsys.Stat("d39/l0"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("40 links, and one more: %v", err)
	}
	for _, name := range []string{"l40", "l59", "loop1", "loop2", "loop1/x", "self", "deeper", "deeper/x"} {
		absent(t, fsys, name)
	}
	want := 40 + 40 + 4 // and end.md, dir, dir/f.md, dir/l0
	if got := walk(t, fsys); len(got) != want {
		t.Errorf("%d names, want %d: %q", len(got), want, got)
	}
}

func TestReadLink(t *testing.T) {
	fsys := open(t, anonymous, linked()...)
	tests := []struct {
		path, target string
		err          error
	}{
		{"pages.en", "pages", nil},
		{"dot", "./pages/../pages/./x.md", nil},
		{"root/all/pages.uk", "pages.en/", nil},
		{"pages/x.md", "", syscall.EINVAL},
		{"pages", "", syscall.EINVAL},
		{"none", "", fs.ErrNotExist},
	}
	for _, tt := range tests {
		if target, err := fsys.ReadLink(tt.path); target != tt.target || !errors.Is(err, tt.err) {
			t.Errorf("%q: got %q, %v; want %q, %v", tt.path, target, err, tt.target, tt.err)
		}
	}
}

// TestLikeTheFolder asks the same questions of the tree and of a real folder with the same entries.
func TestLikeTheFolder(t *testing.T) {
	var names []string
	for _, pages := range [][]page{site(), linked()} {
		folder := layOut(t, pages)
		for _, p := range pages {
			names = append(names, p.path)
		}
		fsys := open(t, operator, pages...)
		for _, name := range paths(names) {
			if got, want := ask(fsys, name), ask(folder, name); got != want {
				t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
			}
		}
	}
}

// layOut makes a real folder of pages.
func layOut(t *testing.T, pages []page) fs.ReadLinkFS {
	t.Helper()
	dir := t.TempDir()
	for _, p := range pages {
		lay(t, dir, p)
	}
	return os.DirFS(dir).(fs.ReadLinkFS)
}

func lay(t *testing.T, dir string, p page) {
	t.Helper()
	name := filepath.Join(dir, filepath.FromSlash(p.path))
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil && p.link != "" {
		err = os.Symlink(filepath.FromSlash(p.link), name)
	} else if err == nil {
		err = os.WriteFile(name, []byte(p.content), 0o666)
	}
	if err != nil {
		t.Skipf("this system can't lay out the folder: %v", err)
	}
}

// paths are the names, their parents, and every last part below every name.
func paths(names []string) []string {
	all := []string{"."}
	for _, a := range names {
		for p := a; p != ""; p = p[:max(0, strings.LastIndexByte(p, '/'))] {
			all = append(all, p)
		}
		for _, b := range names {
			all = append(all, a+"/"+b, a+b[max(0, strings.LastIndexByte(b, '/')):])
		}
	}
	all = slices.DeleteFunc(all, func(p string) bool { return !fs.ValidPath(p) })
	slices.Sort(all)
	return slices.Compact(all)
}

// ask puts everything that a folder answers about one path in one line.
func ask(fsys fs.ReadLinkFS, name string) string {
	var b strings.Builder
	describe := func(i fs.FileInfo, err error) {
		if err != nil {
			fmt.Fprintf(&b, "%v; ", reason(err))
			return
		}
		fmt.Fprintf(&b, "%s %v", i.Name(), i.Mode().Type())
		if !i.IsDir() {
			fmt.Fprintf(&b, " %d", i.Size())
		}
		b.WriteString("; ")
	}
	describe(fs.Stat(fsys, name))
	describe(fsys.Lstat(name))
	target, err := fsys.ReadLink(name)
	fmt.Fprintf(&b, "link %q %v; ", target, reason(err))
	body, err := fs.ReadFile(fsys, name)
	fmt.Fprintf(&b, "body %q %v; ", body, reason(err))
	list, err := fs.ReadDir(fsys, name)
	fmt.Fprintf(&b, "list %v", reason(err))
	for _, d := range list {
		fmt.Fprintf(&b, " %s %v", d.Name(), d.Type())
	}
	return b.String()
}

func reason(err error) error {
	for _, known := range []error{fs.ErrNotExist, syscall.ELOOP, syscall.ENOTDIR, syscall.EISDIR, syscall.EINVAL} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

var _ interface {
	fs.ReadDirFS
	fs.StatFS
	fs.ReadFileFS
	fs.ReadLinkFS
} = (*vfs.FS)(nil)
