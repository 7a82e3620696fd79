package chroma

import (
	"context"
	"fmt"
	"slices"

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// Copy implements index.Store, and refuses what Upsert does. A From that lacks its document or its embedding, which no
// writer of this project has written so, is index.ErrCorrupt. What another writer makes of a From after it was read is
// not copied.
func (s *Store) Copy(ctx context.Context, copies []index.Copy) error {
	if err := validateCopies(copies); err != nil {
		return fmt.Errorf("copy in %q: %w", s.name, err)
	}
	if len(copies) == 0 {
		return nil
	}
	if _, err := s.made(ctx); err != nil {
		return err
	}
	done := 0
	for part := range slices.Chunk(copies, s.limits.write) {
		if err := s.copyAll(ctx, part); err != nil {
			return fmt.Errorf("copy records %d to %d of %d in %q: %w", done+1, done+len(part), len(copies), s.name, err)
		}
		done += len(part)
	}
	return nil
}

// copyAll makes at most as many copies as one get and one upsert have records. Large embeddings take several upserts.
func (s *Store) copyAll(ctx context.Context, copies []index.Copy) error {
	rows, err := s.originals(ctx, copies)
	if err != nil {
		return err
	}
	for i := range copies {
		c := &copies[i]
		rows[i].record.ID, rows[i].record.Metadata = c.To, c.Metadata
	}
	for len(rows) > 0 {
		n := s.fitting(len(rows), func(i int) int { return rows[i].record.Size() + rows[i].embedding.size() })
		var body upsertBody
		for i := range rows[:n] {
			body.add(&rows[i].record, rows[i].embedding)
		}
		if err := s.upsert(ctx, &body); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

type row struct {
	record    index.Record
	embedding vector
}

// originals reads what copies keep: a row for each one, with the document and the embedding of its From.
func (s *Store) originals(ctx context.Context, copies []index.Copy) ([]row, error) {
	ids := make([]string, len(copies))
	for i := range copies {
		ids[i] = copies[i].From
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	found := make(map[string]row, len(ids))
	include := []chroma.Include{chroma.IncludeDocuments, chroma.IncludeEmbeddings}
	err := s.each(ctx, ids, include, func(a *answer, i int) error {
		if a.Documents[i] == nil || len(a.Embeddings[i]) == 0 {
			return fmt.Errorf("%w: record %q has no document or no embedding", index.ErrCorrupt, a.IDs[i])
		}
		found[a.IDs[i]] = row{index.Record{Document: *a.Documents[i]}, a.Embeddings[i]}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(copies))
	for i := range copies {
		var ok bool
		if rows[i], ok = found[copies[i].From]; !ok {
			return nil, fmt.Errorf("record %q: %w", copies[i].From, index.ErrNoRecord)
		}
	}
	return rows, nil
}
