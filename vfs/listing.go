package vfs

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// keptListing is the number of entries below a folder from which its listing is kept: else finding it again is as fast.
const keptListing = 256

// child is one name in a folder: entry lo, or a folder over [lo, hi).
type child struct {
	name   string
	in     *contents // of a folder
	lo, hi int32
}

// children lists a folder for every viewer, in byte order of names. That is not the tree's order of paths, in which
// "a-b" comes before "a/c".
func (s *Shared) children(n node) []child {
	if list, ok := s.listings.Get(n.path); ok {
		return list
	}
	skip := len(below(n.path))
	var list []child
	var size int64
	for i := n.lo; i < n.hi; {
		p := s.tree.Path(i)
		name, _, deeper := strings.Cut(p[skip:], "/")
		c := child{name: name, lo: int32(i), hi: int32(i + 1)}
		if deeper {
			_, hi := s.tree.Range(p[:skip+len(name)+1])
			in := s.contents(s.index(), i, hi)
			c.in, c.hi = &in, int32(hi)
			size += int64(unsafe.Sizeof(in)) + 4*int64(len(in.classes)+len(in.links))
		}
		size += int64(unsafe.Sizeof(c))
		list = append(list, c)
		i = int(c.hi)
	}
	slices.SortFunc(list, func(a, b child) int { return cmp.Compare(a.name, b.name) })
	if n.hi-n.lo >= keptListing {
		s.listings.Put(n.path, list, size)
	}
	return list
}

// node is enough of it for info.
func (c child) node() node {
	if c.in != nil {
		return node{entry: -1}
	}
	return node{entry: int(c.lo)}
}

// list is what the viewer sees in a folder.
func (v *view) list(n node) []fs.DirEntry {
	children := v.children(n)
	list := make([]fs.DirEntry, 0, len(children))
	for _, c := range children {
		if v.lists(c) {
			list = append(list, v.info(c.name, c.node()))
		}
	}
	return list
}

func (v *view) lists(c child) bool {
	if c.in != nil {
		return v.shows(*c.in)
	}
	return v.visible(c.node())
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
