package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
)

// decodeText decodes uncompressed JSON.
func decodeText(text string, lim Limits) (*Tree, error) {
	return decodeJSON(strings.NewReader(text), lim.orDefault())
}

func encodeText(t *testing.T, tree *Tree) string {
	t.Helper()
	var b strings.Builder
	if err := tree.writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zip(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := io.WriteString(zw, text); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const goldenDigest = "s1:99dc9a18ccd5fb3c116ddc41cef00a547b4b8ea9cd1b05a2377160191b318052"

// The golden files were written by Python's json and gzip.
func TestGolden(t *testing.T) {
	f, err := os.Open("testdata/v1.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tree, err := Decode(f, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if tree.Digest() != goldenDigest {
		t.Errorf("digest %s", tree.Digest())
	}
	golden := read(t, "testdata/v1.json")
	if got := encodeText(t, tree); got != golden {
		t.Errorf("encodes as\n%s", got)
	}
	sameAsJSON(t, golden, tree)

	var packed bytes.Buffer
	if err := Encode(&packed, tree); err != nil {
		t.Fatal(err)
	}
	again, err := Decode(iotest.OneByteReader(&packed), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	sameAsJSON(t, golden, again)
}

// The example of the format document decodes, and has the digest and the revisions that stand there.
func TestFormatDocument(t *testing.T) {
	doc := read(t, "FORMAT.md")
	_, rest, _ := strings.Cut(doc, "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	tree, err := decodeText(example, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	says := []string{"Its digest is `" + tree.Digest() + "`"}
	for _, path := range []string{"hello.md", "api/index.md", "staff.md"} {
		i, ok := tree.Find(path)
		if !ok {
			t.Fatalf("no %s in the example", path)
		}
		says = append(says, "`"+path+"` is `"+tree.Rev(i)+"`")
	}
	doc = strings.ReplaceAll(strings.Join(strings.Fields(doc), " "), "` above is", "` is")
	for _, s := range says {
		if !strings.Contains(doc, s) {
			t.Errorf("the document does not say: %s", s)
		}
	}
}

// sameAsJSON compares a tree with what encoding/json reads from the text.
func sameAsJSON(t *testing.T, text string, tree *Tree) {
	t.Helper()
	type rights struct {
		IsPublic         bool
		Groups, Excludes []string
	}
	var want struct {
		Collection, Site, Records, Blobs string
		Default                          rights
		Paths                            map[string]struct {
			rights
			Size   int64
			SHA256 string
			Chunks int
			MTime  int64
			Link   string
			Lazy   *struct{ Blocks, URI, ETag, VersionID string }
		}
	}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	equal := func(r rights, a access.Access) bool {
		return r.IsPublic == a.Public && slices.Equal(r.Groups, a.Groups) && slices.Equal(r.Excludes, a.Excludes)
	}
	h := tree.Header()
	if h.Collection != want.Collection || h.Site != want.Site || h.Records != want.Records || h.Blobs != want.Blobs ||
		!equal(want.Default, h.Default) {
		t.Errorf("header %+v, want %+v", h, want)
	}
	if tree.Len() != len(want.Paths) {
		t.Errorf("%d entries, want %d", tree.Len(), len(want.Paths))
	}
	for i := range tree.Len() {
		e := tree.At(i)
		w, ok := want.Paths[e.Path]
		sum := hexOf(e.SHA256)
		if e.IsLink() {
			sum = ""
		}
		if !ok || !equal(w.rights, e.Access) || w.Size != e.Size || w.SHA256 != sum ||
			w.Chunks != e.Chunks || w.MTime != e.MTime || w.Link != e.Link {
			t.Errorf("entry %d is %+v, want %+v", i, e, w)
		}
		if (w.Lazy == nil) != (e.Lazy == nil) {
			t.Errorf("entry %d is lazy: %v", i, e.Lazy)
		} else if e.Lazy != nil && (w.Lazy.Blocks != "" && w.Lazy.Blocks != hexOf(e.Lazy.Blocks) ||
			e.Lazy.Pin != blob.Pin{URI: w.Lazy.URI, ETag: w.Lazy.ETag, Version: w.Lazy.VersionID}) {
			t.Errorf("entry %d points to %+v, want %+v", i, *e.Lazy, *w.Lazy)
		}
	}
}

// good is edited by the vectors below; they hold one defect each.
const good = `{"format":"chromafs.path-tree","version":1,"minReader":1,"collection":"docs","site":"","join":"\n","records":"r","default":{"isPublic":true,"groups":[]},"paths":{
"a.md":{"isPublic":false,"groups":["b","c"],"size":8,"sha256":"90f8ec5669cd34183b9b0fdf8b94f5efb4c3672876330f4aa76088c2b4ad17be","chunks":2,"mtime":5},
"b":{"isPublic":false,"groups":["b","c"],"excludes":["d","e"],"link":"a.md","mtime":6},
"c/d.md":{"isPublic":true,"groups":[],"size":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","chunks":1}
}}
`

func TestDecodeRefuses(t *testing.T) {
	if tree, err := decodeText(good, Limits{}); err != nil || encodeText(t, tree) != good {
		t.Fatalf("the good text: %v", err)
	}
	long := strings.Repeat("p", 4001)
	vectors := []struct {
		defect, old, new string
		want             error
		says             string
	}{
		{"empty", good, "", ErrMalformed, "ends early"},
		{"another format", "path-tree", "path-trees", ErrMalformed, "snapshot header"},
		{"byte-order mark", `{"format`, "\ufeff" + `{"format`, ErrMalformed, "snapshot header"},
		{"newer", `"version":1,"minReader":1`, `"version":4,"minReader":3`, ErrVersion, "needs a newer chromafs"},
		{"newer, all else unknown", good, `{"format":"chromafs.path-tree","version":9,"minReader":9,!`, ErrVersion, "version 9"},
		{"minReader 0", `"minReader":1`, `"minReader":0`, ErrMalformed, "minReader 0"},
		{"version 0", `"version":1`, `"version":0`, ErrMalformed, "version 0"},
		{"version as a string", `"version":1`, `"version":"1"`, ErrMalformed, "whole number"},
		{"header key missing", `"site":"",`, ``, ErrMalformed, `"site"`},
		{"header key unknown", `"site":"",`, `"site":"","sites":"",`, ErrMalformed, `"join"`},
		{"header key twice", `"site":"",`, `"site":"","site":"",`, ErrMalformed, `"join"`},
		{"header keys unsorted", `"collection":"docs","site":""`, `"site":"","collection":"docs"`, ErrMalformed, `"collection"`},
		{"site with a slash", `"site":""`, `"site":"a/b"`, ErrMalformed, "a letter or digit first"},
		{"site of dots", `"site":""`, `"site":".."`, ErrMalformed, "a letter or digit first"},
		{"site too long", `"site":""`, `"site":"` + long[:51] + `"`, ErrMalformed, "a letter or digit first"},
		{"collection too long", `"docs"`, `"` + long[:513] + `"`, ErrMalformed, "header value"},
		{"another join", `"join":"\n"`, `"join":""`, ErrMalformed, `"join"`},
		{"default with both", `"default":{"isPublic":true,"groups":[]`, `"default":{"isPublic":true,"groups":["x"]`, ErrMalformed, "default"},
		{"default with excludes", `"default":{"isPublic":true,"groups":[]`, `"default":{"isPublic":false,"groups":["*"],"excludes":["x"]`, ErrMalformed, "default with excludes"},
		{"text after the header", `"paths":{`, `"paths":{ `, ErrMalformed, "end of the line"},
		{"CRLF", "{\n", "{\r\n", ErrMalformed, "end of the line"},
		{"no line end", "{\n", "{", ErrMalformed, "end of the line"},
		{"empty line", "{\n", "{\n\n", ErrMalformed, "entry 1"},
		{"space", `"size":8`, `"size": 8`, ErrMalformed, "whole number"},
		{"no comma", "},\n\"b\"", "}\n\"b\"", ErrMalformed, `want "}}"`},
		{"comma at the end", "\"chunks\":1}\n", "\"chunks\":1},\n", ErrMalformed, "entry 4"},
		{"cut at a line end", "}}\n", "", ErrMalformed, "ends early"},
		{"cut in the last line", "}}\n", "}}", ErrMalformed, "ends early"},
		{"cut in an entry", "\"chunks\":1}\n}}\n", "\"chu", ErrMalformed, "ends early"},
		{"data after the end", "}}\n", "}}\n\n", ErrMalformed, "data after the end"},
		{"two trees", "}}\n", "}}\n" + good, ErrMalformed, "data after the end"},
		{"key missing", `"groups":["b","c"],`, ``, ErrMalformed, `entry 1 "a.md"`},
		{"isPublic missing", `"isPublic":false,`, ``, ErrMalformed, `entry 1 "a.md"`},
		{"key unknown", `"chunks":2,`, `"chunks":2,"title":"x",`, ErrMalformed, `entry 1 "a.md"`},
		{"key twice", `"chunks":2,`, `"chunks":2,"chunks":2,`, ErrMalformed, `entry 1 "a.md"`},
		{"keys unsorted", `"isPublic":false,"groups":["b","c"]`, `"groups":["b","c"],"isPublic":false`, ErrMalformed, `want "isPublic"`},
		{"isPublic as a number", `"isPublic":false`, `"isPublic":0`, ErrMalformed, "true or false"},
		{"public with groups", `"isPublic":false`, `"isPublic":true`, ErrMalformed, "public together with groups"},
		{"groups unsorted", `["b","c"]`, `["c","b"]`, ErrMalformed, "not sorted"},
		{"group twice", `["b","c"]`, `["b","b"]`, ErrMalformed, "not sorted"},
		{"group reserved", `["b","c"]`, `["chromafs:none"]`, ErrMalformed, "reserved"},
		{"group empty", `["b","c"]`, `["","c"]`, ErrMalformed, "empty group"},
		{"groups null", `["b","c"]`, `null`, ErrMalformed, `want ,"groups":[`},
		{"groups open", `["b","c"]`, `["b","c"`, ErrMalformed, "want ,"},
		{"groups with a comma at the end", `["b","c"]`, `["b",]`, ErrMalformed, "a string"},
		{"excludes empty", `["d","e"]`, `[]`, ErrMalformed, "excludes that are not empty"},
		{"excludes null", `["d","e"]`, `null`, ErrMalformed, `entry 2 "b"`},
		{"excludes open", `["d","e"]`, `["d","e"`, ErrMalformed, "want ,"},
		{"excludes unsorted", `["d","e"]`, `["e","d"]`, ErrMalformed, "not sorted"},
		{"exclude twice", `["d","e"]`, `["d","d"]`, ErrMalformed, "not sorted"},
		{"exclude reserved", `["d","e"]`, `["chromafs:none"]`, ErrMalformed, "reserved"},
		{"exclude empty", `["d","e"]`, `["","e"]`, ErrMalformed, "empty group"},
		{"any signed-in viewer excluded", `["d","e"]`, `["*"]`, ErrMalformed, "can't be excluded"},
		{"excludes of everyone", `false,"groups":["b","c"],"excludes"`, `true,"groups":[],"excludes"`, ErrMalformed, "excludes without groups"},
		{"excludes of nobody", `"groups":["b","c"],"excludes"`, `"groups":[],"excludes"`, ErrMalformed, "excludes without groups"},
		{"excludes before groups", `"groups":["b","c"],"excludes":["d","e"]`, `"excludes":["d","e"],"groups":["b","c"]`, ErrMalformed, `want ,"groups":[`},
		{"excludes twice", `"excludes":["d","e"]`, `"excludes":["d","e"],"excludes":["d","e"]`, ErrMalformed, `entry 2 "b"`},
		{"excludes after the size", `"size":8`, `"size":8,"excludes":["d","e"]`, ErrMalformed, `want ,"sha256"`},
		{"size negative", `"size":8`, `"size":-8`, ErrMalformed, "whole number"},
		{"size with a leading zero", `"size":8`, `"size":08`, ErrMalformed, "whole number"},
		{"size with a fraction", `"size":8`, `"size":8.0`, ErrMalformed, `want ,"sha256"`},
		{"size too large", `"size":8`, `"size":9007199254740992`, ErrMalformed, "whole number"},
		{"size beyond 64 bits", `"size":8`, `"size":18446744073709551624`, ErrMalformed, "whole number"},
		{"size 0 of a file with content", `"size":8`, `"size":0`, ErrMalformed, "empty"},
		{"size of the empty file", `"size":0`, `"size":1`, ErrMalformed, "empty"},
		{"upper-case digest", "90f8ec", "90F8EC", ErrMalformed, "hex digits"},
		{"short digest", "90f8ec", "0f8ec", ErrMalformed, "hex digits"},
		{"long digest", "90f8ec", "090f8ec", ErrMalformed, `want " at`},
		{"no chunks", `"chunks":2`, `"chunks":0`, ErrMalformed, "want chunks above 0"},
		{"more chunks than bytes", `"chunks":2`, `"chunks":5`, ErrMalformed, "5 chunks in 8 bytes"},
		{"two empty chunks", `"chunks":1`, `"chunks":2`, ErrMalformed, "2 chunks in 0 bytes"},
		{"mtime 0", `"mtime":5`, `"mtime":0`, ErrMalformed, "mtime"},
		{"mtime after the year 9999", `"mtime":5`, `"mtime":253402300800`, ErrMalformed, "whole number"},
		{"link empty", `"link":"a.md"`, `"link":""`, ErrMalformed, `entry 2 "b"`},
		{"link absolute", `"link":"a.md"`, `"link":"/a.md"`, ErrMalformed, "relative"},
		{"link out of the folder", `"link":"a.md"`, `"link":"c/../../a.md"`, ErrMalformed, "leaves"},
		{"link with a NUL", `"link":"a.md"`, `"link":"a\u0000"`, ErrMalformed, "relative"},
		{"link with content", `"link":"a.md"`, `"link":"a.md","size":1`, ErrMalformed, `entry 2 "b"`},
		{"link target too long", `"link":"a.md"`, `"link":"` + long + `"`, ErrLimit, "4001 bytes"},
		{"path empty", `"a.md"`, `""`, ErrMalformed, "empty part"},
		{"path absolute", `"a.md"`, `"/a.md"`, ErrMalformed, "empty part"},
		{"path with a slash at the end", `"a.md"`, `"a.md/"`, ErrMalformed, "empty part"},
		{"path with two slashes", `"c/d.md"`, `"c//d.md"`, ErrMalformed, "empty part"},
		{"path with a dot", `"a.md"`, `"./a.md"`, ErrMalformed, `part "."`},
		{"path with dots", `"c/d.md"`, `"c/.."`, ErrMalformed, `part ".."`},
		{"path with a NUL", `"a.md"`, `"a\u0000"`, ErrMalformed, "NUL"},
		{"path not UTF-8", `"a.md"`, "\"a\xff\"", ErrMalformed, "a string"},
		{"path with a surrogate", `"a.md"`, "\"a\xed\xa0\x80\"", ErrMalformed, "a string"},
		{"path too long", `"a.md"`, `"` + long + `"`, ErrLimit, "4001 bytes"},
		{"path twice", `"b":{`, `"a.md":{`, ErrMalformed, "not above"},
		{"paths unsorted", `"b":{`, `"a":{`, ErrMalformed, "not above"},
		{"path inside a file", `"c/d.md"`, `"b/d.md"`, ErrMalformed, `"b" is both`},
		{"escape for nothing", `"a.md"`, `"\u0061.md"`, ErrMalformed, "a string"},
		{"escaped slash", `"c/d.md"`, `"c\/d.md"`, ErrMalformed, "a string"},
		{"long escape of a line end", `"a.md"`, `"a\u000a"`, ErrMalformed, "a string"},
		{"upper-case escape", `"a.md"`, `"a\u001F"`, ErrMalformed, "a string"},
		{"tab", `"a.md"`, "\"a\t\"", ErrMalformed, "a string"},
		{"tab after an escape", `"a.md"`, "\"a\\n\t\"", ErrMalformed, "a string"},
		{"string open", `"a.md":`, `"a.md`, ErrMalformed, "entry 1"},
		{"escape cut off", `"a.md":{`, `"a\`, ErrMalformed, "entry 1"},
		{"line too long", `"a.md"`, `"` + strings.Repeat(long, 100), ErrMalformed, "line of more than"},
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range vectors {
		t.Run(v.defect, func(t *testing.T) {
			bad := strings.Replace(good, v.old, v.new, 1)
			if bad == good {
				t.Fatal("the vector changes nothing")
			}
			_, err := decodeText(bad, Limits{})
			if !errors.Is(err, v.want) || !strings.Contains(err.Error(), v.says) {
				t.Errorf("got error %v\nwant %q, saying %q", err, v.want, v.says)
			}
		})
	}
}

// A later version that this reader can read keeps its number.
func TestDecodeLaterVersion(t *testing.T) {
	later := strings.Replace(good, `"version":1`, `"version":7`, 1)
	tree, err := decodeText(later, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeText(t, tree); got != later {
		t.Errorf("encodes as %s", got)
	}
}

func TestDecodeRefusesGzip(t *testing.T) {
	packed := zip(t, good)
	flip := func(i int) []byte {
		b := bytes.Clone(packed)
		b[(len(b)+i)%len(b)] ^= 0x55
		return b
	}
	newer := zip(t, strings.Replace(good, `"version":1,"minReader":1`, `"version":3,"minReader":3`, 1))
	vectors := map[string]struct {
		data []byte
		want error
	}{
		"nothing":            {nil, ErrMalformed},
		"no gzip":            {[]byte(good), ErrMalformed},
		"cut in the header":  {packed[:5], ErrMalformed},
		"cut in the data":    {packed[:len(packed)/2], ErrMalformed},
		"cut in the trailer": {packed[:len(packed)-1], ErrMalformed},
		"damaged data":       {flip(len(packed) / 2), ErrMalformed},
		"damaged checksum":   {flip(-8), ErrMalformed},
		"damaged length":     {flip(-1), ErrMalformed},
		"garbage after":      {append(bytes.Clone(packed), 'x'), ErrMalformed},
		"zeros after":        {append(bytes.Clone(packed), 0, 0), ErrMalformed},
		"second member":      {append(bytes.Clone(packed), packed...), ErrMalformed},
		"empty member after": {append(bytes.Clone(packed), zip(t, "")...), ErrMalformed},
		"empty member":       {zip(t, ""), ErrMalformed},
		"newer and cut":      {newer[:len(newer)-9], ErrVersion},
	}
	for name, v := range vectors {
		if _, err := Decode(bytes.NewReader(v.data), Limits{}); !errors.Is(err, v.want) {
			t.Errorf("%s: got error %v, want %v", name, err, v.want)
		}
	}
	broken := errors.New("broken disk")
	for n := range len(packed) {
		r := io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(broken))
		if _, err := Decode(r, Limits{}); !errors.Is(err, broken) || errors.Is(err, ErrMalformed) {
			t.Fatalf("disk breaks after %d bytes: got error %v", n, err)
		}
	}
}

func TestDecodeLimits(t *testing.T) {
	packed := zip(t, good)
	exact := Limits{
		CompressedBytes: int64(len(packed)), UncompressedBytes: int64(len(good)), Entries: 3, PathBytes: 6, Groups: 6,
	}
	if _, err := Decode(bytes.NewReader(packed), exact); err != nil {
		t.Fatalf("exactly at the limits: %v", err)
	}
	below := map[string]func(*Limits){
		"compressed":   func(l *Limits) { l.CompressedBytes-- },
		"uncompressed": func(l *Limits) { l.UncompressedBytes-- },
		"entries":      func(l *Limits) { l.Entries-- },
		"path":         func(l *Limits) { l.PathBytes-- },
		"groups":       func(l *Limits) { l.Groups-- },
	}
	for name, lower := range below {
		lim := exact
		lower(&lim)
		if _, err := Decode(bytes.NewReader(packed), lim); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrLimit)
		}
	}
}

// The longest line that there can be is read: every character of it escaped.
func TestDecodeLongestLine(t *testing.T) {
	name := strings.Repeat("\x01", 4000)
	var names []string
	for i := range access.MaxGroups {
		names = append(names, strings.Repeat("\x01", access.MaxGroupBytes-2)+string([]byte{byte(2 + i/16), byte(2 + i%16)}))
	}
	link := Entry{Path: name, Link: name, Access: access.Access{Groups: names, Excludes: names}}
	text := encodeText(t, mustNew(t, Header{}, []Entry{link}))
	tree, err := decodeText(text, Limits{})
	if err != nil || encodeText(t, tree) != text {
		t.Errorf("a line in %d bytes: error %v", len(text), err)
	}
}

// endless counts what is taken from it.
type endless struct {
	line  string
	taken int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.line)
	}
	e.taken += n
	return n, nil
}

// What never ends is given up, not read into memory.
func TestDecodeBomb(t *testing.T) {
	const most = 4 << 20
	head, _, _ := strings.Cut(good, "\n")
	for _, text := range []string{"x", "\n", head + "\n"} {
		e := &endless{line: text}
		r, w := io.Pipe()
		go func() {
			zw := gzip.NewWriter(w)
			_, err := io.CopyN(zw, e, 64<<20)
			w.CloseWithError(errors.Join(err, zw.Close()))
		}()
		if _, err := Decode(r, Limits{UncompressedBytes: most}); err == nil {
			t.Errorf("%.10q without end decodes", text)
		}
		r.Close()
	}
	e := &endless{line: good[:len(head)+1] + strings.Repeat("\n", 1<<20)}
	lim := Limits{UncompressedBytes: most}.orDefault()
	if _, err := decodeJSON(e, lim); err == nil {
		t.Error("endless lines decode")
	}
	if e.taken > 2*most {
		t.Errorf("took %d bytes", e.taken)
	}
}
