package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/cache"
)

// The layout is that of a folder, to the byte.
func TestBucketLayout(t *testing.T) {
	dir, o := t.TempDir(), newObjects()
	for _, site := range []string{"", "v2"} {
		a, b := twoTrees(t, site)
		for _, loc := range []Location{&Folder{Dir: dir, Site: site}, &Bucket{Objects: o, Site: site}} {
			publish(t, loc, a, day)
			publish(t, loc, b, day.Add(time.Hour))
		}
	}
	there := o.all()
	if len(there) != 6 {
		t.Fatalf("objects %q", slices.Sorted(maps.Keys(there)))
	}
	for key, data := range there {
		if file, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(key))); err != nil || !bytes.Equal(file, data) {
			t.Errorf("%s is another than in a folder, error %v", key, err)
		}
	}
}

// wantCalls loads and compares what that asked for.
func wantCalls(t *testing.T, what string, o *objects, b *Bucket, tree *Tree, want ...string) *Published {
	t.Helper()
	o.since()
	p := wantPublished(t, b, tree)
	if got := o.since(); !slices.Equal(got, want) {
		t.Errorf("%s: called %q, want %q", what, got, want)
	}
	return p
}

// An unchanged snapshot costs one request, in a process and, with what is kept, in the next.
func TestBucketRequests(t *testing.T) {
	o, kept := newObjects(), &memory{values: map[string][]byte{}}
	a, b := twoTrees(t, "")
	writer := &Bucket{Objects: o}
	pointer, first, second := "get current.json", "get "+treeKey(a), "get "+treeKey(b)

	publish(t, writer, a, day)
	if got, want := o.since(), []string{pointer, first, "write " + treeKey(a), "write current.json"}; !slices.Equal(got, want) {
		t.Errorf("publish called %q, want %q", got, want)
	}
	wantCalls(t, "load what this one published", o, writer, a, pointer)

	reader := &Bucket{Objects: o, Kept: kept}
	p := wantCalls(t, "first", o, reader, a, pointer, first)
	read := o.read
	if again := wantCalls(t, "second", o, reader, a, pointer); again != p {
		t.Error("an unchanged snapshot is another")
	}
	if o.read != read {
		t.Errorf("%d bytes read of an unchanged pointer", o.read-read)
	}
	wantCalls(t, "another process", o, &Bucket{Objects: o, Kept: kept}, a, pointer)
	wantCalls(t, "another machine", o, &Bucket{Objects: o}, a, pointer, first)

	publish(t, writer, b, day.Add(time.Hour))
	p = wantCalls(t, "published anew", o, reader, b, pointer, second)
	if err := writer.Retired(t.Context(), a.Digest()); err != nil {
		t.Fatal(err)
	}
	if again := wantCalls(t, "only retired", o, reader, b, pointer); again.Tree != p.Tree || !again.At.Equal(p.At) {
		t.Errorf("published %+v, before %+v", again, p)
	}
	wantCalls(t, "by who retired", o, writer, b, pointer)
}

// A folder keeps a snapshot for the next process.
func TestBucketKeptOnDisk(t *testing.T) {
	o, dir := newObjects(), t.TempDir()
	a, _ := twoTrees(t, "")
	publish(t, &Bucket{Objects: o}, a, day)
	for what, want := range [][]string{{"get current.json", "get " + treeKey(a)}, {"get current.json"}} {
		disk, err := cache.OpenDisk(dir, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		wantCalls(t, fmt.Sprintf("process %d", what), o, &Bucket{Objects: o, Kept: disk}, a, want...)
	}
}

// What is kept and damaged is dropped, and fetched.
func TestBucketKeptDamaged(t *testing.T) {
	o, kept := newObjects(), &memory{values: map[string][]byte{}}
	a, b := twoTrees(t, "")
	publish(t, &Bucket{Objects: o}, a, day)
	wantPublished(t, &Bucket{Objects: o, Kept: kept}, a)
	good, _ := kept.Get(treeKey(a))
	if !bytes.Equal(good, o.all()[treeKey(a)]) {
		t.Fatal("what is kept is not the object")
	}
	vectors := map[string][]byte{
		"empty": {}, "cut": good[:len(good)-1], "more": append(slices.Clone(good), 0), "other": zip(t, encodeText(t, b)),
	}
	for name, bad := range vectors {
		kept.Put(treeKey(a), bad)
		wantCalls(t, name, o, &Bucket{Objects: o, Kept: kept}, a, "get current.json", "get "+treeKey(a))
		if now, _ := kept.Get(treeKey(a)); !bytes.Equal(now, good) {
			t.Errorf("%s stays", name)
		}
	}
	// What is damaged in the bucket too is not kept.
	kept.Put(treeKey(a), vectors["other"])
	o.set(treeKey(a), vectors["other"])
	if _, err := (&Bucket{Objects: o, Kept: kept}).Load(t.Context()); !errors.Is(err, ErrDigest) {
		t.Errorf("got error %v", err)
	}
	if _, ok := kept.Get(treeKey(a)); ok {
		t.Error("damage is kept")
	}
}

// A tree that is there is not sent again, also if nothing names it, and what is there in its place is replaced.
func TestBucketTreeThere(t *testing.T) {
	a, b := numbered(t, 0), numbered(t, 1)
	newer := strings.Replace(encodeText(t, b), `"minReader":1`, `"minReader":99`, 1)
	newer = strings.Replace(newer, `"version":1`, `"version":99`, 1)
	vectors := map[string]struct {
		there []byte
		want  error
	}{
		"whole":      {zip(t, encodeText(t, b)), nil},
		"damaged":    {[]byte("x"), ErrMalformed},
		"another":    {zip(t, encodeText(t, a)), ErrDigest},
		"newer":      {zip(t, newer), ErrVersion},
		"over limit": {zip(t, encodeText(t, mustNew(t, Header{}, files("a", "b")))), ErrLimit},
	}
	for name, v := range vectors {
		o := newObjects()
		writer := &Bucket{Objects: o, Limits: Limits{Entries: 1}}
		publish(t, writer, a, day)
		o.set(treeKey(b), v.there)
		if _, err := writer.Open(t.Context(), b.Digest()); !errors.Is(err, v.want) {
			t.Fatalf("%s: open: %v", name, err)
		}
		o.since()
		publish(t, writer, b, day)
		if sent := slices.Contains(o.since(), "write "+treeKey(b)); sent != (v.want != nil) {
			t.Errorf("%s: sent is %v", name, sent)
		}
		wantPublished(t, &Bucket{Objects: o}, b)
	}
}

// Limits hold for what is read, and for what is written.
func TestBucketLimits(t *testing.T) {
	o := newObjects()
	a, _ := twoTrees(t, "")
	publish(t, &Bucket{Objects: o}, a, day)
	if _, err := (&Bucket{Objects: o, Limits: Limits{CompressedBytes: 100}}).Load(t.Context()); !errors.Is(err, ErrLimit) {
		t.Errorf("tree over a limit: %v", err)
	}
	o.set(currentName, make([]byte, 4*pointerBytes))
	o.read = 0
	if _, err := (&Bucket{Objects: o}).Load(t.Context()); !errors.Is(err, ErrMalformed) || o.read > pointerBytes+1 {
		t.Errorf("%d bytes read of a large pointer, error %v", o.read, err)
	}
	many := pointer{digest: a.Digest(), at: day}
	for n := range pointerBytes/70 + 1 {
		many.retiring = append(many.retiring, fmt.Sprintf("%s%064d", digestPrefix, n))
	}
	if _, err := (&Bucket{Objects: o}).point(t.Context(), &seen{}, many); !errors.Is(err, ErrLimit) {
		t.Errorf("pointer that nobody reads: %v", err)
	}
}

// A body that breaks off is no damage: nothing is replaced for it.
func TestBucketBodyBreaks(t *testing.T) {
	a, b := twoTrees(t, "")
	for _, key := range []string{currentName, treeKey(b)} {
		o := newObjects()
		publish(t, &Bucket{Objects: o}, a, day)
		publish(t, &Bucket{Objects: o}, b, day)
		before := o.all()
		o.body = func(k string, r io.Reader) io.Reader {
			if k != key {
				return r
			}
			return io.MultiReader(io.LimitReader(r, 20), brokenReader{})
		}
		reader := &Bucket{Objects: o}
		_, err := reader.Load(t.Context())
		for what, err := range map[string]error{"load": err, "publish": (&Bucket{Objects: o}).Publish(t.Context(), b, day)} {
			if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), o.URI(key)) {
				t.Errorf("%s: got error %v", what, err)
			}
		}
		if !maps.EqualFunc(before, o.all(), bytes.Equal) {
			t.Errorf("%s broke off, and something was replaced", key)
		}
		o.body = nil
		wantPublished(t, reader, b)
		if o.open != 0 {
			t.Errorf("%d bodies stay open", o.open)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errInjected }

// Every error names the object, once, and keeps its cause.
func TestBucketErrors(t *testing.T) {
	ctx := context.Background()
	a, b := twoTrees(t, "v2")
	site := "sites/v2/"
	load := func(l Location) error { _, err := l.Load(ctx); return err }
	retiring := func(l Location) error { _, err := l.Retiring(ctx); return err }
	again := func(l Location) error { return l.Publish(ctx, a, day) }
	retire := func(l Location) error { return l.Retired(ctx, a.Digest()) }
	vectors := []struct {
		op, key string
		do      func(Location) error
	}{
		{"get", site + currentName, load},
		{"get", site + treeKey(b), load},
		{"get", site + currentName, retiring},
		{"get", site + currentName, again},
		{"get", site + treeKey(a), again},
		{"write", site + currentName, again},
		{"get", site + currentName, retire},
		{"delete", site + treeKey(a), retire},
		{"write", site + currentName, retire},
	}
	for _, v := range vectors {
		for _, cause := range []error{blob.ErrDenied, blob.ErrUnavailable} {
			o := newObjects()
			publish(t, &Bucket{Objects: o, Site: "v2"}, a, day)
			publish(t, &Bucket{Objects: o, Site: "v2"}, b, day)
			o.before = func(op, key string) error {
				if op == v.op && key == v.key {
					return cause
				}
				return nil
			}
			err := v.do(&Bucket{Objects: o, Site: "v2"})
			if !errors.Is(err, cause) || strings.Count(err.Error(), o.URI(v.key)) != 1 {
				t.Errorf("%s %s: got error %v", v.op, v.key, err)
			}
		}
	}
	// Errors that are not of the storage say where too.
	o := newObjects()
	if err := load(&Bucket{Objects: o}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), o.URI(currentName)) {
		t.Errorf("nothing there: %v", err)
	}
	o.set(currentName, []byte("{"))
	if err := load(&Bucket{Objects: o}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), o.URI(currentName)) {
		t.Errorf("malformed: %v", err)
	}
	_, err := (&Bucket{Objects: o}).Open(ctx, a.Digest())
	if !errors.Is(err, ErrMissing) || !errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), o.URI(treeKey(a))) {
		t.Errorf("missing: %v", err)
	}
}

// Once the context is done nothing more is written or deleted.
func TestBucketCancelled(t *testing.T) {
	a, b := twoTrees(t, "")
	ops := map[string]func(context.Context, Location) error{
		"publish": func(ctx context.Context, l Location) error {
			return l.Publish(ctx, mustNew(t, Header{}, files("c")), day)
		},
		"retired": func(ctx context.Context, l Location) error { return l.Retired(ctx, a.Digest()) },
	}
	cut := func(name string, do func(context.Context, Location) error, remembers bool) {
		for at := 1; ; at++ {
			o := newObjects()
			publish(t, &Bucket{Objects: o}, a, day)
			publish(t, &Bucket{Objects: o}, b, day)
			o.since()
			ctx, cancel := context.WithCancel(t.Context())
			writer, n, done := &Bucket{Objects: o}, 0, ""
			if remembers {
				wantPublished(t, writer, b)
				o.since()
			}
			o.after = func(op, key string) error {
				if n++; n == at {
					cancel()
					done = op + " " + key
				}
				return nil
			}
			err := do(ctx, writer)
			cancel()
			calls := o.since()
			last := len(calls) == at && err == nil
			writes := slices.ContainsFunc(calls[min(at, len(calls)):], func(c string) bool { return !strings.HasPrefix(c, "get ") })
			if !last && (!errors.Is(err, context.Canceled) || writes) {
				t.Errorf("%s cancelled after %s: called %q, error %v", name, done, calls, err)
			}
			if last {
				if at < 3 {
					t.Errorf("%s: %d calls", name, at)
				}
				break
			}
			if at > 9 {
				t.Fatalf("%s never ends", name)
			}
		}
	}
	for name, do := range ops {
		cut(name, do, false)
		cut(name, do, true)
	}
}
