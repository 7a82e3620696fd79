package verify

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what patterns are drawn from, so that neither time nor memory grows with the corpus.
const (
	samplePages = 2000
	sampleBytes = 16 << 20
	sampleSeams = 100
)

// Bounds of a literal: Chroma Cloud finds nothing by fewer than 3 characters and takes at most 256.
const (
	minRunes = 3
	maxBytes = 120
)

// quotas are how many patterns of each class are drawn where the corpus has them, out of defaultPatterns; the choosiest
// class first, since no pattern is drawn twice.
var quotas = []struct {
	class Class
	n     int
}{
	{ClassCR, 10}, {ClassSeam, 20}, {ClassNonASCII, 15}, {ClassFold, 25}, {ClassStart, 20}, {ClassEnd, 20},
	{ClassCommon, 25}, {ClassMiddling, 20}, {ClassRare, 35}, {ClassAbsent, 10},
}

const defaultPatterns = 200

// corpus is what was seen of the folder's text.
type corpus struct {
	every int // of how many lines one is taken for anchored patterns
	pages int
	words map[string]int // in how many pages
	// anchored are first and last words of lines.
	anchored map[Pattern]bool
	// seams are the words on both sides of chunk borders.
	seams []Pattern
}

// newCorpus is for about so many pages.
func newCorpus(pages int) *corpus {
	return &corpus{every: 1 + pages/100, words: make(map[string]int), anchored: make(map[Pattern]bool)}
}

// read takes the words of one page.
func (c *corpus) read(text []byte) {
	c.pages++
	seen := make(map[string]bool)
	number := 0
	for rest, more := text, true; more; number++ {
		var row []byte
		row, rest, more = bytes.Cut(rest, newline)
		words := split(row)
		for _, w := range words {
			if word := row[w.from:w.to]; fits(word) && !seen[string(word)] {
				seen[string(word)] = true
				c.words[string(word)]++
			}
		}
		if number%c.every == c.pages%c.every {
			c.anchor(row, words)
		}
	}
}

// anchor takes the first and last words of a line.
func (c *corpus) anchor(row []byte, words []span) {
	if lit := head(row, words, 2); fits(lit) {
		c.anchored[Pattern{Class: ClassStart, Literal: string(lit), Start: true}] = true
	}
	if lit := tail(row, words, 2); fits(lit) {
		class := ClassEnd
		if bytes.HasSuffix(lit, []byte("\r")) {
			class = ClassCR
		}
		c.anchored[Pattern{Class: class, Literal: string(lit), End: true}] = true
	}
}

// seam takes the last words before a chunk border and the first ones after it.
func (c *corpus) seam(before, after []byte) {
	if lit := tail(before, split(before), 3); fits(lit) {
		c.seams = append(c.seams, Pattern{Class: ClassSeam, Literal: string(lit), End: true})
	}
	if lit := head(after, split(after), 3); fits(lit) {
		c.seams = append(c.seams, Pattern{Class: ClassSeam, Literal: string(lit), Start: true})
	}
}

// span is where a word stands in its line.
type span struct{ from, to int }

// split finds the runs of letters, marks and digits.
func split(row []byte) []span {
	var words []span
	inside := false
	for i, r := range string(row) {
		if is := isWord(r); is != inside {
			if inside = is; inside {
				words = append(words, span{from: i})
			} else {
				words[len(words)-1].to = i
			}
		}
	}
	if inside {
		words[len(words)-1].to = len(row)
	}
	return words
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// head is the line up to the end of its n-th word, or of its last.
func head(row []byte, words []span, n int) []byte {
	if len(words) == 0 {
		return nil
	}
	return row[:words[min(n, len(words))-1].to]
}

// tail is the line from its last n words on.
func tail(row []byte, words []span, n int) []byte {
	if len(words) == 0 {
		return nil
	}
	return row[words[max(0, len(words)-n)].from:]
}

func fits(lit []byte) bool {
	return len(lit) <= maxBytes && utf8.RuneCount(lit) >= minRunes && utf8.Valid(lit)
}

// draw picks want patterns, by quotas and then whatever there is. The same corpus and seed give the same patterns.
func (c *corpus) draw(want int, seed string) []Pattern {
	pools := c.pools(seed)
	drawn := make(map[Pattern]bool)
	var list []Pattern
	take := func(pool []Pattern, n int) {
		for _, p := range pool {
			key := p
			if key.Class = ""; n > 0 && !drawn[key] {
				drawn[key] = true
				list = append(list, p)
				n--
			}
		}
	}
	for _, q := range quotas {
		take(pools[q.class], max(1, q.n*want/defaultPatterns))
	}
	for _, q := range quotas {
		take(pools[q.class], want-len(list))
	}
	return list
}

// pools are the candidates of each class, in an order that the seed shuffles.
func (c *corpus) pools(seed string) map[Class][]Pattern {
	pools := map[Class][]Pattern{ClassSeam: shuffled(c.seams, seed)}
	for p := range c.anchored {
		pools[p.Class] = append(pools[p.Class], p)
	}
	for w, n := range c.words {
		word := Pattern{Class: c.class(n), Literal: w}
		pools[word.Class] = append(pools[word.Class], word)
		if !isASCII(w) {
			pools[ClassNonASCII] = append(pools[ClassNonASCII], Pattern{Class: ClassNonASCII, Literal: w})
		}
		if swapped := swapCase(w); swapped != w && word.Class != ClassCommon {
			pools[ClassFold] = append(pools[ClassFold], Pattern{Class: ClassFold, Literal: swapped, FoldCase: true})
		}
	}
	if c.pages > 0 {
		pools[ClassAbsent] = c.absent(seed)
	}
	for class, pool := range pools {
		if class != ClassSeam && class != ClassAbsent {
			pools[class] = shuffled(pool, seed)
		}
	}
	c.commonestFirst(pools[ClassCommon])
	return pools
}

// commonestFirst moves the ten commonest words to the front: they make the longest answers.
func (c *corpus) commonestFirst(pool []Pattern) {
	byPages := func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(c.words[b.Literal], c.words[a.Literal]), cmp.Compare(a.Literal, b.Literal))
	}
	top := slices.Clone(pool)
	slices.SortFunc(top, byPages)
	rank := make(map[string]int)
	for k, p := range top[:min(10, len(top))] {
		rank[p.Literal] = k - len(top)
	}
	slices.SortStableFunc(pool, func(a, b Pattern) int { return cmp.Compare(rank[a.Literal], rank[b.Literal]) })
}

// class of a word that n pages of the sample hold.
func (c *corpus) class(n int) Class {
	switch {
	case n >= max(3, c.pages/50):
		return ClassCommon
	case n > 1+c.pages/1000:
		return ClassMiddling
	}
	return ClassRare
}

// absent makes words that the sample does not hold.
func (c *corpus) absent(seed string) []Pattern {
	const n = 10
	var list []Pattern
	for i := 0; len(list) < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s absent %d", seed, i))
		w := "q" + hex.EncodeToString(sum[:6])
		if c.words[w] == 0 {
			list = append(list, Pattern{Class: ClassAbsent, Literal: w})
		}
	}
	return list
}

// shuffled sorts by a hash, which does not depend on the order of list.
func shuffled(list []Pattern, seed string) []Pattern {
	hash := make(map[Pattern]uint64, len(list))
	for _, p := range list {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s\x00%s", seed, p.Literal, p)
		hash[p] = h.Sum64()
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(hash[a], hash[b]), cmp.Compare(a.String(), b.String()))
	})
	return slices.Compact(list)
}

// swapCase changes the case of every letter, as far as the word then still equals itself without regard to case.
func swapCase(w string) string {
	swapped := strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, w)
	if fold(swapped) != fold(w) {
		return w
	}
	return swapped
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
