package s3

import (
	"context"
	"errors"
	"time"
)

// errStalled: nothing came or went for too long.
var errStalled = errors.New("no progress in time")

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

// touch says that something happened.
func (w *watch) touch() { w.timer.Reset(w.after) }

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
