package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// Blobs reads lazy files as readers do. *blob.Files is one.
type Blobs interface {
	vfs.Blobs
	// Check asks whether what holds the file is there, is the one that was pinned, and has the right size, and reads nothing
	// of it.
	Check(ctx context.Context, p blob.Pointer) error
}

var (
	errNoBlobs = errors.New("no place for the objects of lazy files is configured")
	errOver    = fmt.Errorf("not looked at, after %d others in a row: %w", patience, blob.ErrUnavailable)
)

// unopened is a storage that could not be opened.
type unopened struct{ err error }

func (u unopened) Read(context.Context, blob.Pointer, int64, int64) ([]byte, error) {
	return nil, u.err
}
func (u unopened) Check(context.Context, blob.Pointer) error { return u.err }

// openBlobs opens what lazy files are read with, if there are any. The error is the context's.
func (r *run) openBlobs(ctx context.Context) error {
	for i := range r.tree.Len() {
		if !r.tree.IsLazy(i) {
			continue
		}
		r.blobs = unopened{errNoBlobs}
		if r.Blobs == nil {
			return nil
		}
		switch blobs, err := r.Blobs(ctx, r.tree); {
		case err != nil:
			r.blobs = unopened{err}
		case blobs != nil:
			r.blobs = blobs
		}
		return ctx.Err()
	}
	return nil
}

// broken says why a lazy file can't be read, and what helps.
func (r *run) broken(e snapshot.Entry, err error) Finding {
	text := err.Error()
	var object *blob.Error
	var inPath *fs.PathError
	switch {
	case errors.As(err, &object):
		text = object.Error() // the path is said beside it
	case errors.As(err, &inPath):
		text = inPath.Err.Error()
	}
	if object == nil {
		text = r.objectName(e.Pointer()) + ": " + text
	}
	return Finding{Kind: KindObject, Path: e.Path, Detail: text, Remedy: objectRemedy(e.Pointer(), err)}
}

// objectName is for an object of which no error says where it is.
func (r *run) objectName(p blob.Pointer) string {
	name := blob.Key(p.SHA256)
	if at := r.tree.Header().Blobs; at != "" {
		name = strings.TrimSuffix(at, "/") + "/" + name
	}
	return cmp.Or(p.URI, name)
}

func objectRemedy(p blob.Pointer, err error) string {
	is := func(targets ...error) bool {
		for _, target := range targets {
			if errors.Is(err, target) {
				return true
			}
		}
		return false
	}
	switch {
	case is(blob.ErrUnavailable):
		return "verify again once the storage answers"
	case is(blob.ErrDenied):
		return "give the reader credentials that may read this object"
	case is(blob.ErrRegion):
		return "name the region of the bucket with --s3-region"
	case is(blob.ErrClock):
		return "set the clock of this machine"
	case p.URI != "" && is(blob.ErrNotFound, blob.ErrChanged, blob.ErrShort, blob.ErrTrailing, blob.ErrDigest):
		return "put the object back as it was, or " + reingest + ", which takes it as it is now"
	case is(blob.ErrNotFound):
		return reingest + ", which sends the object"
	case is(blob.ErrShort, blob.ErrTrailing, blob.ErrDigest, vfs.ErrAltered):
		return rewrite
	}
	return "see that --blobs, and for a bucket --s3-endpoint and --s3-region, are those of ingest"
}

// patience is how often in a row a storage may not answer.
const patience = 3

// outages spare a storage that is down the questions about all further files, each of which would take its time to fail.
// They are safe for concurrent use.
type outages struct {
	mu     sync.Mutex
	failed map[string]int // in a row, by storage
}

// storage names the one that an object is in.
func storage(p blob.Pointer) string {
	scheme, rest, _ := strings.Cut(p.URI, "://")
	bucket, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket
}

// over reports whether the storage of p is taken to be down.
func (o *outages) over(p blob.Pointer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed[storage(p)] >= patience
}

// note takes what became of a question to it.
func (o *outages) note(p blob.Pointer, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = make(map[string]int)
	}
	if errors.Is(err, blob.ErrUnavailable) {
		o.failed[storage(p)]++
	} else {
		o.failed[storage(p)] = 0
	}
}
