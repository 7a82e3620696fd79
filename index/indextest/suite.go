// Package indextest holds the conformance suite that every index.Store passes, an in-memory Store and a Store that
// breaks on purpose, for tests of this and other packages.
package indextest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// Run holds a backend to the contract of index.Store. Every call of open gives a Store over a collection of its own,
// which is empty; Run closes it.
func Run(t *testing.T, open func(t *testing.T) index.Store) {
	tests := []struct {
		name string
		run  func(t *testing.T, s index.Store)
	}{
		{"Documents", testDocuments},
		{"Metadata", testMetadata},
		{"IDs of records", testAwkwardIDs},
		{"Upsert replaces", testReplace},
		{"Order", testOrder},
		{"Many", testMany},
		{"Nothing", testNothing},
		{"Refused", testRefused},
		{"Copy", testCopy},
		{"Copy replaces", testCopyReplaces},
		{"Copy many", testCopyMany},
		{"Copy missing", testCopyMissing},
		{"Copy refused", testCopyRefused},
		{"Delete", testDelete},
		{"List", testList},
		{"Own copies", testCopies},
		{"Cancelled", testCancelled},
		{"Concurrent", testConcurrent},
		{"Search", testSearch},
		{"Search folds", testSearchFold},
		{"Search odd literals", testSearchLiterals},
		{"Search kinds", testSearchKinds},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(t, s)
		})
	}
}

// chunk is a chunk record with the keys that are always written.
func chunk(id, document string) index.Record {
	return index.Record{ID: id, Document: document, Metadata: index.Metadata{
		Kind: index.KindChunk, PageSlug: "guides/page.md", IsPublic: true, Groups: []string{"*"}, Visibility: "public",
	}}
}

func upsert(t *testing.T, s index.Store, records ...index.Record) {
	t.Helper()
	if err := s.Upsert(t.Context(), records); err != nil {
		t.Fatalf("upsert %d records: %v", len(records), err)
	}
}

func idsOf(records []index.Record) []string {
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	return ids
}

// expect compares the answers of Get, Documents and Metadata about ids with the records that should be there.
func expect(t *testing.T, s index.Store, ids []string, want []index.Record) {
	t.Helper()
	got, err := s.Get(t.Context(), ids)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	expectRecords(t, "get", got, want)

	documents, err := s.Documents(t.Context(), ids)
	if err != nil {
		t.Fatalf("documents: %v", err)
	}
	if len(documents) != len(want) {
		t.Errorf("documents: %d, want %d", len(documents), len(want))
	}
	bare := slices.Clone(want)
	for i, r := range want {
		if d, ok := documents[r.ID]; !ok || d != r.Document {
			t.Errorf("documents: %q is %.80q (found %t), want %.80q", r.ID, d, ok, r.Document)
		}
		bare[i].Document = ""
	}

	if got, err = s.Metadata(t.Context(), ids); err != nil {
		t.Fatalf("metadata: %v", err)
	}
	expectRecords(t, "metadata", got, bare)
}

func expectRecords(t *testing.T, operation string, got, want []index.Record) {
	t.Helper()
	if g, w := idsOf(got), idsOf(want); !slices.Equal(g, w) {
		t.Errorf("%s: ids are %.200q, want %.200q", operation, g, w)
		return
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: record %q is\n%.300q\nwant\n%.300q", operation, want[i].ID, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
}

func expectCount(t *testing.T, s index.Store, want int) {
	t.Helper()
	if n, err := s.Count(t.Context()); err != nil || n != want {
		t.Errorf("count: %d, %v, want %d", n, err, want)
	}
}

func expectIDs(t *testing.T, s index.Store, kind, site string, want ...string) {
	t.Helper()
	got, err := s.IDs(t.Context(), kind, site)
	if err != nil {
		t.Fatalf("ids of kind %q, site %q: %v", kind, site, err)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("ids of kind %q, site %q: %d %.200q, want %d %.200q", kind, site, len(got), got, len(want), want)
	}
}

// testConcurrent reads while another goroutine writes: every record that is read is one that was written, whole.
func testConcurrent(t *testing.T, s index.Store) {
	const records, rounds = 20, 10
	revision := func(round int) []index.Record {
		out := make([]index.Record, records)
		for i := range out {
			out[i] = chunk(fmt.Sprintf("r#%d", i), fmt.Sprintf("round %d", round))
			out[i].Metadata.Title = out[i].Document
		}
		return out
	}
	first := revision(0)
	upsert(t, s, first...)
	ids := idsOf(first)

	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				expectWhole(t, s, ids)
			}
		})
	}
	for round := range rounds {
		upsert(t, s, revision(round+1)...)
	}
	stop()
	readers.Wait()
	expect(t, s, ids, revision(rounds))
}

func expectWhole(t *testing.T, s index.Store, ids []string) {
	got, err := s.Get(t.Context(), ids)
	if err != nil || len(got) != len(ids) {
		t.Errorf("get beside a writer: %d records of %d, %v", len(got), len(ids), err)
	}
	for _, r := range got {
		if r.Document != r.Metadata.Title {
			t.Errorf("record %q has the document of %q and the metadata of %q", r.ID, r.Document, r.Metadata.Title)
		}
	}
	found, err := s.Search(t.Context(), index.Query{Literals: []string{"round"}})
	if err != nil || len(found) != len(ids) {
		t.Errorf("search beside a writer: %d records of %d, %v", len(found), len(ids), err)
	}
}
