package snapshot

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzDecode holds the decoder to three things: it never panics, what it takes encodes to the same bytes, and
// encoding/json reads the same from it.
func FuzzDecode(f *testing.F) {
	f.Add(good)
	f.Add(read(f, "testdata/v1.json"))
	f.Add(strings.ReplaceAll(good, `"a.md"`, `"a\n\u0001\"\\é"`))
	f.Add(strings.ReplaceAll(good, `"excludes":["d","e"]`, `"excludes":["*","\u0000"]`))
	f.Add(goodLazy)
	f.Add(good[:strings.IndexByte(good, '\n')+1] + "}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		tree, err := decodeText(text, Limits{})
		if err != nil {
			return
		}
		if got := encodeText(t, tree); got != text {
			t.Errorf("encodes as\n%s", got)
		}
		sameAsJSON(t, text, tree)
		again, err := New(tree.Header(), entriesOf(tree))
		if err != nil {
			t.Fatal(err)
		}
		if again.version = tree.version; again.Digest() != tree.Digest() {
			t.Errorf("digest of the same entries is %s, was %s", again.Digest(), tree.Digest())
		}
	})
}

// FuzzDecodeGzip has the same inputs as readers: any bytes.
func FuzzDecodeGzip(f *testing.F) {
	f.Add(zip(f, good))
	f.Add([]byte(read(f, "testdata/v1.json.gz")))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := Decode(bytes.NewReader(data), Limits{UncompressedBytes: 1 << 20})
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := Encode(&buf, tree); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(&buf, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if again.Digest() != tree.Digest() {
			t.Errorf("digest %s after %s", again.Digest(), tree.Digest())
		}
	})
}

// FuzzString compares the strings with those of encoding/json.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a", `"\/`, "\b\t\n\f\r\x00\x1f\x7f", "<&>\u2028\u2029", "é𝄞\ufeff", "\xff", "\\u0041"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := appendQuoted(nil, s)
		got, n := unquote(append(quoted, `"rest`...))
		if !utf8.ValidString(s) {
			if n != 0 {
				t.Errorf("%q is taken", s)
			}
			return
		}
		if string(got) != s || n != len(quoted) {
			t.Errorf("%q comes back as %q, length %d of %d", s, got, n, len(quoted))
		}
		var std string
		if err := json.Unmarshal(quoted, &std); err != nil || std != s {
			t.Errorf("encoding/json reads %q from %s: %v", std, quoted, err)
		}
		// s as it stands in a document: what is taken means the same, and is the only way to write it.
		if got, n := unquote([]byte(`"` + s + `"`)); n > 0 {
			text := `"` + s + `"`
			if err := json.Unmarshal([]byte(text[:n]), &std); err != nil || std != string(got) {
				t.Errorf("%q is read from %s, encoding/json reads %q: %v", got, text[:n], std, err)
			}
			if again := string(appendQuoted(nil, got)); again != text[:n] {
				t.Errorf("%s is taken, but written %s", text[:n], again)
			}
		}
	})
}
