package verify

import (
	"context"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// Reader is what readers get.
type Reader = reader

// RunWith is Run with every viewer's session replaced; all is the operator's.
func RunWith(ctx context.Context, store index.Store, location snapshot.Location, o Options, replace func(v access.Viewer, own, all Reader) Reader) (*Report, error) {
	r := start(store, o)
	serve := r.serve
	r.serve = func(ctx context.Context, chunks vfs.Chunks, blobs vfs.Blobs, cache int64) func(access.Viewer) reader {
		session := serve(ctx, chunks, blobs, cache)
		return func(v access.Viewer) reader { return replace(v, session(v), session(operator)) }
	}
	return r.run(ctx, location)
}
