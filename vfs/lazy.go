package vfs

import (
	"context"
	"fmt"
	"io"

	"github.com/chromafs/chromafs/blob"
)

// lazy returns bytes of lazy file i from offset on, as Blobs.Read does.
func (s *Shared) lazy(ctx context.Context, i int, offset, want int64) ([]byte, error) {
	e := s.tree.At(i)
	if offset >= e.Size {
		return nil, io.EOF
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.blobs == nil {
		return nil, asIO(ctx, fmt.Errorf("lazy file %q: %w", e.Path, blob.ErrNoStore))
	}
	body, err := s.blobs.Read(ctx, e.Pointer(), offset, want)
	switch {
	case err == io.EOF || err == nil && (len(body) == 0 || int64(len(body)) > e.Size-offset):
		return nil, asIO(ctx, fmt.Errorf("lazy file %q: %w", e.Path, ErrAltered))
	case err != nil:
		return nil, asIO(ctx, fmt.Errorf("lazy file %q: %w", e.Path, err))
	}
	return body, nil
}

// readFile is the whole content of file i, which the caller may change.
func (s *Shared) readFile(ctx context.Context, i int) ([]byte, error) {
	if !s.tree.IsLazy(i) {
		body, err := s.page(ctx, i)
		if err != nil {
			return nil, err
		}
		return append([]byte{}, body...), nil
	}
	size := s.tree.At(i).Size
	out := make([]byte, 0, min(size, maxReserve))
	for int64(len(out)) < size {
		part, err := s.lazy(ctx, i, int64(len(out)), size-int64(len(out)))
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	return out, nil
}
