package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/chromafs/chromafs/index"
)

// copyRead is the number of documents that are read at once. At the limit of 16 KiB for a chunk they are batchBytes.
const copyRead = batchBytes >> 14

// Copy copies records in transactions of about the size of Upsert's.
func (s *Store) Copy(ctx context.Context, copies []index.Copy) error {
	if err := index.ValidateCopies(copies); err != nil {
		return s.fail(ctx, "copy in", err)
	}
	for len(copies) > 0 {
		var done int
		err := s.transact(ctx, func(w *writer, tx *sql.Tx) (err error) {
			done, err = w.copy(ctx, tx, copies[:min(len(copies), batch)])
			return err
		})
		if err != nil {
			return s.fail(ctx, "copy in", err)
		}
		copies = copies[done:]
	}
	return nil
}

// copy makes the first of some copies, as many as suit a transaction, and returns their number.
func (w *writer) copy(ctx context.Context, tx *sql.Tx, copies []index.Copy) (done int, err error) {
	for size := 0; done < len(copies) && size < batchBytes; {
		part := copies[done:min(done+copyRead, len(copies))]
		records, err := w.originals(ctx, tx, part)
		if err != nil {
			return 0, err
		}
		if err := w.add(ctx, tx, records); err != nil {
			return 0, err
		}
		for i := range records {
			size += records[i].Size()
		}
		done += len(part)
	}
	return done, nil
}

// originals are the records that copies make.
func (w *writer) originals(ctx context.Context, tx *sql.Tx, copies []index.Copy) ([]index.Record, error) {
	from := make([]string, len(copies))
	for i := range copies {
		from[i] = copies[i].From
	}
	documents, err := documentsOf(ctx, tx.StmtContext(ctx, w.pickDocuments), from)
	if err != nil {
		return nil, err
	}
	records := make([]index.Record, len(copies))
	for i := range copies {
		c := &copies[i]
		document, ok := documents[c.From]
		if !ok {
			return nil, fmt.Errorf("record %q: %w", c.From, index.ErrNoRecord)
		}
		records[i] = index.Record{ID: c.To, Document: document, Metadata: c.Metadata}
	}
	return records, nil
}
