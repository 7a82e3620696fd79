package snapshot

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
)

// goodLazy is edited by the vectors below; they hold one defect each.
const goodLazy = `{"format":"chromafs.path-tree","version":2,"minReader":2,"collection":"docs","site":"","join":"\n","records":"r","default":{"isPublic":true,"groups":[]},"blobs":"s3://bucket/docs","paths":{
"a.json":{"isPublic":true,"groups":[],"size":9000000,"sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be","lazy":{"blocks":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"mtime":5},
"b.pdf":{"isPublic":false,"groups":["*"],"size":8,"sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be","lazy":{}},
"c.md":{"isPublic":true,"groups":[],"size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","chunks":1},
"d.json":{"isPublic":true,"groups":[],"size":9,"sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be","lazy":{"uri":"s3://specs/d.json","etag":"\"1-2\"","versionId":"v3"}}
}}
`

func TestLazyEntries(t *testing.T) {
	tree, err := decodeText(goodLazy, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeText(t, tree); got != goodLazy {
		t.Errorf("encodes as\n%s", got)
	}
	sameAsJSON(t, goodLazy, tree)
	again := mustNew(t, tree.Header(), entriesOf(tree))
	if again.Digest() != tree.Digest() {
		t.Error("the same entries have another digest")
	}
	want := blob.Pin{URI: "s3://specs/d.json", ETag: `"1-2"`, Version: "v3"}
	if p := tree.At(3).Pointer(); p.Pin != want || p.Size != 9 || p.Blocks != [32]byte{} {
		t.Errorf("pointer of d.json is %+v", p)
	}
	var lazy []bool
	for i := range tree.Len() {
		lazy = append(lazy, tree.IsLazy(i))
		if (len(tree.IDs(i)) > 0) == tree.IsLazy(i) {
			t.Errorf("%s has records %v", tree.Path(i), tree.IDs(i))
		}
	}
	if !slices.Equal(lazy, []bool{true, true, false, true}) {
		t.Errorf("lazy are %v", lazy)
	}
}

// A tree without lazy files is that of the version before, whatever it is told of blobs.
func TestNoLazyEntries(t *testing.T) {
	entries := files("a", "b")
	with, without := mustNew(t, Header{Blobs: "s3://bucket"}, entries), mustNew(t, Header{}, entries)
	if with.Digest() != without.Digest() || !strings.Contains(encodeText(t, with), `"version":1,"minReader":1`) {
		t.Errorf("encodes as %s", encodeText(t, with))
	}
}

func TestLazyIsNotInCompactTree(t *testing.T) {
	tree, err := decodeText(goodLazy, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	only := mustNew(t, tree.Header(), slices.DeleteFunc(entriesOf(tree), func(e Entry) bool { return e.Lazy != nil }))
	if got := tree.compact(1 << 20); got != only.compact(1<<20) {
		t.Error("lazy files change the compact tree")
	}
}

func TestDecodeRefusesLazy(t *testing.T) {
	const blocks = `"blocks":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`
	vectors := []struct{ defect, old, new, says string }{
		{"minReader too low", `"minReader":2`, `"minReader":1`, "want "},
		{"lazy in version 1", `"version":2,"minReader":2,`, `"version":1,"minReader":1,`, "want "},
		{"no blobs", `,"blobs":"s3://bucket/docs"`, ``, `"blobs"`},
		{"blobs elsewhere", `s3://bucket/docs`, `file:///etc`, "no URI"},
		{"blobs too long", `s3://bucket/docs`, `s3://` + strings.Repeat("b", MaxURIBytes), "no URI"},
		{"size 0", `"size":8,`, `"size":0,`, "size 0"},
		{"of nothing", `"size":8,"sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be"`,
			`"size":8,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`, "lazy file"},
		{"blocks missing", `{` + blocks + `}`, `{}`, "block list"},
		{"blocks of a small file", `"lazy":{}`, `"lazy":{` + blocks + `}`, "block list"},
		{"blocks zero", blocks, `"blocks":"` + strings.Repeat("0", 64) + `"`, "block list"},
		{"blocks in upper case", `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"m`, `"E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"m`, "lower case"},
		{"chunks too", `"lazy":{}`, `"lazy":{},"chunks":1`, "want }"},
		{"uri of a file", `s3://specs/d.json`, `file:///etc/passwd`, "no URI"},
		{"uri of the web", `s3://specs/d.json`, `http://169.254.169.254/`, "no URI"},
		{"uri with a line end", `s3://specs/d.json`, `s3://specs/\n`, "no URI"},
		{"uri empty", `"uri":"s3://specs/d.json"`, `"uri":""`, "a uri"},
		{"etag alone", `"uri":"s3://specs/d.json",`, ``, "without a uri"},
		{"etag with a line end", `\"1-2\"`, `\r\nx`, "etag"},
		{"version too long", `"v3"`, `"` + strings.Repeat("v", MaxPinBytes+1) + `"`, "versionId"},
		{"unsorted", `"etag":"\"1-2\"","versionId":"v3"`, `"versionId":"v3","etag":"\"1-2\""`, "want }"},
		{"unknown key", `"lazy":{}`, `"lazy":{"x":1}`, "want }"},
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		t.Run(v.defect, func(t *testing.T) {
			bad := strings.Replace(goodLazy, v.old, v.new, 1)
			if bad == goodLazy {
				t.Fatal("the vector changes nothing")
			}
			if _, err := decodeText(bad, Limits{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), v.says) {
				t.Errorf("got error %v, want one saying %q", err, v.says)
			}
		})
	}
	plain := strings.Replace(strings.Replace(good, `"version":1,"minReader":1`, `"version":2,"minReader":2`, 1), `,"paths"`, `,"blobs":"","paths"`, 1)
	if _, err := decodeText(plain, Limits{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "version 1 can express") {
		t.Errorf("version 2 for nothing: got error %v", err)
	}
}

func TestNewRefusesLazy(t *testing.T) {
	with := func(change func(*Entry)) Entry {
		e := file("a")
		e.Chunks, e.Lazy = 0, &Lazy{}
		change(&e)
		return e
	}
	if _, err := New(Header{}, []Entry{with(func(*Entry) {})}); err != nil {
		t.Fatalf("the good entry: %v", err)
	}
	vectors := map[string]Entry{
		"chunks too":       with(func(e *Entry) { e.Chunks = 1 }),
		"link too":         {Path: "a", Access: access.Everyone(), Link: "b", Lazy: &Lazy{}},
		"empty":            with(func(e *Entry) { e.Size, e.SHA256 = 0, emptySum }),
		"large, no blocks": with(func(e *Entry) { e.Size = blob.WholeBytes + 1 }),
		"small, blocks":    with(func(e *Entry) { e.Lazy.Blocks[0] = 1 }),
		"version alone":    with(func(e *Entry) { e.Lazy.Version = "v" }),
	}
	for name, e := range vectors {
		if _, err := New(Header{}, []Entry{e}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got error %v", name, err)
		}
	}
}

// Equal pointers are kept once.
func TestLazyIsInterned(t *testing.T) {
	entries := someEntries(1000)
	for i := range entries {
		entries[i].Chunks, entries[i].Lazy = 0, &Lazy{}
		if i%2 == 0 {
			entries[i].Lazy.URI = "s3://specs/" + entries[i].Path[:3]
		}
	}
	tree := mustNew(t, Header{}, entries)
	if n := len(tree.lazies); n > 20 {
		t.Errorf("%d pointers are kept", n)
	}
	var buf bytes.Buffer
	if err := Encode(&buf, tree); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(&buf, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if got := again.At(i).Pointer(); !reflect.DeepEqual(got, e.Pointer()) {
			t.Fatalf("pointer %d is %+v, want %+v", i, got, e.Pointer())
		}
	}
}
