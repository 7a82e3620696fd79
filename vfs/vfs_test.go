package vfs_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

var (
	published = time.Unix(1_700_000_000, 0).UTC()
	operator  = access.Viewer{Operator: true}
	anonymous = access.Viewer{}
	signedIn  = access.Viewer{SignedIn: true}
	staff     = access.Viewer{Groups: []string{"staff"}}
)

func groups(names ...string) access.Access { return access.Access{Groups: names} }

// page is an entry of a test tree: a file with content, or a link.
type page struct {
	path    string
	content string
	link    string
	access  access.Access
	mtime   int64
}

// records is a store of chunk texts that counts how it is asked.
type records struct {
	docs map[string]string

	mu      sync.Mutex
	calls   int
	largest int
	before  func(ctx context.Context) error
}

func (r *records) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	r.mu.Lock()
	r.calls++
	r.largest = max(r.largest, len(ids))
	before := r.before
	r.mu.Unlock()
	if before != nil {
		if err := before(ctx); err != nil {
			return nil, err
		}
	}
	found := make(map[string]string)
	for _, id := range ids {
		if doc, ok := r.docs[id]; ok {
			found[id] = doc
		}
	}
	return found, nil
}

func (r *records) Calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// cut makes one chunk of every line.
func cut(content string) []string {
	body, last := strings.CutSuffix(content, "\n")
	chunks := strings.Split(body, "\n")
	if last {
		chunks[len(chunks)-1] += "\n"
	}
	return chunks
}

// build makes the tree of pages and the records of their lines.
func build(t testing.TB, pages []page) (*snapshot.Tree, *records) {
	t.Helper()
	pages = slices.SortedFunc(slices.Values(pages), func(a, b page) int { return cmp.Compare(a.path, b.path) })
	entries := make([]snapshot.Entry, 0, len(pages))
	for _, p := range pages {
		e := snapshot.Entry{Path: p.path, Access: p.access, MTime: p.mtime, Link: p.link}
		if p.link == "" {
			e.Size, e.SHA256, e.Chunks = int64(len(p.content)), sha256.Sum256([]byte(p.content)), len(cut(p.content))
		}
		entries = append(entries, e)
	}
	tree, err := snapshot.New(snapshot.Header{Collection: "docs", Records: "test", Default: access.Everyone()}, entries)
	if err != nil {
		t.Fatal(err)
	}
	store := &records{docs: make(map[string]string)}
	for i, p := range pages {
		if p.link == "" {
			for k, text := range cut(p.content) {
				store.docs[snapshot.RecordID(tree.Rev(i), k)] = text
			}
		}
	}
	return tree, store
}

// public gives every page that says nothing else to everyone.
func public(pages ...page) []page {
	for i := range pages {
		if pages[i].access.Equal(access.Nobody()) {
			pages[i].access = access.Everyone()
		}
	}
	return pages
}

func open(t testing.TB, viewer access.Viewer, pages ...page) *vfs.FS {
	t.Helper()
	tree, store := build(t, pages)
	return vfs.New(tree, store, viewer, vfs.Options{Published: published})
}

// site has every kind of entry, and names whose order among siblings is not that of their paths.
func site() []page {
	return public(
		page{path: "README.md", content: "# Read me\n\nfirst\nlast without an end"},
		page{path: "a-b.md", content: "beside a folder\n"},
		page{path: "a/x.md", content: "x\r\ny\r\n"},
		page{path: "a/deep/er/page.md", content: "deep\n", mtime: 1_600_000_000},
		page{path: "a.md", content: ""},
		page{path: "en", link: "a"},
		page{path: "a/up.md", link: "../README.md"},
		page{path: "a/deep/again", link: "../../en/x.md"},
		page{path: "中文/ព.md", content: "ភាសា\n\n"},
		page{path: "secret/one.md", content: "hidden\n", access: groups("staff")},
		page{path: "secret/two.md", content: "hidden too\n", access: groups("legal", "staff")},
		page{path: "to-secret", link: "secret"},
	)
}

func walk(t testing.TB, fsys fs.FS) []string {
	t.Helper()
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != "." {
			if d.IsDir() {
				name += "/"
			}
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestConformance(t *testing.T) {
	everyone := []string{"README.md", "a", "a-b.md", "a.md", "a/x.md", "a/deep/er/page.md", "a/up.md", "en", "中文/ព.md"}
	for name, viewer := range map[string]access.Viewer{"operator": operator, "anonymous": anonymous, "staff": staff} {
		t.Run(name, func(t *testing.T) {
			if err := fstest.TestFS(open(t, viewer, site()...), everyone...); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := fstest.TestFS(open(t, anonymous)); err != nil {
		t.Fatalf("empty tree: %v", err)
	}
}

func TestOrderOfNames(t *testing.T) {
	got := walk(t, open(t, staff, site()...))
	want := []string{
		"README.md", "a/", "a/deep/", "a/deep/again", "a/deep/er/", "a/deep/er/page.md", "a/up.md", "a/x.md",
		"a-b.md", "a.md", "en", "secret/", "secret/one.md", "secret/two.md", "to-secret", "中文/", "中文/ព.md",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
}

func TestLargeFolder(t *testing.T) {
	const n = 5000
	var pages []page
	for i := range n {
		pages = append(pages, page{path: fmt.Sprintf("big/%04d.md", i)}, page{path: fmt.Sprintf("big/%04d/x", i)})
	}
	fsys := open(t, anonymous, public(pages...)...)
	for range 2 { // found, then kept
		list, err := fsys.ReadDir("big")
		if err != nil || len(list) != 2*n {
			t.Fatalf("%d names, %v", len(list), err)
		}
		if !slices.IsSortedFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) }) {
			t.Fatal("not sorted")
		}
		if list[0].Name() != "0000" || !list[0].IsDir() || list[1].Name() != "0000.md" || list[1].IsDir() {
			t.Fatalf("begins with %v, %v", list[0], list[1])
		}
	}
}

func TestInfo(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	old := time.Unix(1_600_000_000, 0).UTC()
	tests := []struct {
		stat  func(string) (fs.FileInfo, error)
		path  string
		name  string
		size  int64
		mode  fs.FileMode
		mtime time.Time
	}{
		{fsys.Stat, ".", ".", 0, fs.ModeDir | 0o555, published},
		{fsys.Stat, "a", "a", 0, fs.ModeDir | 0o555, published},
		{fsys.Stat, "a/x.md", "x.md", 6, 0o444, published},
		{fsys.Stat, "a.md", "a.md", 0, 0o444, published},
		{fsys.Stat, "a/deep/er/page.md", "page.md", 5, 0o444, old},
		{fsys.Stat, "en", "en", 0, fs.ModeDir | 0o555, published},
		{fsys.Stat, "en/deep/er/page.md", "page.md", 5, 0o444, old},
		{fsys.Stat, "a/up.md", "up.md", 36, 0o444, published},
		{fsys.Lstat, "a/up.md", "up.md", 12, fs.ModeSymlink | 0o777, published},
		{fsys.Lstat, "en", "en", 1, fs.ModeSymlink | 0o777, published},
		{fsys.Lstat, "en/x.md", "x.md", 6, 0o444, published},
		{fsys.Lstat, "a", "a", 0, fs.ModeDir | 0o555, published},
	}
	for _, tt := range tests {
		i, err := tt.stat(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		if i.Name() != tt.name || i.Size() != tt.size || i.Mode() != tt.mode || !i.ModTime().Equal(tt.mtime) {
			t.Errorf("%s: got %v, want %v %v %v %v", tt.path, i, tt.name, tt.size, tt.mode, tt.mtime)
		}
	}
}

func TestReadFileIsACopy(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	for range 2 {
		body, err := fsys.ReadFile("a/x.md")
		if err != nil || string(body) != "x\r\ny\r\n" {
			t.Fatalf("%q, %v", body, err)
		}
		clear(body)
	}
}
