package verify

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
)

func TestPatternString(t *testing.T) {
	tests := []struct {
		pattern Pattern
		want    string
	}{
		{Pattern{Literal: "a.b"}, `a\.b`},
		{Pattern{Literal: "end\r", End: true}, `end\r$`},
		{Pattern{Literal: "x", Start: true, End: true, FoldCase: true}, `(?i)^x$`},
	}
	for _, tt := range tests {
		if got := tt.pattern.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestLines(t *testing.T) {
	const text = "one\r\ntwo two\n\nThree\nlast one"
	tests := []struct {
		pattern Pattern
		want    []int
	}{
		{Pattern{Literal: "one"}, []int{1, 5}},
		{Pattern{Literal: "one", Start: true}, []int{1}},
		{Pattern{Literal: "one", End: true}, []int{5}}, // line 1 ends in CR
		{Pattern{Literal: "one\r", End: true}, []int{1}},
		{Pattern{Literal: "one\r", Start: true, End: true}, []int{1}},
		{Pattern{Literal: "two"}, []int{2}},
		{Pattern{Literal: "two", Start: true, End: true}, nil},
		{Pattern{Literal: "tHREE", FoldCase: true}, []int{4}},
		{Pattern{Literal: "three"}, nil},
		{Pattern{Literal: "absent"}, nil},
	}
	for _, tt := range tests {
		plain, grep := both(t, tt.pattern, text)
		if !slices.Equal(plain, tt.want) || !slices.Equal(grep, tt.want) {
			t.Errorf("%s: plain %v, grep %v, want %v", tt.pattern, plain, grep, tt.want)
		}
	}
}

func both(t testing.TB, p Pattern, text string) (plain, grep []int) {
	t.Helper()
	m, err := newMatcher(p)
	if err != nil {
		t.Fatal(err)
	}
	scanned := []byte(text)
	if p.FoldCase {
		scanned = appendFold(nil, scanned)
	}
	s, in := newScanner(p), new(pairs)
	in.fill(scanned)
	plain = s.lines(nil, scanned)
	if len(plain) > 0 && !in.mayHold(s) {
		t.Fatalf("%s is ruled out in %q", p, text)
	}
	return plain, m.lines(nil, []byte(text), 1)
}

// TestScannersAgree holds the plain scan and the regular expressions to each other on random texts.
func TestScannersAgree(t *testing.T) {
	letters := []rune("ab\n\n\rAsſKK.ıIß")
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune(letters[rng.IntN(len(letters))])
		}
		return b.String()
	}
	hits := 0
	for range 20_000 {
		text := word(rng.IntN(30))
		p := Pattern{
			Literal:  strings.ReplaceAll(word(1+rng.IntN(2)), "\n", "a"),
			FoldCase: rng.IntN(2) == 0, Start: rng.IntN(3) == 0, End: rng.IntN(3) == 0,
		}
		plain, grep := both(t, p, text)
		if !slices.Equal(plain, grep) {
			t.Fatalf("%s in %q: plain %v, grep %v", p, text, plain, grep)
		}
		hits += len(plain)
	}
	if hits < 5_000 {
		t.Fatalf("only %d lines matched: the test tries too little", hits)
	}
}

// TestFoldIsRegexps compares folding with (?i) for every rune that has a case.
func TestFoldIsRegexps(t *testing.T) {
	cased := 0
	for r := rune(1); r < 0x20000; r++ {
		low := index.FoldClass(r)
		if low == r {
			continue
		}
		cased++
		if fold(string(r)) != fold(string(low)) || !regexp.MustCompile(fmt.Sprintf(`(?i)^\x{%x}$`, r)).MatchString(string(low)) {
			t.Errorf("%q and %q", r, low)
		}
	}
	if cased < 1000 || fold("Straße\nÉCOLE") != fold("STRAßE\néCole") || fold("a") == fold("b") {
		t.Fatalf("%d runes with a case", cased)
	}
}

func TestLine(t *testing.T) {
	for n, want := range []string{1: "a", 2: "", 3: "c\r", 4: ""} {
		if got := line([]byte("a\n\nc\r\n"), n); n > 0 && string(got) != want {
			t.Errorf("line %d: %q, want %q", n, got, want)
		}
	}
}
