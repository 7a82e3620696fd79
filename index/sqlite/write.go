package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/chromafs/chromafs/index"
)

// ErrReadOnly is returned by the writes of a Store that was opened so.
var ErrReadOnly = errors.New("opened read-only")

// Upsert writes records in transactions of at most Batch records and some megabytes.
func (s *Store) Upsert(ctx context.Context, records []index.Record) error {
	if err := index.Validate(records); err != nil {
		return s.fail(ctx, "write", err)
	}
	for len(records) > 0 {
		n := fitting(records)
		err := s.transact(ctx, func(w *writer, tx *sql.Tx) error { return w.add(ctx, tx, records[:n]) })
		if err != nil {
			return s.fail(ctx, "write", err)
		}
		records = records[n:]
	}
	return nil
}

// fitting is the number of records of the next transaction, at least one.
func fitting(records []index.Record) int {
	n, size := 0, 0
	for n < min(len(records), batch) {
		size += records[n].Size()
		if n > 0 && size > batchBytes {
			break
		}
		n++
	}
	return n
}

// Delete removes records in transactions of Batch ids.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, batch) {
		err := s.transact(ctx, func(_ *writer, tx *sql.Tx) error {
			if err := cutOut(ctx, tx, part, 0); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "DELETE FROM lookup WHERE id IN (SELECT value FROM json_each(?))", list(part))
			return err
		})
		if err != nil {
			return s.fail(ctx, "delete from", err)
		}
	}
	return nil
}

func (s *Store) transact(ctx context.Context, write func(w *writer, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := s.beginWriting(ctx)
	if err != nil {
		return err
	}
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := write(w, tx); err != nil {
		_ = tx.Rollback() // the first error says why
		return err
	}
	return tx.Commit()
}

// writer is the connection for writing, with its statements.
type writer struct {
	db *sql.DB

	insertPack, insertIDs, pickDocuments *sql.Stmt
}

// openWriter turns on the write-ahead log of an index, or makes an index of an empty file.
func openWriter(ctx context.Context, path string) (*writer, error) {
	db, err := openDB(path, writing)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db}
	if err = prepareSchema(ctx, db); err == nil {
		err = w.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) close() error {
	// Out of write-ahead mode a reader needs no side files, and can read where it must not write. It fails, without
	// harm, while another process reads.
	_, _ = w.db.Exec("PRAGMA journal_mode = DELETE")
	return w.db.Close()
}

func (w *writer) add(ctx context.Context, tx *sql.Tx, records []index.Record) error {
	packer := packer{put: func(p *pack) error { return w.put(ctx, tx, p) }}
	for i := range records {
		if err := packer.add(&records[i]); err != nil {
			return err
		}
	}
	return packer.close()
}

// put adds a pack, and cuts its records out of the packs that they lay in.
func (w *writer) put(ctx context.Context, tx *sql.Tx, p *pack) error {
	row, err := tx.StmtContext(ctx, w.insertPack).
		ExecContext(ctx, p.kind, p.site, []byte(p.ids), []byte(p.metadata), []byte(p.documents))
	if err != nil {
		return err
	}
	n, err := row.LastInsertId()
	if err != nil {
		return err
	}
	ids := p.ids.values()
	found, err := tx.StmtContext(ctx, w.insertIDs).ExecContext(ctx, n, list(ids))
	if err != nil {
		return err
	}
	if added, err := found.RowsAffected(); err != nil || added == int64(len(ids)) {
		return err
	}
	if err := cutOut(ctx, tx, ids, n); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE lookup SET pack = ? WHERE id IN (SELECT value FROM json_each(?))", n, list(ids))
	return err
}

// cutOut removes the records of ids from all packs but one. The lookup table is the caller's matter.
func cutOut(ctx context.Context, tx *sql.Tx, ids []string, but int64) error {
	numbers, err := packsOf(ctx, tx, ids, but)
	if err != nil {
		return err
	}
	drop := make(map[string]bool, len(ids))
	for _, id := range ids {
		drop[id] = true
	}
	for _, n := range numbers {
		if err := rewrite(ctx, tx, n, drop); err != nil {
			return err
		}
	}
	return nil
}

func packsOf(ctx context.Context, tx *sql.Tx, ids []string, but int64) ([]int64, error) {
	rows, err := tx.QueryContext(ctx,
		"SELECT DISTINCT pack FROM lookup WHERE id IN (SELECT value FROM json_each(?)) AND pack <> ?", list(ids), but)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var numbers []int64
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, rows.Err()
}

func rewrite(ctx context.Context, tx *sql.Tx, n int64, drop map[string]bool) error {
	var p pack
	err := tx.QueryRowContext(ctx, "SELECT ids, metadata, documents FROM packs WHERE n = ?", n).
		Scan((*[]byte)(&p.ids), (*[]byte)(&p.metadata), (*[]byte)(&p.documents))
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: pack %d is missing", index.ErrCorrupt, n)
	}
	if err != nil {
		return err
	}
	kept, err := p.without(drop)
	if err != nil {
		return err
	}
	if kept.records == 0 {
		_, err = tx.ExecContext(ctx, "DELETE FROM packs WHERE n = ?", n)
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE packs SET ids = ?, metadata = ?, documents = ? WHERE n = ?",
		[]byte(kept.ids), []byte(kept.metadata), []byte(kept.documents), n)
	return err
}

func (w *writer) prepare(ctx context.Context) (err error) {
	w.pickDocuments, err = w.db.PrepareContext(ctx, pickDocuments)
	if err != nil {
		return err
	}
	w.insertPack, err = w.db.PrepareContext(ctx,
		"INSERT INTO packs (kind, site, ids, metadata, documents) VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	// Ids that are there already keep their old pack: put sees that by the number of rows.
	w.insertIDs, err = w.db.PrepareContext(ctx, "INSERT OR IGNORE INTO lookup (id, pack) SELECT value, ?1 FROM json_each(?2)")
	return err
}

// list is ids as the JSON array that json_each reads, without those that no record can have.
func list(ids []string) string {
	possible := make([]string, 0, len(ids))
	for _, id := range ids {
		if index.Clean(id) {
			possible = append(possible, id)
		}
	}
	b, _ := json.Marshal(possible) // strings always encode
	return string(b)
}
