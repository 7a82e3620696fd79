package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrLocked: another process, or another Store of this one, has the index open for writing.
var ErrLocked = errors.New("another process is writing to it")

// connections is what the connections of one pool are like.
type connections struct {
	mode    string
	max     int
	pragmas []string
}

// busyTimeout, in milliseconds, is far more than a commit or a checkpoint takes.
const busyTimeout = "busy_timeout(10000)"

var (
	reading = connections{mode: "ro", max: 4, pragmas: []string{busyTimeout}}
	// The writer's cache holds the id table's pages, which a batch touches all over; its log is written back every 16 MiB.
	writing = connections{mode: "rwc", max: 1, pragmas: []string{
		busyTimeout, "synchronous(FULL)", "fullfsync(1)", "cache_size(-16000)", "wal_autocheckpoint(1024)",
	}}
)

func openDB(path string, c connections) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	query := url.Values{"mode": {c.mode}, "_pragma": c.pragmas, "_txlock": {"immediate"}}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	connector, err := driver.NewConnector(dsn.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(c.max)
	db.SetMaxIdleConns(c.max)
	return db, nil
}

var creating sync.Mutex

// createFile makes an empty file for its owner alone, unless one is there. SQLite would make it for everybody, and gives
// the files beside it the same mode. No file that is there is opened: closing it would drop the locks that this process
// has on it.
func createFile(path string) error {
	creating.Lock()
	defer creating.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// lock is held by whoever may write. It is an exclusive transaction on an empty database of its own, so that it works
// wherever SQLite does and ends with the process.
type lock struct {
	db   *sql.DB
	conn *sql.Conn
}

func acquire(ctx context.Context, path string, wait time.Duration) (*lock, error) {
	c := connections{mode: "rwc", max: 1, pragmas: []string{fmt.Sprintf("busy_timeout(%d)", max(wait, 0).Milliseconds())}}
	if err := createFile(path); err != nil {
		return nil, err
	}
	db, err := openDB(path, c)
	if err != nil {
		return nil, err
	}
	l := &lock{db: db}
	if l.conn, err = db.Conn(ctx); err == nil {
		// A journal would be one more file. The pragma waits, too, and only a statement's wait ends with the context.
		_, err = l.conn.ExecContext(ctx, "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
	}
	if code(err) == sqlite3.SQLITE_BUSY {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

func (l *lock) release() error {
	var err error
	if l.conn != nil {
		_, _ = l.conn.ExecContext(context.Background(), "ROLLBACK")
		err = l.conn.Close()
	}
	return errors.Join(err, l.db.Close())
}

// code is SQLite's primary result code, 0 for other errors.
func code(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}
