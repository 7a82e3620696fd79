// Package ingest turns a documentation folder into chunk records and a published snapshot: plan, write, publish, retire,
// in that order. It never publishes a folder of which any page failed, and it deletes only records that are its own.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// Errors that callers branch on.
var (
	// ErrNothingSelected: the folder holds no file to index; an index is never emptied by mistake.
	ErrNothingSelected = errors.New("nothing selected")
	// ErrForeign: the collection holds records of somebody else under our page names.
	ErrForeign = errors.New("collection holds other records of the same pages")
	// ErrOtherCollection: what is published there is the snapshot of another collection.
	ErrOtherCollection = errors.New("the published snapshot is of another collection")
	// ErrNoBlobs: there are lazy files, and Options.Blobs is not set.
	ErrNoBlobs = errors.New("nowhere to put lazy files")
	// ErrAccess: somewhere it can't be understood who may see a page.
	ErrAccess = errors.New("who may see it can't be told")
	// ErrDenied: the snapshot is published, but for nobody to see are the pages that depend on what can't be understood.
	ErrDenied = errors.New("published with denied pages")
)

// Failures are all pages that failed. Nothing was published.
type Failures []*source.Invalid

func (f Failures) Error() string {
	if len(f) == 1 {
		return "1 page failed; nothing was published"
	}
	return fmt.Sprintf("%d pages failed; nothing was published", len(f))
}

// Unwrap makes the pages' own errors known to errors.Is.
func (f Failures) Unwrap() []error {
	list := make([]error, len(f))
	for i, e := range f {
		list[i] = e
	}
	return list
}

func (f Failures) sorted() Failures {
	slices.SortFunc(f, func(a, b *source.Invalid) int { return strings.Compare(a.Path, b.Path) })
	return f
}

// Options say what to index and how. The zero value of each field but Dir and Collection is the default.
type Options struct {
	Dir        string
	Collection string
	Site       string
	// Blobs keeps the objects of lazy files; nil refuses them. BlobsURI is how readers find it, s3://BUCKET/PREFIX, or empty
	// for a folder that they know.
	Blobs    blob.Store
	BlobsURI string
	// Origin opens the object that Source.Pointers name by a URI: its store, and its key in there.
	Origin func(ctx context.Context, uri string) (blob.Store, string, error)
	// URL is the site's public base URL, without a final slash; empty writes no url.
	URL string
	// Source says what to select, and the rules and the default of access. The default that is found is pinned in the
	// snapshot.
	Source source.Options
	// DenyInvalid publishes a folder in which somewhere it can't be understood who may see a page. Nobody may, then.
	DenyInvalid bool
	// AllowWiden lets pages be opened to viewers who can't see them now.
	AllowWiden bool
	// DryRun plans, and writes nothing.
	DryRun bool
	// Rewrite writes every record again, whether or not it is there, and publishes over a damaged snapshot.
	Rewrite bool
	// Now is the publish time.
	Now time.Time
	// Progress is called from one goroutine at a time, as often as there is news; nil means nobody looks.
	Progress func(stage string, done, total int)
}

// Result says what was done.
type Result struct {
	// Snapshot is the digest that is published now, or would be if Published is not set; Changed says that it was not
	// before.
	Snapshot           string
	Changed, Published bool
	// Pages counts the files of any kind, Bytes their size.
	Pages, Links, Chunks int
	Bytes                int64
	// Written and Deleted count records; those that a dry run would write and delete. Copied are those of the written
	// whose text and embedding were in the store.
	Written, Copied, Deleted int
	// Lazy are the files that are kept whole, in byte order of their paths. Sent and SentBytes are the objects sent for
	// them, or that a dry run would send.
	Lazy      []LazyFile
	Sent      int
	SentBytes int64
	// Audiences counts the pages by visibility, as records have it.
	Audiences map[string]int
	// Default is who sees the pages of which nothing is said. Denied are places that can't be understood.
	Default *access.Decision
	Denied  []*access.Fault
	Changes
	Ignored  []source.Ignored
	Warnings []source.Warning
}

// run is one ingest under way.
type run struct {
	Options
	store    index.Store
	location snapshot.Location
	folder   *source.Folder
	header   snapshot.Header
	// shown is what readers may see now: the published tree, and that of a location which follows, if it is another.
	shown []*snapshot.Tree
	// recorded is, where there is no such tree, the narrowest access that any record of a page has, by page_slug.
	recorded map[string]access.Access
	result   Result
}

// Run indexes o.Dir into store and publishes it at location. When it fails, what was published before is still
// published, whole. A failed page is reported in Failures, all of them at once. With ErrWiden and with ErrDenied, and with
// them alone, it returns a result all the same.
func Run(ctx context.Context, store index.Store, location snapshot.Location, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	o.Source.Check = chunker.Check
	folder, err := source.Open(o.Dir, o.Source)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r := &run{Options: o, store: store, location: location, folder: folder}
	r.header = snapshot.Header{Collection: o.Collection, Site: o.Site, Records: recordSettings(o.URL), Blobs: o.BlobsURI}
	err = r.run(ctx)
	if err == nil && len(r.result.Denied) > 0 {
		err = fmt.Errorf("%w: %d in all", ErrDenied, len(r.result.Denied))
	}
	if err != nil && !errors.Is(err, ErrWiden) && !errors.Is(err, ErrDenied) {
		return nil, err
	}
	return &r.result, err
}

func (r *run) run(ctx context.Context) error {
	published, err := r.published(ctx)
	if err != nil {
		return err
	}
	present, err := r.present(ctx)
	if err != nil {
		return err
	}
	if len(r.shown) == 0 {
		if err := r.askRecords(ctx, present); err != nil {
			return err
		}
	}
	p, err := r.plan(ctx, published, present)
	if err != nil {
		return err
	}
	if err := r.others(ctx, p); err != nil {
		return err
	}
	tree, err := snapshot.New(r.header, p.entries())
	if err != nil {
		return err
	}
	r.result.Snapshot = tree.Digest()
	r.result.Changed = published == nil || published.Digest() != tree.Digest()
	if err := r.needBlobs(p); err != nil {
		return err
	}
	if r.DryRun {
		r.result.Written, r.result.Deleted = p.records, len(p.old)
		if err := r.sendObjects(ctx, p); err != nil {
			return err
		}
	}
	if err := r.guard(); err != nil || r.DryRun {
		return err
	}
	if err := r.sendObjects(ctx, p); err != nil {
		return err
	}
	if err := r.write(ctx, p); err != nil {
		return err
	}
	if err := r.publish(ctx, tree); err != nil {
		return err
	}
	r.result.Published = true
	return r.retire(ctx, p)
}

// published loads what readers see now; nil when there is nothing, or only damage that is to be written over. What a
// newer chromafs or somebody else wrote is never written over. It sets shown.
func (r *run) published(ctx context.Context) (*snapshot.Tree, error) {
	p, others, err := snapshot.LoadAll(ctx, r.location)
	if err != nil && !errors.Is(err, snapshot.ErrNone) && !(r.Rewrite && snapshot.IsDamage(err)) {
		return nil, fmt.Errorf("load the published snapshot: %w", err)
	}
	for _, o := range others {
		r.shown = append(r.shown, o.Tree)
	}
	if p == nil {
		return nil, nil
	}
	if name := p.Tree.Header().Collection; name != r.Collection {
		return nil, fmt.Errorf("%w: %q, not %q: name another snapshot folder", ErrOtherCollection, name, r.Collection)
	}
	r.shown = append([]*snapshot.Tree{p.Tree}, r.shown...)
	return p.Tree, nil
}
