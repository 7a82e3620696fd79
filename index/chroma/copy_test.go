package chroma

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// copyOf is the copy of a record under another id, and with another access.
func copyOf(from, to string) index.Copy {
	m := chunk(to, "").Metadata
	m.IsPublic, m.Groups, m.Visibility = false, []string{"admin"}, "groups"
	return index.Copy{From: from, To: to, Metadata: m}
}

// stored are the documents and embeddings that a server gives to a client which knows nothing of ours.
func (s server) stored(path string, ids ...string) (documents map[string]string, bits map[string][]uint32) {
	s.t.Helper()
	var a struct {
		IDs, Documents []string
		Embeddings     []json.RawMessage
	}
	text := s.exchange(http.MethodPost, path+"/get", map[string]any{"ids": ids, "include": []string{"documents", "embeddings"}})
	if err := json.Unmarshal(text, &a); err != nil {
		s.t.Fatal(err)
	}
	documents, bits = map[string]string{}, map[string][]uint32{}
	for i, id := range a.IDs {
		documents[id] = a.Documents[i]
		for _, number := range numbers(s.t, a.Embeddings[i]) {
			f, err := strconv.ParseFloat(string(number), 32)
			if err != nil {
				s.t.Fatal(err)
			}
			bits[id] = append(bits[id], bitsOf(vector{float32(f)})...)
		}
	}
	return documents, bits
}

// Embeddings of another client are copied bit by bit, in however many requests.
func TestCopyEmbeddings(t *testing.T) {
	s := realServer(t)
	const dimension, n = 1536, 8
	random := rand.New(rand.NewPCG(1, 2))
	name, path := s.make(nil)
	ids, texts := make([]string, n), make([]string, n)
	written, embeddings := make([][]uint32, n), make([][]float64, n)
	for i := range n {
		ids[i], texts[i] = fmt.Sprint(i), fmt.Sprintf("<%d>\n\u2028 & \"日本\"\r\n", i)
		written[i] = randomBits(random, dimension)
		random.Shuffle(dimension, func(a, b int) { written[i][a], written[i][b] = written[i][b], written[i][a] })
		for _, f := range fromBits(written[i]) {
			embeddings[i] = append(embeddings[i], float64(f))
		}
	}
	s.call(http.MethodPost, path+"/upsert", map[string]any{"ids": ids, "embeddings": embeddings, "documents": texts})

	store := s.open(Options{Collection: name})
	store.limits.write = 3
	var copies []index.Copy
	for _, id := range ids {
		copies = append(copies, copyOf(id, "new "+id), copyOf(id, id))
	}
	copies = append(copies, copyOf("0", "another"))
	if err := store.Copy(t.Context(), copies); err != nil {
		t.Fatal(err)
	}
	for _, c := range copies {
		i := slices.Index(ids, c.From)
		documents, bits := s.stored(path, c.To)
		if documents[c.To] != texts[i] || !slices.Equal(bits[c.To], written[i]) {
			t.Errorf("%q is not as %q: document %q, want %q, and %d numbers", c.To, c.From, documents[c.To], texts[i], len(bits[c.To]))
		}
		want := index.Record{ID: c.To, Document: texts[i], Metadata: c.Metadata}
		if got, err := store.Get(t.Context(), []string{c.To}); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if n, err := store.Count(t.Context()); err != nil || n != len(copies) {
		t.Errorf("%d records, %v, want %d", n, err, len(copies))
	}
}

// What lacks a document or an embedding, or is not in the answer, is not copied, nor what is beside it.
func TestCopyDamaged(t *testing.T) {
	f := newFake(t)
	for name, test := range map[string]struct {
		body string
		is   error
	}{
		"whole":              {`{"ids":["b","a"],"documents":["y","x"],"embeddings":[[2],[1]]}`, nil},
		"missing":            {`{"ids":["b"],"documents":["y"],"embeddings":[[2]]}`, index.ErrNoRecord},
		"no document":        {`{"ids":["a","b"],"documents":["x",null],"embeddings":[[1],[2]]}`, index.ErrCorrupt},
		"no embedding":       {`{"ids":["a","b"],"documents":["x","y"],"embeddings":[[1],null]}`, index.ErrCorrupt},
		"empty embedding":    {`{"ids":["a","b"],"documents":["x","y"],"embeddings":[[1],[]]}`, index.ErrCorrupt},
		"not a number":       {`{"ids":["a","b"],"documents":["x","y"],"embeddings":[[1],[null]]}`, index.ErrCorrupt},
		"no embeddings":      {`{"ids":["a","b"],"documents":["x","y"],"embeddings":null}`, index.ErrCorrupt},
		"one embedding":      {`{"ids":["a","b"],"documents":["x","y"],"embeddings":[[1]]}`, index.ErrCorrupt},
		"an embedding of it": {`{"ids":["c"],"documents":["x"],"embeddings":[[1]]}`, index.ErrCorrupt},
	} {
		s := f.open(t, 0, answerWith(test.body))
		err := s.Copy(t.Context(), []index.Copy{copyOf("a", "1"), copyOf("b", "2"), copyOf("a", "3")})
		if !errors.Is(err, test.is) {
			t.Errorf("%s: %v, want %v", name, err, test.is)
		}
		requests := f.requests()
		if !strings.Contains(requests[0], `"ids":["a","b"]`) {
			t.Errorf("%s: asked %s", name, requests[0])
		}
		if wrote := strings.Contains(requests[len(requests)-1], `"metadatas":[{`); wrote != (test.is == nil) {
			t.Errorf("%s: the last of %d requests is %s", name, len(requests), requests[len(requests)-1])
		}
	}
}

// Nothing is sent of copies one of which is bad, nor of none.
func TestCopyRefuses(t *testing.T) {
	f := newFake(t)
	s := f.open(t, 0)
	for name, spoil := range map[string]func(c *index.Copy){
		"twice":      func(c *index.Copy) { c.To = "to 0" },
		"no groups":  func(c *index.Copy) { c.Metadata.Groups = nil },
		"impossible": func(c *index.Copy) { c.From = "\xff" },
	} {
		copies := make([]index.Copy, 600)
		for i := range copies {
			copies[i] = copyOf("a", fmt.Sprintf("to %d", i))
		}
		spoil(&copies[599])
		if err := s.Copy(t.Context(), copies); err == nil || !strings.Contains(err.Error(), "record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Copy(t.Context(), nil); err != nil || len(f.requests()) != 0 {
		t.Errorf("%d requests, %v", len(f.requests()), err)
	}
}

// answerAll answers a get of documents and embeddings as if every record was there, all with one embedding.
func answerAll(embedding vector) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q struct{ IDs, Include []string }
		if json.NewDecoder(r.Body).Decode(&q) != nil || !slices.Contains(q.Include, "embeddings") {
			answerOK(w, r)
			return
		}
		n := len(q.IDs)
		_ = json.NewEncoder(w).Encode(map[string]any{"ids": q.IDs, "documents": slices.Repeat([]string{"text"}, n),
			"embeddings": slices.Repeat([]vector{embedding}, n)})
	}
}

// No request has more records or bytes than the server takes, and all copies are sent once.
func TestCopyCuts(t *testing.T) {
	large := fromBits(randomBits(rand.New(rand.NewPCG(1, 3)), 100_000))
	for _, test := range []struct {
		limits    limits
		embedding vector
		copies    int
		upserts   []int
	}{
		{ownServer, vector{1}, 1200, []int{500, 500, 200}},
		{cloud, vector{1}, 601, []int{300, 300, 1}},
		{ownServer, large, 6, []int{5, 1}},
	} {
		f := newFake(t)
		s := f.open(t, 0, repeat(20, answerAll(test.embedding))...)
		s.limits = test.limits
		var copies []index.Copy
		for i := range test.copies {
			copies = append(copies, copyOf(fmt.Sprint(i), fmt.Sprintf("to %d", i)))
		}
		if err := s.Copy(t.Context(), copies); err != nil {
			t.Fatal(err)
		}
		var upserts []int
		sent := map[string]bool{}
		for _, request := range f.requests() {
			var body struct{ IDs, Documents []string }
			if err := json.Unmarshal([]byte(request), &body); err != nil {
				t.Fatal(err)
			}
			if len(body.IDs) > test.limits.write || len(request) > 2*maxText {
				t.Errorf("a request of %d records, %d bytes", len(body.IDs), len(request))
			}
			if body.Documents == nil {
				continue
			}
			upserts = append(upserts, len(body.IDs))
			for _, id := range body.IDs {
				sent[id] = true
			}
		}
		if !slices.Equal(upserts, test.upserts) || len(sent) != test.copies {
			t.Errorf("%d copies in upserts of %d, want %d", len(sent), upserts, test.upserts)
		}
	}
}
