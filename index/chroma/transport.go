package chroma

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/chromafs/chromafs/index"
)

// retry is the one place that sends requests. It repeats those that failed for reasons that pass (429, 5xx, broken and
// refused connections), which is safe because every request of this package may be sent twice, and it reads answers to
// their end, because chroma-go takes a body that breaks off for an empty one.
type retry struct {
	next http.RoundTripper
	// server names the server in errors.
	server string
	// timeout bounds a request with all its tries.
	timeout time.Duration
	tries   int
	// pause is the time before the second try; it doubles from try to try, up to maxPause.
	pause time.Duration
	// most is the size in bytes of the largest answer that is read.
	most int64
	// secrets are what no error shows.
	secrets []string
}

const (
	maxPause = 10 * time.Second
	// maxAnswer is far above the largest honest one: 1,000 documents, or the ids of some million records.
	maxAnswer = 512 << 20
)

func newRetry(server string, timeout time.Duration) *retry {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	t.MaxIdleConnsPerHost = 16
	return &retry{next: t, server: server, timeout: timeout, tries: 5, pause: 250 * time.Millisecond, most: maxAnswer}
}

// CloseIdleConnections is called by http.Client's method of that name.
func (r *retry) CloseIdleConnections() {
	if c, ok := r.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// errLong is not tried again: the next answer would be as long.
var errLong = errors.New("an answer of more bytes than is read")

// unavailable is an index.ErrUnavailable with a text of its own.
type unavailable struct {
	text  string
	cause error
}

func (e *unavailable) Error() string        { return e.text }
func (e *unavailable) Unwrap() error        { return e.cause }
func (e *unavailable) Is(target error) bool { return target == index.ErrUnavailable }

// RoundTrip implements http.RoundTripper. Its error is the context's, or one that names the server; it is also left in
// the *failure of the request's context.
func (r *retry) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer func() { _ = request.Body.Close() }()
	}
	response, err := r.persist(request)
	if err != nil {
		if f, ok := request.Context().Value(failureKey{}).(*failure); ok {
			f.err = err
		}
		return nil, err
	}
	return response, nil
}

func (r *retry) persist(request *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(request.Context(), r.timeout)
	defer cancel()
	for try := 1; ; try++ {
		response, err := r.once(ctx, request)
		switch {
		case errors.Is(err, errLong):
			return nil, fmt.Errorf("%w: chroma at %s: %w, %d", index.ErrCorrupt, r.server, err, r.most)
		case err != nil || response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500:
			if try == r.tries || !r.wait(ctx, try, response) {
				return nil, r.fail(request.Context(), try, response, err)
			}
		case response.StatusCode >= 300 && response.StatusCode < 400:
			// A redirected POST turns into a GET, and chroma-go takes a 3xx for an answer.
			return nil, fmt.Errorf("chroma at %s redirects to %q: give that URL instead", r.server, r.excerpt(response.Header.Get("Location")))
		default:
			return response, nil
		}
	}
}

// once sends the request and reads the whole answer.
func (r *retry) once(ctx context.Context, request *http.Request) (*http.Response, error) {
	again := request.Clone(ctx)
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		again.Body = body
	}
	response, err := r.next.RoundTrip(again)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.ContentLength > r.most {
		return nil, errLong
	}
	var body bytes.Buffer
	if n := response.ContentLength; n > 0 {
		body.Grow(int(n) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(io.LimitReader(response.Body, r.most+1)); err != nil {
		return nil, fmt.Errorf("answer broke off: %w", err)
	}
	if int64(body.Len()) > r.most {
		return nil, errLong
	}
	response.Body = io.NopCloser(&body)
	return response, nil
}

// wait pauses before the next try, for as long as the server asks, and reports whether there is time for it.
func (r *retry) wait(ctx context.Context, try int, response *http.Response) bool {
	pause := min(r.pause<<(try-1), maxPause)
	pause = pause/2 + rand.N(pause/2+1)
	if response != nil {
		pause = max(pause, retryAfter(response.Header))
	}
	if pause >= r.timeout {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// retryAfter reads the header of that name: seconds, or a date, which is taken by the clock of the server.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	then, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(then.Sub(now), 0)
}

// fail says why the last try failed: the caller's context, the timeout, the connection, or the answer.
func (r *retry) fail(caller context.Context, tries int, response *http.Response, err error) error {
	var dial *net.OpError
	switch {
	case caller.Err() != nil:
		return caller.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return &unavailable{fmt.Sprintf("chroma at %s did not answer within %s", r.server, r.timeout), err}
	case errors.As(err, &dial) && dial.Op == "dial":
		return &unavailable{fmt.Sprintf("chroma at %s unreachable: %s", r.server, r.excerpt(err.Error())), err}
	case err != nil:
		return &unavailable{fmt.Sprintf("chroma at %s: connection lost: %s", r.server, r.excerpt(err.Error())), err}
	}
	text := fmt.Sprintf("chroma at %s answered %d", r.server, response.StatusCode)
	if tries > 1 {
		text += fmt.Sprintf(" to the last of %d tries", tries)
	}
	var said struct{ Message string }
	if json.NewDecoder(response.Body).Decode(&said) == nil && said.Message != "" {
		text += ": " + r.excerpt(said.Message)
	}
	return &unavailable{text, nil}
}
