package chroma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	chroma "github.com/amikos-tech/chroma-go/pkg/api/v2"

	"github.com/chromafs/chromafs/index"
)

// question is the body of a get. The server ignores a field that it doesn't know, and then answers with everything.
type question struct {
	IDs           []string                   `json:"ids,omitempty"`
	Where         chroma.WhereClause         `json:"where,omitempty"`
	WhereDocument chroma.WhereDocumentFilter `json:"where_document,omitempty"`
	Include       []chroma.Include           `json:"include"`
	Limit         int                        `json:"limit,omitempty"`
	Offset        int                        `json:"offset,omitempty"`
}

type answer struct {
	IDs        []string   `json:"ids"`
	Documents  []*string  `json:"documents"`
	Metadatas  []metadata `json:"metadatas"`
	Embeddings []vector   `json:"embeddings"`
}

// count is the number of values that stand beside the ids.
func (a *answer) count(include chroma.Include) int {
	switch include {
	case chroma.IncludeMetadatas:
		return len(a.Metadatas)
	case chroma.IncludeEmbeddings:
		return len(a.Embeddings)
	}
	return len(a.Documents)
}

func (s *Store) ask(ctx context.Context, q question) (*answer, error) {
	c := s.collection.Load()
	if c == nil {
		return &answer{}, ctx.Err()
	}
	body, err := s.send(ctx, http.MethodPost, c.path+"/get", q)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, fmt.Errorf("%w: answer of %s: %w", index.ErrCorrupt, s.retry.server, err)
	}
	for _, include := range q.Include {
		if n := a.count(include); n != len(a.IDs) {
			return nil, fmt.Errorf("%w: answer of %s: %d ids with %d %s", index.ErrCorrupt, s.retry.server, len(a.IDs), n, include)
		}
	}
	return &a, nil
}

// each asks for ids, page by page, and calls row with the place of every record in the answer to its page.
func (s *Store) each(ctx context.Context, ids []string, include []chroma.Include, row func(a *answer, i int) error) error {
	for part := range slices.Chunk(ids, s.limits.read) {
		a, err := s.ask(ctx, question{IDs: part, Include: include})
		if err != nil {
			return fmt.Errorf("read %d records of %q: %w", len(ids), s.name, err)
		}
		asked := make(map[string]bool, len(part))
		for _, id := range part {
			asked[id] = true
		}
		for i, id := range a.IDs {
			if !asked[id] {
				return fmt.Errorf("read %q: %w: %s answered with %q, which was not asked for", s.name, index.ErrCorrupt, s.retry.server, s.retry.excerpt(id))
			}
			if err := row(a, i); err != nil {
				return fmt.Errorf("read %q: %w", s.name, err)
			}
		}
	}
	return nil
}

// Get implements index.Store. A record that somebody else wrote has zero values where its own do not fit.
func (s *Store) Get(ctx context.Context, ids []string) ([]index.Record, error) {
	return s.records(ctx, ids, true)
}

// Metadata implements index.Store, and is as lenient as Get.
func (s *Store) Metadata(ctx context.Context, ids []string) ([]index.Record, error) {
	return s.records(ctx, ids, false)
}

func (s *Store) records(ctx context.Context, ids []string, documents bool) ([]index.Record, error) {
	include := []chroma.Include{chroma.IncludeMetadatas}
	if documents {
		include = append(include, chroma.IncludeDocuments)
	}
	found := make(map[string]index.Record, len(ids))
	err := s.each(ctx, ids, include, func(a *answer, i int) error {
		m := decode(a.Metadatas[i])
		r := index.Record{ID: a.IDs[i], Metadata: m}
		if documents && a.Documents[i] != nil {
			r.Document = *a.Documents[i]
		} else if documents && m.Kind == index.KindChunk {
			return fmt.Errorf("%w: chunk %q has no document", index.ErrCorrupt, r.ID)
		}
		found[r.ID] = r
		return nil
	})
	if err != nil {
		return nil, err
	}
	records := make([]index.Record, 0, len(found))
	for _, id := range ids {
		if r, ok := found[id]; ok {
			records = append(records, r)
		}
	}
	return records, nil
}

// Documents implements index.Store. A record without a document, which only somebody else can have written, is left out.
func (s *Store) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	found := make(map[string]string, len(ids))
	err := s.each(ctx, ids, []chroma.Include{chroma.IncludeDocuments}, func(a *answer, i int) error {
		if a.Documents[i] != nil {
			found[a.IDs[i]] = *a.Documents[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// IDs implements index.Store. Chroma can't select records that lack a key, so that those without a site cost a look at
// the metadata of all records of the kind, 100 to 200 microseconds each; the ids of all records cost 5. A caller that
// knows most of the ids does better with all of them, and Metadata for the rest.
func (s *Store) IDs(ctx context.Context, kind, site string) ([]string, error) {
	var where chroma.WhereClause
	if kind != "" {
		where = chroma.EqString(keyKind, kind)
		if site != "" {
			where = chroma.And(where, chroma.EqString(keySite, site))
		}
	}
	ids, err := s.list(ctx, question{Where: where})
	if err != nil {
		return nil, fmt.Errorf("list records of %q: %w", s.name, err)
	}
	if kind == "" || site != "" {
		return ids, nil
	}
	return s.withoutSite(ctx, ids)
}

func (s *Store) withoutSite(ctx context.Context, ids []string) ([]string, error) {
	var bare []string
	err := s.each(ctx, ids, []chroma.Include{chroma.IncludeMetadatas}, func(a *answer, i int) error {
		// A key of another type may be inherited from a dropped collection.
		if site := ""; !take(a.Metadatas[i], keySite, &site) {
			bare = append(bare, a.IDs[i])
		}
		return nil
	})
	return bare, err
}

// list returns the ids that q selects. They come in one answer, unless the server caps its answers, silently. Caps are
// round numbers, so what comes after such a number of ids is asked for from the last one on: if that one is not there
// any more, records were deleted meanwhile, the places of the others have shifted, and the list is begun anew.
func (s *Store) list(ctx context.Context, q question) ([]string, error) {
	q.Include = []chroma.Include{}
	const attempts, round = 10, 100
	for range attempts {
		q.Offset = 0
		var ids []string
		for {
			a, err := s.ask(ctx, q)
			if err != nil {
				return nil, err
			}
			page := a.IDs
			if ids != nil {
				if len(page) == 0 || page[0] != ids[len(ids)-1] {
					break
				}
				page = page[1:]
			}
			ids = append(ids, page...)
			if len(page) == 0 || len(a.IDs)%round != 0 {
				return ids, nil
			}
			q.Offset = len(ids) - 1
		}
	}
	return nil, &unavailable{fmt.Sprintf("records are deleted from %q faster than they can be listed", s.name), nil}
}
