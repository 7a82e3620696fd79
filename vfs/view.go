package vfs

import (
	"slices"
	"sync"

	"github.com/chromafs/chromafs/access"
)

// view is what one viewer sees of a Shared. An entry is visible if its access allows the viewer; a link, if everything
// that it leads through and to is visible as well, and is not more than maxHops links away; a folder, if anything in it is.
type view struct {
	*Shared
	allowed []bool        // by class
	settled func() []bool // by kind of link
}

func newView(s *Shared, viewer access.Viewer) *view {
	v := &view{Shared: s, allowed: make([]bool, len(s.classes))}
	named := make([][]string, len(s.classes)) // of the viewer's groups, those that each class names; others change nothing
	for _, g := range viewer.Groups {
		for _, c := range s.naming[g] {
			named[c] = append(named[c], g)
		}
	}
	viewer.SignedIn = viewer.SignedIn || len(viewer.Groups) > 0
	for c, a := range s.classes {
		viewer.Groups = named[c]
		v.allowed[c] = a.Allows(viewer)
	}
	v.settled = sync.OnceValue(v.settle)
	return v
}

// byGroup are the classes that name each group, to let it in or to exclude it.
func byGroup(classes []access.Access) map[string][]int {
	naming := map[string][]int{}
	for c, a := range classes {
		for _, g := range a.Groups {
			naming[g] = append(naming[g], c)
		}
		for _, g := range a.Excludes {
			naming[g] = append(naming[g], c)
		}
	}
	return naming
}

// fileVisible is for entries that are files.
func (v *view) fileVisible(i int) bool { return v.allowed[v.tree.Class(i)] }

// visible reports whether the viewer may know of n. The root always exists.
func (v *view) visible(n node) bool {
	switch {
	case !n.isFolder() && v.isLink(n.entry):
		return v.linkVisible(n.entry)
	case !n.isFolder():
		return v.fileVisible(n.entry)
	case n.path == "":
		return true
	case !v.isLink(n.lo) && v.fileVisible(n.lo): // mostly
		return true
	}
	return v.shows(v.contents(v.index(), n.lo, n.hi))
}

func (v *view) shows(c contents) bool {
	return v.anyAllowed(c.classes) || slices.ContainsFunc(c.links, v.kindVisible)
}

func (v *view) anyAllowed(classes []int32) bool {
	return slices.ContainsFunc(classes, func(c int32) bool { return v.allowed[c] })
}

func (v *view) allAllowed(classes []int32) bool {
	return !slices.ContainsFunc(classes, func(c int32) bool { return !v.allowed[c] })
}

func (v *view) linkVisible(i int) bool {
	ix := v.index()
	k := ix.links[ix.firstLink(i)].kind
	return k != nowhere && v.kindVisible(k)
}

// kindVisible needs no more than classes, unless a link leads to a folder that may be visible for nothing but links.
func (v *view) kindVisible(k int32) bool {
	ix := v.index()
	if !v.allAllowed(ix.kinds[k].classes) {
		return false
	}
	for _, f := range ix.kinds[k].targets {
		switch t := &ix.targets[f]; {
		case v.anyAllowed(t.classes):
		case len(t.links) == 0:
			return false
		default:
			return v.settled()[k]
		}
	}
	return true
}

// settle finds the smallest set of visible links, by kind: folders that hold nothing but links to each other stay
// hidden. It looks once at each way in which a kind depends on a folder, or a folder on a kind.
func (v *view) settle() []bool {
	ix := v.index()
	seen, shown := make([]bool, len(ix.kinds)), make([]bool, len(ix.targets))
	missing := make([]int, len(ix.kinds)) // targets that are not shown yet
	var todo []int32                      // those just shown
	show := func(f int32) {
		if !shown[f] {
			shown[f], todo = true, append(todo, f)
		}
	}
	see := func(k int32) {
		seen[k] = true
		for _, f := range ix.kinds[k].in {
			show(f)
		}
	}
	for f := range ix.targets {
		if v.anyAllowed(ix.targets[f].classes) {
			show(int32(f))
		}
	}
	for k := range ix.kinds {
		missing[k] = len(ix.kinds[k].targets)
		if !v.allAllowed(ix.kinds[k].classes) {
			missing[k] = nowhere
		}
		if missing[k] == 0 {
			see(int32(k))
		}
	}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, k := range ix.targets[f].kinds {
			if missing[k]--; missing[k] == 0 {
				see(k)
			}
		}
	}
	return seen
}
