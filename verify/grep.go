package verify

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
)

// searches are the patterns with what the store's coarse search found for each.
type searches struct {
	list []search

	mu    sync.Mutex
	wrong map[int]*wrongAnswer // by position in list
}

type search struct {
	scanner
	matcher
	candidates bitset // of chunks, counted through the tree
}

// wrongAnswer sums up how the answers to one pattern differ.
type wrongAnswer struct {
	pages, lost, extra int
	first              string // path
	detail             string
}

// search draws the patterns and asks the store for candidates, a few at a time.
func (r *run) search(ctx context.Context) (*searches, error) {
	patterns, err := r.drawPatterns(ctx)
	if err != nil {
		return nil, err
	}
	s := &searches{list: make([]search, len(patterns)), wrong: make(map[int]*wrongAnswer)}
	progress := r.counter("searches", len(patterns))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for k, p := range patterns {
		r.report.Patterns[p.Class]++
		g.Go(func() error {
			defer progress()
			var err error
			s.list[k], err = r.ask(ctx, p)
			return err
		})
	}
	return s, g.Wait()
}

func (r *run) ask(ctx context.Context, p Pattern) (search, error) {
	matcher, err := newMatcher(p)
	if err != nil {
		return search{}, fmt.Errorf("pattern %s: %w", p, err)
	}
	ids, err := r.store.Search(ctx, index.Query{Literals: []string{p.Literal}, FoldCase: p.FoldCase})
	if err != nil {
		return search{}, fmt.Errorf("search %q: %w", p.Literal, err)
	}
	s := search{newScanner(p), matcher, newBitset(r.bases[len(r.bases)-1])}
	for _, id := range ids {
		if i, chunk, ok := r.chunks.find(id); ok {
			s.candidates.set(r.bases[i] + chunk)
		}
	}
	return s, nil
}

// drawPatterns looks at pages evenly spaced over the folder, and at chunk borders.
func (r *run) drawPatterns(ctx context.Context) ([]Pattern, error) {
	sample := spaced(r.pages, samplePages)
	c := newCorpus(len(sample))
	read := 0
	for _, i := range sample {
		text, err := os.ReadFile(r.onDisk(r.tree.Path(i)))
		if err != nil {
			return nil, fmt.Errorf("read the docs folder: %w", err)
		}
		if read += len(text); read > sampleBytes && c.pages > 0 {
			break
		}
		c.read(text)
	}
	var cut []int
	for _, i := range r.pages {
		if r.tree.At(i).Chunks > 1 {
			cut = append(cut, i)
		}
	}
	for _, i := range spaced(cut, sampleSeams) {
		if err := r.seams(ctx, c, i); err != nil {
			return nil, err
		}
	}
	return c.draw(r.Patterns, r.tree.Digest()), nil
}

// seams reads the folder's lines at the borders between the chunks of entry i.
func (r *run) seams(ctx context.Context, c *corpus, i int) error {
	text, err := os.ReadFile(r.onDisk(r.tree.Path(i)))
	if err != nil {
		return fmt.Errorf("read the docs folder: %w", err)
	}
	ids := r.tree.IDs(i)
	records, err := r.store.Metadata(ctx, ids[1:min(len(ids), 9)])
	if err != nil {
		return fmt.Errorf("read records of %q: %w", r.tree.Path(i), err)
	}
	for _, rec := range records {
		if start := rec.Metadata.StartLine; start > 1 {
			c.seam(line(text, start-1), line(text, start))
		}
	}
	return nil
}

// spaced is at most n of list, evenly spaced.
func spaced(list []int, n int) []int {
	if len(list) <= n {
		return list
	}
	few := make([]int, n)
	for k := range few {
		few[k] = list[k*len(list)/n]
	}
	return few
}

// patterns compares the answers on one page: the lines that a plain scan finds, and those that a reader finds who looks
// only into the chunks that the store named.
func (s *scan) patterns(i int, text []byte, records []*index.Record) {
	parts := cutLike(text, records)
	s.folded = s.folded[:0]
	s.textPairs.fill(text)
	lost := make(map[int]*lostChunk)
	for k := range s.searches.list {
		q := &s.searches.list[k]
		s.plain, s.answered = s.plainLines(q.scanner, text), s.answered[:0]
		for n, p := range parts {
			if q.candidates.any(s.bases[i]+p.chunk, s.bases[i]+p.next) {
				s.answered = q.matcher.lines(s.answered, text[p.from:p.to], p.line)
			} else if anyWithin(s.plain, p.line, parts[n+1:]) {
				lost[p.chunk] = lost[p.chunk].count(q.Literal)
			}
		}
		s.matched += len(s.plain)
		if !slices.Equal(s.plain, s.answered) {
			s.searches.differ(k, s.tree.Path(i), s.plain, s.answered)
		}
	}
	for chunk, l := range lost {
		id := snapshot.RecordID(s.tree.Rev(i), chunk)
		detail := fmt.Sprintf("record %q, chunk %d, is not found by %d searches for what it holds, such as %q", id, chunk, l.searches, l.literal)
		s.findings.add(KindSearch, s.tree.Path(i), detail)
	}
}

// plainLines is the lines of the page that match, found without the store.
func (s *scan) plainLines(q scanner, text []byte) []int {
	in := &s.textPairs
	if q.FoldCase {
		if len(s.folded) == 0 {
			s.folded = appendFold(s.folded, text)
			s.foldedPairs.fill(s.folded)
		}
		text, in = s.folded, &s.foldedPairs
	}
	if !in.mayHold(q) {
		return s.plain[:0]
	}
	return q.lines(s.plain[:0], text)
}

// part is a piece of a page: the chunks from chunk to before next, which begin in line.
type part struct {
	chunk, next int
	from, to    int // bytes
	line        int
}

// cutLike cuts text as the records are. Where they can't be those of text, it is one part.
func cutLike(text []byte, records []*index.Record) []part {
	parts := make([]part, 0, len(records))
	at, line := 0, 1
	for k, rec := range records {
		if rec == nil || at+len(rec.Document) > len(text) {
			return []part{{next: len(records), to: len(text), line: 1}}
		}
		parts = append(parts, part{chunk: k, next: k + 1, from: at, to: at + len(rec.Document), line: line})
		at += len(rec.Document) + 1
		line += strings.Count(rec.Document, "\n") + 1
	}
	return parts
}

// anyWithin reports whether one of the sorted lines is in the part that begins at first, with the others behind it.
func anyWithin(lines []int, first int, behind []part) bool {
	at := sort.SearchInts(lines, first)
	return at < len(lines) && (len(behind) == 0 || lines[at] < behind[0].line)
}

// lostChunk is a chunk that searches did not find, and the text of the first of them.
type lostChunk struct {
	searches int
	literal  string
}

func (l *lostChunk) count(literal string) *lostChunk {
	if l == nil {
		l = &lostChunk{literal: literal}
	}
	l.searches++
	return l
}

// differ notes a wrong answer; the first page by path is the one that is told.
func (s *searches) differ(k int, path string, plain, answered []int) {
	lost, extra := without(plain, answered), without(answered, plain)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.wrong[k]
	if w == nil {
		w = &wrongAnswer{}
		s.wrong[k] = w
	}
	w.pages++
	w.lost += len(lost)
	w.extra += len(extra)
	if w.first == "" || path < w.first {
		w.first, w.detail = path, fmt.Sprintf("lost lines %v, extra lines %v", lost, extra)
	}
}

func without(list, other []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(n int) bool { return slices.Contains(other, n) })
}

func (s *searches) report(f *findings) {
	for k, w := range s.wrong {
		f.add(KindGrep, w.first, fmt.Sprintf("%s pattern %q: %d lines lost and %d extra in %d pages; here %s",
			s.list[k].Class, s.list[k].Pattern, w.lost, w.extra, w.pages, w.detail))
	}
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

// any reports whether one of from, …, to-1 is in b.
func (b bitset) any(from, to int) bool {
	for i := from; i < to; i++ {
		if b.has(i) {
			return true
		}
	}
	return false
}
