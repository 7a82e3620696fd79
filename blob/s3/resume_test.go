package s3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
)

// object serves ranges of text under an ETag, and cuts every answer after so many bytes.
type object struct {
	text     []byte
	cut      int
	etag     func(request int) string
	requests atomic.Int32
}

func (o *object) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	etag := o.etag(int(o.requests.Add(1)))
	if match := r.Header.Get("If-Match"); match != "" && match != etag {
		answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	}
	from, status := 0, http.StatusOK
	if ranges := r.Header.Get("Range"); ranges != "" {
		from, _ = strconv.Atoi(strings.TrimSuffix(strings.SplitN(strings.TrimPrefix(ranges, "bytes="), "-", 2)[0], "-"))
		status = http.StatusPartialContent
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(o.text)-1, len(o.text)))
	}
	w.Header().Set("ETag", etag)
	w.Header().Set("Content-Length", strconv.Itoa(len(o.text)-from))
	w.WriteHeader(status)
	_, _ = w.Write(o.text[from:min(len(o.text), from+o.cut)])
	if from+o.cut < len(o.text) {
		panic(http.ErrAbortHandler)
	}
}

// An answer that breaks off goes on where it stopped, of the same object.
func TestResume(t *testing.T) {
	text := blobtest.Bytes(100_000, 1)
	same := &object{text: text, cut: 30_000, etag: func(int) string { return `"a"` }}
	r, err := faulty(t, same.ServeHTTP).Open(t.Context(), "key", blob.Pin{}, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, text) || same.requests.Load() < 4 {
		t.Errorf("%d bytes after %d requests, %v", len(got), same.requests.Load(), err)
	}
	other := &object{text: text, cut: 30_000, etag: func(n int) string { return strconv.Itoa(n) }}
	r, err = faulty(t, other.ServeHTTP).Open(t.Context(), "key", blob.Pin{}, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	check(t, "replaced meanwhile", err, blob.ErrChanged)
	if !bytes.HasPrefix(text, got) {
		t.Error("bytes of two objects")
	}
	never := &object{text: text, etag: func(int) string { return `"a"` }}
	r, err = faulty(t, never.ServeHTTP).Open(t.Context(), "key", blob.Pin{}, 0, -1)
	if err == nil {
		_, err = io.ReadAll(r)
	}
	check(t, "never a byte", err, blob.ErrUnavailable)
	if never.requests.Load() > 3 {
		t.Errorf("%d requests for nothing", never.requests.Load())
	}
}

// An answer that is another range than the one asked for is not taken for it.
func TestWrongRange(t *testing.T) {
	b := faulty(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "0123456789") })
	_, err := b.Open(t.Context(), "key", blob.Pin{}, 5, 3)
	check(t, "open", err, blob.ErrUnavailable)
}

// An object of the right size that S3 itself knows to be another is not held.
func TestHoldsByChecksum(t *testing.T) {
	for sum, want := range map[string]bool{"": true, "mC2eGeYyzuERs0zFGU9ywLPbdhuT+YrGGb5eICsc46k=": false} {
		b := faulty(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"a"`)
			w.Header().Set("Content-Length", "4")
			if sum != "" {
				w.Header().Set("X-Amz-Checksum-Sha256", sum)
			}
		})
		if held, err := blob.Holds(t.Context(), b, blobtest.ContentOf([]byte("text"))); err != nil || held != want {
			t.Errorf("checksum %q: held %v, %v", sum, held, err)
		}
	}
}

// A cache between that says that an object is as it was, to who has not asked so, gives no object.
func TestNotModifiedUnasked(t *testing.T) {
	b := faulty(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) })
	body, _, err := b.Get(t.Context(), "key", "")
	if err == nil {
		body.Close()
		t.Error("no error")
	}
	body, etag, err := b.Get(t.Context(), "key", `"a"`)
	if body != nil || etag != `"a"` || err != nil {
		t.Errorf("%v %s %v", body, etag, err)
	}
}
