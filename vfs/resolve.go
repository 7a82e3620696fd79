package vfs

import (
	"io/fs"
	"strings"
	"syscall"
)

// maxHops is how many links one path may lead through, as on Linux.
const maxHops = 40

// node is what a path leads to: an entry of the tree, or the range of entries below a folder.
type node struct {
	entry  int    // of a file or link; -1 is a folder
	path   string // of a folder, "" is the root
	lo, hi int    // of a folder
}

func (n node) isFolder() bool { return n.entry < 0 }

// find resolves name for the viewer, through every link but, unless follow, a last one. The answer is fs.ErrNotExist
// alike for what is absent and for what is forbidden, at the end or on the way there.
func (v *view) find(name string, follow bool) (node, error) {
	t := v.resolve(name, follow)
	for _, i := range t.links {
		if !v.linkVisible(i) {
			return node{}, fs.ErrNotExist
		}
	}
	if (t.err == nil || t.err == syscall.ENOTDIR) && !v.visible(t.end) {
		return node{}, fs.ErrNotExist
	}
	return t.end, t.err
}

// trip is one way through the tree, whoever may go it.
type trip struct {
	end node
	// err is fs.ErrNotExist, syscall.ELOOP, or syscall.ENOTDIR where the way goes on after the file at its end.
	err error
	// links were followed, folders were entered by name.
	links   []int
	folders []string
}

// resolve is walk, with a short way for names without links.
func (s *Shared) resolve(name string, follow bool) trip {
	if name == "." {
		return trip{end: s.folder("")}
	}
	if i, ok := s.tree.Find(name); ok && !(follow && s.isLink(i)) {
		return trip{end: node{entry: i}}
	}
	if n := s.folder(name); n.lo < n.hi {
		return trip{end: n}
	}
	return s.walk(trip{}, "", name, follow)
}

// walk goes on from the folder at, part by part, so that ".." in a link's target leaves the folder that the link really
// is in.
func (s *Shared) walk(t trip, at, name string, follow bool) trip {
	rest := strings.Split(name, "/")
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == "":
			t.err = fs.ErrNotExist
			return t
		case part == "..":
			at = parent(at)
			continue
		}
		here := below(at) + part
		i := s.tree.Search(here)
		switch {
		case i == s.tree.Len() || s.tree.Path(i) != here:
			if !s.isFolder(here, i) {
				t.err = fs.ErrNotExist
				return t
			}
			at = here
			t.folders = append(t.folders, at)
		case s.isLink(i) && (len(rest) > 0 || follow):
			if len(t.links) == maxHops {
				t.err = syscall.ELOOP
				return t
			}
			t.links = append(t.links, i)
			rest = append(strings.Split(s.tree.Link(i), "/"), rest...)
		default:
			t.end = node{entry: i}
			if len(rest) > 0 {
				t.err = syscall.ENOTDIR
			}
			return t
		}
	}
	t.end = s.folder(at)
	return t
}

// isFolder reports whether anything is below name, of which the first entry not before it is mostly the first.
func (s *Shared) isFolder(name string, first int) bool {
	dir := name + "/"
	if first < s.tree.Len() && strings.HasPrefix(s.tree.Path(first), dir) {
		return true
	}
	i := s.tree.Search(dir)
	return i < s.tree.Len() && strings.HasPrefix(s.tree.Path(i), dir)
}

func (s *Shared) isLink(i int) bool { return s.tree.Link(i) != "" }

// folder is the node of a folder, with an empty range where the tree has none.
func (s *Shared) folder(name string) node {
	if name == "" {
		return node{entry: -1, hi: s.tree.Len()}
	}
	lo, hi := s.tree.Range(name + "/")
	return node{entry: -1, path: name, lo: lo, hi: hi}
}

// below begins the path of whatever is in a folder.
func below(folder string) string {
	if folder == "" {
		return ""
	}
	return folder + "/"
}

func parent(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}
