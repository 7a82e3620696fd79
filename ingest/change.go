package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// ErrWiden: publishing would open pages to viewers who can't see them now, and Options.AllowWiden is not set.
var ErrWiden = errors.New("more viewers would see pages than do now")

// Change is a page or link whose audience is to change.
type Change struct {
	Path string
	// From is the path of the published page with the same text, where the page moved; else empty.
	From          string
	Before, After access.Access
	// Why is what decides now.
	Why access.Reason
}

// Changes are what a plan changes in what readers see.
type Changes struct {
	// Added, Edited and Removed count pages and links.
	Added, Edited, Removed int
	// Widened may be seen by somebody who can't see them now; a path that is empty stands for the default, which is
	// that of pages to come. Narrowed have another audience, of which nobody is new. Both are in byte order of paths.
	Widened, Narrowed []Change
}

// compare finds what changes against what is published, or, where that is damaged, against what the records say.
func (pl *planner) compare(ctx context.Context, p *plan, res *source.Resolution) error {
	old := pl.last
	if old == nil {
		pl.result.Added = len(p.pages) + len(p.links)
	}
	if pl.damaged {
		return pl.compareRecords(ctx, p, res)
	}
	if old == nil {
		return nil
	}
	c := changes{run: pl.run, seen: make([]bool, old.Len())}
	c.audience("", "", old.Header().Default, res.Default)
	for i := range p.pages {
		c.entry(&p.pages[i].entry, res.Files[i])
	}
	for i := range p.links {
		c.entry(&p.links[i], res.Links[i])
	}
	c.moved()
	return nil
}

// compareRecords goes by the narrowest access that any record of a page has.
func (pl *planner) compareRecords(ctx context.Context, p *plan, res *source.Resolution) error {
	recorded := map[string]access.Access{}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(pl.present)), othersBatch) {
		records, err := pl.store.Metadata(ctx, ids)
		if err != nil {
			return fmt.Errorf("ask the records who sees the pages: %w", err)
		}
		for _, rec := range records {
			m := rec.Metadata
			if m.Kind != index.KindChunk || m.Site != pl.Site {
				continue
			}
			a, ok := recorded[m.PageSlug]
			if !ok {
				a = access.Everyone()
			}
			recorded[m.PageSlug] = a.Narrow(recordAccess(m))
		}
	}
	c := changes{run: pl.run}
	for i := range p.pages {
		e := &p.pages[i].entry
		if a, ok := recorded[pl.header.Slug(e.Path)]; ok {
			c.audience(e.Path, "", a, res.Files[i])
		}
	}
	return nil
}

// recordAccess is the access that a record gives to those who filter by it.
func recordAccess(m index.Metadata) access.Access {
	for _, a := range []access.Access{access.Everyone(), access.SignedIn(), {Groups: m.Groups}} {
		if a.Validate() == nil && a.Public == m.IsPublic && a.Visibility() == m.Visibility && slices.Equal(a.RecordGroups(), m.Groups) {
			return a
		}
	}
	return access.Nobody()
}

// changes compares the new entries with those of the published tree.
type changes struct {
	*run
	seen  []bool // entries of the published tree that are still there
	added []added
}

type added struct {
	entry    *snapshot.Entry
	decision *access.Decision
}

func (c *changes) entry(e *snapshot.Entry, d *access.Decision) {
	i, ok := c.last.Find(e.Path)
	if !ok {
		c.result.Added++
		c.added = append(c.added, added{e, d})
		return
	}
	c.seen[i] = true
	old := c.last.At(i)
	if old.SHA256 != e.SHA256 || old.Link != e.Link {
		c.result.Edited++
	}
	c.audience(e.Path, "", old.Access, d)
}

// audience files a change of audience.
func (c *changes) audience(path, from string, before access.Access, d *access.Decision) {
	change := Change{path, from, before, d.Access, d.Reason}
	switch {
	case before.Equal(d.Access):
	case d.Access.Within(before):
		c.result.Narrowed = append(c.result.Narrowed, change)
	default:
		c.result.Widened = append(c.result.Widened, change)
	}
}

// moved compares each new page with a page of the same text that is gone: a restricted page must not be opened by giving
// it another name.
func (c *changes) moved() {
	gone := map[[32]byte]int{}
	for i, seen := range c.seen {
		if seen {
			continue
		}
		c.result.Removed++
		if e := c.last.At(i); e.Size > 0 {
			gone[e.SHA256] = i
		}
	}
	for _, a := range c.added {
		i, ok := gone[a.entry.SHA256]
		if ok && !a.entry.IsLink() && !c.shown(a.entry.SHA256, a.decision.Access) {
			c.audience(a.entry.Path, c.last.Path(i), c.last.At(i).Access, a.decision)
		}
	}
}

// shown reports whether a page of that text was published for all whom a admits.
func (c *changes) shown(text [32]byte, a access.Access) bool {
	for i := range c.last.Len() {
		if e := c.last.At(i); e.SHA256 == text && a.Within(e.Access) {
			return true
		}
	}
	return false
}

// guard refuses to open anything to more viewers unasked.
func (r *run) guard() error {
	if n := len(r.result.Widened); n > 0 && !r.AllowWiden {
		return fmt.Errorf("%w: %d in all", ErrWiden, n)
	}
	return nil
}
