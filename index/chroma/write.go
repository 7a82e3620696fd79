package chroma

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// maxText is the text of one upsert, with its embeddings. The server refuses bodies of more than 40 MiB, and JSON makes
// up to 6 bytes of one.
const maxText = 6 << 20

// Upsert implements index.Store. It refuses, before it writes any, records that have no id or no groups, are there twice,
// hold NUL, or are not UTF-8. The groups are written on every record, because a record that lacks them may inherit those of a
// dropped one. Of two writers of one record at the same time, a key that only one of them writes may stay.
func (s *Store) Upsert(ctx context.Context, records []index.Record) error {
	if err := validate(records); err != nil {
		return fmt.Errorf("write to %q: %w", s.name, err)
	}
	if len(records) == 0 {
		return nil
	}
	c, err := s.made(ctx)
	if err != nil {
		return err
	}
	for done := 0; done < len(records); {
		rest := records[done:]
		n := s.fitting(len(rest), func(i int) int { return rest[i].Size() + c.embedding.size() })
		var body upsertBody
		for i := range rest[:n] {
			body.add(&rest[i], c.embedding)
		}
		if err := s.upsert(ctx, &body); err != nil {
			return fmt.Errorf("write records %d to %d of %d to %q: %w", done+1, done+n, len(records), s.name, err)
		}
		done += n
	}
	return nil
}

// made is the collection, which it makes if there is none.
func (s *Store) made(ctx context.Context) (*handle, error) {
	if err := s.make(ctx); err != nil {
		return nil, fmt.Errorf("make collection %q: %w", s.name, unsure(err))
	}
	return s.collection.Load(), nil
}

// fitting is the number of records, of n of a size, that go into the next request, at least one.
func (s *Store) fitting(n int, size func(i int) int) int {
	fit, text := 0, 0
	for fit < min(n, s.limits.write) {
		text += size(fit)
		if fit > 0 && text > maxText {
			break
		}
		fit++
	}
	return fit
}

type upsertBody struct {
	IDs        []string         `json:"ids"`
	Embeddings []vector         `json:"embeddings"`
	Documents  []string         `json:"documents"`
	Metadatas  []map[string]any `json:"metadatas"`
}

func (b *upsertBody) add(r *index.Record, embedding vector) {
	b.IDs = append(b.IDs, r.ID)
	b.Embeddings = append(b.Embeddings, embedding)
	b.Documents = append(b.Documents, r.Document)
	b.Metadatas = append(b.Metadatas, encode(&r.Metadata))
}

// upsert replaces at most as many records as fit into a request. The server merges the keys of a record into those that
// are there, and null deletes one. Nulls for all keys that a record lacks would cost a tenth of the write rate, so it
// asks first what is there: usually nothing.
func (s *Store) upsert(ctx context.Context, body *upsertBody) error {
	place := make(map[string]int, len(body.IDs))
	for i, id := range body.IDs {
		place[id] = i
	}
	err := s.each(ctx, body.IDs, []chroma.Include{chroma.IncludeMetadatas}, func(a *answer, i int) error {
		keys := body.Metadatas[place[a.IDs[i]]]
		for key := range a.Metadatas[i] {
			if _, ok := keys[key]; !ok {
				keys[key] = nil
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = s.send(ctx, http.MethodPost, s.collection.Load().path+"/upsert", body)
	return unsure(err)
}

// Delete implements index.Store. It deletes few records at a time, because nobody else is served meanwhile.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	c := s.collection.Load()
	if c == nil {
		return ctx.Err()
	}
	done := 0
	for part := range slices.Chunk(ids, s.limits.remove) {
		if _, err := s.send(ctx, http.MethodPost, c.path+"/delete", map[string]any{"ids": part}); err != nil {
			return fmt.Errorf("delete records %d to %d of %d from %q: %w", done+1, done+len(part), len(ids), s.name, unsure(err))
		}
		done += len(part)
	}
	return nil
}

// unsure says of a write that was not answered that it may have happened.
func unsure(err error) error {
	if errors.Is(err, index.ErrUnavailable) {
		return fmt.Errorf("%w; it may have happened all the same", err)
	}
	return err
}
