package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
)

// writers is how many batches are under way: while a server works on one, the next is on its way.
const writers = 2

var errChanged = errors.New("changed while it was indexed")

// write sends what the store lacks, in batches made in path order, then checks that all of it is there.
func (r *run) write(ctx context.Context, p *plan) error {
	if p.records == 0 {
		return nil
	}
	batches := make(chan batch, 1)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(batches)
		return r.makeBatches(gctx, p, batches)
	})
	var mu sync.Mutex
	for range writers {
		g.Go(func() error {
			for b := range batches {
				if err := r.send(gctx, b); err != nil {
					return fmt.Errorf("write records: %w", err)
				}
				mu.Lock()
				r.result.Written += b.len()
				r.result.Copied += len(b.copies)
				r.Progress("writing", r.result.Written, p.records)
				mu.Unlock()
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.checkWritten(ctx, p)
}

// batchBytes closes a batch early, so that memory stays bounded whatever the chunks' size.
const batchBytes = 8 << 20

// batch is what one writer sends at a time.
type batch struct {
	records []index.Record
	copies  []index.Copy
	bytes   int
}

func (b batch) len() int { return len(b.records) + len(b.copies) }

func (r *run) send(ctx context.Context, b batch) error {
	if len(b.copies) > 0 {
		if err := r.store.Copy(ctx, b.copies); err != nil {
			return err
		}
	}
	if len(b.records) == 0 {
		return nil
	}
	return r.store.Upsert(ctx, b.records)
}

// makeBatches makes the records of all pages that are to be written. After a page that can't be read it sends nothing
// more, and returns every page that can't.
func (r *run) makeBatches(ctx context.Context, p *plan, out chan<- batch) error {
	var failures Failures
	var b batch
	for i := range p.pages {
		if p.pages[i].missing == 0 {
			continue
		}
		records, err := r.missingRecords(p, &p.pages[i])
		if err != nil {
			failures = append(failures, asInvalid(p.pages[i].entry.Path, err))
		}
		if len(failures) > 0 {
			continue
		}
		for _, rec := range records {
			r.add(&b, p, p.pages[i].stored, rec)
			if b.len() < r.store.Batch() && b.bytes < batchBytes {
				continue
			}
			if err := emit(ctx, out, b); err != nil {
				return err
			}
			b = batch{}
		}
	}
	if len(failures) > 0 {
		return failures
	}
	return emit(ctx, out, b)
}

// add takes a record to write. Where its text is stored under another revision, that is copied with its embedding.
func (r *run) add(b *batch, p *plan, stored string, rec index.Record) {
	if stored != "" {
		if from := snapshot.RecordID(stored, rec.Metadata.ChunkIndex); p.present.has(from) {
			b.copies = append(b.copies, index.Copy{From: from, To: rec.ID, Metadata: rec.Metadata})
			return
		}
	}
	b.records = append(b.records, rec)
	b.bytes += len(rec.Document)
}

func emit(ctx context.Context, out chan<- batch, b batch) error {
	if b.len() == 0 {
		return nil
	}
	select {
	case out <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// missingRecords makes the page's records that are to be written, and lets go of its text.
func (r *run) missingRecords(p *plan, pg *page) ([]index.Record, error) {
	f := pg.file
	if pg.file = nil; f == nil {
		var err error
		if f, err = r.folder.Read(pg.entry.Path); err != nil {
			return nil, err
		}
	}
	if f.SHA256 != pg.entry.SHA256 {
		return nil, errChanged
	}
	records, err := r.records(pg.entry, f)
	if err != nil || r.Rewrite {
		return records, err
	}
	return slices.DeleteFunc(records, func(rec index.Record) bool { return p.present.has(rec.ID) }), nil
}

// checkWritten lists the records again: nothing is published that names a record the store does not hold.
func (r *run) checkWritten(ctx context.Context, p *plan) error {
	present, err := r.present(ctx)
	if err != nil {
		return err
	}
	for _, f := range p.pages {
		rev := snapshot.Rev(r.header, f.entry)
		for i := range f.entry.Chunks {
			if id := snapshot.RecordID(rev, i); !present.has(id) {
				return fmt.Errorf("%w: record %s of %q is missing after it was written: run ingest again", index.ErrCorrupt, id, f.entry.Path)
			}
		}
	}
	return nil
}

// publish moves the pointer. Publishing what is published already writes nothing.
func (r *run) publish(ctx context.Context, tree *snapshot.Tree) error {
	if err := r.location.Publish(ctx, tree, r.Now); err != nil {
		return fmt.Errorf("publish the snapshot: %w", err)
	}
	return nil
}

// retire deletes what readers of the new snapshot never ask for.
func (r *run) retire(ctx context.Context, p *plan) error {
	if err := r.store.Delete(ctx, p.old); err != nil {
		return fmt.Errorf("delete %d old records (the new snapshot is published): %w", len(p.old), err)
	}
	r.result.Deleted = len(p.old)
	if err := r.retireSnapshots(ctx); err != nil {
		return fmt.Errorf("delete old snapshots (the new one is published): %w", err)
	}
	return nil
}

func (r *run) retireSnapshots(ctx context.Context) error {
	old, err := r.location.Retiring(ctx)
	if err != nil {
		return err
	}
	for _, digest := range old {
		if err := r.location.Retired(ctx, digest); err != nil {
			return err
		}
	}
	return nil
}
