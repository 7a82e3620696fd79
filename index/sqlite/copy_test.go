package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
)

// copies is a copy of one record.
func copies(from, to string) []index.Copy {
	return []index.Copy{{From: from, To: to, Metadata: chunks("copy", "", 1)[0].Metadata}}
}

// TestCopyTransactions makes copies in one transaction that reads twice, all of them or none, and in two because of their
// size.
func TestCopyTransactions(t *testing.T) {
	const n = 600
	for _, text := range []string{"text ", strings.Repeat("text ", 4000)} {
		s := open(t, temp(t), sqlite.Options{})
		records := chunks("a", text, n)
		var all []index.Copy
		for i := range records {
			records[i].Document += fmt.Sprint(i)
			all = append(all, index.Copy{From: records[i].ID, To: fmt.Sprint(i), Metadata: records[i].Metadata})
		}
		upsert(t, s, records)
		err := s.Copy(t.Context(), append(all[:n-1:n-1], copies("none", "none")...))
		if !errors.Is(err, index.ErrNoRecord) || len(text) < 10 && count(t, s) != n {
			t.Errorf("with a record that is missing: %v, %d records", err, count(t, s))
		}
		if err := s.Copy(t.Context(), all); err != nil || count(t, s) != 2*n {
			t.Errorf("%d records, %v", count(t, s), err)
		}
		for i := range records {
			records[i].ID = fmt.Sprint(i)
		}
		got, err := s.Get(t.Context(), []string{"0", "511", "512", "599"})
		want := []index.Record{records[0], records[511], records[512], records[599]}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d copies, or others: %v", len(got), err)
		}
		closeStore(t, s)
	}
}

// copySome copies those of the first half of ids that are there: some onto themselves, some onto the second half.
func copySome(t *testing.T, random *rand.Rand, stores []index.Store, ids []string) {
	t.Helper()
	from, err := stores[0].Metadata(t.Context(), ids[:len(ids)/2])
	if err != nil {
		t.Fatal(err)
	}
	var copies []index.Copy
	for i, r := range from {
		c := index.Copy{From: r.ID, To: r.ID, Metadata: r.Metadata}
		if random.IntN(2) == 0 {
			c.To = ids[len(ids)/2+i]
		}
		c.Metadata.Title = fmt.Sprint(random.IntN(100))
		c.Metadata.Site = []string{"", "b"}[random.IntN(2)]
		copies = append(copies, c)
	}
	for _, s := range stores {
		if err := s.Copy(t.Context(), copies); err != nil {
			t.Fatal(err)
		}
	}
}
