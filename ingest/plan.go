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
	// records to write in all.
	records int
	// old are the ids of this site's chunk records that were present and that the new snapshot does not name.
	old []string
}

// page is one page of the new snapshot. Its file is nil where the text was not kept.
type page struct {
	entry snapshot.Entry
	// missing counts the records to write.
	missing int
	file    *source.File
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
	found    []page // by position in the listing; an entry without chunks was not selected
	failures Failures
	markers  []source.Marker
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
	if err := pl.siteMarkers(); err != nil {
		return nil, err
	}
	if err := pl.readAll(ctx); err != nil {
		return nil, err
	}
	if err := pl.refuse(); err != nil {
		return nil, err
	}
	return pl.decide()
}

// siteMarkers looks for access markers in the site's own configuration.
func (pl *planner) siteMarkers() error {
	markers, warnings, err := pl.folder.Markers()
	pl.markers = append(pl.markers, markers...)
	pl.result.Warnings = append(pl.result.Warnings, warnings...)
	return err
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
	pl.markers = append(pl.markers, file.Markers...)
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

// page is what is to become of a file.
func (pl *planner) page(f *source.File) (page, error) {
	entry, err := pl.entry(f)
	if err != nil {
		return page{}, err
	}
	pg := page{entry: entry}
	rev := snapshot.Rev(pl.header, entry)
	for i := range entry.Chunks {
		if pl.Rewrite || !pl.present.has(snapshot.RecordID(rev, i)) {
			pg.missing++
		}
	}
	if pg.missing > 0 && pl.kept.Add(entry.Size+keepEach) <= keepBytes {
		pg.file = f
	}
	return pg, nil
}

// entry is the file's line in the new snapshot. An unchanged page keeps its chunk count; any other is cut to learn it.
func (pl *planner) entry(f *source.File) (snapshot.Entry, error) {
	e := snapshot.Entry{Path: f.Path, Access: f.Access, Size: int64(len(f.Content)), SHA256: f.SHA256, MTime: f.MTime}
	if !pl.Rewrite && pl.published != nil && pl.published.Header().Records == pl.header.Records {
		if i, ok := pl.published.Find(f.Path); ok && pl.published.At(i).SHA256 == f.SHA256 {
			e.Chunks = pl.published.At(i).Chunks
		}
	}
	if e.Chunks > 0 {
		return e, nil
	}
	chunks, err := chunker.Split(chunker.SyntaxOf(f.Path), f.Content)
	e.Chunks = len(chunks)
	return e, err
}

// refuse reports everything that forbids to go on.
func (pl *planner) refuse() error {
	if len(pl.failures) > 0 {
		slices.SortFunc(pl.failures, func(a, b *source.Invalid) int { return strings.Compare(a.Path, b.Path) })
		return pl.failures
	}
	if len(pl.markers) > 0 {
		slices.SortFunc(pl.markers, func(a, b source.Marker) int { return strings.Compare(a.Path, b.Path) })
		m := pl.markers[0]
		return fmt.Errorf("%w: %s:%d: %q (%d in all)", ErrMarkers, m.Path, m.Line, m.Key, len(pl.markers))
	}
	return nil
}

// decide makes the plan of what was found.
func (pl *planner) decide() (*plan, error) {
	p := &plan{present: pl.present}
	p.pages = slices.DeleteFunc(pl.found, func(f page) bool { return f.entry.Chunks == 0 })
	for _, f := range p.pages {
		pl.result.Bytes += f.entry.Size
		pl.result.Chunks += f.entry.Chunks
		p.records += f.missing
	}
	pl.result.Pages = len(p.pages)
	if len(p.pages) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNothingSelected, pl.Dir)
	}
	pl.links(p)
	slices.SortFunc(pl.result.Ignored, func(a, b source.Ignored) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(pl.result.Warnings, func(a, b source.Warning) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// links adds the links that lead to something selected.
func (pl *planner) links(p *plan) {
	if len(pl.listing.Links) == 0 {
		return
	}
	selected := make([]string, len(p.pages))
	for i, f := range p.pages {
		selected[i] = f.entry.Path
	}
	kept, ignored := pl.folder.ResolveLinks(pl.listing.Links, selected)
	pl.result.Ignored = append(pl.result.Ignored, ignored...)
	for _, l := range kept {
		p.links = append(p.links, snapshot.Entry{Path: l.Path, Access: pl.Default, Link: l.Target, MTime: l.MTime})
	}
	pl.result.Links = len(kept)
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
