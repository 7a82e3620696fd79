package verify_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

func TestLazySite(t *testing.T) {
	s := largeSite(t)
	var size int64
	lazy := 0
	for _, e := range s.entries {
		if e.Lazy != nil {
			lazy++
			size += e.Size
		}
	}
	if s.entry(largeFile).Size <= blob.WholeBytes || s.entry(smallSpec).Size > blob.WholeBytes {
		t.Fatal("the sizes are not what this is to test")
	}
	r := s.verify()
	if !r.OK() || r.Lazy != lazy || lazy != 4 || r.Fetched != lazy || r.LazyBytes != size || r.NoFetch {
		t.Errorf("%d lazy, %d fetched, %d bytes of %d: %+v", r.Lazy, r.Fetched, r.LazyBytes, size, r.Findings)
	}
	if r.Files != 7 || r.Links != 1 || r.Bytes > 1000 {
		t.Errorf("%d files, %d links, %d bytes", r.Files, r.Links, r.Bytes)
	}
	if len(r.Viewers) != 3 || r.Viewers[0].Visible != 4 || r.Viewers[1].Visible != 5 || r.Viewers[2].Visible != 7 {
		t.Errorf("%+v", r.Viewers)
	}
	// Each is fetched once, whoever may see it; a piece may be read again on its own.
	if c := s.objects.Counts(); c.Read < size || c.Read > size+8*blob.BlockBytes {
		t.Errorf("%d bytes fetched of %d", c.Read, size)
	}

	s.options.NoFetch = true
	r = s.verify()
	if !r.OK() || r.Lazy != lazy || r.Fetched != 0 || !r.NoFetch {
		t.Errorf("%d lazy, %d fetched: %+v", r.Lazy, r.Fetched, r.Findings)
	}
	if c := s.objects.Counts(); c.Read != 0 || c.Open != 0 || c.Stat != lazy+1 { // one has a block list
		t.Errorf("--no-fetch: %+v", c)
	}
}

// damage is one thing that is broken.
type damage struct {
	name string
	do   func(s *site)
	want []want
	// blind is set if it can't be found without fetching.
	blind bool
	// remedy is that of the first.
	remedy string
}

const again = "run chromafs ingest"

// expectDamage breaks each in a site of its own, and looks for it with and without fetching.
func expectDamage(t *testing.T, newSite func(testing.TB) *site, all []damage) {
	t.Helper()
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.options.PerKind = 500
			tt.do(s)
			r := s.verify()
			expect(t, r, tt.want)
			if i := slices.IndexFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == tt.want[0].kind }); i < 0 || !strings.Contains(r.Findings[i].Remedy, tt.remedy) {
				t.Errorf("no remedy %q: %+v", tt.remedy, r.Findings)
			}
			s.options.NoFetch = true
			if r := s.verify(); tt.blind && (!r.OK() || !r.NoFetch || r.Fetched > 0) {
				t.Errorf("--no-fetch, %d fetched: %+v", r.Fetched, r.Findings)
			} else if !tt.blind {
				fetched := func(w want) bool { return strings.Contains(w.detail, "4096 bytes") }
				expect(t, r, slices.DeleteFunc(slices.Clone(tt.want), fetched))
			}
		})
	}
}

func TestLazyDamage(t *testing.T) {
	expectDamage(t, lazySite, []damage{
		{"missing", func(s *site) { s.object(smallSpec, gone) }, []want{{verify.KindObject, smallSpec, "not found"}}, false, again},
		{"short", func(s *site) { s.object(smallSpec, shorter) }, []want{{verify.KindObject, smallSpec, "ends early"}}, false, again},
		{"long", func(s *site) { s.object(smallSpec, longer) }, []want{{verify.KindObject, smallSpec, "behind its end"}}, false, again},
		{"flipped", func(s *site) { s.object(smallSpec, flip(7)) }, []want{{verify.KindObject, smallSpec, "wrong sha256"}}, true, again},
		{"of staff alone", func(s *site) { s.object(staffSpec, gone) }, []want{{verify.KindObject, staffSpec, "not found"}}, false, again},
		{"pointed missing", func(s *site) { s.object(pointed, gone) }, []want{{verify.KindObject, pointed, "models/one.json: not found"}}, false, "put the object back"},
		{"pointed changed", func(s *site) { s.object(pointed, longer) }, []want{{verify.KindObject, pointed, "changed since it was pinned"}}, false, "put the object back"},
		{"pinned to another digest", func(s *site) {
			s.edit(pointed, func(e *snapshot.Entry) { e.SHA256[0] ^= 1 })
		}, []want{{verify.KindObject, pointed, "wrong sha256"}}, true, "put the object back"},
		{"size wrong in the tree", func(s *site) { s.edit(smallSpec, func(e *snapshot.Entry) { e.Size-- }) }, []want{
			{verify.KindSize, smallSpec, "in the snapshot with "}, {verify.KindObject, smallSpec, "behind its end"},
		}, false, again},
		{"stale", func(s *site) { s.lay(smallSpec, spec(3001)) }, []want{{verify.KindStale, smallSpec, "is not the one published"}}, false, again},
		{"stale, of the same size", func(s *site) { s.lay(smallSpec, strings.Replace(spec(3000), "secret", "public", 1)) }, []want{
			{verify.KindStale, smallSpec, ""},
		}, false, again},
		{"stale and missing", func(s *site) { s.lay(smallSpec, spec(3001)); s.object(smallSpec, gone) }, []want{
			{verify.KindStale, smallSpec, ""}, {verify.KindObject, smallSpec, "not found"},
		}, false, again},
		{"a page that grew to a large spec", func(s *site) {
			s.lay("api/new.json", spec(2))
			s.read()
			s.publish()
			s.lay("api/new.json", spec(3000))
		}, []want{{verify.KindStale, "api/new.json", ""}}, false, again},
		{"chunked by the options", func(s *site) { s.options.Source.Lazy = source.LazyOptions{SpecBytes: 1 << 30} }, []want{
			{verify.KindLazy, smallSpec, "lazy in the snapshot"}, {verify.KindLazy, staffSpec, ""},
		}, false, again},
		{"lazy by the options", func(s *site) { s.options.Source.Lazy.Match = []string{"**/*.txt", "README.md"} }, []want{
			{verify.KindLazy, "README.md", "chunked in the snapshot, but by the folder and the options it is lazy: named by lazy.match (README.md)"},
		}, false, again},
		{"missing in the tree", func(s *site) { s.drop(staffSpec) }, []want{{verify.KindMissing, staffSpec, "nothing says to ignore it"}}, false, again},
		{"gone from the folder", func(s *site) { s.must(os.Remove(s.path(staffSpec))) }, []want{{verify.KindExtra, staffSpec, ""}}, false, again},
		{"pointer missing in the tree", func(s *site) { s.drop(pointed) }, []want{
			{verify.KindMissing, pointed, "lazy.pointers names it, as s3://bucket/models/one.json"},
		}, false, again},
		{"pointer to another object", func(s *site) { s.options.Source.Pointers[0].URI = "s3://bucket/models/two.json" }, []want{
			{verify.KindLazy, pointed, "s3://bucket/models/one.json in the snapshot, but lazy.pointers names s3://bucket/models/two.json"},
		}, false, again},
		{"pointer to an object of its own", func(s *site) {
			s.edit(pointed, func(e *snapshot.Entry) { *e = s.keep(pointed, []byte(spec(2500)), e.Access) })
		}, []want{{verify.KindLazy, pointed, "an object of its own in the snapshot"}}, false, again},
		{"pointer no more configured", func(s *site) { s.options.Source.Pointers = nil }, []want{{verify.KindExtra, pointed, "not in the folder"}}, false, again},
		{"pointer excluded", func(s *site) { s.options.Source.Exclude = []string{"elsewhere"} }, []want{{verify.KindExtra, pointed, "excluded by the configuration"}}, false, again},
		{"pointer in the way of a file", func(s *site) { s.lay(pointed, spec(2500)) }, []want{
			{verify.KindMissing, pointed, "the folder has a file"}, {verify.KindLazy, pointed, "s3://bucket/models/one.json in the snapshot, but a file of the folder"},
		}, false, again},
		{"pointer opened to everyone", func(s *site) {
			s.options.Source.Rules = append(s.options.Source.Rules, access.Rule{Glob: "elsewhere/**", Access: groups("staff")})
		}, []want{
			{verify.KindAccess, pointed, "for everyone in the snapshot"}, {verify.KindLeak, pointed, "anonymous learns of it by a listing"},
			{verify.KindLeak, pointed, "anonymous opens it (4096 bytes"}, {verify.KindLeak, "elsewhere", ""}, {verify.KindLeak, "", "a lazy file was asked for"},
		}, false, ""},
		{"opened to everyone", func(s *site) { s.edit(staffSpec, func(e *snapshot.Entry) { e.Access = access.Everyone() }) }, []want{
			{verify.KindAccess, staffSpec, ""}, {verify.KindLeak, staffSpec, "anonymous learns of it by a listing; "}, {verify.KindLeak, staffSpec, "anonymous opens it"},
		}, false, ""},
		{"closed", func(s *site) { s.edit(smallSpec, func(e *snapshot.Entry) { e.Access = groups("staff") }) }, []want{
			{verify.KindAccess, smallSpec, ""}, {verify.KindHidden, smallSpec, "anonymous is not shown it"}, {verify.KindHidden, smallSpec, "anonymous can't open it"},
			{verify.KindHidden, "latest.json", ""},
		}, false, ""},
	})
}

func TestLargeDamage(t *testing.T) {
	expectDamage(t, largeSite, []damage{
		{"large missing", func(s *site) { s.object(largeFile, gone) }, []want{{verify.KindObject, largeFile, "not found"}}, false, again},
		{"large short", func(s *site) { s.object(largeFile, shorter) }, []want{{verify.KindObject, largeFile, "ends early"}}, false, again},
		{"large long", func(s *site) { s.object(largeFile, longer) }, []want{{verify.KindObject, largeFile, "behind its end"}}, false, again},
		{"large flipped at the start", func(s *site) { s.object(largeFile, flip(0)) }, []want{{verify.KindObject, largeFile, "wrong sha256"}}, true, again},
		{"large flipped at the end", func(s *site) { s.object(largeFile, flip(-1)) }, []want{{verify.KindObject, largeFile, "wrong sha256"}}, true, again},
		{"block list missing", func(s *site) { s.blockList(largeFile, gone) }, []want{{verify.KindObject, largeFile, "not found"}}, false, again},
		{"block list short", func(s *site) { s.blockList(largeFile, shorter) }, []want{{verify.KindObject, largeFile, "ends early"}}, false, again},
		{"block list flipped", func(s *site) { s.blockList(largeFile, flip(40)) }, []want{{verify.KindObject, largeFile, "wrong sha256"}}, true, again},
		{"large stale", func(s *site) { s.lay(largeFile, largeText()+"more\n") }, []want{{verify.KindStale, largeFile, ""}}, false, again},
	})
}

// TestStorageFaults has a storage that answers nothing: each lazy file is named with its object, and all else is compared.
func TestStorageFaults(t *testing.T) {
	for _, tt := range []struct {
		err    error
		remedy string
	}{
		{blob.ErrDenied, "credentials"}, {blob.ErrUnavailable, "once the storage answers"}, {blob.ErrRegion, "--s3-region"},
		{blob.ErrClock, "clock"}, {blob.ErrNotFound, "sends the object"}, {errors.New("odd"), "--blobs"},
	} {
		for _, noFetch := range []bool{false, true} {
			s := lazySite(t)
			s.options.NoFetch = noFetch
			s.fail(tt.err)
			s.record(s.id("README.md", 0), func(r *index.Record) { r.Document += "x" })
			r := s.verify()
			all := []want{{verify.KindChunkAltered, "README.md", ""}}
			for _, e := range s.entries {
				if e.Lazy != nil {
					name := "sha256/"
					if e.Lazy.URI != "" {
						name = "models/one.json"
					}
					all = append(all, want{verify.KindObject, e.Path, name}, want{verify.KindObject, e.Path, tt.err.Error()})
				}
			}
			expect(t, r, all)
			for _, f := range r.Findings {
				if f.Kind == verify.KindObject && f.Path != pointed && !strings.Contains(f.Remedy, tt.remedy) {
					t.Errorf("%v: remedy %q", tt.err, f.Remedy)
				}
			}
			if r.Fetched != 0 || r.Lazy != 3 || sum(r.Patterns) == 0 {
				t.Errorf("%v: %+v", tt.err, r)
			}
		}
	}
}

// TestStorageDown has more files than it takes to give up.
func TestStorageDown(t *testing.T) {
	s := emptySite(t, "")
	s.options.Source.Default = to(access.Everyone())
	s.options.Source.Lazy.Match = []string{"*.txt"}
	const files = 40
	for i := range files {
		s.lay(strings.Repeat("a", i+1)+".txt", strings.Repeat("text\n", i+1))
	}
	s.read()
	s.publish()
	s.objects.Counts()
	s.fail(blob.ErrUnavailable)
	r := s.verify()
	told := 0
	for _, f := range r.Findings {
		if f.Kind == verify.KindObject && strings.Contains(f.Detail, "sha256/") && strings.Contains(f.Detail, blob.ErrUnavailable.Error()) {
			told++
		}
	}
	if asked := s.objects.Counts().Stat; told != files || asked < 3 || asked > files/2 {
		t.Errorf("%d told, asked %d times", told, asked)
	}
	s.objects.Fault(nil)
	expect(t, s.verify(), nil)
}

// TestNoBlobs can't open what holds the objects.
func TestNoBlobs(t *testing.T) {
	for _, tt := range []struct {
		open   func(context.Context, *snapshot.Tree) (verify.Blobs, error)
		detail string
	}{
		{nil, "no place for the objects"},
		{func(context.Context, *snapshot.Tree) (verify.Blobs, error) { return nil, nil }, "no place for the objects"},
		{func(context.Context, *snapshot.Tree) (verify.Blobs, error) { return nil, blob.ErrDenied }, "access denied"},
		{func(context.Context, *snapshot.Tree) (verify.Blobs, error) {
			return blob.NewFiles(blob.FilesOptions{}), nil
		}, blob.ErrNoStore.Error()},
	} {
		s := lazySite(t)
		s.header.Blobs = "s3://docs/prefix"
		s.publish()
		s.options.Blobs = tt.open
		expect(t, s.verify(), []want{
			{verify.KindObject, smallSpec, "s3://docs/prefix/sha256/"}, {verify.KindObject, smallSpec, tt.detail},
			{verify.KindObject, pointed, "s3://bucket/models/one.json: "}, {verify.KindObject, staffSpec, tt.detail},
		})
	}
	s := newSite(t, "")
	s.options.Blobs = func(context.Context, *snapshot.Tree) (verify.Blobs, error) {
		t.Error("opened without lazy files")
		return nil, nil
	}
	expect(t, s.verify(), nil)
}

// TestLazyInCollection has what other readers of the collection know: nothing of lazy files.
func TestLazyInCollection(t *testing.T) {
	published := func() *site {
		s := lazySite(t)
		s.location = &snapshot.Collection{Store: s.store}
		s.publish()
		return s
	}
	expect(t, published().verify(), nil)
	s := published()
	s.record(snapshot.TreeID(""), func(r *index.Record) {
		added := `{"` + smallSpec + `":{"isPublic":true,"groups":[],"size":` + fmt.Sprint(s.entry(smallSpec).Size) + "},"
		r.Document = compact(t, strings.Replace(plain(t, r.Document), "{", added, 1))
	})
	expect(t, s.verify(), []want{{verify.KindPathTree, smallSpec, "no page of the snapshot"}})
	s = published()
	chunk := index.Record{ID: strings.Repeat("a", 26) + "#0", Document: "text", Metadata: index.Metadata{Kind: index.KindChunk, PageSlug: staffSpec, Groups: []string{"*"}}}
	s.must(s.store.Upsert(t.Context(), []index.Record{chunk}))
	expect(t, s.verify(), []want{{verify.KindRecordExtra, staffSpec, "is named by no page"}})
}

func TestLazyCancelled(t *testing.T) {
	s := lazySite(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.objects.Fault(func(ctx context.Context, _, _ string) error { cancel(); return ctx.Err() })
	if r, err := verify.Run(ctx, s.store, s.location, s.options); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// TestLazyLeaks has readers who are served lazy files that are not theirs, or kept from those that are, in one way each. No
// request goes out for them.
func TestLazyLeaks(t *testing.T) {
	tests := []struct {
		name string
		bend func(own, all verify.Reader) verify.Reader
		want []want
	}{
		{"opens", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, open: all.Open} }, []want{
			{verify.KindLeak, staffSpec, `open of "internal/staff.json"`}, {verify.KindLeak, staffSpec, "anonymous opens it (4096 bytes"},
		}},
		{"reads", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, readFile: all.ReadFile} }, []want{
			{verify.KindLeak, staffSpec, `read file of "internal/staff.json"`}, {verify.KindLeak, "", "anonymous: "},
		}},
		{"stat answers", func(own, all verify.Reader) verify.Reader { return bent{Reader: own, stat: all.Stat} }, []want{
			{verify.KindLeak, staffSpec, `stat of "internal/staff.json"`},
		}},
		{"asks before it refuses", func(own, all verify.Reader) verify.Reader {
			return bent{Reader: own, open: func(name string) (fs.File, error) {
				if f, err := all.Open(name); err == nil {
					_, _ = f.Read(make([]byte, 1))
					f.Close()
				}
				return own.Open(name)
			}}
		}, []want{{verify.KindLeak, staffSpec, "anonymous opens it (0 bytes"}, {verify.KindLeak, "", "a lazy file was asked for"}}},
		{"does not open", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, open: func(name string) (fs.File, error) {
				if name == smallSpec {
					name = "none"
				}
				return own.Open(name)
			}}
		}, []want{{verify.KindHidden, smallSpec, "anonymous can't open it: open none"}}},
		{"opens another", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, open: func(name string) (fs.File, error) {
				if name == smallSpec {
					name = pointed
				}
				return own.Open(name)
			}}
		}, []want{{verify.KindHidden, smallSpec, "not fetched for this viewer"}}},
		{"sees another size", func(own, _ verify.Reader) verify.Reader {
			return bent{Reader: own, stat: func(name string) (fs.FileInfo, error) {
				if name == smallSpec {
					name = pointed
				}
				return own.Stat(name)
			}}
		}, []want{{verify.KindSize, smallSpec, "anonymous sees "}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := lazySite(t)
			r, err := verify.RunWith(t.Context(), s.store, s.location, s.options, func(v access.Viewer, own, all verify.Reader) verify.Reader {
				if v.Operator || v.SignedIn {
					return own
				}
				return tt.bend(own, all)
			})
			s.must(err)
			expect(t, r, tt.want)
			if c := s.objects.Counts(); c.Stat != 3 || c.Open != 3 {
				t.Errorf("fetched for viewers: %+v", c)
			}
		})
	}
}
