package s3_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/s3"
)

// The credentials of these tests, which no error may repeat.
const (
	testKey    = "AKIATESTTESTTESTTEST"
	testSecret = "verysecretverysecretverysecret"
)

// faulty is a bucket behind a server that does what a real one won't on demand. What it stores has an ETag, as all has in S3.
func faulty(t *testing.T, handler http.HandlerFunc) *s3.Bucket {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"some"`)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return at(t, server.URL, func(*s3.Options) {})
}

// at is a bucket at an endpoint, with little patience.
func at(t *testing.T, endpoint string, change func(*s3.Options)) *s3.Bucket {
	t.Helper()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": testKey, "AWS_SECRET_ACCESS_KEY": testSecret, "AWS_REGION": "", "AWS_SESSION_TOKEN": "",
		"AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull, "AWS_EC2_METADATA_DISABLED": "true"} {
		t.Setenv(name, value)
	}
	o := s3.Options{Bucket: "bucket", Endpoint: endpoint, PathStyle: true, Attempts: 3, Backoff: time.Millisecond, Stall: 300 * time.Millisecond}
	change(&o)
	b, err := s3.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// answer is what S3 says of an error.
func answer(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s signed by %s</Message><StringToSign>%s</StringToSign></Error>", code, code, testKey, testSecret)
}

// operations are all that a bucket can do.
var operations = map[string]func(context.Context, *s3.Bucket) error{
	"stat": func(ctx context.Context, b *s3.Bucket) error {
		_, err := b.Stat(ctx, "key", blob.Pin{})
		return err
	},
	"open": func(ctx context.Context, b *s3.Bucket) error {
		r, err := b.Open(ctx, "key", blob.Pin{}, 0, -1)
		if err == nil {
			_, err = io.ReadAll(r)
			r.Close()
		}
		return err
	},
	"put": func(ctx context.Context, b *s3.Bucket) error {
		return b.Put(ctx, "key", blobtest.ContentOf([]byte("text")), true)
	},
	"get": func(ctx context.Context, b *s3.Bucket) error {
		r, _, err := b.Get(ctx, "key", "")
		if err == nil {
			r.Close()
		}
		return err
	},
	"write": func(ctx context.Context, b *s3.Bucket) error {
		_, err := b.Write(ctx, "key", []byte("text"), "")
		return err
	},
	"delete": func(ctx context.Context, b *s3.Bucket) error { return b.Delete(ctx, "key") },
}

// check holds an error to what every error about an object has, and to what it may not have.
func check(t *testing.T, what string, err, want error) {
	t.Helper()
	var object *blob.Error
	if !errors.Is(err, want) || !errors.As(err, &object) || object.URI != "s3://bucket/key" {
		t.Errorf("%s: %v; want %v of s3://bucket/key", what, err, want)
		return
	}
	for _, secret := range []string{testKey, testSecret, "Signature=", "Authorization:", "Credential="} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error holds %q: %v", what, secret, err)
		}
	}
	if strings.ContainsAny(err.Error(), "\n<") || len(err.Error()) > 250 {
		t.Errorf("%s: the error is no line for people: %q", what, err)
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		status int
		code   string
		want   error
	}{
		{404, "NoSuchKey", blob.ErrNotFound}, {404, "NoSuchBucket", blob.ErrNotFound},
		{403, "AccessDenied", blob.ErrDenied}, {403, "InvalidAccessKeyId", blob.ErrDenied}, {403, "SignatureDoesNotMatch", blob.ErrDenied},
		{400, "ExpiredToken", blob.ErrDenied}, {401, "Whatever", blob.ErrDenied},
		{412, "PreconditionFailed", blob.ErrChanged}, {409, "ConditionalRequestConflict", blob.ErrChanged},
		{301, "PermanentRedirect", blob.ErrRegion}, {400, "AuthorizationHeaderMalformed", blob.ErrRegion},
		{403, "RequestTimeTooSkewed", blob.ErrClock},
		{500, "InternalError", blob.ErrUnavailable}, {503, "SlowDown", blob.ErrUnavailable}, {429, "TooManyRequests", blob.ErrUnavailable},
		{502, "<html>" + strings.Repeat("bad gateway ", 500), blob.ErrUnavailable},
	}
	for _, c := range cases {
		b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-9")
			if c.want != blob.ErrRegion {
				w.Header().Del("X-Amz-Bucket-Region")
			}
			answer(w, c.status, c.code)
		})
		for name, operation := range operations {
			if name == "delete" && c.want == blob.ErrNotFound {
				continue // that is no error
			}
			want := c.want
			if name == "put" && want == blob.ErrChanged {
				want = blob.ErrUnavailable // it replaces on no condition
			}
			err := operation(t.Context(), b)
			check(t, fmt.Sprintf("%s, %d %.20s", name, c.status, c.code), err, want)
			if c.want == blob.ErrRegion && !strings.Contains(fmt.Sprint(err), "eu-west-9") {
				t.Errorf("%s: the region is not named: %v", name, err)
			}
		}
	}
}

func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // nobody listens there now
	b := at(t, "http://"+l.Addr().String(), func(*s3.Options) {})
	for name, operation := range operations {
		err := operation(t.Context(), b)
		check(t, name, err, blob.ErrUnavailable)
		if !strings.Contains(fmt.Sprint(err), "refused") {
			t.Errorf("%s: %v does not say why", name, err)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	b := faulty(t, func(http.ResponseWriter, *http.Request) { t.Error("a request without credentials") })
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	b, err := s3.Open(t.Context(), b.Options)
	if err != nil {
		t.Fatal(err)
	}
	for name, operation := range operations {
		check(t, name, operation(t.Context(), b), blob.ErrDenied)
	}
}

// A server in trouble is asked again, and then no more.
func TestRetries(t *testing.T) {
	for name, operation := range operations {
		var requests atomic.Int32
		b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
			got, _ := io.ReadAll(r.Body)
			if requests.Add(1) < 3 {
				answer(w, http.StatusServiceUnavailable, "SlowDown")
				return
			}
			if r.Method == http.MethodPut && string(got) != "text" {
				t.Errorf("%s: the third time %q is sent", name, got)
			}
			w.Header().Set("Content-Length", "0")
		})
		if err := operation(t.Context(), b); err != nil || requests.Load() != 3 {
			t.Errorf("%s: %v after %d requests", name, err, requests.Load())
		}
	}
}

// A server that says nothing more is given up.
func TestStalls(t *testing.T) {
	for name, operation := range operations {
		done := make(chan struct{})
		b := faulty(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-done:
			}
		})
		check(t, name, operation(t.Context(), b), blob.ErrUnavailable)
		close(done)
	}
}

func TestStallsInTheMiddle(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "01234")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-done:
		}
	})
	check(t, "open", operations["open"](t.Context(), b), blob.ErrUnavailable)
}

// A server that knows no conditions is asked without.
func TestNoConditions(t *testing.T) {
	var stored []byte
	b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		if r.Header.Get("If-None-Match") != "" {
			answer(w, http.StatusNotImplemented, "NotImplemented")
			return
		}
		stored = got
	})
	if err := b.Put(t.Context(), "key", blobtest.ContentOf([]byte("text")), false); err != nil || string(stored) != "text" {
		t.Errorf("%q is stored, %v", stored, err)
	}
}

// Another writer's put that is under way may still fail: the object counts as there only when it is.
func TestConflictIsNotThere(t *testing.T) {
	puts, stored := 0, false
	b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.Method == http.MethodHead && !stored:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodPut:
			if puts++; puts == 1 {
				answer(w, http.StatusConflict, "ConditionalRequestConflict")
				return
			}
			stored = true
		}
	})
	if err := b.Put(t.Context(), "key", blobtest.ContentOf([]byte("text")), false); err != nil || !stored {
		t.Errorf("stored %v, %v", stored, err)
	}
}

// Content that is not what it should be is never sent whole, in one request or in parts.
func TestWrongContentIsNotSent(t *testing.T) {
	text := blobtest.Bytes(6<<20, 1)
	whole := blob.Content{Size: int64(len(text)), SHA256: sha256.Sum256(text)}
	flipped := bytes.Clone(text)
	flipped[10] ^= 1
	for name, c := range map[string]struct {
		content []byte
		want    error
	}{"flipped": {flipped, blob.ErrDigest}, "short": {text[:len(text)-1], blob.ErrShort}, "long": {append(bytes.Clone(text), 1), blob.ErrTrailing}} {
		for _, parts := range []bool{false, true} {
			completed := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, err := io.Copy(io.Discard, r.Body)
				switch {
				case r.Method == http.MethodPost && r.URL.Query().Has("uploads"):
					fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
				case r.Method == http.MethodPost, !parts && r.Method == http.MethodPut && err == nil && n == whole.Size:
					completed = true
				}
			}))
			defer server.Close()
			b := at(t, server.URL, func(o *s3.Options) {
				if parts {
					o.MultipartBytes, o.PartBytes = 1<<20, 5<<20
				}
			})
			content := whole
			content.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(c.content)), nil }
			check(t, name, b.Put(t.Context(), "key", content, true), c.want)
			if completed {
				t.Errorf("%s, parts %v: all of it was sent", name, parts)
			}
		}
	}
}

func TestContentErrorIsKept(t *testing.T) {
	b := faulty(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	broken := errors.New("broken disk")
	content := blob.Content{Size: 5, Open: func() (io.ReadCloser, error) { return nil, broken }}
	if err := b.Put(t.Context(), "key", content, true); !errors.Is(err, broken) || errors.Is(err, blob.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestParseURI(t *testing.T) {
	good := map[string][2]string{
		"s3://bucket": {"bucket", ""}, "s3://bucket/": {"bucket", ""}, "s3://my.bucket-1/a/b c": {"my.bucket-1", "a/b c"}, "s3://bucket/a/": {"bucket", "a"},
	}
	for text, want := range good {
		if bucket, key, err := s3.ParseURI(text); err != nil || bucket != want[0] || key != want[1] {
			t.Errorf("%s: %q %q %v", text, bucket, key, err)
		}
	}
	bad := []string{"", "bucket", "s3:/bucket/a", "s3://", "s3:///a", "s3://ab", "S3://bucket/a", "s3://Bucket/a", "s3://me:secret@bucket/a", "s3://bucket//a",
		"s3://bucket/a//b", "s3://bucket/../a", "s3://bucket/./a", "s3://bucket/a\n", "s3://bucket/a\x00", "s3://bucket/a\\b", "s3://bucket?secret/a", "s3://a..b/c",
		"s3://bucket/" + strings.Repeat("k", 1025), "http://bucket/a"}
	for _, text := range bad {
		if _, _, err := s3.ParseURI(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseURI(f *testing.F) {
	f.Add("s3://bucket/a/b")
	f.Add("s3://me:secret@bucket/a?b#c")
	f.Fuzz(func(t *testing.T, text string) {
		bucket, key, err := s3.ParseURI(text)
		if err != nil {
			return
		}
		if again := strings.TrimSuffix("s3://"+bucket+"/"+key, "/"); again != strings.TrimSuffix(text, "/") {
			t.Errorf("%q is %q %q", text, bucket, key)
		}
	})
}

// Who may read and write objects but not list the bucket is told that what is missing is denied.
func TestSendWithoutListing(t *testing.T) {
	var stored []byte
	b := faulty(t, func(w http.ResponseWriter, r *http.Request) {
		got, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodPut:
			stored = got
		case stored == nil:
			w.WriteHeader(http.StatusForbidden)
		default:
			w.Header().Set("Content-Length", strconv.Itoa(len(stored)))
		}
	})
	content := blobtest.ContentOf([]byte("text"))
	for _, want := range []bool{true, false} {
		if sent, err := blob.Send(t.Context(), b, content, false); err != nil || sent != want || string(stored) != "text" {
			t.Errorf("sent %v, %q is stored, %v", sent, stored, err)
		}
	}
}
