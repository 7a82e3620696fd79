package blob_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/chromafs/chromafs/blob"
)

func TestVerify(t *testing.T) {
	broken := errors.New("broken")
	text := []byte(strings.Repeat("some text\n", 100))
	cases := []struct {
		name string
		r    func() io.Reader
		size int
		sum  []byte
		want error
	}{
		{"exact", func() io.Reader { return bytes.NewReader(text) }, len(text), text, nil},
		{"empty", func() io.Reader { return strings.NewReader("") }, 0, nil, nil},
		{"short", func() io.Reader { return bytes.NewReader(text[:len(text)-1]) }, len(text), text, blob.ErrShort},
		{"nothing", func() io.Reader { return strings.NewReader("") }, 1, text, blob.ErrShort},
		{"trailing", func() io.Reader { return bytes.NewReader(append(slices.Clone(text), 0)) }, len(text), text, blob.ErrTrailing},
		{"trailing after nothing", func() io.Reader { return bytes.NewReader(text) }, 0, nil, blob.ErrTrailing},
		{"other bytes", func() io.Reader { return bytes.NewReader(text) }, len(text), text[1:], blob.ErrDigest},
		{"other nothing", func() io.Reader { return strings.NewReader("") }, 0, text, blob.ErrDigest},
		{"broken", func() io.Reader { return io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)) }, len(text) + 1, text, broken},
		{"broken at the end", func() io.Reader { return io.MultiReader(bytes.NewReader(text), iotest.ErrReader(broken)) }, len(text), text, broken},
	}
	wraps := []func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader,
	}
	for _, c := range cases {
		for i, wrap := range wraps {
			v := blob.Verify(wrap(c.r()), int64(c.size), sha256.Sum256(c.sum))
			got, err := io.ReadAll(v)
			if !errors.Is(err, c.want) || len(got) > c.size || c.want == nil && !bytes.Equal(got, c.sum) {
				t.Errorf("%s, reader %d: %d bytes, error %v, want %v", c.name, i, len(got), err, c.want)
			}
			if n, again := v.Read(make([]byte, 1)); n != 0 || c.want != nil && again != err || c.want == nil && again != io.EOF {
				t.Errorf("%s, reader %d: then %d bytes, error %v", c.name, i, n, again)
			}
		}
	}
}

func TestCheckKey(t *testing.T) {
	for key, good := range map[string]bool{
		"a": true, "a/b": true, blob.Key([32]byte{1}): true, "...": true, "": false, ".": false, "..": false, "a/../b": false,
		"/a": false, "a/": false, "a//b": false, `a\b`: false, "a\x00": false, "\xff": false,
	} {
		if err := blob.CheckKey(key); good && err != nil || !good && err != fs.ErrInvalid {
			t.Errorf("%q: error %v", key, err)
		}
	}
}

func TestDescribe(t *testing.T) {
	for size, list := range map[int]int{
		0: 0, 1: 0, blob.BlockBytes: 0, blob.WholeBytes: 0, blob.WholeBytes + 1: 9, blob.WholeBytes + blob.BlockBytes: 9, 20<<20 + 1: 21,
	} {
		data := noise(size)
		p, blocks, err := blob.Describe(iotest.HalfReader(bytes.NewReader(data)))
		if err != nil || p.Size != int64(size) || p.SHA256 != sha256.Sum256(data) || len(blocks) != 32*list || p.Pin != (blob.Pin{}) {
			t.Errorf("%d bytes: %+v, list of %d bytes, error %v", size, p, len(blocks), err)
			continue
		}
		if list == 0 {
			if blocks != nil || p.Blocks != [32]byte{} {
				t.Errorf("%d bytes have a block list", size)
			}
			continue
		}
		if p.Blocks != sha256.Sum256(blocks) {
			t.Errorf("%d bytes: digest of the block list", size)
		}
		for k := range list {
			if want := sha256.Sum256(data[k<<20 : min(size, (k+1)<<20)]); [32]byte(blocks[k*32:]) != want {
				t.Errorf("%d bytes: block %d", size, k)
			}
		}
	}
	broken := errors.New("broken")
	if _, _, err := blob.Describe(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
}
