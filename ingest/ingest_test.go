package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/vfs"
)

// site is a docs folder, a store and a location of one test.
type site struct {
	t        *testing.T
	dir      string
	store    *indextest.Faulty
	location snapshot.Location
	options  ingest.Options
}

func newSite(t *testing.T, files map[string]string) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), store: &indextest.Faulty{Store: indextest.Memory()}}
	s.location = &snapshot.Folder{Dir: t.TempDir()}
	s.options = ingest.Options{Dir: s.dir, Collection: "docs", Source: source.Options{Unmarked: true}, Now: time.Unix(1000, 0)}
	for path, text := range files {
		s.put(path, text)
	}
	return s
}

func (s *site) put(path, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(path string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, path)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) run() (*ingest.Result, error) {
	return ingest.Run(s.t.Context(), s.store, s.location, s.options)
}

func (s *site) mustRun() *ingest.Result {
	s.t.Helper()
	r, err := s.run()
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// read returns every file that a reader gets from what is published.
func (s *site) read() map[string]string {
	s.t.Helper()
	p, err := s.location.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	fsys := vfs.New(p.Tree, s.store, access.Viewer{}, vfs.Options{})
	files := map[string]string{}
	err = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(fsys, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

func (s *site) wantFiles(want map[string]string) {
	s.t.Helper()
	if got := s.read(); !maps.Equal(got, want) {
		s.t.Errorf("a reader gets %q, want %q", got, want)
	}
}

// wantNoOrphan sees that the store holds exactly the records that the snapshot names.
func (s *site) wantNoOrphan() {
	s.t.Helper()
	p, err := s.location.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var want []string
	for i := range p.Tree.Len() {
		want = append(want, p.Tree.IDs(i)...)
	}
	got, err := s.store.IDs(s.t.Context(), index.KindChunk, s.options.Site)
	if err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("the store holds %d records, the snapshot names %d", len(got), len(want))
	}
}

// long is a page of several chunks.
func long(paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", i, strings.Repeat("some words of text ", 50))
	}
	return b.String()
}

func TestFirstIngest(t *testing.T) {
	files := map[string]string{"a.md": "# A\n", "b/c.mdx": long(9), "empty.md": "", "data.json": "{}\n"}
	s := newSite(t, files)
	r := s.mustRun()
	s.wantFiles(files)
	s.wantNoOrphan()
	if !r.Changed || r.Pages != 4 || r.Written != r.Chunks || r.Chunks < 7 || r.Deleted != 0 {
		t.Errorf("result %+v", r)
	}
}

func TestUnchangedWritesNothing(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n", "b.md": long(5)})
	first := s.mustRun()
	upserts := s.store.Calls(indextest.OpUpsert)
	again := s.mustRun()
	if again.Changed || again.Written != 0 || again.Deleted != 0 || again.Snapshot != first.Snapshot {
		t.Errorf("second run: %+v", again)
	}
	if n := s.store.Calls(indextest.OpUpsert); n != upserts {
		t.Errorf("the second run called upsert %d times", n-upserts)
	}
}

func TestChanges(t *testing.T) {
	base := map[string]string{"a.md": "# A\n", "b.md": long(9), "d/c.md": "c\n"}
	cases := []struct {
		name   string
		change func(*site)
		// deleted is the least number of records that go.
		written, deleted int
		want             map[string]string
	}{
		{"edited", func(s *site) { s.put("a.md", "# AA\n") }, 1, 1, map[string]string{"a.md": "# AA\n", "b.md": long(9), "d/c.md": "c\n"}},
		{"added", func(s *site) { s.put("z.md", "z") }, 1, 0, map[string]string{"a.md": "# A\n", "b.md": long(9), "d/c.md": "c\n", "z.md": "z"}},
		{"shrunk", func(s *site) { s.put("b.md", "b\n") }, 1, 4, map[string]string{"a.md": "# A\n", "b.md": "b\n", "d/c.md": "c\n"}},
		{"vanished", func(s *site) { s.remove("b.md") }, 0, 4, map[string]string{"a.md": "# A\n", "d/c.md": "c\n"}},
		{"moved", func(s *site) { s.remove("d/c.md"); s.put("e/c.md", "c\n") }, 1, 1, map[string]string{"a.md": "# A\n", "b.md": long(9), "e/c.md": "c\n"}},
		{"file to folder", func(s *site) { s.remove("a.md"); s.put("a.md/x.md", "x") }, 1, 1, map[string]string{"a.md/x.md": "x", "b.md": long(9), "d/c.md": "c\n"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, base)
			s.mustRun()
			c.change(s)
			r := s.mustRun()
			if !r.Changed || r.Written != c.written || r.Deleted < c.deleted {
				t.Errorf("%+v", r)
			}
			s.wantFiles(c.want)
			s.wantNoOrphan()
		})
	}
}

// A record that went missing behind our back is written again; --rewrite writes everything.
func TestRepairs(t *testing.T) {
	files := map[string]string{"a.md": "# A\n", "b.md": long(9)}
	s := newSite(t, files)
	first := s.mustRun()
	ids, err := s.store.IDs(t.Context(), index.KindChunk, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Delete(t.Context(), ids[:2]); err != nil {
		t.Fatal(err)
	}
	if r := s.mustRun(); r.Written != 2 || r.Changed {
		t.Errorf("after two records were lost: %+v", r)
	}
	s.wantFiles(files)
	s.options.Rewrite = true
	if r := s.mustRun(); r.Written != first.Chunks || r.Snapshot != first.Snapshot || r.Changed {
		t.Errorf("rewrite: %+v", r)
	}
}

func TestNothingSelected(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	s.mustRun()
	s.remove("a.md")
	s.put(".hidden.md", "x")
	if _, err := s.run(); !errors.Is(err, ingest.ErrNothingSelected) {
		t.Errorf("an empty folder: %v", err)
	}
	s.wantFiles(map[string]string{"a.md": "# A\n"})
}

func TestFailedPagesAreAllListed(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	s.mustRun()
	s.put("b.md", "new")
	s.put("x\xff.md", "bad name")
	s.put("y\xfe.md", "bad name")
	s.put("c.md", "---\ngroups: admin\n---\n")
	_, err := s.run()
	var failures ingest.Failures
	if !errors.As(err, &failures) || len(failures) != 3 {
		t.Fatalf("%v", err)
	}
	s.wantFiles(map[string]string{"a.md": "# A\n"})
}

// What frontmatter and headings say reaches the records cut and clean, whatever it is.
func TestRecordMetadata(t *testing.T) {
	s := newSite(t, map[string]string{
		"guide/index.mdx": "---\ntitle: \"A\\0B\"\n---\n\n# One\n\n## Two\n\ntext\n",
		"a b?#.md":        "# " + strings.Repeat("é", 2000) + "\n",
	})
	s.options.URL, s.options.Site = "https://example.com", "main"
	s.location = &snapshot.Folder{Dir: t.TempDir(), Site: "main"}
	s.mustRun()
	ids, err := s.store.IDs(t.Context(), index.KindChunk, "main")
	if err != nil {
		t.Fatal(err)
	}
	records, err := s.store.Get(t.Context(), ids)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	slices.SortFunc(records, func(a, b index.Record) int { return strings.Compare(b.Metadata.PageSlug, a.Metadata.PageSlug) })
	want := index.Metadata{
		Kind: "chunk", PageSlug: "main/guide/index.mdx", IsPublic: true, Groups: []string{"*"}, Visibility: "public",
		Title: "AB", StartLine: 1, Site: "main", URL: "https://example.com/guide",
	}
	if got := records[0].Metadata; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	got := records[1].Metadata
	if got.Title != strings.Repeat("é", 512) || got.Headings != got.Title || got.URL != "https://example.com/a%20b%3F%23" {
		t.Errorf("title of %d bytes, headings of %d, url %q", len(got.Title), len(got.Headings), got.URL)
	}
}

// TestKilledAnywhere stops a run at its n-th write, for every n: a reader has the old site or the new one, whole, and the
// next run finishes the work.
func TestKilledAnywhere(t *testing.T) {
	before := map[string]string{"a.md": "# A\n", "b.md": long(30), "c.md": "c\n"}
	after := map[string]string{"a.md": "# A2\n", "b.md": long(20), "d.md": "d\n"}
	killed := errors.New("killed")
	stopped := 0
	for _, op := range []indextest.Op{indextest.OpUpsert, indextest.OpDelete, indextest.OpIDs} {
		for n := 1; ; n++ {
			s := newSite(t, before)
			s.mustRun()
			s.remove("c.md")
			for path, text := range after {
				s.put(path, text)
			}
			first := s.store.Calls(op)
			s.store.After = func(o indextest.Op, i int) error {
				if o == op && i == first+n {
					return killed
				}
				return nil
			}
			_, err := s.run()
			s.store.After = nil
			if err == nil {
				break
			}
			stopped++
			if got := s.read(); !maps.Equal(got, before) && !maps.Equal(got, after) {
				t.Errorf("%s %d: a reader gets neither site: %q", op, n, slices.Collect(maps.Keys(got)))
			}
			s.mustRun()
			s.wantFiles(after)
			s.wantNoOrphan()
		}
	}
	if stopped < 3 {
		t.Errorf("only %d places to die were tried", stopped)
	}
}

func TestCancelled(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ingest.Run(ctx, s.store, s.location, s.options); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := s.location.Load(t.Context()); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("published all the same: %v", err)
	}
}

func TestForeignRecords(t *testing.T) {
	foreign := index.Record{ID: "theirs", Document: "text", Metadata: index.Metadata{PageSlug: "other.md", Groups: []string{"*"}}}
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	if err := s.store.Upsert(t.Context(), []index.Record{foreign}); err != nil {
		t.Fatal(err)
	}
	s.mustRun()
	s.put("a.md", "# B\n")
	s.mustRun()
	got, err := s.store.Get(t.Context(), []string{"theirs"})
	if err != nil || len(got) != 1 || got[0].Document != "text" {
		t.Errorf("the foreign record: %+v, %v", got, err)
	}
	// A record that calls itself a chunk, but not by one of our ids, is somebody else's too.
	if err := s.store.Upsert(t.Context(), []index.Record{{ID: "x#0", Document: "text", Metadata: index.Metadata{Kind: "chunk", PageSlug: "z.md", Groups: []string{"*"}}}}); err != nil {
		t.Fatal(err)
	}
	s.put("a.md", "# C\n")
	s.mustRun()
	if got, err := s.store.Get(t.Context(), []string{"x#0", "theirs"}); err != nil || len(got) != 2 {
		t.Errorf("foreign records after a run: %+v, %v", got, err)
	}
	s.put("other.md", "ours")
	if _, err := s.run(); !errors.Is(err, ingest.ErrForeign) {
		t.Errorf("a page_slug that is taken: %v", err)
	}
	s.wantFiles(map[string]string{"a.md": "# C\n"})
}

// A snapshot folder belongs to one collection.
func TestOtherCollection(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	s.mustRun()
	s.options.Collection = "other"
	if _, err := s.run(); !errors.Is(err, ingest.ErrOtherCollection) {
		t.Errorf("%v", err)
	}
}

// Two sites in one collection never touch each other, also when both hold the same page.
func TestSites(t *testing.T) {
	one := newSite(t, map[string]string{"a.md": "one\n"})
	one.options.Site = "one"
	one.location = &snapshot.Collection{Store: one.store, Site: "one"}
	two := newSite(t, map[string]string{"a.md": "two\n", "b.md": "b\n"})
	two.store, two.options.Site = one.store, "two"
	two.location = &snapshot.Collection{Store: one.store, Site: "two"}
	one.mustRun()
	two.mustRun()
	two.remove("b.md")
	two.mustRun()
	one.wantFiles(map[string]string{"a.md": "one\n"})
	two.wantFiles(map[string]string{"a.md": "two\n"})
	one.wantNoOrphan()
	two.wantNoOrphan()
	bare := newSite(t, map[string]string{"two/a.md": "taken\n"})
	bare.store = one.store
	if _, err := bare.run(); !errors.Is(err, ingest.ErrForeign) {
		t.Errorf("a page_slug of another site: %v", err)
	}
}

// TestDeterministic: the same folder gives the same snapshot and the same records, however the work is spread.
func TestDeterministic(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("d%d/p%d.md", i%7, i)] = long(i % 5)
	}
	digest := func(procs int) (string, []string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		s := newSite(t, files)
		r := s.mustRun()
		ids, err := s.store.IDs(t.Context(), index.KindChunk, "")
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids)
		return r.Snapshot, ids
	}
	d1, ids1 := digest(1)
	d4, ids4 := digest(4)
	if d1 != d4 || !slices.Equal(ids1, ids4) {
		t.Errorf("%s with one, %s with four", d1, d4)
	}
}
