package verify

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
)

// compactBytes bounds the compact tree, uncompressed.
const compactBytes = 1 << 30

// comparePathTree holds the path-tree record, if the collection has one, to the snapshot: other readers of the layout
// know the pages by it alone.
func (r *run) comparePathTree(ctx context.Context) error {
	id := snapshot.TreeID(r.tree.Header().Site)
	records, err := r.store.Get(ctx, []string{id})
	if err != nil {
		return fmt.Errorf("read %s: %w", id, err)
	}
	if err := r.loadFollower(ctx); err != nil {
		return err
	}
	if len(records) == 0 {
		return nil
	}
	rec := records[0]
	if rec.Metadata.Snapshot != r.tree.Digest() {
		detail := fmt.Sprintf("record %s names snapshot %s, but %s is published", id, rec.Metadata.Snapshot, r.tree.Digest())
		r.findings.add(KindPathTree, "", detail)
	}
	nobody := access.Nobody()
	if m := rec.Metadata; m.IsPublic || !slices.Equal(m.Groups, nobody.RecordGroups()) || m.Visibility != "tree" {
		detail := fmt.Sprintf("record %s, which holds every path, is open to %q with isPublic %t and visibility %q", id, m.Groups, m.IsPublic, m.Visibility)
		r.findings.add(KindPathTree, "", detail)
	}
	if rec.Document == snapshot.SeeParts {
		return nil
	}
	if err := r.compareCompact(rec.Document); err != nil {
		r.findings.add(KindPathTree, "", fmt.Sprintf("the document of record %s is no compact tree: %v", id, err))
	}
	return nil
}

// loadFollower opens the snapshot that the collection keeps beside the one compared, as readers do who know the
// collection alone.
func (r *run) loadFollower(ctx context.Context) error {
	mirror, ok := r.location.(snapshot.Mirror)
	if !ok {
		return nil
	}
	_, err := mirror.Follower.Load(ctx)
	if snapshot.IsDamage(err) || errors.Is(err, snapshot.ErrNone) {
		r.findings.add(KindPathTree, "", fmt.Sprintf("what follows the published snapshot can't be read: %v", err))
		return nil
	}
	return err
}

// compactEntry is one page as other readers know it. All three keys are there in a good one.
type compactEntry struct {
	IsPublic *bool     `json:"isPublic"`
	Groups   *[]string `json:"groups"`
	Size     *int64    `json:"size"`
}

// compareCompact reads the document page by page.
func (r *run) compareCompact(document string) error {
	unzipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(document)))
	if err != nil {
		return err
	}
	d := json.NewDecoder(io.LimitReader(unzipped, compactBytes))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(errors.New("no JSON object"), err)
	}
	seen := make([]bool, r.tree.Len())
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		slug, _ := token.(string)
		var e compactEntry
		if err := d.Decode(&e); err != nil {
			return fmt.Errorf("page %q: %w", slug, err)
		}
		r.compareCompactEntry(slug, e, seen)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	for i, seen := range seen {
		if !seen && r.tree.At(i).Chunks > 0 {
			r.findings.add(KindPathTree, r.tree.Path(i), "not in the compact tree")
		}
	}
	return nil
}

func (r *run) compareCompactEntry(slug string, e compactEntry, seen []bool) {
	name := r.path(slug)
	i, ok := r.tree.Find(name)
	switch {
	case !ok || r.tree.Header().Slug(name) != slug || r.tree.At(i).Chunks == 0:
		r.findings.add(KindPathTree, name, fmt.Sprintf("in the compact tree as %q, but no page of the snapshot", slug))
		return
	case seen[i]:
		r.findings.add(KindPathTree, name, "twice in the compact tree")
	}
	seen[i] = true
	want := r.tree.At(i)
	if e.IsPublic == nil || e.Groups == nil || e.Size == nil {
		r.findings.add(KindPathTree, name, "isPublic, groups or size is missing in the compact tree")
		return
	}
	have, right := access.Access{Public: *e.IsPublic, Groups: *e.Groups}, want.Access.Compact()
	if !have.Equal(right) || *e.Size != want.Size {
		r.findings.add(KindPathTree, name, fmt.Sprintf("in the compact tree for %s with %d bytes, by the snapshot for %s with %d",
			have, *e.Size, right, want.Size))
	}
}
