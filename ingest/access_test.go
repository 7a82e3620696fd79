package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
)

func marked(words string) string { return "---\n" + words + "\n---\ntext\n" }

// published is the access of each path in the published tree, in words.
func (s *site) published() map[string]string {
	s.t.Helper()
	p, err := s.location.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	got := map[string]string{}
	for i := range p.Tree.Len() {
		got[p.Tree.Path(i)] = p.Tree.At(i).Access.String()
	}
	return got
}

// records are those of one page, in chunk order.
func (s *site) records(path string) []index.Record {
	s.t.Helper()
	p, err := s.location.Load(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	i, ok := p.Tree.Find(path)
	if !ok {
		s.t.Fatalf("no %s", path)
	}
	records, err := s.store.Get(s.t.Context(), p.Tree.IDs(i))
	if err != nil {
		s.t.Fatal(err)
	}
	return records
}

// writes counts the calls that change the store.
func (s *site) writes() int {
	return s.store.Calls(indextest.OpUpsert) + s.store.Calls(indextest.OpCopy) + s.store.Calls(indextest.OpDelete)
}

// TestRecordAccess holds the metadata to the contract's table.
func TestRecordAccess(t *testing.T) {
	s := newSite(t, map[string]string{
		"open.md": marked("public: true"), "signed-in.md": "text\n", "groups.md": marked("groups: [b, a]"),
		"excludes.md": marked(`groups: [{includes: ["*"], excludes: [a]}]`), "denied.md": marked("groups: []"),
	})
	s.mustRun()
	for path, want := range map[string]index.Metadata{
		"open.md":      {IsPublic: true, Groups: []string{"*"}, Visibility: "public"},
		"signed-in.md": {Groups: []string{"*"}, Visibility: "authenticated"},
		"groups.md":    {Groups: []string{"a", "b"}, Visibility: "groups"},
		"excludes.md":  {Groups: []string{"chromafs:none"}, Visibility: "excludes"},
		"denied.md":    {Groups: []string{"chromafs:none"}, Visibility: "denied"},
	} {
		m := s.records(path)[0].Metadata
		if got := (index.Metadata{IsPublic: m.IsPublic, Groups: m.Groups, Visibility: m.Visibility}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}

func TestMalformedIsRefused(t *testing.T) {
	for _, broken := range []string{"groups: admin", "public: 1", "a: b: c", "Groups: [a]"} {
		s := newSite(t, map[string]string{"a.md": "# A\n", "b.md": marked("title: x\n" + broken)})
		_, err := s.run()
		var failures ingest.Failures
		if !errors.As(err, &failures) || !errors.Is(err, ingest.ErrAccess) || failures[0].Path != "b.md" || failures[0].Line != 3 {
			t.Errorf("%s: %v %v", broken, err, failures)
		}
		if n := s.store.Calls(indextest.OpUpsert); n != 0 {
			t.Errorf("%s: %d upserts", broken, n)
		}
		s.options.DenyInvalid = true
		r, err := s.run()
		if !errors.Is(err, ingest.ErrDenied) || r == nil || len(r.Denied) != 1 {
			t.Fatalf("%s: %+v, %v", broken, r, err)
		}
		if got := s.published(); got["b.md"] != "nobody" || got["a.md"] != "any signed-in viewer" {
			t.Errorf("%s: %q", broken, got)
		}
	}
}

func TestNoDefault(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "# A\n"})
	s.options.Source.Unmarked = false
	if _, err := s.run(); !errors.Is(err, source.ErrNoDefault) || s.store.Calls(indextest.OpUpsert) != 0 {
		t.Errorf("%v", err)
	}
	s.put("a.md", marked("public: true"))
	s.put("b.md", "")
	s.mustRun()
	if got := s.published(); got["a.md"] != "everyone" || got["b.md"] != "any signed-in viewer" {
		t.Errorf("%q", got)
	}
}

// TestLastMarkerDeleted: the default is pinned, so that taking the last marker away opens nothing.
func TestLastMarkerDeleted(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("public: false"), "b.md": "b\n"})
	s.mustRun()
	s.put("a.md", "text\n")
	s.put("new.md", "new\n")
	r := s.mustRun()
	if got := s.published(); got["a.md"] != "any signed-in viewer" || got["b.md"] != "any signed-in viewer" || got["new.md"] != "any signed-in viewer" {
		t.Errorf("%q, %+v", got, r.Widened)
	}
}

// TestWidening has a row for each way to open a page to more viewers. Each is refused, and done when it is allowed.
func TestWidening(t *testing.T) {
	everyone := access.Everyone()
	cases := []struct {
		name          string
		before, after string
		change        func(*site)
		path          string // that would widen; "-" for none
	}{
		{"group to public", "groups: [a]", "public: true", nil, "a.md"},
		{"group to signed in", "groups: [a]", "public: false", nil, "a.md"},
		{"another group", "groups: [a]", "groups: [b]", nil, "a.md"},
		{"one more group", "groups: [a]", "groups: [a, b]", nil, "a.md"},
		{"an exclude less", `groups: [{includes: ["*"], excludes: [a, b]}]`, `groups: [{includes: ["*"], excludes: [a]}]`, nil, "a.md"},
		{"nobody to a group", "groups: []", "groups: [a]", nil, "a.md"},
		{"default", "groups: [a]", "groups: [a]", func(s *site) { s.options.Source.Default = &everyone }, ""},
		{"rule", "groups: [a]", "title: x", func(s *site) {
			s.options.Source.Rules = []access.Rule{{Glob: "a.md", Access: everyone}}
		}, "a.md"},
		{"moved", "groups: [a]", "groups: [a]", func(s *site) {
			s.remove("a.md")
			s.put("z.md", marked("groups: [a]"))
			s.options.Source.Rules = []access.Rule{{Glob: "other.md", Access: everyone}}
			s.put("other.md", marked("title: secret"))
		}, "-"},
		{"narrower", "groups: [a, b]", "groups: [a]", nil, "-"},
		{"public to signed in", "public: true", "public: false", nil, "-"},
		{"as it was", "groups: [a]", "groups: [a]", nil, "-"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]string{"a.md": marked(c.before), "b.md": "b\n"})
			s.mustRun()
			before, upserts := s.published(), s.store.Calls(indextest.OpUpsert)
			s.put("a.md", marked(c.after))
			if c.change != nil {
				c.change(s)
			}
			r, err := s.run()
			if c.path == "-" {
				if err != nil || len(r.Widened) != 0 {
					t.Fatalf("%v, %+v", err, r)
				}
				return
			}
			if !errors.Is(err, ingest.ErrWiden) || r == nil || r.Widened[0].Path != c.path {
				t.Fatalf("%v, %+v", err, r)
			}
			if !reflect.DeepEqual(s.published(), before) || s.store.Calls(indextest.OpUpsert) != upserts {
				t.Error("something was written")
			}
			s.options.AllowWiden = true
			if r, err := s.run(); err != nil || len(r.Widened) == 0 {
				t.Errorf("allowed: %v, %+v", err, r)
			}
			s.wantNoOrphan()
		})
	}
}

// TestMovedText: what a restricted page says can't be opened by giving it another name, unless it was open before.
func TestMovedText(t *testing.T) {
	const secret, plain, stub = "a secret that is longer than chance\n", "a text that everybody has seen before\n", "# TODO\n"
	cases := []struct {
		name   string
		change func(*site)
		path   string // that would widen, empty for none
	}{
		{"moved", func(s *site) { s.remove("in/a.md"); s.put("out.md", secret) }, "out.md"},
		{"copied", func(s *site) { s.put("out.md", secret) }, "out.md"},
		{"moved, a stub left", func(s *site) { s.put("in/a.md", "moved\n"); s.put("out.md", secret) }, "out.md"},
		{"exchanged", func(s *site) { s.put("in/a.md", plain); s.put("c.md", secret) }, "c.md"},
		{"link made a file", func(s *site) { s.remove("way.md"); s.put("way.md", secret) }, "way.md"},
		{"moved within", func(s *site) { s.remove("in/a.md"); s.put("in/z.md", secret) }, ""},
		{"open as well", func(s *site) { s.remove("in/c.md"); s.put("out.md", plain) }, ""},
		{"short", func(s *site) { s.remove("in/b.md"); s.put("out.md", stub) }, ""},
		{"changed too", func(s *site) { s.remove("in/a.md"); s.put("out.md", secret+"more\n") }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t, map[string]string{"in/a.md": secret, "in/b.md": stub, "in/c.md": plain, "c.md": plain})
			if err := os.Symlink("in/a.md", filepath.Join(s.dir, "way.md")); err != nil {
				t.Skip(err)
			}
			s.options.Source.Rules = []access.Rule{{Glob: "in", Access: access.Access{Groups: []string{"staff"}}}}
			s.mustRun()
			c.change(s)
			r, err := s.run()
			if c.path == "" {
				if err != nil {
					t.Fatalf("%v, %+v", err, r.Widened)
				}
				return
			}
			if !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 1 || r.Widened[0].Path != c.path || r.Widened[0].From != "in/a.md" {
				t.Errorf("%v, %+v", err, r)
			}
		})
	}
}

// TestAnotherLocation: who may see a page is not forgotten with the folder that snapshots are published to.
func TestAnotherLocation(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("groups: [a]"), "b.md": "b\n"})
	s.mustRun()
	s.put("a.md", "text\n")
	s.location = &snapshot.Folder{Dir: t.TempDir()}
	r, err := s.run()
	if !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 1 || r.Widened[0].Path != "a.md" || !r.Default.Access.Equal(access.SignedIn()) {
		t.Errorf("%v, %+v", err, r)
	}
	s.put("a.md", marked("groups: [a]"))
	s.mustRun()
}

// TestLinkWidens: a link names a page by another path, so its audience counts as one's.
func TestLinkWidens(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": "a\n"})
	if err := os.Symlink("a.md", filepath.Join(s.dir, "l.md")); err != nil {
		t.Skip(err)
	}
	staff := access.Access{Groups: []string{"staff"}}
	s.options.Source.Rules = []access.Rule{{Glob: "a.md", Access: access.Everyone()}, {Glob: "l.md", Access: staff}}
	s.mustRun()
	s.options.Source.Rules = []access.Rule{{Glob: "*.md", Access: access.Everyone()}}
	if r, err := s.run(); !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 1 || r.Widened[0].Path != "l.md" {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestNarrowestRecordCounts: of two revisions that a killed run left, nobody knows which one was shown.
func TestNarrowestRecordCounts(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("groups: [a, b]")})
	s.mustRun()
	records := s.records("a.md")
	records[0].ID = strings.Repeat("a", 26) + "#0"
	records[0].Metadata.Groups = []string{"a"}
	if err := s.store.Upsert(t.Context(), records[:1]); err != nil {
		t.Fatal(err)
	}
	s.location = &snapshot.Folder{Dir: t.TempDir()}
	if r, err := s.run(); !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// TestFollowerIsAhead: a page is compared with what either of two locations shows.
func TestFollowerIsAhead(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("public: true"), "b.md": "b\n"})
	collection := &snapshot.Collection{Store: s.store}
	mirror := snapshot.Mirror{Authority: s.location, Follower: collection}
	s.location = mirror
	s.mustRun()
	s.location = collection
	s.put("a.md", marked("groups: [a]"))
	s.mustRun()
	s.location = mirror
	s.put("a.md", marked("public: true"))
	if r, err := s.run(); !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
	s.options.AllowWiden = true
	s.mustRun()
}

func TestDryRun(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("groups: [a]"), "b.md": "b\n", "c.md": marked("public: true")})
	s.options.DryRun = true
	r := s.mustRun()
	if r.Added != 3 || r.Written != 3 || !r.Changed || s.store.Calls(indextest.OpUpsert) != 0 {
		t.Errorf("first: %+v", r)
	}
	if _, err := s.location.Load(t.Context()); !errors.Is(err, snapshot.ErrNone) {
		t.Errorf("published: %v", err)
	}
	s.options.DryRun = false
	s.mustRun()
	before, writes := s.published(), s.writes()
	s.options.DryRun = true
	s.put("a.md", marked("groups: [a, b]"))
	s.put("b.md", "B\n")
	s.put("c.md", marked("groups: [a]"))
	s.put("d.md", "d\n")
	r, err := s.run()
	if !errors.Is(err, ingest.ErrWiden) || r.Added != 1 || r.Edited != 3 || len(r.Widened) != 1 || len(r.Narrowed) != 1 || r.Written != 4 || r.Deleted != 3 {
		t.Errorf("second: %v, %+v", err, r)
	}
	if !reflect.DeepEqual(s.published(), before) || s.writes() != writes {
		t.Error("a dry run wrote")
	}
}

// An access-only change gives new revisions, and takes text and embedding from the store.
func TestAccessOnlyChangeCopies(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": long(9), "b.md": "b\n"})
	s.mustRun()
	old := s.records("a.md")
	upserts := s.store.Calls(indextest.OpUpsert)
	s.options.Source.Rules = []access.Rule{{Glob: "a.md", Access: access.Access{Groups: []string{"staff"}}}}
	s.options.Source.Default = new(access.Everyone())
	r := s.mustRun()
	if r.Copied != len(old) || r.Written != len(old) || r.Deleted != len(old) || s.store.Calls(indextest.OpUpsert) != upserts || s.store.Calls(indextest.OpCopy) == 0 {
		t.Errorf("%+v", r)
	}
	now := s.records("a.md")
	for i, rec := range now {
		if rec.ID == old[i].ID || rec.Document != old[i].Document || !slices.Equal(rec.Metadata.Groups, []string{"staff"}) || rec.Metadata.IsPublic {
			t.Errorf("%d: %+v", i, rec)
		}
	}
	if !strings.HasPrefix(now[0].Document, "## Part 0") || len(now) != len(old) {
		t.Errorf("%d records", len(now))
	}
	s.wantNoOrphan()
}

// Over a snapshot that can't be read the records say who sees what.
func TestDamagedSnapshotWidens(t *testing.T) {
	s := newSite(t, map[string]string{"a.md": marked("groups: [a]"), "b.md": marked("public: true"), "c.md": "c\n", "d.md": marked("groups: []")})
	s.mustRun()
	s.location = damage{s.location}
	s.options.Rewrite = true
	if r := s.mustRun(); len(r.Widened) != 0 {
		t.Errorf("as it was: %+v", r.Widened)
	}
	s.put("a.md", marked("groups: [a, b]"))
	s.put("c.md", marked("public: true"))
	s.put("d.md", marked("groups: [a]"))
	r, err := s.run()
	if !errors.Is(err, ingest.ErrWiden) || len(r.Widened) != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	s.options.AllowWiden = true
	s.mustRun()
}

// damage is a location whose snapshot can't be read.
type damage struct{ snapshot.Location }

func (damage) Load(context.Context) (*snapshot.Published, error) {
	return nil, snapshot.ErrDigest
}
