package indextest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// awkward are texts that stores like to change on the way. They are valid UTF-8 without NUL and at most 16 KiB, as
// every chunk.
func awkward() []string {
	return []string{
		"", "\n", "\n\n\n", " ", "\t", "\r\n", "one\r\ntwo\r\n", "one\rtwo", " leading and trailing \n",
		"line\u2028separator\u2029paragraph\u0085next", "vertical\vform\fescape\x1b[0m", "\x01\x02\x7f",
		"emoji 👩‍👩‍👧 𝄞", "e\u0301 é", "\ufeffmark", "\ufffd", "\U0010ffff",
		`"quotes" 'single' ` + "`back`", `back\slash \\ \n \u0041`, "100% _under_ * ? [a-z] ^$.|(){}+",
		"'; DROP TABLE records; --", "{\"json\": null}", "null", "0", "1e5", "true", "<b>&amp;</b>",
		strings.Repeat("0123456789abcde\n", 1024), strings.Repeat("語", 5461),
	}
}

func testDocuments(t *testing.T, s index.Store) {
	var records []index.Record
	for i, d := range awkward() {
		records = append(records, chunk(fmt.Sprintf("d#%d", i), d))
	}
	upsert(t, s, records...)
	expect(t, s, idsOf(records), records)
}

// fullMetadata has a value that is not zero in every field.
func fullMetadata() index.Metadata {
	return index.Metadata{
		Kind: index.KindChunk, PageSlug: "site/guides/[slug] ü%20.mdx", ChunkIndex: 7, IsPublic: true,
		Groups: []string{"admin", "it's", "グループ"}, Visibility: "groups", Title: `A "title" \ ü`,
		Headings: strings.Repeat("é", index.MaxKeyBytes/2), StartLine: 120, Site: "site", URL: "https://example.com/a?b=c#d",
		RetiredAt: 1 << 40, Snapshot: "s1:" + strings.Repeat("0", 64), Parts: "a,b,c", PublishedAt: 1_700_000_000,
		Retiring: "d,e", Part: strings.Repeat("H4sI", 2000),
	}
}

func testMetadata(t *testing.T, s index.Store) {
	full := fullMetadata()
	records := []index.Record{{ID: "full", Document: "full", Metadata: full}, chunk("bare", "bare")}
	fields := reflect.TypeFor[index.Metadata]()
	for i := range fields.NumField() {
		if reflect.ValueOf(full).Field(i).IsZero() {
			t.Fatalf("the suite has no value for %s", fields.Field(i).Name)
		}
		r := chunk("only "+fields.Field(i).Name, "one more key")
		reflect.ValueOf(&r.Metadata).Elem().Field(i).Set(reflect.ValueOf(full).Field(i))
		records = append(records, r)
	}
	limits := chunk("limits", "limits")
	limits.Metadata.Groups = nil
	for i := range 100 {
		limits.Metadata.Groups = append(limits.Metadata.Groups, fmt.Sprintf("%0128d", i))
	}
	records = append(records, limits)
	upsert(t, s, records...)
	expect(t, s, idsOf(records), records)
}

func testAwkwardIDs(t *testing.T, s index.Store) {
	var records []index.Record
	for _, id := range []string{
		"__path_tree__", "__path_tree__:site", "abcdefghijklmnopqrstuvwxyz#0", "abc", "ABC", "a,b", `it's "this"`,
		`\`, "%", "_", "é", "e\u0301", "1", "01", strings.Repeat("x", 128),
	} {
		records = append(records, chunk(id, "document of "+id))
	}
	upsert(t, s, records...)
	expect(t, s, idsOf(records), records)
	expectIDs(t, s, index.KindChunk, "", idsOf(records)...)
}

func testReplace(t *testing.T, s index.Store) {
	for _, records := range [][]index.Record{
		{{ID: "a", Document: "full", Metadata: fullMetadata()}, chunk("b", "bare")},
		{chunk("a", ""), {ID: "b", Document: "now full", Metadata: fullMetadata()}},
		{chunk("b", "again"), chunk("a", "again")},
	} {
		upsert(t, s, records...)
		expect(t, s, idsOf(records), records)
		expectCount(t, s, len(records))
	}
	expectIDs(t, s, index.KindChunk, "site")
	expectIDs(t, s, index.KindChunk, "", "a", "b")
}

func testOrder(t *testing.T, s index.Store) {
	a, b, c := chunk("a", "1"), chunk("b", "2"), chunk("c", "3")
	upsert(t, s, b, c, a)
	expect(t, s, []string{"c", "a", "b"}, []index.Record{c, a, b})
	expect(t, s, []string{"none", "b", "nor this", "a"}, []index.Record{b, a})
	expect(t, s, []string{"none"}, nil)
}

func testMany(t *testing.T, s index.Store) {
	records := make([]index.Record, 1234)
	for i := range records {
		records[i] = chunk(fmt.Sprintf("m#%d", i), fmt.Sprintf("document %d", i))
		records[i].Metadata.ChunkIndex = i
	}
	upsert(t, s, records...)
	expectCount(t, s, len(records))
	expectIDs(t, s, index.KindChunk, "", idsOf(records)...)
	slices.Reverse(records)
	expect(t, s, idsOf(records), records)

	if err := s.Delete(t.Context(), idsOf(records[:1200])); err != nil {
		t.Fatalf("delete: %v", err)
	}
	expect(t, s, idsOf(records), records[1200:])
}

func testNothing(t *testing.T, s index.Store) {
	if s.Batch() < 1 {
		t.Errorf("batch of %d records", s.Batch())
	}
	expectCount(t, s, 0)
	expectIDs(t, s, "", "")
	expectIDs(t, s, index.KindChunk, "")
	if found, err := s.Search(t.Context(), index.Query{Literals: []string{"a"}}); err != nil || len(found) > 0 {
		t.Errorf("search: %q, %v", found, err)
	}
	upsert(t, s)
	for _, ids := range [][]string{nil, {"none"}} {
		if err := s.Delete(t.Context(), ids); err != nil {
			t.Errorf("delete %q: %v", ids, err)
		}
		expect(t, s, ids, nil)
	}
	expectCount(t, s, 0)

	upsert(t, s, chunk("a", "1"))
	if err := s.Delete(t.Context(), []string{}); err != nil {
		t.Errorf("delete nothing: %v", err)
	}
	expect(t, s, []string{}, nil)
	expectCount(t, s, 1)
}

// testRefused expects that one bad record keeps the others away too.
func testRefused(t *testing.T, s index.Store) {
	good := chunk("a", "text")
	for name, spoil := range map[string]func(r *index.Record){
		"twice":           func(r *index.Record) { r.ID = "a" },
		"no id":           func(r *index.Record) { r.ID = "" },
		"id":              func(r *index.Record) { r.ID = "a\xff" },
		"document":        func(r *index.Record) { r.Document = "a\xffb" },
		"NUL in document": func(r *index.Record) { r.Document = "a\x00b" },
		"group":           func(r *index.Record) { r.Metadata.Groups = []string{"*", "\xff"} },
		"NUL in title":    func(r *index.Record) { r.Metadata.Title = "a\x00" },
	} {
		bad := chunk("b", "text")
		spoil(&bad)
		if err := s.Upsert(t.Context(), []index.Record{good, bad}); err == nil || !strings.Contains(err.Error(), "record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	expectCount(t, s, 0)
}

func testDelete(t *testing.T, s index.Store) {
	a, b, c := chunk("a", "1"), chunk("b", "2"), chunk("c", "3")
	upsert(t, s, a, b, c)
	for range 2 {
		if err := s.Delete(t.Context(), []string{"none", "b", "nor this"}); err != nil {
			t.Fatalf("delete: %v", err)
		}
		expect(t, s, []string{"a", "b", "c"}, []index.Record{a, c})
		expectCount(t, s, 2)
	}
	upsert(t, s, b)
	expect(t, s, []string{"b"}, []index.Record{b})
}

func testList(t *testing.T, s index.Store) {
	var records []index.Record
	for _, kind := range []string{index.KindChunk, index.KindPathTree, index.KindPart, "foreign", ""} {
		for _, site := range []string{"", "a", "b"} {
			r := chunk(kind+" of "+site, "document")
			r.Metadata.Kind, r.Metadata.Site = kind, site
			records = append(records, r)
		}
	}
	upsert(t, s, records...)
	expect(t, s, idsOf(records), records)
	expectIDs(t, s, "", "", idsOf(records)...)
	expectIDs(t, s, "", "a", idsOf(records)...)
	expectIDs(t, s, index.KindChunk, "", "chunk of ")
	expectIDs(t, s, index.KindChunk, "a", "chunk of a")
	expectIDs(t, s, index.KindPart, "b", "part of b")
	expectIDs(t, s, index.KindPathTree, "c")
	expectIDs(t, s, "other", "")
	expectCount(t, s, len(records))
}

// testCopies changes what it has given to the store and got from it.
func testCopies(t *testing.T, s index.Store) {
	given := chunk("a", "1")
	upsert(t, s, given)
	given.Metadata.Groups[0] = "changed"
	expect(t, s, []string{"a"}, []index.Record{chunk("a", "1")})
	copied := index.Copy{From: "a", To: "a", Metadata: chunk("a", "1").Metadata}
	copyRecords(t, s, copied)
	copied.Metadata.Groups[0] = "changed"
	expect(t, s, []string{"a"}, []index.Record{chunk("a", "1")})
	got, err := s.Get(t.Context(), []string{"a"})
	if err != nil || len(got) != 1 {
		t.Fatalf("get: %v, %v", got, err)
	}
	got[0].Metadata.Groups[0] = "changed"
	expect(t, s, []string{"a"}, []index.Record{chunk("a", "1")})
}

func testCancelled(t *testing.T, s index.Store) {
	kept := chunk("kept", "document")
	upsert(t, s, kept)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, call := range []struct {
		name string
		run  func() error
	}{
		{"upsert", func() error { return s.Upsert(ctx, []index.Record{chunk("new", "document"), chunk("kept", "new")}) }},
		{"delete", func() error { return s.Delete(ctx, []string{"kept"}) }},
		{"get", func() error { _, err := s.Get(ctx, []string{"kept"}); return err }},
		{"documents", func() error { _, err := s.Documents(ctx, []string{"kept"}); return err }},
		{"metadata", func() error { _, err := s.Metadata(ctx, []string{"kept"}); return err }},
		{"ids", func() error { _, err := s.IDs(ctx, "", ""); return err }},
		{"count", func() error { _, err := s.Count(ctx); return err }},
		{"search", func() error { _, err := s.Search(ctx, index.Query{Literals: []string{"doc"}}); return err }},
	} {
		if err := call.run(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", call.name, err)
		}
	}
	expect(t, s, []string{"kept", "new"}, []index.Record{kept})
}
