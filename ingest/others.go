package ingest

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
)

// othersBatch is how many records are looked at per request.
const othersBatch = 1000

// others looks at the records that were present and that the new snapshot does not name. Those of this site are old and
// to be deleted: revisions of before, vanished pages, what a killed run left. It refuses a collection in which another
// writer, or another site, holds records under one of our page_slugs: readers that filter by it would join the two.
func (r *run) others(ctx context.Context, p *plan) error {
	ids := r.unnamed(p)
	if len(ids) == 0 {
		return nil
	}
	slugs := make(map[string]bool, len(p.pages))
	for _, f := range p.pages {
		slugs[r.header.Slug(f.entry.Path)] = true
	}
	for part := range slices.Chunk(ids, othersBatch) {
		records, err := r.store.Metadata(ctx, part)
		if err != nil {
			return fmt.Errorf("look at the collection's other records: %w", err)
		}
		for _, rec := range records {
			switch m := rec.Metadata; {
			case m.Kind == index.KindChunk && m.Site == r.Site && ourID.MatchString(rec.ID):
				p.old = append(p.old, rec.ID)
			case slugs[m.PageSlug]:
				return fmt.Errorf("%w: record %q has page_slug %q: use another --collection, or --site", ErrForeign, rec.ID, m.PageSlug)
			}
		}
	}
	return nil
}

// ourID is the form of our chunk records' ids. A record is deleted only if its kind, its site and its id are all ours.
var ourID = regexp.MustCompile(`^[a-z2-7]{26}#(0|[1-9][0-9]*)$`)

// partID is the form of the ids of snapshot parts and manifests, which have no page_slug.
var partID = regexp.MustCompile(`^(part|manifest):[0-9a-f]{64}(:.*)?$`)

// unnamed are the ids that were present and that the plan does not name, sorted; parts of snapshots left out.
func (r *run) unnamed(p *plan) []string {
	if !r.Rewrite && r.result.Chunks-p.records == len(p.present) {
		return nil // every record that was present is a page's
	}
	named := make(idSet, r.result.Chunks)
	for _, f := range p.pages {
		rev := snapshot.Rev(r.header, f.entry)
		for i := range f.entry.Chunks {
			named[snapshot.RecordID(rev, i)] = struct{}{}
		}
	}
	var ids []string
	for id := range p.present {
		if !named.has(id) && !partID.MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
