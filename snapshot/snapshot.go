// Package snapshot is the path tree: which pages there are, who may see them, and what their bytes hash to. It encodes
// and decodes trees in the one canonical form of FORMAT.md, and publishes them to a folder or into the collection, where
// a reader finds the old snapshot or the new one, whole. It holds no page content and decides nobody's access.
package snapshot

import (
	"errors"
	"fmt"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
)

// Format stands in every header. A tree has the lowest version that can express it, lazyVersion with lazy files and else
// plainVersion; one whose minReader is above Version is refused.
const (
	Format  = "chromafs.path-tree"
	Version = lazyVersion

	plainVersion = 1
	lazyVersion  = 2
)

// Errors that callers branch on. Every error of this package about bytes that it read wraps one of them.
var (
	// ErrNone: nothing has been published at this location.
	ErrNone = errors.New("no snapshot published")
	// ErrVersion: written by a later version, in a form that this one can't read.
	ErrVersion = errors.New("snapshot needs a newer chromafs")
	// ErrLimit: larger than the limits that the caller or the format set.
	ErrLimit = errors.New("snapshot over a limit")
	// ErrMalformed: not a snapshot in the canonical form.
	ErrMalformed = errors.New("malformed snapshot")
	// ErrDigest: well formed, but not the bytes that its name promises.
	ErrDigest = errors.New("snapshot digest mismatch")
	// ErrMissing: the pointer names a file, a manifest or a part that is not there.
	ErrMissing = errors.New("part of the snapshot is missing")
	// ErrForeign: the place of the pointer is taken by a record that chromafs did not write.
	ErrForeign = errors.New("not written by chromafs")
)

// Header says what a tree belongs to.
type Header struct {
	// Collection is the name of the collection that holds the records; it may be empty.
	Collection string
	// Site is the name of the site, empty for the only one of a collection.
	Site string
	// Records is a digest of all settings that shape the records; it is part of every record id.
	Records string
	// Default is the access of pages that say nothing, as it was when the tree was made. It has no excludes.
	Default access.Access
	// Blobs is where the objects of lazy files are, s3://BUCKET/PREFIX; empty is a folder that each reader knows. A tree
	// without lazy files has none.
	Blobs string
}

// Slug is the page_slug on the records of the page at path.
func (h Header) Slug(path string) string {
	if h.Site == "" {
		return path
	}
	return h.Site + "/" + path
}

// Entry is one file or one link of the tree.
type Entry struct {
	// Path is relative to the docs folder, with slashes.
	Path   string
	Access access.Access
	// Size in bytes, SHA256 and Chunks (at least 1; none of a lazy file) describe the content of a file; a link has none
	// of them.
	Size   int64
	SHA256 [32]byte
	Chunks int
	// Lazy is set for a file that is an object rather than chunks. Nobody changes what it points to.
	Lazy *Lazy
	// MTime is the last change in Unix seconds, from 1 to the end of the year 9999, or 0 when it is not known.
	MTime int64
	// Link is the target as the link has it, relative to the link's folder. A file has none.
	Link string
}

// IsLink reports whether e is a link and not a file.
func (e Entry) IsLink() bool { return e.Link != "" }

// Lazy is what the pointer to a lazy file says beside its size and digest, see blob.Pointer.
type Lazy struct {
	Blocks [32]byte
	blob.Pin
}

// Pointer is where the content of a lazy file is.
func (e Entry) Pointer() blob.Pointer {
	return blob.Pointer{Size: e.Size, SHA256: e.SHA256, Blocks: e.Lazy.Blocks, Pin: e.Lazy.Pin}
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrMalformed, fmt.Errorf(format, args...))
}

func overLimit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrLimit, fmt.Sprintf(format, args...))
}
