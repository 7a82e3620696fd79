package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// LazyFile is a file that is kept whole, and why.
type LazyFile struct {
	Path string
	Size int64
	source.Lazy
	// URI is that of an object which was there before; empty for most.
	URI string
}

// pointed is the reason for a file that the folder does not hold.
const pointed source.LazyReason = "named by lazy.pointers"

// lazyPage is what a page has only if it is kept whole: why, and its block list, where that may have to be sent.
type lazyPage struct {
	source.Lazy
	list []byte
}

// object is one to be in the blob store before the snapshot is published.
type object struct {
	path string // of the file that it is for
	blob.Content
}

// whole is page for a file that is kept whole.
func (pl *planner) whole(pg page, why *source.Lazy) (page, error) {
	e := &pg.entry
	e.Lazy, pg.lazy = &snapshot.Lazy{}, &lazyPage{Lazy: *why}
	if e.Size <= blob.WholeBytes {
		return pg, nil
	}
	r, err := pl.folder.OpenFile(e.Path)
	if err != nil {
		return page{}, err
	}
	defer r.Close()
	p, list, err := blob.Describe(r)
	if err == nil && (p.Size != e.Size || p.SHA256 != e.SHA256) {
		err = errChanged
	}
	if err != nil {
		return page{}, err
	}
	e.Lazy.Blocks, pg.lazy.list = p.Blocks, list
	return pg, nil
}

// was is the published entry at path.
func (pl *planner) was(path string) (snapshot.Entry, bool) {
	if pl.published == nil {
		return snapshot.Entry{}, false
	}
	i, ok := pl.published.Find(path)
	if !ok {
		return snapshot.Entry{}, false
	}
	return pl.published.At(i), true
}

// addPointers adds the files that are objects already.
func (pl *planner) addPointers(ctx context.Context) error {
	list := pl.listing.Pointers
	pages, errs := make([]page, len(list)), make([]error, len(list))
	var g errgroup.Group
	g.SetLimit(askers)
	for k, p := range list {
		g.Go(func() error {
			pages[k], errs[k] = pl.pointerPage(ctx, p)
			return nil
		})
	}
	if err := cmp.Or(g.Wait(), ctx.Err()); err != nil {
		return err
	}
	facts := pl.listing.PointerFacts()
	for k, p := range list {
		pg, err := pages[k], errs[k]
		if err != nil {
			pl.failures = append(pl.failures, &source.Invalid{Path: p.At.Path, Line: p.At.Line, Err: fmt.Errorf("lazy.pointers: %q: %w", p.Path, err)})
			continue
		}
		pg.facts = facts[k]
		pl.found = append(pl.found, pg)
	}
	slices.SortFunc(pl.found, func(a, b page) int { return strings.Compare(a.entry.Path, b.entry.Path) })
	return nil
}

var (
	errNoObject = errors.New("the object is empty")
	errNoOrigin = errors.New("objects elsewhere can't be reached from here")
)

// pointerPage reads what the object is, and pins it. What is pinned already is not read again.
func (pl *planner) pointerPage(ctx context.Context, p source.Pointer) (page, error) {
	if pl.Origin == nil {
		return page{}, errNoOrigin
	}
	store, key, err := pl.Origin(ctx, p.URI)
	if err != nil {
		return page{}, err
	}
	info, err := store.Stat(ctx, key, blob.Pin{})
	if err != nil {
		return page{}, err
	}
	if info.Size == 0 {
		return page{}, errNoObject
	}
	pg := page{lazy: &lazyPage{Lazy: source.Lazy{Reason: pointed}}}
	pg.entry = snapshot.Entry{Path: p.Path, Size: info.Size, Lazy: &snapshot.Lazy{}}
	pin := blob.Pin{URI: p.URI, ETag: info.ETag, Version: info.Version}
	old, ok := pl.was(p.Path)
	switch {
	case ok && old.Lazy != nil && old.Lazy.Pin == pin && old.Size == info.Size && pl.listed(ctx, old.Lazy.Blocks):
		pg.entry.SHA256, pg.entry.Lazy.Blocks = old.SHA256, old.Lazy.Blocks
	case info.SHA256 != nil && info.Size <= blob.WholeBytes:
		pg.entry.SHA256 = *info.SHA256
	default:
		if err := describe(ctx, &pg, store, key, pin); err != nil {
			return page{}, err
		}
	}
	pg.entry.Lazy.Pin = pin
	return pg, nil
}

// listed reports whether a block list is where it should be.
func (pl *planner) listed(ctx context.Context, blocks [32]byte) bool {
	switch {
	case pl.Rewrite:
		return false
	case blocks == [32]byte{}:
		return true
	case pl.Blobs == nil:
		return false
	}
	_, err := pl.Blobs.Stat(ctx, blob.Key(blocks), blob.Pin{})
	return err == nil
}

// describe reads the whole object.
func describe(ctx context.Context, pg *page, store blob.Store, key string, pin blob.Pin) error {
	r, err := store.Open(ctx, key, pin, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	d, list, err := blob.Describe(r)
	if err != nil {
		return err
	}
	if d.Size != pg.entry.Size {
		return fmt.Errorf("%d bytes instead of %d", d.Size, pg.entry.Size)
	}
	pg.entry.SHA256, pg.entry.Lazy.Blocks, pg.lazy.list = d.SHA256, d.Blocks, list
	return nil
}

// countLazy adds a file that is kept whole to the figures of the plan, and its objects to those to send.
func (pl *planner) countLazy(p *plan, pg *page) {
	e := pg.entry
	pl.result.Lazy = append(pl.result.Lazy, LazyFile{e.Path, e.Size, pg.lazy.Lazy, e.Lazy.URI})
	if e.Lazy.URI == "" {
		open := func() (io.ReadCloser, error) { return pl.folder.OpenFile(e.Path) }
		p.objects = append(p.objects, object{e.Path, blob.Content{Size: e.Size, SHA256: e.SHA256, Open: open}})
	}
	if list := pg.lazy.list; list != nil {
		open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(list)), nil }
		p.objects = append(p.objects, object{e.Path, blob.Content{Size: int64(len(list)), SHA256: sha256.Sum256(list), Open: open}})
	}
}

// needBlobs refuses objects that there is no place for.
func (r *run) needBlobs(p *plan) error {
	if r.Blobs != nil || len(p.objects) == 0 {
		return nil
	}
	i := slices.IndexFunc(r.result.Lazy, func(f LazyFile) bool { return f.Path == p.objects[0].path })
	first := r.result.Lazy[i]
	text := fmt.Sprintf("%q (%s)", first.Path, first.Reason)
	if n := len(r.result.Lazy) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%w: %s", ErrNoBlobs, text)
}

// smallBytes is the size of objects up to which as many are sent at a time as are asked for; of larger ones it is writers.
const smallBytes = 1 << 20

// askers is how many objects are asked for at a time: an answer is small, and may be far away.
const askers = 16

// lacking asks the blob store which objects it does not have as they should be. With Rewrite that is all of them.
func (r *run) lacking(ctx context.Context, objects []object) ([]object, error) {
	lacks := make([]bool, len(objects))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(askers)
	for k, o := range objects {
		if lacks[k] = r.Rewrite; r.Rewrite {
			continue
		}
		g.Go(func() error {
			there, err := blob.Holds(ctx, r.Blobs, o.Content)
			if lacks[k] = !there; err != nil {
				return fmt.Errorf("look for the object of %q: %w", o.path, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var list []object
	for k, o := range objects {
		if lacks[k] {
			list = append(list, o)
		}
	}
	return list, nil
}

// sendObjects sends what the blob store lacks; a dry run counts it. What lies there under a digest that no file has any
// more stays.
func (r *run) sendObjects(ctx context.Context, p *plan) error {
	list, err := r.lacking(ctx, distinct(p.objects))
	if err != nil {
		return err
	}
	for _, o := range list {
		r.result.Sent++
		r.result.SentBytes += o.Size
	}
	if r.DryRun {
		return nil
	}
	failed := make([]*source.Invalid, len(list))
	g, gctx := errgroup.WithContext(ctx)
	room := semaphore.NewWeighted(askers)
	for k, o := range list {
		g.Go(func() error {
			weight := int64(1)
			if o.Size > smallBytes {
				weight = askers / writers
			}
			if err := room.Acquire(gctx, weight); err != nil {
				return err
			}
			defer room.Release(weight)
			_, err := blob.Send(gctx, r.Blobs, o.Content, r.Rewrite)
			if isChange(err) {
				failed[k] = &source.Invalid{Path: o.path, Err: errChanged}
				return nil
			}
			if err != nil {
				return fmt.Errorf("send %q: %w", o.path, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if failures := Failures(slices.DeleteFunc(failed, func(f *source.Invalid) bool { return f == nil })); len(failures) > 0 {
		return failures.sorted()
	}
	return nil
}

// distinct leaves one of the objects of each digest.
func distinct(objects []object) []object {
	seen := map[[32]byte]bool{}
	return slices.DeleteFunc(slices.Clone(objects), func(o object) bool {
		twice := seen[o.SHA256]
		seen[o.SHA256] = true
		return twice
	})
}

// isChange reports whether a file is not what it was when it was read.
func isChange(err error) bool {
	return errors.Is(err, blob.ErrShort) || errors.Is(err, blob.ErrTrailing) || errors.Is(err, blob.ErrDigest)
}
