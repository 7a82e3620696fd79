package vfs

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// keptListing is the number of children from which a folder's listing is kept: below, finding them again is as fast.
const keptListing = 256

// child is one name in a folder: entry lo, or a folder over [lo, hi).
type child struct {
	name   string
	folder bool
	lo, hi int
}

// children lists a folder for every viewer, in byte order of names. That is not the tree's order of paths, in which
// "a-b" comes before "a/c".
func (s *Shared) children(n node) []child {
	if list, ok := s.listings.get(n.path); ok {
		return list
	}
	skip := 0
	if n.path != "" {
		skip = len(n.path) + 1
	}
	var list []child
	for i := n.lo; i < n.hi; {
		p := s.tree.Path(i)
		name, _, below := strings.Cut(p[skip:], "/")
		c := child{name: name, folder: below, lo: i, hi: i + 1}
		if below {
			_, c.hi = s.tree.Range(p[:skip+len(name)+1])
		}
		list = append(list, c)
		i = c.hi
	}
	slices.SortFunc(list, func(a, b child) int { return cmp.Compare(a.name, b.name) })
	if len(list) >= keptListing {
		s.listings.put(n.path, list, int64(len(list))*int64(unsafe.Sizeof(child{})))
	}
	return list
}

// node of a child of the folder at.
func (c child) node(at string) node {
	if !c.folder {
		return node{entry: c.lo}
	}
	if at != "" {
		at += "/"
	}
	return node{entry: -1, path: at + c.name, lo: c.lo, hi: c.hi}
}

// list is what the viewer sees in a folder.
func (v *view) list(n node) []fs.DirEntry {
	children := v.children(n)
	list := make([]fs.DirEntry, 0, len(children))
	for _, c := range children {
		if at := c.node(n.path); v.visible(at) {
			list = append(list, v.info(c.name, at))
		}
	}
	return list
}

// info is both fs.FileInfo and fs.DirEntry.
type info struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

// info describes n under the last part of name, by the tree alone.
func (v *view) info(name string, n node) *info {
	in := &info{name: name[strings.LastIndexByte(name, '/')+1:], mode: fs.ModeDir | 0o555, mtime: v.published}
	if n.isFolder() {
		return in
	}
	e := v.tree.At(n.entry)
	in.size, in.mode = e.Size, 0o444
	if e.IsLink() {
		in.size, in.mode = int64(len(e.Link)), fs.ModeSymlink|0o777
	}
	if e.MTime != 0 {
		in.mtime = time.Unix(e.MTime, 0).UTC()
	}
	return in
}

func (i *info) Name() string               { return i.name }
func (i *info) Size() int64                { return i.size }
func (i *info) Mode() fs.FileMode          { return i.mode }
func (i *info) ModTime() time.Time         { return i.mtime }
func (i *info) IsDir() bool                { return i.mode.IsDir() }
func (i *info) Sys() any                   { return nil }
func (i *info) Type() fs.FileMode          { return i.mode.Type() }
func (i *info) Info() (fs.FileInfo, error) { return i, nil }
func (i *info) String() string             { return fs.FormatFileInfo(i) }
