package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/blob"
)

// objects are Objects in memory. As in a bucket, equal content has an equal ETag.
type objects struct {
	mu     sync.Mutex
	values map[string][]byte
	calls  []string // "op key" of each
	read   int      // bytes of bodies
	open   int      // bodies that are not closed
	// before and after, if any, are asked around each call; their errors are its answer. They may call objects.
	before, after func(op, key string) error
	// body, if any, stands between the content and its reader.
	body func(key string, r io.Reader) io.Reader
}

func newObjects() *objects { return &objects{values: map[string][]byte{}} }

func (o *objects) URI(key string) string { return "mem://bucket/" + key }

func etagOf(data []byte) string { return fmt.Sprintf(`"%x"`, sha256.Sum256(data)) }

// call does what do does, under the lock, between the hooks.
func (o *objects) call(ctx context.Context, op, key string, do func() error) error {
	o.mu.Lock()
	o.calls = append(o.calls, op+" "+key)
	before, after := o.before, o.after
	o.mu.Unlock()
	err := ctx.Err()
	if err == nil && before != nil {
		err = before(op, key)
	}
	if err == nil {
		o.mu.Lock()
		err = do()
		o.mu.Unlock()
	}
	if after != nil {
		err = cmp.Or(after(op, key), err)
	}
	if err != nil && ctx.Err() == nil {
		return &blob.Error{URI: o.URI(key), Err: err}
	}
	return err
}

func (o *objects) Get(ctx context.Context, key, unless string) (body io.ReadCloser, etag string, err error) {
	err = o.call(ctx, "get", key, func() error {
		data, ok := o.values[key]
		if !ok {
			return blob.ErrNotFound
		}
		if etag = etagOf(data); etag == unless {
			return nil
		}
		var r io.Reader = bytes.NewReader(data)
		if o.body != nil {
			r = o.body(key, r)
		}
		o.open++
		body = &counted{r, o}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return body, etag, nil
}

type counted struct {
	r io.Reader
	o *objects
}

func (c *counted) Close() error {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	c.o.open--
	return nil
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	c.o.read += n
	return n, err
}

func (o *objects) Write(ctx context.Context, key string, data []byte, match string) (string, error) {
	err := o.call(ctx, "write", key, func() error {
		there := ""
		if old, ok := o.values[key]; ok {
			there = etagOf(old)
		}
		if there != match {
			return blob.ErrChanged
		}
		o.values[key] = bytes.Clone(data)
		return nil
	})
	return etagOf(data), err
}

func (o *objects) Delete(ctx context.Context, key string) error {
	return o.call(ctx, "delete", key, func() error {
		delete(o.values, key)
		return nil
	})
}

// since is what was called since the last time.
func (o *objects) since() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	calls := o.calls
	o.calls = nil
	return calls
}

// all is everything that is stored.
func (o *objects) all() map[string][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return maps.Clone(o.values)
}

// set stores data whatever is there; nil removes it.
func (o *objects) set(key string, data []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if delete(o.values, key); data != nil {
		o.values[key] = data
	}
}

// memory is a Kept.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
}

func (m *memory) Get(key string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.values[key]
	return v, ok
}

func (m *memory) Put(key string, value []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values[key] = bytes.Clone(value)
}

func (m *memory) Drop(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}

func treeKey(tree *Tree) string { return strings.TrimPrefix(tree.Digest(), digestPrefix) + fileSuffix }

func bucketRig(*testing.T) rig {
	o := newObjects()
	f := &fault{at: math.MaxInt}
	o.before = func(string, string) error { return f.hit() }
	key := func(digest string) string { return strings.TrimPrefix(digest, digestPrefix) + fileSuffix }
	return rig{
		open:  func(site string) Location { return &Bucket{Objects: o, Site: site} },
		fault: f,
		names: func(*testing.T) []string { return slices.Sorted(maps.Keys(o.all())) },
		damage: func(t *testing.T, digest string) {
			o.set(key(digest), zip(t, encodeText(t, mustNew(t, Header{Collection: "other"}, nil))))
		},
		lose:   func(_ *testing.T, digest string) { o.set(key(digest), nil) },
		say:    func(_ *testing.T, pointer string) { o.set(currentName, []byte(pointer)) },
		scrap:  `{"format":"chromafs.current","version":1,"minReader":1}`,
		newer:  `{"format":"chromafs.current","version":2,"minReader":2,"what":"ever"}`,
		refuse: ErrVersion,
	}
}
