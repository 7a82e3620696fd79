package main

import (
	"context"
	"net/url"
	"os"
	"strings"

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
	if write {
		if err := os.MkdirAll(c.StoreFolder(), 0o777); err != nil {
			return nil, err
		}
	}
	return sqlite.Open(ctx, c.IndexPath(), sqlite.Options{ReadOnly: !write})
}

// location is where snapshots are published: a folder, the collection, or a folder that the collection follows.
func location(c config.Config, store index.Store) snapshot.Location {
	collection := &snapshot.Collection{Store: store, Site: c.Site, DocumentQuota: documentQuota(c.Chroma)}
	switch {
	case c.Chroma == "":
		return &snapshot.Folder{Dir: c.SnapshotFolder(), Site: c.Site}
	case c.Snapshot == "":
		return collection
	}
	return snapshot.Mirror{Authority: &snapshot.Folder{Dir: c.Snapshot, Site: c.Site}, Follower: collection}
}

// serverQuota is far below the 40 MiB that a server of one's own takes as a request.
const serverQuota = 16 << 20

// documentQuota is how long a document the server takes; 0 is the quota of Chroma Cloud.
func documentQuota(server string) int {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "trychroma.com" || strings.HasSuffix(u.Hostname(), ".trychroma.com") {
		return 0
	}
	return serverQuota
}
