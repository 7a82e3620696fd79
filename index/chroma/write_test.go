package chroma

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// A request stays under the server's limit of 40 MiB even where JSON needs six bytes for one, and takes at least a record.
func TestFitting(t *testing.T) {
	s := &Store{limits: ownServer}
	for _, test := range []struct{ records, bytes, want int }{
		{1, 0, 1}, {500, 2000, 500}, {1200, 2000, 500}, {500, 16 << 10, 383}, {7, 1 << 20, 5}, {3, 20 << 20, 1},
	} {
		records := slices.Repeat([]index.Record{chunk("a", strings.Repeat("\x01", test.bytes))}, test.records)
		n := s.fitting(len(records), func(i int) int { return records[i].Size() })
		if n != test.want {
			t.Errorf("%d of %d records of %d bytes, want %d", n, test.records, test.bytes, test.want)
		}
		if test.bytes > 1<<20 {
			continue
		}
		document, err := json.Marshal(records[0].Document)
		if err != nil {
			t.Fatal(err)
		}
		text := n * (len(document) + 1000)
		if text > 40<<20 {
			t.Errorf("%d records of %d bytes are a request of %d bytes", n, test.bytes, text)
		}
	}
}

// Every field has its key, which is sent unless it has no value, and read back; no other key is ever sent.
func TestEncode(t *testing.T) {
	fields := reflect.TypeFor[index.Metadata]()
	var full index.Metadata
	value := reflect.ValueOf(&full).Elem()
	for i := range fields.NumField() {
		switch field := value.Field(i); field.Kind() {
		case reflect.String:
			field.SetString(fields.Field(i).Name)
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Slice:
			field.Set(reflect.ValueOf([]string{"a", "b"}))
		default:
			field.SetInt(int64(i) + 1)
		}
	}
	keys := encode(&full)
	for i := range fields.NumField() {
		key, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if !reflect.DeepEqual(keys[key], value.Field(i).Interface()) {
			t.Errorf("key %q is %v, want %v", key, keys[key], value.Field(i))
		}
	}
	if len(keys) != fields.NumField() {
		t.Errorf("%d keys of %d fields", len(keys), fields.NumField())
	}

	text, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if got := decode(m); !reflect.DeepEqual(got, full) {
		t.Errorf("decoded %+v, want %+v", got, full)
	}

	for kind, want := range map[string]int{index.KindChunk: 5, index.KindPart: 4, "": 3} {
		if bare := encode(&index.Metadata{Kind: kind, Groups: []string{"*"}}); len(bare) != want {
			t.Errorf("kind %q has the keys %v, want %d", kind, bare, want)
		}
	}
}

// Nothing is sent of a write that has one bad record.
func TestUpsertRefuses(t *testing.T) {
	f := newFake(t)
	s := f.open(t, 0)
	for name, spoil := range map[string]func(r *index.Record){
		"twice":     func(r *index.Record) { r.ID = "0" },
		"document":  func(r *index.Record) { r.Document = "a\xffb" },
		"no groups": func(r *index.Record) { r.Metadata.Groups = nil },
	} {
		records := make([]index.Record, 600)
		for i := range records {
			records[i] = chunk(fmt.Sprint(i), "text")
		}
		spoil(&records[599])
		if err := s.Upsert(t.Context(), records); err == nil || !strings.Contains(err.Error(), "record") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(f.requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// The server's answers are checked for what was asked.
func TestAnswers(t *testing.T) {
	f := newFake(t)
	for name, test := range map[string]struct {
		body string
		ok   bool
	}{
		"whole":            {`{"ids":["a"],"documents":["x"],"metadatas":[null],"new":1}`, true},
		"no document":      {`{"ids":["a"],"documents":[],"metadatas":[null]}`, false},
		"no documents":     {`{"ids":["a"],"metadatas":[null]}`, false},
		"metadata missing": {`{"ids":["a","b"],"documents":["x","y"],"metadatas":[null]}`, false},
		"not asked for":    {`{"ids":["b"],"documents":["x"],"metadatas":[null]}`, false},
		"other types":      {`{"ids":[1],"documents":["x"],"metadatas":[null]}`, false},
		"cut":              {`{"ids":["a"],"documents":["x"`, false},
		"empty":            {``, false},
	} {
		s := f.open(t, 0, answerWith(test.body))
		_, err := s.Get(t.Context(), []string{"a"})
		if (err == nil) != test.ok || (err != nil && !strings.Contains(err.Error(), index.ErrCorrupt.Error())) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
