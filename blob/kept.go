package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/chromafs/chromafs/cache"
)

// pendingBytes bounds what is on its way to disk; what comes meanwhile is not kept there.
const pendingBytes = 32 << 20

// kept is the bytes that were proven, by their digests: in memory, on their way to disk, and there. It is safe for
// concurrent use.
type kept struct {
	memory *cache.Memory[[32]byte, []byte]
	disk   *cache.Disk // may be nil
	apart  bool

	mu      sync.Mutex
	pending map[[32]byte][]byte
	size    int64 // of pending
	writing bool
	writer  sync.WaitGroup
}

func newKept(disk *cache.Disk, memoryBytes int64, apart bool) *kept {
	if apart {
		disk = nil
	}
	return &kept{memory: cache.NewMemory[[32]byte, []byte](memoryBytes), disk: disk, apart: apart, pending: make(map[[32]byte][]byte)}
}

// key is what a piece is kept under: its digest, or, apart, whatever tells it from all others.
func (k *kept) key(p piece) [32]byte {
	if !k.apart {
		return p.sum
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %x %d %d", p.of.Pin, p.of.SHA256, p.of.Size, p.n))
}

// get returns what is in memory. Bytes of another size are not those of the piece, whatever their digest.
func (k *kept) get(p piece) ([]byte, bool) {
	body, ok := k.memory.Get(k.key(p))
	if !ok {
		k.mu.Lock()
		body, ok = k.pending[p.sum]
		k.mu.Unlock()
	}
	return body, ok && int64(len(body)) == p.size
}

// load returns what is anywhere. What comes from disk is proven again.
func (k *kept) load(p piece) ([]byte, bool) {
	if body, ok := k.get(p); ok || k.disk == nil {
		return body, ok
	}
	body, ok := k.disk.Get(name(p.sum))
	switch {
	case !ok:
		return nil, false
	case sha256.Sum256(body) != p.sum:
		k.disk.Drop(name(p.sum))
		return nil, false
	}
	k.memory.Put(p.sum, body, int64(len(body)))
	return body, int64(len(body)) == p.size
}

// has reports whether load would probably return something.
func (k *kept) has(p piece) bool {
	_, ok := k.get(p)
	return ok || k.disk != nil && k.disk.Has(name(p.sum))
}

// put keeps bytes that are proven. They go to disk while the reader goes on.
func (k *kept) put(p piece, body []byte) {
	k.memory.Put(k.key(p), body, p.size)
	if k.disk == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, known := k.pending[p.sum]; known || k.size+p.size > pendingBytes {
		return
	}
	k.pending[p.sum] = body
	k.size += p.size
	if !k.writing {
		k.writing = true
		k.writer.Go(k.write)
	}
}

// write writes until nothing is pending.
func (k *kept) write() {
	for {
		sum, body, ok := k.next()
		if !ok {
			return
		}
		k.disk.Put(name(sum), body)
		k.mu.Lock()
		delete(k.pending, sum)
		k.size -= int64(len(body))
		k.mu.Unlock()
	}
}

func (k *kept) next() (sum [32]byte, body []byte, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for sum, body := range k.pending {
		return sum, body, true
	}
	k.writing = false
	return sum, nil, false
}

// wait waits until nothing is pending, if nothing more is put.
func (k *kept) wait() { k.writer.Wait() }

func name(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
