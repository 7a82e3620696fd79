package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
)

var emptySum = sha256.Sum256(nil)

// New makes a tree of entries in byte order of their paths, each path once and none of them both file and folder. Its
// errors name the entry and wrap ErrMalformed or ErrLimit.
func New(h Header, entries []Entry) (*Tree, error) {
	if err := h.validate(); err != nil {
		return nil, fmt.Errorf("new snapshot: %w", err)
	}
	b := newBuilder(DefaultLimits())
	for i, e := range entries {
		if err := b.addEntry(e); err != nil {
			return nil, fmt.Errorf("new snapshot: entry %d %q: %w", i+1, e.Path, err)
		}
	}
	if len(b.t.lazies) == 0 {
		h.Blobs = ""
	}
	t := b.tree(h, b.t.minReader())
	t.digest = sync.OnceValue(t.hash)
	return t, nil
}

// builder takes entries in order and refuses the first that breaks a rule.
type builder struct {
	lim      Limits
	t        Tree
	rows     []row
	arena    []byte // paths of rows
	prev     []byte
	pointers map[Lazy]int32 // positions in t.lazies
	files    []int          // lengths of those prefixes of prev that are entries themselves, ascending
	byText   map[string]int32
	groups   int
	recent   [4]int32 // classes of the entries before, the latest first
	scratch  []byte
}

func newBuilder(lim Limits) *builder {
	return &builder{lim: lim, byText: map[string]int32{}, pointers: map[Lazy]int32{}}
}

func (b *builder) tree(h Header, version int) *Tree {
	b.flush()
	b.t.header, b.t.version = h, version
	return &b.t
}

func (b *builder) addEntry(e Entry) error {
	c, err := b.class(e.Access)
	if err != nil {
		return err
	}
	r := row{class: c, size: e.Size, sum: e.SHA256, mtime: e.MTime}
	if e.MTime != 0 && (e.MTime < 0 || e.MTime > MaxMTime) {
		return malformed("mtime %d", e.MTime)
	}
	path := []byte(e.Path)
	if !utf8.Valid(path) {
		return malformed("path is not UTF-8")
	}
	switch {
	case e.IsLink() && (e.Size != 0 || e.Chunks != 0 || e.Lazy != nil || e.SHA256 != [32]byte{}):
		return malformed("link with content")
	case e.IsLink():
		return b.addLink(path, r, e.Link)
	case e.Lazy != nil && e.Chunks != 0:
		return malformed("lazy file with chunks")
	case e.Lazy != nil:
		return b.addLazy(path, r, *e.Lazy)
	}
	if e.Chunks < 1 || e.Chunks > MaxChunks {
		return malformed("%d chunks", e.Chunks)
	}
	r.chunks = int32(e.Chunks)
	return b.addFile(path, r)
}

// class interns a. Both New and Decode come here, so equal accesses are one class.
func (b *builder) class(a access.Access) (int32, error) {
	b.scratch = appendAccess(b.scratch[:0], a)
	if c, ok := b.byText[string(b.scratch)]; ok {
		return c, nil
	}
	if err := a.Validate(); err != nil {
		return 0, malformed("%w", err)
	}
	if b.groups += len(a.Groups) + len(a.Excludes); b.groups > b.lim.Groups {
		return 0, overLimit("more than %d group names", b.lim.Groups)
	}
	c := int32(len(b.t.classes))
	text := string(b.scratch)
	b.byText[text] = c
	b.t.classes = append(b.t.classes, class{a, text})
	return c, nil
}

func (b *builder) addLink(path []byte, r row, target string) error {
	if err := validateLink(path, target, b.lim); err != nil {
		return err
	}
	r.chunks, r.size = 0, int64(len(b.t.links))
	b.t.links = append(b.t.links, target)
	return b.add(path, r)
}

// addLazy interns what the pointer says: most of them say the same, nothing.
func (b *builder) addLazy(path []byte, r row, l Lazy) error {
	if r.size < 1 || r.size > MaxSize || r.sum == emptySum {
		return malformed("lazy file of size %d", r.size)
	}
	if (r.size > blob.WholeBytes) != (l.Blocks != [32]byte{}) {
		return malformed("block list of a file of %d bytes", r.size)
	}
	if err := validatePin(l.Pin); err != nil {
		return err
	}
	at, ok := b.pointers[l]
	if !ok {
		at = int32(len(b.t.lazies))
		b.pointers[l] = at
		b.t.lazies = append(b.t.lazies, l)
	}
	r.chunks = ^at
	return b.add(path, r)
}

func (b *builder) addFile(path []byte, r row) error {
	if r.size < 0 || r.size > MaxSize {
		return malformed("size %d", r.size)
	}
	if (r.size == 0) != (r.sum == emptySum) {
		return malformed("sha256 and size disagree on whether the file is empty")
	}
	// A chunk has at least one byte, and all but the last end in an LF that they do not hold.
	if most := max(1, (r.size+1)/2); int64(r.chunks) > most {
		return malformed("%d chunks in %d bytes", r.chunks, r.size)
	}
	return b.add(path, r)
}

// add appends one row. The path is valid UTF-8.
func (b *builder) add(path []byte, r row) error {
	switch {
	case b.t.n >= b.lim.Entries:
		return overLimit("more than %d entries", b.lim.Entries)
	case len(path) > b.lim.PathBytes:
		return overLimit("path of %d bytes, at most %d", len(path), b.lim.PathBytes)
	}
	common := commonPrefix(b.prev, path)
	if err := b.checkOrder(path, common); err != nil {
		return err
	}
	if bytes.IndexByte(path[common:], 0) >= 0 {
		return malformed("path has a NUL")
	}
	if err := validateParts(path, 1+bytes.LastIndexByte(path[:common], '/')); err != nil {
		return err
	}
	b.prev = append(b.prev[:common], path[common:]...)
	if len(b.rows) == blockRows {
		b.flush()
		b.rows = make([]row, 0, blockRows)
	}
	b.arena = append(b.arena, path...)
	r.end = uint32(len(b.arena))
	b.rows = append(b.rows, r)
	b.t.n++
	return nil
}

// checkOrder refuses a path that is not above the one before, or that lies in a file. An entry that is a prefix of path
// begins every path in between, so the lengths in files are enough to find it.
func (b *builder) checkOrder(path []byte, common int) error {
	if b.t.n > 0 && (common == len(path) || common < len(b.prev) && path[common] < b.prev[common]) {
		return malformed("path is not above the one before it, %q", b.prev)
	}
	for len(b.files) > 0 && b.files[len(b.files)-1] > common {
		b.files = b.files[:len(b.files)-1]
	}
	if n := len(b.files); n > 0 && path[b.files[n-1]] == '/' {
		return malformed("%q is both a file and a folder", path[:b.files[n-1]])
	}
	b.files = append(b.files, len(path))
	return nil
}

func (b *builder) flush() {
	if len(b.rows) == 0 {
		return
	}
	b.t.blocks = append(b.t.blocks, block{string(b.arena), b.rows})
	b.arena = b.arena[:0]
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
