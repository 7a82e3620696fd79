package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// From is the path of a published page with the same text, where that is new to Path; else empty.
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

// leastText is the size in bytes below which equal texts are taken for chance.
const leastText = 32

// compare finds what changes against what readers may see now.
func (pl *planner) compare(p *plan, res *source.Resolution) {
	if len(pl.shown) == 0 {
		pl.result.Added = len(p.pages) + len(p.links)
	}
	for k, old := range pl.shown {
		c := changes{Changes: &Changes{}, old: old, texts: map[[32]byte][]edited{}}
		c.compare(p, res)
		if k == 0 {
			pl.result.Changes = *c.Changes
			continue
		}
		pl.result.Widened = append(pl.result.Widened, c.Widened...)
	}
	c := changes{Changes: &pl.result.Changes}
	for i := range p.pages {
		e := &p.pages[i].entry
		if a, ok := pl.recorded[pl.header.Slug(e.Path)]; ok {
			c.audience(e.Path, "", a, res.Files[i])
		}
	}
	slices.SortStableFunc(pl.result.Widened, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.From, b.From)) })
	pl.result.Widened = slices.CompactFunc(pl.result.Widened, func(a, b Change) bool { return a.Path == b.Path && a.From == b.From })
}

// changes compares the new entries with those of one published tree.
type changes struct {
	*Changes
	old   *snapshot.Tree
	found int                   // entries that are still there
	texts map[[32]byte][]edited // what was not published under its path before
}

// edited is a page with a text that its path did not have.
type edited struct {
	path     string
	decision *access.Decision
}

func (c *changes) compare(p *plan, res *source.Resolution) {
	c.audience("", "", c.old.Header().Default, res.Default)
	for i := range p.pages {
		c.entry(&p.pages[i].entry, res.Files[i])
	}
	for i := range p.links {
		c.entry(&p.links[i], res.Links[i])
	}
	c.Removed = c.old.Len() - c.found
	if len(c.texts) > 0 {
		c.moved()
	}
}

func (c *changes) entry(e *snapshot.Entry, d *access.Decision) {
	i, ok := c.old.Find(e.Path)
	if !ok {
		c.Added++
		c.edited(e, d)
		return
	}
	c.found++
	old := c.old.At(i)
	if old.SHA256 != e.SHA256 || old.Link != e.Link {
		c.Edited++
		c.edited(e, d)
	}
	c.audience(e.Path, "", old.Access, d)
}

func (c *changes) edited(e *snapshot.Entry, d *access.Decision) {
	if e.Size >= leastText {
		c.texts[e.SHA256] = append(c.texts[e.SHA256], edited{e.Path, d})
	}
}

// audience files a change of audience.
func (c *changes) audience(path, from string, before access.Access, d *access.Decision) {
	change := Change{path, from, before, d.Access, d.Reason}
	switch {
	case before.Equal(d.Access):
	case d.Access.Within(before):
		c.Narrowed = append(c.Narrowed, change)
	default:
		c.Widened = append(c.Widened, change)
	}
}

// moved compares each text that is new to its path with the pages that were published with it: a restricted page must not
// be opened by giving it another name. A text that was shown to as many before, somewhere, is not opened.
func (c *changes) moved() {
	was := map[[32]byte][]int{}
	for i := range c.old.Len() {
		text, class := c.old.At(i).SHA256, c.old.Class(i)
		alike := func(k int) bool { return c.old.Class(k) == class }
		if c.texts[text] != nil && !slices.ContainsFunc(was[text], alike) {
			was[text] = append(was[text], i)
		}
	}
	for text, entries := range was {
		for _, e := range c.texts[text] {
			within := func(i int) bool { return e.decision.Access.Within(c.old.At(i).Access) }
			if !slices.ContainsFunc(entries, within) {
				c.audience(e.path, c.old.Path(entries[0]), c.old.At(entries[0]).Access, e.decision)
			}
		}
	}
}

// askRecords learns from the records who sees the pages, where no tree tells although there are records.
func (r *run) askRecords(ctx context.Context, present idSet) error {
	var ours []string
	for id := range present {
		if ourID.MatchString(id) {
			ours = append(ours, id)
		}
	}
	r.recorded = map[string]access.Access{}
	for ids := range slices.Chunk(ours, othersBatch) {
		records, err := r.store.Metadata(ctx, ids)
		if err != nil {
			return fmt.Errorf("ask the records who sees the pages: %w", err)
		}
		for _, rec := range records {
			m := rec.Metadata
			if m.Kind != index.KindChunk || m.Site != r.Site {
				continue
			}
			a, ok := r.recorded[m.PageSlug]
			if !ok {
				a = access.Everyone()
			}
			r.recorded[m.PageSlug] = a.Narrow(recordAccess(m))
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

// guard refuses to open anything to more viewers unasked.
func (r *run) guard() error {
	if n := len(r.result.Widened); n > 0 && !r.AllowWiden {
		return fmt.Errorf("%w: %d in all", ErrWiden, n)
	}
	return nil
}
