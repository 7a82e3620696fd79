package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errs)
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("chromafs %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String()
}

// roundTrip ingests dir, twice, and proves what was published.
func roundTrip(t *testing.T, dir string, flags ...string) {
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
	var proved struct {
		OK       bool
		Files    int
		Patterns map[string]int
	}
	if err := json.Unmarshal([]byte(command(t, append([]string{"verify", dir}, flags...)...)), &proved); err != nil {
		t.Fatal(err)
	}
	if !proved.OK || proved.Files == 0 || len(proved.Patterns) == 0 {
		t.Errorf("verify: %+v", proved)
	}
}

func emptyConfig(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "chromafs.yaml")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCorporaEmbedded(t *testing.T) {
	for name, folder := range map[string]string{"mintlify-starter": "", "mem0-docs": "", "openapi-specs": "", "tldr": "pages"} {
		t.Run(name, func(t *testing.T) {
			roundTrip(t, filepath.Join(corpora.Dir(t, name), folder), "--store", t.TempDir())
		})
	}
}

func TestCorporaChroma(t *testing.T) {
	for _, name := range []string{"mintlify-starter", "mem0-docs"} {
		t.Run(name, func(t *testing.T) {
			c := config.Config{Chroma: indextest.Chroma(t), Collection: fmt.Sprintf("cmd-%d", time.Now().UnixNano())}
			t.Cleanup(func() { empty(t, c) })
			roundTrip(t, corpora.Dir(t, name), "--chroma", c.Chroma, "--collection", c.Collection, "--access-default", "public")
		})
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
		if s.Name == "names-not-utf8" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			roundTrip(t, fixtures.Dir(t, s.Name), "--store", t.TempDir())
		})
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
