package chroma

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
)

// server is a real Chroma, spoken to as another client would.
type server struct {
	t   *testing.T
	url string
}

const collections = "/api/v2/tenants/default_tenant/databases/default_database/collections"

func realServer(t *testing.T) server { return server{t, indextest.Chroma(t)} }

// call fails the test on any answer but an object with 200.
func (s server) call(method, path string, body any) map[string]any {
	s.t.Helper()
	answer := s.exchange(method, path, body)
	var object map[string]any
	if err := json.Unmarshal(answer, &object); err != nil {
		s.t.Fatalf("%s %s: %v in %.300s", method, path, err, answer)
	}
	return object
}

func (s server) exchange(method, path string, body any) []byte {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequest(method, s.url+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s %s: %d %v %.300s", method, path, response.StatusCode, err, answer)
	}
	return answer
}

// name makes up a collection's name, and sees that the collection is gone after the test, its records first: those of a
// dropped collection leave their arrays to records of later tests.
func (s server) name() string {
	name := "test-" + strings.ToLower(rand.Text())
	s.t.Cleanup(func() {
		store, err := Open(context.Background(), Options{URL: s.url, Collection: name})
		if errors.Is(err, index.ErrNoCollection) {
			return
		}
		if err != nil {
			s.t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		ids, err := store.IDs(context.Background(), "", "")
		if err == nil {
			err = store.Delete(context.Background(), ids)
		}
		if err != nil {
			s.t.Error(err)
		}
		s.call(http.MethodDelete, collections+"/"+name, nil)
	})
	return name
}

// make makes a collection as another client does, and returns its name and path.
func (s server) make(config map[string]any) (name, path string) {
	s.t.Helper()
	body := map[string]any{"name": s.name()}
	for k, v := range config {
		body[k] = v
	}
	made := s.call(http.MethodPost, collections, body)
	return made["name"].(string), collections + "/" + made["id"].(string)
}

func (s server) open(opts Options) *Store {
	s.t.Helper()
	if opts.URL == "" {
		opts.URL = s.url
	}
	store, err := Open(s.t.Context(), opts)
	if err != nil {
		s.t.Fatalf("open: %v", err)
	}
	s.t.Cleanup(func() { _ = store.Close() })
	return store
}

func chunk(id, document string) index.Record {
	return index.Record{ID: id, Document: document, Metadata: index.Metadata{
		Kind: index.KindChunk, PageSlug: "a.md", Groups: []string{"*"}, IsPublic: true, Visibility: "public",
	}}
}

func upsert(t *testing.T, s *Store, records ...index.Record) {
	t.Helper()
	if err := s.Upsert(t.Context(), records); err != nil {
		t.Fatalf("upsert: %v", err)
	}
}

func TestConformance(t *testing.T) {
	indextest.Run(t, func(t *testing.T) index.Store {
		s := realServer(t)
		return s.open(Options{Collection: s.name(), Create: true})
	})
}

func TestOpenAsks(t *testing.T) {
	s := realServer(t)
	name := s.name()
	if _, err := Open(t.Context(), Options{URL: s.url, Collection: name}); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("without Create: %v", err)
	}
	if _, err := Open(t.Context(), Options{URL: s.url, Collection: name}); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("the failed open made the collection: %v", err)
	}
	unused := s.open(Options{Collection: name, Create: true})
	if ids, err := unused.IDs(t.Context(), "", ""); err != nil || len(ids) > 0 {
		t.Errorf("ids of what is not there: %q, %v", ids, err)
	}
	if err := unused.Delete(t.Context(), []string{"a"}); err != nil {
		t.Errorf("delete from what is not there: %v", err)
	}
	if err := unused.Upsert(t.Context(), []index.Record{{}}); err == nil {
		t.Error("a record without an id was written")
	}
	if err := unused.Copy(t.Context(), []index.Copy{copyOf("\xff", "b")}); !errors.Is(err, index.ErrNoRecord) {
		t.Errorf("copy of an impossible id: %v", err)
	}
	if _, err := Open(t.Context(), Options{URL: s.url, Collection: name}); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("an open with Create and without a write made the collection: %v", err)
	}
	made := s.open(Options{Collection: name, Create: true, URL: s.url + "/api/v2/"})
	upsert(t, made, chunk("a", "1"))
	for _, create := range []bool{false, true} {
		again := s.open(Options{Collection: name, Create: create})
		if n, err := again.Count(t.Context()); n != 1 || err != nil {
			t.Errorf("opened with Create %t: %d records, %v", create, n, err)
		}
	}
	for range 2 {
		if err := unused.Upsert(t.Context(), []index.Record{chunk("b", "2")}); !errors.Is(err, index.ErrChanged) {
			t.Errorf("first write after another made the collection: %v", err)
		}
		if err := unused.Copy(t.Context(), []index.Copy{copyOf("a", "b")}); !errors.Is(err, index.ErrChanged) {
			t.Errorf("first copy after another made the collection: %v", err)
		}
	}
	_, err := Open(t.Context(), Options{URL: s.url, Collection: name, Database: "another", Create: true})
	if err == nil || errors.Is(err, index.ErrNoCollection) || !strings.Contains(err.Error(), "no such tenant or database") {
		t.Errorf("opened a collection in a database that does not exist: %v", err)
	}
}

// The variables that chroma-go reads by itself are somebody else's to read.
func TestOpenIgnoresEnvironment(t *testing.T) {
	s := realServer(t)
	name := s.name()
	upsert(t, s.open(Options{Collection: name, Create: true}), chunk("a", "1"))
	t.Setenv("CHROMA_TENANT", "elsewhere")
	t.Setenv("CHROMA_DATABASE", "elsewhere")
	t.Setenv("CHROMA_API_KEY", "secret")
	s.open(Options{Collection: name})
}

// Python and JavaScript store the name of their default embedding function, which chroma-go would download.
func TestOpenCollectionOfOtherClients(t *testing.T) {
	s := realServer(t)
	name, path := s.make(map[string]any{"configuration": map[string]any{
		"embedding_function": map[string]any{"type": "known", "name": "default", "config": map[string]any{}},
	}})
	foreign := make([]float32, 384)
	s.call(http.MethodPost, path+"/upsert", map[string]any{
		"ids": []string{"theirs"}, "documents": []string{"text"}, "embeddings": [][]float32{foreign},
	})
	store := s.open(Options{Collection: name, Create: true})
	upsert(t, store, chunk("ours", "needle"))
	ids, err := store.IDs(t.Context(), "", "")
	slices.Sort(ids)
	if err != nil || !slices.Equal(ids, []string{"ours", "theirs"}) {
		t.Errorf("ids %q, %v", ids, err)
	}
}

// Records of others have what no record of ours may have: no document, no metadata, keys of other types, our keys in
// other case.
func TestForeignRecords(t *testing.T) {
	s := realServer(t)
	name, path := s.make(nil)
	s.call(http.MethodPost, path+"/upsert", map[string]any{
		"ids":        []string{"null", "bare", "odd", "case"},
		"documents":  []any{nil, "bare", "odd", "case"},
		"embeddings": [][]float32{{1}, {1}, {1}, {1}},
		"metadatas": []any{
			map[string]any{"kind": "note", "site": 7}, nil,
			map[string]any{"kind": 5, "page_slug": []string{"a"}, "chunk_index": 1.5, "isPublic": "yes", "groups": "admin",
				"visibility": true, "title": []int{1, 2}, "start_line": "3", "retired_at": 1e300, "site": false, "other": 1},
			map[string]any{"Kind": "chunk", "Page_Slug": "a.md", "page_slug": "mine.md", "start_line": 9},
		},
	})
	store := s.open(Options{Collection: name})
	want := []index.Record{
		{ID: "case", Document: "case", Metadata: index.Metadata{PageSlug: "mine.md", StartLine: 9}},
		{ID: "odd", Document: "odd"},
		{ID: "bare", Document: "bare"},
		{ID: "null", Metadata: index.Metadata{Kind: "note"}},
	}
	ids := []string{"case", "odd", "bare", "null"}
	expect := func(got []index.Record, err error) {
		t.Helper()
		for i := range got {
			if got[i].ID != "odd" {
				got[i].Metadata.Groups = nil // those without may have inherited some
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, %+v\nwant %+v", err, got, want)
		}
	}
	expect(store.Get(t.Context(), ids))
	documents, err := store.Documents(t.Context(), ids)
	if err != nil || !reflect.DeepEqual(documents, map[string]string{"case": "case", "odd": "odd", "bare": "bare"}) {
		t.Errorf("documents: %v, %v", documents, err)
	}
	for i := range want {
		want[i].Document = ""
	}
	expect(store.Metadata(t.Context(), ids))
	if found, err := store.Search(t.Context(), index.Query{Literals: []string{"a"}}); err != nil || len(found) != 0 {
		t.Errorf("search finds %q, %v", found, err)
	}
}

// A chunk that this project can't have written so is an error, whatever key is wrong.
func TestDamagedChunk(t *testing.T) {
	s := realServer(t)
	name, path := s.make(nil)
	store := s.open(Options{Collection: name})
	whole := map[string]any{"kind": "chunk", "page_slug": "a.md", "chunk_index": 0, "isPublic": false,
		"groups": []string{"admin"}, "visibility": "groups"}
	put := func(document any, key string, value any) {
		t.Helper()
		m := map[string]any{}
		for k, v := range whole {
			m[k] = v
		}
		if m[key] = value; value == nil {
			delete(m, key)
		}
		s.call(http.MethodPost, path+"/delete", map[string]any{"ids": []string{"a"}})
		s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": []string{"a"}, "documents": []any{document},
			"embeddings": [][]float32{{1}}, "metadatas": []any{m}})
	}
	put("text", "title", "whole")
	if got, err := store.Get(t.Context(), []string{"a"}); err != nil || len(got) != 1 {
		t.Fatalf("whole chunk: %v, %v", got, err)
	}
	for key, wrong := range map[string]any{
		"page_slug": 1, "chunk_index": "0", "isPublic": "true", "groups": "admin", "visibility": 1,
	} {
		for _, value := range []any{nil, wrong} {
			put("text", key, value)
			got, err := store.Metadata(t.Context(), []string{"a"})
			if err != nil || len(got) != 1 || got[0].Metadata.Kind != index.KindChunk {
				t.Errorf("metadata with %s %v: %+v, %v", key, value, got, err)
			}
		}
	}
	put(nil, "title", "no document")
	if _, err := store.Get(t.Context(), []string{"a"}); !errors.Is(err, index.ErrCorrupt) {
		t.Errorf("get without a document: %v", err)
	}
	if got, err := store.Documents(t.Context(), []string{"a"}); err != nil || len(got) != 0 {
		t.Errorf("documents without a document: %q, %v", got, err)
	}
}

// A record that is written anew keeps nothing, not even keys that this project does not know.
func TestUpsertReplacesForeign(t *testing.T) {
	s := realServer(t)
	name, path := s.make(nil)
	s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": []string{"a", "b"}, "documents": []any{"old", nil},
		"embeddings": [][]float32{{1}, {1}}, "metadatas": []any{map[string]any{"tags": []string{"x"}, "note": 1, "kind": 7}, nil}})
	store := s.open(Options{Collection: name})
	want := []index.Record{chunk("b", "new"), chunk("a", "")}
	upsert(t, store, want...)
	if got, err := store.Get(t.Context(), []string{"b", "a"}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	answer := s.call(http.MethodPost, path+"/get", map[string]any{"ids": []string{"a"}, "include": []string{"metadatas"}})
	keys := answer["metadatas"].([]any)[0].(map[string]any)
	if len(keys) != 6 {
		t.Errorf("the record has the keys %v", keys)
	}
}

func TestDroppedCollection(t *testing.T) {
	s := realServer(t)
	name, _ := s.make(nil)
	store := s.open(Options{Collection: name})
	s.call(http.MethodDelete, collections+"/"+name, nil)
	s.call(http.MethodPost, collections, map[string]any{"name": name})
	if err := store.Upsert(t.Context(), []index.Record{chunk("a", "1")}); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("upsert: %v", err)
	}
	if _, err := store.Count(t.Context()); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("count: %v", err)
	}
}

// What the server refuses for good is not tried again, and says why.
func TestRefused(t *testing.T) {
	s := realServer(t)
	name, path := s.make(nil)
	store := s.open(Options{Collection: name})
	s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": []string{"a"}, "embeddings": [][]float32{{1, 2, 3}}})
	err := store.Upsert(context.Background(), []index.Record{chunk("a", "1")})
	if err == nil || errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), "dimension") {
		t.Errorf("upsert of another dimension: %v", err)
	}
	upsert(t, s.open(Options{Collection: name}), chunk("a", "1"))
}
