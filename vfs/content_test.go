package vfs_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// odd answers with more than was asked for.
type odd struct{ *records }

func (o odd) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	found, err := o.records.Documents(ctx, ids)
	return maps.Collect(func(yield func(string, string) bool) {
		for id, doc := range found {
			yield(id, doc)
		}
		yield("zz#0", "not yours")
		yield("zy#0", "not yours")
	}), err
}

func TestDamagedContent(t *testing.T) {
	pages := public(
		page{path: "many.md", content: "one\ntwo\nthree\n"},
		page{path: "other.md", content: "six\ntwo\nthree\n"},
		page{path: "single.md", content: "one"},
	)
	tests := []struct {
		name   string
		page   string
		damage func(docs map[string]string, many, other, single func(int) string)
		err    error
		chunk  int
	}{
		{"first missing", "many.md", func(d map[string]string, many, _, _ func(int) string) { delete(d, many(0)) }, vfs.ErrMissing, 0},
		{"last missing", "many.md", func(d map[string]string, many, _, _ func(int) string) { delete(d, many(2)) }, vfs.ErrMissing, 2},
		{"altered", "many.md", func(d map[string]string, many, _, _ func(int) string) { d[many(1)] = "TWO" }, vfs.ErrAltered, -1},
		{"shortened", "many.md", func(d map[string]string, many, _, _ func(int) string) { d[many(1)] = "" }, vfs.ErrAltered, -1},
		{"lengthened", "many.md", func(d map[string]string, many, _, _ func(int) string) { d[many(1)] = "two and more" }, vfs.ErrAltered, -1},
		{"exchanged", "many.md", func(d map[string]string, many, _, _ func(int) string) {
			d[many(0)], d[many(1)] = d[many(1)], d[many(0)]
		}, vfs.ErrAltered, -1},
		{"swapped between pages", "other.md", func(d map[string]string, many, other, _ func(int) string) {
			d[many(0)], d[other(0)] = d[other(0)], d[many(0)]
		}, vfs.ErrAltered, -1},
		{"only chunk altered", "single.md", func(d map[string]string, _, _, single func(int) string) { d[single(0)] = "two" }, vfs.ErrAltered, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, store := build(t, pages)
			id := func(i int) func(int) string {
				return func(k int) string { return snapshot.RecordID(tree.Rev(i), k) }
			}
			tt.damage(store.docs, id(0), id(1), id(2))
			refused(t, vfs.New(tree, store, anonymous, vfs.Options{}), tt.page, tt.chunk, tt.err)
		})
	}
	t.Run("extra", func(t *testing.T) {
		tree, store := build(t, pages)
		refused(t, vfs.New(tree, odd{store}, anonymous, vfs.Options{}), "single.md", -1, vfs.ErrExtra)
	})
}

// refused holds every way to read a damaged page to a typed error and no bytes.
func refused(t *testing.T, fsys *vfs.FS, name string, chunk int, want error) {
	t.Helper()
	check := func(n int, err error) {
		t.Helper()
		var content *vfs.ContentError
		if n != 0 || !errors.Is(err, want) || !errors.As(err, &content) {
			t.Fatalf("%d bytes, %v; want %v", n, err, want)
		}
		if content.Page != name || content.Chunk != chunk || !strings.Contains(err.Error(), name) {
			t.Fatalf("page %q chunk %d in %q, want chunk %d", content.Page, content.Chunk, err, chunk)
		}
	}
	body, err := fsys.ReadFile(name)
	check(len(body), err)
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := f.Read(make([]byte, 100))
	check(n, err)
	n, err = f.(io.ReaderAt).ReadAt(make([]byte, 1), 0)
	check(n, err)
	written, err := f.(io.WriterTo).WriteTo(io.Discard)
	check(int(written), err)
}

func TestStoreErrorsAreKept(t *testing.T) {
	tree, store := build(t, public(page{path: "a.md", content: "a\n"}))
	down := errors.New("store is down")
	store.before = func(context.Context) error { return down }
	fsys := vfs.New(tree, store, anonymous, vfs.Options{})
	if _, err := fsys.ReadFile("a.md"); !errors.Is(err, down) {
		t.Fatal(err)
	}
	store.before = nil
	if body, err := fsys.ReadFile("a.md"); string(body) != "a\n" {
		t.Fatalf("an error was kept: %q, %v", body, err)
	}
}

func TestContentIsFetchedOnceAndLate(t *testing.T) {
	tree, store := build(t, site())
	shared := vfs.NewShared(tree, store, vfs.Options{})
	fsys := shared.For(anonymous)
	f, err := fsys.Open("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stat(); err != nil {
		t.Fatal(err)
	}
	walk(t, fsys)
	if store.Calls() != 0 {
		t.Fatalf("%d fetches before the first read", store.Calls())
	}
	if err := iotest.TestReader(f.(io.Reader), []byte(site()[0].content)); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.For(staff).ReadFile("a/up.md"); err != nil || store.Calls() != 1 {
		t.Fatalf("%d fetches, %v", store.Calls(), err)
	}
}

func TestLargePageComesInBatches(t *testing.T) {
	content := strings.Repeat("line\n", 1000)
	tree, store := build(t, public(page{path: "large.md", content: content}))
	body, err := vfs.New(tree, store, anonymous, vfs.Options{}).ReadFile("large.md")
	if err != nil || string(body) != content {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if store.calls < 2 || store.largest > 300 {
		t.Fatalf("%d calls, the largest for %d ids", store.calls, store.largest)
	}
}

func TestCacheIsBounded(t *testing.T) {
	small, large := strings.Repeat("s", 100), strings.Repeat("l", 5000)
	pages := public(page{path: "1", content: small}, page{path: "2", content: small}, page{path: "large", content: large})
	tests := []struct {
		name  string
		bytes int64
		reads []string
		calls int
	}{
		{"all kept", 1 << 20, []string{"1", "2", "large", "1", "2", "large"}, 3},
		{"large one not kept, small ones stay", 2000, []string{"1", "2", "large", "large", "1", "2"}, 4},
		{"least recently used goes", 400, []string{"1", "2", "1"}, 3},
		{"nothing kept", -1, []string{"1", "1", "1"}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree, store := build(t, pages)
			fsys := vfs.New(tree, store, anonymous, vfs.Options{CacheBytes: tt.bytes})
			for _, name := range tt.reads {
				if _, err := fsys.ReadFile(name); err != nil {
					t.Fatal(err)
				}
			}
			if store.calls != tt.calls {
				t.Fatalf("%d fetches, want %d", store.calls, tt.calls)
			}
		})
	}
}

func TestConcurrentReadersFetchOnce(t *testing.T) {
	tree, store := build(t, site())
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		store.before = func(context.Context) error { <-release; return nil }
		fsys := vfs.New(tree, store, anonymous, vfs.Options{CacheBytes: -1})
		var readers sync.WaitGroup
		for range 20 {
			readers.Go(func() {
				if body, err := fsys.ReadFile("a-b.md"); string(body) != "beside a folder\n" {
					t.Errorf("%q, %v", body, err)
				}
			})
		}
		synctest.Wait()
		close(release)
		readers.Wait()
		if store.Calls() != 1 {
			t.Errorf("%d fetches", store.Calls())
		}
	})
}

// TestReaderLeaves cancels the reader whose fetch others wait for, and one that waits.
func TestReaderLeaves(t *testing.T) {
	tree, store := build(t, site())
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Bool
		stuck.Store(true)
		store.before = func(ctx context.Context) error {
			if stuck.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		fsys := vfs.New(tree, store, anonymous, vfs.Options{})
		read := func(ctx context.Context) <-chan error {
			done := make(chan error, 1)
			go func() {
				_, err := fsys.WithContext(ctx).ReadFile("a-b.md")
				done <- err
			}()
			synctest.Wait()
			return done
		}
		leading, leave := context.WithCancel(t.Context())
		waiting, giveUp := context.WithCancel(t.Context())
		leader, waiter, stays := read(leading), read(waiting), read(t.Context())
		giveUp()
		if err := <-waiter; !errors.Is(err, context.Canceled) {
			t.Errorf("who gave up: %v", err)
		}
		stuck.Store(false)
		leave()
		if err := <-leader; !errors.Is(err, context.Canceled) {
			t.Errorf("who left: %v", err)
		}
		if err := <-stays; err != nil {
			t.Errorf("who stayed: %v", err)
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	tree, store := build(t, site())
	shared := vfs.NewShared(tree, store, vfs.Options{CacheBytes: 700})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			fsys := shared.For(staff)
			if i%2 == 0 {
				fsys = shared.For(anonymous)
			}
			for range 20 {
				for _, name := range walk(t, fsys) {
					f, err := fsys.Open(strings.TrimSuffix(name, "/"))
					if err != nil {
						t.Error(err)
						return
					}
					if _, err := io.Copy(io.Discard, f); err != nil && !strings.HasSuffix(name, "/") && name != "en" && name != "to-secret" {
						t.Error(err)
					}
					f.Close()
				}
			}
		})
	}
	group.Wait()
}

func TestHandles(t *testing.T) {
	fsys := open(t, anonymous, site()...)
	f, err := fsys.Open("README.md")
	if err != nil {
		t.Fatal(err)
	}
	seeker := f.(io.Seeker)
	if n, err := seeker.Seek(-3, io.SeekEnd); n != 33 || err != nil {
		t.Errorf("seek: %d, %v", n, err)
	}
	if rest, err := io.ReadAll(f); string(rest) != "end" || err != nil {
		t.Errorf("rest %q, %v", rest, err)
	}
	for _, bad := range []struct{ offset, whence int }{{-1, io.SeekStart}, {-37, io.SeekEnd}, {0, 9}} {
		if _, err := seeker.Seek(int64(bad.offset), bad.whence); err == nil {
			t.Errorf("seek %v was taken", bad)
		}
	}
	if _, err := f.(io.ReaderAt).ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("read at -1 was taken")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	_, statErr := f.Stat()
	_, readErr := f.Read(nil)
	_, seekErr := seeker.Seek(0, io.SeekStart)
	for _, err := range []error{statErr, readErr, seekErr, f.Close()} {
		if !errors.Is(err, fs.ErrClosed) {
			t.Errorf("after close: %v", err)
		}
	}
	d, err := fsys.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	if _, err := d.(fs.ReadDirFile).ReadDir(-1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed folder: %v", err)
	}
}
