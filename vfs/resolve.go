package vfs

import (
	"io/fs"
	"path"
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

// resolve follows every link of name but, unless follow, a last one. It goes through no link whose own access forbids
// it; whether the viewer sees the answer is for visible to say.
func (v *view) resolve(name string, follow bool) (node, error) {
	if name == "." {
		return v.folder(""), nil
	}
	if i, ok := v.tree.Find(name); ok && !(follow && v.isLink(i)) {
		return node{entry: i}, nil
	}
	if n := v.folder(name); n.lo < n.hi {
		return n, nil
	}
	return v.walk(name, follow)
}

// walk resolves part by part, so that ".." in a link's target leaves the folder that the link really is in.
func (v *view) walk(name string, follow bool) (node, error) {
	at, rest, hops := "", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case part == ".." && at == "":
			return node{}, fs.ErrNotExist
		case part == "..":
			at = parent(at)
			continue
		}
		here := path.Join(at, part)
		i, ok := v.tree.Find(here)
		if !ok {
			if n := v.folder(here); n.lo == n.hi {
				return node{}, fs.ErrNotExist
			}
			at = here
			continue
		}
		if !v.isLink(i) || (len(rest) == 0 && !follow) {
			return v.leaf(i, len(rest) == 0)
		}
		target, err := v.hop(i, &hops)
		if err != nil {
			return node{}, err
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return v.folder(at), nil
}

// leaf is entry i where the path ends there; a path that goes on would need a folder.
func (v *view) leaf(i int, last bool) (node, error) {
	switch {
	case last:
		return node{entry: i}, nil
	case v.allowed[v.tree.Class(i)]:
		return node{}, syscall.ENOTDIR
	}
	return node{}, fs.ErrNotExist
}

// hop is the target of link i.
func (v *view) hop(i int, hops *int) (string, error) {
	*hops++
	switch {
	case !v.allowed[v.tree.Class(i)]:
		return "", fs.ErrNotExist
	case *hops > maxHops:
		return "", syscall.ELOOP
	}
	return v.tree.At(i).Link, nil
}

// folder is the node of a folder, with an empty range where the tree has none.
func (v *view) folder(name string) node {
	if name == "" {
		return node{entry: -1, hi: v.tree.Len()}
	}
	lo, hi := v.tree.Range(name + "/")
	return node{entry: -1, path: name, lo: lo, hi: hi}
}

func parent(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}
