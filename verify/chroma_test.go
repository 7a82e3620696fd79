package verify_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/chroma"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/verify"
)

// onChroma indexes a folder into a collection of its own on a real server.
func onChroma(t *testing.T, dir string, from source.Options) (s *site, url, collection string) {
	t.Helper()
	url, collection = indextest.Chroma(t), fmt.Sprintf("verify-%d", time.Now().UnixNano())
	store, err := chroma.Open(t.Context(), chroma.Options{URL: url, Collection: collection, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		ids, err := store.IDs(ctx, "", "")
		if err := errors.Join(err, store.Delete(ctx, ids), store.Close()); err != nil {
			t.Error(err)
		}
	})
	return ingestInto(t, dir, from, store, &snapshot.Collection{Store: store}), url, collection
}

func TestChroma(t *testing.T) {
	for _, name := range []string{"mintlify-starter", "mem0-docs"} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := onChroma(t, corpora.Dir(t, name), everyone)
			if r := s.verify(); !r.OK() || r.Lines < 500 {
				t.Fatalf("%d lines: %+v", r.Lines, r.Findings)
			}
		})
	}
}

// TestChromaAccess has every kind of access on a real server, then opens one page in its records alone and one in the tree.
func TestChromaAccess(t *testing.T) {
	s := guardedSite(t)
	s, _, _ = onChroma(t, s.dir, s.options.Source)
	r := s.verify()
	if !r.OK() || len(r.Viewers) != 7 || r.Secrets < 12 || r.Lookups < 200 {
		t.Fatalf("%d viewers, %d secrets, %d lookups: %+v", len(r.Viewers), r.Secrets, r.Lookups, r.Findings)
	}
	published, err := s.location.Load(t.Context())
	s.must(err)
	i, _ := published.Tree.Find("staff.md")
	s.record(published.Tree.IDs(i)[0], func(r *index.Record) { r.Metadata.Groups = []string{"*"} })
	expect(t, s.verify(), []want{{verify.KindRecord, "staff.md", `groups are ["*"], not ["staff"]`}})

	s.options.Source.Rules = append(s.options.Source.Rules, access.Rule{Glob: "members.md", Access: groups("staff")})
	expect(t, s.verify(), []want{
		{verify.KindRecord, "staff.md", ""}, {verify.KindAccess, "members.md", `in the folder for groups "staff": a restricting rule`},
		{verify.KindLeak, "members.md", "anonymous reads it"}, {verify.KindLeak, "members.md", "finds its line"},
	})
}

// TestLayout reads a collection with a few lines of Python that know the documented layout and nothing of this project.
func TestLayout(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: install it to read the collection without chromafs")
	}
	dir := corpora.Dir(t, "mem0-docs")
	s, url, collection := onChroma(t, dir, everyone)
	out := t.TempDir()
	text, err := exec.CommandContext(t.Context(), python, "testdata/layout_reader.py", url, collection, out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	pages := 0
	for _, name := range corpora.Files(t, "mem0-docs") {
		ext := path.Ext(name)
		if _, err := os.Stat(filepath.Join(out, name)); ext == ".md" || ext == ".mdx" || err == nil {
			pages++
			same(t, filepath.Join(dir, name), filepath.Join(out, name))
		}
	}
	if read := countFiles(t, out); pages < 249 || read != pages || read != len(pagesOf(s)) {
		t.Fatalf("%d pages, %d read, %d in the snapshot", pages, read, len(pagesOf(s)))
	}
}

// pagesOf are the chunked files of the published snapshot.
func pagesOf(s *site) (names []string) {
	s.t.Helper()
	published, err := s.location.Load(s.t.Context())
	s.must(err)
	for i := range published.Tree.Len() {
		if e := published.Tree.At(i); e.Chunks > 0 {
			names = append(names, e.Path)
		}
	}
	return names
}

func same(t *testing.T, want, got string) {
	t.Helper()
	a, err := os.ReadFile(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(got)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s: %d bytes instead of %d, %v", got, len(b), len(a), err)
	}
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
