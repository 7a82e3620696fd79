package sqlite

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/chromafs/chromafs/index"
)

// ErrFull: the disk, or a quota on it, is full. The transaction was not made.
var ErrFull = fmt.Errorf("disk full: %w", syscall.ENOSPC)

// errBrokenOff: a journal lies beside the file, which a reader can't take back.
var errBrokenOff = errors.New("a write was broken off, which the next ingest takes back")

// fail classifies err and names the operation and the file. The context's error goes first, because an interrupted
// statement fails with one of SQLite's.
func (s *Store) fail(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s index %q: %w", operation, s.path, ctx.Err())
	}
	var class error
	switch code(err) {
	case sqlite3.SQLITE_NOTADB:
		err = errNotIndex
	case sqlite3.SQLITE_CORRUPT:
		class = index.ErrCorrupt
	case sqlite3.SQLITE_READONLY:
		if s.opts.ReadOnly {
			class = errBrokenOff
		}
	case sqlite3.SQLITE_FULL:
		class = ErrFull
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		class = ErrLocked
	}
	if class != nil && !errors.Is(err, class) {
		err = fmt.Errorf("%w: %w", class, err)
	}
	if errors.Is(err, index.ErrCorrupt) {
		return fmt.Errorf("%s index %q: %w; move the file away and run ingest again", operation, s.path, err)
	}
	return fmt.Errorf("%s index %q: %w", operation, s.path, err)
}
