package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
)

// recordBatch bounds the records read at a time.
const recordBatch = 256

// revBytes is the length of every revision.
const revBytes = 26

// chunks finds the tree's chunks by record id.
type chunks struct {
	byRev map[[revBytes]byte]int32
	tree  *snapshot.Tree
}

func indexChunks(tree *snapshot.Tree) chunks {
	c := chunks{make(map[[revBytes]byte]int32, tree.Len()), tree}
	for i := range tree.Len() {
		if e := tree.At(i); e.Chunks > 0 {
			c.byRev[[revBytes]byte([]byte(snapshot.Rev(tree.Header(), e)))] = int32(i)
		}
	}
	return c
}

// find returns the entry and the number of the chunk that id names; ok is false for an id of no chunk of the tree.
func (c chunks) find(id string) (entry, chunk int, ok bool) {
	rev, number, _ := strings.Cut(id, "#")
	if len(rev) != revBytes {
		return 0, 0, false
	}
	i, ok := c.byRev[[revBytes]byte([]byte(rev))]
	if !ok {
		return 0, 0, false
	}
	chunk, err := strconv.Atoi(number)
	if err != nil || chunk < 0 || chunk >= c.tree.At(int(i)).Chunks || strconv.Itoa(chunk) != number {
		return 0, 0, false
	}
	return int(i), chunk, true
}

// compareIDs finds records that the snapshot does not name and that readers who filter by page_slug would take for part
// of a page of this site. It lists everything, since Chroma is slow to select records without a site.
func (r *run) compareIDs(ctx context.Context) error {
	r.chunks = indexChunks(r.tree)
	all, err := r.store.IDs(ctx, "", "")
	if err != nil {
		return fmt.Errorf("list the records: %w", err)
	}
	others := slices.DeleteFunc(all, func(id string) bool {
		_, _, ok := r.chunks.find(id)
		if ok {
			r.report.Records++
		}
		return ok
	})
	slices.Sort(others)
	for ids := range slices.Chunk(others, recordBatch) {
		records, err := r.store.Metadata(ctx, ids)
		if err != nil {
			return fmt.Errorf("read extra records: %w", err)
		}
		for _, rec := range records {
			if r.joins(rec.Metadata) {
				detail := fmt.Sprintf("record %q, chunk %d, is named by no page of the snapshot", rec.ID, rec.Metadata.ChunkIndex)
				r.findings.add(KindRecordExtra, r.path(rec.Metadata.PageSlug), detail)
			}
		}
	}
	return nil
}

// joins reports whether a record is a chunk of this site, or stands under the page_slug of one of its pages.
func (r *run) joins(m index.Metadata) bool {
	site := r.tree.Header().Site
	if m.Kind == index.KindChunk && m.Site == site {
		return true
	}
	path, ours := strings.CutPrefix(m.PageSlug, r.tree.Header().Slug(""))
	_, taken := r.tree.Find(path)
	return ours && taken
}

// path is the page of a page_slug of this site.
func (r *run) path(slug string) string {
	return strings.TrimPrefix(slug, r.tree.Header().Slug(""))
}

// fetch reads the records of some entries, for each in chunk order, with nil for those that are not there, and all
// documents that the store answered with.
func (r *run) fetch(ctx context.Context, entries []int) (pages [][]*index.Record, docs ahead, err error) {
	var ids []string
	for _, i := range entries {
		ids = append(ids, r.tree.IDs(i)...)
	}
	docs = ahead{make(map[string]string, len(ids)), make(map[string]string)}
	byID := make(map[string]*index.Record, len(ids))
	for part := range slices.Chunk(ids, recordBatch) {
		if err := r.fetchPart(ctx, part, byID, docs); err != nil {
			return nil, docs, fmt.Errorf("read records: %w", err)
		}
	}
	pages = make([][]*index.Record, len(entries))
	for n, i := range entries {
		count := r.tree.At(i).Chunks
		for _, id := range ids[:count] {
			pages[n] = append(pages[n], byID[id])
		}
		ids = ids[count:]
	}
	return pages, docs, nil
}

// fetchPart adds the records that have both, metadata and a document.
func (r *run) fetchPart(ctx context.Context, ids []string, byID map[string]*index.Record, docs ahead) error {
	records, err := r.store.Metadata(ctx, ids)
	if err != nil {
		return err
	}
	found, err := r.store.Documents(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if doc, ok := found[id]; ok {
			docs.asked[id] = doc
			delete(found, id)
		}
	}
	maps.Copy(docs.added, found)
	for k := range records {
		rec := &records[k]
		var ok bool
		if rec.Document, ok = docs.asked[rec.ID]; ok {
			byID[rec.ID] = rec
		}
	}
	return nil
}

// group cuts a list of entries into runs of at most recordBatch records, or of one entry.
func (r *run) group(entries []int) [][]int {
	var groups [][]int
	from, count := 0, 0
	for k, i := range entries {
		n := r.tree.At(i).Chunks
		if k > from && count+n > recordBatch {
			groups = append(groups, entries[from:k])
			from, count = k, 0
		}
		count += n
	}
	if from < len(entries) {
		groups = append(groups, entries[from:])
	}
	return groups
}

// compareMetadata holds each record of a page to the tree. Readers and filters of the store rely on it.
func (r *run) compareMetadata(e snapshot.Entry, records []*index.Record) {
	rev := snapshot.Rev(r.tree.Header(), e)
	for k, rec := range records {
		id := snapshot.RecordID(rev, k)
		if rec == nil {
			r.findings.add(KindChunkMissing, e.Path, fmt.Sprintf("chunk %d is missing: the store has no record %q", k, id))
			continue
		}
		for _, fault := range faults(rec.Metadata, r.wanted(e, k)) {
			r.findings.add(KindRecord, e.Path, fmt.Sprintf("chunk %d, record %q: %s", k, id, fault))
		}
	}
}

// wanted are the keys that the tree decides.
func (r *run) wanted(e snapshot.Entry, chunk int) index.Metadata {
	return index.Metadata{
		Kind: index.KindChunk, PageSlug: r.tree.Header().Slug(e.Path), ChunkIndex: chunk, Site: r.tree.Header().Site,
		IsPublic: e.Access.Public, Groups: e.Access.RecordGroups(), Visibility: e.Access.Visibility(),
	}
}

// faults names the keys that differ.
func faults(have, want index.Metadata) []string {
	var list []string
	for _, key := range []struct {
		name       string
		have, want any
	}{
		{"kind", have.Kind, want.Kind},
		{"page_slug", have.PageSlug, want.PageSlug},
		{"chunk_index", have.ChunkIndex, want.ChunkIndex},
		{"site", have.Site, want.Site},
		{"isPublic", have.IsPublic, want.IsPublic},
		{"visibility", have.Visibility, want.Visibility},
		{"retired_at", have.RetiredAt, want.RetiredAt},
	} {
		if key.have != key.want {
			list = append(list, fmt.Sprintf("%s is %#v, not %#v", key.name, key.have, key.want))
		}
	}
	if !slices.Equal(have.Groups, want.Groups) {
		list = append(list, fmt.Sprintf("groups are %q, not %q", have.Groups, want.Groups))
	}
	return list
}

// compareStarts holds start_line to the texts of the chunks, which are known to be the page.
func (r *run) compareStarts(e snapshot.Entry, records []*index.Record) {
	start := 1
	for k, rec := range records {
		if rec.Metadata.StartLine != start {
			detail := fmt.Sprintf("chunk %d, record %q: start_line is %d, not %d", k, rec.ID, rec.Metadata.StartLine, start)
			r.findings.add(KindRecord, e.Path, detail)
		}
		start += strings.Count(rec.Document, "\n") + 1
	}
}
