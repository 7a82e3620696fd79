package chroma

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/chromafs/chromafs/index"
)

// search fails the test when the answer is not exactly want.
func search(t *testing.T, s *Store, q index.Query, want ...string) {
	t.Helper()
	got, err := s.Search(t.Context(), q)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("search %.100q, fold %t: %d %.100q, %v, want %d %.100q", q.Literals, q.FoldCase, len(got), got, err, len(want), want)
	}
}

// Every rune that means something to a regular expression, to SQL or to JSON, stands for itself in each kind of filter.
func TestSearchEscapes(t *testing.T) {
	s := realServer(t)
	store := s.open(Options{Collection: s.name(), Create: true})
	var records []index.Record
	special := []rune("ßé\u00a0\u2028\ufeff\ufffd日𝄞\U0010ffff")
	for r := rune(1); r < 0x80; r++ {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			special = append(special, r)
		}
	}
	for _, r := range special {
		records = append(records, chunk(fmt.Sprintf("%x", r), "ab"+string(r)+"cd"))
	}
	upsert(t, store, records...)
	for _, r := range records {
		search(t, store, index.Query{Literals: []string{r.Document}}, r.ID)
		search(t, store, index.Query{Literals: []string{strings.ToUpper(r.Document)}, FoldCase: true}, r.ID)
	}
}

// Each member of each orbit of case folding finds all others. A document has one member of each of five orbits, and no
// search asks for two of them.
func TestSearchFoldsAll(t *testing.T) {
	const perDocument, members = 5, 4 // no orbit has more members
	var orbits [][]rune
	for r := rune(0); r <= unicode.MaxRune; r++ {
		orbit := []rune{r}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			orbit = append(orbit, other)
		}
		if len(orbit) > 1 && slices.Min(orbit) == r {
			orbits = append(orbits, orbit)
		}
	}
	if len(orbits) < 1000 {
		t.Fatalf("only %d orbits", len(orbits))
	}
	s := realServer(t)
	store := s.open(Options{Collection: s.name(), Create: true})
	word := func(orbit []rune, member int) string {
		return fmt.Sprintf("%d-%c-", orbit[0], orbit[member%len(orbit)])
	}
	for len(orbits)%perDocument != 0 {
		orbits = append(orbits, []rune{'a', 'A'})
	}
	var records []index.Record
	var ids []string
	for group := range slices.Chunk(orbits, perDocument) {
		for member := range members {
			var text strings.Builder
			for _, orbit := range group {
				text.WriteString(word(orbit, member))
			}
			ids = append(ids, fmt.Sprint(len(ids)))
			records = append(records, chunk(ids[len(ids)-1], text.String()))
		}
	}
	upsert(t, store, records...)
	for slot := range perDocument {
		for member := range members {
			var literals []string
			for i := slot; i < len(orbits); i += perDocument {
				literals = append(literals, word(orbits[i], member))
			}
			search(t, store, index.Query{Literals: literals, FoldCase: true}, ids...)
		}
	}
}

// More found records than are looked at one by one, among them some that are no chunk.
func TestSearchManyFound(t *testing.T) {
	s := realServer(t)
	store := s.open(Options{Collection: s.name(), Create: true})
	var records []index.Record
	var want []string
	for i := range 210 {
		r := chunk(fmt.Sprint(i), "needle")
		if i%3 == 0 {
			r.Metadata.Kind = []string{index.KindPart, "", "note"}[i/3%3]
		} else {
			want = append(want, r.ID)
		}
		records = append(records, r)
	}
	upsert(t, store, records...)
	search(t, store, index.Query{Literals: []string{"needle"}}, want...)
}

// The longest literal that is sent whole, of what the server escapes.
func TestSearchLong(t *testing.T) {
	s := realServer(t)
	store := s.open(Options{Collection: s.name(), Create: true})
	for i, special := range []string{"*", "[", "%", `\`, "'", "\""} {
		text := strings.Repeat(special, 16<<10)
		upsert(t, store, chunk(special, text), chunk("short", text[:len(text)-1]))
		search(t, store, index.Query{Literals: []string{text}}, special)
		search(t, store, index.Query{Literals: []string{text[:100], fmt.Sprint(i)}}, special, "short")
	}
}

func TestSearchRefuses(t *testing.T) {
	s := newFake(t).open(t, 0)
	for _, literals := range [][]string{nil, {""}, {"a", ""}, {"a\xff"}, {"a\x00"}} {
		if _, err := s.Search(t.Context(), index.Query{Literals: literals}); err == nil {
			t.Errorf("search %q: no error", literals)
		}
	}
}

func TestFilters(t *testing.T) {
	long := strings.Repeat("é", 200)
	for _, test := range []struct {
		limits   limits
		literals []string
		fold     bool
		want     string
	}{
		{ownServer, []string{"a.B"}, false, `[{"$contains":"a.B"}]`},
		{ownServer, []string{"."}, true, `[{"$contains":"."}]`},
		{ownServer, []string{"a.k"}, true, `[{"$regex":"[aA]\\x{2e}[k` + "\u212a" + `K]"}]`},
		{ownServer, []string{"a.B", "1"}, false, `[{"$regex":"a\\x{2e}B|1"}]`},
		{limits{text: 4, shortest: 1}, []string{"ab", "c", "d", "efghi"}, false, `[{"$regex":"ab|c"},{"$regex":"d"},{"$regex":"efgh"}]`},
		{limits{text: 4, shortest: 1}, []string{"éaéa"}, false, `[{"$contains":"éa"}]`},
		{cloud, []string{long}, false, `[{"$contains":"` + long[:256] + `"}]`},
		{cloud, []string{"abc", "éé"}, false, `null`},
	} {
		filters, err := test.limits.filters(index.Query{Literals: test.literals, FoldCase: test.fold})
		if err != nil {
			t.Errorf("%.100q: %v", test.literals, err)
		}
		got, err := json.Marshal(filters)
		if err != nil || string(got) != test.want {
			t.Errorf("%.100q, fold %t: %s, %v, want %s", test.literals, test.fold, got, err, test.want)
		}
	}
}

// FuzzPattern: a pattern matches its literal and everything that folds to it, and keeps to the limit.
func FuzzPattern(f *testing.F) {
	for _, s := range []string{"a", "Σς", "K\u212a", "[x]^-&&~~", `\<\>\b`, "\r\n\t", "ǅ", "{1}", "\ufeff#"} {
		f.Add(s, 100)
	}
	f.Fuzz(func(t *testing.T, literal string, most int) {
		if !index.Clean(literal) || most < 16 || most > 1<<16 {
			t.Skip("no literal, or no limit, that a search can have")
		}
		for _, fold := range []bool{false, true} {
			p := limits{text: most}.pattern(literal, fold)
			if len(p) > most || (p == "" && literal != "") {
				t.Fatalf("pattern of %d bytes for %q, at most %d", len(p), literal, most)
			}
			re, err := regexp.Compile(p)
			if err != nil {
				t.Fatalf("pattern %q of %q: %v", p, literal, err)
			}
			if !re.MatchString(literal) {
				t.Fatalf("pattern %q does not match its literal %q", p, literal)
			}
			folded := strings.Map(unicode.SimpleFold, literal)
			if fold && !re.MatchString(folded) {
				t.Fatalf("pattern %q of %q does not match %q", p, literal, folded)
			}
		}
	})
}
