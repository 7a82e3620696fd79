package s3_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/s3"
)

// newServer is a server until the end of the test.
func newServer(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// What is between here and S3, and answers everything with a page of its own, has stored nothing and holds nothing.
func TestNotS3(t *testing.T) {
	url := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>log in first</html>")
	})
	b := at(t, url, func(*s3.Options) {})
	for name, operation := range operations {
		if name != "delete" {
			check(t, name, operation(t.Context(), b), blob.ErrUnavailable)
		}
	}
}

// A page that is not there, where an S3 server was thought to be, says nothing about objects.
func TestNotFoundByOthers(t *testing.T) {
	b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<!DOCTYPE html><html><body>no such page<br></body></html>")
	})
	for name, operation := range operations {
		if name != "stat" { // an answer to HEAD has no page
			check(t, name, operation(t.Context(), b), blob.ErrUnavailable)
		}
	}
}

// An answer without a length may be cut anywhere.
func TestNoLength(t *testing.T) {
	b := faulty(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "01234")
		_ = http.NewResponseController(w).Flush()
	})
	for _, name := range []string{"open", "get"} {
		check(t, name, operations[name](t.Context(), b), blob.ErrUnavailable)
	}
}

// A pin holds with a server that doesn't look at it.
func TestPinIsIgnored(t *testing.T) {
	b := faulty(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Version-Id", "two")
		w.Header().Set("Content-Length", "5")
		fmt.Fprint(w, "01234")
	})
	cases := []struct {
		pin  blob.Pin
		want error
	}{
		{blob.Pin{ETag: `"some"`, Version: "two"}, nil}, {blob.Pin{ETag: `W/"some"`}, nil},
		{blob.Pin{ETag: `"other"`}, blob.ErrChanged}, {blob.Pin{Version: "one"}, blob.ErrChanged},
	}
	for _, c := range cases {
		_, stat := b.Stat(t.Context(), "key", c.pin)
		body, open := b.Open(t.Context(), "key", c.pin, 0, -1)
		if open == nil {
			body.Close()
		}
		if !errors.Is(stat, c.want) || !errors.Is(open, c.want) {
			t.Errorf("%+v: stat %v, open %v, want %v", c.pin, stat, open, c.want)
		}
	}
}

// A redirect is told, not followed: what is signed goes to nobody else.
func TestRedirects(t *testing.T) {
	var elsewhere atomic.Int32
	other := newServer(t, func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) })
	for _, status := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Location", other)
			w.WriteHeader(status)
		})
		for name, operation := range operations {
			check(t, fmt.Sprintf("%s, %d", name, status), operation(t.Context(), b), blob.ErrRegion)
		}
	}
	if elsewhere.Load() != 0 {
		t.Errorf("%d requests to elsewhere", elsewhere.Load())
	}
}

// Who gives credentials may say "not found" too: it is not the object that is meant.
func TestNoRole(t *testing.T) {
	roles := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "100")
		fmt.Fprint(w, "token")
	})
	b := at(t, "http://127.0.0.1:1", func(*s3.Options) {})
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "false")
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", roles)
	b, err := s3.Open(t.Context(), b.Options)
	if err != nil {
		t.Fatal(err)
	}
	for name, operation := range operations {
		err := operation(t.Context(), b)
		check(t, name, err, blob.ErrDenied)
		if !strings.Contains(fmt.Sprint(err), "no credentials found") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Content is read once, and not asked for again when it fails.
func TestContentIsReadOnce(t *testing.T) {
	var requests atomic.Int32
	b := faulty(t, func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
	})
	data := blobtest.Bytes(1<<20, 1)
	content := blobtest.ContentOf(data)
	for _, want := range []error{nil, blob.ErrDigest} {
		requests.Store(0)
		opened, got := 0, data
		if want != nil {
			got = bytes.Repeat([]byte{1}, len(data))
		}
		content.Open = func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(bytes.NewReader(got)), nil
		}
		if err := b.Put(t.Context(), "key", content, true); !errors.Is(err, want) || opened != 1 || requests.Load() > 1 {
			t.Errorf("opened %d times for %d requests, %v", opened, requests.Load(), err)
		}
	}
}

func TestPrefixEndsWithSlash(t *testing.T) {
	b := at(t, "http://127.0.0.1:1", func(o *s3.Options) { o.Prefix = "a/b/" })
	if uri := b.URI("key"); uri != "s3://bucket/a/b/key" {
		t.Error(uri)
	}
}
