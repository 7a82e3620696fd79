package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/s3/s3test"
	"github.com/chromafs/chromafs/cache"
	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// lazyRun is what ingest says of lazy files, in JSON.
type lazyRun struct {
	Snapshot  string
	Published bool
	Changed   bool
	Sent      int
	Lazy      []struct {
		Path, Reason, URI string
		Size              int64
	}
}

// onS3 are flags of a new collection whose lazy files and snapshots are in a new bucket.
func onS3(t *testing.T, server *s3test.Server) (flags []string, bucket string) {
	t.Helper()
	settings := newCollection(t)
	bucket = server.NewBucket(t)
	t.Setenv("CHROMAFS_S3_ENDPOINT", server.Endpoint)
	return []string{"--chroma", settings.Chroma, "--collection", settings.Collection, "--config", emptyConfig(t),
		"--access-default", "public", "--snapshot", "s3://" + bucket + "/published", "--blobs", "s3://" + bucket + "/blobs"}, bucket
}

func ingestJSON(t *testing.T, dir string, flags []string) (run lazyRun) {
	t.Helper()
	out := command(t, append([]string{"ingest", dir, "--format", "json"}, flags...)...)
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	return run
}

// The large API descriptions of a real site, in a real bucket: listed with their sizes for nothing, read whole and proven,
// and never sent twice.
func TestOpenAPIOnS3(t *testing.T) {
	server := s3test.Start(t)
	dir := filepath.Join(corpora.Dir(t, "openapi-specs"), "openai")
	flags, bucket := onS3(t, server)
	first := ingestJSON(t, dir, flags)
	if len(first.Lazy) != 2 || first.Sent != 2 || first.Lazy[0].Size != 3_396_665 || first.Lazy[1].Size != 2_970_649 {
		t.Fatalf("the first ingest: %+v", first)
	}
	if again := ingestJSON(t, dir, flags); again.Sent != 0 || again.Changed {
		t.Errorf("the second ingest: %+v", again)
	}
	for _, extra := range [][]string{nil, {"--no-fetch"}} {
		out := command(t, append(append([]string{"verify", dir}, extra...), flags...)...)
		if want := len(extra) == 0; strings.Contains(out, "fetched and compared") != want || strings.Contains(out, "not fetched") == want {
			t.Errorf("verify %v: %s", extra, out)
		}
	}
	readFromS3(t, dir, flags, bucket)
}

// readFromS3 reads as a reader does that knows the collection and the bucket of the snapshot alone.
func readFromS3(t *testing.T, dir string, flags []string, bucket string) {
	t.Helper()
	c := config.Config{Chroma: flags[1], Collection: flags[3], Snapshot: "s3://" + bucket + "/published",
		S3: config.S3{Endpoint: os.Getenv("CHROMAFS_S3_ENDPOINT"), PathStyle: true}}
	store, err := openStore(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b := newBuckets(c)
	at, err := location(t.Context(), c, store, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := at.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := blobsToRead(t.Context(), c, b, p.Tree.Header().Blobs)
	if err != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	for _, gone := range []bool{false, true} {
		disk, err := cache.OpenDisk(kept, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		o := blob.FilesOptions{Store: objects, Disk: disk}
		if gone {
			o.Store = nil // what was read before is kept
		}
		files := blob.NewFiles(o)
		fsys := vfs.New(p.Tree, store, access.Viewer{}, vfs.Options{Published: p.At, Blobs: files})
		for _, name := range []string{"openapi.json", "openapi.yaml"} {
			want, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := fs.ReadFile(fsys, name); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, object gone %v: %d bytes, %v", name, gone, len(got), err)
			}
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is wrong with an object is told by path and object, and mended by what the remedy says.
func TestVerifyOnS3(t *testing.T) {
	server := s3test.Start(t)
	flags, bucket := onS3(t, server)
	dir := filepath.Join(t.TempDir(), "docs")
	write(t, dir, "openapi.json", `{"openapi": "3.1.0", "x": "`+strings.Repeat("y", 70_000)+`"}`)
	write(t, dir, "page.md", "# Page\n")
	ingestJSON(t, dir, flags)
	b := newBuckets(config.Config{S3: config.S3{Endpoint: server.Endpoint, PathStyle: true}})
	objects, err := b.at(t.Context(), "s3://"+bucket+"/blobs")
	if err != nil {
		t.Fatal(err)
	}
	tree := loadTree(t, b, bucket)
	key := blob.Key(tree.At(0).SHA256)
	verify := append([]string{"verify", dir}, flags...)
	if err := objects.Delete(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	out, err := attempt(t, verify...)
	if !errors.Is(err, errDifferent) || !strings.Contains(out, "openapi.json") || !strings.Contains(out, objects.URI(key)) || !strings.Contains(out, "not found") {
		t.Errorf("the object is gone: %v\n%s", err, out)
	}
	if run := ingestJSON(t, dir, flags); run.Sent != 1 {
		t.Errorf("a lost object: %+v", run)
	}
	command(t, verify...)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	if out, err := attempt(t, verify...); !errors.Is(err, blob.ErrDenied) {
		t.Errorf("wrong credentials: %v\n%s", err, out)
	}
}

func loadTree(t *testing.T, b *buckets, bucket string) *snapshot.Tree {
	t.Helper()
	objects, err := b.at(t.Context(), "s3://"+bucket+"/published")
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&snapshot.Bucket{Objects: objects}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p.Tree
}

// A pointer is listed as a file, proven as one, and an error once the object is another.
func TestPointerOnS3(t *testing.T) {
	server := s3test.Start(t)
	flags, bucket := onS3(t, server)
	server.KeepVersions(t, bucket)
	specs, err := newBuckets(config.Config{S3: config.S3{Endpoint: server.Endpoint, PathStyle: true}}).at(t.Context(), "s3://"+bucket+"/specs")
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		old, _, err := specs.Get(t.Context(), "full.json", "")
		etag := ""
		if err == nil {
			_ = old.Close()
			info, err := specs.Stat(t.Context(), "full.json", blob.Pin{})
			if err != nil {
				t.Fatal(err)
			}
			etag = info.ETag
		}
		if _, err := specs.Write(t.Context(), "full.json", []byte(text), etag); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"openapi": "3.1.0"}`)
	dir := t.TempDir()
	write(t, dir, "page.md", "# Page\n")
	settings := filepath.Join(t.TempDir(), "chromafs.yaml")
	text := fmt.Sprintf("lazy:\n  pointers:\n    api/full.json: s3://%s/specs/full.json\naccess: {rules: [{path: api, allow: public}]}\n", bucket)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	flags = append(flags, "--config", settings)
	run := ingestJSON(t, dir, flags)
	if len(run.Lazy) != 1 || run.Lazy[0].Path != "api/full.json" || run.Lazy[0].Size != 20 || run.Sent != 0 {
		t.Fatalf("%+v", run)
	}
	verify := append([]string{"verify", dir}, flags...)
	command(t, verify...)
	put(`{"openapi": "3.2.0"}`)
	command(t, verify...) // the version that was pinned is still there
	if run := ingestJSON(t, dir, flags); !run.Changed {
		t.Errorf("another object: %+v", run)
	}
	command(t, verify...)
	if err := specs.Delete(t.Context(), "full.json"); err != nil {
		t.Fatal(err)
	}
	if out, err := attempt(t, append([]string{"ingest", dir}, flags...)...); err == nil || !strings.Contains(strings.Join(describe(err, 1), "\n"), `chromafs.yaml" line 3`) {
		t.Errorf("the object is gone: %v\n%s", err, out)
	}
}

// Two ingests of the same site that meet: each time one publishes, and the other says so and changes nothing.
func TestPublishersOnS3(t *testing.T) {
	server := s3test.Start(t)
	flags, bucket := onS3(t, server)
	b := newBuckets(config.Config{S3: config.S3{Endpoint: server.Endpoint, PathStyle: true}})
	var conflicts atomic.Int32
	first := t.TempDir()
	write(t, first, "page.md", "# Page\n")
	ingestJSON(t, first, flags)
	for round := range 4 {
		var published [2]string
		var group sync.WaitGroup
		for k := range published {
			dir := t.TempDir()
			write(t, dir, "page.md", fmt.Sprintf("# Page %d of round %d\n", k, round))
			group.Go(func() {
				out, err := attempt(t, append([]string{"ingest", dir, "--format", "json"}, flags...)...)
				var run lazyRun
				switch {
				case errors.Is(err, snapshot.ErrConflict):
					conflicts.Add(1)
				case err != nil:
					t.Errorf("ingest: %v", err)
				case json.Unmarshal([]byte(out), &run) != nil:
					t.Errorf("ingest prints %s", out)
				default:
					published[k] = run.Snapshot
				}
			})
		}
		group.Wait()
		if now := loadTree(t, b, bucket).Digest(); now != published[0] && now != published[1] {
			t.Errorf("round %d: %s is published, by nobody of %v", round, now, published)
		}
	}
	t.Logf("%d conflicts", conflicts.Load())
}

// An unchanged snapshot costs a reader one request, and a new process too, by what the cache keeps.
func TestListFromS3(t *testing.T) {
	server := s3test.Start(t)
	flags, bucket := onS3(t, server)
	dir := t.TempDir()
	write(t, dir, "page.md", "# Page\n")
	ingestJSON(t, dir, flags)
	kept := t.TempDir()
	list := append([]string{"access", "list", "--cache-dir", kept}, flags[:6]...)
	list = append(list, "--snapshot", "s3://"+bucket+"/published")
	for range 2 {
		if out := command(t, list...); out != "page.md\n" {
			t.Errorf("list prints %q", out)
		}
	}
	if names, err := filepath.Glob(filepath.Join(kept, "*.path-tree.json.gz*")); err != nil || len(names) != 1 {
		t.Errorf("kept is %v, %v", names, err)
	}
}
