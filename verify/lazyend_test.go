package verify_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/verify"
)

// TestIngestedLazyFiles verifies what ingest keeps, whole and then with each of its objects damaged.
func TestIngestedLazyFiles(t *testing.T) {
	docs := t.TempDir()
	for name, content := range map[string]string{
		"page.md": "# A page\n\nWith words.\n", "big.yaml": "openapi: 3.1.0\ninfo:\n" + largeText(), "pages/latin.md": "caf\xe9\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(docs, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(docs, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s := ingested(t, docs)
	s.options.Patterns = 20
	if r := s.verify(); !r.OK() || r.Lazy != 2 || r.Fetched != 2 || r.Files != 3 {
		t.Fatalf("%+v", r)
	}
	objects, err := filepath.Glob(filepath.Join(s.kept, "sha256", "*", "*"))
	s.must(err)
	if len(objects) != 3 {
		t.Fatalf("objects %q", objects)
	}
	for _, name := range objects {
		good, err := os.ReadFile(name)
		s.must(err)
		s.must(os.WriteFile(name, flip(len(good)/2)(bytes.Clone(good)), 0o666))
		s.options.NoFetch = false
		if r := s.verify(); len(r.Findings) != 1 || r.Findings[0].Kind != verify.KindObject || r.Fetched != 1 {
			t.Errorf("%s damaged: %+v", name, r.Findings)
		}
		s.options.NoFetch = true
		if r := s.verify(); !r.OK() || !r.NoFetch || r.Fetched != 0 || r.Lazy != 2 {
			t.Errorf("%s damaged, --no-fetch: %+v", name, r.Findings)
		}
		s.must(os.Remove(name))
		if r := s.verify(); len(r.Findings) != 1 || r.Findings[0].Kind != verify.KindObject {
			t.Errorf("%s gone, --no-fetch: %+v", name, r.Findings)
		}
		s.must(os.WriteFile(name, good, 0o666))
	}
}

func TestLazyCorpus(t *testing.T) {
	r := ingested(t, corpora.Dir(t, "openapi-specs")).verify()
	if !r.OK() || r.Lazy < 2 || r.Fetched != r.Lazy || r.LazyBytes < 6_000_000 {
		t.Fatalf("%d lazy files, %d bytes, %d fetched: %+v", r.Lazy, r.LazyBytes, r.Fetched, r.Findings)
	}
	t.Logf("%d lazy files, %d bytes", r.Lazy, r.LazyBytes)
}

// reading is an open file whose reads go elsewhere.
type reading struct {
	fs.File
	io.ReaderAt
	from io.Reader
}

func (r reading) Read(p []byte) (int, error) { return r.from.Read(p) }

// unseekable can't be read from the middle.
type unseekable struct{ fs.File }

// otherAt reads others than it should, from an offset on.
type otherAt struct {
	io.ReaderAt
	from int64
}

func (o otherAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := o.ReaderAt.ReadAt(p, at)
	if at+int64(n) > o.from {
		p[0] ^= 1
	}
	return n, err
}

// TestLazyReadersGetOtherBytes has readers that return wrong content without an error.
func TestLazyReadersGetOtherBytes(t *testing.T) {
	tests := []struct {
		name string
		bend func(f fs.File) fs.File
		want []want
	}{
		{"as it is", func(f fs.File) fs.File { return f }, nil},
		{"cut", func(f fs.File) fs.File { return reading{f, f.(io.ReaderAt), io.LimitReader(f, 5000)} }, []want{
			{verify.KindContent, largeFile, "readers get 5000 bytes that are not the file published"},
		}},
		{"more", func(f fs.File) fs.File {
			return reading{f, f.(io.ReaderAt), io.MultiReader(f, bytes.NewReader([]byte("more")))}
		}, []want{{verify.KindContent, largeFile, "are not the file published"}}},
		{"other bytes at the start", func(f fs.File) fs.File { return reading{f, otherAt{f.(io.ReaderAt), 0}, f} }, []want{
			{verify.KindContent, largeFile, "a read of 4096 bytes at 0 "},
		}},
		{"other bytes from the middle on", func(f fs.File) fs.File { return reading{f, otherAt{f.(io.ReaderAt), 4 << 20}, f} }, []want{
			{verify.KindContent, largeFile, "a read of 4096 bytes at 4192256 "}, // around the end of block 4
		}},
		{"other bytes at the end", func(f fs.File) fs.File { return reading{f, otherAt{f.(io.ReaderAt), 9 << 20}, f} }, []want{
			{verify.KindContent, largeFile, "a read of 4096 bytes at 99"},
		}},
		{"nothing from the middle", func(f fs.File) fs.File { return unseekable{f} }, []want{{verify.KindContent, largeFile, "can't be read from the middle"}}},
	}
	s := largeSite(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := verify.RunWith(t.Context(), s.store, s.location, s.options, func(v access.Viewer, own, _ verify.Reader) verify.Reader {
				if !v.Operator {
					return own
				}
				return bent{Reader: own, open: func(name string) (fs.File, error) {
					f, err := own.Open(name)
					if err != nil || name != largeFile {
						return f, err
					}
					return tt.bend(f), nil
				}}
			})
			s.must(err)
			expect(t, r, tt.want)
		})
	}
}
