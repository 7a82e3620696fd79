package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// comparePages reads every page on both sides, once, and tries all patterns on it.
func (r *run) comparePages(ctx context.Context) error {
	searches, err := r.search(ctx)
	if err != nil {
		return err
	}
	if err := r.drawSecrets(); err != nil {
		return err
	}
	groups := r.group(r.pages)
	progress := r.counter("pages", len(r.pages))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	scans := make([]scan, workers())
	for w := range scans {
		s := &scans[w]
		*s = scan{run: r, searches: searches, progress: progress}
		s.open(ctx)
		g.Go(func() error {
			for k := int(next.Add(1)) - 1; k < len(groups); k = int(next.Add(1)) - 1 {
				if err := s.batch(ctx, groups[k]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, s := range scans {
		r.report.Bytes += s.bytes
		r.report.Lines += s.matched
	}
	searches.report(r.findings)
	return nil
}

// scan is one worker's way through pages.
type scan struct {
	*run
	searches *searches
	progress func()
	bytes    int64
	matched  int
	ahead    ahead
	batched  fs.ReadFileFS // reads from ahead
	viewing  []viewing

	folded      []byte
	textPairs   pairs
	foldedPairs pairs
	plain       []int
	answered    []int
}

// lastPage is room to keep the page that all viewers read one after another, which is then fetched and hashed once.
const lastPage = 1 << 20

func (s *scan) open(ctx context.Context) {
	session := s.serve(ctx, &s.ahead, nil, lastPage)
	s.batched = session(operator)
	for _, v := range s.viewers {
		s.viewing = append(s.viewing, viewing{v, session(v.Viewer)})
	}
}

// ahead answers a filesystem from what was read in larger batches than pages, and with whatever the store added.
type ahead struct{ asked, added map[string]string }

func (a *ahead) Documents(_ context.Context, ids []string) (map[string]string, error) {
	docs := maps.Clone(a.added)
	for _, id := range ids {
		if doc, ok := a.asked[id]; ok {
			docs[id] = doc
		}
	}
	return docs, nil
}

func (s *scan) batch(ctx context.Context, entries []int) error {
	records, docs, err := s.fetch(ctx, entries)
	if err != nil {
		return err
	}
	s.ahead = docs
	for n, i := range entries {
		files := s.batched
		if n == 0 {
			files = s.fsys // one of each batch comes as readers get it, alone
		}
		if err := s.page(i, records[n], files); err != nil {
			return err
		}
		s.progress()
	}
	return nil
}

// page compares entry i.
func (s *scan) page(i int, records []*index.Record, files fs.ReadFileFS) error {
	e := s.tree.At(i)
	want, err := os.ReadFile(s.onDisk(e.Path))
	if err != nil {
		return fmt.Errorf("read the docs folder: %w", err)
	}
	s.bytes += int64(len(want))
	s.compareMetadata(e, records)
	fresh := s.compareEntry(i, e, want)
	s.secrets.look(i, want)
	have, err := files.ReadFile(e.Path)
	s.readAs(i, have, err == nil)
	if err == nil && fresh && bytes.Equal(have, want) {
		s.state[i] = good
		if !hasNil(records) {
			s.compareStarts(e, records)
		}
		s.patterns(i, want, records)
		return nil
	}
	if err != nil {
		return s.unreadable(e, want, fresh, records, err)
	}
	if fresh {
		s.findings.add(KindContent, e.Path, "readers get other bytes than the folder has, of the same sha256")
	}
	s.patterns(i, have, records) // on the bytes that readers have, the answers must be right all the same
	return nil
}

// compareEntry holds the tree's size and digest to the file.
func (s *scan) compareEntry(i int, e snapshot.Entry, want []byte) (fresh bool) {
	switch {
	case sha256.Sum256(want) != e.SHA256:
		s.stale(i, int64(len(want)))
		return false
	case int64(len(want)) != e.Size:
		s.wrongSize(e, int64(len(want)))
	}
	return true
}

// stale says of entry i that the folder's file, of that size, is another.
func (r *run) stale(i int, size int64) {
	r.state[i] = stale
	e := r.tree.At(i)
	r.findings.add(KindStale, e.Path, fmt.Sprintf("the folder's file, of %d bytes, is not the one published, of %d", size, e.Size))
}

// wrongSize says of an entry that the published file is there, but has another size.
func (r *run) wrongSize(e snapshot.Entry, size int64) {
	r.findings.add(KindSize, e.Path, fmt.Sprintf("in the snapshot with %d bytes, but the folder's file has %d", e.Size, size))
}

// unreadable says which chunks keep a page from being read.
func (s *scan) unreadable(e snapshot.Entry, want []byte, fresh bool, records []*index.Record, err error) error {
	var content *vfs.ContentError
	if !errors.As(err, &content) {
		return err
	}
	named := hasNil(records) // compareMetadata has named the missing chunks
	if fresh {
		for _, k := range alteredChunks(want, records) {
			named = true
			detail := fmt.Sprintf("chunk %d, record %q, is not the text that the folder has there", k, records[k].ID)
			s.findings.add(KindChunkAltered, e.Path, detail)
		}
		named = named || int64(len(want)) != e.Size
	}
	if !named {
		kind := KindContent
		if errors.Is(err, vfs.ErrAltered) {
			kind = KindChunkAltered
		}
		s.findings.add(kind, e.Path, content.Error())
	}
	return nil
}

// alteredChunks are the numbers of the records whose text is not that of their lines of page. Lines are known by
// start_line; where that makes no sense, none is named.
func alteredChunks(page []byte, records []*index.Record) []int {
	var list []int
	lines := bytes.Split(page, newline)
	for k, rec := range records {
		if rec == nil {
			continue
		}
		from, to := rec.Metadata.StartLine-1, len(lines)
		if k+1 < len(records) {
			if records[k+1] == nil {
				continue
			}
			to = records[k+1].Metadata.StartLine - 1
		}
		if from < 0 || from >= to || to > len(lines) {
			return nil
		}
		if text := bytes.Join(lines[from:to], newline); string(text) != rec.Document {
			list = append(list, k)
		}
	}
	return list
}

func hasNil(records []*index.Record) bool {
	for _, rec := range records {
		if rec == nil {
			return true
		}
	}
	return false
}

// counter reports progress from many goroutines, one at a time.
func (r *run) counter(stage string, total int) func() {
	var mu sync.Mutex
	done := 0
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if done++; done%100 == 0 || done == total {
			r.Progress(stage, done, total)
		}
	}
}
