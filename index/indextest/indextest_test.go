package indextest_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
)

func TestMemory(t *testing.T) {
	indextest.Run(t, func(*testing.T) index.Store { return indextest.Memory() })
}

func TestFaultyWithoutHooks(t *testing.T) {
	indextest.Run(t, func(*testing.T) index.Store { return &indextest.Faulty{Store: indextest.Memory()} })
}

func TestFaulty(t *testing.T) {
	broken := errors.New("broken")
	f := &indextest.Faulty{Store: indextest.Memory()}
	f.Before = func(op indextest.Op, n int) error {
		if (op == indextest.OpUpsert || op == indextest.OpCopy) && n == 2 {
			return broken
		}
		return nil
	}
	f.After = func(op indextest.Op, n int) error {
		if (op == indextest.OpUpsert || op == indextest.OpCopy) && n == 3 {
			return broken
		}
		return nil
	}
	f.Document = func(id, document string) (string, bool) { return document + "!", id != "3" }
	f.Listed = func(op indextest.Op, ids []string) []string {
		return slices.DeleteFunc(ids, func(id string) bool { return op == indextest.OpSearch && id == "1" })
	}

	ctx := t.Context()
	for i, want := range []error{nil, broken, broken} {
		id := string(rune('1' + i))
		r := index.Record{ID: id, Document: "text", Metadata: index.Metadata{Kind: index.KindChunk}}
		if err := f.Upsert(ctx, []index.Record{r}); !errors.Is(err, want) {
			t.Errorf("upsert %s: %v, want %v", id, err, want)
		}
	}
	if n := f.Calls(indextest.OpUpsert); n != 3 {
		t.Errorf("%d upserts counted", n)
	}
	again := index.Copy{From: "1", To: "1", Metadata: index.Metadata{Kind: index.KindChunk}}
	for _, want := range []error{nil, broken, broken} {
		if err := f.Copy(ctx, []index.Copy{again}); !errors.Is(err, want) {
			t.Errorf("copy: %v, want %v", err, want)
		}
	}
	if n := f.Calls(indextest.OpCopy); n != 3 {
		t.Errorf("%d copies counted", n)
	}
	documents, err := f.Documents(ctx, []string{"1", "2", "3"})
	if err != nil || len(documents) != 1 || documents["1"] != "text!" {
		t.Errorf("documents: %q, %v", documents, err)
	}
	if records, err := f.Get(ctx, []string{"3", "1"}); err != nil || len(records) != 1 || records[0].Document != "text!" {
		t.Errorf("get: %v, %v", records, err)
	}
	if ids, err := f.Search(ctx, index.Query{Literals: []string{"text"}}); err != nil || !slices.Equal(ids, []string{"3"}) {
		t.Errorf("search: %q, %v", ids, err)
	}
	if ids, err := f.IDs(ctx, "", ""); err != nil || len(ids) != 2 {
		t.Errorf("ids: %q, %v", ids, err)
	}
}
