package s3_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/s3"
	"github.com/chromafs/chromafs/blob/s3/s3test"
)

func open(t *testing.T, o s3.Options) *s3.Bucket {
	t.Helper()
	b, err := s3.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A real server's refusals mean the same as those of the other tests.
func TestRefusals(t *testing.T) {
	server := s3test.Start(t)
	o := server.Options(server.NewBucket(t))
	if err := open(t, o).Put(t.Context(), "key", blobtest.ContentOf([]byte("text")), false); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		change func(*s3.Options)
		want   error
	}{
		{"wrong secret", func(*s3.Options) { t.Setenv("AWS_SECRET_ACCESS_KEY", testSecret) }, blob.ErrDenied},
		{"no bucket", func(o *s3.Options) { o.Bucket = "test-nobody-made-this" }, blob.ErrNotFound},
		{"other region", func(o *s3.Options) { o.Region = "eu-west-9" }, blob.ErrRegion},
	}
	for _, c := range cases {
		for name, value := range server.Env() {
			t.Setenv(name, value)
		}
		changed := o
		c.change(&changed)
		b := open(t, changed)
		for name, operation := range operations {
			err := operation(t.Context(), b)
			switch {
			case name == "delete" && c.want == blob.ErrNotFound:
				continue // that is no error
			case name == "stat" && c.want == blob.ErrRegion && err != nil:
				continue // an answer to HEAD has no name for it
			case !errors.Is(err, c.want) || !strings.HasPrefix(fmt.Sprint(err), "s3://"+changed.Bucket+"/key: ") && name != "delete":
				t.Errorf("%s, %s: %v, want %v", c.name, name, err, c.want)
			}
			for _, secret := range []string{server.Secret, testSecret, testKey, "Signature=", "Credential="} {
				if strings.Contains(fmt.Sprint(err), secret) {
					t.Errorf("%s, %s: the error holds %q: %v", c.name, name, secret, err)
				}
			}
		}
	}
}

// A bucket that keeps versions still has the one that is pinned when another took its place.
func TestVersions(t *testing.T) {
	server := s3test.Start(t)
	bucket := server.NewBucket(t)
	server.KeepVersions(t, bucket)
	b := open(t, server.Options(bucket))
	put := func(text string) blob.Info {
		t.Helper()
		if err := b.Put(t.Context(), "key", blobtest.ContentOf([]byte(text)), true); err != nil {
			t.Fatal(err)
		}
		info, err := b.Stat(t.Context(), "key", blob.Pin{})
		if err != nil || info.Version == "" || info.SHA256 == nil || *info.SHA256 != sha256.Sum256([]byte(text)) {
			t.Fatalf("%+v, %v", info, err)
		}
		return info
	}
	one, two := put("one"), put("other")
	cases := []struct {
		pin  blob.Pin
		text string
		want error
	}{
		{blob.Pin{Version: one.Version}, "one", nil}, {blob.Pin{Version: one.Version, ETag: one.ETag}, "one", nil},
		{blob.Pin{Version: two.Version}, "other", nil}, {blob.Pin{}, "other", nil},
		{blob.Pin{Version: one.Version, ETag: two.ETag}, "", blob.ErrChanged}, {blob.Pin{ETag: one.ETag}, "", blob.ErrChanged},
	}
	for _, c := range cases {
		info, stat := b.Stat(t.Context(), "key", c.pin)
		body, err := b.Open(t.Context(), "key", c.pin, 0, -1)
		var got []byte
		if err == nil {
			got, err = io.ReadAll(body)
			body.Close()
		}
		if !errors.Is(err, c.want) || !errors.Is(stat, c.want) || string(got) != c.text || info.Size != int64(len(c.text)) {
			t.Errorf("%+v: %q %v, %+v %v", c.pin, got, err, info, stat)
		}
	}
}

// Of writers that all hold the same ETag one wins, and the others know.
func TestRacedWrites(t *testing.T) {
	b := s3test.Bucket(t)
	etag := ""
	for round := range 5 {
		type result struct {
			data []byte
			etag string
			err  error
		}
		results := make(chan result)
		for i := range 4 {
			go func() {
				data := fmt.Appendf(nil, "%d by %d", round, i)
				etag, err := b.Write(t.Context(), "pointer", data, etag)
				results <- result{data, etag, err}
			}()
		}
		var won []result
		for range 4 {
			if r := <-results; r.err == nil {
				won = append(won, r)
			} else if !errors.Is(r.err, blob.ErrChanged) {
				t.Error(r.err)
			}
		}
		if len(won) != 1 {
			t.Fatalf("round %d: %d writers won", round, len(won))
		}
		etag = won[0].etag
		body, now, err := b.Get(t.Context(), "pointer", "")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		body.Close()
		if err != nil || now != etag || !bytes.Equal(got, won[0].data) {
			t.Errorf("round %d: %q with %s, %v; %q with %s was written", round, got, now, err, won[0].data, etag)
		}
		if body, same, err := b.Get(t.Context(), "pointer", etag); body != nil || same != etag || err != nil {
			t.Errorf("round %d: unchanged, %v %s %v", round, body, same, err)
		}
	}
}

// zeros is content of so many bytes that nobody holds.
func zeros(t *testing.T, size int64) blob.Content {
	t.Helper()
	hash := sha256.New()
	if _, err := io.CopyN(hash, readerFunc(clearAll), size); err != nil {
		t.Fatal(err)
	}
	return blob.Content{Size: size, SHA256: [32]byte(hash.Sum(nil)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.LimitReader(readerFunc(clearAll), size)), nil
	}}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func clearAll(p []byte) (int, error) { clear(p); return len(p), nil }

// What is sent goes through little memory, in one request or in parts, and a failed upload leaves no parts.
func TestLargeContent(t *testing.T) {
	server := s3test.Start(t)
	bucket := server.NewBucket(t)
	const size = 60 << 20
	content := zeros(t, size)
	for name, parts := range map[string]int64{"one request": 64 << 20, "parts": 5 << 20} {
		o := server.Options(bucket)
		o.MultipartBytes, o.PartBytes = parts, 5<<20
		b := open(t, o)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := b.Put(t.Context(), name, content, false)
		runtime.ReadMemStats(&after)
		info, stat := b.Stat(t.Context(), name, blob.Pin{})
		if err != nil || stat != nil || info.Size != size || info.SHA256 != nil && *info.SHA256 != content.SHA256 {
			t.Errorf("%s: %v, %+v %v", name, err, info, stat)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 15<<20 {
			t.Errorf("%s: %d bytes of memory for %d", name, used, size)
		}

		broken, failing := errors.New("broken disk"), content
		failing.Open = func() (io.ReadCloser, error) {
			var read atomic.Int64
			return io.NopCloser(readerFunc(func(p []byte) (int, error) {
				if read.Add(int64(len(p))) > size/2 {
					return 0, broken
				}
				return clearAll(p)
			})), nil
		}
		if err := b.Put(t.Context(), "failed "+name, failing, false); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := b.Stat(t.Context(), "failed "+name, blob.Pin{}); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("%s: what failed is there: %v", name, err)
		}
	}
	left, err := server.Client().ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: &bucket})
	if err != nil || len(left.Uploads) > 0 {
		t.Errorf("%d uploads are left, %v", len(left.Uploads), err)
	}
}
