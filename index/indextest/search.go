package indextest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/chromafs/chromafs/index"
)

// Matcher is the definition of index.Query: the function reports whether q selects a document.
func Matcher(q index.Query) func(document string) bool {
	fold := func(s string) string { return s }
	if q.FoldCase {
		fold = func(s string) string { return strings.Map(index.FoldClass, s) }
	}
	var literals []string
	for _, l := range q.Literals {
		literals = append(literals, fold(l))
	}
	return func(document string) bool {
		document = fold(document)
		return slices.ContainsFunc(literals, func(l string) bool { return strings.Contains(document, l) })
	}
}

// corpus are chunks of odd text, the same ones in every run.
func corpus(random *rand.Rand) []index.Record {
	words := []string{
		"install", "Install", "INSTALL", "kit", "\u212Ait", "KIT", "straße", "STRAẞE", "STRASSE", "ſsS", "İstanbul",
		"ıI", "Σίσυφος", "σίσυφοσ", "ΌΣΟΣ", "Å", "\u212b", "å", "ǆ", "ǅ", "Ǆ", "µ", "μ", "日本語", "données", "DONNÉES",
		"100%", "a_b", "a.b", "a*b", "(x)", "[y]", "{z}", "^", "$", "|", "+", "?", `\d`, `\`, `"`, "'", "''", "`", "--",
		"\n", "\r\n", "\t", "\u2028", "👩‍👩‍👧", "\ufeff", "#", "\x1b",
	}
	var records []index.Record
	for i, d := range awkward() {
		records = append(records, chunk(fmt.Sprintf("d#%d", i), d))
	}
	for i := range 100 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString(words[random.IntN(len(words))])
			if random.IntN(3) > 0 {
				text.WriteByte(' ')
			}
		}
		records = append(records, chunk(fmt.Sprintf("s#%d", i), text.String()))
	}
	return records
}

// cut draws a substring of a document: its start, its end, one rune, all of it, or any part.
func cut(random *rand.Rand, records []index.Record) string {
	for {
		runes := []rune(records[random.IntN(len(records))].Document)
		if len(runes) == 0 {
			continue
		}
		from := random.IntN(len(runes))
		to := from + 1 + random.IntN(min(len(runes)-from, 12))
		switch random.IntN(8) {
		case 0:
			from = 0
		case 1:
			to = len(runes)
		case 2:
			to = from + 1
		case 3:
			from, to = 0, len(runes)
		}
		return string(runes[from:to])
	}
}

// refold replaces runes by others of their case-folding orbit.
func refold(random *rand.Rand, s string) string {
	return strings.Map(func(r rune) rune {
		for range random.IntN(3) {
			r = unicode.SimpleFold(r)
		}
		return r
	}, s)
}

// expectFound fails when a search loses a record, or names one that is no chunk.
func expectFound(t *testing.T, s index.Store, records []index.Record, q index.Query) (want int) {
	t.Helper()
	got, err := s.Search(t.Context(), q)
	if err != nil {
		t.Errorf("search %.200q, fold %t: %v", q.Literals, q.FoldCase, err)
		return 0
	}
	found := make(map[string]bool, len(got))
	for _, id := range got {
		if found[id] {
			t.Errorf("search %.200q: id %q twice", q.Literals, id)
		}
		found[id] = true
	}
	matches := Matcher(q)
	for _, r := range records {
		isChunk := r.Metadata.Kind == index.KindChunk
		if found[r.ID] && !isChunk {
			t.Errorf("search %.200q: found %q of kind %q", q.Literals, r.ID, r.Metadata.Kind)
		}
		if isChunk && matches(r.Document) {
			want++
			if !found[r.ID] {
				t.Errorf("search %.200q, fold %t: lost %q with document %.200q", q.Literals, q.FoldCase, r.ID, r.Document)
			}
		}
		delete(found, r.ID)
	}
	if len(found) > 0 {
		t.Errorf("search %.200q: %d ids that do not exist", q.Literals, len(found))
	}
	return want
}

func testSearch(t *testing.T, s index.Store) {
	random := rand.New(rand.NewPCG(1, 1))
	records := corpus(random)
	upsert(t, s, records...)
	for range 60 {
		var q index.Query
		for range 1 + random.IntN(3) {
			q.Literals = append(q.Literals, cut(random, records))
		}
		if expectFound(t, s, records, q) == 0 {
			t.Errorf("the suite drew literals that no document holds: %q", q.Literals)
		}
	}
}

func testSearchFold(t *testing.T, s index.Store) {
	random := rand.New(rand.NewPCG(2, 2))
	records := corpus(random)
	upsert(t, s, records...)
	queries := [][]string{
		{"k"}, {"\u212A"}, {"K"}, {"s"}, {"ſ"}, {"S"}, {"İ"}, {"i"}, {"ı"}, {"ß"}, {"ẞ"}, {"SS"}, {"å"}, {"\u212B"},
		{"ς"}, {"Σ"}, {"ǆ"}, {"µ"}, {"kit"}, {"STRASSE"}, {"straße"}, {"STRAẞE"}, {"日本"}, {"DONNées"}, {"ſtr"}, {"inſtall"},
		{"(X)"}, {`\D`}, {"."}, {"A_B", "KIT"}, {"100%", "nothing like it"}, {"\r\n"}, {"\u2028"},
	}
	for range 40 {
		queries = append(queries, []string{refold(random, cut(random, records))})
	}
	found := 0
	for _, literals := range queries {
		found += expectFound(t, s, records, index.Query{Literals: literals, FoldCase: true})
	}
	if found == 0 {
		t.Error("the suite found nothing to search")
	}
}

// testSearchLiterals asks for what is nowhere, for very long literals and for very many.
func testSearchLiterals(t *testing.T, s index.Store) {
	random := rand.New(rand.NewPCG(3, 3))
	records := corpus(random)
	upsert(t, s, records...)
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprintf("absent %d", i))
	}
	for _, literals := range [][]string{
		{"nowhere at all"}, {"nowhere", "nor here", "日本語語語"}, {strings.Repeat("z", 20_000)}, many,
		append(many[:1100:1100], "installInstall", "straße"), {records[len(awkward())-1].Document},
		{strings.Repeat("0123456789abcde\n", 100)},
	} {
		for _, fold := range []bool{false, true} {
			expectFound(t, s, records, index.Query{Literals: literals, FoldCase: fold})
		}
	}
}

func testSearchKinds(t *testing.T, s index.Store) {
	var records []index.Record
	for _, kind := range []string{index.KindChunk, index.KindPart, index.KindPathTree, "foreign", ""} {
		for _, site := range []string{"", "a"} {
			r := chunk(kind+" of "+site, "needle")
			r.Metadata.Kind, r.Metadata.Site = kind, site
			records = append(records, r)
		}
	}
	upsert(t, s, records...)
	for _, q := range []index.Query{{Literals: []string{"needle"}}, {Literals: []string{"NEEDLE"}, FoldCase: true}} {
		if n := expectFound(t, s, records, q); n != 2 {
			t.Errorf("the suite expects %d chunks with a needle", n)
		}
	}
	if err := s.Delete(t.Context(), []string{"chunk of a"}); err != nil {
		t.Fatalf("delete: %v", err)
	}
	changed := chunk("chunk of ", "changed")
	upsert(t, s, changed)
	records[0] = changed
	records = slices.Delete(records, 1, 2)
	expectFound(t, s, records, index.Query{Literals: []string{"needle", "change"}})
}
