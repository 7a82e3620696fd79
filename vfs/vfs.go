// Package vfs serves a published snapshot as a read-only fs.FS for one viewer. Names, types, sizes and times come from
// the path tree alone; content is fetched at the first read and is the file's bytes or an error, never fewer bytes.
// What the viewer may not see looks exactly like what does not exist. It writes nothing and refuses every write.
package vfs

import (
	"context"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/cache"
	"github.com/chromafs/chromafs/snapshot"
)

// DefaultCacheBytes bounds the content cache where Options do not.
const DefaultCacheBytes = 64 << 20

// listingCacheBytes bounds the kept listings of very large folders.
const listingCacheBytes = 16 << 20

// Chunks reads chunk texts: id to document, for the ids that exist. Every index.Store is one.
type Chunks interface {
	Documents(ctx context.Context, ids []string) (map[string]string, error)
}

// Blobs reads lazy files. *blob.Files is one.
type Blobs interface {
	// Read returns bytes of the file from offset on, proven and at least one, or io.EOF at its end. They are shared: nobody
	// changes them. want is how many bytes the reader will probably want from there.
	Read(ctx context.Context, p blob.Pointer, offset, want int64) ([]byte, error)
}

// Options shape a Shared. The zero value works.
type Options struct {
	// Published is the modification time of folders and of entries that carry none.
	Published time.Time
	// CacheBytes bounds the pages kept in memory, in bytes of content; 0 is DefaultCacheBytes, less than 0 keeps none.
	CacheBytes int64
	// Blobs reads lazy files, and keeps what it read; nil makes every read of one fail.
	Blobs Blobs
}

// Shared is one loaded tree with its content: what the sessions of all viewers have in common. It is safe for
// concurrent use. The first listing looks at every entry, to index it for all sessions; a further session costs a few
// steps per access class of the tree, whatever the number of pages.
type Shared struct {
	tree      *snapshot.Tree
	chunks    Chunks
	blobs     Blobs
	published time.Time

	pages    *cache.Memory[string, []byte]
	flights  singleflight.Group
	listings *cache.Memory[string, []child]

	classes []access.Access
	naming  map[string][]int // classes by the groups that they name
	index   func() *index
	revs    func() *revs
}

// NewShared reads neither the tree's entries nor any content yet.
func NewShared(tree *snapshot.Tree, chunks Chunks, opts Options) *Shared {
	if opts.CacheBytes == 0 {
		opts.CacheBytes = DefaultCacheBytes
	}
	s := &Shared{
		tree:      tree,
		chunks:    chunks,
		blobs:     opts.Blobs,
		published: opts.Published,
		pages:     cache.NewMemory[string, []byte](opts.CacheBytes),
		listings:  cache.NewMemory[string, []child](listingCacheBytes),
		classes:   tree.Classes(),
	}
	s.naming = byGroup(s.classes)
	s.index = sync.OnceValue(func() *index { return newIndex(s) })
	s.revs = sync.OnceValue(func() *revs { return newRevs(s.tree) })
	return s
}

// For opens a session of one viewer.
func (s *Shared) For(viewer access.Viewer) *FS {
	return &FS{view: newView(s, viewer), ctx: context.Background()}
}

// FS is the filesystem of one viewer: fs.FS, fs.StatFS, fs.ReadDirFS, fs.ReadFileFS and fs.ReadLinkFS. Open, Stat,
// ReadDir and ReadFile follow links inside the tree; Lstat and ReadLink do not follow the last one. What is forbidden is
// fs.ErrNotExist, with the same words as what does not exist. It is safe for concurrent use. Every error is an
// *fs.PathError; one of content that can't be had is syscall.EIO beside its cause.
type FS struct {
	view *view
	ctx  context.Context
}

// New is a Shared with one session.
func New(tree *snapshot.Tree, chunks Chunks, viewer access.Viewer, opts Options) *FS {
	return NewShared(tree, chunks, opts).For(viewer)
}

// WithContext is the same session, whose reads end with ctx; so do those of files it opens.
func (f *FS) WithContext(ctx context.Context) *FS {
	return &FS{view: f.view, ctx: ctx}
}

// Open opens a file or a folder. It fetches nothing.
func (f *FS) Open(name string) (fs.File, error) {
	n, err := f.find("open", name, true)
	if err != nil {
		return nil, err
	}
	if n.isFolder() {
		return &folder{fs: f, name: name, node: n}, nil
	}
	return &file{fs: f, name: name, node: n}, nil
}

// Stat describes what name leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	n, err := f.find("stat", name, true)
	if err != nil {
		return nil, err
	}
	return f.view.info(name, n), nil
}

// Lstat describes name, be it a link.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	n, err := f.find("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return f.view.info(name, n), nil
}

// ReadLink is the target of a link, as written.
func (f *FS) ReadLink(name string) (string, error) {
	n, err := f.find("readlink", name, false)
	if err != nil {
		return "", err
	}
	if n.isFolder() || !f.view.isLink(n.entry) {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: syscall.EINVAL}
	}
	return f.view.tree.Link(n.entry), nil
}

// ReadFile is the whole content, checked against the tree's digests. The caller may change the answer.
func (f *FS) ReadFile(name string) ([]byte, error) {
	n, err := f.find("open", name, true)
	if err != nil {
		return nil, err
	}
	if n.isFolder() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: syscall.EISDIR}
	}
	body, err := f.view.readFile(f.ctx, n.entry)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return body, nil
}

// ReadDir lists a folder in byte order of names.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := f.find("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !n.isFolder() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: syscall.ENOTDIR}
	}
	return f.view.list(n), nil
}

func (f *FS) find(op, name string, follow bool) (node, error) {
	if !fs.ValidPath(name) {
		return node{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n, err := f.view.find(name, follow)
	if err != nil {
		return node{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, nil
}
