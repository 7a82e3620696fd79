package indextest

import (
	"context"
	"sync"

	"github.com/chromafs/chromafs/index"
)

// Op names a method of index.Store.
type Op string

// The operations that Faulty counts and breaks.
const (
	OpUpsert    Op = "upsert"
	OpCopy      Op = "copy"
	OpGet       Op = "get"
	OpDocuments Op = "documents"
	OpMetadata  Op = "metadata"
	OpDelete    Op = "delete"
	OpIDs       Op = "ids"
	OpCount     Op = "count"
	OpSearch    Op = "search"
)

// Faulty is the Store below it, broken by hooks. A nil hook breaks nothing. Hooks are set before use; they may be called
// from several goroutines.
type Faulty struct {
	index.Store

	// Before is called ahead of the n-th call of op, from 1; its error is returned and nothing happens.
	Before func(op Op, n int) error
	// After is called once the n-th call of op has been done; its error is returned all the same.
	After func(op Op, n int) error
	// Document changes a document that Get or Documents reads; false means that the record is not there.
	Document func(id, document string) (string, bool)
	// Listed changes the answer of IDs or Search.
	Listed func(op Op, ids []string) []string

	mu    sync.Mutex
	calls map[Op]int
}

// Calls is the number of calls of op so far.
func (f *Faulty) Calls(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[op]
}

// call counts op and runs it between the hooks.
func (f *Faulty) call(op Op, run func() error) error {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = make(map[Op]int)
	}
	f.calls[op]++
	n := f.calls[op]
	f.mu.Unlock()
	if f.Before != nil {
		if err := f.Before(op, n); err != nil {
			return err
		}
	}
	if err := run(); err != nil || f.After == nil {
		return err
	}
	return f.After(op, n)
}

// Upsert writes, between the hooks.
func (f *Faulty) Upsert(ctx context.Context, records []index.Record) error {
	return f.call(OpUpsert, func() error { return f.Store.Upsert(ctx, records) })
}

// Copy copies, between the hooks.
func (f *Faulty) Copy(ctx context.Context, copies []index.Copy) error {
	return f.call(OpCopy, func() error { return f.Store.Copy(ctx, copies) })
}

// Delete deletes, between the hooks.
func (f *Faulty) Delete(ctx context.Context, ids []string) error {
	return f.call(OpDelete, func() error { return f.Store.Delete(ctx, ids) })
}

// Count counts, between the hooks.
func (f *Faulty) Count(ctx context.Context) (n int, err error) {
	err = f.call(OpCount, func() error { n, err = f.Store.Count(ctx); return err })
	return n, err
}

// Metadata reads, between the hooks.
func (f *Faulty) Metadata(ctx context.Context, ids []string) (records []index.Record, err error) {
	err = f.call(OpMetadata, func() error { records, err = f.Store.Metadata(ctx, ids); return err })
	return records, err
}

// IDs lists, and Listed changes the answer.
func (f *Faulty) IDs(ctx context.Context, kind, site string) (ids []string, err error) {
	err = f.call(OpIDs, func() error { ids, err = f.Store.IDs(ctx, kind, site); return err })
	return f.listed(OpIDs, ids), err
}

// Search searches, and Listed changes the answer.
func (f *Faulty) Search(ctx context.Context, q index.Query) (ids []string, err error) {
	err = f.call(OpSearch, func() error { ids, err = f.Store.Search(ctx, q); return err })
	return f.listed(OpSearch, ids), err
}

func (f *Faulty) listed(op Op, ids []string) []string {
	if f.Listed == nil {
		return ids
	}
	return f.Listed(op, ids)
}

// Get reads, and Document changes the answer.
func (f *Faulty) Get(ctx context.Context, ids []string) (records []index.Record, err error) {
	err = f.call(OpGet, func() error { records, err = f.Store.Get(ctx, ids); return err })
	kept := records[:0]
	for _, r := range records {
		if d, ok := f.document(r.ID, r.Document); ok {
			r.Document = d
			kept = append(kept, r)
		}
	}
	return kept, err
}

// Documents reads, and Document changes the answer.
func (f *Faulty) Documents(ctx context.Context, ids []string) (documents map[string]string, err error) {
	err = f.call(OpDocuments, func() error { documents, err = f.Store.Documents(ctx, ids); return err })
	for id, d := range documents {
		var ok bool
		if documents[id], ok = f.document(id, d); !ok {
			delete(documents, id)
		}
	}
	return documents, err
}

func (f *Faulty) document(id, document string) (string, bool) {
	if f.Document == nil {
		return document, true
	}
	return f.Document(id, document)
}
