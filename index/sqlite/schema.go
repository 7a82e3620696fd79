package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/chromafs/chromafs/index"
)

const (
	// applicationID stands in the file's header: "chfs".
	applicationID = 0x63686673
	// version of the tables, in the header's user_version.
	version = 1
	// pageSize measures best: larger pages make a small change dear, smaller ones cost time for each.
	pageSize = 16384
)

// ErrVersion: the file was written by a newer chromafs.
var ErrVersion = errors.New("written by a newer chromafs")

var errNotIndex = fmt.Errorf("%w: not a chromafs index", index.ErrCorrupt)

// schema: the values of ids, metadata (JSON) and documents are joined by NUL, which none of them holds, and stand in the
// same order. The short columns come first, so that a list of ids does not read the documents.
const schema = `
CREATE TABLE packs (
	n INTEGER PRIMARY KEY,
	kind TEXT NOT NULL,
	site TEXT NOT NULL,
	ids BLOB NOT NULL,
	metadata BLOB NOT NULL,
	documents BLOB NOT NULL
) STRICT;
CREATE TABLE lookup (
	id TEXT PRIMARY KEY,
	pack INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`

// queryer is a database or a transaction.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkSchema refuses what is no index of this version. An empty database is index.ErrNoCollection.
func checkSchema(ctx context.Context, q queryer) error {
	var application, written int64
	var tables int
	const header = `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`
	if err := q.QueryRowContext(ctx, header).Scan(&application, &written, &tables); err != nil {
		return err
	}
	switch {
	case application == 0 && written == 0 && tables == 0:
		return index.ErrNoCollection
	case application != applicationID || written < 1:
		return errNotIndex
	case written > version:
		return fmt.Errorf("%w: format %d, this one knows up to %d; update chromafs", ErrVersion, written, version)
	}
	return nil
}

// prepareSchema makes the tables in an empty database, and turns on the write-ahead log.
func prepareSchema(ctx context.Context, db *sql.DB) error {
	err := checkSchema(ctx, db)
	if errors.Is(err, index.ErrNoCollection) {
		err = createSchema(ctx, db)
	}
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

func createSchema(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA page_size = %d", pageSize)); err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	header := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, version)
	if _, err := tx.ExecContext(ctx, header+schema); err != nil {
		return err
	}
	return tx.Commit()
}
