package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/index"
)

// maxLevels of manifests name more parts than any store holds.
const maxLevels = 4

// named are the records of one snapshot: its parts in order, and its manifests, the root last.
type named struct{ parts, manifests []string }

// named follows the manifests from root. With gaps, manifests that are not there are taken to name nothing.
func (c *Collection) named(ctx context.Context, root string, gaps bool) (n named, err error) {
	seen := map[string]bool{root: true}
	level := []string{root}
	for range maxLevels {
		texts, err := partTexts(ctx, c.Store, level)
		if err != nil {
			return n, err
		}
		n.manifests = append(slices.Clone(level), n.manifests...)
		var next []string
		for _, id := range level {
			text, ok := texts[id]
			if !ok && gaps {
				continue
			}
			if !ok {
				return n, fmt.Errorf("%s: %w", id, ErrMissing)
			}
			if id != root && manifestID(text, c.Site) != id {
				return n, fmt.Errorf("%s: %w", id, ErrDigest)
			}
			if next, err = c.list(next, text, seen); err != nil {
				return n, fmt.Errorf("%s: %w", id, err)
			}
		}
		if len(next) == 0 || strings.HasPrefix(next[0], partPrefix) {
			n.parts = next
			return n, nil
		}
		level = next
	}
	return n, malformed("more than %d levels of manifests", maxLevels)
}

// list appends the ids of one manifest, all of them of one kind, and no manifest twice.
func (c *Collection) list(ids []string, doc string, seen map[string]bool) ([]string, error) {
	for line := range strings.Lines(doc) {
		id, whole := strings.CutSuffix(line, "\n")
		prefix := partPrefix
		if _, ok := parseID(id, manifestPrefix, c.Site); ok {
			prefix = manifestPrefix
		}
		_, ok := parseID(id, prefix, c.Site)
		if !ok || !whole || prefix == manifestPrefix && seen[id] || len(ids) > 0 && !strings.HasPrefix(ids[0], prefix) {
			return nil, malformed("manifest line %.80q", line)
		}
		seen[id] = prefix == manifestPrefix
		ids = append(ids, id)
	}
	return ids, nil
}

// Retiring lists what the pointer keeps.
func (c *Collection) Retiring(ctx context.Context) ([]string, error) {
	p, _, err := c.pointer(ctx)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	return p.retiring, err
}

// Retired removes a retiring snapshot.
func (c *Collection) Retired(ctx context.Context, digest string) error {
	p, rec, err := c.pointer(ctx)
	if err != nil {
		return err
	}
	rest, err := p.retire(digest)
	if err != nil || rest == nil {
		return err
	}
	if err := c.deleteParts(ctx, digest, *rest); err != nil {
		return fmt.Errorf("retire snapshot %s: %w", digest, err)
	}
	if rec, err = c.record(*rest, rec.Document); err != nil {
		return err
	}
	return c.Store.Upsert(ctx, []index.Record{rec})
}

// deleteParts deletes the parts and manifests of digest that no snapshot of rest names. The root goes last, so that a
// call that was cut short can be repeated.
func (c *Collection) deleteParts(ctx context.Context, digest string, rest pointer) error {
	root, _ := rootID(digest, c.Site)
	old, err := c.named(ctx, root, true)
	if err != nil && !damaged(err) {
		return err
	}
	kept := map[string]bool{}
	for _, d := range append([]string{rest.digest}, rest.retiring...) {
		root, _ := rootID(d, c.Site)
		// A retiring snapshot may be half deleted or damaged; not so the published one.
		retiring := d != rest.digest
		n, err := c.named(ctx, root, retiring)
		if err != nil && !(retiring && damaged(err)) {
			return err
		}
		for _, id := range append(n.parts, n.manifests...) {
			kept[id] = true
		}
	}
	inner := old.manifests[:max(0, len(old.manifests)-1)]
	for _, ids := range [][]string{distinct(old.parts), inner, {root}} {
		if ids = slices.DeleteFunc(ids, func(id string) bool { return kept[id] }); len(ids) > 0 {
			if err := c.Store.Delete(ctx, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

func damaged(err error) bool {
	return errors.Is(err, ErrMalformed) || errors.Is(err, ErrDigest)
}

// distinct is ids, each once. A part may stand in a tree twice, since long lines are cut anywhere.
func distinct(ids []string) []string {
	seen := map[string]bool{}
	var once []string
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			once = append(once, id)
		}
	}
	return once
}
