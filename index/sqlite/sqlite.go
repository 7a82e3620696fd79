// Package sqlite is the embedded index: all records in one SQLite file, without a server and without a full-text index.
// It knows nothing of pages or snapshots, and it never deletes a record that it was not told to delete.
//
// Records lie in packs, some tens of kilobytes of documents of one kind and site in one row, because a scan of a few
// hundred large rows is several times faster than one of many thousand small ones. A second table finds the pack of an
// id. Packs hold living records only: what is deleted or replaced is cut out at once.
package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/chromafs/chromafs/index"
)

// One transaction takes up to batch records, of up to batchBytes of text. Larger ones write the id table's pages less
// often, but make the log beside the file as large as they are.
const (
	batch      = 4096
	batchBytes = 8 << 20
)

// lockWait is how long Open waits for another writer unless Options say otherwise.
const lockWait = 5 * time.Second

// Options of Open. The zero value opens for reading and writing and makes what is missing.
type Options struct {
	// ReadOnly never creates or changes the file, nor waits for a writer.
	ReadOnly bool
	// Wait is how long to wait until another writer is done: 0 is 5 seconds, less is not at all.
	Wait time.Duration
}

// Store is an index.Store in one file. It is safe for concurrent use.
//
// Upsert, Copy and Delete return once their transactions are on the disk (write-ahead log, flushed at every commit), so
// a snapshot that is published afterwards names no record that a killed process or a power cut can lose, as far as the
// disk keeps its word.
//
// One process at a time has a file open for writing, others may read meanwhile. From its first write until Close,
// SQLite's files PATH-wal and PATH-shm lie beside it; a killed writer leaves them there, and they belong to the data. The
// empty file PATH.lock stays. All of them are for their owner alone, since records may not be public.
type Store struct {
	path string
	opts Options

	reader atomic.Pointer[reader] // never nil; without a database as long as there is no index

	mu     sync.Mutex // guards what follows
	writer *writer    // nil before the first write
	lock   *lock
	closed bool
}

var (
	_ index.Store = (*Store)(nil)

	errClosed = errors.New("already closed")
)

// Open opens the index in the file path. Without ReadOnly it takes the writers' lock of an index that is there, and
// changes nothing else. Where none is, the first write makes it, with its folder and its lock.
//
// Its errors wrap index.ErrNoCollection where ReadOnly finds nothing, ErrLocked where another writer does not end in
// time, ErrVersion for a file of a newer chromafs, and index.ErrCorrupt for a file that is no index, or a damaged one.
// None of these files is changed.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	if opts.Wait == 0 {
		opts.Wait = lockWait
	}
	s := &Store{path: path, opts: opts}
	s.reader.Store(new(reader))
	err := s.open(ctx)
	if err == nil {
		return s, nil
	}
	return nil, errors.Join(s.fail(ctx, "open", err), s.closeAll())
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.path, err = resolve(s.path); err != nil {
		return err
	}
	filled, err := isFilled(s.path)
	if err != nil || !filled {
		if err == nil && s.opts.ReadOnly {
			err = index.ErrNoCollection
		}
		return err
	}
	r, err := openReader(ctx, s.path)
	if code(err) == sqlite3.SQLITE_READONLY && !s.opts.ReadOnly {
		if err = s.rollBack(ctx); err == nil {
			r, err = openReader(ctx, s.path)
		}
	}
	if errors.Is(err, index.ErrNoCollection) && !s.opts.ReadOnly {
		return nil
	}
	if err != nil {
		return err
	}
	s.reader.Store(r)
	if !s.opts.ReadOnly && s.lock == nil {
		s.lock, err = acquire(ctx, s.path+".lock", s.opts.Wait)
	}
	return err
}

// rollBack takes back a write that was broken off with a rollback journal, which only a connection that may write does.
// Such are the first write to a new file, and the switches to the write-ahead log and back.
func (s *Store) rollBack(ctx context.Context) (err error) {
	if s.lock, err = acquire(ctx, s.path+".lock", s.opts.Wait); err != nil {
		return err
	}
	db, err := openDB(s.path, writing)
	if err != nil {
		return err
	}
	return errors.Join(checkSchema(ctx, db), db.Close())
}

// resolve makes path absolute, and free of links if a file is there.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return path, err
	}
	if target, err := filepath.EvalSymlinks(path); !errors.Is(err, fs.ErrNotExist) {
		return target, err
	}
	return path, nil
}

// isFilled reports whether a file is there that is not empty.
func isFilled(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, errNotIndex
	}
	return info.Size() > 0, nil
}

// beginWriting returns what writes take, which the first of them opens, and makes the index if there is none.
func (s *Store) beginWriting(ctx context.Context) (*writer, error) {
	if s.opts.ReadOnly {
		return nil, ErrReadOnly
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.writer != nil {
		return s.writer, nil
	}
	if s.lock == nil {
		if err := s.claim(ctx); err != nil {
			return nil, err
		}
	}
	w, err := openWriter(ctx, s.path)
	if err != nil {
		return nil, err
	}
	if s.reader.Load().db == nil {
		r, err := openReader(ctx, s.path)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		s.reader.Store(r)
	}
	s.writer = w
	return w, nil
}

// claim takes the lock of an index that was not there when the store was opened, and must not be there now: else what
// was read from the store so far is no longer so.
func (s *Store) claim(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	l, err := acquire(ctx, s.path+".lock", s.opts.Wait)
	if err != nil {
		return err
	}
	filled, err := isFilled(s.path)
	if err == nil && filled {
		err = index.ErrChanged
	}
	if err == nil {
		err = createFile(s.path)
	}
	if err != nil {
		return errors.Join(err, l.release())
	}
	s.lock = l
	return nil
}

// Close releases the file. Where no other process reads it, its side files are gone afterwards.
func (s *Store) Close() error {
	return s.fail(context.Background(), "close", s.closeAll())
}

func (s *Store) closeAll() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var errs []error
	if db := s.reader.Load().db; db != nil {
		errs = append(errs, db.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
		s.writer = nil
	}
	if s.lock != nil {
		errs = append(errs, s.lock.release())
		s.lock = nil
	}
	return errors.Join(errs...)
}

// Batch is the number of records that one transaction takes.
func (s *Store) Batch() int { return batch }
