package vfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/iotest"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// lazyFile is a file of a test tree that is an object.
type lazyFile struct {
	path    string
	content []byte
	access  access.Access
}

// noise is content that no two places of have the same bytes.
func noise(n int) []byte {
	content := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(content) // never fails
	return content
}

// lazySite is a tree of lazy files and one page, with their objects and nothing kept.
func lazySite(t testing.TB, files ...lazyFile) (*vfs.Shared, *blobtest.Memory) {
	t.Helper()
	objects := blobtest.NewMemory()
	tree, store := build(t, []page{{path: "page.md", content: "a page\n", access: access.Everyone()}})
	entries := []snapshot.Entry{tree.At(0)}
	for _, f := range files {
		p, list, err := blob.Describe(bytes.NewReader(f.content))
		if err != nil {
			t.Fatal(err)
		}
		objects.Add(f.content)
		if list != nil {
			objects.Add(list)
		}
		entries = append(entries, snapshot.Entry{Path: f.path, Access: f.access, Size: p.Size, SHA256: p.SHA256, MTime: 1_600_000_000,
			Lazy: &snapshot.Lazy{Blocks: p.Blocks}})
	}
	slices.SortFunc(entries, func(a, b snapshot.Entry) int { return strings.Compare(a.Path, b.Path) })
	tree, err := snapshot.New(tree.Header(), entries)
	if err != nil {
		t.Fatal(err)
	}
	reader := blob.NewFiles(blob.FilesOptions{Store: objects})
	t.Cleanup(func() { _ = reader.Close() })
	return vfs.NewShared(tree, store, vfs.Options{Published: published, Blobs: reader}), objects
}

var (
	small = []byte(strings.Repeat("{\"openapi\": \"3.1.0\"}\n", 10_000))
	large = noise(blob.WholeBytes + 3*blob.BlockBytes + 77)
)

// Names, sizes and times of lazy files cost no request.
func TestLazyListingAsksNothing(t *testing.T) {
	shared, objects := lazySite(t, lazyFile{"api/big.bin", large, access.Everyone()}, lazyFile{"openapi.json", small, access.Everyone()})
	fsys := shared.For(anonymous)
	sizes := map[string]int64{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		stat, err := fsys.Stat(name)
		if err != nil || stat.Size() != info.Size() || !stat.ModTime().Equal(info.ModTime()) {
			t.Errorf("stat of %s: %v, %v", name, stat, err)
		}
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		if _, err := f.Stat(); err != nil {
			return err
		}
		sizes[name] = info.Size()
		return f.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	if sizes["api/big.bin"] != int64(len(large)) || sizes["openapi.json"] != int64(len(small)) {
		t.Errorf("sizes are %v", sizes)
	}
	if c := objects.Counts(); c != (blobtest.Counts{}) {
		t.Errorf("a listing asks the store: %+v", c)
	}
	if info, err := fsys.Stat("openapi.json"); err != nil || info.ModTime().Unix() != 1_600_000_000 {
		t.Errorf("mtime of openapi.json: %v, %v", info, err)
	}
}

func TestLazyReads(t *testing.T) {
	for name, content := range map[string][]byte{"small": small, "large": large, "one byte": {0}, "whole": large[:blob.WholeBytes], "whole and one": large[:blob.WholeBytes+1]} {
		t.Run(name, func(t *testing.T) {
			shared, _ := lazySite(t, lazyFile{"f", content, access.Everyone()})
			fsys := shared.For(anonymous)
			got, err := fsys.ReadFile("f")
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("ReadFile: %d bytes, %v", len(got), err)
			}
			f, err := fsys.Open("f")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if len(content) < blob.BlockBytes {
				if err := iotest.TestReader(f, content); err != nil {
					t.Error(err)
				}
			}
			var out bytes.Buffer
			if _, err := f.(io.Seeker).Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			if n, err := f.(io.WriterTo).WriteTo(&out); err != nil || n != int64(len(content)) || !bytes.Equal(out.Bytes(), content) {
				t.Errorf("WriteTo: %d bytes, %v", n, err)
			}
			section := io.NewSectionReader(f.(io.ReaderAt), 0, int64(len(content)))
			if got, err := io.ReadAll(section); err != nil || !bytes.Equal(got, content) {
				t.Errorf("ReadAt: %d bytes, %v", len(got), err)
			}
		})
	}
	shared, _ := lazySite(t, lazyFile{"api/f.json", small, access.Everyone()})
	if err := fstest.TestFS(shared.For(anonymous), "api/f.json", "page.md"); err != nil {
		t.Error(err)
	}
}

// A read in a large file fetches the blocks that it is in, one in a small file all of it, once.
func TestLazyRangeReads(t *testing.T) {
	shared, objects := lazySite(t, lazyFile{"f", large, access.Everyone()})
	f, err := shared.For(anonymous).Open("f")
	if err != nil {
		t.Fatal(err)
	}
	at := int64(5*blob.BlockBytes - 10)
	p := make([]byte, 20)
	if n, err := f.(io.ReaderAt).ReadAt(p, at); n != 20 || err != nil || !bytes.Equal(p, large[at:at+20]) {
		t.Fatalf("%d bytes, %v", n, err)
	}
	list := int64(32 * ((len(large) + blob.BlockBytes - 1) / blob.BlockBytes))
	if c := objects.Counts(); c.Read > list+2*blob.BlockBytes {
		t.Errorf("20 bytes over a border read %d from the store", c.Read)
	}
	if _, err := f.(io.ReaderAt).ReadAt(p, at); err != nil {
		t.Fatal(err)
	}
	if c := objects.Counts(); c != (blobtest.Counts{}) {
		t.Errorf("the second time asks: %+v", c)
	}
}

func TestLazyReadersFetchOnce(t *testing.T) {
	for name, content := range map[string][]byte{"small": small, "large": large} {
		shared, objects := lazySite(t, lazyFile{"f", content, access.Everyone()})
		var group sync.WaitGroup
		for range 32 {
			group.Go(func() {
				if got, err := shared.For(anonymous).ReadFile("f"); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
			})
		}
		group.Wait()
		if c := objects.Counts(); c.Read > int64(len(content))+1024 {
			t.Errorf("%s: %d bytes fetched of %d", name, c.Read, len(content))
		}
	}
}

// Who may not see a lazy file causes no request, and learns nothing.
func TestLazyAccessBeforeFetch(t *testing.T) {
	shared, objects := lazySite(t, lazyFile{"internal/secret.json", small, groups("staff")}, lazyFile{"large.bin", large, access.SignedIn()})
	for _, name := range []string{"internal", "internal/secret.json", "large.bin", "large.bin/x"} {
		hidden, absent := shared.For(anonymous), path.Dir(name)+"/absent"
		_, err := hidden.ReadFile(name)
		_, openErr := hidden.Open(name)
		_, statErr := hidden.Stat(name)
		for _, err := range []error{err, openErr, statErr} {
			if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EIO) {
				t.Errorf("%s: %v, unlike %s", name, err, absent)
			}
		}
	}
	if c := objects.Counts(); c != (blobtest.Counts{}) {
		t.Errorf("the store is asked: %+v", c)
	}
	if _, err := shared.For(staff).ReadFile("internal/secret.json"); err != nil {
		t.Errorf("staff: %v", err)
	}
}

// A file that can't be fetched is an I/O error that names path and object; the rest goes on.
func TestLazyFaults(t *testing.T) {
	fault := func(err error) func(context.Context, string, string) error {
		return func(_ context.Context, _, key string) error { return &blob.Error{URI: "memory:" + key, Err: err} }
	}
	for _, want := range []error{blob.ErrNotFound, blob.ErrDenied, blob.ErrUnavailable, blob.ErrRegion, blob.ErrClock, blob.ErrChanged} {
		shared, objects := lazySite(t, lazyFile{"api/f.json", small, access.Everyone()}, lazyFile{"api/large.bin", large, access.Everyone()})
		objects.Fault(fault(want))
		fsys := shared.For(anonymous)
		for _, name := range []string{"api/f.json", "api/large.bin"} {
			_, err := fsys.ReadFile(name)
			checkFault(t, name, err, want)
			f, openErr := fsys.Open(name)
			if openErr != nil {
				t.Fatal(openErr)
			}
			_, err = f.Read(make([]byte, 1))
			checkFault(t, name, err, want)
		}
		if _, err := fsys.ReadFile("page.md"); err != nil {
			t.Errorf("%v: the page can't be read: %v", want, err)
		}
		if list, err := fsys.ReadDir("api"); err != nil || len(list) != 2 {
			t.Errorf("%v: listing %v, %v", want, list, err)
		}
		objects.Fault(nil)
		if _, err := fsys.ReadFile("api/f.json"); err != nil {
			t.Errorf("%v is gone: %v", want, err)
		}
	}
}

func checkFault(t *testing.T, name string, err, want error) {
	t.Helper()
	var pathErr *fs.PathError
	if !errors.Is(err, want) || !errors.Is(err, syscall.EIO) || errors.Is(err, fs.ErrNotExist) || !errors.As(err, &pathErr) || pathErr.Path != name {
		t.Errorf("%s: %v; want %v as EIO", name, err, want)
	}
	if text := fmt.Sprint(err); !strings.Contains(text, name) || !strings.Contains(text, "memory:sha256/") {
		t.Errorf("%q names neither path nor object", text)
	}
}

// Bytes that are not the file's never reach a reader.
func TestLazyDamage(t *testing.T) {
	flipped, flippedLarge := bytes.Clone(small), bytes.Clone(large)
	flipped[100] ^= 1
	flippedLarge[len(large)-1] ^= 1
	cases := map[string]struct {
		content, damaged []byte
		want             error
	}{
		"short":       {small, small[:len(small)-1], blob.ErrShort},
		"trailing":    {small, append(bytes.Clone(small), 'x'), blob.ErrTrailing},
		"flipped":     {small, flipped, blob.ErrDigest},
		"large short": {large, large[:len(large)-1], blob.ErrShort},
		"large flip":  {large, flippedLarge, blob.ErrDigest},
	}
	for name, c := range cases {
		shared, objects := lazySite(t, lazyFile{"f", c.content, access.Everyone()})
		p, _, err := blob.Describe(bytes.NewReader(c.content))
		if err != nil {
			t.Fatal(err)
		}
		objects.Set(blob.Key(p.SHA256), c.damaged)
		fsys := shared.For(anonymous)
		if got, err := fsys.ReadFile("f"); !errors.Is(err, c.want) || !errors.Is(err, syscall.EIO) || got != nil {
			t.Errorf("%s: %d bytes, %v; want %v", name, len(got), err, c.want)
		}
		f, err := fsys.Open("f")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := io.Copy(&out, f); !errors.Is(err, c.want) || !bytes.HasPrefix(c.content, out.Bytes()) {
			t.Errorf("%s: io.Copy: %v; want %v", name, err, c.want)
		}
	}
}

func TestLazyWithoutBlobs(t *testing.T) {
	tree, err := snapshot.New(snapshot.Header{}, []snapshot.Entry{{Path: "f", Access: access.Everyone(), Size: 3, Lazy: &snapshot.Lazy{}}})
	if err != nil {
		t.Fatal(err)
	}
	fsys := vfs.New(tree, &records{}, anonymous, vfs.Options{})
	if _, err := fsys.ReadFile("f"); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "no blob store") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fsys.WithContext(ctx).ReadFile("f"); !errors.Is(err, context.Canceled) || errors.Is(err, syscall.EIO) {
		t.Errorf("after the reader left: %v", err)
	}
}
