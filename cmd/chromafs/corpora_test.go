package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromafs/chromafs/config"
	"github.com/chromafs/chromafs/fixtures"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/index/indextest"
	"github.com/chromafs/chromafs/ingest"
)

// command runs chromafs in this process and returns its standard output.
func command(t *testing.T, args ...string) string {
	t.Helper()
	out, err := attempt(t, args...)
	if err != nil {
		t.Fatalf("chromafs %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// attempt is command where an error may be wanted.
func attempt(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// proof is what verify says of a folder, in JSON.
type proof struct {
	OK       bool
	Files    int
	Patterns map[string]int
	Findings []struct{ Kind, Path string }
}

func (p proof) tried() (n int) {
	for _, of := range p.Patterns {
		n += of
	}
	return n
}

// roundTrip ingests dir, twice, and proves what was published.
func roundTrip(t *testing.T, dir string, flags ...string) proof {
	t.Helper()
	flags = append(flags, "--format", "json", "--config", emptyConfig(t))
	command(t, append([]string{"ingest", dir}, flags...)...)
	var again struct {
		Changed          bool
		Written, Deleted int
	}
	if err := json.Unmarshal([]byte(command(t, append([]string{"ingest", dir}, flags...)...)), &again); err != nil {
		t.Fatal(err)
	}
	if again.Changed || again.Written != 0 || again.Deleted != 0 {
		t.Errorf("the second ingest did something: %+v", again)
	}
	var proved proof
	if err := json.Unmarshal([]byte(command(t, append([]string{"verify", dir}, flags...)...)), &proved); err != nil {
		t.Fatal(err)
	}
	if !proved.OK || proved.Files == 0 || len(proved.Patterns) == 0 {
		t.Errorf("verify: %+v", proved)
	}
	return proved
}

func emptyConfig(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "chromafs.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// corpus is a folder of real documentation, and how many files of its manifest are dot-files or can't be chunked.
type corpus struct {
	name, folder string
	ignored      int
}

// roundTrip wants all of the corpus' files.
func (c corpus) roundTrip(t *testing.T, flags ...string) {
	t.Helper()
	proved := roundTrip(t, filepath.Join(corpora.Dir(t, c.name), c.folder), flags...)
	want := -c.ignored
	for _, name := range corpora.Files(t, c.name) {
		if strings.HasPrefix(name, c.folder) {
			want++
		}
	}
	if proved.Files != want || proved.tried() < 200 {
		t.Errorf("%d files, want %d; %d patterns", proved.Files, want, proved.tried())
	}
}

func TestCorporaEmbedded(t *testing.T) {
	for _, c := range []corpus{{"mintlify-starter", "", 4}, {"mem0-docs", "", 5}, {"openapi-specs", "", 13}, {"tldr", "pages/", 1}} {
		t.Run(c.name, func(t *testing.T) { c.roundTrip(t, "--store", t.TempDir()) })
	}
}

func TestCorporaChroma(t *testing.T) {
	for _, c := range []corpus{{"mintlify-starter", "", 4}, {"mem0-docs", "", 5}} {
		t.Run(c.name, func(t *testing.T) {
			settings := newCollection(t)
			c.roundTrip(t, "--chroma", settings.Chroma, "--collection", settings.Collection, "--access-default", "public",
				"--blobs", t.TempDir())
		})
	}
}

// newCollection names a collection of a real server that is not there yet, and empties it after the test.
func newCollection(t *testing.T) config.Config {
	t.Helper()
	c := config.Config{Chroma: indextest.Chroma(t), Collection: fmt.Sprintf("cmd-%d", time.Now().UnixNano())}
	t.Cleanup(func() { empty(t, c) })
	return c
}

// TestManyFiles is one folder of 32,577 pages.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("large: not with -short")
	}
	if proved := roundTrip(t, fixtures.Dir(t, "many-files"), "--store", t.TempDir()); proved.Files != 32_577 {
		t.Errorf("%d files", proved.Files)
	}
}

// empty deletes a collection's records, since every search of the server reads them.
func empty(t *testing.T, c config.Config) {
	ctx := context.WithoutCancel(t.Context())
	store, err := openStore(ctx, c, false)
	if err != nil {
		t.Error(err)
		return
	}
	ids, err := store.IDs(ctx, "", "")
	if err := errors.Join(err, store.Delete(ctx, ids), store.Close()); err != nil {
		t.Error(err)
	}
}

// TestFixtures takes every small site with its kind of trouble through both commands.
func TestFixtures(t *testing.T) {
	sites := fixtures.All()
	if len(sites) == 0 {
		t.Fatal("no fixture")
	}
	for _, s := range sites {
		if s.Name == "names-not-utf8" || s.Name == "frontmatter" {
			continue // refused, see below
		}
		t.Run(s.Name, func(t *testing.T) {
			roundTrip(t, fixtures.Dir(t, s.Name), "--store", t.TempDir())
		})
	}
}

// TestMalformedFrontmatter: nobody knows who may see such a page, so the site is refused, or published without it.
func TestMalformedFrontmatter(t *testing.T) {
	dir := fixtures.Dir(t, "frontmatter")
	flags := []string{"--store", t.TempDir(), "--config", emptyConfig(t), "--format", "json"}
	_, err := attempt(t, append([]string{"ingest", dir}, flags...)...)
	var failures ingest.Failures
	if !errors.As(err, &failures) || !errors.Is(err, ingest.ErrAccess) || len(failures) != 3 {
		t.Fatalf("%v: %v", err, failures)
	}
	out, err := attempt(t, append([]string{"ingest", "--deny-invalid", dir}, flags...)...)
	var result struct {
		Denied []struct{ Path string }
	}
	if jsonErr := json.Unmarshal([]byte(out), &result); jsonErr != nil || !errors.Is(err, ingest.ErrDenied) || len(result.Denied) != 3 {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	command(t, append([]string{"verify", dir}, flags...)...)
	listed := command(t, append([]string{"access", "list", "--authenticated"}, flags...)...)
	for _, d := range result.Denied {
		if strings.Contains(listed, d.Path) {
			t.Errorf("%s is listed", d.Path)
		}
	}
}

// TestNamesNotUTF8: a page that can't be named is a failed page, and every one is shown.
func TestNamesNotUTF8(t *testing.T) {
	root := newRoot()
	root.SetArgs([]string{"ingest", fixtures.Dir(t, "names-not-utf8"), "--store", t.TempDir(), "--config", emptyConfig(t)})
	err := root.ExecuteContext(t.Context())
	var failures ingest.Failures
	if !errors.As(err, &failures) || len(failures) < 2 {
		t.Fatalf("%v", err)
	}
	if lines := describe(err, exitFailed); len(lines) != len(failures)+1 {
		t.Errorf("%d pages failed, shown: %q", len(failures), lines)
	}
}
