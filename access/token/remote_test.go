package token

import (
	"bytes"
	"context"
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
)

// issuer serves key sets and counts how often it is asked. What it answers can be changed at any time.
type issuer struct {
	*httptest.Server
	asked  atomic.Int32
	answer atomic.Pointer[http.HandlerFunc]
}

func serve(t *testing.T, answer http.HandlerFunc) *issuer {
	t.Helper()
	i := &issuer{}
	i.answer.Store(&answer)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		(*i.answer.Load())(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) set(answer http.HandlerFunc) { i.answer.Store(&answer) }

// count checks how often the issuer was asked so far.
func (i *issuer) count(t *testing.T, want int32) {
	t.Helper()
	if got := i.asked.Load(); got != want {
		t.Fatalf("asked %d times, want %d", got, want)
	}
}

func text(data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write(data) }
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func withKid(t *testing.T, alg, kid string) string {
	t.Helper()
	return sign(t, alg, pairs()[alg].private, fmt.Sprintf(`{"alg":%q,"kid":%q}`, alg, kid), `{"exp":1900000000}`)
}

// esSet is a set of the ES256 pair under a kid.
func esSet(t *testing.T, kid string) []byte {
	t.Helper()
	return setOf(t, jwkOf(t, pairs()["ES256"].public, fmt.Sprintf(`{"kid":%q}`, kid)))
}

func TestFetchedOnce(t *testing.T) {
	var c clock
	i := serve(t, text(esSet(t, "a")))
	v := open(t, Options{JWKS: i.URL, Now: c.now})
	i.count(t, 0)
	refused(t, v, "not a token", ErrInvalid)
	i.count(t, 0)
	for range 3 {
		accepted(t, v, withKid(t, "ES256", "a"))
		accepted(t, v, sign(t, "ES256", pairs()["ES256"].private, `{"alg":"ES256"}`, plain))
		refused(t, v, withKid(t, "RS256", "a"), ErrInvalid)
	}
	i.count(t, 1)
	c.move(fresh - time.Nanosecond)
	accepted(t, v, withKid(t, "ES256", "a"))
	i.count(t, 1)
	c.move(time.Nanosecond)
	accepted(t, v, withKid(t, "ES256", "a"))
	i.count(t, 2)
}

func TestRotation(t *testing.T) {
	var c clock
	i := serve(t, text(esSet(t, "old")))
	v := open(t, Options{JWKS: i.URL, Now: c.now})
	accepted(t, v, withKid(t, "ES256", "old"))
	i.set(text(esSet(t, "new")))
	c.move(pause - time.Nanosecond)
	refused(t, v, withKid(t, "ES256", "new"), ErrInvalid)
	i.count(t, 1)
	c.move(time.Nanosecond)
	accepted(t, v, withKid(t, "ES256", "new"))
	refused(t, v, withKid(t, "ES256", "old"), ErrInvalid)
	i.count(t, 2)
	for n := range 50 { // nor can invented kids hammer the issuer
		refused(t, v, withKid(t, "ES256", fmt.Sprint(n)), ErrInvalid)
	}
	i.count(t, 2)
}

func TestFailedRefresh(t *testing.T) {
	for name, failure := range map[string]http.HandlerFunc{
		"500": status(500), "HTML": text([]byte("<html>")), "304": status(304), "204": status(204),
		"private key": text(setOf(t, jwkOf(t, pairs()["ES256"].public, `{"d":"AA"}`))),
	} {
		t.Run(name, func(t *testing.T) {
			var c clock
			i := serve(t, text(esSet(t, "a")))
			v := open(t, Options{JWKS: i.URL, Now: c.now})
			accepted(t, v, withKid(t, "ES256", "a"))
			i.set(failure)
			c.move(fresh)
			accepted(t, v, withKid(t, "ES256", "a"))
			accepted(t, v, withKid(t, "ES256", "a"))
			refused(t, v, withKid(t, "ES256", "b"), ErrInvalid)
			i.count(t, 2)
			c.move(pause)
			accepted(t, v, withKid(t, "ES256", "a"))
			i.count(t, 3)
			c.move(lasting - fresh - pause - time.Nanosecond)
			accepted(t, v, withKid(t, "ES256", "a"))
			c.move(time.Nanosecond)
			refused(t, v, withKid(t, "ES256", "a"), ErrKeys)
			i.set(text(esSet(t, "a")))
			c.move(pause)
			accepted(t, v, withKid(t, "ES256", "a"))
		})
	}
}

// An issuer that withdraws all its keys is believed.
func TestWithdrawnKeys(t *testing.T) {
	var c clock
	i := serve(t, text(esSet(t, "a")))
	v := open(t, Options{JWKS: i.URL, Now: c.now})
	accepted(t, v, withKid(t, "ES256", "a"))
	i.set(text([]byte(`{"keys":[]}`)))
	c.move(fresh)
	refused(t, v, withKid(t, "ES256", "a"), ErrKeys)
}

func TestFailedFirstFetch(t *testing.T) {
	big := append(esSet(t, "a"), strings.Repeat(" ", maxKeyBytes)...)
	for name, failure := range map[string]http.HandlerFunc{
		"404 with keys": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			w.Write(esSet(t, "a"))
		},
		"404": status(404), "500": status(500), "empty": status(200), "HTML": text([]byte("<html>")),
		"no keys": text([]byte(`{"keys":[]}`)), "too large": text(big),
		"only a secret": text(setOf(t, jwkOf(t, secret, `{"kid":"a"}`))),
		"short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "99")
			w.Write([]byte("{"))
		},
		"to http": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+r.Host+"/b?secret", http.StatusFound)
		},
		"to a file": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c clock
			i := serve(t, failure)
			v := open(t, Options{JWKS: i.URL + "/keys?code=hidden", Now: c.now})
			for range 3 {
				err := refused(t, v, withKid(t, "ES256", "a"), ErrKeys)
				if !strings.Contains(err.Error(), i.URL+"/keys") || strings.Contains(err.Error(), "?") {
					t.Error(err)
				}
			}
			i.count(t, 1)
			i.set(text(esSet(t, "a")))
			c.move(fresh)
			accepted(t, v, withKid(t, "ES256", "a"))
		})
	}
}

func TestRetry(t *testing.T) {
	var c clock
	i := serve(t, status(503))
	v := open(t, Options{JWKS: i.URL, Now: c.now})
	refused(t, v, withKid(t, "ES256", "a"), ErrKeys)
	i.set(text(esSet(t, "a")))
	c.move(retry - time.Nanosecond)
	refused(t, v, withKid(t, "ES256", "a"), ErrKeys)
	c.move(time.Nanosecond)
	accepted(t, v, withKid(t, "ES256", "a"))
	i.count(t, 2)
}

// A secret that a URL gives is known to whoever can ask for it.
func TestNoSecretFromURL(t *testing.T) {
	set := setOf(t, jwkOf(t, secret, `{"kid":"s"}`), jwkOf(t, pairs()["ES256"].public, `{"kid":"a"}`))
	v := open(t, Options{JWKS: serve(t, text(set)).URL})
	accepted(t, v, withKid(t, "ES256", "a"))
	refused(t, v, withKid(t, "HS256", "s"), ErrInvalid)
	refused(t, v, withKid(t, "HS256", ""), ErrInvalid)
}

func TestSlowIssuer(t *testing.T) {
	for name, begin := range map[string]string{"no answer": "", "no end": `{"keys":`} {
		t.Run(name, func(t *testing.T) {
			i := serve(t, func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, begin)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			})
			v := open(t, Options{JWKS: i.URL})
			v.remote.deadline = 20 * time.Millisecond
			if err := refused(t, v, withKid(t, "ES256", "a"), ErrKeys); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

func TestConcurrentFirstTokens(t *testing.T) {
	i := serve(t, text(esSet(t, "a")))
	v := open(t, Options{JWKS: i.URL})
	good, bad := withKid(t, "ES256", "a"), withKid(t, "ES256", "b")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := v.Viewer(context.Background(), good); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := v.Viewer(context.Background(), bad); !errors.Is(err, ErrInvalid) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	i.count(t, 1)
}

// Tokens are verified while the set is replaced, and while the issuer fails now and then.
func TestConcurrentRotation(t *testing.T) {
	var c clock
	var n atomic.Int32
	sets := [][]byte{esSet(t, "a"), setOf(t, jwkOf(t, pairs()["ES256"].public, `{"kid":"a"}`), jwkOf(t, pairs()["RS256"].public, ""))}
	i := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if k := int(n.Add(1)); k%3 == 0 {
			w.WriteHeader(500)
		} else {
			w.Write(sets[k%2])
		}
	})
	v := open(t, Options{JWKS: i.URL, Now: c.now})
	token := withKid(t, "ES256", "a")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 30 {
				if _, err := v.Viewer(context.Background(), token); err != nil {
					t.Error(err)
				}
				c.move(time.Minute / 8)
			}
		})
	}
	all.Wait()
	if i.asked.Load() < 3 {
		t.Error("hardly fetched")
	}
}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Whoever gives up waiting neither ends the fetch for others nor leaves its own error behind.
func TestCancelledCaller(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	set := esSet(t, "a")
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		close(entered) // a second fetch panics
		<-release
		body := io.NopCloser(bytes.NewReader(set))
		return &http.Response{StatusCode: http.StatusOK, Body: body, Request: r}, r.Context().Err()
	})}
	v := open(t, Options{JWKS: "https://id.test/keys", Client: client})
	token := withKid(t, "ES256", "a")
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := v.Viewer(ctx, token)
		left <- err
	}()
	<-entered
	cancel()
	if err := <-left; !isKeys(err) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(release)
	accepted(t, v, token)
	if _, err := v.Viewer(ctx, token); err != nil {
		t.Error("it needed no fetch:", err)
	}
}

func TestURLs(t *testing.T) {
	for url, ok := range map[string]bool{
		"https://id.test/keys":            true,
		"HTTPS://id.test/keys":            true,
		"http://localhost:1/keys":         true,
		"http://127.0.0.1/keys":           true,
		"http://[::1]:8080/keys":          true,
		"http://id.test/keys":             false,
		"HTTP://id.test/keys":             false,
		"http://localhost.id.test/keys":   false,
		"http://127.0.0.1.id.test/keys":   false,
		"http://localhost@id.test/keys":   false,
		"http://10.0.0.1/keys":            false,
		"http://0.0.0.0/keys":             false,
		"https://":                        false,
		"https:///keys":                   false,
		"https://me:hidden@id.test:x/":    false,
		"http://me:hidden@id.test/hidden": false,
		"ftp://id.test/keys":              false,
		"file:///etc/passwd":              false,
	} {
		_, err := New(Options{JWKS: url, Now: (&clock{}).now})
		if ok && err != nil || !ok && !isKeys(err) {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "me:hidden") {
			t.Errorf("password in the error: %v", err)
		}
	}
}

// With https, redirects are followed while they stay there, and not for ever.
func TestRedirects(t *testing.T) {
	set := esSet(t, "a")
	plainServer := serve(t, text(set))
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/keys":
			w.Write(set)
		case "/moved":
			http.Redirect(w, r, "/keys", http.StatusMovedPermanently)
		case "/down":
			http.Redirect(w, r, plainServer.URL, http.StatusFound)
		default:
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	client := s.Client()
	for path, ok := range map[string]bool{"/keys": true, "/moved": true, "/down": false, "/loop": false} {
		v := open(t, Options{JWKS: s.URL + path, Client: client})
		if ok {
			accepted(t, v, withKid(t, "ES256", "a"))
		} else if err := refused(t, v, withKid(t, "ES256", "a"), ErrKeys); !strings.Contains(err.Error(), "redirected") {
			t.Error(err)
		}
	}
	plainServer.count(t, 0)
	if client.CheckRedirect != nil {
		t.Error("the caller's client was changed")
	}
	refused(t, open(t, Options{JWKS: s.URL + "/keys"}), withKid(t, "ES256", "a"), ErrKeys) // its certificate is nobody's
}
