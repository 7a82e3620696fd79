package vfs

import (
	"errors"
	"slices"
	"sync"
	"syscall"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
)

// classIndex lists a tree's entries by access class, so that "is anything of these classes below this folder" takes one
// binary search per class and no look at the pages.
type classIndex struct {
	files [][]int32 // by class, in tree order
	links []int32   // of every class, in tree order
}

func indexClasses(tree *snapshot.Tree) *classIndex {
	ix := &classIndex{files: make([][]int32, len(tree.Classes()))}
	for i := range tree.Len() {
		if tree.At(i).IsLink() {
			ix.links = append(ix.links, int32(i))
			continue
		}
		c := tree.Class(i)
		ix.files[c] = append(ix.files[c], int32(i))
	}
	return ix
}

// within is the part of a sorted list that lies in [lo, hi), as positions of the list.
func within(list []int32, lo, hi int) (from, to int) {
	from, _ = slices.BinarySearch(list, int32(lo))
	to, _ = slices.BinarySearch(list, int32(hi))
	return from, to
}

// view is what one viewer sees of a Shared. An entry is visible if its access allows the viewer; a link, if what it
// leads to is visible as well; a folder, if anything in it is.
type view struct {
	*Shared
	allowed []bool        // by class
	links   func() []bool // by position in classIndex.links; only needed where links alone make a folder visible
}

func newView(s *Shared, viewer access.Viewer) *view {
	classes := s.tree.Classes()
	v := &view{Shared: s, allowed: make([]bool, len(classes))}
	for c, a := range classes {
		v.allowed[c] = a.Allows(viewer)
	}
	v.links = sync.OnceValue(v.settleLinks)
	return v
}

func (v *view) isLink(i int) bool { return v.tree.At(i).IsLink() }

// visible reports whether the viewer may know of n. The root always exists.
func (v *view) visible(n node) bool {
	switch {
	case n.isFolder():
		return n.path == "" || v.folderVisible(n, v.links)
	case v.isLink(n.entry):
		return v.linkVisible(n.entry, v.links)
	}
	return v.allowed[v.tree.Class(n.entry)]
}

// folderVisible asks links, by position in classIndex.links, only if no file decides.
func (v *view) folderVisible(n node, links func() []bool) bool {
	if n.lo == n.hi {
		return false
	}
	if v.allowed[v.tree.Class(n.lo)] && !v.isLink(n.lo) {
		return true
	}
	ix := v.classes()
	for c, ok := range v.allowed {
		if from, to := within(ix.files[c], n.lo, n.hi); ok && from < to {
			return true
		}
	}
	from, to := within(ix.links, n.lo, n.hi)
	return from < to && slices.Contains(links()[from:to], true)
}

// linkVisible follows the link as far as own accesses allow. A loop is shown, as in any folder: opening it is ELOOP.
func (v *view) linkVisible(i int, links func() []bool) bool {
	if !v.allowed[v.tree.Class(i)] {
		return false
	}
	n, err := v.resolve(v.tree.Path(i), true)
	switch {
	case err != nil:
		return errors.Is(err, syscall.ELOOP)
	case n.isFolder():
		return n.path == "" || v.folderVisible(n, links)
	}
	return v.allowed[v.tree.Class(n.entry)]
}

// settleLinks finds the smallest set of visible links: folders that hold nothing but links to each other stay hidden.
// It stops after maxHops rounds, so chains longer than that stay hidden too.
func (v *view) settleLinks() []bool {
	list := v.classes().links
	seen := make([]bool, len(list))
	known := func() []bool { return seen }
	for range maxHops {
		changed := false
		for k, i := range list {
			if !seen[k] && v.linkVisible(int(i), known) {
				seen[k], changed = true, true
			}
		}
		if !changed {
			break
		}
	}
	return seen
}
