// Package sqlite is the embedded index: all records in one SQLite file, without a server and without a full-text index.
// It knows nothing of pages or snapshots, and it never deletes a record that it was not told to delete.
//
// Records lie in packs, some tens of kilobytes of documents of one kind and site in one row, because a scan of a few
// hundred large rows is several times faster than one of many thousand small ones. A second table finds the pack of an
// id. Packs hold living records only: what is deleted or replaced is cut out at once.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/chromafs/chromafs/index"
)

// batch is the number of records of one transaction. Larger ones write the id table's pages less often.
const batch = 4096

// lockWait is how long Open waits for another writer unless Options say otherwise.
const lockWait = 5 * time.Second

// Options of Open. The zero value opens for reading and writing and makes what is missing.
type Options struct {
	// ReadOnly never creates or changes the file, nor waits for a writer.
	ReadOnly bool
	// Wait is how long Open waits until another writer is done: 0 is 5 seconds, less is not at all.
	Wait time.Duration
}

// Store is an index.Store in one file. It is safe for concurrent use.
//
// Upsert and Delete return once their transactions are on the disk (write-ahead log, flushed at every commit), so
// a snapshot that is published afterwards names no record that a killed process or a power cut can lose, as far as the
// disk keeps its word.
//
// One process at a time has a file open for writing, others may read meanwhile. While it is open for writing, SQLite's
// files PATH-wal and PATH-shm lie beside it; a killed writer leaves them there, and they belong to the data. The empty
// file PATH.lock stays.
type Store struct {
	path  string
	read  *sql.DB
	write *sql.DB // nil when read-only
	lock  *lock

	insertPack, insertIDs *sql.Stmt

	pickAll, pickMetadata, pickDocuments, listAll, listScope, scan, count *sql.Stmt
}

var _ index.Store = (*Store)(nil)

// Open opens the index in the file path. Without ReadOnly it makes the file, and the folder that it lies in.
//
// Its errors wrap index.ErrNoCollection where ReadOnly finds nothing, ErrLocked where another writer does not end in
// time, ErrVersion for a file of a newer chromafs, and index.ErrCorrupt for a file that is no index, or a damaged one.
// None of these files is changed.
func Open(ctx context.Context, path string, opts Options) (*Store, error) {
	s := &Store{path: path}
	err := s.open(ctx, opts)
	if err == nil {
		return s, nil
	}
	return nil, errors.Join(s.fail(ctx, "open", err), s.closeAll())
}

func (s *Store) open(ctx context.Context, opts Options) error {
	filled, err := s.resolve()
	if err != nil {
		return err
	}
	if !filled && opts.ReadOnly {
		return index.ErrNoCollection
	}
	if s.read, err = openDB(s.path, readers); err != nil {
		return err
	}
	if filled {
		if err := checkSchema(ctx, s.read); err != nil && (opts.ReadOnly || !errors.Is(err, index.ErrNoCollection)) {
			return err
		}
	}
	if !opts.ReadOnly {
		if err := s.openWrite(ctx, opts.Wait); err != nil {
			return err
		}
	}
	return s.prepareReads(ctx)
}

// resolve makes the path absolute and free of links, and reports whether a file is there that is not empty.
func (s *Store) resolve() (filled bool, err error) {
	if s.path, err = filepath.Abs(s.path); err != nil {
		return false, err
	}
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errNotIndex
	}
	s.path, err = filepath.EvalSymlinks(s.path)
	return info.Size() > 0, err
}

func (s *Store) openWrite(ctx context.Context, wait time.Duration) (err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	if wait == 0 {
		wait = lockWait
	}
	if s.lock, err = acquire(ctx, s.path+".lock", wait); err != nil {
		return err
	}
	if s.write, err = openDB(s.path, writer); err != nil {
		return err
	}
	if err := prepareSchema(ctx, s.write); err != nil {
		return err
	}
	return s.prepareWrites(ctx)
}

// Close releases the file. Where no other process reads it, its side files are gone afterwards.
func (s *Store) Close() error {
	return s.fail(context.Background(), "close", s.closeAll())
}

func (s *Store) closeAll() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.write != nil {
		// Out of write-ahead mode a reader needs no side files, and can read where it must not write. It fails, without
		// harm, while another process reads.
		_, _ = s.write.Exec("PRAGMA journal_mode = DELETE")
		errs = append(errs, s.write.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.release())
	}
	return errors.Join(errs...)
}

// Batch is the number of records that one transaction takes.
func (s *Store) Batch() int { return batch }
