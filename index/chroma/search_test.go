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

// Each member of each orbit of case folding finds all others.
func TestSearchFoldsAll(t *testing.T) {
	s := realServer(t)
	store := s.open(Options{Collection: s.name(), Create: true})
	var records []index.Record
	var ids []string
	literals := make([][]string, 4) // no orbit has more members
	for r := rune(0); r <= unicode.MaxRune; r++ {
		orbit := []rune{r}
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			orbit = append(orbit, other)
		}
		if len(orbit) == 1 || slices.Min(orbit) != r {
			continue
		}
		for i, member := range orbit {
			ids = append(ids, fmt.Sprintf("%x", member))
			records = append(records, chunk(ids[len(ids)-1], fmt.Sprintf("%d-%c-", r, member)))
			literals[i] = append(literals[i], fmt.Sprintf("%d-%c-", r, member))
		}
		for i := len(orbit); i < len(literals); i++ {
			literals[i] = append(literals[i], fmt.Sprintf("%d-%c-", r, r))
		}
	}
	if len(records) < 2000 {
		t.Fatalf("only %d runes fold", len(records))
	}
	upsert(t, store, records...)
	for _, l := range literals {
		search(t, store, index.Query{Literals: l, FoldCase: true}, ids...)
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
		if !clean(literal) || most < 16 || most > 1<<16 {
			t.Skip()
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
