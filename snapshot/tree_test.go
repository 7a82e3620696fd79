package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/access"
)

func hexOf(sum [32]byte) string { return hex.EncodeToString(sum[:]) }

func entriesOf(t *Tree) []Entry {
	entries := make([]Entry, t.Len())
	for i := range entries {
		entries[i] = t.At(i)
	}
	return entries
}

func mustNew(t testing.TB, h Header, entries []Entry) *Tree {
	t.Helper()
	tree, err := New(h, entries)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func file(path string) Entry {
	return Entry{Path: path, Access: access.Everyone(), Size: 8, SHA256: sha256.Sum256([]byte("# Hello\n")), Chunks: 1}
}

func files(paths ...string) []Entry {
	entries := make([]Entry, len(paths))
	for i, p := range paths {
		entries[i] = file(p)
	}
	return entries
}

// More entries than a block holds come back as they went in, from New and from Decode.
func TestTreeKeepsEntries(t *testing.T) {
	entries := someEntries(2*blockRows + 1)
	tree := mustNew(t, Header{Collection: "docs", Site: "s", Records: "r"}, entries)
	var buf bytes.Buffer
	if err := Encode(&buf, tree); err != nil {
		t.Fatal(err)
	}
	first := bytes.Clone(buf.Bytes())
	decoded, err := Decode(&buf, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*Tree{tree, decoded} {
		if tree.Len() != len(entries) {
			t.Fatalf("%d entries, want %d", tree.Len(), len(entries))
		}
		for i, want := range entries {
			got := tree.At(i)
			if !got.Access.Equal(want.Access) || !tree.Classes()[tree.Class(i)].Equal(want.Access) {
				t.Fatalf("entry %d has access %v, want %v", i, got.Access, want.Access)
			}
			got.Access, want.Access = access.Access{}, access.Access{}
			if !equalEntries(got, want) || tree.Path(i) != want.Path || tree.Link(i) != want.Link {
				t.Fatalf("entry %d is %+v, want %+v", i, got, want)
			}
			if j, ok := tree.Find(want.Path); !ok || j != i {
				t.Fatalf("find %q: %d, %v", want.Path, j, ok)
			}
		}
		if n := len(tree.Classes()); n != 5 {
			t.Errorf("%d classes, want 5", n)
		}
	}
	if tree.Digest() != decoded.Digest() {
		t.Errorf("digest %s, decoded %s", tree.Digest(), decoded.Digest())
	}
	var again bytes.Buffer
	if err := Encode(&again, decoded); err != nil || !bytes.Equal(again.Bytes(), first) {
		t.Errorf("encoding again differs, error %v", err)
	}
}

func equalEntries(a, b Entry) bool {
	return a.Path == b.Path && a.Size == b.Size && a.SHA256 == b.SHA256 && a.Chunks == b.Chunks && a.MTime == b.MTime && a.Link == b.Link
}

func TestSearch(t *testing.T) {
	paths := []string{"a-b", "a.md", "a/-", "a/x", "a/x.y/z", "a0", "b/c", "\u00e9/\U0010ffff", "\u00e9/\U0010ffff!", "語"}
	tree := mustNew(t, Header{}, files(paths...))
	for _, s := range append(paths, "", "a", "a/", "a/x.y/", "a/x.y/zz", "b", "b/", "c", "\u00e9", "\u00e9/", "\xff", "\U0010ffff") {
		first, _ := slices.BinarySearch(paths, s)
		if got := tree.Search(s); got != first {
			t.Errorf("search %q: %d, want %d", s, got, first)
		}
		if i, ok := tree.Find(s); ok != slices.Contains(paths, s) || i != first {
			t.Errorf("find %q: %d, %v", s, i, ok)
		}
		var want, got []string
		for _, p := range paths {
			if strings.HasPrefix(p, s) {
				want = append(want, p)
			}
		}
		lo, hi := tree.Range(s)
		for i := lo; i < hi; i++ {
			got = append(got, tree.Path(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("range %q: %q, want %q", s, got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	link := func(e Entry) Entry { return Entry{Path: e.Path, Access: e.Access, Link: "x"} }
	with := func(change func(*Entry)) []Entry {
		e := file("a")
		change(&e)
		return []Entry{e}
	}
	vectors := map[string][]Entry{
		"unsorted":          files("b", "a"),
		"twice":             files("a", "a"),
		"file and folder":   files("a", "a-b", "a/x"),
		"deeper":            files("a/b", "a/b!", "a/b/c/d"),
		"after a sibling":   files("a", "a.", "a.b/c", "a/b"),
		"link and folder":   {link(file("a")), file("a/b")},
		"not UTF-8":         files("a\xff"),
		"NUL":               files("a\x00"),
		"dot part":          files("a/./b"),
		"dots after shared": files("a/.b", "a/..b", "a/../c"),
		"NUL after shared":  files("a/b", "a/b\x00"),
		"no chunks":         with(func(e *Entry) { e.Chunks = 0 }),
		"too many chunks":   with(func(e *Entry) { e.Chunks = MaxChunks + 1 }),
		"negative size":     with(func(e *Entry) { e.Size = -1 }),
		"size too large":    with(func(e *Entry) { e.Size = MaxSize + 1 }),
		"negative mtime":    with(func(e *Entry) { e.MTime = -1 }),
		"mtime too late":    with(func(e *Entry) { e.MTime = MaxMTime + 1 }),
		"link with content": with(func(e *Entry) { e.Link = "x" }),
		"link not UTF-8":    {{Path: "a", Link: "\xff"}},
		"link up and out":   {{Path: "a/b", Link: "../../x"}},
		"unsorted groups":   with(func(e *Entry) { e.Access = access.Access{Groups: []string{"b", "a"}} }),
		"unsorted excludes": with(func(e *Entry) { e.Access = access.Access{Groups: []string{"*"}, Excludes: []string{"b", "a"}} }),
		"only excludes":     with(func(e *Entry) { e.Access = access.Access{Excludes: []string{"a"}} }),
		"public, excludes":  with(func(e *Entry) { e.Access.Excludes = []string{"a"} }),
	}
	for name, entries := range vectors {
		if _, err := New(Header{}, entries); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrMalformed)
		}
	}
	headers := map[string]Header{
		"site":       {Site: "-x"},
		"collection": {Collection: "\xff"},
		"records":    {Records: strings.Repeat("r", MaxNameBytes+1)},
		"default":    {Default: access.Access{Public: true, Groups: []string{"a"}}},
		"excludes":   {Default: access.Access{Groups: []string{"*"}, Excludes: []string{"a"}}},
	}
	for name, h := range headers {
		if _, err := New(h, nil); !errors.Is(err, ErrMalformed) {
			t.Errorf("header %s: got error %v, want %v", name, err, ErrMalformed)
		}
	}
}

func TestNewAccepts(t *testing.T) {
	vectors := map[string][]Entry{
		"none":              nil,
		"file beside":       files("a-b", "a.md", "a/x", "a0"),
		"prefixes":          files("a", "aa", "aa!", "aaa/b"),
		"dotted names":      files("...", "..a/b", ".a", "a../..b"),
		"largest":           {{Path: "a", Size: MaxSize, Chunks: MaxChunks, MTime: MaxMTime}},
		"most chunks":       {{Path: "a", Size: 7, Chunks: 4}},
		"link up":           {{Path: "a/b", Link: "../c"}, {Path: "a/c", Link: ".."}},
		"longest site name": nil,
	}
	for name, entries := range vectors {
		if _, err := New(Header{Site: strings.Repeat("s", MaxSiteBytes)}, entries); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The revisions were computed by another program from the format document.
func TestRev(t *testing.T) {
	h := Header{Records: "c1-e0"}
	e := file("hello.md")
	if got := Rev(h, e); got != "mrqkyrkpk2bisklwc3l6vh4qea" {
		t.Errorf("rev %s", got)
	}
	api := file("api/index.md")
	api.Access = access.Access{Groups: []string{"admin", "staff"}}
	if got := Rev(h, api); got != "houlvqtuj65q4x5grwk6gdsm3q" {
		t.Errorf("rev with groups %s", got)
	}
	if got := Rev(Header{Records: "c1-e0", Site: "v2"}, e); got != "kkpabqnlivahaj6yporlttzoey" {
		t.Errorf("rev of a site %s", got)
	}
	but := file("staff.md")
	but.Access = access.Access{Groups: []string{"*"}, Excludes: []string{"contractors"}}
	if got := Rev(h, but); got != "j73tfuf3qbxwim625x524ymzda" {
		t.Errorf("rev with excludes %s", got)
	}
	e.Chunks = 3
	tree := mustNew(t, h, []Entry{e, {Path: "link", Link: "hello.md"}})
	want := []string{tree.Rev(0) + "#0", tree.Rev(0) + "#1", tree.Rev(0) + "#2"}
	if got := tree.IDs(0); !slices.Equal(got, want) {
		t.Errorf("ids %q", got)
	}
	if got := tree.IDs(1); got != nil {
		t.Errorf("ids of a link %q", got)
	}
}

// Whatever the records hold is in the revision, and nothing can pass for something else.
func TestRevDiffers(t *testing.T) {
	groups := func(g ...string) access.Access { return access.Access{Groups: g} }
	but := func(g string, excludes ...string) access.Access {
		return access.Access{Groups: []string{g}, Excludes: excludes}
	}
	seen := map[string]int{}
	variants := []struct {
		h Header
		e Entry
	}{
		{Header{}, file("ab")},
		{Header{Site: "a"}, file("b")},
		{Header{Records: "ab"}, file("ab")},
		{Header{}, Entry{Path: "ab", Access: access.Everyone()}},
		{Header{}, Entry{Path: "ab"}},
		{Header{}, Entry{Path: "ab", Access: groups("a", "b")}},
		{Header{}, Entry{Path: "ab", Access: groups("ab")}},
		{Header{}, Entry{Path: "ab", Access: groups("*")}},
		{Header{}, Entry{Path: "ab", Access: groups("a")}},
		{Header{}, Entry{Path: "ab", Access: but("a", "b")}},
		{Header{}, Entry{Path: "ab", Access: but("a", "b", "c")}},
		{Header{}, Entry{Path: "ab", Access: but("a", "bc")}},
		{Header{}, Entry{Path: "ab", Access: access.Access{Groups: []string{"a", "b"}, Excludes: []string{"c"}}}},
		{Header{}, Entry{Path: "ab", Access: groups("a", "b", "c")}},
	}
	for i, v := range variants {
		rev := Rev(v.h, v.e)
		if j, ok := seen[rev]; ok {
			t.Errorf("variants %d and %d have revision %s", i, j, rev)
		}
		seen[rev] = i
	}
	touched := file("ab")
	touched.MTime = 5
	if i, ok := seen[Rev(Header{Collection: "other"}, touched)]; !ok || i != 0 {
		t.Error("mtime or collection changes the revision")
	}
}

func TestTreeIsSafeForConcurrentUse(t *testing.T) {
	tree := mustNew(t, Header{}, someEntries(100))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			_ = tree.Digest()
			for i := range tree.Len() {
				if j, ok := tree.Find(tree.At(i).Path); !ok || i != j {
					t.Errorf("find entry %d: %d, %v", i, j, ok)
				}
			}
		})
	}
	wg.Wait()
}

func TestValidateSite(t *testing.T) {
	const rule = ": at most 50 of A-Z a-z 0-9 . _ -, a letter or digit first"
	long := strings.Repeat("s", MaxSiteBytes)
	for site, want := range map[string]string{
		"": "", "v2": "", "a.b_c-D": "", "0": "", long: "",
		"../x": `site "../x"` + rule, "-x": `site "-x"` + rule, "a/b": `site "a/b"` + rule, "a\nb": `site "a\nb"` + rule,
		"é": `site "é"` + rule, long + "t": `site "` + long + `"… (51 bytes)` + rule,
	} {
		got := ""
		if err := ValidateSite(site); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s, want %s", site, got, want)
		}
	}
	if _, err := New(Header{Site: "../x"}, nil); !errors.Is(err, ErrMalformed) {
		t.Errorf("new: %v", err)
	}
}
