package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// fetch is one request, for one piece or for several blocks.
type fetch struct {
	cancel context.CancelFunc

	// Guarded by Files.mu:
	flights []*flight
	waiting int // readers
}

// flight is a piece on its way; body and err are set when done is closed.
type flight struct {
	piece
	fetch *fetch
	done  chan struct{}
	body  []byte
	err   error
}

// errAgain: the fetch ended for a reason that says nothing about the piece. Who needs it tries on his own.
var errAgain = errors.New("fetch again")

// load returns the first of some pieces. If it must be fetched, so are those that follow it and are missing.
func (f *Files) load(ctx context.Context, pieces []piece) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if body, ok := f.kept.get(pieces[0]); ok {
			return body, nil
		}
		fl, err := f.join(ctx, pieces)
		if err != nil {
			return nil, err
		}
		if body, err := f.wait(ctx, fl); err != errAgain {
			return body, err
		}
	}
}

// join waits for a piece together with others, or begins to fetch it.
func (f *Files) join(ctx context.Context, pieces []piece) (*flight, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("read files: %w", fs.ErrClosed)
	}
	fl := f.flights[pieces[0]]
	if fl == nil {
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		fl = f.take(&fetch{cancel: cancel}, pieces[0])
		f.running.Go(func() {
			defer cancel()
			f.run(ctx, fl, pieces)
		})
	}
	fl.fetch.waiting++
	return fl, nil
}

// take makes a flight. It is called with mu held.
func (f *Files) take(ft *fetch, p piece) *flight {
	fl := &flight{piece: p, fetch: ft, done: make(chan struct{})}
	ft.flights = append(ft.flights, fl)
	f.flights[p] = fl
	return fl
}

func (f *Files) wait(ctx context.Context, fl *flight) ([]byte, error) {
	select {
	case <-fl.done:
		f.leave(fl.fetch, false)
		return fl.body, fl.err
	case <-ctx.Done():
		f.leave(fl.fetch, true)
		return nil, ctx.Err()
	}
}

// leave ends the waiting of a reader. When the last one is gone for good, so is the fetch, and nobody joins it any more.
func (f *Files) leave(ft *fetch, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ft.waiting--
	if !gone || ft.waiting > 0 {
		return
	}
	ft.cancel()
	for _, fl := range ft.flights {
		f.forget(fl)
	}
}

// forget is called with mu held.
func (f *Files) forget(fl *flight) {
	if f.flights[fl.piece] == fl {
		delete(f.flights, fl.piece)
	}
}

// land ends a flight. What is proven is kept before, so that nobody fetches it again.
func (f *Files) land(fl *flight, body []byte, err error) {
	f.mu.Lock()
	f.forget(fl)
	f.mu.Unlock()
	fl.body, fl.err = body, err
	close(fl.done)
}

// run gets the piece of a flight, and those after it that are missing. An error is that of the piece it came up at.
func (f *Files) run(ctx context.Context, fl *flight, pieces []piece) {
	if body, ok := f.kept.load(fl.piece); ok {
		f.land(fl, body, nil)
		return
	}
	flights := f.claim(ctx, fl, pieces)
	landed, err := f.fetch(ctx, flights)
	if ctx.Err() != nil {
		err = errAgain
	}
	for _, fl := range flights[landed:] {
		f.land(fl, nil, err)
		err = errAgain
	}
}

// claim makes flights for the pieces after the first, up to one that is kept or on its way.
func (f *Files) claim(ctx context.Context, first *flight, pieces []piece) []*flight {
	n := 1
	for n < len(pieces) && !f.kept.has(pieces[n]) {
		n++
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range pieces[1:n] {
		if _, landed := f.kept.get(p); landed || f.flights[p] != nil || ctx.Err() != nil {
			break
		}
		f.take(first.fetch, p)
	}
	return slices.Clone(first.fetch.flights)
}

// fetch makes one request for flights that follow each other, and lands each as soon as it is proven. It says how many
// did.
func (f *Files) fetch(ctx context.Context, flights []*flight) (landed int, err error) {
	first, last := flights[0].piece, flights[len(flights)-1].piece
	store, key, pin, err := f.place(ctx, first)
	if err != nil {
		return 0, err
	}
	length := last.offset() + last.size - first.offset()
	if last.ends() {
		length = -1 // to see what follows, which should be nothing
	}
	r, err := store.Open(ctx, key, pin, first.offset(), length)
	if err != nil {
		return 0, named(store, key, err)
	}
	defer r.Close()
	for i, fl := range flights {
		body, err := readPiece(r, fl.piece)
		if err != nil {
			return i, named(store, key, err)
		}
		f.kept.put(fl.piece, body)
		f.land(fl, body, nil)
	}
	return len(flights), nil
}

// place is the object that a piece is of.
func (f *Files) place(ctx context.Context, p piece) (store Store, key string, pin Pin, err error) {
	if p.n != listPiece {
		store, key, err = f.find(ctx, p.of)
		return store, key, p.of.Pin, err
	}
	if f.o.Store == nil {
		return nil, "", pin, ErrNoStore
	}
	return f.o.Store, Key(p.sum), pin, nil
}
