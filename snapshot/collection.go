package snapshot

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
)

const (
	treeName       = "__path_tree__"
	visibilityTree = "tree"
	visibilityPart = "part"
	// cloudDocumentBytes is the document quota of Chroma Cloud.
	cloudDocumentBytes = 16384
	// metadataBytes bounds the value that names the retiring snapshots.
	metadataBytes = 4096
	// batch is how many parts are read or compared at a time.
	batch = 256
)

// TreeID is the id of the path-tree record of a site.
func TreeID(site string) string {
	if site == "" {
		return treeName
	}
	return treeName + ":" + site
}

// Collection publishes into the collection that holds the records of the pages: the snapshot as parts, and the one
// path-tree record, which is the pointer, last. FORMAT.md has the layout.
//
// Publish writes the parts that are not there, the manifests over them, then the path-tree record; killed before that,
// the old snapshot is published, after it the new one. Records of a publish that was cut short are named by no pointer;
// the next publish of the same tree uses them. Retired deletes parts, then manifests, the root last, then
// takes the mark off the path-tree record; killed in between, the mark is still there, and Retired is to be called again.
type Collection struct {
	Store index.Store
	Site  string
	// DocumentQuota is the most bytes of a document that the target takes; 0 means the 16,384 of Chroma Cloud. Over it the
	// path-tree record says SeeParts.
	DocumentQuota int
	Limits        Limits
}

var _ Location = (*Collection)(nil)

// Load reads the published snapshot.
func (c *Collection) Load(ctx context.Context) (*Published, error) {
	read := func() (pointer, error) {
		p, _, err := c.pointer(ctx)
		return p, err
	}
	return load(read, func(digest string) (*Tree, error) { return c.Open(ctx, digest) })
}

// Open reads a snapshot by its digest.
func (c *Collection) Open(ctx context.Context, digest string) (*Tree, error) {
	t, err := c.open(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("open snapshot %s: %w", digest, err)
	}
	return t, nil
}

func (c *Collection) open(ctx context.Context, digest string) (*Tree, error) {
	root, ok := rootID(digest, c.Site)
	if !ok {
		return nil, malformed("no snapshot digest")
	}
	named, err := c.named(ctx, root, false)
	if err != nil {
		return nil, err
	}
	t, err := decodeJSON(&partReader{ctx: ctx, store: c.Store, ids: named.parts, u: unpacker{site: c.Site}}, c.Limits.orDefault())
	if err != nil {
		return nil, err
	}
	return t, checkTree(t, digest, c.Site)
}

// Publish writes t and moves the pointer to it.
func (c *Collection) Publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := c.publish(ctx, t, at); err != nil {
		return fmt.Errorf("publish snapshot to %s: %w", TreeID(c.Site), err)
	}
	return nil
}

func (c *Collection) publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := checkPublish(t, c.Site, at); err != nil {
		return err
	}
	old, was, readErr := c.pointer(ctx)
	old, err := old.readable(readErr)
	if err != nil {
		return err
	}
	rec, err := c.record(old.next(t.Digest(), at), t.compact(c.quota()))
	if err != nil {
		return err
	}
	ids, err := c.writeParts(ctx, t)
	if err != nil {
		return err
	}
	for list := range slices.Chunk(manifests(rec.Metadata.Parts, c.Site, ids), batch) {
		if err := c.write(ctx, list, func(a, b stored) bool { return a == b }); err != nil {
			return err
		}
	}
	if reflect.DeepEqual(was, rec) {
		return nil
	}
	return c.Store.Upsert(ctx, []index.Record{rec})
}

func (c *Collection) quota() int {
	if c.DocumentQuota == 0 {
		return cloudDocumentBytes
	}
	return c.DocumentQuota
}

// writeParts returns the ids of all parts of t, in order, and writes those that are not there as they should be.
func (c *Collection) writeParts(ctx context.Context, t *Tree) (ids []string, err error) {
	u := unpacker{site: c.Site}
	same := func(_, there stored) bool {
		_, err := u.unpack(there)
		return err == nil
	}
	var pending []stored
	err = t.cut(func(s stored) error {
		ids = append(ids, s.id)
		if pending = append(pending, s); len(pending) < batch {
			return nil
		}
		err := c.write(ctx, pending, same)
		pending = pending[:0]
		return err
	})
	if err == nil {
		err = c.write(ctx, pending, same)
	}
	return ids, err
}

// write upserts those of list that are not the same in the store.
func (c *Collection) write(ctx context.Context, list []stored, same func(want, there stored) bool) error {
	byID := map[string]stored{}
	var ids []string
	for _, s := range list {
		byID[s.id] = s
		ids = append(ids, s.id)
	}
	ids = distinct(ids)
	texts, err := partTexts(ctx, c.Store, ids)
	if err != nil {
		return err
	}
	var records []index.Record
	for _, id := range ids {
		s := byID[id]
		if text, ok := texts[id]; !ok || !same(s, stored{id, text}) {
			rec := index.Record{ID: s.id, Document: partDocument, Metadata: c.metadata(index.KindPart, visibilityPart)}
			rec.Metadata.Part = s.text
			records = append(records, rec)
		}
	}
	if len(records) == 0 {
		return nil
	}
	return c.Store.Upsert(ctx, records)
}

// partTexts reads the texts of parts or manifests, by id, of those that are there.
func partTexts(ctx context.Context, store index.Store, ids []string) (map[string]string, error) {
	records, err := store.Metadata(ctx, ids)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string, len(records))
	for _, rec := range records {
		texts[rec.ID] = rec.Metadata.Part
	}
	return texts, nil
}

func (c *Collection) metadata(kind, visibility string) index.Metadata {
	return index.Metadata{Kind: kind, Groups: access.Nobody().RecordGroups(), Visibility: visibility, Site: c.Site}
}

// record is the path-tree record.
func (c *Collection) record(p pointer, document string) (index.Record, error) {
	rec := index.Record{ID: TreeID(c.Site), Document: document, Metadata: c.metadata(index.KindPathTree, visibilityTree)}
	rec.Metadata.Snapshot = p.digest
	rec.Metadata.Parts, _ = rootID(p.digest, c.Site)
	rec.Metadata.PublishedAt = p.at.Unix()
	var roots []string
	for _, d := range p.retiring {
		root, _ := rootID(d, c.Site)
		roots = append(roots, root)
	}
	rec.Metadata.Retiring = strings.Join(roots, ",")
	if len(rec.Metadata.Retiring) > metadataBytes {
		return rec, overLimit("%d snapshots are retiring", len(roots))
	}
	return rec, nil
}

// pointer reads the path-tree record.
func (c *Collection) pointer(ctx context.Context) (p pointer, rec index.Record, err error) {
	if err := ValidateSite(c.Site); err != nil {
		return p, rec, err
	}
	id := TreeID(c.Site)
	got, err := c.Store.Get(ctx, []string{id})
	switch {
	case err != nil:
		return p, rec, fmt.Errorf("read %s: %w", id, err)
	case len(got) == 0:
		return p, rec, fmt.Errorf("read %s: %w", id, ErrNone)
	case got[0].Metadata.Kind != index.KindPathTree:
		return p, rec, fmt.Errorf("read %s: %w", id, ErrForeign)
	}
	if p, err = c.parse(got[0].Metadata); err != nil {
		return pointer{}, rec, fmt.Errorf("read %s: %w", id, err)
	}
	return p, got[0], nil
}

func (c *Collection) parse(m index.Metadata) (p pointer, err error) {
	root, ok := rootID(m.Snapshot, c.Site)
	if !ok || m.Parts != root || m.Site != c.Site || m.PublishedAt < 1 || m.PublishedAt > MaxMTime {
		return p, malformed("snapshot, parts, site and published_at do not fit together")
	}
	p = pointer{digest: m.Snapshot, at: time.Unix(m.PublishedAt, 0).UTC()}
	if m.Retiring == "" {
		return p, nil
	}
	for id := range strings.SplitSeq(m.Retiring, ",") {
		hex, ok := parseID(id, manifestPrefix, c.Site)
		if !ok || digestPrefix+hex == p.digest {
			return p, malformed("%q is no retiring snapshot", id)
		}
		p.retiring = append(p.retiring, digestPrefix+hex)
	}
	return p, nil
}

// partReader reads the bytes of parts, end to end.
type partReader struct {
	ctx   context.Context
	store index.Store
	ids   []string
	texts map[string]string
	next  int
	plain []byte
	u     unpacker
}

func (r *partReader) Read(p []byte) (int, error) {
	for len(r.plain) == 0 {
		if r.next == len(r.ids) {
			return 0, io.EOF
		}
		if err := r.load(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.plain)
	r.plain = r.plain[n:]
	return n, nil
}

func (r *partReader) load() (err error) {
	if r.next%batch == 0 {
		r.texts, err = partTexts(r.ctx, r.store, distinct(r.ids[r.next:min(r.next+batch, len(r.ids))]))
		if err != nil {
			return err
		}
	}
	id := r.ids[r.next]
	text, ok := r.texts[id]
	if !ok {
		return fmt.Errorf("%s: %w", id, ErrMissing)
	}
	r.next++
	r.plain, err = r.u.unpack(stored{id, text})
	return err
}
