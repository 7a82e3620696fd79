package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/chromafs/chromafs/index"
)

// foreignPage is how many foreign records are looked at per request.
const foreignPage = 1000

// refuseForeign refuses a collection in which another writer, or another site, holds records under one of our page_slugs:
// readers that filter by it would join the two. Only records that are not ours are looked at.
func (r *run) refuseForeign(ctx context.Context, p *plan) error {
	all, err := r.store.IDs(ctx, "", "")
	if err != nil {
		return fmt.Errorf("list the collection: %w", err)
	}
	others := slices.DeleteFunc(all, p.present.has)
	if len(others) == 0 {
		return nil
	}
	slugs := make(map[string]bool, len(p.pages))
	for _, f := range p.pages {
		slugs[r.header.Slug(f.entry.Path)] = true
	}
	for ids := range slices.Chunk(others, foreignPage) {
		records, err := r.store.Metadata(ctx, ids)
		if err != nil {
			return fmt.Errorf("look at foreign records: %w", err)
		}
		if i := slices.IndexFunc(records, func(rec index.Record) bool { return slugs[rec.Metadata.PageSlug] }); i >= 0 {
			return fmt.Errorf("%w: record %q has page_slug %q: use another --collection, or --site", ErrForeign, records[i].ID, records[i].Metadata.PageSlug)
		}
	}
	return nil
}
