package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
)

// flight is a piece on its way; body and err are set when done is closed.
type flight struct {
	done chan struct{}
	body []byte
	err  error
}

// errAbandoned: the reader that fetched the piece for all went away.
var errAbandoned = errors.New("fetch abandoned")

// once returns what is kept under a digest, or lets one of those who want it at this time fetch it.
func (f *Files) once(ctx context.Context, sum [32]byte, fetch func() ([]byte, error)) ([]byte, error) {
	for {
		if body, ok := f.get(sum); ok {
			return body, nil
		}
		mine, others := f.claim([][32]byte{sum})
		if others != nil {
			if body, err := others.wait(ctx); err != errAbandoned {
				return body, err
			}
			continue
		}
		if body, ok := f.get(sum); ok { // another flight ended since this reader looked
			f.land(sum, mine[0], body, nil)
			return body, nil
		}
		body, err := fetch()
		if err == nil {
			f.keep(sum, body)
		}
		f.land(sum, mine[0], body, abandoned(ctx, err))
		return body, err
	}
}

// claim makes flights for digests, up to the first that is on its way already. If the very first is, that flight is
// returned instead.
func (f *Files) claim(sums [][32]byte) (mine []*flight, others *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, sum := range sums {
		if known := f.flights[sum]; known != nil {
			if len(mine) == 0 {
				return nil, known
			}
			return mine, nil
		}
		f.flights[sum] = &flight{done: make(chan struct{})}
		mine = append(mine, f.flights[sum])
	}
	return mine, nil
}

// land ends a flight. What is proven is kept before, so that nobody fetches it again.
func (f *Files) land(sum [32]byte, fl *flight, body []byte, err error) {
	f.mu.Lock()
	delete(f.flights, sum)
	f.mu.Unlock()
	fl.body, fl.err = body, err
	close(fl.done)
}

func (fl *flight) wait(ctx context.Context) ([]byte, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-fl.done:
		return fl.body, fl.err
	}
}

// abandoned is what others learn of an error that may be that of this reader's own context.
func abandoned(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errAbandoned
	}
	return err
}

// listBytes is the size of the block list of a file.
func listBytes(size int64) int64 { return (size + BlockBytes - 1) / BlockBytes * sha256.Size }

// blocked is a file with its block list.
type blocked struct {
	Pointer
	list []byte
}

func (b blocked) sum(k int) [32]byte { return [32]byte(b.list[k*sha256.Size:]) }

// size is that of block k.
func (b blocked) size(k int) int64 { return min(BlockBytes, b.Size-int64(k)*BlockBytes) }

// block returns block k. If that is not kept, it fetches up to n blocks from there on, as far as they are neither kept nor
// on their way.
func (f *Files) block(ctx context.Context, b blocked, k, n int) ([]byte, error) {
	for {
		if body, ok := f.get(b.sum(k)); ok {
			return body, nil
		}
		sums := [][32]byte{b.sum(k)}
		for len(sums) < n {
			if _, ok := f.get(b.sum(k + len(sums))); ok {
				break
			}
			sums = append(sums, b.sum(k+len(sums)))
		}
		mine, others := f.claim(sums)
		if others != nil {
			if body, err := others.wait(ctx); err != errAbandoned {
				return body, err
			}
			continue
		}
		if body, ok := f.get(b.sum(k)); ok { // another flight ended since this reader looked
			for i, fl := range mine {
				f.land(sums[i], fl, nil, errAbandoned)
			}
			return body, nil
		}
		return f.fetchBlocks(ctx, b, k, mine)
	}
}

// fetchBlocks fetches a block for each flight, from block k on, and lands each as soon as it is proven.
func (f *Files) fetchBlocks(ctx context.Context, b blocked, k int, mine []*flight) (first []byte, err error) {
	landed := 0
	defer func() {
		for i, fl := range mine[landed:] {
			f.land(b.sum(k+landed+i), fl, nil, abandoned(ctx, err))
		}
	}()
	store, key, err := f.find(ctx, b.Pointer)
	if err != nil {
		return nil, err
	}
	from, end := int64(k)*BlockBytes, min(b.Size, int64(k+len(mine))*BlockBytes)
	length := end - from
	if end == b.Size {
		length = -1 // to see what follows, which should be nothing
	}
	r, err := store.Open(ctx, key, b.Pin, from, length)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for i, fl := range mine {
		body, err := readBlock(r, b.size(k+i), b.sum(k+i))
		if err == nil && i == len(mine)-1 && end == b.Size {
			err = atEnd(r)
		}
		if err != nil {
			err = named(store, key, err)
			if i > 0 && ctx.Err() == nil {
				// The block that was asked for is proven; whoever needs this one sees for himself.
				f.landRest(b, k, mine, &landed)
				return first, nil
			}
			return nil, err
		}
		f.keep(b.sum(k+i), body)
		f.land(b.sum(k+i), fl, body, nil)
		if landed++; i == 0 {
			first = body
		}
	}
	return first, nil
}

// landRest lets those who wait for the flights that did not land fetch on their own.
func (f *Files) landRest(b blocked, k int, mine []*flight, landed *int) {
	for i := *landed; i < len(mine); i++ {
		f.land(b.sum(k+i), mine[i], nil, errAbandoned)
	}
	*landed = len(mine)
}

func readBlock(r io.Reader, size int64, sum [32]byte) ([]byte, error) {
	body := make([]byte, size)
	switch _, err := io.ReadFull(r, body); {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return nil, ErrShort
	case err != nil:
		return nil, err
	case sha256.Sum256(body) != sum:
		return nil, ErrDigest
	}
	return body, nil
}

// atEnd fails if anything follows.
func atEnd(r io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return ErrTrailing
	case err != io.EOF:
		return err
	}
	return nil
}
