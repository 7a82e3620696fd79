package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/chromafs/chromafs/index"
)

// Get reads whole records.
func (s *Store) Get(ctx context.Context, ids []string) ([]index.Record, error) {
	return s.records(ctx, s.reader.Load().pickAll, ids)
}

// Metadata reads records without documents.
func (s *Store) Metadata(ctx context.Context, ids []string) ([]index.Record, error) {
	return s.records(ctx, s.reader.Load().pickMetadata, ids)
}

func (s *Store) records(ctx context.Context, pick *sql.Stmt, ids []string) ([]index.Record, error) {
	position := make(map[string]int, len(ids))
	for i, id := range ids {
		position[id] = i
	}
	found := make([]*index.Record, len(ids))
	err := pickEach(ctx, pick, ids, func(id, metadata, document []byte) error {
		i, ok := position[string(id)]
		if !ok {
			return nil
		}
		found[i] = &index.Record{ID: ids[i], Document: string(document)}
		if err := json.Unmarshal(metadata, &found[i].Metadata); err != nil {
			return fmt.Errorf("%w: metadata of record %q: %w", index.ErrCorrupt, id, err)
		}
		return nil
	})
	if err != nil {
		return nil, s.fail(ctx, "read", err)
	}
	records := make([]index.Record, 0, len(ids))
	for _, r := range found {
		if r != nil {
			records = append(records, *r)
		}
	}
	return records, nil
}

// Documents reads records without metadata.
func (s *Store) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	documents, err := documentsOf(ctx, s.reader.Load().pickDocuments, ids)
	if err != nil {
		return nil, s.fail(ctx, "read", err)
	}
	return documents, nil
}

func documentsOf(ctx context.Context, pick *sql.Stmt, ids []string) (map[string]string, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	documents := make(map[string]string, len(ids))
	err := pickEach(ctx, pick, ids, func(id, _, document []byte) error {
		if wanted[string(id)] {
			documents[string(id)] = string(document)
		}
		return nil
	})
	return documents, err
}

// pickEach calls visit for every record of the packs that the records of ids lie in. It is one statement, hence one state of
// the file. The arguments of visit last until it returns.
func pickEach(ctx context.Context, query *sql.Stmt, ids []string, visit func(id, metadata, document []byte) error) error {
	if err := ctx.Err(); err != nil || len(ids) == 0 {
		return err
	}
	return each(ctx, query, []any{list(ids)}, func(rows *sql.Rows) error {
		var ids, metadata, documents sql.RawBytes
		if err := rows.Scan(&ids, &metadata, &documents); err != nil {
			return err
		}
		p := pack{ids: column(ids), metadata: column(metadata), documents: column(documents)}
		n := p.ids.len()
		if p.ids == nil || p.metadata != nil && p.metadata.len() != n || p.documents != nil && p.documents.len() != n {
			return errPack
		}
		for range n {
			if err := visit(p.ids.next(), p.metadata.next(), p.documents.next()); err != nil {
				return err
			}
		}
		return nil
	})
}

// IDs lists the ids of a kind and site, or all.
func (s *Store) IDs(ctx context.Context, kind, site string) ([]string, error) {
	r := s.reader.Load()
	query, args := r.listScope, []any{kind, site}
	if kind == "" {
		query, args = r.listAll, nil
	}
	var all []string
	err := each(ctx, query, args, func(rows *sql.Rows) error {
		var ids sql.RawBytes
		if err := rows.Scan(&ids); err != nil {
			return err
		}
		all = append(all, column(ids).values()...)
		return nil
	})
	if err != nil {
		return nil, s.fail(ctx, "list", err)
	}
	return all, nil
}

// Count is the number of all records.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = each(ctx, s.reader.Load().count, nil, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, s.fail(ctx, "count", err)
}

// reader is the connections for reading, with their statements. Those of the zero reader, which are nil, find nothing.
type reader struct {
	db *sql.DB

	pickAll, pickMetadata, pickDocuments, listAll, listScope, scan, count *sql.Stmt
}

// openReader opens an index that is there. An empty database is index.ErrNoCollection.
func openReader(ctx context.Context, path string) (*reader, error) {
	db, err := openDB(path, reading)
	if err != nil {
		return nil, err
	}
	r := &reader{db: db}
	if err = checkSchema(ctx, db); err == nil {
		err = r.prepare(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return r, nil
}

// picked are the packs that ids lie in. One that is missing gives a row of nulls.
const (
	picked        = ` FROM (SELECT DISTINCT pack FROM lookup WHERE id IN (SELECT value FROM json_each(?))) LEFT JOIN packs ON n = pack`
	pickDocuments = "SELECT ids, NULL, documents" + picked
)

func (r *reader) prepare(ctx context.Context) error {
	for _, q := range []struct {
		to    **sql.Stmt
		query string
	}{
		{&r.pickAll, "SELECT ids, metadata, documents" + picked},
		{&r.pickMetadata, "SELECT ids, metadata, NULL" + picked},
		{&r.pickDocuments, pickDocuments},
		{&r.listAll, "SELECT ids FROM packs"},
		{&r.listScope, "SELECT ids FROM packs WHERE kind = ? AND site = ?"},
		{&r.scan, "SELECT ids, documents FROM packs WHERE kind = ?"},
		{&r.count, "SELECT count(*) FROM lookup"},
	} {
		var err error
		if *q.to, err = r.db.PrepareContext(ctx, q.query); err != nil {
			return err
		}
	}
	return nil
}

// each runs a query and calls visit on every row. No query has no rows.
func each(ctx context.Context, query *sql.Stmt, args []any, visit func(rows *sql.Rows) error) error {
	if query == nil {
		return ctx.Err()
	}
	rows, err := query.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := visit(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
