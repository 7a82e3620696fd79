package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Published is what a pointer names.
type Published struct {
	Tree *Tree
	// At is the time of the publish, in whole seconds.
	At     time.Time
	Digest string
}

// Location is where snapshots of one site are published. One writer at a time may use it, and any number of readers.
//
// The records of the snapshot that was published before may be deleted once its successor is. So that a writer killed
// in between finds its work again, the location keeps the older snapshot, as retiring, until it is told otherwise:
//
//	Publish(new)                the old one is now retiring
//	for d := range Retiring():  Open(d), delete the records that the published snapshot does not name, Retired(d)
//
// Killed anywhere, a run of the loop by the next writer finishes the work.
type Location interface {
	// Load returns the published snapshot, its digest checked; ErrNone when there is none.
	Load(ctx context.Context) (*Published, error)
	// Publish makes t the published snapshot. What was published before is retiring and stays readable. If t is published
	// already, Publish restores what is missing or damaged of it and keeps the time of then. After an error the old
	// snapshot is published, or t is. A pointer that can't be read is replaced, one that a newer chromafs or somebody
	// else wrote is not.
	Publish(ctx context.Context, t *Tree, at time.Time) error
	// Retiring returns the digests of older snapshots whose records may not all be deleted, oldest first.
	Retiring(ctx context.Context) ([]string, error)
	// Open returns the published or a retiring snapshot. When Retired was cut short, a retiring one is ErrMissing: its
	// records were deleted before, and Retired is to be called again.
	Open(ctx context.Context, digest string) (*Tree, error)
	// Retired forgets a retiring snapshot and removes what is stored of it alone. It fails for the published one, and does
	// nothing for one that is not retiring.
	Retired(ctx context.Context, digest string) error
}

// pointer is the content of the pointer of either location. Its zero value points to nothing.
type pointer struct {
	digest   string
	at       time.Time
	retiring []string
}

// next points to digest.
func (p pointer) next(digest string, at time.Time) pointer {
	if digest == p.digest {
		return p
	}
	retiring := without(p.retiring, digest)
	if p.digest != "" {
		retiring = append(retiring, p.digest)
	}
	return pointer{digest, at.UTC().Truncate(time.Second), retiring}
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == s })
}

// readable turns the errors after which Publish replaces a pointer into the pointer to nothing.
func (p pointer) readable(err error) (pointer, error) {
	if errors.Is(err, ErrNone) || errors.Is(err, ErrMalformed) {
		return pointer{}, nil
	}
	return p, err
}

// load follows a pointer. What it names may vanish while it is read, if it is replaced meanwhile: then the new one is
// followed. It gives up when the same snapshot fails twice, or too many do.
func load(read func() (pointer, error), open func(digest string) (*Tree, error)) (*Published, error) {
	const most = 10
	last := ""
	for n := 1; ; n++ {
		p, err := read()
		if err != nil {
			return nil, err
		}
		t, err := open(p.digest)
		if err == nil {
			return &Published{Tree: t, At: p.at, Digest: p.digest}, nil
		}
		if !errors.Is(err, ErrMissing) || p.digest == last || n == most {
			return nil, err
		}
		last = p.digest
	}
}

// checkTree compares what was decoded with what was asked for.
func checkTree(t *Tree, digest, site string) error {
	if t.Digest() != digest {
		return fmt.Errorf("%w: want %s, have %s", ErrDigest, digest, t.Digest())
	}
	return checkSite(t, site)
}

func checkSite(t *Tree, site string) error {
	if t.header.Site != site {
		return malformed("snapshot of site %q, want site %q", t.header.Site, site)
	}
	return nil
}

// checkPublish refuses what no pointer could name.
func checkPublish(t *Tree, site string, at time.Time) error {
	if at.Unix() < 1 || at.Unix() > MaxMTime {
		return malformed("publish time %s", at)
	}
	return checkSite(t, site)
}

// digestHex is the part of a digest that stands in names; ok is false for what is no digest.
func digestHex(digest string) (hex string, ok bool) {
	hex, ok = strings.CutPrefix(digest, digestPrefix)
	return hex, ok && isHex(hex)
}

func isHex(s string) bool {
	for i := range len(s) {
		if unhex[s[i]] > 15 {
			return false
		}
	}
	return len(s) == 64
}

// retire is p without a retiring digest, or nil if it is not retiring.
func (p pointer) retire(digest string) (*pointer, error) {
	if digest == p.digest {
		return nil, fmt.Errorf("retire snapshot %s: it is the published one", digest)
	}
	if !slices.Contains(p.retiring, digest) {
		return nil, nil
	}
	p.retiring = without(p.retiring, digest)
	return &p, nil
}
