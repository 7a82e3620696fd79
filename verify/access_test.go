package verify_test

import (
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

func groups(names ...string) access.Access { return access.Access{Groups: names} }

// guarded is a page with something said in its frontmatter, and lines that no other page has.
func guarded(name, front string) string {
	if front != "" {
		front = "---\n" + front + "\n---\n"
	}
	return fmt.Sprintf("%s# %s\n\nA line of %s alone.\nA line of all pages, with words enough to be the longest of each.\n", front, name, name)
}

// guardedSite publishes a folder with every way to say who may see a page.
func guardedSite(t testing.TB) *site {
	s := emptySite(t, "")
	for name, front := range map[string]string{
		"open.md":             "public: true",
		"members.md":          "",
		"fence.md":            "",
		"staff.md":            "groups: [staff]",
		"sales.md":            "groups: [sales, staff]",
		"no-partners.md":      "groups: [{includes: ['*'], excludes: [partners]}]",
		"nobody.md":           "groups: []",
		"malformed.md":        "groups: admin",
		"guides/a.md":         "public: true",
		"guides/b.md":         "groups: [sales]",
		"guides/[slug]/c.md":  "groups: [staff]",
		"secret/deep/d.md":    "groups: [staff]",
		"internal/e.md":       "public: true",
		"internal/open/f.md":  "",
		"only-link/hidden.md": "groups: []",
		"snippets/part.mdx":   "public: true",
	} {
		s.lay(name, guarded(name, front))
	}
	s.lay("fence.md", guarded("fence.md", "")+"```yaml\ngroups: [ghosts]\npublic: true\n```\n")
	s.lay("staff.md", guarded("staff.md", "groups: [staff]")+"import Part from '/snippets/part.mdx'\n\n<Part />\n")
	s.lay("long.md", "---\ngroups: [staff]\n---\n"+long("kappa")+strings.Repeat("one very long line of words ", 20)+"\n")
	s.lay("docs.json", `{"navigation": {"groups": [{"group": "g", "public": true, "pages": ["members"]}]}}`+"\n")
	s.lay("llms.txt", "# All pages\n\n- [staff](staff.md)\n")
	s.symlink("start.md", "open.md")
	s.symlink("to-staff.md", "staff.md")
	s.symlink("guides.en", "guides")
	s.symlink("only-link/way", "../open.md")
	s.symlink("guides/chain", "../to-staff.md")
	s.symlink("guides/through", "../secret/deep/../../open.md")
	s.symlink("docs", ".")
	s.options.Source.Rules = []access.Rule{
		{Glob: "internal/**", Access: groups("engineers"), At: access.Place{Path: "chromafs.yaml", Line: 3}},
		{Glob: "{start.md,guides.en,docs,guides/through}", Access: access.Everyone(), At: access.Place{Path: "chromafs.yaml", Line: 4}},
		{Glob: "internal/open/f.md", Access: access.Everyone(), At: access.Place{Path: "chromafs.yaml", Line: 5}},
	}
	s.options.Patterns = 20
	s.read()
	s.publish()
	return s
}

func TestGuardedSite(t *testing.T) {
	s := guardedSite(t)
	r := s.verify()
	if !r.OK() {
		t.Fatalf("%+v", r.Findings)
	}
	want := []verify.ViewerReport{
		{Name: "anonymous", Visible: 4, Hidden: 15},
		{Name: "signed in", Visible: 6, Hidden: 13},
		{Name: `group "engineers"`, Visible: 7, Hidden: 12},
		{Name: `group "partners"`, Visible: 5, Hidden: 14},
		{Name: `group "sales"`, Visible: 8, Hidden: 11},
		{Name: `group "staff"`, Visible: 12, Hidden: 7},
		{Name: "all groups", Visible: 13, Hidden: 6},
	}
	if !slices.Equal(r.Viewers, want) {
		t.Errorf("got  %+v\nwant %+v", r.Viewers, want)
	}
	if r.Files != 19 || r.Links != 7 || r.Secrets < 12 || r.Lookups < 200 {
		t.Errorf("%d files, %d links, %d secrets, %d lookups", r.Files, r.Links, r.Secrets, r.Lookups)
	}
}

func TestNothingHidden(t *testing.T) {
	r := newSite(t, "").verify()
	if want := []verify.ViewerReport{{Name: "anonymous", Others: 1, Visible: 9}}; !slices.Equal(r.Viewers, want) || r.Lookups+r.Secrets != 0 {
		t.Errorf("%+v, %d lookups, %d secrets", r.Viewers, r.Lookups, r.Secrets)
	}
}

// TestManyGroups has more viewers than may read each page, and groups that see the same.
func TestManyGroups(t *testing.T) {
	s := emptySite(t, "")
	for i := range 40 {
		s.lay(fmt.Sprintf("%02d.md", i), guarded(fmt.Sprint(i), fmt.Sprintf("groups: [a%02d, b%02d]", i, i)))
	}
	s.options.Patterns = 5
	s.read()
	s.publish()
	r := s.verify()
	if !r.OK() || len(r.Viewers) != 42 || r.Secrets != 40 {
		t.Fatalf("%d viewers, %d secrets, %+v", len(r.Viewers), r.Secrets, r.Findings)
	}
	for i, v := range r.Viewers {
		want := verify.ViewerReport{Name: fmt.Sprintf("group \"a%02d\"", i-1), Others: 1, Visible: 1, Hidden: 39}
		switch i {
		case 0:
			want = verify.ViewerReport{Name: "anonymous", Others: 1, Hidden: 40}
		case 41:
			want = verify.ViewerReport{Name: "all groups", Visible: 40}
		}
		if v != want {
			t.Errorf("viewer %d: %+v, want %+v", i, v, want)
		}
	}
}

// reopen publishes a page with another access than the folder says, with the records that belong to that.
func (s *site) reopen(name string, a access.Access) {
	s.t.Helper()
	ids := func() (list []string) {
		i := slices.IndexFunc(s.entries, func(e snapshot.Entry) bool { return e.Path == name })
		for k := range s.entries[i].Chunks {
			list = append(list, s.id(name, k))
		}
		return list
	}
	old, err := s.store.Get(s.t.Context(), ids())
	s.must(err)
	s.must(s.store.Delete(s.t.Context(), ids()))
	s.edit(name, func(e *snapshot.Entry) { e.Access = a })
	for k, id := range ids() {
		old[k].ID = id
		old[k].Metadata.IsPublic, old[k].Metadata.Groups, old[k].Metadata.Visibility = a.Public, a.RecordGroups(), a.Visibility()
	}
	s.must(s.store.Upsert(s.t.Context(), old))
}

// TestAccessDamage publishes what the folder does not say, one thing at a time.
func TestAccessDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(s *site)
		want   []want
	}{
		{"page opened to everyone", func(s *site) { s.reopen("staff.md", access.Everyone()) }, []want{
			{verify.KindAccess, "staff.md", `for everyone in the snapshot, in the folder for groups "staff": groups in its frontmatter at staff.md:2`},
			{verify.KindLeak, "staff.md", "anonymous learns of it by a listing; "},
			{verify.KindLeak, "staff.md", "anonymous reads it"},
			{verify.KindLeak, "staff.md", "anonymous: a search gives chunk 0"},
			{verify.KindLeak, "staff.md", `group "partners" finds its line`},
			{verify.KindLeak, "to-staff.md", "signed in learns of it"}, // the link was for them, what it leads to was not
		}},
		{"page opened to another group", func(s *site) { s.reopen("staff.md", groups("sales", "staff")) }, []want{
			{verify.KindAccess, "staff.md", `for groups "sales", "staff" in the snapshot`}, {verify.KindLeak, "staff.md", `group "sales"`},
		}},
		{"page opened to a group that only the tree knows", func(s *site) { s.reopen("staff.md", groups("guests", "staff")) }, []want{
			{verify.KindAccess, "staff.md", ""}, {verify.KindLeak, "staff.md", `group "guests" learns of it`},
		}},
		{"excludes dropped", func(s *site) { s.reopen("no-partners.md", access.SignedIn()) }, []want{
			{verify.KindAccess, "no-partners.md", `any signed-in viewer but groups "partners"`}, {verify.KindLeak, "no-partners.md", `group "partners"`},
		}},
		{"malformed page opened", func(s *site) { s.reopen("malformed.md", groups("admin")) }, []want{
			{verify.KindAccess, "malformed.md", "for nobody: malformed at malformed.md:2"}, {verify.KindLeak, "malformed.md", `group "admin"`},
		}},
		{"page made visible that a rule restricts", func(s *site) { s.reopen("internal/e.md", access.Everyone()) }, []want{
			{verify.KindAccess, "internal/e.md", "a restricting rule at chromafs.yaml:3"}, {verify.KindLeak, "internal/e.md", "anonymous"},
		}},
		{"page closed", func(s *site) { s.reopen("guides/a.md", groups("staff")) }, []want{
			{verify.KindAccess, "guides/a.md", `for groups "staff" in the snapshot, in the folder for everyone: public in its frontmatter`},
			{verify.KindHidden, "guides/a.md", "anonymous is not shown it"}, {verify.KindHidden, "guides/a.md", `group "engineers" can't read it`},
			{verify.KindHidden, "guides", "something in it is theirs"}, {verify.KindHidden, "guides.en", "anonymous"},
			{verify.KindHidden, "guides/a.md", `group "sales"`},
		}},
		{"page closed to one viewer", func(s *site) {
			s.reopen("members.md", access.Access{Groups: []string{"*"}, Excludes: []string{"sales"}})
		}, []want{
			{verify.KindAccess, "members.md", "public in the navigation at docs.json:1"}, {verify.KindHidden, "members.md", "anonymous"},
			{verify.KindHidden, "members.md", `group "sales"`},
		}},
		{"link opened", func(s *site) { s.edit("guides/chain", func(e *snapshot.Entry) { e.Access = access.Everyone() }) }, []want{
			{verify.KindAccess, "guides/chain", "for everyone in the snapshot"}, // and still nobody gets it but the staff
		}},
		{"link opened to a page that all see", func(s *site) { s.edit("only-link/way", func(e *snapshot.Entry) { e.Access = access.Everyone() }) }, []want{
			{verify.KindAccess, "only-link/way", ""}, {verify.KindLeak, "only-link/way", "anonymous"}, {verify.KindLeak, "only-link", "nothing in it is theirs"},
		}},
		{"link closed", func(s *site) { s.edit("start.md", func(e *snapshot.Entry) { e.Access = access.Nobody() }) }, []want{
			{verify.KindAccess, "start.md", "for nobody in the snapshot"}, {verify.KindHidden, "start.md", "signed in"},
		}},
		{"default opened", func(s *site) { s.header.Default = access.Everyone(); s.publish() }, []want{
			{verify.KindAccess, "", "default is everyone, the folder's is any signed-in viewer: the default at guides/[slug]/c.md:2"},
		}},
		{"isPublic wrong on a record", func(s *site) {
			s.record(s.id("long.md", 1), func(r *index.Record) { r.Metadata.IsPublic = true })
		}, []want{{verify.KindRecord, "long.md", "isPublic is true, not false"}}},
		{"groups wrong on a record", func(s *site) {
			s.record(s.id("no-partners.md", 0), func(r *index.Record) { r.Metadata.Groups = []string{"*"} })
		}, []want{{verify.KindRecord, "no-partners.md", `groups are ["*"], not ["chromafs:none"]`}}},
		{"visibility wrong on a record", func(s *site) {
			s.record(s.id("nobody.md", 0), func(r *index.Record) { r.Metadata.Visibility = "groups" })
		}, []want{{verify.KindRecord, "nobody.md", `visibility is "groups", not "denied"`}}},
		{"a hidden page's text on a visible one", func(s *site) { s.swap(s.id("open.md", 0), s.id("secret/deep/d.md", 0), false) }, []want{
			{verify.KindChunkAltered, "open.md", ""}, {verify.KindChunkAltered, "secret/deep/d.md", ""},
			{verify.KindLeak, "secret/deep/d.md", `anonymous finds its line "A line of secret/deep/d.md alone." in "open.md"`},
		}},
		{"a hidden page's text on a visible one too", func(s *site) {
			records, err := s.store.Get(s.t.Context(), []string{s.id("secret/deep/d.md", 0)})
			s.must(err)
			s.record(s.id("open.md", 0), func(r *index.Record) { r.Document = records[0].Document })
		}, []want{
			{verify.KindChunkAltered, "open.md", ""}, {verify.KindLeak, "secret/deep/d.md", `anonymous finds its line`},
		}},
		{"page restricted since", func(s *site) { s.lay("open.md", guarded("open.md", "groups: [staff]")) }, []want{
			{verify.KindStale, "open.md", ""}, {verify.KindAccess, "open.md", ""}, {verify.KindLeak, "open.md", "anonymous learns of it"},
			{verify.KindLeak, "start.md", ""},
		}},
		{"page gone, and with it what links were to lead to", func(s *site) { s.must(os.Remove(s.path("open.md"))) }, []want{
			{verify.KindExtra, "open.md", ""},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := guardedSite(t)
			s.options.PerKind = 500
			tt.damage(s)
			expect(t, s.verify(), tt.want)
		})
	}
}

// TestCompactTreeDamage opens pages in the tree that other readers of the collection know.
func TestCompactTreeDamage(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string
		want           []want
	}{
		{"as published", "", "", nil},
		{"groups opened to everyone", `"staff.md":{"isPublic":false,"groups":["staff"]`, `"staff.md":{"isPublic":true,"groups":[]`, []want{
			{verify.KindPathTree, "staff.md", `for everyone with `},
		}},
		{"excludes dropped", `"no-partners.md":{"isPublic":false,"groups":[]`, `"no-partners.md":{"isPublic":false,"groups":["*"]`, []want{
			{verify.KindPathTree, "no-partners.md", "for any signed-in viewer with "},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := guardedSite(t)
			s.location = &snapshot.Collection{Store: s.store}
			s.publish()
			s.record(snapshot.TreeID(""), func(r *index.Record) {
				text := plain(t, r.Document)
				if !strings.Contains(text, tt.from) {
					t.Fatalf("no %s in %s", tt.from, text)
				}
				r.Document = compact(t, strings.Replace(text, tt.from, tt.to, 1))
			})
			expect(t, s.verify(), tt.want)
		})
	}
}

// plain is the opposite of compact.
func plain(t *testing.T, document string) string {
	t.Helper()
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(document)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNoDefault(t *testing.T) {
	s := newSite(t, "")
	s.options.Source.Default = nil
	if r, err := verify.Run(t.Context(), s.store, s.location, s.options); !errors.Is(err, source.ErrNoDefault) || r != nil {
		t.Fatalf("%v, %v", r, err)
	}
	s.options.Source.Unmarked = true
	expect(t, s.verify(), nil)
}
