package ingest_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/vfs"
)

// largeText is lazy by a glob, and has a block list.
var largeText = strings.Repeat("0123456789abcde\n", blob.WholeBytes/16+1)

// spec is an API description of at least n bytes.
func spec(n int) string {
	return `{"openapi": "3.1.0", "x": "` + strings.Repeat("y", n) + "\"}\n"
}

// newLazySite is a site with objects in memory.
func newLazySite(t *testing.T, files map[string]string) (*site, *blobtest.Memory) {
	s := newSite(t, files)
	objects := blobtest.NewMemory()
	s.options.Blobs = objects
	s.options.Source.Lazy.Match = []string{"large.txt"}
	return s, objects
}

// readLazy returns a file of what is published as a reader gets it.
func (s *site) readLazy(objects blob.Store, path string) string {
	s.t.Helper()
	p, err := s.location.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	reader := blob.NewFiles(blob.FilesOptions{Store: objects, Open: s.options.Origin, MemoryBytes: -1})
	defer reader.Close()
	got, err := vfs.New(p.Tree, s.store, access.Viewer{}, vfs.Options{Blobs: reader}).ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(got)
}

func TestLazyFiles(t *testing.T) {
	files := map[string]string{
		"a.md": "text\n", "openapi.json": spec(70_000), "small.json": spec(100), "large.txt": largeText,
		"page.md": "# latin \xe9\n", "image.png": "\x89PNG\x00\x00", "named.png": "\x89PNG\x00\x01", "line.yaml": "openapi: 3.0.0 #" + strings.Repeat("x", 20_000) + "\n",
	}
	s, objects := newLazySite(t, files)
	s.options.Source.Include = []string{"named.png"}
	r := s.mustRun()
	reasons := map[string]source.LazyReason{}
	for _, f := range r.Lazy {
		reasons[f.Path] = f.Reason
		if f.Size != int64(len(files[f.Path])) {
			t.Errorf("%s: size %d", f.Path, f.Size)
		}
		if got := s.readLazy(objects, f.Path); got != files[f.Path] {
			t.Errorf("%s: a reader gets %d other bytes", f.Path, len(got))
		}
	}
	want := map[string]source.LazyReason{"openapi.json": source.LazySpec, "large.txt": source.LazyMatch, "page.md": source.LazyContent,
		"named.png": source.LazyContent, "line.yaml": source.LazyContent}
	if len(reasons) != len(want) {
		t.Errorf("lazy are %v, want %v", reasons, want)
	}
	for path, reason := range want {
		if reasons[path] != reason {
			t.Errorf("%s: %q, want %q", path, reasons[path], reason)
		}
	}
	if len(r.Ignored) != 1 || r.Ignored[0].Path != "image.png" || r.Ignored[0].Reason != source.NotText {
		t.Errorf("ignored: %+v", r.Ignored)
	}
	if r.Pages != 7 || r.Chunks != 2 || r.Sent != 6 { // with the block list
		t.Errorf("%d pages, %d chunks, %d sent", r.Pages, r.Chunks, r.Sent)
	}
	s.wantNoOrphan()
}

func TestLazyUnchangedSendsNothing(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"openapi.json": spec(70_000), "large.txt": largeText})
	s.mustRun()
	objects.Counts()
	r := s.mustRun()
	if c := objects.Counts(); r.Sent != 0 || r.Changed || c.Put != 0 || c.Kept != 0 || c.Read != 0 {
		t.Errorf("sent %d, changed %v, store %+v", r.Sent, r.Changed, c)
	}
	s.put("b.md", "another page\n")
	if r := s.mustRun(); r.Sent != 0 || !r.Changed {
		t.Errorf("another page: sent %d, changed %v", r.Sent, r.Changed)
	}
}

// What the store lost is sent again, what it damaged only with Rewrite.
func TestLazyRepairs(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"openapi.json": spec(70_000), "large.txt": largeText})
	s.mustRun()
	_, list, err := blob.Describe(strings.NewReader(largeText))
	if err != nil {
		t.Fatal(err)
	}
	key := blob.Key(sha256.Sum256([]byte(spec(70_000))))
	for name, lose := range map[string]func(){
		"object":     func() { objects.Set(key, nil) },
		"half":       func() { objects.Set(key, []byte("half")) },
		"block list": func() { objects.Set(blob.Key(sha256.Sum256(list)), nil) },
	} {
		lose()
		if r := s.mustRun(); r.Sent != 1 {
			t.Errorf("%s lost: %d sent", name, r.Sent)
		}
	}
	damaged := []byte(strings.Replace(spec(70_000), "y", "z", 1))
	objects.Set(key, damaged)
	s.mustRun()
	s.options.Rewrite = true
	if r := s.mustRun(); r.Sent != 3 {
		t.Errorf("rewrite: %d sent", r.Sent)
	}
	if got := s.readLazy(objects, "openapi.json"); got != spec(70_000) {
		t.Error("the damage is still there")
	}
}

// Two files with one content are one object.
func TestLazyTwins(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"a.json": spec(70_000), "b.json": spec(70_000)})
	for _, s.options.DryRun = range []bool{true, false} {
		if r := s.mustRun(); len(r.Lazy) != 2 || r.Sent != 1 {
			t.Errorf("dry %v: %d lazy, %d sent", s.options.DryRun, len(r.Lazy), r.Sent)
		}
	}
	if c := objects.Counts(); c.Put != 1 {
		t.Errorf("%+v", c)
	}
}

func TestLazyNeedsBlobs(t *testing.T) {
	s, _ := newLazySite(t, map[string]string{"openapi.json": spec(70_000), "a.md": "text\n"})
	s.options.Blobs = nil
	for _, s.options.DryRun = range []bool{true, false} {
		_, err := s.run()
		if !errors.Is(err, ingest.ErrNoBlobs) || !strings.Contains(err.Error(), `"openapi.json" (API description`) {
			t.Errorf("got %v", err)
		}
	}
	if n := s.writes(); n != 0 {
		t.Errorf("%d writes", n)
	}
	if _, err := s.location.Load(t.Context()); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("published: %v", err)
	}
}

func TestLazyDryRun(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"openapi.json": spec(70_000), "large.txt": largeText})
	s.options.DryRun = true
	r := s.mustRun()
	if c := objects.Counts(); c.Put != 0 || r.Sent != 3 || r.SentBytes < int64(len(largeText)) {
		t.Errorf("would send %d of %d bytes; store %+v", r.Sent, r.SentBytes, c)
	}
}

// Objects come before the snapshot: when one can't be sent, what was published stays.
func TestLazyStoreFails(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"a.md": "text\n"})
	before := s.mustRun()
	s.put("openapi.json", spec(70_000))
	for _, op := range []string{"stat", "put"} {
		objects.Fault(func(_ context.Context, at, key string) error {
			if at != op {
				return nil
			}
			return &blob.Error{URI: objects.URI(key), Err: blob.ErrUnavailable}
		})
		if _, err := s.run(); !errors.Is(err, blob.ErrUnavailable) || !strings.Contains(err.Error(), `"openapi.json"`) || !strings.Contains(err.Error(), "memory:sha256/") {
			t.Errorf("%s fails: %v", op, err)
		}
		if p, err := s.location.Load(t.Context()); err != nil || p.Digest != before.Snapshot {
			t.Errorf("%s fails: published is %v, %v", op, p, err)
		}
	}
	objects.Fault(nil)
	s.mustRun()
}

// A file that changes between reading and sending fails, and leaves no object under the wrong digest.
func TestLazyFileChanges(t *testing.T) {
	for name, changed := range map[string]string{"other": strings.Replace(spec(70_000), "y", "z", 1), "short": spec(69_000), "long": spec(71_000)} {
		s, objects := newLazySite(t, map[string]string{"openapi.json": spec(70_000)})
		objects.Fault(func(_ context.Context, op, _ string) error {
			if op == "stat" {
				return os.WriteFile(filepath.Join(s.dir, "openapi.json"), []byte(changed), 0o666)
			}
			return nil
		})
		var failures ingest.Failures
		if _, err := s.run(); !errors.As(err, &failures) || len(failures) != 1 || failures[0].Path != "openapi.json" {
			t.Errorf("%s: got %v", name, err)
		}
		objects.Fault(nil)
		if _, err := objects.Stat(t.Context(), blob.Key(sha256.Sum256([]byte(spec(70_000)))), blob.Pin{}); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: an object is left: %v", name, err)
		}
	}
}

// pointTo makes a path of the site an object that was there before.
func (s *site) pointTo(objects *blobtest.Memory, path, key, content string) {
	objects.Set(key, []byte(content))
	s.options.Source.Pointers = append(s.options.Source.Pointers,
		source.Pointer{Path: path, URI: "s3://specs/" + key, At: access.Place{Path: "chromafs.yaml", Line: 7}})
	rule := access.Rule{Glob: path, Access: access.Everyone()}
	s.options.Source.Rules = append(s.options.Source.Rules, rule)
	s.options.Origin = func(_ context.Context, uri string) (blob.Store, string, error) {
		return objects, strings.TrimPrefix(uri, "s3://specs/"), nil
	}
}

func TestPointers(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"a.md": "text\n"})
	origin := blobtest.NewMemory()
	s.pointTo(origin, "api/full.json", "full.json", spec(5000))
	s.pointTo(origin, "api/huge.bin", "huge.bin", largeText)
	r := s.mustRun()
	if r.Pages != 3 || len(r.Lazy) != 2 || r.Lazy[0].URI != "s3://specs/full.json" || r.Sent != 1 { // the block list
		t.Errorf("%d pages, sent %d, lazy %+v", r.Pages, r.Sent, r.Lazy)
	}
	for path, want := range map[string]string{"api/full.json": spec(5000), "api/huge.bin": largeText} {
		if got := s.readLazy(objects, path); got != want {
			t.Errorf("%s: %d other bytes", path, len(got))
		}
	}
	origin.Counts()
	if r := s.mustRun(); r.Changed || r.Sent != 0 {
		t.Errorf("unchanged: changed %v, sent %d", r.Changed, r.Sent)
	}
	if c := origin.Counts(); c.Open != 0 || c.Stat != 2 {
		t.Errorf("unchanged objects are read again: %+v", c)
	}
	origin.Set("huge.bin", append([]byte(largeText), 'x'))
	if r := s.mustRun(); !r.Changed || r.Edited != 1 {
		t.Errorf("a changed object: changed %v, %d edited", r.Changed, r.Edited)
	}
	if got := s.readLazy(objects, "api/huge.bin"); got != largeText+"x" {
		t.Errorf("huge.bin: %d other bytes", len(got))
	}
}

// The changed object of a pointer is an error to readers, not other bytes.
func TestPointerChangesUnderReaders(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"a.md": "text\n"})
	origin := blobtest.NewMemory()
	s.pointTo(origin, "full.json", "full.json", spec(5000))
	s.mustRun()
	origin.Set("full.json", bytes.ToUpper([]byte(spec(5000))))
	p, err := s.location.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reader := blob.NewFiles(blob.FilesOptions{Store: objects, Open: s.options.Origin})
	defer reader.Close()
	if _, err := vfs.New(p.Tree, s.store, access.Viewer{}, vfs.Options{Blobs: reader}).ReadFile("full.json"); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("got %v", err)
	}
}

func TestPointerFails(t *testing.T) {
	cases := map[string]struct {
		content string
		err     error
		says    string
	}{
		"gone":   {"x", &blob.Error{URI: "s3://specs/full.json", Err: blob.ErrNotFound}, "s3://specs/full.json: not found"},
		"denied": {"x", &blob.Error{URI: "s3://specs/full.json", Err: blob.ErrDenied}, "access denied"},
		"empty":  {"", nil, "empty"},
	}
	for name, c := range cases {
		s, _ := newLazySite(t, map[string]string{"a.md": "text\n"})
		origin := blobtest.NewMemory()
		s.pointTo(origin, "full.json", "full.json", c.content)
		origin.Fault(func(context.Context, string, string) error { return c.err })
		var failures ingest.Failures
		_, err := s.run()
		if !errors.As(err, &failures) || len(failures) != 1 || failures[0].Path != "chromafs.yaml" || failures[0].Line != 7 ||
			!strings.Contains(failures[0].Error(), c.says) || !strings.Contains(failures[0].Error(), `"full.json"`) {
			t.Errorf("%s: got %v, %v", name, err, failures)
		}
	}
}

// Rules decide on lazy files and pointers as on pages, and opening one is a widening.
func TestLazyAccess(t *testing.T) {
	s, _ := newLazySite(t, map[string]string{"a.md": "text\n", "internal/openapi.json": spec(70_000)})
	s.pointTo(blobtest.NewMemory(), "internal/full.json", "full.json", spec(5000))
	rule := access.Rule{Glob: "internal/**", Access: access.Access{Groups: []string{"staff"}}}
	s.options.Source.Rules = []access.Rule{rule}
	s.options.Source.Default = &access.Access{Public: true}
	s.mustRun()
	p, err := s.location.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"internal/full.json", "internal/openapi.json"} {
		if i, ok := p.Tree.Find(path); !ok || !slices.Equal(p.Tree.At(i).Access.Groups, []string{"staff"}) {
			t.Errorf("%s is for %v", path, p.Tree.At(i).Access)
		}
	}
	s.options.Source.Rules[0].Access = access.Everyone()
	if r, err := s.run(); !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 2 {
		t.Errorf("without the rule: %v", err)
	}
}

// A chunked file that becomes lazy, and the other way round, is the same file to readers.
func TestLazyComesAndGoes(t *testing.T) {
	s, objects := newLazySite(t, map[string]string{"openapi.json": spec(10_000), "a.md": "text\n"})
	for _, limit := range []int64{1 << 20, 1000, 1 << 20} {
		s.options.Source.Lazy.SpecBytes = limit
		r := s.mustRun()
		if (len(r.Lazy) == 1) != (limit == 1000) {
			t.Errorf("limit %d: lazy %v", limit, r.Lazy)
		}
		if got := s.readLazy(objects, "openapi.json"); got != spec(10_000) {
			t.Errorf("limit %d: other bytes", limit)
		}
		s.wantNoOrphan()
	}
}
