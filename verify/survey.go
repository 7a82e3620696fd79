package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/source"
)

// survey reads every file of the folder for what decides who may see it and whether it is lazy. A file that can't be read
// for that is found missing or extra.
func (r *run) survey(ctx context.Context) (files []source.Facts, links []source.Link, err error) {
	names := r.listing.Files
	facts := make([]source.Facts, len(names))
	read := make([]*source.File, len(names)) // without content
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for k, name := range names {
		g.Go(func() error {
			if f, err := r.folder.Read(name); err == nil {
				facts[k], read[k] = f.Facts, &source.File{Size: f.Size, Lazy: f.Lazy}
			}
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	files = r.listing.PointerFacts()
	for k, f := range read {
		if f != nil {
			files = append(files, facts[k])
			r.compareLaziness(names[k], f)
		}
	}
	slices.SortFunc(files, func(a, b source.Facts) int { return cmp.Compare(a.Path, b.Path) })
	selected := make([]string, len(files))
	for k := range files {
		selected[k] = files[k].Path
	}
	links, _ = r.folder.ResolveLinks(r.listing.Links, selected)
	return files, links, nil
}

// compareLaziness finds a file that is lazy on one side alone. Where the sides differ in its size it is no more the one
// published, and may be lazy or not for that reason; what was chunked may have become too large to be read whole.
func (r *run) compareLaziness(name string, f *source.File) {
	i, ok := r.tree.Find(name)
	if !ok {
		return
	}
	e := r.tree.At(i)
	switch {
	case e.IsLink():
	case e.Lazy != nil && e.Lazy.URI != "":
		r.findings.add(KindLazy, name, fmt.Sprintf("%s in the snapshot, but a file of the folder", e.Lazy.URI))
	case (e.Lazy != nil) == (f.Lazy != nil):
	case e.Size == f.Size && f.Lazy == nil:
		r.findings.add(KindLazy, name, "lazy in the snapshot, but by the folder and the options it is chunked")
	case e.Size == f.Size:
		r.findings.add(KindLazy, name, "chunked in the snapshot, but by the folder and the options it is lazy: "+becauseLazy(f.Lazy))
	case f.Lazy != nil:
		r.stale(i, f.Size)
		r.pages = slices.DeleteFunc(r.pages, func(k int) bool { return k == i })
	}
}

func becauseLazy(l *source.Lazy) string {
	if l.Detail == "" {
		return string(l.Reason)
	}
	return fmt.Sprintf("%s (%s)", l.Reason, l.Detail)
}
