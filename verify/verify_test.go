package verify_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

func TestGoodSite(t *testing.T) {
	for _, name := range []string{"", "handbook"} {
		s := newSite(t, name)
		r := s.verify()
		if !r.OK() {
			t.Fatalf("site %q: %+v", name, r.Findings)
		}
		tried := 0
		for class, n := range r.Patterns {
			tried += n
			if n == 0 {
				t.Errorf("no pattern of class %q", class)
			}
		}
		if tried < 200 || len(r.Patterns) != 10 {
			t.Errorf("%d patterns: %v", tried, r.Patterns)
		}
		if r.Files != 9 || r.Links != 2 || r.Folders != 4 || r.Lines < 200 || r.Writes < 30 || r.Bytes < 10_000 || r.Records < 16 {
			t.Errorf("%+v", r)
		}
		ignored := map[source.Reason]int{source.DotName: 1, source.NodeModules: 1, source.NotText: 1, source.LinkDangling: 1}
		if !maps.Equal(r.Ignored, ignored) {
			t.Errorf("ignored %v, want %v", r.Ignored, ignored)
		}
	}
}

// want is one finding that a test expects, with a piece of its detail.
type want struct {
	kind   verify.Kind
	path   string
	detail string
}

// TestDamage breaks one thing at a time: it must be found and named, and no other kind of finding may come up.
func TestDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(s *site)
		want   []want
	}{
		{"chunk altered", func(s *site) {
			s.record(s.id("guides/long.md", 1), func(r *index.Record) { r.Document = strings.Replace(r.Document, "topic", "tropic", 1) })
		}, []want{{verify.KindChunkAltered, "guides/long.md", "chunk 1,"}}},
		{"chunk shortened", func(s *site) {
			s.record(s.id("guides/long.md", 1), func(r *index.Record) { r.Document = r.Document[:100] })
		}, []want{{verify.KindChunkAltered, "guides/long.md", "chunk 1,"}}},
		{"chunk emptied", func(s *site) {
			s.record(s.id("README.md", 0), func(r *index.Record) { r.Document = "" })
		}, []want{{verify.KindChunkAltered, "README.md", "chunk 0,"}}},
		{"chunk dropped", func(s *site) {
			s.must(s.store.Delete(t.Context(), []string{s.id("guides/long.md", 2)}))
		}, []want{{verify.KindChunkMissing, "guides/long.md", "chunk 2 "}}},
		{"chunk duplicated", func(s *site) {
			s.record(s.id("guides/long.md", 1), func(r *index.Record) { r.ID = strings.Repeat("a", 26) + "#1" })
		}, []want{{verify.KindRecordExtra, "guides/long.md", "aaaa#1\", chunk 1,"}}},
		{"chunk beyond the last", func(s *site) {
			s.record(s.id("README.md", 0), func(r *index.Record) { r.ID = strings.TrimSuffix(r.ID, "0") + "1" })
		}, []want{{verify.KindRecordExtra, "README.md", "#1"}}},
		{"chunk repeated in the next", func(s *site) {
			records, err := s.store.Get(t.Context(), []string{s.id("guides/long.md", 0)})
			s.must(err)
			s.record(s.id("guides/long.md", 1), func(r *index.Record) { r.Document = records[0].Document })
		}, []want{{verify.KindChunkAltered, "guides/long.md", "chunk 1,"}}},
		{"chunks swapped between pages", func(s *site) {
			s.swap(s.id("guides/long.md", 1), s.id("guides/other.md", 1), false)
		}, []want{
			{verify.KindChunkAltered, "guides/long.md", "chunk 1,"},
			{verify.KindChunkAltered, "guides/other.md", "chunk 1,"},
		}},
		{"records swapped between pages", func(s *site) {
			s.swap(s.id("guides/long.md", 1), s.id("guides/other.md", 1), true)
		}, []want{
			{verify.KindChunkAltered, "guides/long.md", "chunk 1,"},
			{verify.KindChunkAltered, "guides/other.md", "chunk 1,"},
			{verify.KindRecord, "guides/long.md", `page_slug is "guides/other.md"`},
		}},
		{"chunks swapped within a page", func(s *site) {
			s.swap(s.id("guides/long.md", 0), s.id("guides/long.md", 1), true)
		}, []want{{verify.KindChunkAltered, "guides/long.md", ""}, {verify.KindRecord, "guides/long.md", "chunk_index is 1, not 0"}}},
		{"page missing in the tree", func(s *site) { s.drop("guides/windows.md") }, []want{
			{verify.KindMissing, "guides/windows.md", "nothing says to ignore it"},
			{verify.KindRecordExtra, "guides/windows.md", ""},
		}},
		{"page new in the folder", func(s *site) { s.lay("new/page.md", "new\n") }, []want{{verify.KindMissing, "new/page.md", ""}}},
		{"page new, with a name that is not UTF-8", func(s *site) {
			if err := os.WriteFile(filepath.Join(s.dir, "bad\xff.md"), []byte("x\n"), 0o666); err != nil {
				s.t.Skipf("no such names here: %v", err)
			}
		}, []want{{verify.KindMissing, "bad\xff.md", "UTF-8"}}},
		{"page gone from the folder", func(s *site) { s.must(os.Remove(s.path("guides/windows.md"))) }, []want{
			{verify.KindExtra, "guides/windows.md", "not in the folder"},
		}},
		{"folder gone", func(s *site) { s.must(os.RemoveAll(s.path("中文"))) }, []want{{verify.KindExtra, "中文/说明.md", ""}}},
		{"page ignored since", func(s *site) { s.lay(".gitignore", "/guides-b.md\n/中文/\n") }, []want{
			{verify.KindExtra, "guides-b.md", "named by an ignore file (.gitignore:1"},
			{verify.KindExtra, "中文/说明.md", "named by an ignore file (.gitignore:2"},
		}},
		{"page stale", func(s *site) { s.lay("guides/long.md", long("alpha")+"more\n") }, []want{
			{verify.KindStale, "guides/long.md", ""},
		}},
		{"page stale, of the same size", func(s *site) { s.lay("guides-b.md", "beside a folder of almost its name.\n") }, []want{
			{verify.KindStale, "guides-b.md", ""},
		}},
		{"size changed in the tree", func(s *site) { s.edit("guides/long.md", func(e *snapshot.Entry) { e.Size++ }) }, []want{
			{verify.KindSize, "guides/long.md", "in the snapshot with "},
		}},
		{"access changed in the tree", func(s *site) {
			s.edit("README.md", func(e *snapshot.Entry) { e.Access = groups("staff") })
		}, []want{
			{verify.KindAccess, "README.md", `groups "staff"`}, {verify.KindHidden, "README.md", "anonymous"},
			{verify.KindChunkMissing, "README.md", ""}, {verify.KindRecordExtra, "README.md", ""}, // by its access it is another revision
		}},
		{"default access changed", func(s *site) { s.options.Source.Default = to(access.SignedIn()) }, []want{
			{verify.KindAccess, "", "default is everyone, the folder's is any signed-in viewer: the default, access.default"},
			{verify.KindAccess, "README.md", ""}, {verify.KindAccess, "guides.en", ""}, {verify.KindLeak, "README.md", "anonymous"},
		}},
		{"access opened on a record", func(s *site) {
			s.record(s.id("README.md", 0), func(r *index.Record) { r.Metadata.Groups = []string{"staff"} })
		}, []want{{verify.KindRecord, "README.md", `groups are ["staff"], not ["*"]`}}},
		{"link changed in the tree", func(s *site) {
			s.edit("start.md", func(e *snapshot.Entry) { e.Link = "guides-b.md" })
		}, []want{{verify.KindLink, "start.md", `leads to "guides-b.md", in the folder to "README.md"`}}},
		{"link changed in the folder", func(s *site) {
			s.must(os.Remove(s.path("guides.en")))
			s.symlink("guides.en", "中文")
		}, []want{{verify.KindLink, "guides.en", ""}}},
		{"link missing in the tree", func(s *site) { s.drop("guides.en") }, []want{{verify.KindMissing, "guides.en", ""}}},
		{"link to what the tree lacks", func(s *site) { s.edit("start.md", func(e *snapshot.Entry) { e.Link = "none.md" }) }, []want{
			{verify.KindListing, "start.md", "not shown to readers"},
		}},
		{"link became a page", func(s *site) {
			s.must(os.Remove(s.path("start.md")))
			s.lay("start.md", "a page\n")
		}, []want{{verify.KindType, "start.md", "a file in the folder, a link for readers"}}},
		{"page became a folder", func(s *site) {
			s.must(os.Remove(s.path("guides-b.md")))
			s.must(os.Mkdir(s.path("guides-b.md"), 0o777))
		}, []want{{verify.KindType, "guides-b.md", "a folder in the folder, a file for readers"}}},
		{"tree truncated", func(s *site) { s.republish(func(e *snapshot.Entry) bool { return e.Path < "guides/long.md" }) }, []want{
			{verify.KindMissing, "guides/long.md", ""}, {verify.KindMissing, "中文/说明.md", ""}, {verify.KindMissing, "start.md", ""},
			{verify.KindRecordExtra, "guides/long.md", ""},
		}},
		{"snapshot file truncated", func(s *site) {
			eachSnapshotFile(s, func(data []byte) []byte { return data[:len(data)/2] })
		}, []want{{verify.KindSnapshot, "", "path-tree.json.gz"}}},
		{"snapshot file altered", func(s *site) {
			eachSnapshotFile(s, func(data []byte) []byte { data[len(data)/2] ^= 1; return data })
		}, []want{{verify.KindSnapshot, "", "path-tree.json.gz"}}},
		{"snapshot file gone", func(s *site) { eachSnapshotFile(s, func([]byte) []byte { return nil }) }, []want{
			{verify.KindSnapshot, "", "missing"},
		}},
		{"pointer to an older snapshot", func(s *site) {
			pointer := filepath.Join(s.location.(*snapshot.Folder).Dir, "current.json")
			old, err := os.ReadFile(pointer)
			s.must(err)
			s.must(s.store.Delete(t.Context(), []string{s.id("guides-b.md", 0)}))
			s.lay("guides-b.md", "This page has a second revision.\n")
			s.read()
			s.publish()
			s.must(os.WriteFile(pointer, old, 0o666))
		}, []want{
			{verify.KindStale, "guides-b.md", ""},
			{verify.KindChunkMissing, "guides-b.md", ""}, {verify.KindRecordExtra, "guides-b.md", ""},
		}},
		{"another writer's record of a page", func(s *site) {
			s.must(s.store.Upsert(t.Context(), []index.Record{{ID: "theirs", Document: "text", Metadata: index.Metadata{PageSlug: "README.md", Groups: []string{"*"}}}}))
		}, []want{{verify.KindRecordExtra, "README.md", "theirs"}}},
		{"snapshot of another collection", func(s *site) { s.options.Collection = "another" }, []want{{verify.KindSnapshot, "", "another"}}},
		{"start line wrong", func(s *site) {
			s.record(s.id("guides/long.md", 1), func(r *index.Record) { r.Metadata.StartLine++ })
		}, []want{{verify.KindRecord, "guides/long.md", "start_line"}}},
		{"kind wrong", func(s *site) {
			s.record(s.id("README.md", 0), func(r *index.Record) { r.Metadata.Kind = "" })
		}, []want{{verify.KindRecord, "README.md", `kind is "", not "chunk"`}, {verify.KindSearch, "README.md", ""}, {verify.KindGrep, "README.md", ""}}},
		{"everything of a record wrong", func(s *site) {
			s.record(s.id("README.md", 0), func(r *index.Record) {
				r.Metadata.Visibility, r.Metadata.IsPublic, r.Metadata.Site, r.Metadata.RetiredAt = "denied", false, "other", 5
			})
		}, []want{
			{verify.KindRecord, "README.md", "visibility"}, {verify.KindRecord, "README.md", "isPublic"},
			{verify.KindRecord, "README.md", "site"}, {verify.KindRecord, "README.md", "retired_at"},
		}},
		{"store answers with what was not asked", func(s *site) { s.store = chatty{s.store} }, []want{{verify.KindContent, "README.md", "chunk not asked for"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, "")
			s.options.Patterns = 50
			tt.damage(s)
			expect(t, s.verify(), tt.want)
		})
	}
}

// expect wants each finding, and no kind of finding that is not among them.
func expect(t *testing.T, r *verify.Report, all []want) {
	t.Helper()
	for _, w := range all {
		if !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool {
			return f.Kind == w.kind && f.Path == w.path && strings.Contains(f.Detail, w.detail) && f.Remedy != ""
		}) {
			t.Errorf("not found: %+v", w)
		}
	}
	for _, f := range r.Findings {
		if !slices.ContainsFunc(all, func(w want) bool { return w.kind == f.Kind }) {
			t.Errorf("unexpected: %+v", f)
		}
	}
	if t.Failed() {
		for _, f := range r.Findings {
			t.Logf("%s %q: %s", f.Kind, f.Path, f.Detail)
		}
	}
}

// eachSnapshotFile changes the files that the pointer may name; nil removes them.
func eachSnapshotFile(s *site, change func(data []byte) []byte) {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.location.(*snapshot.Folder).Dir, "*.path-tree.json.gz"))
	s.must(err)
	if len(names) == 0 {
		s.t.Fatal("no snapshot file")
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		s.must(err)
		if data = change(data); data == nil {
			s.must(os.Remove(name))
			continue
		}
		s.must(os.WriteFile(name, data, 0o666))
	}
}

// chatty adds a document to every answer.
type chatty struct{ index.Store }

func (c chatty) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	docs, err := c.Store.Documents(ctx, ids)
	docs["unasked#0"] = "text"
	return docs, err
}

// TestSearchLosesARecord hides one record from every coarse search, of a page with one chunk and of one with many.
func TestSearchLosesARecord(t *testing.T) {
	tests := []struct {
		page  string
		chunk int
	}{{"README.md", 0}, {"guides/long.md", 1}, {"guides/windows.md", 0}, {"中文/说明.md", 0}}
	for _, tt := range tests {
		s := newSite(t, "")
		lost := s.id(tt.page, tt.chunk)
		s.store = &indextest.Faulty{Store: s.store, Listed: func(op indextest.Op, ids []string) []string {
			if op != indextest.OpSearch {
				return ids
			}
			return slices.DeleteFunc(ids, func(id string) bool { return id == lost })
		}}
		expect(t, s.verify(), []want{
			{verify.KindSearch, tt.page, fmt.Sprintf("record %q, chunk %d", lost, tt.chunk)}, {verify.KindGrep, tt.page, "lost"},
		})
	}
}

func TestSearchMayReturnTooMuch(t *testing.T) {
	s := newSite(t, "")
	everything, err := s.store.IDs(t.Context(), "", "")
	s.must(err)
	s.store = &indextest.Faulty{Store: s.store, Listed: func(op indextest.Op, ids []string) []string {
		if op == indextest.OpSearch {
			return append(slices.Clone(everything), "elsewhere", "elsewhere#0", strings.Repeat("b", 26)+"#x")
		}
		return ids
	}}
	expect(t, s.verify(), nil)
}

// inCollection publishes the site into the collection itself.
func inCollection(t *testing.T, name string) *site {
	s := newSite(t, name)
	s.location = &snapshot.Collection{Store: s.store, Site: name}
	s.publish()
	return s
}

func TestPathTree(t *testing.T) {
	for _, name := range []string{"", "handbook"} {
		if r := inCollection(t, name).verify(); !r.OK() {
			t.Fatalf("site %q: %+v", name, r.Findings)
		}
	}
	var foreign string
	{
		s := inCollection(t, "")
		s.drop("README.md")
		s.edit("guides-b.md", func(e *snapshot.Entry) { e.Access = access.SignedIn() })
		s.edit("empty.md", func(e *snapshot.Entry) { e.Path = "empty2.md" })
		records, err := s.store.Get(t.Context(), []string{snapshot.TreeID("")})
		s.must(err)
		foreign = records[0].Document
	}
	tests := []struct {
		name     string
		document string
		want     []want
	}{
		{"of another snapshot", foreign, []want{
			{verify.KindPathTree, "README.md", "not in the compact tree"},
			{verify.KindPathTree, "guides-b.md", "for any signed-in viewer with 36 bytes, by the snapshot for everyone"},
			{verify.KindPathTree, "empty.md", "not in the compact tree"},
			{verify.KindPathTree, "empty2.md", "no page of the snapshot"},
		}},
		{"not base64", "{}", []want{{verify.KindPathTree, "", "no compact tree"}}},
		{"no object", compact(t, "[]"), []want{{verify.KindPathTree, "", "no compact tree"}}},
		{"cut short", compact(t, `{"README.md":`), []want{{verify.KindPathTree, "", "no compact tree"}}},
		{"keys missing", compact(t, `{"README.md":{"isPublic":true,"size":1}}`), []want{
			{verify.KindPathTree, "README.md", "missing"}, {verify.KindPathTree, "guides-b.md", ""},
		}},
		{"page twice", compact(t, `{"README.md":{},"README.md":{}}`), []want{{verify.KindPathTree, "README.md", "twice"}}},
		{"see parts", snapshot.SeeParts, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := inCollection(t, "")
			s.record(snapshot.TreeID(""), func(r *index.Record) { r.Document = tt.document })
			expect(t, s.verify(), tt.want)
		})
	}
	t.Run("open to everyone", func(t *testing.T) {
		s := inCollection(t, "")
		s.record(snapshot.TreeID(""), func(r *index.Record) {
			r.Metadata.IsPublic, r.Metadata.Groups, r.Metadata.Visibility = true, []string{"*"}, "public"
		})
		expect(t, s.verify(), []want{{verify.KindPathTree, "", "holds every path"}})
	})
	t.Run("names another snapshot", func(t *testing.T) {
		s := inCollection(t, "")
		s.location = &snapshot.Folder{Dir: t.TempDir()}
		s.drop("empty.md")
		expect(t, s.verify(), []want{
			{verify.KindPathTree, "", "names snapshot"}, {verify.KindPathTree, "empty.md", ""},
			{verify.KindMissing, "empty.md", ""}, {verify.KindRecordExtra, "empty.md", ""},
		})
	})
	t.Run("mirrored", func(t *testing.T) {
		s := inCollection(t, "")
		s.location = snapshot.Mirror{Authority: &snapshot.Folder{Dir: t.TempDir()}, Follower: s.location}
		s.publish()
		expect(t, s.verify(), nil)
		ids, err := s.store.IDs(t.Context(), index.KindPart, "")
		s.must(err)
		s.must(s.store.Delete(t.Context(), ids[:1]))
		expect(t, s.verify(), []want{{verify.KindPathTree, "", "can't be read"}})
		s.must(s.store.Delete(t.Context(), []string{snapshot.TreeID("")}))
		expect(t, s.verify(), []want{{verify.KindPathTree, "", "no snapshot published"}})
	})
	t.Run("part lost", func(t *testing.T) {
		s := inCollection(t, "")
		ids, err := s.store.IDs(t.Context(), index.KindPart, "")
		s.must(err)
		s.must(s.store.Delete(t.Context(), ids[:1]))
		expect(t, s.verify(), []want{{verify.KindSnapshot, "", ""}})
	})
}

// TestNoneHidesAnother breaks many things at once.
func TestNoneHidesAnother(t *testing.T) {
	s := newSite(t, "")
	s.must(s.store.Delete(t.Context(), []string{s.id("guides/long.md", 2)}))
	s.record(s.id("guides/long.md", 0), func(r *index.Record) { r.Document += "x" })
	s.record(s.id("guides/windows.md", 0), func(r *index.Record) { r.Metadata.IsPublic = false })
	s.lay("guides-b.md", "changed\n")
	s.lay("new.md", "new\n")
	s.must(os.Remove(s.path("empty.md")))
	s.must(os.Remove(s.path("start.md")))
	s.symlink("start.md", "guides-b.md")
	expect(t, s.verify(), []want{
		{verify.KindChunkMissing, "guides/long.md", "chunk 2"}, {verify.KindChunkAltered, "guides/long.md", "chunk 0"},
		{verify.KindRecord, "guides/windows.md", ""}, {verify.KindStale, "guides-b.md", ""}, {verify.KindMissing, "new.md", ""},
		{verify.KindExtra, "empty.md", ""}, {verify.KindLink, "start.md", ""},
	})
}

func TestFindingsAreCapped(t *testing.T) {
	s := newSite(t, "")
	s.options.PerKind = 2
	s.republish(func(e *snapshot.Entry) bool { return e.Path == "README.md" })
	r := s.verify()
	count := make(map[verify.Kind]int)
	for _, f := range r.Findings {
		count[f.Kind]++
	}
	if count[verify.KindMissing] != 2 || r.More[verify.KindMissing] != 8 || count[verify.KindRecordExtra] != 2 {
		t.Fatalf("%v and %v more", count, r.More)
	}
	if first := r.Findings[0]; first.Kind != verify.KindMissing || first.Path != "empty.md" {
		t.Fatalf("begins with %+v", first)
	}
}

func TestSameFindingsEveryTime(t *testing.T) {
	s := newSite(t, "")
	ids, err := s.store.IDs(t.Context(), index.KindChunk, "")
	s.must(err)
	for _, id := range ids {
		s.record(id, func(r *index.Record) { r.Document += "\nmore"; r.Metadata.Visibility = "denied" })
	}
	first := s.verify()
	for range 3 {
		if again := s.verify(); !slices.Equal(first.Findings, again.Findings) || !maps.Equal(first.Patterns, again.Patterns) {
			t.Fatalf("%+v\n%+v", first.Findings, again.Findings)
		}
	}
}

func TestErrors(t *testing.T) {
	down := errors.New("down")
	failing := func(op indextest.Op) func(s *site) {
		return func(s *site) {
			s.store = &indextest.Faulty{Store: s.store, Before: func(o indextest.Op, _ int) error {
				if o == op {
					return down
				}
				return nil
			}}
		}
	}
	tests := []struct {
		name   string
		damage func(s *site)
		want   error
	}{
		{"no folder", func(s *site) { s.options.Dir = s.path("none") }, source.ErrNoFolder},
		{"nothing published", func(s *site) { s.location = &snapshot.Folder{Dir: t.TempDir()} }, snapshot.ErrNone},
		{"get fails", failing(indextest.OpGet), down},
		{"documents fails", failing(indextest.OpDocuments), down},
		{"metadata fails", failing(indextest.OpMetadata), down},
		{"search fails", failing(indextest.OpSearch), down},
		{"ids fails", failing(indextest.OpIDs), down},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, "")
			tt.damage(s)
			if r, err := verify.Run(t.Context(), s.store, s.location, s.options); !errors.Is(err, tt.want) || r != nil {
				t.Fatalf("%v, %v", r, err)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		s := newSite(t, "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := verify.Run(ctx, s.store, s.location, s.options); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	})
}

func TestProgress(t *testing.T) {
	s := newSite(t, "")
	last := make(map[string]string)
	s.options.Progress = func(stage string, done, total int) { last[stage] = fmt.Sprintf("%d/%d", done, total) }
	s.verify()
	if last["pages"] != "9/9" || last["searches"] == "" {
		t.Fatal(last)
	}
}

// compact packs JSON as the path-tree record does.
func compact(t *testing.T, text string) string {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}
