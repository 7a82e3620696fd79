package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/dir"
	"github.com/chromafs/chromafs/blob/s3"
	"github.com/chromafs/chromafs/cache"
	"github.com/chromafs/chromafs/config"
)

// buckets opens buckets, each once. It is safe for concurrent use.
type buckets struct {
	config.S3

	mu   sync.Mutex
	open map[string]*s3.Bucket
}

func newBuckets(c config.Config) *buckets {
	return &buckets{S3: c.S3, open: map[string]*s3.Bucket{}}
}

// at opens s3://BUCKET/PREFIX.
func (b *buckets) at(ctx context.Context, uri string) (*s3.Bucket, error) {
	name, prefix, err := s3.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	return b.get(ctx, name, prefix)
}

// origin finds the object s3://BUCKET/KEY.
func (b *buckets) origin(ctx context.Context, uri string) (blob.Store, string, error) {
	name, key, err := s3.ParseURI(uri)
	if err == nil && key == "" {
		err = fmt.Errorf("%s names no object", uri)
	}
	if err != nil {
		return nil, "", err
	}
	bucket, err := b.get(ctx, name, "")
	if err != nil {
		return nil, "", err
	}
	return bucket, key, nil
}

func (b *buckets) get(ctx context.Context, name, prefix string) (*s3.Bucket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := name + "/" + prefix
	if found, ok := b.open[id]; ok {
		return found, nil
	}
	bucket, err := s3.Open(ctx, s3.Options{Bucket: name, Prefix: prefix, Endpoint: b.Endpoint, Region: b.Region, PathStyle: b.PathStyle})
	if err != nil {
		return nil, err
	}
	b.open[id] = bucket
	return bucket, nil
}

// blobsToWrite is where ingest keeps lazy files: nil where nothing was named, with a Chroma server. uri is what readers
// are told of it.
func blobsToWrite(ctx context.Context, c config.Config, b *buckets) (store blob.Store, uri string, err error) {
	folder := c.BlobFolder()
	switch {
	case config.IsBucket(c.Blobs):
		bucket, err := b.at(ctx, c.Blobs)
		if err != nil {
			return nil, "", fmt.Errorf("--blobs: %w", err)
		}
		return bucket, bucket.URI(""), nil
	case folder == "":
		return nil, "", nil
	}
	return dir.New(folder), "", nil
}

// blobsToRead is where readers of a tree find its lazy files: what was named here, else what the tree says. It is nil where
// neither says anything.
func blobsToRead(ctx context.Context, c config.Config, b *buckets, published string) (blob.Store, error) {
	place := cmp.Or(c.Blobs, published)
	folder := c.BlobFolder()
	switch {
	case config.IsBucket(place):
		return b.at(ctx, place)
	case folder == "":
		return nil, nil
	}
	return dir.New(folder), nil
}

// The words for a cache folder that is none.
const (
	cacheAuto = "auto"
	cacheNone = "none"
)

// openCache opens the folder that keeps what was read from S3; nil for none. That of the user is not missed where there
// can't be one.
func openCache(c config.Config) (*cache.Disk, error) {
	folder := c.CacheDir
	switch folder {
	case cacheNone, "":
		return nil, nil
	case cacheAuto:
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, nil
		}
		folder = filepath.Join(user, "chromafs")
	}
	disk, err := cache.OpenDisk(folder, c.CacheBytes)
	if err != nil && c.CacheDir != cacheAuto {
		return nil, fmt.Errorf("--cache-dir: %w", err)
	}
	return disk, nil
}
