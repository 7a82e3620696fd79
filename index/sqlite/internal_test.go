package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/chromafs/chromafs/index"
)

func openTemp(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func chunk(id, document string) index.Record {
	return index.Record{ID: id, Document: document, Metadata: index.Metadata{Kind: index.KindChunk, Groups: []string{"*"}}}
}

func TestDiskFull(t *testing.T) {
	s := openTemp(t)
	kept := chunk("kept", "text")
	if err := s.Upsert(t.Context(), []index.Record{kept}); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		if _, err := s.writer.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(20)
	large := chunk("large", strings.Repeat("text ", 1<<18))
	if err := s.Upsert(t.Context(), []index.Record{large}); !errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), s.path) {
		t.Errorf("upsert on a full disk: %v", err)
	}
	got, err := s.Get(t.Context(), []string{"kept", "large"})
	if err != nil || len(got) != 1 {
		t.Errorf("afterwards: %d records, %v", len(got), err)
	}
	limit(1 << 20)
	if err := s.Upsert(t.Context(), []index.Record{large}); err != nil {
		t.Errorf("upsert with room again: %v", err)
	}
}

func TestDamagedPacks(t *testing.T) {
	const onlyMetadata = "UPDATE packs SET metadata = x'7b007b'"
	for _, damage := range []string{
		"UPDATE packs SET ids = x'61'",
		"UPDATE packs SET documents = x'7400740074'",
		"UPDATE packs SET metadata = x'7b7d'",
		onlyMetadata,
		"DELETE FROM packs",
	} {
		s := openTemp(t)
		if err := s.Upsert(t.Context(), []index.Record{chunk("a", "text"), chunk("b", "text")}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.writer.db.Exec(damage); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), []string{"b"}); !errors.Is(err, index.ErrCorrupt) {
			t.Errorf("get after %q: %v", damage, err)
		}
		again := index.Copy{From: "b", To: "b", Metadata: chunk("b", "").Metadata}
		// A copy does not read the metadata, and mends them here.
		if err := s.Copy(t.Context(), []index.Copy{again}); errors.Is(err, index.ErrCorrupt) == (damage == onlyMetadata) {
			t.Errorf("copy after %q: %v", damage, err)
		}
	}
}

// TestPackLimits looks into the file: packs are full but not overfull, and nothing is in two.
func TestPackLimits(t *testing.T) {
	s := openTemp(t)
	var records []index.Record
	for i := range 3000 {
		records = append(records, chunk(fmt.Sprint(i), strings.Repeat("x", i%1500)))
	}
	if err := s.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	var packs, largest int
	if err := s.reader.Load().db.QueryRow("SELECT count(*), max(length(documents)) FROM packs").Scan(&packs, &largest); err != nil {
		t.Fatal(err)
	}
	if total := 1500 * 3000 / 2; packs < 10 || packs > 2*total/packBytes || largest > packBytes+1500 {
		t.Errorf("%d packs, the largest of %d bytes", packs, largest)
	}
}

func TestFoldEveryRune(t *testing.T) {
	cased := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		least := index.FoldClass(r)
		if least < utf8.RuneSelf && r >= utf8.RuneSelf && foldsASCII([]byte(string(r))) {
			t.Errorf("%U folds to ASCII, and foldsASCII does not know it", r)
		}
		if got := string(foldInto(nil, []byte(string(r)))); got != string(least) {
			t.Fatalf("%U folds to %q, want %q", r, got, least)
		}
		if least != r {
			cased++
			if utf8.RuneLen(least) > utf8.RuneLen(r) {
				t.Errorf("%U is longer folded", r)
			}
		}
	}
	if cased < 1000 {
		t.Errorf("only %d runes fold", cased)
	}
}

func TestFoldASCII(t *testing.T) {
	for b := range 256 {
		for n := range 20 {
			text := bytes.Repeat([]byte{byte(b), 'z', '{', '@', 0xff}, 4)[:n]
			var want []byte
			for _, c := range text {
				if 'a' <= c && c <= 'z' {
					c -= 'a' - 'A'
				}
				want = append(want, c)
			}
			if got := foldASCII(nil, text); !bytes.Equal(got, want) {
				t.Fatalf("%q folds to %q, want %q", text, got, want)
			}
		}
	}
}

// TestMark compares with one search per document.
func TestMark(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	text := func(n int) string {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = "abA"[random.IntN(3)]
		}
		return string(b)
	}
	hits := 0
	for range 3000 {
		documents := make([]string, 1+random.IntN(6))
		p := newPack(index.KindChunk, "")
		for i := range documents {
			documents[i] = text(8)
			p.add([]byte(fmt.Sprint(i)), nil, []byte(documents[i]))
		}
		literals := []string{"a" + text(3), "b" + text(3)}
		fold := random.IntN(2) == 0
		var want []string
		for i, d := range documents {
			l, k := literals[0], literals[1]
			if fold {
				d, l, k = strings.ToLower(d), strings.ToLower(l), strings.ToLower(k)
			}
			if strings.Contains(d, l) || strings.Contains(d, k) {
				want = append(want, fmt.Sprint(i))
				hits++
			}
		}
		got := newMatcher(index.Query{Literals: literals, FoldCase: fold}).find(*p)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q in %q, fold %t: %q, want %q", literals, documents, fold, got, want)
		}
	}
	if hits == 0 {
		t.Error("nothing was found")
	}
}

// FuzzFold: equal bytes after folding are equal text under simple folding, and the reverse.
func FuzzFold(f *testing.F) {
	for _, pair := range [][2]string{{"Kit", "\u212AIT"}, {"ß", "SS"}, {"İ", "i"}, {"σς", "ΣΣ"}, {"日本", "日本"}, {"", "\x00"}} {
		f.Add(pair[0], pair[1])
	}
	f.Add("\xff\xef", "Å\xc3")
	f.Fuzz(func(t *testing.T, a, b string) {
		fold := func(s string) []byte { return foldInto(make([]byte, 3), []byte(s)) }
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			fold(a + b) // does not panic
			return
		}
		if got, want := bytes.Equal(fold(a), fold(b)), strings.EqualFold(a, b); got != want {
			t.Errorf("%q and %q fold alike: %t, want %t", a, b, got, want)
		}
		for _, other := range []string{strings.ToUpper(a), strings.ToLower(a)} {
			if got, want := bytes.Equal(fold(a), fold(other)), strings.EqualFold(a, other); got != want {
				t.Errorf("%q and %q fold alike: %t, want %t", a, other, got, want)
			}
		}
	})
}

func TestFitting(t *testing.T) {
	for _, test := range []struct{ records, bytes, want int }{
		{1, 0, 1}, {9000, 100, batch}, {9000, 16 << 10, 511}, {3, 20 << 20, 1}, {3, 4<<20 - 20, 2},
	} {
		records := make([]index.Record, test.records)
		document := strings.Repeat("x", test.bytes)
		for i := range records {
			records[i] = chunk(fmt.Sprint(i), document)
		}
		if n := fitting(records); n != test.want {
			t.Errorf("%d of %d records of %d bytes, want %d", n, test.records, test.bytes, test.want)
		}
	}
}
