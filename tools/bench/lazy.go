package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/s3"
	"github.com/chromafs/chromafs/cache"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// bucketName is that of the bench's own server.
const bucketName = "chromafs-bench"

// s3Server is an S3 server of the bench's own, with one bucket.
type s3Server struct {
	url    string
	cmd    *exec.Cmd
	data   string
	client *awss3.Client
}

func (b *bench) startS3(ctx context.Context) (*s3Server, error) {
	script := filepath.Join(b.root, "scripts", "services")
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	data, err := b.fresh()
	if err != nil {
		return nil, err
	}
	s := &s3Server{url: fmt.Sprintf("http://127.0.0.1:%d", port), data: data, cmd: exec.Command(script, "s3", fmt.Sprint(port), data)}
	if err := s.setenv(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.client = awss3.NewFromConfig(settings, func(o *awss3.Options) { o.BaseEndpoint, o.UsePathStyle = &s.url, true })
	name := bucketName
	for range 6000 { // the server is built first, where it is not yet
		if resp, err := http.Get(s.url + "/health"); err == nil {
			resp.Body.Close()
			_, err := s.client.CreateBucket(ctx, &awss3.CreateBucketInput{Bucket: &name})
			return s, err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("the S3 server did not start"), s.stop())
}

// setenv lets this process and the commands that it starts in, and keeps the machine's own configuration out.
func (s *s3Server) setenv() error {
	for name, value := range map[string]string{
		"CHROMAFS_S3_ENDPOINT": s.url, "AWS_ACCESS_KEY_ID": "chromafs-test", "AWS_SECRET_ACCESS_KEY": "chromafs-test-secret", "AWS_REGION": "us-east-1",
		"AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func (s *s3Server) stop() error {
	return errors.Join(s.cmd.Process.Kill(), waited(s.cmd), os.RemoveAll(s.data))
}

// waited waits for a process that was killed.
func waited(cmd *exec.Cmd) error {
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		return err
	}
	return nil
}

// lazyFlags are those of an ingest with lazy files and snapshot in the bench's bucket.
func lazyFlags(store string) []string {
	return []string{"--store", store, "--snapshot", "s3://" + bucketName + "/published", "--blobs", "s3://" + bucketName + "/blobs"}
}

// openLazy ingests the OpenAI specs and returns what a reader has of them.
func (b *bench) openLazy(ctx context.Context) (*snapshot.Published, *s3.Bucket, error) {
	dir, err := b.corpus("openapi-specs")
	if err != nil {
		return nil, nil, err
	}
	store, err := b.fresh()
	if err != nil {
		return nil, nil, err
	}
	if _, err := b.chromafs(ctx, append([]string{"ingest", dir + "/openai"}, lazyFlags(store)...)...); err != nil {
		return nil, nil, err
	}
	options := s3.Options{Bucket: bucketName, Prefix: "published", Endpoint: os.Getenv("CHROMAFS_S3_ENDPOINT"), PathStyle: true}
	at, err := s3.Open(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	p, err := (&snapshot.Bucket{Objects: at}).Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	options.Prefix = "blobs"
	objects, err := s3.Open(ctx, options)
	return p, objects, err
}

// catLazy compares the first read of the larger OpenAI spec, with a cache on disk and nothing in it, with a bare
// GetObject of the same object.
func catLazy(ctx context.Context, b *bench) (float64, string, error) {
	return b.lazyReads(ctx, func(cold, _, floor time.Duration) (float64, string) {
		return ratio(cold, floor), fmt.Sprintf("%s / %s, 3.4 MB", ms(cold), ms(floor))
	})
}

// catLazyAgain compares the second read of it, by a process that begins with what the first left on disk.
func catLazyAgain(ctx context.Context, b *bench) (float64, string, error) {
	return b.lazyReads(ctx, func(_, warm, floor time.Duration) (float64, string) {
		return ratio(warm, floor), fmt.Sprintf("%s / %s, 3.4 MB", ms(warm), ms(floor))
	})
}

// lazyRounds is how many reads of each kind take turns; each takes milliseconds.
const lazyRounds = 10

func (b *bench) lazyReads(ctx context.Context, result func(cold, warm, floor time.Duration) (float64, string)) (value float64, detail string, err error) {
	server, err := b.startS3(ctx)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	p, objects, err := b.openLazy(ctx)
	if err != nil {
		return 0, "", err
	}
	var kept string
	cold := func() (time.Duration, error) {
		if kept, err = b.fresh(); err != nil {
			return 0, err
		}
		return readLazy(ctx, p, objects, kept)
	}
	i, _ := p.Tree.Find("openapi.json")
	floor := func() (time.Duration, error) { return server.bareGet(ctx, "blobs/"+blob.Key(p.Tree.At(i).SHA256)) }
	coldTime, floorTime, err := alternate(b.rounds*lazyRounds, cold, floor)
	if err != nil {
		return 0, "", err
	}
	warmTime, _, err := alternate(b.rounds*lazyRounds, func() (time.Duration, error) { return readLazy(ctx, p, objects, kept) }, floor)
	value, detail = result(coldTime, warmTime, floorTime)
	return value, detail, err
}

// readLazy is one read by a reader of its own, up to the last byte. What goes to disk then has its time, but is awaited.
func readLazy(ctx context.Context, p *snapshot.Published, objects *s3.Bucket, kept string) (time.Duration, error) {
	disk, err := cache.OpenDisk(kept, 1<<30)
	if err != nil {
		return 0, err
	}
	files := blob.NewFiles(blob.FilesOptions{Store: objects, Disk: disk})
	fsys := vfs.New(p.Tree, nil, access.Viewer{}, vfs.Options{Published: p.At, Blobs: files}).WithContext(ctx)
	start := time.Now()
	f, err := fsys.Open("openapi.json")
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, f)
	took := time.Since(start)
	if err == nil && n < 3_000_000 {
		err = fmt.Errorf("%d bytes", n)
	}
	return took, errors.Join(err, f.Close(), files.Close())
}

// bareGet reads an object with nothing but the client.
func (s *s3Server) bareGet(ctx context.Context, key string) (time.Duration, error) {
	name := bucketName
	start := time.Now()
	out, err := s.client.GetObject(ctx, &awss3.GetObjectInput{Bucket: &name, Key: &key})
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, out.Body)
	return time.Since(start), errors.Join(err, out.Body.Close())
}

// lazyMemory is the memory of an ingest that sends a made-up API description of 300 MB.
func lazyMemory(ctx context.Context, b *bench) (value float64, detail string, err error) {
	server, err := b.startS3(ctx)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	dir, err := b.fresh()
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	if err := writeSpec(filepath.Join(dir, "openapi.json"), 300_000_000); err != nil {
		return 0, "", err
	}
	store, err := b.fresh()
	if err != nil {
		return 0, "", err
	}
	start := time.Now()
	peak, err := b.peakMemory(ctx, append([]string{"ingest", dir}, lazyFlags(store)...)...)
	return float64(peak) / 1e6, fmt.Sprintf("MB, one spec of 300 MB sent in %.1f s", time.Since(start).Seconds()), err
}

// writeSpec makes an API description of about size bytes, in lines.
func writeSpec(name string, size int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = f.WriteString("{\"openapi\": \"3.1.0\", \"components\": {\"schemas\": {\n")
	for at, i := 0, 0; at < size && err == nil; i++ {
		var n int
		n, err = fmt.Fprintf(f, "\"Schema%07d\": {\"type\": \"object\", \"description\": %q, \"$ref\": \"#/components/schemas/Other\"},\n", i, strings.Repeat("text ", 20))
		at += n
	}
	if err == nil {
		_, err = f.WriteString("\"Last\": {}\n}}}\n")
	}
	return errors.Join(err, f.Close())
}
