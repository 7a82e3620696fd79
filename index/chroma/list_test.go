package chroma

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromafs/chromafs/index"
)

// capped is a real server that silently gives at most most records in an answer. It calls before ahead of every get.
func capped(t *testing.T, s server, most float64, before func(get int)) server {
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	var gets atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/get") {
			before(int(gets.Add(1)))
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if limit, ok := body["limit"].(float64); !ok || limit > most {
				body["limit"] = most
			}
			text, _ := json.Marshal(body)
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return server{t, front.URL}
}

func TestListCapped(t *testing.T) {
	s := realServer(t)
	name := s.name()
	direct := s.open(Options{Collection: name, Create: true})
	records := make([]index.Record, 300)
	ids := make([]string, len(records))
	for i := range records {
		ids[i] = fmt.Sprintf("%03d", i)
		records[i] = chunk(ids[i], "needle")
	}
	upsert(t, direct, records...)
	gone := 0
	for _, test := range []struct {
		name   string
		most   float64
		before func(get int)
	}{
		{"uncapped", 1000, func(int) {}},
		{"capped", 100, func(int) {}},
		{"deleted meanwhile", 100, func(get int) {
			// From the front, so that those behind it move up into the pages that were read.
			if get == 2 || get == 4 || get == 5 {
				if err := direct.Delete(t.Context(), ids[gone:gone+5]); err != nil {
					t.Error(err)
				}
				gone += 5
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := capped(t, s, test.most, test.before).open(Options{Collection: name})
			got, err := store.IDs(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			for _, id := range ids[gone:] {
				if _, ok := slices.BinarySearch(got, id); !ok {
					t.Errorf("lost %q", id)
				}
			}
			if compact := slices.Compact(slices.Clone(got)); len(compact) != len(got) {
				t.Errorf("%d ids, %d of them distinct", len(got), len(compact))
			}
		})
	}
	if gone == 0 {
		t.Error("nothing was deleted between two pages")
	}
	always := capped(t, s, 100, func(int) {
		if err := direct.Delete(t.Context(), ids[gone:gone+1]); err != nil {
			t.Error(err)
		}
		gone++
	}).open(Options{Collection: name})
	if got, err := always.IDs(t.Context(), "", ""); err == nil && len(got) < len(ids)-gone {
		t.Errorf("%d ids of %d and no error", len(got), len(ids)-gone)
	}
}
