// Package ingest turns a documentation folder into chunk records and a published snapshot: plan, write, publish, retire,
// in that order. It never publishes a folder of which any page failed, and it deletes only records that are its own.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromafs/chromafs/access"
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
	// ErrMarkers: pages carry access markers, which this version does not resolve.
	ErrMarkers = errors.New("access markers found")
)

// Failures are all pages that failed. Nothing was published.
type Failures []*source.Invalid

func (f Failures) Error() string {
	if len(f) == 1 {
		return "1 page failed; nothing was published"
	}
	return fmt.Sprintf("%d pages failed; nothing was published", len(f))
}

// Options say what to index and how. The zero value of each field but Dir and Collection is the default.
type Options struct {
	Dir        string
	Collection string
	Site       string
	// URL is the site's public base URL, without a final slash; empty writes no url.
	URL    string
	Source source.Options
	// Default is the access of every page that nothing else decides. It is pinned in the snapshot.
	Default access.Access
	// Rewrite writes every record again, whether or not it is there, and publishes over a damaged snapshot.
	Rewrite bool
	// Now is the publish time.
	Now time.Time
	// Progress is called from one goroutine at a time, as often as there is news; nil means nobody looks.
	Progress func(stage string, done, total int)
}

// Result says what was done.
type Result struct {
	// Snapshot is the digest that is published now; Changed says that it was not before.
	Snapshot string
	Changed  bool
	// Pages counts the files of any kind, Bytes their size.
	Pages, Links, Chunks int
	Bytes                int64
	// Written and Deleted count records.
	Written, Deleted int
	Ignored          []source.Ignored
	Warnings         []source.Warning
}

// run is one ingest under way.
type run struct {
	Options
	store    index.Store
	location snapshot.Location
	folder   *source.Folder
	header   snapshot.Header
	result   Result
}

// Run indexes o.Dir into store and publishes it at location. When it fails, what was published before is still
// published, whole. A failed page is reported in Failures, all of them at once.
func Run(ctx context.Context, store index.Store, location snapshot.Location, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	o.Source.Check = chunker.Check
	o.Source.Default = o.Default
	folder, err := source.Open(o.Dir, o.Source)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	r := &run{Options: o, store: store, location: location, folder: folder}
	r.header = snapshot.Header{Collection: o.Collection, Site: o.Site, Records: recordSettings(o.URL), Default: o.Default}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	return &r.result, nil
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
	if err := r.write(ctx, p); err != nil {
		return err
	}
	if err := r.publish(ctx, published, tree); err != nil {
		return err
	}
	return r.retire(ctx, p)
}

// published loads what readers see now; nil when there is nothing, or only damage that is to be written over. What a
// newer chromafs or somebody else wrote is never written over.
func (r *run) published(ctx context.Context) (*snapshot.Tree, error) {
	p, err := r.location.Load(ctx)
	switch {
	case errors.Is(err, snapshot.ErrNone), r.Rewrite && damaged(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("load the published snapshot: %w", err)
	}
	if name := p.Tree.Header().Collection; name != r.Collection {
		return nil, fmt.Errorf("%w: %q, not %q: name another snapshot folder", ErrOtherCollection, name, r.Collection)
	}
	return p.Tree, nil
}

func damaged(err error) bool {
	return errors.Is(err, snapshot.ErrMalformed) || errors.Is(err, snapshot.ErrDigest) || errors.Is(err, snapshot.ErrMissing)
}
