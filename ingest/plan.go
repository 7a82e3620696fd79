package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// keepBytes bounds what a plan keeps of pages for the write: their text and about keepEach for each. Pages beyond it are
// read again.
const (
	keepBytes = 32 << 20
	keepEach  = 512
)

// plan is what one run has decided before it writes anything.
type plan struct {
	// pages of the new snapshot, in byte order of their paths.
	pages []page
	// links of the new snapshot, likewise.
	links []snapshot.Entry
	// present are the ids of all records that the collection held when the run began.
	present idSet
	// objects of lazy files, in the same order.
	objects []object
	// records to write in all.
	records int
	// old are the ids of this site's chunk records that were present and that the new snapshot does not name.
	old []string
}

// page is one page of the new snapshot. Its file is nil where the text was not kept.
type page struct {
	entry snapshot.Entry
	facts source.Facts
	// missing counts the records to write.
	missing int
	file    *source.File
	// stored is the published revision of the same text, whose records are copied; empty where there is none.
	stored string
	// lazy is nil for most.
	lazy *lazyPage
}

// planner gathers what its workers find.
type planner struct {
	*run
	published *snapshot.Tree
	present   idSet
	listing   *source.Listing

	kept atomic.Int64
	done atomic.Int64

	mu       sync.Mutex
	found    []page // by position in the listing; an entry without a path was not selected
	failures Failures
}

func (r *run) plan(ctx context.Context, published *snapshot.Tree, present idSet) (*plan, error) {
	listing, err := r.folder.Walk(ctx)
	if err != nil {
		return nil, err
	}
	pl := &planner{run: r, published: published, present: present, listing: listing, found: make([]page, len(listing.Files))}
	for i := range listing.Invalid {
		pl.failures = append(pl.failures, &listing.Invalid[i])
	}
	r.result.Ignored = append(r.result.Ignored, listing.Ignored...)
	r.result.Warnings = append(r.result.Warnings, listing.Warnings...)
	if err := pl.readAll(ctx); err != nil {
		return nil, err
	}
	if err := pl.addPointers(ctx); err != nil {
		return nil, err
	}
	if len(pl.failures) > 0 {
		pl.failUnclear()
		return nil, pl.failures.sorted()
	}
	return pl.settle()
}

// failUnclear adds the pages whose own words about access can't be understood, so that all that is to be mended is shown
// at once.
func (pl *planner) failUnclear() {
	for i := range pl.found {
		if own := pl.found[i].facts.Own; own != nil && own.Fault != nil && !pl.DenyInvalid {
			pl.failures = append(pl.failures, invalid([]*access.Fault{own.Fault})...)
		}
	}
}

// readAll reads every file once, on as many cores as there are.
func (pl *planner) readAll(ctx context.Context) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(pl.listing.Files) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				pl.read(i)
			}
		})
	}
	return g.Wait()
}

// read looks at one file and files it under found, ignored or failures.
func (pl *planner) read(i int) {
	file, err := pl.folder.Read(pl.listing.Files[i])
	var found page
	if err == nil {
		found, err = pl.page(file)
	}
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.report()
	if err != nil {
		pl.fail(pl.listing.Files[i], err)
		return
	}
	pl.result.Warnings = append(pl.result.Warnings, file.Warnings...)
	pl.found[i] = found
}

func (pl *planner) report() {
	done := int(pl.done.Add(1))
	if done%256 == 0 || done == len(pl.listing.Files) {
		pl.Progress("reading", done, len(pl.listing.Files))
	}
}

func (pl *planner) fail(path string, err error) {
	var ignored *source.Ignored
	if errors.As(err, &ignored) {
		pl.result.Ignored = append(pl.result.Ignored, *ignored)
		return
	}
	pl.failures = append(pl.failures, asInvalid(path, err))
}

func asInvalid(path string, err error) *source.Invalid {
	var invalid *source.Invalid
	if errors.As(err, &invalid) {
		return invalid
	}
	return &source.Invalid{Path: path, Err: err}
}

// page is what is known of a file before it is decided who may see it. Its text is kept if it is likely to be written.
func (pl *planner) page(f *source.File) (page, error) {
	pg := page{facts: f.Facts}
	pg.entry = snapshot.Entry{Path: f.Path, Size: f.Size, SHA256: f.SHA256, MTime: f.MTime}
	if f.Lazy != nil {
		return pl.whole(pg, f.Lazy)
	}
	if err := pl.cut(&pg, f); err != nil {
		return page{}, err
	}
	if pg.stored == "" && pl.kept.Add(pg.entry.Size+keepEach) <= keepBytes {
		pg.file = f
	}
	return pg, nil
}

// cut counts the chunks. A page whose text is published keeps its count, and its records can be copied.
func (pl *planner) cut(pg *page, f *source.File) error {
	if !pl.Rewrite && pl.published != nil && pl.published.Header().Records == pl.header.Records {
		if i, ok := pl.published.Find(f.Path); ok && pl.published.At(i).SHA256 == f.SHA256 {
			pg.entry.Chunks, pg.stored = pl.published.At(i).Chunks, pl.published.Rev(i)
		}
	}
	if pg.entry.Chunks > 0 {
		return nil
	}
	chunks, err := chunker.Split(chunker.SyntaxOf(f.Path), f.Content)
	pg.entry.Chunks = len(chunks)
	return err
}

// entries of the new snapshot: pages and links, in byte order of their paths.
func (p *plan) entries() []snapshot.Entry {
	all := make([]snapshot.Entry, 0, len(p.pages)+len(p.links))
	for _, f := range p.pages {
		all = append(all, f.entry)
	}
	all = append(all, p.links...)
	slices.SortFunc(all, func(a, b snapshot.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// present lists the ids of the whole collection. A record id is a digest of all that the record is, so that an id that
// is there is the record; and Chroma is slow to select records without a site.
func (r *run) present(ctx context.Context) (idSet, error) {
	ids, err := r.store.IDs(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("list the records: %w", err)
	}
	set := make(idSet, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set, nil
}

type idSet map[string]struct{}

func (s idSet) has(id string) bool {
	_, ok := s[id]
	return ok
}
