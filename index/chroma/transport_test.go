package chroma

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromafs/chromafs/index"
)

// fake answers as a Chroma with one collection of 7 records does, after what is scripted.
type fake struct {
	*httptest.Server
	mu     sync.Mutex
	script []http.HandlerFunc
	bodies []string
}

func newFake(t *testing.T) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(f.Close)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	f.bodies = append(f.bodies, string(body))
	step := answerOK
	if len(f.script) > 0 {
		step, f.script = f.script[0], f.script[1:]
	}
	f.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	step(w, r)
}

func answerOK(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/count"):
		_, _ = io.WriteString(w, "7")
	case strings.HasSuffix(r.URL.Path, "/get"):
		_, _ = io.WriteString(w, `{"ids":[],"documents":[],"metadatas":[]}`)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, `{"id":"00000000-0000-0000-0000-000000000001","dimension":1}`)
	default:
		_, _ = io.WriteString(w, "{}")
	}
}

// status answers with a code, and pairs of header and value.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"error":"TestError","message":"as the script says"}`)
	}
}

// drop closes the connection without an answer.
func drop(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// breakOff closes the connection inside the answer, which begins as valid JSON.
func breakOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, "7")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// open opens the fake's collection with short pauses, and then sets the script.
func (f *fake) open(t *testing.T, timeout time.Duration, script ...http.HandlerFunc) *Store {
	t.Helper()
	f.reset()
	opts := Options{URL: f.URL, Collection: "docs", Timeout: timeout}
	u, err := opts.validate()
	if err != nil {
		t.Fatal(err)
	}
	r := newRetry(f.URL, opts.Timeout)
	r.pause = time.Microsecond
	s, err := open(t.Context(), opts, u, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f.reset(script...)
	return s
}

func (f *fake) reset(script ...http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script, f.bodies = script, nil
}

// requests are the bodies since the last reset.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies
}

func repeat(n int, h http.HandlerFunc) []http.HandlerFunc {
	script := make([]http.HandlerFunc, n)
	for i := range script {
		script[i] = h
	}
	return script
}

func TestRetryPasses(t *testing.T) {
	f := newFake(t)
	for name, script := range map[string][]http.HandlerFunc{
		"429": {status(429), status(429, "Retry-After", "0")}, "500": {status(500)}, "503": {status(503, "Retry-After", "soon")},
		"504": repeat(4, status(504)), "connection": {drop, drop}, "answer": {breakOff, breakOff, breakOff},
		"all": {status(429), drop, breakOff, status(503)},
	} {
		t.Run(name, func(t *testing.T) {
			want := len(script) + 1
			s := f.open(t, 0, script...)
			if n, err := s.Count(t.Context()); n != 7 || err != nil {
				t.Errorf("count: %d, %v", n, err)
			}
			if n := len(f.requests()); n != want {
				t.Errorf("%d requests, want %d", n, want)
			}
			f.reset(script...)
			if err := s.Delete(t.Context(), []string{"a"}); err != nil || len(f.requests()) != want {
				t.Errorf("delete: %v after %d requests, want %d", err, len(f.requests()), want)
			}
		})
	}
}

// Every try sends the whole body.
func TestRetryBody(t *testing.T) {
	f := newFake(t)
	s := f.open(t, 0, answerOK, status(503), drop)
	if err := s.Upsert(t.Context(), []index.Record{chunk("a", "text")}); err != nil {
		t.Fatal(err)
	}
	bodies := f.requests()[1:] // the first asked what is there
	if len(bodies) != 3 || bodies[0] == "" || bodies[0] != bodies[1] || bodies[0] != bodies[2] {
		t.Errorf("bodies %q", bodies)
	}
}

func TestRetryGivesUp(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		name   string
		fail   http.HandlerFunc
		served int
		says   string
	}{
		{"503", status(503), 5, "answered 503 to the last of 5 tries: as the script says"},
		{"connection", drop, 5, "connection lost"},
		{"answer", breakOff, 5, "connection lost: answer broke off"},
		{"long Retry-After", status(429, "Retry-After", "3600"), 1, "answered 429"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := f.open(t, time.Minute, repeat(20, test.fail)...)
			err := s.Delete(t.Context(), []string{"a"})
			if !errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), test.says) ||
				!strings.Contains(err.Error(), f.URL) || !strings.Contains(err.Error(), "may have happened") {
				t.Errorf("delete: %v", err)
			}
			if n := len(f.requests()); n != test.served {
				t.Errorf("%d requests, want %d", n, test.served)
			}
			if _, err := s.Count(t.Context()); !errors.Is(err, index.ErrUnavailable) || strings.Contains(err.Error(), "may have happened") {
				t.Errorf("count: %v", err)
			}
		})
	}
}

func TestNoRetry(t *testing.T) {
	f := newFake(t)
	for _, test := range []struct {
		name string
		fail http.HandlerFunc
		is   error
		says string
	}{
		{"400", status(400), nil, "refused the request (400): as the script says"},
		{"422", status(422), nil, "refused the request (422)"},
		{"401", status(401), nil, "denies access (401): check token"},
		{"403", status(403), nil, "denies access (403)"},
		{"404 of another server", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, nil, "not a Chroma server"},
		{"404", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":"NotFoundError","message":"gone"}`)
		}, index.ErrNoCollection, "gone"},
		{"301", status(301, "Location", "https://example.com/"), nil, `redirects to "https://example.com/"`},
		{"odd answer", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, index.ErrCorrupt, "<html>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := f.open(t, 0, test.fail)
			_, err := s.Count(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, index.ErrUnavailable) || len(f.requests()) != 1 {
				t.Errorf("count: %v after %d requests", err, len(f.requests()))
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("count: %v is not %v", err, test.is)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	f := newFake(t)
	s := f.open(t, 0, hang)
	s.retry.timeout = 20 * time.Millisecond
	err := s.Delete(t.Context(), []string{"a"})
	if !errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), "did not answer within 20ms") ||
		!strings.Contains(err.Error(), "may have happened") {
		t.Errorf("delete: %v", err)
	}
}

// The caller's cancel and deadline are the caller's, in a request and in a pause between two.
func TestContextEnds(t *testing.T) {
	f := newFake(t)
	for name, pause := range map[string]time.Duration{"request": 0, "pause": time.Hour} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			step := func(w http.ResponseWriter, r *http.Request) {
				if pause == 0 {
					cancel()
					<-r.Context().Done()
				}
				time.AfterFunc(10*time.Millisecond, cancel)
				status(503)(w, r)
			}
			s := f.open(t, 4*time.Hour, step)
			s.retry.pause = pause
			err := s.Upsert(ctx, []index.Record{chunk("a", "text")})
			if !errors.Is(err, context.Canceled) || errors.Is(err, index.ErrUnavailable) || len(f.requests()) != 1 {
				t.Errorf("upsert: %v after %d requests", err, len(f.requests()))
			}
			if err := s.Delete(ctx, []string{"a"}); !errors.Is(err, context.Canceled) || len(f.requests()) != 1 {
				t.Errorf("a write with a cancelled context: %v after %d requests", err, len(f.requests()))
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := f.open(t, 0, hang).Count(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, index.ErrUnavailable) {
		t.Errorf("count past the caller's deadline: %v", err)
	}
}

func TestUnreachable(t *testing.T) {
	f := newFake(t)
	opts := Options{URL: f.URL, Collection: "docs"}
	u, err := opts.validate()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	r := newRetry(f.URL, opts.Timeout)
	r.pause = 0
	_, err = open(t.Context(), opts, u, r)
	if want := "chroma at " + f.URL + " unreachable: "; !errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), want) {
		t.Errorf("open: %v, want %q", err, want)
	}
}

// The parts of a large write are told apart.
func TestPartialWrite(t *testing.T) {
	f := newFake(t)
	s := f.open(t, 0, append(repeat(3, answerOK), repeat(20, status(503))...)...)
	records := make([]index.Record, 1200)
	for i := range records {
		records[i] = chunk(fmt.Sprint(i), "text")
	}
	err := s.Upsert(t.Context(), records)
	if !errors.Is(err, index.ErrUnavailable) || !strings.Contains(err.Error(), "records 501 to 1000 of 1200") {
		t.Errorf("upsert: %v", err)
	}
}

func TestHeaders(t *testing.T) {
	var token, user atomic.Value
	f := newFake(t)
	seen := func(w http.ResponseWriter, r *http.Request) {
		token.Store(r.Header.Get("X-Chroma-Token"))
		name, password, _ := r.BasicAuth()
		user.Store(name + " " + password)
		answerOK(w, r)
	}
	f.reset(seen)
	s, err := Open(t.Context(), Options{URL: strings.Replace(f.URL, "//", "//me:pass@", 1), Collection: "docs", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if token.Load() != "secret" || user.Load() != "me pass" {
		t.Errorf("token %q, user %q", token.Load(), user.Load())
	}
	f.reset(status(400))
	if _, err := s.Count(t.Context()); err == nil || strings.Contains(err.Error(), "pass") || strings.Contains(err.Error(), "secret") {
		t.Errorf("count: %v", err)
	}
}

// What a server repeats of a request, or sends to a terminal, does not reach an error.
func TestErrorsHideAndClean(t *testing.T) {
	const nasty = "tok/en+1 s3cret me bWU6czNjcmV0 tok%2Fen%2B1 \x1b]0;title\a \u202e\x9b31m red"
	message, err := json.Marshal(nasty)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"error":"NotFoundError","message":%s}`, message)
		}
	}
	f := newFake(t)
	opts := Options{URL: strings.Replace(f.URL, "//", "//me:s3cret@", 1), Collection: "docs", Token: "tok/en+1"}
	u, err := opts.validate()
	if err != nil {
		t.Fatal(err)
	}
	for name, answer := range map[string]http.HandlerFunc{
		"400": refuse(400), "404": refuse(404), "409": refuse(409), "503": refuse(503), "text": answerWith(nasty),
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); _, _ = io.WriteString(w, nasty) },
		"redirect": status(302, "Location", "http://me:s3cret@h/tok/en+1"),
		"id":       answerWith(`{"ids":[` + string(message) + `],"documents":["a"],"metadatas":[null]}`),
	} {
		f.reset()
		r := newRetry(shown(u), opts.Timeout)
		r.pause = 0
		s, err := open(t.Context(), opts, u, r)
		if err != nil {
			t.Fatal(err)
		}
		f.reset(repeat(5, answer)...)
		if _, err = s.Documents(t.Context(), []string{"a"}); err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, bad := range []string{"tok/en", "tok%2F", "s3cret", "bWU6", "\x1b", "\a", "\u202e", "\x9b", "\u009b"} {
			if strings.Contains(err.Error(), bad) {
				t.Errorf("%s: %q holds %q", name, err, bad)
			}
		}
		_ = s.Close()
	}
}

// An answer that is too long is asked for once, whether its length is told before or not.
func TestLongAnswer(t *testing.T) {
	f := newFake(t)
	for name, told := range map[string]bool{"told": true, "not told": false} {
		s := f.open(t, 0, repeat(3, func(w http.ResponseWriter, _ *http.Request) {
			if !told {
				_ = http.NewResponseController(w).Flush()
			}
			_, _ = io.WriteString(w, strings.Repeat("7", 100))
		})...)
		s.retry.most = 99
		if _, err := s.Count(t.Context()); !errors.Is(err, index.ErrCorrupt) || errors.Is(err, index.ErrUnavailable) || len(f.requests()) != 1 {
			t.Errorf("%s: %v after %d requests", name, err, len(f.requests()))
		}
	}
}

func TestRetryAfter(t *testing.T) {
	const now = "Mon, 02 Jan 2006 15:04:05 GMT"
	for _, test := range []struct {
		value, date string
		want        time.Duration
	}{
		{"", "", 0}, {"0", "", 0}, {"7", "", 7 * time.Second}, {"-7", "", 0}, {"soon", "", 0}, {"99999999999", "", 24 * time.Hour},
		{"Mon, 02 Jan 2006 15:04:35 GMT", now, 30 * time.Second}, {"Mon, 02 Jan 2006 15:00:00 GMT", now, 0},
		{"Mon, 02 Jan 2006 15:04:35 GMT", "", 0},
	} {
		h := http.Header{"Retry-After": {test.value}, "Date": {test.date}}
		if got := retryAfter(h); got != test.want {
			t.Errorf("Retry-After %q, Date %q: %s, want %s", test.value, test.date, got, test.want)
		}
	}
}

func answerWith(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}
