package verify_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

// site is a folder with what was published of it, in pieces that a test can break.
type site struct {
	t        testing.TB
	dir      string
	store    index.Store
	location snapshot.Location
	header   snapshot.Header
	entries  []snapshot.Entry
	objects  *blobtest.Memory
	kept     string // folder of objects, where ingest made the site
	options  verify.Options
}

// long is a page of several chunks, each with words that no other has.
func long(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", name)
	for i := range 120 {
		fmt.Fprintf(&b, "Paragraph %d of %s speaks of topic%d and topic%d.\nIts end%d is here.\n\n", i, name, i, i*i, i)
	}
	return b.String()
}

func to(a access.Access) *access.Access { return &a }

// emptySite has nothing in its folder yet, which is to be published to a folder beside it, and its records to memory.
func emptySite(t testing.TB, name string) *site {
	s := &site{t: t, dir: t.TempDir(), store: indextest.Memory()}
	s.objects = blobtest.NewMemory()
	s.options = verify.Options{Dir: s.dir, Blobs: s.blobs}
	s.header = snapshot.Header{Collection: "docs", Site: name, Records: "test"}
	s.location = &snapshot.Folder{Dir: t.TempDir(), Site: name}
	return s
}

// newSite publishes a folder with a bit of everything.
func newSite(t testing.TB, name string) *site {
	s := emptySite(t, name)
	s.options.Source.Default = to(access.Everyone())
	for path, content := range map[string]string{
		"README.md":              "# Read me\n\nHow to install and to uninstall.\n",
		"guides/long.md":         long("alpha"),
		"guides/other.md":        long("omega"),
		"guides/windows.md":      "First line\r\nSecond line\r\nstraße und ÉCOLE\r\n",
		"guides/deep/no-end.mdx": "import X from 'y'\n\nNo newline at the end",
		"guides-b.md":            "Beside a folder of almost its name.\n",
		"empty.md":               "",
		"中文/说明.md":               "# 说明文档\n\nភាសាខ្មែរ и русский текст\n",
		"openapi.json":           "{\"openapi\": \"3.1.0\"}\n",
		"image.png":              "\x89PNG\x00\xff",
		".git/config":            "ignored\n",
		"node_modules/a/b.md":    "ignored\n",
	} {
		s.lay(path, content)
	}
	s.symlink("guides.en", "guides")
	s.symlink("start.md", "README.md")
	s.symlink("dangling.md", "none.md")
	s.read()
	s.publish()
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

func (s *site) lay(name, content string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Dir(s.path(name)), 0o777))
	s.must(os.WriteFile(s.path(name), []byte(content), 0o666))
}

func (s *site) symlink(name, target string) {
	s.t.Helper()
	if err := os.Symlink(target, s.path(name)); err != nil {
		s.t.Skipf("no symbolic links here: %v", err)
	}
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// read makes entries of what the folder holds now, and writes its records.
func (s *site) read() {
	s.t.Helper()
	from := s.options.Source
	from.Check = chunker.Check
	folder, err := source.Open(s.dir, from)
	s.must(err)
	defer folder.Close()
	listing, err := folder.Walk(s.t.Context())
	s.must(err)
	all, err := folder.Survey(s.t.Context(), listing)
	s.must(err)
	decided, err := all.Resolve(nil)
	s.must(err)
	s.header.Default, s.entries = decided.Default.Access, nil
	for i, facts := range all.Files {
		if k := slices.IndexFunc(listing.Pointers, func(p source.Pointer) bool { return p.Path == facts.Path }); k >= 0 {
			s.entries = append(s.entries, s.point(listing.Pointers[k], decided.Files[i].Access))
			continue
		}
		f, err := folder.Read(facts.Path)
		s.must(err)
		if f.Lazy != nil {
			s.entries = append(s.entries, s.send(f.Path, decided.Files[i].Access))
			continue
		}
		s.entries = append(s.entries, s.write(f, decided.Files[i].Access))
	}
	for i, l := range all.Links {
		s.entries = append(s.entries, snapshot.Entry{Path: l.Path, Link: l.Target, Access: decided.Links[i].Access})
	}
}

// write upserts the records of one file.
func (s *site) write(f *source.File, a access.Access) snapshot.Entry {
	s.t.Helper()
	texts, err := chunker.Split(chunker.Markdown, f.Content)
	s.must(err)
	e := snapshot.Entry{Path: f.Path, Access: a, Size: int64(len(f.Content)), SHA256: f.SHA256, Chunks: len(texts)}
	var records []index.Record
	for k, c := range texts {
		records = append(records, index.Record{
			ID: snapshot.RecordID(snapshot.Rev(s.header, e), k), Document: string(c.Text),
			Metadata: index.Metadata{
				Kind: index.KindChunk, PageSlug: s.header.Slug(f.Path), ChunkIndex: k, StartLine: c.StartLine, Site: s.header.Site,
				IsPublic: e.Access.Public, Groups: e.Access.RecordGroups(), Visibility: e.Access.Visibility(),
			},
		})
	}
	s.must(s.store.Upsert(s.t.Context(), records))
	return e
}

func (s *site) publish() *snapshot.Tree {
	s.t.Helper()
	slices.SortFunc(s.entries, func(a, b snapshot.Entry) int { return cmp.Compare(a.Path, b.Path) })
	tree, err := snapshot.New(s.header, s.entries)
	s.must(err)
	s.must(s.location.Publish(s.t.Context(), tree, time.Unix(1_700_000_000, 0)))
	return tree
}

// republish publishes the entries changed.
func (s *site) republish(change func(e *snapshot.Entry) (keep bool)) {
	s.t.Helper()
	s.entries = slices.DeleteFunc(s.entries, func(e snapshot.Entry) bool { return !change(&e) })
	s.publish()
}

// edit publishes one entry changed.
func (s *site) edit(path string, change func(e *snapshot.Entry)) {
	s.t.Helper()
	i := slices.IndexFunc(s.entries, func(e snapshot.Entry) bool { return e.Path == path })
	if i < 0 {
		s.t.Fatalf("no entry %q", path)
	}
	change(&s.entries[i])
	s.publish()
}

// drop publishes without one entry.
func (s *site) drop(path string) {
	s.t.Helper()
	s.republish(func(e *snapshot.Entry) bool { return e.Path != path })
}

// id is the record id of a chunk.
func (s *site) id(path string, chunk int) string {
	s.t.Helper()
	i := slices.IndexFunc(s.entries, func(e snapshot.Entry) bool { return e.Path == path })
	if i < 0 || s.entries[i].Chunks <= chunk {
		s.t.Fatalf("no chunk %d of %q", chunk, path)
	}
	return snapshot.RecordID(snapshot.Rev(s.header, s.entries[i]), chunk)
}

// record changes one record in the store.
func (s *site) record(id string, change func(r *index.Record)) {
	s.t.Helper()
	records, err := s.store.Get(s.t.Context(), []string{id})
	s.must(err)
	if len(records) != 1 {
		s.t.Fatalf("no record %q", id)
	}
	change(&records[0])
	s.must(s.store.Upsert(s.t.Context(), records))
}

// swap exchanges two records under their ids; the documents alone if not whole.
func (s *site) swap(a, b string, whole bool) {
	s.t.Helper()
	records, err := s.store.Get(s.t.Context(), []string{a, b})
	s.must(err)
	records[0].Document, records[1].Document = records[1].Document, records[0].Document
	if whole {
		records[0].Metadata, records[1].Metadata = records[1].Metadata, records[0].Metadata
	}
	s.must(s.store.Upsert(s.t.Context(), records))
}

func (s *site) verify() *verify.Report {
	s.t.Helper()
	report, err := verify.Run(s.t.Context(), s.store, s.location, s.options)
	s.must(err)
	return report
}
