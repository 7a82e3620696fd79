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

// LoadAll is Load, and beside it what else readers may see now: what the follower of a Mirror publishes, if that is another
// snapshot. A follower that has nothing, or nothing that can be read, has no say. It is for checks before publishing.
func LoadAll(ctx context.Context, loc Location) (published *Published, others []*Published, err error) {
	published, err = loc.Load(ctx)
	m, ok := loc.(Mirror)
	if !ok {
		return published, nil, err
	}
	other, followErr := m.Follower.Load(ctx)
	switch {
	case errors.Is(followErr, ErrNone), IsDamage(followErr):
		return published, nil, err
	case followErr != nil:
		return nil, nil, followErr
	case err == nil && other.Digest == published.Digest:
		return published, nil, nil
	}
	return published, []*Published{other}, err
}

// IsDamage reports whether err says that a snapshot is there and can't be read, for a reason that a new one mends.
func IsDamage(err error) bool {
	return errors.Is(err, ErrMalformed) || errors.Is(err, ErrDigest) || errors.Is(err, ErrMissing)
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
