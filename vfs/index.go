package vfs

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// index is what decides whether folders and links are visible, found once for all viewers. A viewer is a choice of
// classes, so it is asked of classes and of kinds of links, and never of pages.
type index struct {
	files   [][]int32 // by class, in tree order
	links   []link    // in tree order
	kinds   []kind
	targets []target
}

// link is an entry with the position of its kind, or nowhere if it leads to nothing, or round and round.
type link struct{ entry, kind int32 }

const nowhere = -1

// kind is what it takes to see a link: all that its text names is visible too.
type kind struct {
	classes []int32 // all allowed: the link's own, those of links it leads through, that of the file at its end
	targets []int32 // folders that it leads through, or to, by their positions in index.targets
	in      []int32 // targets of which the contents name this kind
}

// target is a folder that some link leads through, or to.
type target struct {
	node
	contents
	kinds []int32 // of the links that need it
}

// contents are what makes a folder visible: any file of these classes, or any link of these kinds.
type contents struct{ classes, links []int32 }

func newIndex(s *Shared) *index {
	ix := &index{files: make([][]int32, len(s.classes))}
	for i := range s.tree.Len() {
		if s.isLink(i) {
			ix.links = append(ix.links, link{entry: int32(i)})
			continue
		}
		c := s.tree.Class(i)
		ix.files[c] = append(ix.files[c], int32(i))
	}
	by := sorter{s, ix, map[string]int32{}, map[string]int32{}}
	for k := range ix.links {
		ix.links[k].kind = by.kind(int(ix.links[k].entry))
	}
	for f := range ix.targets {
		t := &ix.targets[f]
		t.contents = s.contents(ix, t.lo, t.hi)
		for _, k := range t.links {
			ix.kinds[k].in = append(ix.kinds[k].in, int32(f))
		}
	}
	return ix
}

// sorter sorts links into kinds.
type sorter struct {
	*Shared
	ix             *index
	kinds, targets map[string]int32
}

// kind is that of link i.
func (s *sorter) kind(i int) int32 {
	path := s.tree.Path(i)
	t := s.walk(trip{links: []int{i}}, parent(path), s.tree.Link(i), true)
	if t.err != nil {
		return nowhere
	}
	var k kind
	for _, i := range t.links {
		k.classes = append(k.classes, int32(s.tree.Class(i)))
	}
	end := t.end.path
	if !t.end.isFolder() {
		end = s.tree.Path(t.end.entry)
		k.classes = append(k.classes, int32(s.tree.Class(t.end.entry)))
	} else if end != "" {
		k.targets = append(k.targets, s.target(end))
	}
	for _, folder := range t.folders {
		// What holds the link or its end is there if they are.
		if dir := folder + "/"; !strings.HasPrefix(path, dir) && !strings.HasPrefix(end+"/", dir) {
			k.targets = append(k.targets, s.target(folder))
		}
	}
	k.classes, k.targets = distinct(k.classes), distinct(k.targets)
	return s.add(k)
}

// target is the position of a folder in index.targets.
func (s *sorter) target(folder string) int32 {
	f, ok := s.targets[folder]
	if !ok {
		f = int32(len(s.ix.targets))
		s.targets[folder] = f
		s.ix.targets = append(s.ix.targets, target{node: s.folder(folder)})
	}
	return f
}

// add is the position of a kind in index.kinds.
func (s *sorter) add(k kind) int32 {
	key := binary.AppendUvarint(nil, uint64(len(k.classes)))
	for _, list := range [][]int32{k.classes, k.targets} {
		for _, n := range list {
			key = binary.AppendUvarint(key, uint64(n))
		}
	}
	at, ok := s.kinds[string(key)]
	if !ok {
		at = int32(len(s.ix.kinds))
		s.kinds[string(key)] = at
		s.ix.kinds = append(s.ix.kinds, k)
		for _, f := range k.targets {
			s.ix.targets[f].kinds = append(s.ix.targets[f].kinds, at)
		}
	}
	return at
}

// contents are those of the entries lo <= i < hi. Links are left out that nobody sees who sees none of the files.
func (s *Shared) contents(ix *index, lo, hi int) (c contents) {
	if hi-lo < len(ix.files) {
		for i := lo; i < hi; i++ {
			if !s.isLink(i) {
				c.classes = append(c.classes, int32(s.tree.Class(i)))
			}
		}
		c.classes = distinct(c.classes)
	} else {
		for class, list := range ix.files {
			if i, _ := slices.BinarySearch(list, int32(lo)); i < len(list) && list[i] < int32(hi) {
				c.classes = append(c.classes, int32(class))
			}
		}
	}
	for at := ix.firstLink(lo); at < len(ix.links) && ix.links[at].entry < int32(hi); at++ {
		if k := ix.links[at].kind; k != nowhere && !meet(ix.kinds[k].classes, c.classes) {
			c.links = append(c.links, k)
		}
	}
	c.links = distinct(c.links)
	return c
}

// firstLink is the position in index.links of the first one from entry i on.
func (ix *index) firstLink(i int) int {
	at, _ := slices.BinarySearchFunc(ix.links, int32(i), func(l link, i int32) int { return cmp.Compare(l.entry, i) })
	return at
}

func distinct(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}

// meet reports whether any of few is in a sorted list.
func meet(few, list []int32) bool {
	return slices.ContainsFunc(few, func(n int32) bool {
		_, ok := slices.BinarySearch(list, n)
		return ok
	})
}
