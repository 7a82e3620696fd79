package chroma

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// accessRecords are records of every access, some with a title, a site and a URL and some without, and those of them
// whose groups are in fact "admin".
func accessRecords() (records []index.Record, admins []string) {
	for _, access := range []struct {
		visibility string
		public     bool
		groups     []string
	}{
		{"public", true, []string{"*"}},
		{"authenticated", false, []string{"*"}},
		{"denied", false, []string{"chromafs:none"}},
		{"excludes", false, []string{"chromafs:none"}},
		{"groups", false, []string{"editors"}},
		{"groups", false, []string{"editors", "admin"}},
	} {
		for _, full := range []bool{false, true} {
			id := fmt.Sprintf("%s %v %t", access.visibility, access.groups, full)
			r := chunk(id, "text of "+id)
			r.Metadata.IsPublic, r.Metadata.Groups, r.Metadata.Visibility = access.public, access.groups, access.visibility
			if full {
				r.Metadata.Title, r.Metadata.Site, r.Metadata.URL = "Title", "site", "https://example.com/"
			}
			records = append(records, r)
			if slices.Contains(access.groups, "admin") {
				admins = append(admins, id)
			}
		}
	}
	return records, admins
}

// contains asks the server itself, as readers that know this layout do, for those of our records that have a value.
func (s server) contains(path, key, value string) []string {
	s.t.Helper()
	where := map[string]any{"$and": []any{map[string]any{"kind": "chunk"}, map[string]any{key: map[string]any{"$contains": value}}}}
	var ids []string
	for _, id := range s.call(http.MethodPost, path+"/get", map[string]any{"where": where, "include": []string{}})["ids"].([]any) {
		ids = append(ids, id.(string))
	}
	slices.Sort(ids)
	return ids
}

// metadata are the keys of all records, as the server has them.
func (s server) metadata(path string) map[string]map[string]any {
	s.t.Helper()
	answer := s.call(http.MethodPost, path+"/get", map[string]any{"include": []string{"metadatas"}})
	found := map[string]map[string]any{}
	for i, id := range answer["ids"].([]any) {
		found[id.(string)], _ = answer["metadatas"].([]any)[i].(map[string]any)
	}
	return found
}

// haunt makes a collection of n records in the group "admin", as another writer does, and drops it as its user does. New
// records take their row ids, with the arrays that stood there (chroma #7594).
func (s server) haunt(n int) {
	ids, embeddings, metadatas := make([]string, n), slices.Repeat([][]float32{{1}}, n), make([]any, n)
	for i := range n {
		ids[i], metadatas[i] = fmt.Sprint(i), map[string]any{"groups": []string{"admin"}, "title": []string{"ghost"},
			"site": []string{"ghost"}, "url": []string{"ghost"}, "kind": []string{"ghost"}, "visibility": []string{"ghost"},
			"isPublic": []bool{true}, "chunk_index": []int{7}, "page_slug": []string{"ghost"}}
	}
	name, path := s.make(nil)
	s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": ids, "embeddings": embeddings, "metadatas": metadatas})
	s.call(http.MethodDelete, collections+"/"+name, nil)
}

// No record inherits a group of a dropped collection, nor any other array in the place of what it has.
func TestGhostArrays(t *testing.T) {
	s := realServer(t)
	// Another client of the server may take the row ids first.
	for range 10 {
		if ghosts(t, s) {
			return
		}
	}
	t.Log("this server hands down no arrays, or others wrote to it meanwhile: nothing was tried")
}

// ghosts reports whether records that lack groups did inherit some.
func ghosts(t *testing.T, s server) (haunted bool) {
	records, admins := accessRecords()
	var copies []index.Copy
	for _, r := range records {
		copies = append(copies, index.Copy{From: r.ID, To: "copy of " + r.ID, Metadata: r.Metadata})
	}
	const controls = 2
	s.haunt(2*len(records) + controls)
	name, path := s.make(nil)
	store := s.open(Options{Collection: name})
	control := func(id string) {
		s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": []string{id}, "embeddings": [][]float32{{1}},
			"metadatas": []any{map[string]any{"kind": "control"}}})
	}
	control("control before")
	upsert(t, store, records...)
	if err := store.Copy(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	control("control after")

	for i, c := range copies {
		records = append(records, index.Record{ID: c.To, Document: records[i].Document, Metadata: c.Metadata})
		if slices.Contains(admins, c.From) {
			admins = append(admins, c.To)
		}
	}
	expectNoGhosts(t, s, store, path, records, admins)
	keys := s.metadata(path)
	return keys["control before"]["groups"] != nil && keys["control after"]["groups"] != nil
}

func expectNoGhosts(t *testing.T, s server, store *Store, path string, records []index.Record, admins []string) {
	t.Helper()
	found := s.contains(path, "groups", "admin")
	slices.Sort(admins)
	if !slices.Equal(found, admins) {
		t.Errorf("in the group are %q, want %q", found, admins)
	}
	keys := s.metadata(path)
	var ids, bare []string
	for _, r := range records {
		ids = append(ids, r.ID)
		if r.Metadata.Site == "" {
			bare = append(bare, r.ID)
		}
		// A key that a record lacks may be an inherited array for others; one that it has is its own.
		for key, want := range encode(&r.Metadata) {
			if got := keys[r.ID][key]; fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q has %s %v, want %v", r.ID, key, got, want)
			}
		}
	}
	if got, err := store.Get(t.Context(), ids); err != nil || !reflect.DeepEqual(got, records) {
		t.Errorf("%d records are not as %d that were written: %v", len(got), len(records), err)
	}
	got, err := store.IDs(t.Context(), index.KindChunk, "")
	slices.Sort(got)
	slices.Sort(bare)
	if err != nil || !slices.Equal(got, bare) {
		t.Errorf("without a site: %q, %v, want %q", got, err, bare)
	}
}
