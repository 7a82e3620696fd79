package sqlite_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
)

// readAll makes every kind of read, and expects n records.
func readAll(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	ids, err := s.IDs(t.Context(), "", "")
	if err != nil || len(ids) != n || count(t, s) != n {
		t.Errorf("%d ids, want %d, %v", len(ids), n, err)
	}
	asked := append(slices.Clone(ids), "none")
	records, err := s.Get(t.Context(), asked)
	if err != nil || len(records) != n {
		t.Errorf("get: %d records, want %d, %v", len(records), n, err)
	}
	if documents, err := s.Documents(t.Context(), asked); err != nil || len(documents) != n {
		t.Errorf("documents: %d, want %d, %v", len(documents), n, err)
	}
	if found, err := s.Search(t.Context(), index.Query{Literals: []string{"text"}}); err != nil || len(found) != n {
		t.Errorf("search: %d records, want %d, %v", len(found), n, err)
	}
}

// What is opened for writing and then only read leaves nothing where nothing was.
func TestNothingBeforeTheFirstWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "index.db")
	s := open(t, path, sqlite.Options{})
	readAll(t, s, 0)
	upsert(t, s, nil)
	if err := s.Upsert(t.Context(), []index.Record{{}}); err == nil {
		t.Error("a record without an id was written")
	}
	if err := s.Copy(t.Context(), copies("", "b")); !errors.Is(err, index.ErrNoRecord) {
		t.Errorf("copy of no id: %v", err)
	}
	closeStore(t, s)
	if err := s.Upsert(t.Context(), chunks("a", "text", 1)); err == nil {
		t.Error("written after Close")
	}
	if err := s.Copy(t.Context(), copies("a", "b")); err == nil || errors.Is(err, index.ErrNoRecord) {
		t.Errorf("copy after Close: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(path))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made a folder: %v", err)
	}

	s = open(t, path, sqlite.Options{})
	upsert(t, s, chunks("a", "text", 3))
	readAll(t, s, 3)
	closeStore(t, s)
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %o", name, info.Mode(), err, want)
		}
	}
}

// The files beside the index are as private as it is.
func TestSideFiles(t *testing.T) {
	path := temp(t)
	s := open(t, path, sqlite.Options{})
	defer closeStore(t, s)
	upsert(t, s, chunks("a", "text", 3))
	for _, name := range folder(t, path) {
		if info, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if n := len(folder(t, path)); n != 4 {
		t.Errorf("%d files while writing", n)
	}
}

func TestOnlyReadChangesNothing(t *testing.T) {
	path := temp(t)
	s := open(t, path, sqlite.Options{})
	upsert(t, s, chunks("a", "text", 3))
	closeStore(t, s)
	old := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	before, names := content(t, path), folder(t, path)

	s = open(t, path, sqlite.Options{})
	readAll(t, s, 3)
	if got := folder(t, path); !slices.Equal(got, names) {
		t.Errorf("opening for writing made %q of %q", got, names)
	}
	closeStore(t, s)
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(old) || content(t, path) != before || !slices.Equal(folder(t, path), names) {
		t.Errorf("changed without a write: %v, %v, %q", info.ModTime(), err, folder(t, path))
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Of two that found no index, the one that writes later must not act on that.
func TestMadeByAnotherMeanwhile(t *testing.T) {
	path := temp(t)
	first := open(t, path, sqlite.Options{})
	second := open(t, path, sqlite.Options{Wait: -1})
	readAll(t, second, 0)
	upsert(t, first, chunks("a", "text", 3))
	if err := second.Upsert(t.Context(), chunks("b", "text", 1)); !errors.Is(err, sqlite.ErrLocked) {
		t.Errorf("beside the first: %v", err)
	}
	closeStore(t, first)
	for range 2 {
		err := second.Upsert(t.Context(), chunks("b", "text", 1))
		if !errors.Is(err, index.ErrChanged) || !strings.Contains(err.Error(), path) {
			t.Errorf("after the first: %v", err)
		}
		if err := second.Delete(t.Context(), []string{"a#0"}); !errors.Is(err, index.ErrChanged) {
			t.Errorf("delete after the first: %v", err)
		}
		if err := second.Copy(t.Context(), copies("a#0", "b")); !errors.Is(err, index.ErrChanged) {
			t.Errorf("copy after the first: %v", err)
		}
	}
	third := open(t, path, sqlite.Options{Wait: -1})
	readAll(t, third, 3)
	closeStore(t, third)
	closeStore(t, second)
}

// What the error of a damaged index says to do works, even if files beside it stay.
func TestMoveAwayAndAgain(t *testing.T) {
	for _, side := range []string{"", "-wal", "-journal"} {
		path := temp(t)
		if err := os.WriteFile(path, []byte(strings.Repeat("damaged ", 9999)), 0o600); err != nil {
			t.Fatal(err)
		}
		if side != "" {
			if err := os.WriteFile(path+side, []byte(strings.Repeat("damaged ", 9999)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); !errors.Is(err, index.ErrCorrupt) ||
			!strings.Contains(err.Error(), "move the file away and run ingest again") {
			t.Errorf("damaged: %v", err)
		}
		if err := os.Rename(path, path+".damaged"); err != nil {
			t.Fatal(err)
		}
		s := open(t, path, sqlite.Options{})
		upsert(t, s, chunks("a", "text", 3))
		closeStore(t, s)
		s = open(t, path, sqlite.Options{ReadOnly: true})
		readAll(t, s, 3)
		closeStore(t, s)
		consistent(t, path)
	}
}

// Trouble of a local file is not that of a server.
func TestLocalTrouble(t *testing.T) {
	path := temp(t)
	s := open(t, path, sqlite.Options{})
	upsert(t, s, chunks("a", "text", 1))
	closeStore(t, s)

	database(t, path, "PRAGMA journal_mode = WAL")
	if err := os.Mkdir(path+"-wal", 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	if err == nil || errors.Is(err, index.ErrUnavailable) || errors.Is(err, index.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder in the place of the log: %v", err)
	}
}

// A write that was broken off with a rollback journal is taken back by who may write, and told to others.
func TestBrokenOff(t *testing.T) {
	from := temp(t)
	s := open(t, from, sqlite.Options{})
	upsert(t, s, chunks("a", strings.Repeat("text ", 5000), 100))
	closeStore(t, s)
	db, err := sql.Open("sqlite", from)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	// With hardly a cache, pages of the transaction are in the file before it ends.
	if _, err := db.Exec("PRAGMA cache_size = 1; BEGIN; UPDATE packs SET documents = zeroblob(20000), kind = 'broken'"); err != nil {
		t.Fatal(err)
	}
	path := temp(t)
	for _, side := range []string{"", "-journal"} {
		if err := os.WriteFile(path+side, []byte(content(t, from+side)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	if err == nil || !strings.Contains(err.Error(), "the next ingest takes back") || errors.Is(err, index.ErrCorrupt) {
		t.Errorf("reader: %v", err)
	}
	for _, readOnly := range []bool{false, true} {
		s = open(t, path, sqlite.Options{ReadOnly: readOnly})
		readAll(t, s, 100)
		closeStore(t, s)
	}
	consistent(t, path)
}
