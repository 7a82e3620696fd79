package snapshot

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
)

var (
	errInjected = errors.New("injected")
	day         = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// fault breaks the at-th step, counted from 1, and all later ones if dead, as if the process had been killed.
type fault struct {
	mu    sync.Mutex
	at, n int
	dead  bool
}

// set arms f anew and returns the number of steps since the last time.
func (f *fault) set(at int, dead bool) (steps int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	steps = f.n
	f.at, f.n, f.dead = at, 0, dead
	return steps
}

func (f *fault) hit() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n++
	if f.n == f.at || f.dead && f.n > f.at {
		return errInjected
	}
	return nil
}

// rig is a fresh location of one kind.
type rig struct {
	open   func(site string) Location
	fault  *fault
	names  func(t *testing.T) []string        // of all files or records
	damage func(t *testing.T, digest string)  // alters the content of a snapshot
	lose   func(t *testing.T, digest string)  // removes some of it
	say    func(t *testing.T, pointer string) // replaces the pointer
	scrap  string                             // a pointer that can't be read
	newer  string                             // one of a later version or of another writer
	refuse error                              // how newer is refused
}

func folderRig(t *testing.T) rig {
	dir := filepath.Join(t.TempDir(), "[new]", "folder")
	f := &fault{at: math.MaxInt}
	path := func(name string) string { return filepath.Join(dir, name) }
	fileOf := func(t *testing.T, digest string) string {
		name, err := fileName(digest)
		if err != nil {
			t.Fatal(err)
		}
		return path(name)
	}
	write := func(t *testing.T, name string, data []byte) {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return rig{
		open: func(site string) Location {
			return &Folder{Dir: dir, Site: site, step: func(string) error { return f.hit() }}
		},
		fault: f,
		names: func(t *testing.T) []string {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
		damage: func(t *testing.T, digest string) {
			other := mustNew(t, Header{Collection: "other"}, nil)
			write(t, fileOf(t, digest), zip(t, encodeText(t, other)))
		},
		lose: func(t *testing.T, digest string) {
			if err := os.Remove(fileOf(t, digest)); err != nil {
				t.Fatal(err)
			}
		},
		say:    func(t *testing.T, pointer string) { write(t, path(currentName), []byte(pointer)) },
		scrap:  `{"format":"chromafs.current","version":1,"minReader":1}`,
		newer:  `{"format":"chromafs.current","version":2,"minReader":2,"what":"ever"}`,
		refuse: ErrVersion,
	}
}

// mirrorRig is a folder that a collection follows.
func mirrorRig(t *testing.T) rig {
	r, follower := folderRig(t), collectionRig(true)(t)
	names := r.names
	authority := r.open
	store := follower.open("").(*Collection).Store.(*indextest.Faulty)
	store.Before = func(indextest.Op, int) error { return r.fault.hit() }
	r.open = func(site string) Location { return Mirror{Authority: authority(site), Follower: follower.open(site)} }
	r.names = func(t *testing.T) []string { return append(names(t), follower.names(t)...) }
	return r
}

func collectionRig(before bool) func(t *testing.T) rig {
	return func(*testing.T) rig {
		f := &fault{at: math.MaxInt}
		store := indextest.Memory()
		hook := func(indextest.Op, int) error { return f.hit() }
		faulty := &indextest.Faulty{Store: store, After: hook}
		if before {
			faulty = &indextest.Faulty{Store: store, Before: hook}
		}
		ctx := context.Background()
		aPart := func(t *testing.T, digest string) string {
			c := &Collection{Store: store}
			root, _ := rootID(digest, "")
			n, err := c.named(ctx, root, false)
			if err != nil || len(n.parts) < 2 {
				t.Fatalf("parts %q, error %v", n.parts, err)
			}
			return n.parts[len(n.parts)/2]
		}
		upsert := func(t *testing.T, r index.Record) {
			if err := store.Upsert(ctx, []index.Record{r}); err != nil {
				t.Fatal(err)
			}
		}
		return rig{
			open:  func(site string) Location { return &Collection{Store: faulty, Site: site} },
			fault: f,
			names: func(t *testing.T) []string {
				ids, err := store.IDs(ctx, "", "")
				if err != nil {
					t.Fatal(err)
				}
				slices.Sort(ids)
				return ids
			},
			damage: func(t *testing.T, digest string) {
				text := base64.StdEncoding.EncodeToString(zip(t, "other content"))
				upsert(t, index.Record{ID: aPart(t, digest), Metadata: index.Metadata{Kind: index.KindPart, Part: text}})
			},
			lose: func(t *testing.T, digest string) {
				if err := store.Delete(ctx, []string{aPart(t, digest)}); err != nil {
					t.Fatal(err)
				}
			},
			say: func(t *testing.T, kind string) {
				upsert(t, index.Record{ID: TreeID(""), Document: "{}", Metadata: index.Metadata{Kind: kind}})
			},
			scrap:  index.KindPathTree,
			newer:  "",
			refuse: ErrForeign,
		}
	}
}

// eachLocation runs a test on every kind of location.
func eachLocation(t *testing.T, test func(t *testing.T, open func(t *testing.T) rig)) {
	rigs := map[string]func(t *testing.T) rig{
		"folder":                             folderRig,
		"collection broken before its calls": collectionRig(true),
		"collection broken after its calls":  collectionRig(false),
		"mirror":                             mirrorRig,
		"bucket":                             bucketRig,
	}
	if len(rigs) == 0 {
		t.Fatal("no locations")
	}
	for name, open := range rigs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// twoTrees differ in a few entries of many.
func twoTrees(t testing.TB, site string) (a, b *Tree) {
	entries := someEntries(260)
	h := Header{Collection: "docs", Site: site}
	a = mustNew(t, h, entries)
	changed := slices.Clone(entries[1:])
	changed[200].Size++
	return a, mustNew(t, h, changed)
}

func publish(t *testing.T, loc Location, tree *Tree, at time.Time) {
	t.Helper()
	if err := loc.Publish(context.Background(), tree, at); err != nil {
		t.Fatal(err)
	}
}

func wantPublished(t *testing.T, loc Location, trees ...*Tree) *Published {
	t.Helper()
	p, err := loc.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.Digest != p.Tree.Digest() || !slices.ContainsFunc(trees, func(t *Tree) bool { return t.Digest() == p.Digest }) {
		t.Fatalf("published %s, the tree is %s", p.Digest, p.Tree.Digest())
	}
	return p
}

func wantRetiring(t *testing.T, loc Location, want ...*Tree) {
	t.Helper()
	got, err := loc.Retiring(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, w := range want {
		digests = append(digests, w.Digest())
	}
	if !slices.Equal(got, digests) {
		t.Fatalf("retiring %q, want %q", got, digests)
	}
	for _, d := range got {
		if tree, err := loc.Open(context.Background(), d); err != nil || tree.Digest() != d {
			t.Fatalf("open retiring %s: %v", d, err)
		}
	}
}

func TestPublish(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		ctx := context.Background()
		r := open(t)
		loc := r.open("")
		a, b := twoTrees(t, "")
		if _, err := loc.Load(ctx); !errors.Is(err, ErrNone) {
			t.Fatalf("load nothing: %v", err)
		}
		wantRetiring(t, loc)
		publish(t, loc, a, day)
		if p := wantPublished(t, loc, a); !p.At.Equal(day) {
			t.Errorf("published at %v", p.At)
		}
		publish(t, loc, b, day.Add(1500*time.Millisecond))
		if p := wantPublished(t, loc, b); !p.At.Equal(day.Add(time.Second)) {
			t.Errorf("published at %v", p.At)
		}
		wantRetiring(t, loc, a)

		publish(t, loc, a, day)
		wantRetiring(t, loc, b)
		publish(t, loc, b, day)
		wantRetiring(t, loc, a)

		if err := loc.Retired(ctx, b.Digest()); err == nil {
			t.Error("the published snapshot is retired")
		}
		if err := loc.Retired(ctx, "s1:"+strings.Repeat("0", 64)); err != nil {
			t.Errorf("retire what is not retiring: %v", err)
		}
		if err := loc.Retired(ctx, a.Digest()); err != nil {
			t.Fatal(err)
		}
		wantRetiring(t, loc)
		wantPublished(t, loc, b)
		if _, err := loc.Open(ctx, a.Digest()); !errors.Is(err, ErrMissing) {
			t.Errorf("open a retired snapshot: %v", err)
		}
		if _, err := loc.Open(ctx, "s1:../x"); !errors.Is(err, ErrMalformed) {
			t.Errorf("open no digest: %v", err)
		}
		alone := open(t)
		publish(t, alone.open(""), b, day)
		if got, want := r.names(t), alone.names(t); !slices.Equal(got, want) {
			t.Errorf("left behind %q, want %q", got, want)
		}
	})
}

// Publishing again writes nothing and keeps the time.
func TestPublishAgain(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		r := open(t)
		a, b := twoTrees(t, "")
		publish(t, r.open(""), a, day)
		publish(t, r.open(""), b, day)
		before := r.names(t)
		publish(t, r.open(""), b, day.Add(time.Hour))
		if p := wantPublished(t, r.open(""), b); !p.At.Equal(day) {
			t.Errorf("published at %v", p.At)
		}
		wantRetiring(t, r.open(""), a)
		if got := r.names(t); !slices.Equal(got, before) {
			t.Errorf("names %q, before %q", got, before)
		}
	})
}

func TestPublishRefuses(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		r := open(t)
		ctx := context.Background()
		a, _ := twoTrees(t, "")
		if err := r.open("other").Publish(ctx, a, day); !errors.Is(err, ErrMalformed) {
			t.Errorf("tree of another site: %v", err)
		}
		if err := r.open("../x").Publish(ctx, a, day); !errors.Is(err, ErrMalformed) {
			t.Errorf("site that is a path: %v", err)
		}
		if err := r.open("").Publish(ctx, a, time.Time{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("no time: %v", err)
		}
		publish(t, r.open(""), a, day)
		r.say(t, r.newer)
		if _, err := r.open("").Load(ctx); !errors.Is(err, r.refuse) {
			t.Errorf("load by a pointer of somebody else: %v", err)
		}
		if err := r.open("").Publish(ctx, a, day); !errors.Is(err, r.refuse) {
			t.Errorf("publish over a pointer of somebody else: %v", err)
		}
	})
}

// What is damaged is an error, and publishing the same tree again heals it.
func TestDamage(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		a, _ := twoTrees(t, "")
		vectors := map[string]struct {
			harm func(r rig)
			want error
		}{
			"altered": {func(r rig) { r.damage(t, a.Digest()) }, ErrDigest},
			"lost":    {func(r rig) { r.lose(t, a.Digest()) }, ErrMissing},
			"pointer": {func(r rig) { r.say(t, r.scrap) }, ErrMalformed},
		}
		for name, v := range vectors {
			r := open(t)
			publish(t, r.open(""), a, day)
			v.harm(r)
			if _, err := r.open("").Load(context.Background()); !errors.Is(err, v.want) {
				t.Errorf("%s: got error %v, want %v", name, err, v.want)
			}
			publish(t, r.open(""), a, day)
			wantPublished(t, r.open(""), a)
		}
	})
}

// Wherever a publish breaks, the old snapshot is published or the new one, whole; the next try finishes the work.
func TestPublishBreaks(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		a, b := twoTrees(t, "")
		everyBreak(t, open, func(loc Location) error { return loc.Publish(context.Background(), b, day.Add(time.Hour)) },
			func(r rig) { publish(t, r.open(""), a, day) },
			func(r rig, err error) {
				p := wantPublished(t, r.open(""), a, b)
				if p.Digest == b.Digest() {
					wantRetiring(t, r.open(""), a)
				}
				if err == nil && p.Digest != b.Digest() {
					t.Error("no error, but not published")
				}
				publish(t, r.open(""), b, day.Add(time.Hour))
				wantPublished(t, r.open(""), b)
				wantRetiring(t, r.open(""), a)
			})
	})
}

// Wherever Retired breaks, it can be called again, and nothing of the old snapshot stays.
func TestRetiredBreaks(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		ctx := context.Background()
		a, b := twoTrees(t, "")
		alone := open(t)
		publish(t, alone.open(""), b, day)
		want := alone.names(t)
		everyBreak(t, open, func(loc Location) error { return loc.Retired(ctx, a.Digest()) },
			func(r rig) {
				publish(t, r.open(""), a, day)
				publish(t, r.open(""), b, day)
			},
			func(r rig, err error) {
				wantPublished(t, r.open(""), b)
				retiring, listErr := r.open("").Retiring(ctx)
				if listErr != nil || err == nil && len(retiring) > 0 {
					t.Fatalf("retiring %q, errors %v, %v", retiring, err, listErr)
				}
				for _, d := range retiring {
					if _, err := r.open("").Open(ctx, d); err != nil && !errors.Is(err, ErrMissing) {
						t.Errorf("open a half retired snapshot: %v", err)
					}
					if err := r.open("").Retired(ctx, d); err != nil {
						t.Fatal(err)
					}
				}
				wantPublished(t, r.open(""), b)
				publish(t, r.open(""), b, day) // clears what a killed run left
				got := slices.DeleteFunc(r.names(t), func(n string) bool { return strings.HasPrefix(n, tempPrefix) })
				if !slices.Equal(got, want) {
					t.Errorf("left behind %q, want %q", got, want)
				}
			})
	})
}

// everyBreak prepares a location, breaks do at its every step, once and for good, and checks what is left.
func everyBreak(t *testing.T, open func(t *testing.T) rig, do func(Location) error, prepare func(rig), check func(rig, error)) {
	t.Helper()
	for _, dead := range []bool{false, true} {
		for at := 1; ; at++ {
			r := open(t)
			prepare(r)
			r.fault.set(at, dead)
			err := do(r.open(""))
			steps := r.fault.set(math.MaxInt, false)
			if steps < at {
				if err != nil || at < 3 {
					t.Fatalf("%d steps, error %v", steps, err)
				}
				break
			}
			if !errors.Is(err, errInjected) {
				t.Fatalf("step %d: got error %v, want the injected one", at, err)
			}
			check(r, err)
		}
	}
}

func TestSitesAreApart(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		r := open(t)
		a, b := twoTrees(t, "")
		x, y := twoTrees(t, "x")
		publish(t, r.open(""), a, day)
		publish(t, r.open("x"), x, day)
		publish(t, r.open("x"), y, day)
		if err := r.open("x").Retired(context.Background(), x.Digest()); err != nil {
			t.Fatal(err)
		}
		wantPublished(t, r.open(""), a)
		publish(t, r.open(""), b, day)
		if err := r.open("").Retired(context.Background(), a.Digest()); err != nil {
			t.Fatal(err)
		}
		wantPublished(t, r.open("x"), y)
		wantRetiring(t, r.open("x"))
	})
}

// A reader never sees anything between two snapshots, while they are published and retired under its eyes.
func TestReadWhilePublishing(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		r := open(t)
		old, _ := twoTrees(t, "")
		publish(t, r.open(""), old, day)
		stop := make(chan struct{})
		first := make(chan struct{}) // is closed after the first load
		done := make(chan error, 1)
		go func() {
			defer close(done)
			for n := 1; ; n++ {
				_, err := r.open("").Load(context.Background())
				if n == 1 {
					close(first)
				}
				if err != nil {
					done <- fmt.Errorf("load %d: %w", n, err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
		<-first
		entries := entriesOf(old)
		for i := range 8 {
			entries[100*i%len(entries)].MTime++
			now := mustNew(t, old.Header(), entries)
			publish(t, r.open(""), now, day)
			if err := r.open("").Retired(context.Background(), old.Digest()); err != nil {
				t.Fatal(err)
			}
			old = now
		}
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCancelled(t *testing.T) {
	eachLocation(t, func(t *testing.T, open func(t *testing.T) rig) {
		r := open(t)
		a, b := twoTrees(t, "")
		publish(t, r.open(""), a, day)
		before := r.names(t)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.open("").Publish(ctx, b, day); !errors.Is(err, context.Canceled) {
			t.Errorf("publish: %v", err)
		}
		if _, err := r.open("").Load(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("load: %v", err)
		}
		if got := r.names(t); !slices.Equal(got, before) {
			t.Errorf("names %q, before %q", got, before)
		}
	})
}

// A mirror whose follower fails has published: the authority decides, and the next publish brings the follower along.
func TestMirrorFollows(t *testing.T) {
	ctx := context.Background()
	a, b := twoTrees(t, "")
	folder := &Folder{Dir: t.TempDir()}
	store := &indextest.Faulty{Store: indextest.Memory()}
	collection := &Collection{Store: store}
	m := Mirror{Authority: folder, Follower: collection}
	publish(t, m, a, day)
	store.Before = func(indextest.Op, int) error { return errInjected }
	if err := m.Publish(ctx, b, day); !errors.Is(err, errInjected) {
		t.Fatalf("got error %v", err)
	}
	store.Before = nil
	wantPublished(t, m, b)
	wantPublished(t, collection, a)
	publish(t, m, b, day)
	wantPublished(t, collection, b)
	wantRetiring(t, m, a)
	if err := m.Retired(ctx, a.Digest()); err != nil {
		t.Fatal(err)
	}
	wantRetiring(t, folder)
	wantRetiring(t, collection)
}

// What was published last is the authority's, and the follower's only where the authority has nothing at all.
func TestLoadAll(t *testing.T) {
	a, b := twoTrees(t, "")
	folder, collection := &Folder{Dir: t.TempDir()}, &Collection{Store: indextest.Memory()}
	m := Mirror{Authority: folder, Follower: collection}
	check := func(loc Location, wantErr error, want *Tree, others ...*Tree) {
		t.Helper()
		p, rest, err := LoadAll(t.Context(), loc)
		if !errors.Is(err, wantErr) || (p == nil) != (want == nil) || len(rest) != len(others) {
			t.Fatalf("%+v, %d others, %v", p, len(rest), err)
		}
		if p != nil && p.Digest != want.Digest() || len(rest) > 0 && rest[0].Digest != others[0].Digest() {
			t.Errorf("%+v, %+v", p, rest)
		}
	}
	check(m, ErrNone, nil)
	check(folder, ErrNone, nil)
	publish(t, collection, a, day)
	check(m, ErrNone, nil, a)
	check(collection, nil, a)
	publish(t, folder, b, day)
	check(m, nil, b, a)
	publish(t, collection, b, day)
	check(m, nil, b)
	publish(t, collection, a, day)
	if err := os.WriteFile(filepath.Join(folder.Dir, currentName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(m, ErrMalformed, nil, a)
	check(Mirror{Authority: collection, Follower: folder}, nil, a)
}
