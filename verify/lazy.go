package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/snapshot"
)

// compareLazies proves of every lazy file that readers get the folder's bytes, or with NoFetch, that its object is there. A
// storage that can't be reached keeps nothing else from being compared.
func (r *run) compareLazies(ctx context.Context) error {
	for _, i := range r.lazies {
		r.report.Lazy++
		r.report.LazyBytes += r.tree.At(i).Size
	}
	progress := r.counter("lazy files", len(r.lazies))
	var next, fetched atomic.Int64
	var storages outages
	g, ctx := errgroup.WithContext(ctx)
	for range min(workers(), len(r.lazies)) {
		s := lazyScan{run: r, outages: &storages}
		s.open(ctx)
		g.Go(func() error {
			for k := int(next.Add(1)) - 1; k < len(r.lazies); k = int(next.Add(1)) - 1 {
				read, err := s.file(ctx, r.lazies[k])
				if err != nil {
					return err
				}
				if read {
					fetched.Add(1)
				}
				progress()
			}
			return nil
		})
	}
	err := g.Wait()
	r.report.Fetched = int(fetched.Load())
	return err
}

// lazyScan is one worker's way through lazy files.
type lazyScan struct {
	*run
	*outages
	held    held
	viewing []viewing
}

func (s *lazyScan) open(ctx context.Context) {
	session := s.serve(ctx, s.store, &s.held, noCache)
	for _, v := range s.viewers {
		s.viewing = append(s.viewing, viewing{v, session(v.Viewer)})
	}
}

// file compares entry i; read says whether all of it was fetched.
func (s *lazyScan) file(ctx context.Context, i int) (read bool, err error) {
	e := s.tree.At(i)
	if !s.pointed(e.Path) {
		if err := s.compareOnDisk(i, e); err != nil {
			return false, err
		}
	}
	err = s.object(ctx, e)
	var head []byte
	if err == nil && !s.NoFetch {
		head, err = s.content(e)
		read = err == nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		s.findings.put(s.broken(e, err))
	}
	s.note(e.Pointer(), err)
	s.openAs(i, head)
	return read, nil
}

// compareOnDisk holds the tree's size and digest to the file.
func (s *lazyScan) compareOnDisk(i int, e snapshot.Entry) error {
	f, err := os.Open(s.onDisk(e.Path))
	if err != nil {
		return fmt.Errorf("read the docs folder: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	switch {
	case err != nil:
		return fmt.Errorf("read the docs folder: %w", err)
	case [32]byte(sum.Sum(nil)) != e.SHA256:
		s.stale(i, size)
	case size != e.Size:
		s.wrongSize(e, size)
	}
	return nil
}

// object asks for the object, and reads nothing of it.
func (s *lazyScan) object(ctx context.Context, e snapshot.Entry) error {
	if s.over(e.Pointer()) {
		return errOver
	}
	return s.blobs.Check(ctx, e.Pointer())
}

// content reads the file as readers do, all of it and then pieces. The head is nil where it is not the one published, which
// is a finding; the error is that of a read.
func (s *lazyScan) content(e snapshot.Entry) (head []byte, err error) {
	f, err := s.fsys.Open(e.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := newCapture(e.Size)
	if _, err := io.Copy(c, f); err != nil {
		return nil, err
	}
	if c.size != e.Size || [32]byte(c.sum.Sum(nil)) != e.SHA256 {
		s.findings.add(KindContent, e.Path, fmt.Sprintf("readers get %d bytes that are not the file published, of %d", c.size, e.Size))
		return nil, nil
	}
	r, ok := f.(io.ReaderAt)
	if !ok {
		s.findings.add(KindContent, e.Path, "can't be read from the middle")
		return c.pieces[0].text, nil
	}
	for _, p := range c.pieces {
		got := make([]byte, len(p.text))
		n, err := r.ReadAt(got, p.at)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if !bytes.Equal(got[:n], p.text) {
			s.findings.add(KindContent, e.Path, fmt.Sprintf("a read of %d bytes at %d gives others than a read of the whole", len(got), p.at))
		}
	}
	return c.pieces[0].text, nil
}

// pieceBytes is the length of what is read on its own.
const pieceBytes = 4 << 10

// capture takes a stream, and keeps its digest and a few pieces.
type capture struct {
	size   int64
	sum    hash.Hash
	pieces []piece // the first is the beginning
}

type piece struct {
	at   int64
	text []byte
}

// newCapture is for a file of size bytes. Of one that is fetched in blocks it keeps the end too, and what is around a border.
func newCapture(size int64) *capture {
	c := &capture{sum: sha256.New()}
	places := []int64{0}
	if size > blob.WholeBytes {
		border := size / 2 / blob.BlockBytes * blob.BlockBytes
		places = append(places, border-pieceBytes/2, size-pieceBytes)
	}
	for _, at := range places {
		c.pieces = append(c.pieces, piece{at, make([]byte, min(pieceBytes, size-at))})
	}
	return c
}

func (c *capture) Write(p []byte) (int, error) {
	for _, piece := range c.pieces {
		from := max(piece.at, c.size)
		to := min(piece.at+int64(len(piece.text)), c.size+int64(len(p)))
		if from < to {
			copy(piece.text[from-piece.at:], p[from-c.size:to-c.size])
		}
	}
	c.size += int64(len(p))
	return c.sum.Write(p)
}
