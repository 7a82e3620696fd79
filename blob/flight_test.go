package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
)

// gate holds requests back until it is opened, or their context ends.
type gate struct {
	arrived chan string
	open    chan struct{}
}

func newGate(s *blobtest.Memory) gate {
	g := gate{make(chan string, 1000), make(chan struct{})}
	s.Fault(func(ctx context.Context, _, key string) error {
		g.arrived <- key
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return g
}

type result struct {
	body []byte
	err  error
}

func read(ctx context.Context, f *blob.Files, p blob.Pointer, offset, want int64) <-chan result {
	c := make(chan result, 1)
	go func() {
		body, err := f.Read(ctx, p, offset, want)
		c <- result{body, err}
	}()
	return c
}

// settle gives readers the time to begin to wait. Those who come later fetch nothing either.
func settle() { time.Sleep(20 * time.Millisecond) }

// A hundred readers of a file, or of all its blocks, cost what one does.
func TestFilesReadersShare(t *testing.T) {
	for _, data := range [][]byte{small, large} {
		for _, dir := range []string{"", t.TempDir()} {
			s := blobtest.NewMemory()
			p := add(t, s, data)
			g := newGate(s)
			f := open(t, s, dir, 0)
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() {
					offset := int64(i) * p.Size / 100
					got, err := f.Read(t.Context(), p, offset, blob.WholeBytes)
					if err != nil || len(got) == 0 || !bytes.HasPrefix(data[offset:], got) {
						t.Errorf("reader %d: %d bytes, error %v", i, len(got), err)
					}
				})
			}
			settle()
			close(g.open)
			all.Wait()
			expectFile(t, f, p, data)
			f.Close()
			n, list := s.Counts(), int64(0)
			if p.Size > blob.WholeBytes {
				list = 10 * 32
			}
			if n.Read != p.Size+list || p.Size <= blob.WholeBytes && n.Open != 1 {
				t.Errorf("%d bytes: %+v", p.Size, n)
			}
			f = open(t, s, dir, 0)
			all = sync.WaitGroup{}
			for range 5 {
				all.Go(func() { expectFile(t, f, p, data) })
			}
			all.Wait()
			f.Close()
			if n := s.Counts(); dir != "" && n.Read != 0 || dir == "" && n.Read != p.Size+list {
				t.Errorf("%d bytes again, folder %q: %+v", p.Size, dir, n)
			}
		}
	}
}

// A reader who goes away, be it the one who began, leaves the others theirs, at no cost.
func TestFilesReaderLeaves(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, small)
	g := newGate(s)
	f := open(t, s, "", 0)
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	leaves := read(ctx, f, p, 0, 1)
	<-g.arrived
	stays := read(t.Context(), f, p, 5, 1)
	settle()
	cancel()
	if r := <-leaves; !errors.Is(r.err, context.Canceled) {
		t.Errorf("the reader that left: %v", r.err)
	}
	close(g.open)
	if r := <-stays; r.err != nil || !bytes.Equal(r.body, small[5:]) {
		t.Errorf("the other: %d bytes, error %v", len(r.body), r.err)
	}
	if n := s.Counts(); n.Open != 1 {
		t.Errorf("%+v", n)
	}
}

// The last reader takes the request with him, and the next one makes his own.
func TestFilesAllReadersLeave(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, large)
	f := open(t, s, "", 0)
	defer f.Close()
	if _, err := f.Read(t.Context(), p, p.Size-1, 1); err != nil {
		t.Fatal(err)
	}
	s.Counts()
	g := newGate(s)
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		c := []<-chan result{read(ctx, f, p, 0, p.Size), read(ctx, f, p, 3<<20, 1)}
		<-g.arrived
		settle()
		cancel()
		for _, c := range c {
			if r := <-c; !errors.Is(r.err, context.Canceled) {
				t.Errorf("error %v", r.err)
			}
		}
	}
	close(g.open)
	got, err := f.Read(t.Context(), p, 0, 1)
	if err != nil || !bytes.Equal(got, large[:blob.BlockBytes]) {
		t.Errorf("then %d bytes, error %v", len(got), err)
	}
	if n := s.Counts(); n.Read != blob.BlockBytes {
		t.Errorf("%+v", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Read(ctx, p, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader that is gone already: %v", err)
	}
}

// pipe answers with what is written to it.
func pipe(s *blobtest.Memory, key string) *io.PipeWriter {
	r, w := io.Pipe()
	s.Body(func(k string, _ int64, body io.Reader) io.Reader {
		if k == key {
			return r
		}
		return body
	})
	return w
}

// A block is given out as soon as it has come, and those behind it are waited for, not fetched twice.
func TestFilesBlocksAsTheyCome(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, large)
	w := pipe(s, blob.Key(p.SHA256))
	f := open(t, s, "", 0)
	defer f.Close()
	first := read(t.Context(), f, p, 0, 3*blob.BlockBytes)
	if _, err := w.Write(large[:blob.BlockBytes]); err != nil {
		t.Fatal(err)
	}
	if r := <-first; r.err != nil || !bytes.Equal(r.body, large[:blob.BlockBytes]) {
		t.Fatalf("first block: %d bytes, error %v", len(r.body), r.err)
	}
	third := read(t.Context(), f, p, 2*blob.BlockBytes+1, 1)
	settle()
	if _, err := w.Write(large[blob.BlockBytes : 3*blob.BlockBytes]); err != nil {
		t.Fatal(err)
	}
	if r := <-third; r.err != nil || !bytes.Equal(r.body, large[2*blob.BlockBytes+1:3*blob.BlockBytes]) {
		t.Errorf("third block: %d bytes, error %v", len(r.body), r.err)
	}
	if n := s.Counts(); n.Open != 2 {
		t.Errorf("%+v", n)
	}
}

// When a request breaks off, its error is that of the block it came up at; whoever waits for another fetches on his own.
func TestFilesBreakOff(t *testing.T) {
	broken := &blob.Error{URI: "memory:x", Err: blob.ErrUnavailable}
	s := blobtest.NewMemory()
	p := add(t, s, large)
	w := pipe(s, blob.Key(p.SHA256))
	f := open(t, s, "", 0)
	defer f.Close()
	first := read(t.Context(), f, p, 0, p.Size)
	if _, err := w.Write(large[:100]); err != nil {
		t.Fatal(err)
	}
	third := read(t.Context(), f, p, 2*blob.BlockBytes, 1)
	settle()
	s.Body(nil)
	w.CloseWithError(broken)
	if r := <-first; !errors.Is(r.err, blob.ErrUnavailable) || len(r.body) > 0 {
		t.Errorf("the first block: %d bytes, error %v", len(r.body), r.err)
	}
	if r := <-third; r.err != nil || !bytes.Equal(r.body, large[2*blob.BlockBytes:3*blob.BlockBytes]) {
		t.Errorf("the third block: %d bytes, error %v", len(r.body), r.err)
	}
}

// Readers of the same bytes by different pointers have each their own errors.
func TestFilesErrorsAreNotShared(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, small)
	pinned := p
	pinned.ETag = `"other"`
	g := newGate(s)
	f := open(t, s, "", 0)
	defer f.Close()
	bad := read(t.Context(), f, pinned, 0, 1)
	<-g.arrived
	good := read(t.Context(), f, p, 0, 1)
	settle()
	close(g.open)
	if r := <-bad; !errors.Is(r.err, blob.ErrChanged) {
		t.Errorf("the pinned one: %v", r.err)
	}
	if r := <-good; r.err != nil || !bytes.Equal(r.body, small) {
		t.Errorf("the other: %d bytes, error %v", len(r.body), r.err)
	}
}

// Close ends what waits for a storage that does not answer.
func TestFilesCloseBreaksOff(t *testing.T) {
	s := blobtest.NewMemory()
	p := add(t, s, small)
	g := newGate(s)
	f := open(t, s, t.TempDir(), 0)
	waits := read(t.Context(), f, p, 0, 1)
	<-g.arrived
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if r := <-waits; !errors.Is(r.err, fs.ErrClosed) {
		t.Errorf("%d bytes, error %v", len(r.body), r.err)
	}
}

// Many readers, of whom some go away, over a storage that fails now and then: bytes of the file or an error.
func TestFilesStorm(t *testing.T) {
	s := blobtest.NewMemory()
	files := [][]byte{small, large, noise(8<<20 + 1)}
	var pointers []blob.Pointer
	for _, data := range files {
		pointers = append(pointers, add(t, s, data))
	}
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(1, 2))
	chance := func(n int) bool {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n) == 0
	}
	s.Fault(func(context.Context, string, string) error {
		if chance(5) {
			return blob.ErrUnavailable
		}
		return nil
	})
	f := open(t, s, t.TempDir(), 4<<20)
	var all sync.WaitGroup
	for seed := range uint64(16) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 3))
			for range 40 {
				i := rng.IntN(len(files))
				offset := rng.Int64N(pointers[i].Size)
				ctx, cancel := context.WithCancel(t.Context())
				if chance(4) {
					time.AfterFunc(time.Duration(rng.IntN(2000))*time.Microsecond, cancel)
				}
				got, err := f.Read(ctx, pointers[i], offset, rng.Int64N(4<<20))
				switch {
				case err == nil && (len(got) == 0 || !bytes.HasPrefix(files[i][offset:], got)):
					t.Errorf("%d wrong bytes", len(got))
				case err != nil && !errors.Is(err, blob.ErrUnavailable) && ctx.Err() == nil:
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	s.Fault(nil)
	for i, p := range pointers {
		expectFile(t, f, p, files[i])
	}
	f.Close()
}
