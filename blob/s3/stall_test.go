package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/s3"
)

// stalling is a bucket whose server says nothing more once it has done what begin does.
func stalling(t *testing.T, begin http.HandlerFunc, change func(*s3.Options)) *s3.Bucket {
	t.Helper()
	done := make(chan struct{})
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		begin(w, r)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-done:
		}
	})
	t.Cleanup(func() { close(done) }) // before the server is closed, which waits for its answers
	return at(t, server, change)
}

// An answer that stops in its middle is given up, whoever reads it.
func TestAnswerStalls(t *testing.T) {
	for _, name := range []string{"open", "get"} {
		b := stalling(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"a"`)
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "01234")
		}, func(o *s3.Options) { o.Attempts = 1 })
		var body io.ReadCloser
		var err error
		if name == "open" {
			body, err = b.Open(t.Context(), "key", blob.Pin{}, 0, -1)
		} else {
			body, _, err = b.Get(t.Context(), "key", "")
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		check(t, name, err, blob.ErrUnavailable)
		if string(got) != "01234" || !strings.Contains(fmt.Sprint(err), "no progress") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		body.Close()
	}
}

// A server that takes no more of what it is sent is given up: of a whole object, of a part, and of what is written.
func TestUploadStalls(t *testing.T) {
	data := blobtest.Bytes(32<<20, 1) // more than what is under way between two ends
	deaf := func(parts int64) *s3.Bucket {
		return stalling(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 1)) },
			func(o *s3.Options) { o.Attempts, o.MultipartBytes = 2, parts })
	}
	check(t, "put", deaf(1<<30).Put(t.Context(), "key", blobtest.ContentOf(data), true), blob.ErrUnavailable)
	_, err := deaf(0).Write(t.Context(), "key", data, "")
	check(t, "write", err, blob.ErrUnavailable)

	var begun, parts, aborted atomic.Int32
	done := make(chan struct{})
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost && begun.Add(1) > 0:
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPut && parts.Add(1) > 0:
			<-done
		case r.Method == http.MethodDelete && r.URL.Query().Get("uploadId") == "u":
			aborted.Add(1)
			w.WriteHeader(http.StatusNoContent)
		}
	})
	t.Cleanup(func() { close(done) })
	b := at(t, server, func(o *s3.Options) { o.Attempts, o.MultipartBytes, o.PartBytes = 2, 1, 16<<20 })
	check(t, "parts", b.Put(t.Context(), "key", blobtest.ContentOf(data), true), blob.ErrUnavailable)
	if begun.Load() != 1 || parts.Load() != 2 || aborted.Load() != 1 {
		t.Errorf("%d uploads, %d tries of a part, %d uploads ended", begun.Load(), parts.Load(), aborted.Load())
	}
}

// Who is slow to read, or to give what is sent, is no reason to give up.
func TestSlowCaller(t *testing.T) {
	data := blobtest.Bytes(8<<20, 1)
	var requests atomic.Int32
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"a"`)
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data)
		}
	})
	b := at(t, server, func(*s3.Options) {})
	body, err := b.Open(t.Context(), "key", blob.Pin{}, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	time.Sleep(2 * b.Stall)
	if n, err := io.Copy(io.Discard, body); err != nil || n != int64(len(data)) {
		t.Errorf("%d bytes, %v", n, err)
	}
	content := blobtest.ContentOf(data)
	open := content.Open
	content.Open = func() (io.ReadCloser, error) {
		time.Sleep(2 * b.Stall)
		return open()
	}
	if err := b.Put(t.Context(), "key", content, true); err != nil {
		t.Error(err)
	}
	if requests.Load() != 2 {
		t.Errorf("%d requests", requests.Load())
	}
}
