package chroma

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
)

// bare speaks to a collection with nothing but net/http.
type bare struct {
	b    *testing.B
	url  string
	path string
}

func (c bare) post(path string, body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		c.b.Fatal(err)
	}
	response, err := http.Post(c.url+path, "application/json", bytes.NewReader(text))
	if err != nil {
		c.b.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.b.Fatalf("post %s: %d %v %.300s", path, response.StatusCode, err, answer)
	}
	return answer
}

func (c bare) upsert(records []index.Record) {
	ids, documents := make([]string, len(records)), make([]string, len(records))
	embeddings, metadatas := make([][]float32, len(records)), make([]map[string]any, len(records))
	for i, r := range records {
		m := r.Metadata
		ids[i], documents[i], embeddings[i] = r.ID, r.Document, []float32{1}
		metadatas[i] = map[string]any{"kind": m.Kind, "page_slug": m.PageSlug, "chunk_index": m.ChunkIndex, "isPublic": m.IsPublic,
			"groups": m.Groups, "visibility": m.Visibility, "title": m.Title, "headings": m.Headings, "start_line": m.StartLine}
	}
	c.post(c.path+"/upsert", map[string]any{"ids": ids, "documents": documents, "embeddings": embeddings, "metadatas": metadatas})
}

func (c bare) documents(ids []string) map[string]string {
	var a struct{ IDs, Documents []string }
	if err := json.Unmarshal(c.post(c.path+"/get", map[string]any{"ids": ids, "include": []string{"documents"}}), &a); err != nil {
		c.b.Fatal(err)
	}
	found := make(map[string]string, len(a.IDs))
	for i, id := range a.IDs {
		found[id] = a.Documents[i]
	}
	return found
}

// collection makes one, and opens it both ways.
func collection(b *testing.B) (*Store, bare) {
	url := indextest.Chroma(b)
	name := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	store, err := Open(b.Context(), Options{URL: url, Collection: name, Create: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.make(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		request, _ := http.NewRequest(http.MethodDelete, url+"/api/v2/tenants/default_tenant/databases/default_database/collections/"+name, nil)
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
		_ = store.Close()
	})
	return store, bare{b, url, "/api/v2/" + store.collection.Load().path}
}

// page is a page's chunks with every key that a chunk usually has.
func page(name string, chunks, bytes int) ([]index.Record, []string) {
	records, ids := make([]index.Record, chunks), make([]string, chunks)
	for i := range records {
		ids[i] = fmt.Sprintf("%s#%d", name, i)
		text := fmt.Sprintf("# %s %d\n\nUse `%[1]s --option <value>` for \"this\".\n", name, i)
		records[i] = chunk(ids[i], strings.Repeat(text, bytes/len(text)+1)[:bytes])
		m := &records[i].Metadata
		m.PageSlug, m.ChunkIndex, m.Title, m.Headings, m.StartLine = name, i, name, name, 1+i
	}
	return records, ids
}

// BenchmarkUpsert writes batches of 500 new records in turns with a bare loop, into collections that grow alike, and
// reports how much longer the store takes.
func BenchmarkUpsert(b *testing.B) {
	store, _ := collection(b)
	_, plain := collection(b)
	var ours, theirs time.Duration
	for i := range b.N {
		records, _ := page(fmt.Sprintf("a%025d", i), 500, 580)
		for turn := range 2 {
			begin := time.Now()
			if (turn+i)%2 == 0 {
				if err := store.Upsert(b.Context(), records); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(begin)
			} else {
				plain.upsert(records)
				theirs += time.Since(begin)
			}
		}
	}
	b.ReportMetric(float64(ours)/float64(theirs), "times-bare")
	b.ReportMetric(float64(500*b.N)/ours.Seconds(), "records/s")
}

// BenchmarkDocuments reads pages of a few sizes in turns with a bare get of the same ids.
func BenchmarkDocuments(b *testing.B) {
	for _, chunks := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(chunks), func(b *testing.B) {
			store, plain := collection(b)
			records, ids := page("a", chunks, 2000)
			if err := store.Upsert(b.Context(), records); err != nil {
				b.Fatal(err)
			}
			var ours, theirs time.Duration
			for range b.N {
				begin := time.Now()
				if got, err := store.Documents(b.Context(), ids); err != nil || len(got) != chunks {
					b.Fatal(len(got), err)
				}
				middle := time.Now()
				if got := plain.documents(ids); len(got) != chunks {
					b.Fatal(len(got))
				}
				ours, theirs = ours+middle.Sub(begin), theirs+time.Since(middle)
			}
			b.ReportMetric(float64(ours)/float64(theirs), "times-bare")
		})
	}
}

// BenchmarkCopy copies batches of 500 records after each was written, and reports how much longer that takes.
func BenchmarkCopy(b *testing.B) {
	for _, dimension := range []int{1, 1536} {
		b.Run(fmt.Sprint(dimension), func(b *testing.B) {
			store, _ := collection(b)
			store.collection.Load().embedding = fromBits(randomBits(rand.New(rand.NewPCG(1, 1)), dimension)[:dimension])
			var upserts, copies time.Duration
			for i := range b.N {
				records, _ := page(fmt.Sprintf("a%025d", i), 500, 2000)
				again := make([]index.Copy, len(records))
				for k, r := range records {
					again[k] = index.Copy{From: r.ID, To: "b" + r.ID, Metadata: r.Metadata}
				}
				begin := time.Now()
				if err := store.Upsert(b.Context(), records); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if err := store.Copy(b.Context(), again); err != nil {
					b.Fatal(err)
				}
				upserts, copies = upserts+middle.Sub(begin), copies+time.Since(middle)
			}
			b.ReportMetric(float64(copies)/float64(upserts), "times-upsert")
			b.ReportMetric(upserts.Seconds(), "upsert-s")
			b.ReportMetric(copies.Seconds(), "copy-s")
		})
	}
}
