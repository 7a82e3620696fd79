package blob

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/chromafs/chromafs/cache"
)

// ErrNoStore: nothing says where the object of a pointer is.
var ErrNoStore = errors.New("no blob store is configured")

// DefaultMemoryBytes bounds what Files keeps in memory where the options do not.
const DefaultMemoryBytes = 64 << 20

// FilesOptions say where files are, and what is kept of them.
type FilesOptions struct {
	// Store holds the objects of pointers without a URI, and all block lists; it may be nil.
	Store Store
	// Open finds the store and the key of a pointer with a URI; it may be nil.
	Open func(ctx context.Context, uri string) (Store, string, error)
	// Disk keeps what was fetched; it may be nil.
	Disk *cache.Disk
	// Apart fetches each piece of each file for itself, be it kept for another with the same bytes: who is to prove what the
	// storage holds must see all of it. Nothing is kept on disk then.
	Apart bool
	// MemoryBytes bounds what is kept in memory: 0 is DefaultMemoryBytes, less keeps nothing. Without Disk and with less than
	// twice WholeBytes, each part of a file may be fetched anew for each Read.
	MemoryBytes int64
}

// Files reads files by their pointers. It fetches each piece, a whole file or a block of a large one, once for all who
// read it at the same time, proves it by its digest and keeps it. A fetch goes on for the others when a reader goes away,
// and ends with the last of them. What can't be kept, or is found damaged, is fetched again. It is safe for concurrent use.
// Its errors about a file are an *Error, ErrNoStore, or those of the context and of FilesOptions.Open.
type Files struct {
	o      FilesOptions
	kept   *kept
	window int64 // blocks fetched together at most

	mu      sync.Mutex
	flights map[piece]*flight
	closed  bool
	running sync.WaitGroup // fetches
}

// NewFiles has nothing in memory yet.
func NewFiles(o FilesOptions) *Files {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = DefaultMemoryBytes
	}
	window := int64(WholeBytes)
	if o.Disk == nil {
		window = min(window, o.MemoryBytes/2) // or some are lost before they are read
	}
	return &Files{o: o, kept: newKept(o.Disk, o.MemoryBytes, o.Apart), window: max(1, window/BlockBytes), flights: make(map[piece]*flight)}
}

// Close breaks off what is being fetched, and waits for what is on its way to disk. Files that are closed fetch
// nothing more.
func (f *Files) Close() error {
	f.mu.Lock()
	f.closed = true
	for _, fl := range f.flights {
		fl.fetch.cancel()
	}
	f.mu.Unlock()
	f.running.Wait()
	f.kept.wait()
	return nil
}

// Read returns bytes of the file from offset on, proven and at least one, or io.EOF at its end. They are shared: nobody
// changes them. They are all of the piece that is there: who needs more of it has it without another Read. want is how many
// bytes the caller will probably read: of a large file, up to WholeBytes of them are fetched together.
func (f *Files) Read(ctx context.Context, p Pointer, offset, want int64) ([]byte, error) {
	if offset < 0 || offset >= p.Size {
		return nil, io.EOF
	}
	if p.Size <= WholeBytes {
		body, err := f.load(ctx, []piece{wholeOf(p)})
		if err != nil {
			return nil, err
		}
		return body[offset:], nil
	}
	list, err := f.load(ctx, []piece{listOf(p)})
	if err != nil {
		return nil, err
	}
	first := offset / BlockBytes
	last := (offset + min(max(want, 1), p.Size-offset) - 1) / BlockBytes
	body, err := f.load(ctx, blocksOf(p, list, first, min(last-first+1, f.window)))
	if err != nil {
		return nil, err
	}
	return body[offset-first*BlockBytes:], nil
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
