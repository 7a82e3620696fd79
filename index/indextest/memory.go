package indextest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/chromafs/chromafs/index"
)

// memory is a Store in a map. It is the contract in its plainest form.
type memory struct {
	mu      sync.RWMutex
	records map[string]index.Record
}

// Memory returns an empty Store that lives in memory and passes Run.
func Memory() index.Store {
	return &memory{records: make(map[string]index.Record)}
}

func (m *memory) Upsert(ctx context.Context, records []index.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := index.Validate(records); err != nil {
		return err
	}
	m.put(records)
	return nil
}

func (m *memory) put(records []index.Record) {
	for _, r := range records {
		r.Metadata.Groups = slices.Clone(r.Metadata.Groups)
		m.records[r.ID] = r
	}
}

func (m *memory) Copy(ctx context.Context, copies []index.Copy) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := index.ValidateCopies(copies); err != nil {
		return err
	}
	records := make([]index.Record, len(copies))
	for i, c := range copies {
		from, ok := m.records[c.From]
		if !ok {
			return fmt.Errorf("record %q: %w", c.From, index.ErrNoRecord)
		}
		records[i] = index.Record{ID: c.To, Document: from.Document, Metadata: c.Metadata}
	}
	m.put(records)
	return nil
}

func (m *memory) Get(ctx context.Context, ids []string) ([]index.Record, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var out []index.Record
	for _, id := range ids {
		if r, ok := m.records[id]; ok {
			r.Metadata.Groups = slices.Clone(r.Metadata.Groups)
			out = append(out, r)
		}
	}
	return out, ctx.Err()
}

func (m *memory) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	records, err := m.Get(ctx, ids)
	out := make(map[string]string, len(records))
	for _, r := range records {
		out[r.ID] = r.Document
	}
	return out, err
}

func (m *memory) Metadata(ctx context.Context, ids []string) ([]index.Record, error) {
	records, err := m.Get(ctx, ids)
	for i := range records {
		records[i].Document = ""
	}
	return records, err
}

func (m *memory) Delete(ctx context.Context, ids []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, id := range ids {
		delete(m.records, id)
	}
	return nil
}

func (m *memory) IDs(ctx context.Context, kind, site string) ([]string, error) {
	return m.list(ctx, func(r index.Record) bool {
		return kind == "" || r.Metadata.Kind == kind && r.Metadata.Site == site
	})
}

func (m *memory) Count(ctx context.Context) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.records), ctx.Err()
}

func (m *memory) Search(ctx context.Context, q index.Query) ([]string, error) {
	matches := Matcher(q)
	return m.list(ctx, func(r index.Record) bool {
		return r.Metadata.Kind == index.KindChunk && matches(r.Document)
	})
}

func (m *memory) list(ctx context.Context, selected func(index.Record) bool) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var ids []string
	for id, r := range m.records {
		if selected(r) {
			ids = append(ids, id)
		}
	}
	return ids, ctx.Err()
}

func (m *memory) Batch() int { return 100 }

func (m *memory) Close() error { return nil }
