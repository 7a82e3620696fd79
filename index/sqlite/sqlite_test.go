package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/index/sqlite"
)

func open(t testing.TB, path string, opts sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t testing.TB, s *sqlite.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func temp(t testing.TB) string { return filepath.Join(t.TempDir(), "index.db") }

func chunks(prefix, document string, n int) []index.Record {
	records := make([]index.Record, n)
	for i := range records {
		records[i] = index.Record{ID: fmt.Sprintf("%s#%d", prefix, i), Document: document, Metadata: index.Metadata{
			Kind: index.KindChunk, PageSlug: prefix, ChunkIndex: i, Groups: []string{"*"}, Visibility: "public",
		}}
	}
	return records
}

func upsert(t testing.TB, s index.Store, records []index.Record) {
	t.Helper()
	if err := s.Upsert(t.Context(), records); err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, s index.Store) int {
	t.Helper()
	n, err := s.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func folder(t testing.TB, path string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestConformance(t *testing.T) {
	indextest.Run(t, func(t *testing.T) index.Store { return open(t, temp(t), sqlite.Options{}) })
}

func TestReopen(t *testing.T) {
	for _, name := range []string{"index.db", "a b/in dex.db", "q?mode=ro#%41&x=y.db", "日本.db", "it's"} {
		path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
		s := open(t, path, sqlite.Options{})
		upsert(t, s, chunks("a", "text", 3))
		closeStore(t, s)
		want := []string{filepath.Base(path), filepath.Base(path) + ".lock"}
		if got := folder(t, path); !slices.Equal(got, want) {
			t.Errorf("%s: closing leaves %q, want %q", name, got, want)
		}
		for _, readOnly := range []bool{true, false} {
			s := open(t, path, sqlite.Options{ReadOnly: readOnly})
			if n := count(t, s); n != 3 {
				t.Errorf("%s: %d records after reopening, want 3", name, n)
			}
			closeStore(t, s)
		}
	}
}

func TestReadOnly(t *testing.T) {
	path := temp(t)
	missing := func() {
		t.Helper()
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); !errors.Is(err, index.ErrNoCollection) {
			t.Errorf("open what is not there: %v", err)
		}
	}
	missing()
	if got := folder(t, path); len(got) > 0 {
		t.Errorf("opening made %q", got)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	missing()

	w := open(t, path, sqlite.Options{})
	upsert(t, w, chunks("a", "text", 3))
	closeStore(t, w)
	before, _ := os.ReadFile(path)
	names := folder(t, path)
	s := open(t, path, sqlite.Options{ReadOnly: true})
	defer closeStore(t, s)
	if found, err := s.Search(t.Context(), index.Query{Literals: []string{"ext"}}); err != nil || len(found) != 3 {
		t.Errorf("search: %q, %v", found, err)
	}
	for _, err := range []error{s.Upsert(t.Context(), chunks("b", "", 1)), s.Delete(t.Context(), []string{"a#0"}), s.Copy(t.Context(), copies("a#0", "b"))} {
		if !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("write: %v", err)
		}
	}
	after, _ := os.ReadFile(path)
	if string(before) != string(after) || !slices.Equal(names, folder(t, path)) {
		t.Errorf("reading changed the file, or made one: %q before, %q now", names, folder(t, path))
	}
}

// database makes a SQLite file that chromafs did not write.
func database(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatal(err)
	}
}

func TestRefusedFiles(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(path string)
		want error
		text string
	}{
		{"text", func(path string) { os.WriteFile(path, []byte("# not an index\n"), 0o666) }, index.ErrCorrupt, "not a chromafs index"},
		{"long text", func(path string) { os.WriteFile(path, []byte(strings.Repeat("text\n", 9999)), 0o666) }, index.ErrCorrupt, "not a chromafs index"},
		{"folder", func(path string) { os.Mkdir(path, 0o777) }, index.ErrCorrupt, "not a chromafs index"},
		{"foreign", func(path string) { database(t, path, "CREATE TABLE t (x)") }, index.ErrCorrupt, "not a chromafs index"},
		{"foreign with a version", func(path string) { database(t, path, "PRAGMA user_version = 1") }, index.ErrCorrupt, "not a chromafs index"},
		{"newer", func(path string) {
			s := open(t, path, sqlite.Options{})
			upsert(t, s, chunks("a", "text", 1))
			closeStore(t, s)
			database(t, path, "PRAGMA user_version = 2")
		}, sqlite.ErrVersion, "update chromafs"},
	} {
		path := temp(t)
		test.make(path)
		before, _ := os.ReadFile(path)
		names := folder(t, path)
		for _, readOnly := range []bool{false, true} {
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: readOnly})
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, read-only %t: %v", test.name, readOnly, err)
			}
		}
		if after, _ := os.ReadFile(path); string(before) != string(after) || !slices.Equal(names, folder(t, path)) {
			t.Errorf("%s: opening changed the file or its folder", test.name)
		}
	}
}

func TestDamaged(t *testing.T) {
	path := temp(t)
	s := open(t, path, sqlite.Options{})
	upsert(t, s, chunks("a", strings.Repeat("text ", 400), 1000))
	closeStore(t, s)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 1 << 14; i < len(content); i++ {
		content[i] ^= 0x55
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, sqlite.Options{ReadOnly: true})
	defer closeStore(t, s)
	if _, err := s.Search(t.Context(), index.Query{Literals: []string{"text"}}); !errors.Is(err, index.ErrCorrupt) ||
		!strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "move the file away and run ingest again") {
		t.Errorf("search: %v", err)
	}
	if _, err := s.Get(t.Context(), []string{"a#1"}); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("get: %v", err)
	}
}

func TestOneWriter(t *testing.T) {
	path := temp(t)
	first := open(t, path, sqlite.Options{})
	upsert(t, first, chunks("a", "text", 1))
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{Wait: -1}); !errors.Is(err, sqlite.ErrLocked) {
		t.Errorf("second writer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(50*time.Millisecond, cancel)
	defer stop.Stop()
	if _, err := sqlite.Open(ctx, path, sqlite.Options{Wait: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("second writer, cancelled: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { first.Close() })
	second := open(t, path, sqlite.Options{Wait: time.Hour})
	if n := count(t, second); n != 1 {
		t.Errorf("the second writer finds %d records of the first", n)
	}
	closeStore(t, second)
}

// TestImpossibleIDs asks for ids that become the id of a record when they are made valid.
func TestImpossibleIDs(t *testing.T) {
	s := open(t, temp(t), sqlite.Options{})
	defer closeStore(t, s)
	record := chunks("a", "text", 1)[0]
	record.ID = "\ufffd"
	upsert(t, s, []index.Record{record})
	impossible := []string{"\xff", "\ufffd\x00", ""}
	if err := s.Delete(t.Context(), impossible); err != nil {
		t.Error(err)
	}
	if got, err := s.Get(t.Context(), append(impossible, record.ID)); err != nil || len(got) != 1 || got[0].ID != record.ID {
		t.Errorf("get: %v, %v", got, err)
	}
}

// TestAgainstMemory makes random changes here and in the Store in memory, and compares all that is left.
func TestAgainstMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := temp(t)
	s, model := open(t, path, sqlite.Options{}), indextest.Memory()
	ids := make([]string, 300)
	for i := range ids {
		ids[i] = fmt.Sprintf("r%d", i)
	}
	for range 60 {
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		some := ids[:1+random.IntN(150)]
		if random.IntN(3) == 0 {
			for _, store := range []index.Store{s, model} {
				if err := store.Delete(t.Context(), some); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		if random.IntN(3) == 0 {
			copySome(t, random, []index.Store{s, model}, ids)
			compare(t, s, model, ids)
			continue
		}
		records := make([]index.Record, len(some))
		for i, id := range some {
			records[i] = chunks("x", strings.Repeat(id+" text\n", random.IntN(200)), 1)[0]
			records[i].ID = id
			records[i].Metadata.Kind = []string{index.KindChunk, index.KindChunk, index.KindPart}[random.IntN(3)]
			records[i].Metadata.Site = []string{"", "b"}[random.IntN(2)]
		}
		upsert(t, s, records)
		upsert(t, model, records)
		compare(t, s, model, ids)
	}
	closeStore(t, s)
	consistent(t, path)
}

func compare(t *testing.T, got, want index.Store, ids []string) {
	t.Helper()
	records, err := got.Get(t.Context(), ids)
	wanted, _ := want.Get(t.Context(), ids)
	if err != nil || fmt.Sprint(records) != fmt.Sprint(wanted) {
		t.Fatalf("get: %d records, want %d, or others, %v", len(records), len(wanted), err)
	}
	if a, b := count(t, got), count(t, want); a != b || a == 0 {
		t.Fatalf("count: %d, want %d", a, b)
	}
	sorted := func(list []string, err error) []string {
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(list)
		return list
	}
	for _, kind := range []string{"", index.KindChunk, index.KindPart} {
		if a, b := sorted(got.IDs(t.Context(), kind, "b")), sorted(want.IDs(t.Context(), kind, "b")); !slices.Equal(a, b) {
			t.Fatalf("ids of kind %q: %q, want %q", kind, a, b)
		}
	}
	for _, q := range []index.Query{{Literals: []string{"r1 ", "7 t"}}, {Literals: []string{"R2"}, FoldCase: true}} {
		if a, b := sorted(got.Search(t.Context(), q)), sorted(want.Search(t.Context(), q)); !slices.Equal(a, b) {
			t.Fatalf("search %v: %q, want %q", q, a, b)
		}
	}
}

// consistent compares the two tables.
func consistent(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var check string
	var packed, found, strays int
	err = db.QueryRow(`SELECT integrity_check, (SELECT count(*) FROM lookup),
		(SELECT count(*) FROM lookup WHERE pack NOT IN (SELECT n FROM packs)) FROM pragma_integrity_check`).
		Scan(&check, &found, &strays)
	if err != nil || check != "ok" || strays > 0 {
		t.Errorf("integrity %q, %d ids of a missing pack, %v", check, strays, err)
	}
	rows, err := db.Query("SELECT ids FROM packs")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var ids string
		if err := rows.Scan(&ids); err != nil {
			t.Fatal(err)
		}
		packed += strings.Count(ids, "\x00") + 1
	}
	if packed != found || packed == 0 {
		t.Errorf("%d ids in packs, %d in the lookup table", packed, found)
	}
}
