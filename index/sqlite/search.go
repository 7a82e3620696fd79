package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"github.com/chromafs/chromafs/index"
)

// Search reads the documents of all chunk records and compares. It is exact: it returns neither too few nor too many.
func (s *Store) Search(ctx context.Context, q index.Query) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.fail(ctx, "search", err)
	}
	m := newMatcher(q)
	var found []string
	err := each(ctx, s.reader.Load().scan, []any{index.KindChunk}, func(rows *sql.Rows) error {
		var ids, documents sql.RawBytes
		if err := rows.Scan(&ids, &documents); err != nil {
			return err
		}
		p := pack{ids: column(ids), documents: column(documents)}
		if p.ids.len() != p.documents.len() {
			return errPack
		}
		found = append(found, m.find(p)...)
		return nil
	})
	if err != nil {
		return nil, s.fail(ctx, "search", err)
	}
	return found, nil
}

// matcher looks for several literals in packs. It is not safe for concurrent use.
type matcher struct {
	literals [][]byte
	fold     bool
	ascii    bool   // all literals are ASCII
	folded   []byte // scratch
	hit      []bool // scratch
}

func newMatcher(q index.Query) *matcher {
	m := &matcher{fold: q.FoldCase && slices.ContainsFunc(q.Literals, hasCase)}
	m.ascii = !slices.ContainsFunc(q.Literals, func(l string) bool { return !isASCII(l) })
	for _, l := range q.Literals {
		literal := []byte(l)
		if m.fold {
			literal = foldInto(nil, literal)
		}
		m.literals = append(m.literals, literal)
	}
	return m
}

// find returns the ids of the documents that hold a literal.
func (m *matcher) find(p pack) []string {
	documents := []byte(p.documents)
	switch {
	case m.fold && m.ascii && foldsASCII(documents):
		m.folded = foldASCII(m.folded, documents)
		documents = m.folded
	case m.fold:
		m.folded = foldInto(m.folded, documents)
		documents = m.folded
	}
	m.hit = m.hit[:0]
	for _, l := range m.literals {
		m.mark(documents, l)
	}
	var found []string
	for _, hit := range m.hit {
		if id := p.ids.next(); hit {
			found = append(found, string(id))
		}
	}
	return found
}

// mark notes which of the documents, joined by NUL, hold the literal. One hit is enough for a document.
func (m *matcher) mark(documents, literal []byte) {
	for i := 0; ; i++ {
		at := bytes.Index(documents, literal)
		if at < 0 {
			return
		}
		i += bytes.Count(documents[:at], []byte{0})
		for len(m.hit) <= i {
			m.hit = append(m.hit, false)
		}
		m.hit[i] = true
		end := bytes.IndexByte(documents[at:], 0)
		if end < 0 {
			return
		}
		documents = documents[at+end+1:]
	}
}
