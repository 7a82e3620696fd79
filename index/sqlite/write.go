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

// Upsert writes records in transactions of Batch records. Before it writes, it refuses a record that has no id, is there
// twice, holds a NUL byte, or whose id or metadata are not UTF-8.
func (s *Store) Upsert(ctx context.Context, records []index.Record) error {
	if err := validate(records); err != nil {
		return s.fail(ctx, "write", err)
	}
	for part := range slices.Chunk(records, batch) {
		err := s.transact(ctx, func(tx *sql.Tx) error {
			packer := packer{put: func(p *pack) error { return s.put(ctx, tx, p) }}
			for i := range part {
				if err := packer.add(&part[i]); err != nil {
					return err
				}
			}
			return packer.close()
		})
		if err != nil {
			return s.fail(ctx, "write", err)
		}
	}
	return nil
}

// Delete removes records in transactions of Batch ids.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	for part := range slices.Chunk(ids, batch) {
		err := s.transact(ctx, func(tx *sql.Tx) error {
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

func (s *Store) transact(ctx context.Context, write func(tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.write == nil {
		return ErrReadOnly
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := write(tx); err != nil {
		_ = tx.Rollback() // the first error says why
		return err
	}
	return tx.Commit()
}

// put adds a pack, and cuts its records out of the packs that they lay in.
func (s *Store) put(ctx context.Context, tx *sql.Tx, p *pack) error {
	row, err := tx.StmtContext(ctx, s.insertPack).
		ExecContext(ctx, p.kind, p.site, []byte(p.ids), []byte(p.metadata), []byte(p.documents))
	if err != nil {
		return err
	}
	n, err := row.LastInsertId()
	if err != nil {
		return err
	}
	ids := p.ids.values()
	found, err := tx.StmtContext(ctx, s.insertIDs).ExecContext(ctx, n, list(ids))
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

func (s *Store) prepareWrites(ctx context.Context) (err error) {
	s.insertPack, err = s.write.PrepareContext(ctx,
		"INSERT INTO packs (kind, site, ids, metadata, documents) VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	// Ids that are there already keep their old pack: put sees that by the number of rows.
	s.insertIDs, err = s.write.PrepareContext(ctx, "INSERT OR IGNORE INTO lookup (id, pack) SELECT value, ?1 FROM json_each(?2)")
	return err
}

// list is ids as the JSON array that json_each reads, without those that no record can have.
func list(ids []string) string {
	possible := make([]string, 0, len(ids))
	for _, id := range ids {
		if clean(id) {
			possible = append(possible, id)
		}
	}
	b, _ := json.Marshal(possible) // strings always encode
	return string(b)
}
