package chroma

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// Search implements index.Store. The server scans all its collections, in about 2 ms per 1,000 records.
func (s *Store) Search(ctx context.Context, q index.Query) ([]string, error) {
	filters, err := s.limits.filters(q)
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", s.name, err)
	}
	if filters == nil {
		chunks, err := s.list(ctx, question{Where: chroma.EqString(keyKind, index.KindChunk)})
		if err != nil {
			return nil, fmt.Errorf("search %q: %w", s.name, err)
		}
		return chunks, nil
	}
	found := make(map[string]bool)
	for _, f := range filters {
		ids, err := s.list(ctx, question{WhereDocument: f})
		if err != nil {
			return nil, fmt.Errorf("search %q: %w", s.name, err)
		}
		for _, id := range ids {
			found[id] = true
		}
	}
	return s.chunksOf(ctx, slices.Collect(maps.Keys(found)))
}

// chunksOf drops the ids of what is no chunk. A condition on kind beside the one on the document would double the time
// of a search, beside ids it takes minutes.
func (s *Store) chunksOf(ctx context.Context, ids []string) ([]string, error) {
	const few = 100
	if len(ids) <= few {
		var chunks []string
		err := s.each(ctx, ids, []chroma.Include{chroma.IncludeMetadatas}, func(a *answer, i int) error {
			var k string
			if take(a.Metadatas[i], keyKind, &k); k == index.KindChunk {
				chunks = append(chunks, a.IDs[i])
			}
			return nil
		})
		return chunks, err
	}
	others, err := s.list(ctx, question{Where: chroma.NotEqString(keyKind, index.KindChunk)})
	if err != nil {
		return nil, fmt.Errorf("search %q: %w", s.name, err)
	}
	drop := make(map[string]bool, len(others))
	for _, id := range others {
		drop[id] = true
	}
	return slices.DeleteFunc(ids, func(id string) bool { return drop[id] }), nil
}

// filters select, taken together, every document that q selects: one literal is a $contains, several and folded ones are
// alternatives of a $regex, since an $or of $contains takes as many scans. Nil means that the server can't find one of
// the literals, so that everything has to be read.
func (l limits) filters(q index.Query) ([]chroma.WhereDocumentFilter, error) {
	if len(q.Literals) == 0 {
		return nil, errors.New("no literal")
	}
	patterns := make([]string, len(q.Literals))
	for i, literal := range q.Literals {
		if literal == "" || !index.Clean(literal) {
			return nil, fmt.Errorf("literal %.100q is empty, not UTF-8, or holds NUL", literal)
		}
		if utf8.RuneCountInString(literal) < l.shortest {
			return nil, nil
		}
		patterns[i] = l.pattern(literal, q.FoldCase)
	}
	if len(q.Literals) == 1 && !(q.FoldCase && folds(q.Literals[0])) {
		return []chroma.WhereDocumentFilter{chroma.Contains(clip(q.Literals[0], l.text))}, nil
	}
	var filters []chroma.WhereDocumentFilter
	for len(patterns) > 0 {
		n, size := 0, 0
		for n < len(patterns) && (n == 0 || size+n+len(patterns[n]) <= l.text) { // n bars between n+1 patterns
			size += len(patterns[n])
			n++
		}
		filters = append(filters, chroma.Regex(strings.Join(patterns[:n], "|")))
		patterns = patterns[n:]
	}
	return filters, nil
}

// pattern is a regular expression that matches literal, or as much of its beginning as the server takes.
func (l limits) pattern(literal string, fold bool) string {
	var b strings.Builder
	for _, r := range literal {
		p := escape(r)
		if other := unicode.SimpleFold(r); fold && other != r {
			// Not (?i): the server's tables may be of another version of Unicode.
			p = "[" + p
			for ; other != r; other = unicode.SimpleFold(other) {
				p += escape(other)
			}
			p += "]"
		}
		if b.Len()+len(p) > l.text {
			break
		}
		b.WriteString(p)
	}
	return b.String()
}

// escape is r for a regular expression, inside a class too. Only letters, digits and what is not ASCII stand for
// themselves everywhere in the server's syntax; a backslash before punctuation does not always take its meaning away.
func escape(r rune) string {
	if r >= utf8.RuneSelf || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return string(r)
	}
	return fmt.Sprintf(`\x{%x}`, r)
}

func folds(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.SimpleFold(r) != r })
}

// clip cuts s at a rune border to at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
