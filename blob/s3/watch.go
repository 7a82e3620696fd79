package s3

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errStalled: nothing came or went for too long.
var errStalled = errors.New("no progress in time")

// patient is a transport that gives up a request when nothing of it or of its answer has moved for the time stall. Who
// takes long to give or to read a body is not that.
type patient struct {
	http.RoundTripper
	stall time.Duration
}

// RoundTrip sends a request. Its answer is watched until it is closed.
func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	w := newWatch(r.Context(), p.stall)
	r = r.WithContext(w)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = outgoing{r.Body, w, new(int64)}
	}
	answer, err := p.RoundTripper.RoundTrip(r)
	if err != nil {
		w.stop()
		return nil, w.cause(err)
	}
	w.timer.Stop()
	answer.Body = incoming{answer.Body, w}
	return answer, nil
}

// watch ends a context when nothing happens for some time.
type watch struct {
	context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	after  time.Duration
}

// newWatch begins to watch; the caller stops it.
func newWatch(ctx context.Context, after time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(ctx)
	return &watch{ctx, cancel, time.AfterFunc(after, func() { cancel(errStalled) }), after}
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// cause is errStalled for an error that came of it.
func (w *watch) cause(err error) error {
	if err != nil && context.Cause(w.Context) == errStalled {
		return errStalled
	}
	return err
}

// slowest is how many bytes a second of a body that was sent a server, or a proxy before it, may take to store.
const slowest = 1 << 20

// outgoing is the body of a request. The server moves when it lets more of it be read. What was read last may be on its way
// for longer, in buffers that nobody sees.
type outgoing struct {
	io.ReadCloser
	watch *watch
	sent  *int64
}

func (b outgoing) Read(p []byte) (int, error) {
	b.watch.timer.Stop()
	n, err := b.ReadCloser.Read(p)
	*b.sent += int64(n)
	b.watch.timer.Reset(b.watch.after + time.Duration(*b.sent)*time.Second/slowest)
	return n, err
}

// incoming is the body of an answer. The server moves when a read of it ends.
type incoming struct {
	io.ReadCloser
	watch *watch
}

func (b incoming) Read(p []byte) (int, error) {
	b.watch.timer.Reset(b.watch.after)
	n, err := b.ReadCloser.Read(p)
	b.watch.timer.Stop()
	if err != io.EOF {
		err = b.watch.cause(err)
	}
	return n, err
}

func (b incoming) Close() error {
	err := b.ReadCloser.Close()
	b.watch.stop()
	return err
}
