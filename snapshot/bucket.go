package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync/atomic"
	"time"

	"github.com/chromafs/chromafs/blob"
)

// ErrConflict: somebody else published since this writer looked. Nothing of theirs was changed.
var ErrConflict = errors.New("somebody else published meanwhile")

// errNoBody: an object is said to be as it was to who has not seen it.
var errNoBody = errors.New("answered with nothing")

// pointerBytes is the most that is read of a pointer.
const pointerBytes = 1 << 20

// Objects are named objects that can be replaced under a condition, as in a bucket. Errors about an object or the storage
// are a *blob.Error; those of the context are its own.
type Objects interface {
	// Get opens an object. Where it still has the ETag unless, which may be empty, body is nil and etag is unless.
	// blob.ErrNotFound where there is none. A body that breaks off ends with another error than io.EOF.
	Get(ctx context.Context, key, unless string) (body io.ReadCloser, etag string, err error)
	// Write stores data if the object there has the ETag match, or, with match empty, if there is none; else
	// blob.ErrChanged.
	Write(ctx context.Context, key string, data []byte, match string) (etag string, err error)
	// Delete removes an object that may be gone already.
	Delete(ctx context.Context, key string) error
	// URI names an object in words for people.
	URI(key string) string
}

// Kept keeps values near the reader, by a key that never means another value. It may lose and damage them.
type Kept interface {
	Get(key string) (value []byte, ok bool)
	Put(key string, value []byte)
	Drop(key string)
}

// Bucket publishes into a bucket, with the layout of a Folder. FORMAT.md has it. Its methods are safe for concurrent use
// as Location says; use one Bucket from the first Load to the last Retired of a writer.
//
// Publish writes the snapshot if it isn't there, then the pointer, on the condition that it is still the one which Load or
// Retiring of this Bucket last read, or which it wrote itself; without one, the one that Publish finds. So of two writers
// that meet one gets ErrConflict, until it has called Load or Retiring. Retired holds to the same, deletes the snapshot
// and then moves the pointer; killed in between, it is to be called again. Only that delete has no condition: no other
// writer may make a retiring snapshot the published one while Retired runs.
//
// When the answer to a write of the pointer is lost, the pointer is read again and tells whether it was written.
type Bucket struct {
	Objects Objects
	Site    string
	Limits  Limits
	// Kept, if any, spares Load the request for a snapshot that this machine has read before.
	Kept Kept

	last atomic.Pointer[seen]
}

var _ Location = (*Bucket)(nil)

// seen is what a read of the pointer found. It never changes.
type seen struct {
	etag string // empty when there is none
	pointer
	err       error      // why there is no pointer: ErrNone, ErrMalformed, ErrVersion
	published *Published // what pointer names, once it was read
}

// Load opens the published snapshot. It is one request while the pointer stays as it is, and then returns what it
// returned before.
func (b *Bucket) Load(ctx context.Context) (*Published, error) {
	var s *seen
	read := func() (p pointer, err error) {
		if s, err = b.look(ctx); err != nil {
			return p, err
		}
		return s.pointer, s.err
	}
	p, err := load(read, func(digest string) (*Tree, error) {
		if s.published != nil {
			return s.published.Tree, nil
		}
		return b.near(ctx, digest)
	})
	switch {
	case err != nil:
		return nil, err
	case s.published != nil:
		return s.published, nil
	}
	b.last.CompareAndSwap(s, &seen{etag: s.etag, pointer: s.pointer, published: p})
	return p, nil
}

// Open opens a snapshot by its digest, that in the bucket and not what Kept has.
func (b *Bucket) Open(ctx context.Context, digest string) (*Tree, error) {
	t, _, err := b.open(ctx, digest, nil)
	return t, err
}

// Publish writes t and moves the pointer to it.
func (b *Bucket) Publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := b.publish(ctx, t, at); err != nil {
		return fmt.Errorf("publish snapshot: %w", err)
	}
	return nil
}

func (b *Bucket) publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := checkPublish(t, b.Site, at); err != nil {
		return err
	}
	was := b.last.Load()
	now, err := b.read(ctx, was)
	if err != nil {
		return err
	}
	old, err := now.readable(now.err)
	if err != nil {
		return err
	}
	published := old.digest == t.Digest() // perhaps by a Publish of this Bucket that never heard of it
	if !published && now.replaced(was) {
		return b.conflict()
	}
	if err := b.put(ctx, t); err != nil {
		return err
	}
	if !published {
		if now, err = b.point(ctx, now, old.next(t.Digest(), at)); err != nil {
			return err
		}
	}
	b.last.Store(&seen{etag: now.etag, pointer: now.pointer, published: &Published{t, now.at, t.Digest()}})
	return nil
}

// Retiring lists what the pointer keeps.
func (b *Bucket) Retiring(ctx context.Context) ([]string, error) {
	s, err := b.look(ctx)
	switch {
	case err != nil:
		return nil, err
	case errors.Is(s.err, ErrNone):
		return nil, nil
	}
	return slices.Clone(s.retiring), s.err
}

// Retired removes a retiring snapshot.
func (b *Bucket) Retired(ctx context.Context, digest string) error {
	if err := b.retired(ctx, digest); err != nil {
		return fmt.Errorf("retire snapshot: %w", err)
	}
	return nil
}

func (b *Bucket) retired(ctx context.Context, digest string) error {
	was := b.last.Load()
	now, err := b.read(ctx, was)
	if err == nil {
		err = now.err
	}
	if err != nil {
		return err
	}
	rest, err := now.retire(digest)
	if err != nil || rest == nil {
		return err
	}
	if now.replaced(was) {
		return b.conflict()
	}
	name, err := fileName(digest)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := b.Objects.Delete(ctx, b.key(name)); err != nil {
		return b.named(name, err)
	}
	next, err := b.point(ctx, now, *rest)
	if err != nil {
		return err
	}
	b.last.Store(next.knowing(now))
	return nil
}

// replaced reports whether the pointer is another than it was; nothing was known of it when was is nil.
func (s *seen) replaced(was *seen) bool { return was != nil && was.etag != s.etag }

// knowing is s with the tree that was names, if s names it too.
func (s *seen) knowing(was *seen) *seen {
	if was == nil || was.published == nil || was.digest != s.digest {
		return s
	}
	return &seen{etag: s.etag, pointer: s.pointer, published: &Published{was.published.Tree, s.at, s.digest}}
}

// look reads the pointer and remembers it.
func (b *Bucket) look(ctx context.Context) (*seen, error) {
	was := b.last.Load()
	now, err := b.read(ctx, was)
	if err == nil {
		b.last.CompareAndSwap(was, now) // what was found or written meanwhile stays
	}
	return now, err
}

// read reads the pointer, if it is another than it was. Its error is that of the storage or the context.
func (b *Bucket) read(ctx context.Context, was *seen) (*seen, error) {
	if err := ValidateSite(b.Site); err != nil {
		return nil, err
	}
	unless := ""
	if was != nil {
		unless = was.etag
	}
	body, etag, err := b.Objects.Get(ctx, b.key(currentName), unless)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return &seen{err: fmt.Errorf("%w: %w", ErrNone, b.named(currentName, err))}, nil
	case err != nil:
		return nil, b.named(currentName, err)
	case body == nil && was != nil:
		return was, nil
	case body == nil:
		return nil, b.named(currentName, errNoBody)
	}
	defer body.Close()
	s := &seen{etag: etag}
	data, err := io.ReadAll(&limitReader{contextReader{ctx, body}, pointerBytes, malformed("over %d bytes", pointerBytes)})
	if err == nil {
		s.pointer, err = parseCurrent(data)
	}
	if err != nil {
		s.err = b.named(currentName, err)
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrVersion) {
			return nil, s.err
		}
	}
	return s.knowing(was), nil
}

// point replaces the pointer that was read before.
func (b *Bucket) point(ctx context.Context, was *seen, to pointer) (*seen, error) {
	name, err := fileName(to.digest)
	if err != nil {
		return nil, err
	}
	data, err := to.json(name, currentVersion)
	if err != nil {
		return nil, err
	}
	if len(data) > pointerBytes {
		return nil, overLimit("%d snapshots are retiring", len(to.retiring))
	}
	etag, err := b.write(ctx, currentName, data, was.etag)
	if err == nil {
		return &seen{etag: etag, pointer: to}, nil
	}
	now, unread := b.read(ctx, was)
	switch {
	case unread != nil:
		return nil, fmt.Errorf("%w (it may be written all the same: %w)", err, unread)
	case now.follows(to):
		return now, nil
	case errors.Is(err, blob.ErrChanged), now.replaced(was):
		return nil, b.conflict()
	}
	return nil, err
}

// follows reports whether p is to, or that with fewer snapshots retiring.
func (p pointer) follows(to pointer) bool {
	more := slices.ContainsFunc(p.retiring, func(d string) bool { return !slices.Contains(to.retiring, d) })
	return p.digest == to.digest && p.at.Equal(to.at) && !more
}

// put writes t unless it is there, whole.
func (b *Bucket) put(ctx context.Context, t *Tree) error {
	name, err := fileName(t.Digest())
	if err != nil {
		return err
	}
	for retry := true; ; retry = false {
		_, etag, err := b.open(ctx, t.Digest(), nil)
		if err == nil {
			return nil
		}
		if !IsDamage(err) && !errors.Is(err, ErrLimit) && !errors.Is(err, ErrVersion) {
			return err
		}
		var data bytes.Buffer
		if err := Encode(contextWriter{ctx, &data}, t); err != nil {
			return err
		}
		// Where somebody else writes the same, or an answer was lost, what is there now decides.
		if _, err = b.write(ctx, name, data.Bytes(), etag); !errors.Is(err, blob.ErrChanged) || !retry {
			return err
		}
	}
}

// near is open, from what is kept if that is whole.
func (b *Bucket) near(ctx context.Context, digest string) (*Tree, error) {
	name, err := fileName(digest)
	if err != nil {
		return nil, err
	}
	if b.Kept == nil {
		return b.Open(ctx, digest)
	}
	if data, ok := b.Kept.Get(name); ok {
		if t, err := b.decode(bytes.NewReader(data), digest); err == nil {
			return t, nil
		}
		b.Kept.Drop(name)
	}
	var data bytes.Buffer
	t, _, err := b.open(ctx, digest, &data)
	if err == nil {
		b.Kept.Put(name, data.Bytes())
	}
	return t, err
}

// open reads a snapshot, and copies its bytes to copied, if any. It returns the ETag of one that is damaged too.
func (b *Bucket) open(ctx context.Context, digest string, copied *bytes.Buffer) (t *Tree, etag string, err error) {
	name, err := fileName(digest)
	if err != nil {
		return nil, "", err
	}
	body, etag, err := b.Objects.Get(ctx, b.key(name), "")
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil, "", fmt.Errorf("%w: %w", ErrMissing, b.named(name, err))
	case err != nil:
		return nil, "", b.named(name, err)
	case body == nil:
		return nil, "", b.named(name, errNoBody)
	}
	defer body.Close()
	var r io.Reader = contextReader{ctx, body}
	if copied != nil {
		r = io.TeeReader(r, copied)
	}
	if t, err = b.decode(r, digest); err != nil {
		return nil, etag, b.named(name, err)
	}
	return t, etag, nil
}

func (b *Bucket) decode(r io.Reader, digest string) (*Tree, error) {
	t, err := Decode(r, b.Limits)
	if err != nil {
		return nil, err
	}
	return t, checkTree(t, digest, b.Site)
}

// write starts none once the context is done.
func (b *Bucket) write(ctx context.Context, name string, data []byte, match string) (etag string, err error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	etag, err = b.Objects.Write(ctx, b.key(name), data, match)
	return etag, b.named(name, err)
}

// key is the name of an object of the site.
func (b *Bucket) key(name string) string {
	if b.Site == "" {
		return name
	}
	return path.Join(sitesName, b.Site, name)
}

func (b *Bucket) conflict() error { return b.named(currentName, ErrConflict) }

// named says which object an error is about, unless it does so itself.
func (b *Bucket) named(name string, err error) error {
	if e := (*blob.Error)(nil); err == nil || errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%s: %w", b.Objects.URI(b.key(name)), err)
}
