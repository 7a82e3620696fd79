package verify

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func sha(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// prose is n pages of words of which some are on every page, some on a few and some on one.
func prose(n int) *corpus {
	c := newCorpus(n)
	for i := range n {
		c.read(fmt.Appendf(nil, "# Page %d\n\ncommon Word%d und großes Wörtchen%d\r\n- `group%d` ends the line.\n", i, i, i, i/4))
	}
	return c
}

func TestDrawByQuotas(t *testing.T) {
	c := prose(300)
	c.seam([]byte("one two three four."), []byte("  five six seven eight"))
	list := c.draw(defaultPatterns, "seed")
	count := make(map[Class]int)
	for _, p := range list {
		count[p.Class]++
	}
	if len(list) < defaultPatterns {
		t.Fatalf("%d patterns", len(list))
	}
	for _, q := range quotas {
		if count[q.class] == 0 || count[q.class] < q.n && q.class != ClassSeam && q.class != ClassCommon {
			t.Errorf("%d of class %q, want %d", count[q.class], q.class, q.n)
		}
	}
	for _, want := range []Pattern{
		{Class: ClassSeam, Literal: "two three four.", End: true},
		{Class: ClassSeam, Literal: "  five six seven", Start: true},
		{Class: ClassCommon, Literal: "common"},
	} {
		if !slices.Contains(list, want) {
			t.Errorf("not drawn: %+v", want)
		}
	}
}

func TestDrawIsDeterministic(t *testing.T) {
	first := prose(50).draw(100, "seed")
	if again := prose(50).draw(100, "seed"); !slices.Equal(first, again) {
		t.Error("the same corpus and seed gave other patterns")
	}
	if other := prose(50).draw(100, "other"); slices.Equal(first, other) {
		t.Error("another seed gave the same patterns")
	}
}

func TestDrawFromLittle(t *testing.T) {
	if list := newCorpus(0).draw(200, "s"); len(list) != 0 {
		t.Errorf("patterns of nothing: %v", list)
	}
	c := newCorpus(1)
	c.read([]byte("just three words"))
	list := c.draw(200, "s")
	absent := 0
	for _, p := range list {
		if p.Class == ClassAbsent {
			absent++
		}
	}
	if absent != 10 || len(list) != absent+3+3+2 { // words, words in capitals, ^just three, three words$
		t.Errorf("%d patterns: %v", len(list), list)
	}
}

func TestLiteralsAreSearchable(t *testing.T) {
	c := prose(100)
	c.read([]byte("ab " + strings.Repeat("x", 500) + " \xff\xfe broken\xff\n"))
	list := c.draw(1000, "seed")
	if len(list) < 300 {
		t.Fatalf("%d patterns", len(list))
	}
	for _, p := range list {
		if !fits([]byte(p.Literal)) || strings.Contains(p.Literal, "\n") {
			t.Errorf("%+v", p)
		}
	}
}

func TestSwapCase(t *testing.T) {
	for word, want := range map[string]string{
		"Word": "wORD", "straße": "STRAßE", "ÉCOLE": "école", "123": "123", "Привет": "пРИВЕТ", "ı": "ı", "中文": "中文",
	} {
		if got := swapCase(word); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
