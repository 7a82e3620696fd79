package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob/s3"
	"github.com/chromafs/chromafs/blob/s3/s3test"
	"github.com/chromafs/chromafs/snapshot"
)

var (
	_   snapshot.Objects = (*s3.Bucket)(nil)
	day                  = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// numbered is a tree that no other number has.
func numbered(t *testing.T, n int) *snapshot.Tree {
	t.Helper()
	e := snapshot.Entry{Path: fmt.Sprintf("page-%d.md", n), Access: access.Everyone(), Size: 1, SHA256: [32]byte{1}, Chunks: 1}
	tree, err := snapshot.New(snapshot.Header{Collection: "docs", Site: "v2"}, []snapshot.Entry{e})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func openS3(t *testing.T, s *s3test.Server, bucket string) *s3.Bucket {
	t.Helper()
	o := s.Options(bucket)
	o.Prefix = "docs/site"
	b, err := s3.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func keyOf(tree *snapshot.Tree) string {
	return "sites/v2/" + strings.TrimPrefix(tree.Digest(), "s1:") + ".path-tree.json.gz"
}

// want loads what is published and retiring.
func want(t *testing.T, b *snapshot.Bucket, published *snapshot.Tree, retiring ...*snapshot.Tree) *snapshot.Published {
	t.Helper()
	p, err := b.Load(t.Context())
	if err != nil || p.Digest != published.Digest() || p.Tree.Digest() != p.Digest {
		t.Fatalf("published %+v, error %v", p, err)
	}
	var digests []string
	for _, r := range retiring {
		digests = append(digests, r.Digest())
	}
	if got, err := b.Retiring(t.Context()); err != nil || !slices.Equal(got, digests) {
		t.Fatalf("retiring %q, want %q, error %v", got, digests, err)
	}
	return p
}

// A real server means by its conditions what Bucket means, and so does one that keeps versions.
func TestBucketOnS3(t *testing.T) {
	server := s3test.Start(t)
	for _, versions := range []bool{false, true} {
		t.Run(fmt.Sprintf("versions %v", versions), func(t *testing.T) {
			name := server.NewBucket(t)
			if versions {
				server.KeepVersions(t, name)
			}
			objects := openS3(t, server, name)
			lifeOfABucket(t, objects)
			if !versions { // versitygw takes a delete marker for an object, and lets nothing be written where it is
				publishDeleted(t, objects)
			}
		})
	}
}

func lifeOfABucket(t *testing.T, objects *s3.Bucket) {
	ctx := t.Context()
	a, b, c := numbered(t, 0), numbered(t, 1), numbered(t, 2)
	open := func() *snapshot.Bucket { return &snapshot.Bucket{Objects: objects, Site: "v2"} }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	first, late := open(), open()
	if _, err := late.Load(ctx); !errors.Is(err, snapshot.ErrNone) {
		t.Fatalf("load nothing: %v", err)
	}
	must(first.Publish(ctx, a, day))
	if err := late.Publish(ctx, b, day); !errors.Is(err, snapshot.ErrConflict) || !strings.Contains(err.Error(), objects.URI("sites/v2/current.json")) {
		t.Errorf("publish over what came meanwhile: %v", err)
	}
	reader := open()
	p := want(t, reader, a)
	if again := want(t, reader, a); again != p {
		t.Error("an unchanged snapshot was read again")
	}
	must(first.Publish(ctx, b, day.Add(time.Hour)))
	want(t, reader, b, a)

	_, etag, err := objects.Get(ctx, keyOf(b), "")
	must(err)
	_, err = objects.Write(ctx, keyOf(b), []byte("damage"), etag)
	must(err)
	if _, err := open().Load(ctx); !errors.Is(err, snapshot.ErrMalformed) {
		t.Errorf("load damage: %v", err)
	}
	must(open().Publish(ctx, b, day))
	want(t, open(), b, a)

	must(first.Retired(ctx, a.Digest()))
	must(first.Retired(ctx, a.Digest()))
	if _, err := open().Open(ctx, a.Digest()); !errors.Is(err, snapshot.ErrMissing) {
		t.Errorf("open what is retired: %v", err)
	}
	must(first.Publish(ctx, c, day))
	if err := reader.Publish(ctx, numbered(t, 3), day); !errors.Is(err, snapshot.ErrConflict) {
		t.Errorf("publish over what came meanwhile: %v", err)
	}
	want(t, reader, c, b)
	must(reader.Publish(ctx, numbered(t, 3), day))
	want(t, open(), numbered(t, 3), b, c)
}

// publishDeleted publishes what was retired before.
func publishDeleted(t *testing.T, objects *s3.Bucket) {
	b := &snapshot.Bucket{Objects: objects, Site: "v2"}
	if err := b.Publish(t.Context(), numbered(t, 0), day); err != nil {
		t.Fatal(err)
	}
	want(t, &snapshot.Bucket{Objects: objects, Site: "v2"}, numbered(t, 0), numbered(t, 1), numbered(t, 2), numbered(t, 3))
}

// Of writers that write at the same time the server lets one win.
func TestBucketRaceOnS3(t *testing.T) {
	const rounds, writers = 12, 4
	server := s3test.Start(t)
	objects := openS3(t, server, server.NewBucket(t))
	var retiring []*snapshot.Tree
	for round := range rounds {
		var seen, done sync.WaitGroup
		seen.Add(writers)
		errs := make([]error, writers)
		for w := range writers {
			b, tree := &snapshot.Bucket{Objects: objects, Site: "v2"}, numbered(t, round*writers+w)
			done.Go(func() {
				_, err := b.Load(context.Background())
				seen.Done()
				seen.Wait()
				if errs[w] = err; err == nil || errors.Is(err, snapshot.ErrNone) {
					errs[w] = b.Publish(context.Background(), tree, day)
				}
			})
		}
		done.Wait()
		won := slices.Index(errs, nil)
		for w, err := range errs {
			if won < 0 || w != won && !errors.Is(err, snapshot.ErrConflict) {
				t.Fatalf("round %d: errors %v", round, errs)
			}
		}
		winner := numbered(t, round*writers+won)
		want(t, &snapshot.Bucket{Objects: objects, Site: "v2"}, winner, retiring...)
		retiring = append(retiring, winner)
	}
}
