package snapshot

import (
	"sort"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// Tree is a decoded snapshot: entries in byte order of their paths. It is immutable and safe for concurrent use.
//
// The order is that of whole paths, in which all that lies in a folder stands together: "a-b" comes before "a/x", though
// a listing shows the folder "a" before the file "a-b".
type Tree struct {
	header  Header
	version int
	n       int
	blocks  []block
	links   []string
	lazies  []Lazy // distinct
	classes []class
	digest  func() string
}

// blockRows is the number of rows in every block but the last. Blocks are never copied while a tree grows.
const blockRows = 4096

type block struct {
	paths string // all paths of the block, end to end
	rows  []row
}

// row is one entry in 64 bytes. A row without chunks is a link, and its size is the index of the target in links; with less
// than none, chunks is the index in lazies, below zero, of a lazy file.
type row struct {
	end    uint32 // of its path in paths
	class  int32
	chunks int32
	size   int64
	mtime  int64
	sum    [32]byte
}

// class is one distinct access and its canonical text.
type class struct {
	access access.Access
	text   string
}

// Header returns what the tree belongs to.
func (t *Tree) Header() Header { return t.header }

// Len is the number of entries.
func (t *Tree) Len() int { return t.n }

func (t *Tree) row(i int) *row { return &t.blocks[i/blockRows].rows[i%blockRows] }

// Path is the path of entry i, without the cost of At.
func (t *Tree) Path(i int) string {
	b := &t.blocks[i/blockRows]
	i %= blockRows
	if i == 0 {
		return b.paths[:b.rows[0].end]
	}
	return b.paths[b.rows[i-1].end:b.rows[i].end]
}

// At returns entry i, from 0 to Len()-1.
func (t *Tree) At(i int) Entry {
	r := t.row(i)
	e := Entry{Path: t.Path(i), Access: t.classes[r.class].access, MTime: r.mtime}
	if r.chunks == 0 {
		e.Link = t.links[r.size]
		return e
	}
	e.Size, e.SHA256 = r.size, r.sum
	if r.chunks < 0 {
		e.Lazy = &t.lazies[^r.chunks]
		return e
	}
	e.Chunks = int(r.chunks)
	return e
}

// Link is the target of entry i as it stands there, empty for a file, without the cost of At.
func (t *Tree) Link(i int) string {
	if r := t.row(i); r.chunks == 0 {
		return t.links[r.size]
	}
	return ""
}

// IsLazy reports whether entry i is a lazy file, without the cost of At.
func (t *Tree) IsLazy(i int) bool { return t.row(i).chunks < 0 }

// Search returns the first entry whose path is not below s, or Len().
func (t *Tree) Search(s string) int {
	return sort.Search(t.n, func(i int) bool { return t.Path(i) >= s })
}

// Find returns the entry at path. A folder has none.
func (t *Tree) Find(path string) (i int, ok bool) {
	i = t.Search(path)
	return i, i < t.n && t.Path(i) == path
}

// Range returns the entries lo <= i < hi whose paths begin with prefix; what lies in the folder "a" is Range("a/").
func (t *Tree) Range(prefix string) (lo, hi int) {
	lo = t.Search(prefix)
	n := sort.Search(t.n-lo, func(i int) bool { return !strings.HasPrefix(t.Path(lo+i), prefix) })
	return lo, lo + n
}

// Class is the index into Classes of the access of entry i.
func (t *Tree) Class(i int) int { return int(t.row(i).class) }

// Classes returns the distinct accesses of the entries, in the order in which they first occur.
func (t *Tree) Classes() []access.Access {
	all := make([]access.Access, len(t.classes))
	for i, c := range t.classes {
		all[i] = c.access
	}
	return all
}

// Digest is the identity of the snapshot: "s1:" and the lower-case hex SHA-256 of its canonical JSON.
func (t *Tree) Digest() string { return t.digest() }
