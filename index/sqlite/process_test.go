package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
)

// childPath in the environment makes the test binary a writer of the index it names.
const childPath = "CHROMAFS_TEST_WRITE_INDEX"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		fmt.Fprintln(os.Stderr, writeForever(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever writes batches, and prints the number of each that is acknowledged.
func writeForever(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return err
	}
	for round := 0; ; round++ {
		if err := s.Upsert(ctx, written(round)); err != nil {
			return err
		}
		fmt.Println(round)
	}
}

// written is the batch of a round: new records, and one that every round replaces.
func written(round int) []index.Record {
	text := fmt.Sprintf("text of round %d\n", round)
	return append(chunks(fmt.Sprintf("round%d", round), text, 50), chunks("same", text, 1)...)
}

// startWriter starts a process that writes for ever, and waits for some acknowledged rounds. The function that it
// returns kills the process and tells the last round that was acknowledged.
func startWriter(t *testing.T, path string, rounds int) (kill func() int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(out)
	last := -1
	next := func() error {
		_, err := fmt.Fscanln(in, &last)
		return err
	}
	for last < rounds {
		if err := next(); err != nil {
			t.Fatalf("the writing process: %v", err)
		}
	}
	kill = func() int {
		_ = cmd.Process.Kill()
		for next() == nil {
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		return last
	}
	t.Cleanup(func() { kill() })
	return kill
}

// expectRounds fails unless all acknowledged rounds, and nothing in halves, are there.
func expectRounds(t *testing.T, s *sqlite.Store, last int) {
	t.Helper()
	for round := range last + 1 {
		want := written(round)[:50]
		ids := make([]string, len(want))
		for i, r := range want {
			ids[i] = r.ID
		}
		got, err := s.Get(t.Context(), ids)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: %d records, %v", round, len(got), err)
		}
	}
	if n := count(t, s); n%50 != 1 || n < 50*(last+1) {
		t.Errorf("%d records after round %d", n, last)
	}
}

func TestKilled(t *testing.T) {
	for round := range 3 {
		path := temp(t)
		last := startWriter(t, path, 5*(round+1))()
		for _, readOnly := range []bool{true, false, true} {
			s := open(t, path, sqlite.Options{ReadOnly: readOnly})
			expectRounds(t, s, last)
			closeStore(t, s)
		}
		consistent(t, path)
	}
}

func TestTwoProcesses(t *testing.T) {
	path := temp(t)
	kill := startWriter(t, path, 2)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{Wait: -1}); !errors.Is(err, sqlite.ErrLocked) {
		t.Errorf("second writer: %v", err)
	}
	s := open(t, path, sqlite.Options{ReadOnly: true})
	defer closeStore(t, s)
	seen := 0
	for range 20 {
		n := count(t, s)
		if n%50 != 1 || n < seen {
			t.Errorf("%d records after %d, with a writer at work", n, seen)
		}
		seen = n
		found, err := s.Search(t.Context(), index.Query{Literals: []string{"text of round"}})
		if err != nil || len(found) < n {
			t.Errorf("search: %d records of %d, %v", len(found), n, err)
		}
	}
	last := kill()
	expectRounds(t, s, last)

	next := open(t, path, sqlite.Options{})
	expectRounds(t, next, last)
	upsert(t, next, chunks("next", "text", 50))
	closeStore(t, next) // while s still reads
	expectRounds(t, s, last)
}
