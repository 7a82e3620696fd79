package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/cache"
	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/chroma"
	"github.com/chromafs/chromafs/index/sqlite"
	"github.com/chromafs/chromafs/snapshot"
)

// openStore opens the configured store. A reader makes nothing.
func openStore(ctx context.Context, c config.Config, write bool) (index.Store, error) {
	if c.Chroma != "" {
		return chroma.Open(ctx, chroma.Options{
			URL: c.Chroma, Collection: c.Collection, Create: write,
			Token: c.Token, Tenant: c.Tenant, Database: c.Database,
		})
	}
	return sqlite.Open(ctx, c.IndexPath(), sqlite.Options{ReadOnly: !write})
}

// location is where snapshots are published: a folder, a bucket, the collection, or one of the first two that the collection
// follows. What is kept of a bucket's snapshots is nil for a writer.
func location(ctx context.Context, c config.Config, store index.Store, b *buckets, kept *cache.Disk) (snapshot.Location, error) {
	var place snapshot.Location = &snapshot.Folder{Dir: c.SnapshotFolder(), Site: c.Site}
	if config.IsBucket(c.Snapshot) {
		objects, err := b.at(ctx, c.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("--snapshot: %w", err)
		}
		bucket := &snapshot.Bucket{Objects: objects, Site: c.Site}
		if kept != nil {
			bucket.Kept = kept
		}
		place = bucket
	}
	if c.Chroma == "" {
		return place, nil
	}
	collection := &snapshot.Collection{Store: store, Site: c.Site, DocumentQuota: documentQuota(c.Chroma)}
	if c.Snapshot == "" {
		return collection, nil
	}
	return snapshot.Mirror{Authority: place, Follower: collection}, nil
}

// pinned is the default that the published snapshot pinned; nil if nothing is published, or it is everyone. It makes nothing.
func pinned(ctx context.Context, c config.Config) (*access.Access, error) {
	var store index.Store
	if c.Chroma != "" {
		var err error
		if store, err = openStore(ctx, c, false); errors.Is(err, index.ErrNoCollection) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
		defer store.Close()
	}
	at, err := location(ctx, c, store, newBuckets(c), nil)
	if err != nil {
		return nil, err
	}
	p, others, err := snapshot.LoadAll(ctx, at)
	if err != nil && !errors.Is(err, snapshot.ErrNone) {
		return nil, err
	}
	if p != nil {
		others = append(others, p)
	}
	for _, o := range others {
		if a := o.Tree.Header().Default; !a.Public {
			return &a, nil
		}
	}
	return nil, nil
}

// serverQuota is far below the 40 MiB that a server of one's own takes as a request.
const serverQuota = 16 << 20

// documentQuota is how long a document the server takes; 0 is the quota of Chroma Cloud.
func documentQuota(server string) int {
	if chroma.IsCloud(server) {
		return 0
	}
	return serverQuota
}

// errInside: what is published would be indexed as documentation the next time.
var errInside = errors.New("lies inside the documentation folder")

// checkOutside refuses a store, a snapshot or a blob folder inside dir, unless it is below a name that begins with a dot, which
// is not indexed.
func checkOutside(dir string, c config.Config) error {
	for flag, folder := range map[string]string{"--store": c.Store, "--snapshot": c.Snapshot, "--blobs": c.Blobs} {
		if folder == "" || config.IsBucket(folder) || (flag == "--store" && c.Chroma != "") {
			continue
		}
		rel, err := relative(dir, folder)
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(rel, ".") || strings.Contains(rel, string(filepath.Separator)+".")
		if !hidden || rel == "." {
			return fmt.Errorf("%s %s %w %s", flag, folder, errInside, dir)
		}
	}
	return nil
}

// relative is the path of folder as seen from dir; one that leaves dir begins with two dots.
func relative(dir, folder string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}
