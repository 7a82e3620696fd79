package snapshot

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Mirror publishes to two locations. The authority is what readers and writers go by; the follower, as a rule the
// collection, follows it and is repaired by the next Publish when a writer dies between the two.
type Mirror struct {
	Authority, Follower Location
}

var _ Location = Mirror{}

// Load opens what the authority publishes.
func (m Mirror) Load(ctx context.Context) (*Published, error) { return m.Authority.Load(ctx) }

// Last is what was published last, as far as loc knows, for checks that compare with it before they publish: what Load
// returns, or, where the authority of a Mirror has nothing, what its follower has. ErrNone when there is nothing at all.
func Last(ctx context.Context, loc Location) (*Published, error) {
	m, ok := loc.(interface {
		last(context.Context) (*Published, error)
	})
	if ok {
		return m.last(ctx)
	}
	return loc.Load(ctx)
}

func (m Mirror) last(ctx context.Context) (*Published, error) {
	p, err := Last(ctx, m.Authority)
	if errors.Is(err, ErrNone) {
		return Last(ctx, m.Follower)
	}
	return p, err
}

// Publish publishes t at the authority, then at the follower.
func (m Mirror) Publish(ctx context.Context, t *Tree, at time.Time) error {
	if err := m.Authority.Publish(ctx, t, at); err != nil {
		return err
	}
	return m.Follower.Publish(ctx, t, at)
}

// Retiring is what either still holds, the authority's first.
func (m Mirror) Retiring(ctx context.Context) ([]string, error) {
	first, err := m.Authority.Retiring(ctx)
	if err != nil {
		return nil, err
	}
	second, err := m.Follower.Retiring(ctx)
	for _, digest := range second {
		if !slices.Contains(first, digest) {
			first = append(first, digest)
		}
	}
	return first, err
}

// Open opens it at the authority, or else at the follower.
func (m Mirror) Open(ctx context.Context, digest string) (*Tree, error) {
	t, err := m.Authority.Open(ctx, digest)
	if errors.Is(err, ErrMissing) {
		return m.Follower.Open(ctx, digest)
	}
	return t, err
}

// Retired is Retired of the follower, then of the authority.
func (m Mirror) Retired(ctx context.Context, digest string) error {
	if err := m.Follower.Retired(ctx, digest); err != nil {
		return err
	}
	return m.Authority.Retired(ctx, digest)
}
