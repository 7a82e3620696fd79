package ingest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// settle makes the plan of what was found: which pages and links there are, who may see each, what is to be written.
func (pl *planner) settle() (*plan, error) {
	p := &plan{present: pl.present}
	p.pages = slices.DeleteFunc(pl.found, func(f page) bool { return f.entry.Path == "" })
	if len(p.pages) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNothingSelected, pl.Dir)
	}
	links := pl.links(p)
	if err := pl.resolve(p, links); err != nil {
		return nil, err
	}
	pl.result.Audiences = map[string]int{}
	for i := range p.pages {
		pl.count(p, &p.pages[i])
	}
	pl.result.Pages, pl.result.Links = len(p.pages), len(p.links)
	slices.SortFunc(pl.result.Ignored, func(a, b source.Ignored) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(pl.result.Warnings, func(a, b source.Warning) int { return strings.Compare(a.Path, b.Path) })
	return p, nil
}

// links are those that lead to something selected.
func (pl *planner) links(p *plan) []source.Link {
	if len(pl.listing.Links) == 0 {
		return nil
	}
	selected := make([]string, len(p.pages))
	for i, f := range p.pages {
		selected[i] = f.entry.Path
	}
	kept, ignored := pl.folder.ResolveLinks(pl.listing.Links, selected)
	pl.result.Ignored = append(pl.result.Ignored, ignored...)
	return kept
}

// resolve decides who may see each page and link. Places that can't be understood are failures, unless they are to be
// denied.
func (pl *planner) resolve(p *plan, links []source.Link) error {
	facts := make([]source.Facts, len(p.pages))
	for i := range p.pages {
		facts[i], p.pages[i].facts = p.pages[i].facts, source.Facts{}
	}
	res, err := pl.folder.Resolve(facts, links, pl.pinned())
	if err != nil {
		return err
	}
	pl.result.Warnings = append(pl.result.Warnings, res.Warnings...)
	pl.result.Denied, pl.result.Default = res.Faults, res.Default
	if len(res.Faults) > 0 && !pl.DenyInvalid {
		return invalid(res.Faults)
	}
	pl.header.Default = res.Default.Access
	for i, d := range res.Files {
		p.pages[i].entry.Access = d.Access
	}
	for i, l := range links {
		p.links = append(p.links, snapshot.Entry{Path: l.Path, Access: res.Links[i].Access, Link: l.Target, MTime: l.MTime})
	}
	pl.compare(p, res)
	return nil
}

// pinned is the default that what readers see has pinned. Where only records tell, any of them that is not public has.
func (r *run) pinned() *access.Access {
	for _, t := range r.shown {
		if a := t.Header().Default; !a.Public {
			return &a
		}
	}
	for _, a := range r.recorded {
		if !a.Public {
			signedIn := access.SignedIn()
			return &signedIn
		}
	}
	return nil
}

// invalid makes failures of places that can't be understood.
func invalid(faults []*access.Fault) Failures {
	var list Failures
	for _, f := range faults {
		list = append(list, &source.Invalid{Path: f.At.Path, Line: f.At.Line, Err: fmt.Errorf("%w: %w", ErrAccess, f.Err)})
	}
	return list
}

// count adds a page to the figures of the plan, and lets go of its text where nothing of it is to be written.
func (pl *planner) count(p *plan, pg *page) {
	pl.result.Audiences[pg.entry.Access.Visibility()]++
	pl.result.Bytes += pg.entry.Size
	if pg.entry.Lazy != nil {
		pl.countLazy(p, pg)
		return
	}
	rev := snapshot.Rev(pl.header, pg.entry)
	for i := range pg.entry.Chunks {
		if pl.Rewrite || !pl.present.has(snapshot.RecordID(rev, i)) {
			pg.missing++
		}
	}
	if pg.missing == 0 {
		pg.file = nil
	}
	if pg.stored == rev {
		pg.stored = ""
	}
	pl.result.Chunks += pg.entry.Chunks
	p.records += pg.missing
}
