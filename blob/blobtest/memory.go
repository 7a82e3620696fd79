package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/chromafs/chromafs/blob"
)

// Memory is a blob.Store in memory that counts what is asked of it and can be made to fail. Its objects have ETags and
// digests, and no versions. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	counts  Counts
	fault   func(ctx context.Context, op, key string) error
	body    func(key string, offset int64, r io.Reader) io.Reader
}

var _ blob.Store = (*Memory)(nil)

// Counts are the requests so far, those that failed too, and the bytes that were read of answers and kept of contents.
type Counts struct {
	Stat, Open, Put int
	Read, Kept      int64
}

// NewMemory is an empty store.
func NewMemory() *Memory {
	return &Memory{objects: make(map[string][]byte)}
}

// Counts is what was asked since the last call of it.
func (m *Memory) Counts() Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts
	m.counts = Counts{}
	return c
}

// Fault lets f see every request before it is answered; op is "stat", "open" or "put". An error of it is the answer, and
// while it waits so does the request. Nil ends that.
func (m *Memory) Fault(f func(ctx context.Context, op, key string) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = f
}

// Body lets f replace what Open answers from the offset on. Nil ends that.
func (m *Memory) Body(f func(key string, offset int64, r io.Reader) io.Reader) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.body = f
}

// Set keeps data under key whatever it is; nil removes the object.
func (m *Memory) Set(key string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.objects, key); data != nil {
		m.objects[key] = bytes.Clone(data)
	}
}

// Add keeps data under the key of its digest, as Send would.
func (m *Memory) Add(data []byte) (sum [32]byte) {
	sum = sha256.Sum256(data)
	m.Set(blob.Key(sum), append([]byte{}, data...))
	return sum
}

// URI is memory:KEY.
func (m *Memory) URI(key string) string { return "memory:" + key }

// Stat describes an object.
func (m *Memory) Stat(ctx context.Context, key string, pin blob.Pin) (blob.Info, error) {
	if err := m.ask(ctx, "stat", key); err != nil {
		return blob.Info{}, err
	}
	data, _, err := m.find(key, pin)
	if err != nil {
		return blob.Info{}, err
	}
	sum := sha256.Sum256(data)
	return blob.Info{Size: int64(len(data)), ETag: etag(data), SHA256: &sum}, nil
}

// Open reads of the object as it is now.
func (m *Memory) Open(ctx context.Context, key string, pin blob.Pin, offset, length int64) (io.ReadCloser, error) {
	if err := m.ask(ctx, "open", key); err != nil {
		return nil, err
	}
	data, body, err := m.find(key, pin)
	if err != nil {
		return nil, err
	}
	data = data[min(offset, int64(len(data))):]
	if length >= 0 {
		data = data[:min(length, int64(len(data)))]
	}
	var r io.Reader = bytes.NewReader(data)
	if body != nil {
		r = body(key, offset, r)
	}
	return &answer{m, ctx, r}, nil
}

// Put keeps an object.
func (m *Memory) Put(ctx context.Context, key string, c blob.Content, replace bool) error {
	if err := m.ask(ctx, "put", key); err != nil {
		return err
	}
	if _, _, err := m.find(key, blob.Pin{}); err == nil && !replace {
		return nil
	}
	body, err := c.Open()
	if err != nil {
		return m.fail(key, err)
	}
	defer body.Close()
	data, err := io.ReadAll(&answer{nil, ctx, blob.Verify(body, c.Size, c.SHA256)})
	if err != nil {
		return m.fail(key, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.objects[key]; replace || !known {
		m.objects[key] = data
		m.counts.Kept += int64(len(data))
	}
	return nil
}

// ask counts a request, and fails it where it is to fail.
func (m *Memory) ask(ctx context.Context, op, key string) error {
	m.mu.Lock()
	switch op {
	case "stat":
		m.counts.Stat++
	case "open":
		m.counts.Open++
	case "put":
		m.counts.Put++
	}
	fault := m.fault
	m.mu.Unlock()
	if fault != nil {
		if err := fault(ctx, op, key); err != nil {
			return m.fail(key, err)
		}
	}
	if err := blob.CheckKey(key); err != nil {
		return m.fail(key, err)
	}
	return ctx.Err()
}

// find is an object, and the hook that its answer goes through.
func (m *Memory) find(key string, pin blob.Pin) ([]byte, func(string, int64, io.Reader) io.Reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.objects[key]
	switch {
	case !ok:
		return nil, nil, m.fail(key, blob.ErrNotFound)
	case pin.ETag != "" && pin.ETag != etag(data), pin.Version != "":
		return nil, nil, m.fail(key, blob.ErrChanged)
	}
	return data, m.body, nil
}

// fail names the object, unless err is that of a context or names one.
func (m *Memory) fail(key string, err error) error {
	if named := (*blob.Error)(nil); errors.As(err, &named) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &blob.Error{URI: m.URI(key), Err: err}
}

func etag(data []byte) string {
	sum := sha256.Sum256(data)
	return fmt.Sprintf(`"%x"`, sum[:16])
}

// answer is a body that ends with its context; m, if any, counts its bytes.
type answer struct {
	m   *Memory
	ctx context.Context
	r   io.Reader
}

func (a *answer) Read(p []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := a.r.Read(p)
	if a.m != nil {
		a.m.mu.Lock()
		a.m.counts.Read += int64(n)
		a.m.mu.Unlock()
	}
	return n, err
}

func (a *answer) Close() error { return nil }
