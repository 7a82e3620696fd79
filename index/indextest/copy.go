package indextest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// copiesOf are copies of records under other ids, and the records that they should make: with the metadata, and some
// text of its own in each.
func copiesOf(records []index.Record, suffix string, m index.Metadata) (copies []index.Copy, made []index.Record) {
	for i, r := range records {
		c := index.Copy{From: r.ID, To: r.ID + suffix, Metadata: m}
		c.Metadata.Title = fmt.Sprintf("%s %d", m.Title, i)
		c.Metadata.Groups = slices.Clone(m.Groups)
		copies = append(copies, c)
		made = append(made, index.Record{ID: c.To, Document: r.Document, Metadata: c.Metadata})
	}
	return copies, made
}

func copyRecords(t *testing.T, s index.Store, copies ...index.Copy) {
	t.Helper()
	if err := s.Copy(t.Context(), copies); err != nil {
		t.Fatalf("copy %d records: %v", len(copies), err)
	}
}

// testCopy makes copies with every key and with few, and copies of those.
func testCopy(t *testing.T, s index.Store) {
	var records []index.Record
	for i, d := range awkward() {
		records = append(records, chunk(fmt.Sprintf("é'\"#%d", i), d))
	}
	upsert(t, s, records...)
	copies, full := copiesOf(records, "+", fullMetadata())
	copyRecords(t, s, copies...)
	bare, again := copiesOf(full, "+", chunk("", "").Metadata)
	copyRecords(t, s, bare...)

	all := slices.Concat(records, full, again)
	expect(t, s, idsOf(all), all)
	expectCount(t, s, len(all))
	expectIDs(t, s, index.KindChunk, "site", idsOf(full)...)
	expectIDs(t, s, index.KindChunk, "", append(idsOf(records), idsOf(again)...)...)
	for _, literal := range []string{"emoji", "true", "é", "\n"} {
		if n := expectFound(t, s, all, index.Query{Literals: []string{literal}}); n < 3 {
			t.Errorf("the suite expects %d records with %q", n, literal)
		}
	}

	// A copy depends on nothing.
	if err := s.Delete(t.Context(), idsOf(append(records, full...))); err != nil {
		t.Fatalf("delete: %v", err)
	}
	expect(t, s, idsOf(all), again)
}

// testCopyReplaces copies onto records that are there, and onto itself.
func testCopyReplaces(t *testing.T, s index.Store) {
	full, bare := index.Record{ID: "full", Document: "needle one", Metadata: fullMetadata()}, chunk("bare", "two")
	upsert(t, s, full, bare, chunk("from", "three"))
	change := func(r *index.Record, from, document string, m index.Metadata) index.Copy {
		r.Document, r.Metadata = document, m
		return index.Copy{From: from, To: r.ID, Metadata: m}
	}
	copyRecords(t, s, change(&full, "from", "three", chunk("", "").Metadata), change(&bare, "from", "three", fullMetadata()))
	from := chunk("from", "three")
	ids := []string{"bare", "from", "full"}
	expect(t, s, ids, []index.Record{bare, from, full})
	expectCount(t, s, 3)
	expectIDs(t, s, index.KindChunk, "site", "bare")
	expectFound(t, s, []index.Record{full, bare, from}, index.Query{Literals: []string{"needle", "three"}})

	// One record is copied twice and gets metadata of its own, beside another that does.
	copyRecords(t, s,
		change(&from, "from", "three", fullMetadata()), change(&full, "from", "three", fullMetadata()),
		change(&bare, "bare", "three", chunk("", "").Metadata), index.Copy{From: "bare", To: "new", Metadata: chunk("", "").Metadata})
	expect(t, s, append(ids, "new"), []index.Record{bare, from, full, chunk("new", "three")})
	expectCount(t, s, 4)
	expectIDs(t, s, index.KindChunk, "site", "from", "full")
}

// testCopyMany makes more copies than a backend makes at once.
func testCopyMany(t *testing.T, s index.Store) {
	records := make([]index.Record, 1001)
	for i := range records {
		records[i] = chunk(fmt.Sprintf("m#%d", i), fmt.Sprintf("document %d", i))
	}
	upsert(t, s, records...)
	m := chunk("", "").Metadata
	m.Groups, m.IsPublic, m.Visibility = []string{"admin"}, false, "groups"
	copies, made := copiesOf(records, "'", m)
	slices.Reverse(copies)
	copyRecords(t, s, copies...)
	all := append(records, made...)
	expect(t, s, idsOf(all), all)
	expectCount(t, s, len(all))
}

// testCopyMissing names what is not there, and writes nothing beside it.
func testCopyMissing(t *testing.T, s index.Store) {
	m := chunk("", "").Metadata
	missing := func(ids ...string) {
		t.Helper()
		var copies []index.Copy
		for i, id := range ids {
			copies = append(copies, index.Copy{From: id, To: fmt.Sprintf("to %d", i), Metadata: m})
		}
		id := fmt.Sprintf("%q", ids[len(ids)-1])
		if err := s.Copy(t.Context(), copies); !errors.Is(err, index.ErrNoRecord) || !strings.Contains(err.Error(), id) {
			t.Errorf("copy of %q: %v", ids, err)
		}
	}
	missing("none")
	a, b := chunk("a", "1"), chunk("\ufffd", "2")
	upsert(t, s, a, b)
	for _, id := range []string{"none", "A", "", "a\x00", "\xff"} {
		missing("a", id)
		missing("\ufffd", "a", id)
	}
	expectCount(t, s, 2)

	// The last cut is not written, whatever became of those before.
	records := make([]index.Record, 601)
	for i := range records {
		records[i] = chunk(fmt.Sprint(i), "text")
	}
	upsert(t, s, records...)
	missing(append(idsOf(records), "none")...)
	expect(t, s, []string{"to 600", "to 601"}, nil)
}

// testCopyRefused expects that one bad copy keeps the others away too.
func testCopyRefused(t *testing.T, s index.Store) {
	upsert(t, s, chunk("a", "1"), chunk("b", "2"))
	m := chunk("", "").Metadata
	for name, spoil := range map[string]func(c *index.Copy){
		"twice":        func(c *index.Copy) { c.To = "1" },
		"no id":        func(c *index.Copy) { c.To = "" },
		"id":           func(c *index.Copy) { c.To = "a\xff" },
		"group":        func(c *index.Copy) { c.Metadata.Groups = []string{"*", "\xff"} },
		"NUL in title": func(c *index.Copy) { c.Metadata.Title = "a\x00" },
		"chain":        func(c *index.Copy) { c.From = "1" },
		"overwritten":  func(c *index.Copy) { c.To = "a" },
		"swap":         func(c *index.Copy) { c.From, c.To = "1", "a" },
	} {
		copies := []index.Copy{{From: "a", To: "1", Metadata: m}, {From: "b", To: "2", Metadata: m}}
		spoil(&copies[1])
		if err := s.Copy(t.Context(), copies); err == nil || !strings.Contains(err.Error(), "record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	expectCount(t, s, 2)
	expect(t, s, []string{"a", "b"}, []index.Record{chunk("a", "1"), chunk("b", "2")})

	copyRecords(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Copy(ctx, []index.Copy{{From: "a", To: "1", Metadata: m}}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
	expectCount(t, s, 2)
}
