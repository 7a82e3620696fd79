package verify

import (
	"cmp"
	"fmt"
	"path"
	"sort"

	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

// pointed reports whether a pointer names the path, so that what the folder may have there is no part of the site.
func (r *run) pointed(name string) bool {
	list := r.listing.Pointers
	k := sort.Search(len(list), func(k int) bool { return list[k].Path >= name })
	return k < len(list) && list[k].Path == name
}

// comparePointers looks for the files that are named and not held.
func (r *run) comparePointers() {
	for _, p := range r.Source.Pointers {
		for _, invalid := range r.listing.Invalid {
			if invalid.Path == cmp.Or(p.At.Path, p.Path) && invalid.Line == p.At.Line {
				r.findings.add(KindMissing, p.Path, invalid.Err.Error())
			}
		}
	}
	for _, p := range r.listing.Pointers {
		i, ok := r.tree.Find(p.Path)
		if !ok {
			r.absentFiles = append(r.absentFiles, p.Path)
			r.findings.add(KindMissing, p.Path, fmt.Sprintf("lazy.pointers names it, as %s, but it is not in the snapshot", p.URI))
			continue
		}
		r.seen[i] = true
		r.comparePointer(i, p)
	}
}

func (r *run) comparePointer(i int, p source.Pointer) {
	e := r.tree.At(i)
	shown, ok := r.list(path.Dir(p.Path))[path.Base(p.Path)]
	switch {
	case !ok:
		r.findings.add(KindListing, p.Path, notShown)
		return
	case !shown.Type().IsRegular() || e.IsLink():
		r.findings.add(KindType, p.Path, fmt.Sprintf("a file by lazy.pointers, a %s for readers", kindOf(shown.Type())))
		return
	case e.Lazy == nil:
		r.findings.add(KindLazy, p.Path, fmt.Sprintf("chunked in the snapshot, but lazy.pointers names %s", p.URI))
	case e.Lazy.URI != p.URI:
		r.findings.add(KindLazy, p.Path, fmt.Sprintf("%s in the snapshot, but lazy.pointers names %s", keptAs(e), p.URI))
	}
	r.report.Files++
	r.files = append(r.files, i)
	if e.Lazy != nil {
		r.lazies = append(r.lazies, i)
	}
	r.compareSizes(p.Path, shown, e.Size)
}

// keptAs names the object of a lazy file.
func keptAs(e snapshot.Entry) string {
	if e.Lazy.URI != "" {
		return e.Lazy.URI
	}
	return "an object of its own"
}
