package verify_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/dir"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

// ingested is a folder that has been indexed into the embedded store.
func ingested(t testing.TB, folder string) *site {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "index.sqlite"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return ingestInto(t, folder, everyone, store, &snapshot.Folder{Dir: t.TempDir()})
}

// everyone opens all that says nothing.
var everyone = source.Options{Default: to(access.Everyone())}

// ingestInto publishes what it can; pages that can't be understood are for nobody.
func ingestInto(t testing.TB, folder string, from source.Options, store index.Store, location snapshot.Location) *site {
	t.Helper()
	s := &site{t: t, dir: folder, store: store, location: location, kept: t.TempDir()}
	s.options = verify.Options{Dir: folder, Source: from, Blobs: func(context.Context, *snapshot.Tree) (verify.Blobs, error) {
		return blob.NewFiles(blob.FilesOptions{Store: dir.New(s.kept)}), nil
	}}
	_, err := ingest.Run(t.Context(), store, location, ingest.Options{
		Dir: folder, Collection: "docs", Source: from, DenyInvalid: true, Now: time.Unix(1_700_000_000, 0), Blobs: dir.New(s.kept),
	})
	if !errors.Is(err, ingest.ErrDenied) {
		s.must(err)
	}
	return s
}

func TestCorpora(t *testing.T) {
	for _, tt := range []struct {
		name, folder string
		ignored      int // dot-files, and files that can't be chunked
	}{{"mintlify-starter", "", 4}, {"mem0-docs", "", 5}, {"tldr", "pages", 1}} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingested(t, filepath.Join(corpora.Dir(t, tt.name), tt.folder)).verify()
			if tried := sum(r.Patterns); !r.OK() || tried < 200 || r.Lines < 500 {
				t.Fatalf("%d patterns, %d lines: %+v", tried, r.Lines, r.Findings)
			}
			all := filesUnder(corpora.Files(t, tt.name), tt.folder)
			if r.Files != all-tt.ignored || sum(r.Ignored) != tt.ignored {
				t.Errorf("%d files compared, %d ignored, of %d; want %d ignored", r.Files, sum(r.Ignored), all, tt.ignored)
			}
			t.Logf("%d files, %d links, %d bytes, %d records, ignored %v, patterns %v, %d lines",
				r.Files, r.Links, r.Bytes, r.Records, r.Ignored, r.Patterns, r.Lines)
		})
	}
}

func sum[K comparable](counts map[K]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// filesUnder counts the names in folder; all of them if it is empty.
func filesUnder(names []string, folder string) (n int) {
	for _, name := range names {
		if folder == "" || strings.HasPrefix(name, folder+"/") {
			n++
		}
	}
	return n
}

// BenchmarkRun is all of verify on the embedded store.
func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"mem0-docs", "tldr"} {
		b.Run(name, func(b *testing.B) {
			s := ingested(b, corpora.Dir(b, name))
			for b.Loop() {
				if r := s.verify(); !r.OK() {
					b.Fatal(r.Findings)
				}
			}
		})
	}
}
