package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/cache"
)

func noise(size int) []byte { return blobtest.Bytes(size, uint64(size)) }

// add keeps a file in the store, as ingest does.
func add(t testing.TB, s *blobtest.Memory, data []byte) blob.Pointer {
	t.Helper()
	p, list, err := blob.Describe(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	s.Add(data)
	if list != nil {
		s.Add(list)
	}
	return p
}

// open makes Files over a store, without Close.
func open(t testing.TB, s blob.Store, dir string, memory int64) *blob.Files {
	t.Helper()
	o := blob.FilesOptions{Store: s, MemoryBytes: memory}
	if dir != "" {
		disk, err := cache.OpenDisk(dir, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		o.Disk = disk
	}
	return blob.NewFiles(o)
}

// readFile reads a file to its end as a reader does who knows that.
func readFile(t testing.TB, f *blob.Files, p blob.Pointer) (body []byte, err error) {
	t.Helper()
	for {
		part, err := f.Read(t.Context(), p, int64(len(body)), p.Size-int64(len(body)))
		switch {
		case err == io.EOF:
			return body, nil
		case err != nil:
			return body, err
		case len(part) == 0:
			t.Fatal("no bytes and no error")
		}
		body = append(body, part...)
	}
}

func expectFile(t testing.TB, f *blob.Files, p blob.Pointer, want []byte) {
	t.Helper()
	if got, err := readFile(t, f, p); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, error %v, want %d or they differ", len(got), err, len(want))
	}
}

var (
	small = noise(400_000)
	large = noise(9<<20 + 77) // 10 blocks
)

// Each file costs one request of its own size, and a large one its list and a request for 8 MiB.
func TestFilesRequests(t *testing.T) {
	for _, c := range []struct {
		size, requests int
	}{{0, 0}, {1, 1}, {blob.WholeBytes, 1}, {blob.WholeBytes + 1, 3}, {20<<20 + 77, 4}} {
		for _, dir := range []string{"", t.TempDir()} {
			s := blobtest.NewMemory()
			p := add(t, s, noise(c.size))
			f := open(t, s, dir, 0)
			for range 2 {
				expectFile(t, f, p, noise(c.size))
			}
			list := int64(0)
			if c.size > blob.WholeBytes {
				list = int64(32 * ((c.size + blob.BlockBytes - 1) / blob.BlockBytes))
			}
			if got := s.Counts(); got.Open != c.requests || got.Stat != 0 || got.Read != int64(c.size)+list {
				t.Errorf("%d bytes: %+v", c.size, got)
			}
			if err := f.Close(); err != nil || dir == "" {
				continue
			}
			f = open(t, s, dir, -1)
			expectFile(t, f, p, noise(c.size))
			if got := s.Counts(); got != (blobtest.Counts{}) {
				t.Errorf("%d bytes from disk: %+v", c.size, got)
			}
			f.Close()
		}
	}
}

// A part of a large file costs the blocks that it is in, those that are missing.
func TestFilesPart(t *testing.T) {
	const mib = blob.BlockBytes
	s := blobtest.NewMemory()
	data := noise(20<<20 + 77)
	p := add(t, s, data)
	f := open(t, s, "", 0)
	defer f.Close()
	blocks := 0
	for i, c := range []struct {
		offset, want int64
		blocks       int
	}{
		{5*mib + 10, 100, 1}, {5*mib + 20, 100, 0}, {5 * mib, mib, 0}, {3*mib + 1, 10 * mib, 2}, {7*mib - 1, 2, 2}, {8*mib - 1, 2, 0},
		{10 * mib, 0, 1}, {11 * mib, -5, 1}, {12 * mib, math.MaxInt64, 8}, {20*mib + 76, math.MaxInt64, 1},
	} {
		got, err := f.Read(t.Context(), p, c.offset, c.want)
		if err != nil || !bytes.HasPrefix(data[c.offset:], got) || len(got) == 0 {
			t.Fatalf("read %d: %d bytes, error %v", i, len(got), err)
		}
		// The blocks after the first may come later than the answer.
		if c.blocks > 0 {
			last := min(c.offset/mib+int64(c.blocks)-1, 20)
			if _, err := f.Read(t.Context(), p, last*mib, 1); err != nil {
				t.Fatal(err)
			}
		}
		n, list := s.Counts(), 0
		if i == 0 {
			list = 1
		}
		if blocks += c.blocks; c.blocks > 0 && n.Open != 1+list || c.blocks == 0 && n.Open != 0 {
			t.Errorf("read %d: %+v", i, n)
		}
		want := int64(c.blocks)*mib + int64(list*21*32)
		if c.offset/mib == 20 {
			want = 77
		}
		if n.Read != want {
			t.Errorf("read %d: %d bytes, want %d", i, n.Read, want)
		}
	}
	if blocks == 0 {
		t.Error("no case fetched anything")
	}
}

func TestFilesEnd(t *testing.T) {
	s := blobtest.NewMemory()
	f := open(t, s, "", 0)
	for _, data := range [][]byte{nil, []byte("text"), large} {
		p := add(t, s, data)
		for _, offset := range []int64{-1, p.Size, p.Size + 1, math.MaxInt64} {
			if got, err := f.Read(t.Context(), p, offset, 1); err != io.EOF || got != nil {
				t.Errorf("offset %d of %d: %d bytes, error %v", offset, p.Size, len(got), err)
			}
		}
	}
	if got := s.Counts(); got != (blobtest.Counts{}) {
		t.Errorf("%+v", got)
	}
}

// However little may be kept, what is read is the file, and a reader who takes what he gets has few bytes fetched twice.
func TestFilesKeepLittle(t *testing.T) {
	for _, memory := range []int64{-1, 1, 5 << 20, 10 << 20} {
		for _, dir := range []string{"", t.TempDir()} {
			s := blobtest.NewMemory()
			f := open(t, s, dir, memory)
			for _, data := range [][]byte{small, large} {
				expectFile(t, f, add(t, s, data), data)
			}
			f.Close()
			if got, want := s.Counts(), int64(len(small)+len(large)); got.Read > want+want/10 {
				t.Errorf("memory of %d, folder %q: %+v", memory, dir, got)
			}
		}
	}
}

// What is on disk and damaged is fetched again and mended, and whoever reads does not learn of it.
func TestFilesDamagedDisk(t *testing.T) {
	s := blobtest.NewMemory()
	pointers := map[*[]byte]blob.Pointer{&small: add(t, s, small), &large: add(t, s, large)}
	for name, damage := range map[string]func([]byte) []byte{
		"empty":  func([]byte) []byte { return nil },
		"cut":    func(b []byte) []byte { return b[:len(b)-1] },
		"longer": func(b []byte) []byte { return append(b, 0) },
		"other":  func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	} {
		dir := t.TempDir()
		for round := range 3 {
			s.Counts()
			f := open(t, s, dir, 0)
			for data, p := range pointers {
				expectFile(t, f, p, *data)
			}
			f.Close()
			if n := s.Counts(); (n.Open == 0) != (round == 2) {
				t.Errorf("%s, round %d: %+v", name, round, n)
			}
			if round > 0 {
				continue
			}
			files, err := filepath.Glob(filepath.Join(dir, "*.kept"))
			if err != nil || len(files) != 12 {
				t.Fatalf("%d files, error %v", len(files), err)
			}
			for _, file := range files {
				body, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, damage(body), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A disk that takes nothing is no one's error.
func TestFilesWithoutDisk(t *testing.T) {
	s := blobtest.NewMemory()
	p, q := add(t, s, small), add(t, s, large)
	dir := filepath.Join(t.TempDir(), "cache")
	f := open(t, s, dir, -1)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	expectFile(t, f, p, small)
	expectFile(t, f, q, large)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// flip changes one byte of what is read at a place of an object.
func flip(at int64) func(string, int64, io.Reader) io.Reader {
	return func(_ string, offset int64, r io.Reader) io.Reader {
		body, err := io.ReadAll(r)
		if err == nil && at >= offset && at-offset < int64(len(body)) {
			body = slices.Clone(body)
			body[at-offset] ^= 1
		}
		return bytes.NewReader(body)
	}
}

// What is wrong with an object is one of three errors that name it, keeps nothing wrong, and is over with the damage.
func TestFilesWrongObjects(t *testing.T) {
	for _, data := range [][]byte{small, large} {
		s := blobtest.NewMemory()
		p := add(t, s, data)
		key := blob.Key(p.SHA256)
		objects := map[string][]byte{key: data}
		if p.Size > blob.WholeBytes {
			_, list, _ := blob.Describe(bytes.NewReader(data))
			objects[blob.Key(p.Blocks)] = list
		}
		for key, body := range objects {
			for _, c := range []struct {
				name string
				body []byte
				want error
			}{
				{"missing", nil, blob.ErrNotFound},
				{"empty", []byte{}, blob.ErrShort},
				{"short", body[:len(body)-1], blob.ErrShort},
				{"long", append(slices.Clone(body), 'x'), blob.ErrTrailing},
				{"other bytes", append(slices.Clone(body[:len(body)-1]), body[len(body)-1]^1), blob.ErrDigest},
			} {
				dir := t.TempDir()
				s.Set(key, c.body)
				f := open(t, s, dir, 0)
				got, err := readFile(t, f, p)
				named := (*blob.Error)(nil)
				if !errors.Is(err, c.want) || !errors.As(err, &named) || named.URI != s.URI(key) || !bytes.HasPrefix(data, got) {
					t.Errorf("%s: %d bytes, error %v, want %v", c.name, len(got), err, c.want)
				}
				if err := f.Check(t.Context(), p); !errors.Is(err, c.want) {
					t.Errorf("check of %s: error %v", c.name, err)
				}
				s.Set(key, body)
				expectFile(t, f, p, data)
				f.Close()
				for name, kept := range keptFiles(t, dir) {
					if sum := sha256.Sum256(kept); hex.EncodeToString(sum[:]) != name {
						t.Errorf("%s: %s is kept wrong", c.name, name)
					}
				}
			}
		}
	}
}

func keptFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(dir, "*.kept"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files are kept, error %v", len(names), err)
	}
	for _, n := range names {
		body, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(n), ".kept")] = body
	}
	return found
}

// A damaged block spoils itself alone.
func TestFilesWrongBlock(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, large)
	s.Body(flip(3*blob.BlockBytes + 5))
	f := open(t, s, "", 0)
	defer f.Close()
	bad := 0
	for k := range int64(10) {
		got, err := f.Read(t.Context(), p, k*blob.BlockBytes, p.Size)
		switch {
		case k == 3:
			if bad++; !errors.Is(err, blob.ErrDigest) || !strings.Contains(err.Error(), "block 3 ") {
				t.Errorf("block 3: %d bytes, error %v", len(got), err)
			}
		case err != nil || !bytes.HasPrefix(large[k*blob.BlockBytes:], got) || len(got) == 0:
			t.Errorf("block %d: %d bytes, error %v", k, len(got), err)
		}
	}
	if bad != 1 {
		t.Error("no bad block was read")
	}
}

// A pointer that contradicts itself is an error, also where the bytes of its digest are kept.
func TestFilesLyingPointers(t *testing.T) {
	s := blobtest.NewMemory()
	p, q := add(t, s, small), add(t, s, large)
	lies := map[string]blob.Pointer{}
	for name, size := range map[string]int64{"less": 10, "more": p.Size + 1, "large": 100 << 20, "huge": math.MaxInt64} {
		lie := p
		lie.Size = size
		lies["small, "+name] = lie
		lie.Blocks = p.SHA256
		lies["small by blocks, "+name] = lie
		lie = q
		lie.Size = size
		lies["large, "+name] = lie
	}
	swapped := q
	swapped.SHA256, swapped.Blocks = q.Blocks, q.SHA256
	lies["swapped"] = swapped
	for _, warm := range []bool{false, true} {
		f := open(t, s, "", 0)
		if warm {
			expectFile(t, f, p, small)
			expectFile(t, f, q, large)
		}
		for name, lie := range lies {
			for _, offset := range []int64{lie.Size - 1, lie.Size / 2} {
				if got, err := f.Read(t.Context(), lie, offset, 10); err == nil || err == io.EOF {
					t.Errorf("%s: offset %d gives %d bytes, error %v", name, offset, len(got), err)
				}
			}
		}
		f.Close()
	}
}

// Pointers with a URI go through Open, with their pins; block lists stay in the store.
func TestFilesPins(t *testing.T) {
	own, origin := blobtest.NewMemory(), blobtest.NewMemory()
	for _, data := range [][]byte{small, large} {
		p := add(t, own, data)
		own.Set(blob.Key(p.SHA256), nil)
		origin.Set("specs/a.json", data)
		info, err := origin.Stat(t.Context(), "specs/a.json", blob.Pin{})
		if err != nil {
			t.Fatal(err)
		}
		p.Pin = blob.Pin{URI: "s3://bucket/specs/a.json", ETag: info.ETag}
		o := blob.FilesOptions{Store: own, Open: func(_ context.Context, uri string) (blob.Store, string, error) {
			key, ok := strings.CutPrefix(uri, "s3://bucket/")
			if !ok {
				return nil, "", fmt.Errorf("what is %s", uri)
			}
			return origin, key, nil
		}}
		f := blob.NewFiles(o)
		if err := f.Check(t.Context(), p); err != nil {
			t.Error(err)
		}
		expectFile(t, f, p, data)

		changed := p
		changed.ETag = `"other"`
		f = blob.NewFiles(o)
		_, err = readFile(t, f, changed)
		for _, err := range []error{err, f.Check(t.Context(), changed)} {
			if !errors.Is(err, blob.ErrChanged) || !strings.Contains(err.Error(), origin.URI("specs/a.json")) {
				t.Errorf("a changed object: %v", err)
			}
		}
		elsewhere := p
		elsewhere.URI = "s3://elsewhere/a"
		if _, err := readFile(t, f, elsewhere); err == nil || !strings.Contains(err.Error(), "what is s3://elsewhere/a") {
			t.Errorf("elsewhere: %v", err)
		}
	}
}

func TestFilesNoStore(t *testing.T) {
	s := blobtest.NewMemory()
	pinned := blob.Pin{URI: "s3://bucket/key"}
	find := func(context.Context, string) (blob.Store, string, error) { return s, "key", nil }
	p, q := add(t, s, small), add(t, s, large)
	s.Set("key", large)
	for name, c := range map[string]struct {
		o blob.FilesOptions
		p blob.Pointer
	}{
		"nothing":                {blob.FilesOptions{}, p},
		"no store, but for URIs": {blob.FilesOptions{Open: find}, p},
		"no store for URIs":      {blob.FilesOptions{Store: s}, blob.Pointer{Size: p.Size, SHA256: p.SHA256, Pin: pinned}},
		"none for block lists":   {blob.FilesOptions{Open: find}, blob.Pointer{Size: q.Size, SHA256: q.SHA256, Blocks: q.Blocks, Pin: pinned}},
	} {
		f := blob.NewFiles(c.o)
		_, err := readFile(t, f, c.p)
		for _, err := range []error{err, f.Check(t.Context(), c.p)} {
			if !errors.Is(err, blob.ErrNoStore) {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// Check asks and reads nothing.
func TestFilesCheck(t *testing.T) {
	s := blobtest.NewMemory()
	p, q := add(t, s, small), add(t, s, large)
	f := open(t, s, "", 0)
	for _, p := range []blob.Pointer{p, q} {
		if err := f.Check(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	if got := s.Counts(); got != (blobtest.Counts{Stat: 3}) {
		t.Errorf("%+v", got)
	}
}

func TestFilesClosed(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, small)
	f := open(t, s, "", 0)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := f.Read(t.Context(), p, 0, 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("error %v", err)
	}
}
