package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/chromafs/chromafs/cache"
)

// ErrNoStore: nothing says where the object of a pointer is.
var ErrNoStore = errors.New("no blob store is configured")

// DefaultMemoryBytes bounds what Files keeps in memory where the options do not.
const DefaultMemoryBytes = 64 << 20

// pendingWrites is how many pieces may be on their way to disk; what comes meanwhile is not kept there.
const pendingWrites = 16

// FilesOptions say where files are, and what is kept of them.
type FilesOptions struct {
	// Store holds the objects of pointers without a URI, and all block lists; it may be nil.
	Store Store
	// Open finds the store and the key of a pointer with a URI; it may be nil.
	Open func(ctx context.Context, uri string) (Store, string, error)
	// Disk keeps what was fetched; it may be nil.
	Disk *cache.Disk
	// MemoryBytes bounds what is kept in memory: 0 is DefaultMemoryBytes, less keeps nothing.
	MemoryBytes int64
}

// Files reads files by their pointers. It fetches each piece, a whole file or a block of a large one, once for all who
// read it at the same time, proves it by its digest and keeps it. It is safe for concurrent use. Its errors about a file are an
// *Error, ErrNoStore, or those of the context and of FilesOptions.Open.
type Files struct {
	o      FilesOptions
	memory *cache.Memory[[32]byte, []byte]

	mu      sync.Mutex
	flights map[[32]byte]*flight

	slots   chan struct{}
	pending sync.WaitGroup
}

// NewFiles has nothing in memory yet.
func NewFiles(o FilesOptions) *Files {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	return &Files{
		o: o, memory: cache.NewMemory[[32]byte, []byte](o.MemoryBytes),
		flights: map[[32]byte]*flight{}, slots: make(chan struct{}, pendingWrites),
	}
}

// Close waits for what is on its way to disk.
func (f *Files) Close() error {
	f.pending.Wait()
	return nil
}

// Read returns bytes of the file from offset on, proven and at least one, or io.EOF at its end. They are shared: nobody
// changes them. want is how many bytes the caller will probably read from there: of a large file, up to WholeBytes of them
// are fetched together.
func (f *Files) Read(ctx context.Context, p Pointer, offset, want int64) ([]byte, error) {
	if offset < 0 || offset >= p.Size {
		return nil, io.EOF
	}
	if p.Size <= WholeBytes {
		body, err := f.whole(ctx, p)
		if err != nil {
			return nil, err
		}
		return body[offset:], nil
	}
	list, err := f.list(ctx, p)
	if err != nil {
		return nil, err
	}
	k := int(offset / BlockBytes)
	last := int((min(p.Size, offset+max(want, 1)) - 1) / BlockBytes)
	body, err := f.block(ctx, blocked{p, list}, k, min(last-k+1, WholeBytes/BlockBytes))
	if err != nil {
		return nil, err
	}
	return body[offset-int64(k)*BlockBytes:], nil
}

// Check asks whether the objects of the file are there with the right size, and the digest where the storage knows it. It
// reads nothing of them.
func (f *Files) Check(ctx context.Context, p Pointer) error {
	store, key, err := f.find(ctx, p)
	if err != nil {
		return err
	}
	if err := check(ctx, store, key, p.Pin, p.Size, p.SHA256); err != nil || p.Size <= WholeBytes {
		return err
	}
	if f.o.Store == nil {
		return ErrNoStore
	}
	return check(ctx, f.o.Store, Key(p.Blocks), Pin{}, listBytes(p.Size), p.Blocks)
}

func check(ctx context.Context, store Store, key string, pin Pin, size int64, sum [32]byte) error {
	info, err := store.Stat(ctx, key, pin)
	switch {
	case err != nil:
		return err
	case info.Size < size:
		err = ErrShort
	case info.Size > size:
		err = ErrTrailing
	case info.SHA256 != nil && *info.SHA256 != sum:
		err = ErrDigest
	}
	return named(store, key, err)
}

// named makes err one about an object, unless it is that already, or says nothing of it.
func named(store Store, key string, err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{URI: store.URI(key), Err: err}
}

func (f *Files) find(ctx context.Context, p Pointer) (Store, string, error) {
	switch {
	case p.URI == "" && f.o.Store != nil:
		return f.o.Store, Key(p.SHA256), nil
	case p.URI != "" && f.o.Open != nil:
		return f.o.Open(ctx, p.URI)
	}
	return nil, "", ErrNoStore
}

// whole is a file of at most WholeBytes.
func (f *Files) whole(ctx context.Context, p Pointer) ([]byte, error) {
	return f.once(ctx, p.SHA256, func() ([]byte, error) {
		store, key, err := f.find(ctx, p)
		if err != nil {
			return nil, err
		}
		return fetch(ctx, store, key, p.Pin, p.Size, p.SHA256)
	})
}

// list is the block list of a larger one.
func (f *Files) list(ctx context.Context, p Pointer) ([]byte, error) {
	return f.once(ctx, p.Blocks, func() ([]byte, error) {
		if f.o.Store == nil {
			return nil, ErrNoStore
		}
		return fetch(ctx, f.o.Store, Key(p.Blocks), Pin{}, listBytes(p.Size), p.Blocks)
	})
}

// maxReserve bounds the memory that is set aside on the word of a tree alone.
const maxReserve = 16 << 20

// fetch reads an object and proves it.
func fetch(ctx context.Context, store Store, key string, pin Pin, size int64, sum [32]byte) ([]byte, error) {
	r, err := store.Open(ctx, key, pin, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	body := make([]byte, 0, min(size, maxReserve))
	v := Verify(r, size, sum)
	var none [1]byte
	for {
		if len(body) == cap(body) && int64(len(body)) < size {
			body = slices.Grow(body, int(min(size-int64(len(body)), maxReserve)))
		}
		room := body[len(body):cap(body)]
		if len(room) == 0 {
			room = none[:] // for the end, and what it proves
		}
		n, err := v.Read(room)
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, nil
		}
		if err != nil {
			return nil, named(store, key, err)
		}
	}
}

// get returns what is kept under a digest. What is on disk is proven again.
func (f *Files) get(sum [32]byte) ([]byte, bool) {
	if body, ok := f.memory.Get(sum); ok {
		return body, true
	}
	if f.o.Disk == nil {
		return nil, false
	}
	name := hex.EncodeToString(sum[:])
	body, ok := f.o.Disk.Get(name)
	if !ok {
		return nil, false
	}
	if sha256.Sum256(body) != sum {
		f.o.Disk.Drop(name)
		return nil, false
	}
	f.memory.Put(sum, body, int64(len(body)))
	return body, true
}

// keep is for bytes that are proven. They go to disk while the reader goes on.
func (f *Files) keep(sum [32]byte, body []byte) {
	f.memory.Put(sum, body, int64(len(body)))
	if f.o.Disk == nil {
		return
	}
	select {
	case f.slots <- struct{}{}:
		f.pending.Go(func() {
			f.o.Disk.Put(hex.EncodeToString(sum[:]), body)
			<-f.slots
		})
	default:
	}
}

// Describe reads r to its end and says what a pointer to it holds. list is the block list of one of more than WholeBytes, else nil.
// What it needs of memory is 32 bytes a block.
func Describe(r io.Reader) (p Pointer, list []byte, err error) {
	whole, block := sha256.New(), sha256.New()
	for {
		n, err := io.CopyN(io.MultiWriter(whole, block), r, BlockBytes)
		if p.Size += n; n > 0 {
			list = block.Sum(list)
			block.Reset()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Pointer{}, nil, fmt.Errorf("describe a file: %w", err)
		}
	}
	p.SHA256 = [32]byte(whole.Sum(nil))
	if p.Size <= WholeBytes {
		return p, nil, nil
	}
	p.Blocks = sha256.Sum256(list)
	return p, list, nil
}
