package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
)

// numbered is a tree that no other number has.
func numbered(t testing.TB, n int) *Tree {
	return mustNew(t, Header{Collection: "docs"}, files(fmt.Sprintf("page-%d.md", n)))
}

// Who publishes over what it did not see is refused, until it looks; nothing of the winner's is touched.
func TestBucketConflict(t *testing.T) {
	ctx := context.Background()
	base, theirs, ours := numbered(t, 0), numbered(t, 1), numbered(t, 2)
	load := func(b *Bucket) error { _, err := b.Load(ctx); return err }
	published := func(o *objects) { publish(t, &Bucket{Objects: o}, base, day) }
	starts := map[string]struct {
		prepare func(o *objects)
		look    func(b *Bucket) error
		want    error
		retired []*Tree
	}{
		"load":         {published, load, nil, []*Tree{base, theirs}},
		"load nothing": {func(*objects) {}, load, ErrNone, []*Tree{theirs}},
		"load scrap":   {func(o *objects) { o.set(currentName, []byte("{")) }, load, ErrMalformed, []*Tree{theirs}},
		"retiring":     {published, func(b *Bucket) error { _, err := b.Retiring(ctx); return err }, nil, []*Tree{base, theirs}},
		"publish":      {func(*objects) {}, func(b *Bucket) error { return b.Publish(ctx, base, day) }, nil, []*Tree{base, theirs}},
	}
	for name, s := range starts {
		o := newObjects()
		s.prepare(o)
		loser := &Bucket{Objects: o}
		if err := s.look(loser); !errors.Is(err, s.want) {
			t.Fatalf("%s: %v", name, err)
		}
		publish(t, &Bucket{Objects: o}, theirs, day)
		before := o.all()
		for range 2 {
			if err := loser.Publish(ctx, ours, day); !errors.Is(err, ErrConflict) {
				t.Errorf("%s: publish: got error %v", name, err)
			}
		}
		if len(s.retired) > 1 {
			if err := loser.Retired(ctx, base.Digest()); !errors.Is(err, ErrConflict) {
				t.Errorf("%s: retired: got error %v", name, err)
			}
		}
		if !maps.EqualFunc(before, o.all(), bytes.Equal) {
			t.Errorf("%s: the loser changed something", name)
		}
		wantPublished(t, loser, theirs)
		publish(t, loser, ours, day)
		wantRetiring(t, loser, s.retired...)
	}
}

// The same where the other one publishes in the last moment, before any call of the loser.
func TestBucketConflictLate(t *testing.T) {
	ctx := context.Background()
	base, theirs, ours := numbered(t, 0), numbered(t, 1), numbered(t, 2)
	ops := map[string]func(b *Bucket) error{
		"publish": func(b *Bucket) error { return b.Publish(ctx, ours, day) },
		"retired": func(b *Bucket) error { return b.Retired(ctx, numbered(t, -1).Digest()) },
	}
	for name, do := range ops {
		at := 1
		for won := false; !won; at++ {
			o := newObjects()
			publish(t, &Bucket{Objects: o}, numbered(t, -1), day)
			publish(t, &Bucket{Objects: o}, base, day)
			loser, n := &Bucket{Objects: o}, 0
			wantPublished(t, loser, base)
			o.before = func(string, string) error {
				if n++; n == at {
					o.before = nil
					publish(t, &Bucket{Objects: o}, theirs, day)
				}
				return nil
			}
			err := do(loser)
			o.before = nil
			if won = n < at; won != (err == nil) || !won && !errors.Is(err, ErrConflict) {
				t.Fatalf("%s: other before call %d of %d: got error %v", name, at, n, err)
			}
			if !won {
				wantPublished(t, &Bucket{Objects: o}, theirs)
				if got, err := (&Bucket{Objects: o}).Retiring(ctx); err != nil || len(got) != 2 || got[1] != base.Digest() {
					t.Errorf("%s: retiring %q, error %v", name, got, err)
				}
			}
		}
		if at < 4 {
			t.Errorf("%s: only %d moments", name, at)
		}
	}
}

// Of writers that saw the same, exactly one wins, and the list of what is retiring misses none of the winners.
func TestBucketRace(t *testing.T) {
	const rounds, writers = 30, 4
	o := newObjects()
	var winners []*Tree
	for round := range rounds {
		var start, done sync.WaitGroup
		start.Add(writers)
		errs := make([]error, writers)
		for w := range writers {
			b, tree := &Bucket{Objects: o}, numbered(t, round*writers+w)
			done.Go(func() {
				_, err := b.Load(context.Background())
				start.Done()
				start.Wait()
				if errs[w] = err; err == nil || errors.Is(err, ErrNone) {
					errs[w] = b.Publish(context.Background(), tree, day)
				}
			})
		}
		done.Wait()
		won := slices.Index(errs, nil)
		for w, err := range errs {
			if w != won && !errors.Is(err, ErrConflict) {
				t.Fatalf("round %d: errors %v", round, errs)
			}
		}
		if won < 0 {
			t.Fatalf("round %d: nobody wins", round)
		}
		wantRetiring(t, &Bucket{Objects: o}, winners...)
		winners = append(winners, numbered(t, round*writers+won))
		wantPublished(t, &Bucket{Objects: o}, winners[round])
	}
}

// Who publishes the same tree has nothing to lose: both are told that it is published.
func TestBucketSameTree(t *testing.T) {
	base, next := numbered(t, 0), numbered(t, 1)
	o := newObjects()
	publish(t, &Bucket{Objects: o}, base, day)
	second := &Bucket{Objects: o}
	wantPublished(t, second, base)
	publish(t, &Bucket{Objects: o}, next, day)
	publish(t, second, next, day.Add(time.Hour))
	if p := wantPublished(t, second, next); !p.At.Equal(day) {
		t.Errorf("published at %v", p.At)
	}
	wantRetiring(t, second, base)
}

// lost makes one call, or it and all later ones, fail after it took effect.
func lost(o *objects, at int, dead bool) (steps func() int) {
	n := 0
	o.after = func(string, string) error {
		if n++; n == at || dead && n > at {
			return blob.ErrUnavailable
		}
		return nil
	}
	return func() int { o.after = nil; return n }
}

// Whichever answer is lost: if the pointer can be read again Publish knows, and else its next call does, by the same
// Bucket and by another.
func TestBucketAnswerLost(t *testing.T) {
	ctx := context.Background()
	a, b := twoTrees(t, "")
	for _, dead := range []bool{false, true} {
		for at := 1; ; at++ {
			o := newObjects()
			publish(t, &Bucket{Objects: o}, a, day)
			writer := &Bucket{Objects: o}
			wantPublished(t, writer, a)
			stop := lost(o, at, dead)
			err := writer.Publish(ctx, b, day.Add(time.Hour))
			if steps := stop(); steps < at {
				if err != nil || at != 5 {
					t.Fatalf("%d steps, error %v", steps, err)
				}
				break
			}
			moved := at == 4
			if known := moved && !dead; known != (err == nil) || !known && !errors.Is(err, blob.ErrUnavailable) {
				t.Fatalf("answer %d lost, dead %v: got error %v", at, dead, err)
			}
			if p := wantPublished(t, &Bucket{Objects: o}, a, b); moved != (p.Digest == b.Digest()) {
				t.Fatalf("answer %d lost: published %s", at, p.Digest)
			}
			publish(t, writer, b, day.Add(2*time.Hour))
			publish(t, &Bucket{Objects: o}, b, day.Add(3*time.Hour))
			p := wantPublished(t, writer, b)
			if want := day.Add(time.Hour); moved != p.At.Equal(want) {
				t.Errorf("answer %d lost: published at %v", at, p.At)
			}
			wantRetiring(t, writer, a)
			if err := writer.Retired(ctx, a.Digest()); err != nil {
				t.Errorf("answer %d lost: then retired: %v", at, err)
			}
		}
	}
}

// The same for Retired.
func TestBucketRetiredAnswerLost(t *testing.T) {
	ctx := context.Background()
	a, b := twoTrees(t, "")
	for _, dead := range []bool{false, true} {
		for at := 1; ; at++ {
			o := newObjects()
			publish(t, &Bucket{Objects: o}, a, day)
			writer := &Bucket{Objects: o}
			publish(t, writer, b, day)
			stop := lost(o, at, dead)
			err := writer.Retired(ctx, a.Digest())
			if steps := stop(); steps < at {
				if err != nil || at != 4 {
					t.Fatalf("%d steps, error %v", steps, err)
				}
				break
			}
			if known := at == 3 && !dead; known != (err == nil) || !known && !errors.Is(err, blob.ErrUnavailable) {
				t.Fatalf("answer %d lost, dead %v: got error %v", at, dead, err)
			}
			if err := writer.Retired(ctx, a.Digest()); err != nil {
				t.Fatalf("answer %d lost: again: %v", at, err)
			}
			wantRetiring(t, writer)
			if want := []string{treeKey(b), currentName}; !slices.Equal(slices.Sorted(maps.Keys(o.all())), slices.Sorted(slices.Values(want))) {
				t.Errorf("left behind %q", slices.Sorted(maps.Keys(o.all())))
			}
			publish(t, writer, a, day)
		}
	}
}

// twice repeats every write, as a client does that heard no answer to the first; who changed the object is that client.
type twice struct{ *objects }

func (o twice) Write(ctx context.Context, key string, data []byte, match string) (string, error) {
	if etag, err := o.objects.Write(ctx, key, data, match); err != nil {
		return etag, err
	}
	return o.objects.Write(ctx, key, data, match)
}

func TestBucketOwnRetry(t *testing.T) {
	a, b := twoTrees(t, "")
	o := newObjects()
	writer := &Bucket{Objects: twice{o}}
	publish(t, writer, a, day)
	publish(t, writer, b, day)
	wantRetiring(t, writer, a)
	if err := writer.Retired(t.Context(), a.Digest()); err != nil {
		t.Fatal(err)
	}
	publish(t, writer, a, day)
	wantRetiring(t, writer, b)
}

// An answer is lost, and before the pointer is read again somebody else has published on top.
func TestBucketAnswerLostToOther(t *testing.T) {
	base, theirs, ours := numbered(t, 0), numbered(t, 1), numbered(t, 2)
	o := newObjects()
	publish(t, &Bucket{Objects: o}, base, day)
	o.after = func(op, key string) error {
		if op != "write" || key != currentName {
			return nil
		}
		o.after = nil
		publish(t, &Bucket{Objects: o}, theirs, day)
		return blob.ErrUnavailable
	}
	if err := (&Bucket{Objects: o}).Publish(t.Context(), ours, day); !errors.Is(err, ErrConflict) {
		t.Errorf("got error %v", err)
	}
	wantPublished(t, &Bucket{Objects: o}, theirs)
	wantRetiring(t, &Bucket{Objects: o}, base, ours)
}

// A bucket may refuse a write for one that came to nothing. Then too the writer is to look again.
func TestBucketRefused(t *testing.T) {
	o := newObjects()
	writer := &Bucket{Objects: o}
	publish(t, writer, numbered(t, 0), day)
	o.before = func(op, key string) error {
		if op == "write" && key == currentName {
			return blob.ErrChanged
		}
		return nil
	}
	if err := writer.Publish(t.Context(), numbered(t, 1), day); !errors.Is(err, ErrConflict) {
		t.Errorf("got error %v", err)
	}
}

// What is remembered is nobody else's to change.
func TestBucketRetiringIsACopy(t *testing.T) {
	b := &Bucket{Objects: newObjects()}
	publish(t, b, numbered(t, 0), day)
	publish(t, b, numbered(t, 1), day)
	got, err := b.Retiring(t.Context())
	if err != nil || len(got) != 1 {
		t.Fatalf("retiring %q, error %v", got, err)
	}
	got[0] = "changed"
	wantRetiring(t, b, numbered(t, 0))
}

// A Load whose answer comes after a Publish of the same Bucket does not make it forget what it wrote.
func TestBucketLateLoad(t *testing.T) {
	o := newObjects()
	b := &Bucket{Objects: o}
	publish(t, b, numbered(t, 0), day)
	reader := &Bucket{Objects: o}
	o.after = func(string, string) error {
		o.after = nil
		publish(t, reader, numbered(t, 1), day)
		return nil
	}
	wantPublished(t, reader, numbered(t, 0))
	publish(t, reader, numbered(t, 2), day)
	wantRetiring(t, reader, numbered(t, 0), numbered(t, 1))
}

// One Bucket serves readers while it publishes and retires; none of them ever sees an older snapshot than before.
func TestBucketShared(t *testing.T) {
	const rounds, readers = 20, 3
	b := &Bucket{Objects: newObjects(), Kept: &memory{values: map[string][]byte{}}}
	publish(t, b, numbered(t, 0), day)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range readers {
		wg.Go(func() {
			for last := day; ; {
				p, err := b.Load(context.Background())
				if err != nil || p.At.Before(last) || p.Tree.Digest() != p.Digest {
					t.Errorf("load: %+v, error %v, before at %v", p, err, last)
					return
				}
				last = p.At
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for n := 1; n <= rounds; n++ {
		publish(t, b, numbered(t, n), day.Add(time.Duration(n)*time.Second))
		if err := b.Retired(context.Background(), numbered(t, n-1).Digest()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}
