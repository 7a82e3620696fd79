package vfs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/chromafs/chromafs/snapshot"
)

// batchIDs bounds the ids of one Documents call, so that a large page neither makes a huge request nor a huge answer.
const batchIDs = 256

// maxReserve bounds the memory that is set aside on the word of the tree alone.
const maxReserve = 16 << 20

// What a ContentError wraps.
var (
	// ErrMissing: the store has no record of a chunk.
	ErrMissing = errors.New("chunk missing")
	// ErrExtra: the store answered with a record that was not asked for.
	ErrExtra = errors.New("chunk not asked for")
	// ErrAltered: the chunks are all there, but are not the file.
	ErrAltered = errors.New("content altered")
)

// ContentError says that the store does not hold the page that the tree names.
type ContentError struct {
	Page   string
	Chunk  int // from 0; -1 where a page of several chunks can only be judged whole
	ID     string
	Detail string
	Err    error // ErrMissing, ErrExtra or ErrAltered
}

func (e *ContentError) Error() string {
	text := fmt.Sprintf("page %q", e.Page)
	if e.Chunk >= 0 {
		text += fmt.Sprintf(" chunk %d", e.Chunk)
	}
	text += ": " + e.Err.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *ContentError) Unwrap() error { return e.Err }

// errAbandoned marks a fetch that ended because the reader it ran for went away.
var errAbandoned = errors.New("fetch abandoned")

// ioError makes whatever keeps content from being read syscall.EIO too.
type ioError struct{ error }

func (e ioError) Unwrap() error        { return e.error }
func (e ioError) Is(target error) bool { return target == syscall.EIO }

// asIO leaves the end of a context alone, which is the reader's own.
func asIO(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return ioError{err}
}

// page is the checked content of file i, shared by all readers. Readers of one page at one time fetch it once; each
// waits as long as its own context lasts.
func (s *Shared) page(ctx context.Context, i int) ([]byte, error) {
	rev := s.tree.Rev(i)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if body, ok := s.pages.Get(rev); ok {
			return body, nil
		}
		answer := s.flights.DoChan(rev, func() (any, error) { return s.fetch(ctx, i, rev) })
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r := <-answer:
			if errors.Is(r.Err, errAbandoned) {
				continue // the reader whose context it was has gone: fetch on our own
			}
			body, _ := r.Val.([]byte)
			return body, asIO(ctx, r.Err)
		}
	}
}

func (s *Shared) fetch(ctx context.Context, i int, rev string) ([]byte, error) {
	if body, ok := s.pages.Get(rev); ok {
		return body, nil // another fetch ended since this reader looked
	}
	e := s.tree.At(i)
	body, err := s.join(ctx, e, rev)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", errAbandoned, err)
	}
	if err != nil {
		return nil, err
	}
	s.pages.Put(rev, body, int64(len(body)))
	return body, nil
}

// join reads the chunks of e batch by batch, stops at the first that can't be right, and checks the whole.
func (s *Shared) join(ctx context.Context, e snapshot.Entry, rev string) ([]byte, error) {
	body := make([]byte, 0, min(e.Size, maxReserve))
	for from := 0; from < e.Chunks; from += batchIDs {
		ids := make([]string, 0, batchIDs)
		for k := from; k < min(from+batchIDs, e.Chunks); k++ {
			ids = append(ids, snapshot.RecordID(rev, k))
		}
		docs, err := s.chunks.Documents(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("fetch page %q: %w", e.Path, err)
		}
		if body, err = appendChunks(body, e, from, ids, docs); err != nil {
			return nil, err
		}
	}
	if int64(len(body)) != e.Size {
		return nil, altered(e, rev, fmt.Sprintf("%d bytes instead of %d", len(body), e.Size))
	}
	if sha256.Sum256(body) != e.SHA256 {
		return nil, altered(e, rev, "wrong sha256")
	}
	return body, nil
}

// appendChunks adds the documents of ids, which are the chunks of e from number from on.
func appendChunks(body []byte, e snapshot.Entry, from int, ids []string, docs map[string]string) ([]byte, error) {
	for k, id := range ids {
		doc, ok := docs[id]
		if !ok {
			return nil, &ContentError{Page: e.Path, Chunk: from + k, ID: id, Err: ErrMissing}
		}
		if from+k > 0 {
			body = append(body, '\n')
		}
		body = append(body, doc...)
		if int64(len(body)) > e.Size {
			return nil, altered(e, id, fmt.Sprintf("more than %d bytes by chunk %d", e.Size, from+k))
		}
	}
	if len(docs) > len(ids) {
		id := unasked(ids, docs)
		return nil, &ContentError{Page: e.Path, Chunk: -1, ID: id, Detail: fmt.Sprintf("record %q", id), Err: ErrExtra}
	}
	return body, nil
}

// unasked is the first id of docs that is not one of ids.
func unasked(ids []string, docs map[string]string) string {
	var extra []string
	for id := range docs {
		if !slices.Contains(ids, id) {
			extra = append(extra, id)
		}
	}
	return slices.Min(extra)
}

func altered(e snapshot.Entry, id, detail string) error {
	chunk := -1
	if e.Chunks == 1 {
		chunk = 0
	}
	return &ContentError{Page: e.Path, Chunk: chunk, ID: id, Detail: detail, Err: ErrAltered}
}
