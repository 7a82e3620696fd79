package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

var errChanged = errors.New("changed while it was indexed")

// write sends what the store lacks, in batches and in path order, then checks that all of it is there.
func (r *run) write(ctx context.Context, p *plan) error {
	if p.records == 0 {
		return nil
	}
	batches := make(chan []index.Record, 2)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(batches)
		return r.makeBatches(gctx, p, batches)
	})
	g.Go(func() error {
		for b := range batches {
			if err := r.store.Upsert(gctx, b); err != nil {
				return fmt.Errorf("write records: %w", err)
			}
			r.result.Written += len(b)
			r.Progress("writing", r.result.Written, p.records)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return r.checkWritten(ctx, p)
}

func (r *run) makeBatches(ctx context.Context, p *plan, out chan<- []index.Record) error {
	size := r.store.Batch()
	var batch []index.Record
	send := func() error {
		select {
		case out <- batch:
			batch = make([]index.Record, 0, size)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i := range p.pages {
		if p.pages[i].missing == 0 {
			continue
		}
		records, err := r.missingRecords(p, &p.pages[i])
		if err != nil {
			return err
		}
		for _, rec := range records {
			if batch = append(batch, rec); len(batch) >= size {
				if err := send(); err != nil {
					return err
				}
			}
		}
	}
	if len(batch) > 0 {
		return send()
	}
	return nil
}

// missingRecords makes the page's records that are to be written, and lets go of its text.
func (r *run) missingRecords(p *plan, pg *page) ([]index.Record, error) {
	f := pg.file
	if pg.file = nil; f == nil {
		var err error
		if f, err = r.folder.Read(pg.entry.Path); err != nil {
			return nil, Failures{asInvalid(pg.entry.Path, err)}
		}
	}
	if f.SHA256 != pg.entry.SHA256 {
		return nil, Failures{{Path: pg.entry.Path, Err: errChanged}}
	}
	records, err := r.records(pg.entry, f)
	if err != nil {
		return nil, Failures{asInvalid(pg.entry.Path, err)}
	}
	if r.Rewrite {
		return records, nil
	}
	return slices.DeleteFunc(records, func(rec index.Record) bool { return p.present.has(rec.ID) }), nil
}

func asInvalid(path string, err error) *source.Invalid {
	var invalid *source.Invalid
	if errors.As(err, &invalid) {
		return invalid
	}
	return &source.Invalid{Path: path, Err: err}
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
func (r *run) publish(ctx context.Context, published *snapshot.Tree, tree *snapshot.Tree) error {
	r.result.Snapshot = tree.Digest()
	r.result.Changed = published == nil || published.Digest() != tree.Digest()
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
