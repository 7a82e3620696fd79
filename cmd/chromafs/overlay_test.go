package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/fixtures"
	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/source"
)

// overlay puts access markers on a copy of mem0-docs, which has none: two groups of the navigation are public, pages are
// for groups that overlap, one excludes a group, one is for nobody, one is malformed, one has markers in a fence alone.
func overlay(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "docs")
	if err := os.CopyFS(dir, os.DirFS(corpora.Dir(t, "mem0-docs"))); err != nil {
		t.Fatal(err)
	}
	replace(t, dir, "docs.json", `"group": "Start Here",`, `"group": "Start Here", "public": true,`)
	replace(t, dir, "docs.json", `"group": "Getting Started",`, `"group": "Getting Started", "public": true,`)
	for page, marker := range map[string]string{
		"platform/cli.mdx":          "groups: [staff, partners]",
		"platform/mem0-mcp.mdx":     "groups: [partners, customers]",
		"vibecoding.mdx":            `groups: [{includes: ["*"], excludes: [partners]}]`,
		"platform/agent-signup.mdx": "groups: []",
		malformedPage:               "groups: admin",
	} {
		replace(t, dir, page, "---\n", "---\n"+marker+"\n")
	}
	write(t, dir, "fence.mdx", "# Fence\n\n```yaml\n---\ngroups: [staff]\npublic: true\n---\n```\n")
	return dir
}

const malformedPage = "open-source/setup.mdx"

// replace changes the first occurrence in a file.
func replace(t *testing.T, dir, name, before, after string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !strings.Contains(string(text), before) {
		t.Fatalf("%s does not hold %q: %v", name, before, err)
	}
	write(t, dir, name, strings.Replace(string(text), before, after, 1))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// listed are the files that a viewer sees.
func listed(t *testing.T, flags []string, viewer ...string) []string {
	t.Helper()
	var list []struct{ Path string }
	if err := json.Unmarshal([]byte(command(t, slices.Concat([]string{"access", "list"}, flags, viewer)...)), &list); err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, v := range list {
		if !strings.HasSuffix(v.Path, "/") {
			files = append(files, v.Path)
		}
	}
	return files
}

func TestOverlayEmbedded(t *testing.T) {
	testOverlay(t, "--store", t.TempDir())
}

func TestOverlayChroma(t *testing.T) {
	c := newCollection(t)
	t.Setenv("CHROMAFS_BLOBS", t.TempDir())
	testOverlay(t, "--chroma", c.Chroma, "--collection", c.Collection)
}

// testOverlay takes the overlay through every command, without a configured default: its markers are enough.
func testOverlay(t *testing.T, flags ...string) {
	dir := overlay(t)
	flags = append(flags, "--format", "json", "--config", emptyConfig(t))
	_, err := attempt(t, slices.Concat([]string{"ingest", dir}, flags)...)
	var failures ingest.Failures
	if !errors.As(err, &failures) || len(failures) != 1 || failures[0].Path != malformedPage || failures[0].Line != 2 {
		t.Fatalf("malformed: %v %v", err, failures)
	}
	if _, err := attempt(t, slices.Concat([]string{"ingest", "--deny-invalid", dir}, flags)...); !errors.Is(err, ingest.ErrDenied) {
		t.Fatalf("denied: %v", err)
	}
	command(t, slices.Concat([]string{"verify", dir}, flags)...)
	wantOverlay(t, flags)

	replace(t, dir, malformedPage, "groups: admin\n", "")
	replace(t, dir, "platform/cli.mdx", "groups: [staff, partners]\n", "groups: [staff]\n")
	command(t, slices.Concat([]string{"ingest", "--allow-widen", dir}, flags)...)
	if slices.Contains(listed(t, flags, "--groups", "partners"), "platform/cli.mdx") {
		t.Error("a page taken from a group is still listed")
	}
	replace(t, dir, "docs.json", `"group": "Support",`, `"group": "Support", "public": true,`)
	if _, err := attempt(t, slices.Concat([]string{"ingest", dir}, flags)...); !errors.Is(err, ingest.ErrWiden) {
		t.Errorf("one more public group: %v", err)
	}
}

// wantOverlay holds each viewer's listing to the markers.
func wantOverlay(t *testing.T, flags []string) {
	t.Helper()
	const signedIn, group = "--authenticated", "--groups"
	all := listed(t, flags, "--all")
	cases := []struct {
		page string
		seen []string // by these viewers
	}{
		{"introduction.mdx", []string{"", signedIn, "staff", "partners", "customers"}},
		{"platform/quickstart.mdx", []string{"", signedIn, "staff", "partners", "customers"}},
		{"fence.mdx", []string{signedIn, "staff", "partners", "customers"}},
		{"platform/cli.mdx", []string{"staff", "partners"}},
		{"platform/mem0-mcp.mdx", []string{"partners", "customers"}},
		{"vibecoding.mdx", []string{signedIn, "staff", "customers"}},
		{"platform/agent-signup.mdx", nil},
		{malformedPage, nil},
		{"docs.json", nil},
		{"llms.txt", nil},
	}
	for _, viewer := range []string{"", signedIn, "staff", "partners", "customers"} {
		var files []string
		switch viewer {
		case "":
			files = listed(t, flags)
		case signedIn:
			files = listed(t, flags, signedIn)
		default:
			files = listed(t, flags, group, viewer)
		}
		for _, c := range cases {
			if !slices.Contains(all, c.page) {
				t.Fatalf("the operator does not see %s", c.page)
			}
			if got, want := slices.Contains(files, c.page), slices.Contains(c.seen, viewer); got != want {
				t.Errorf("%q sees %s: %t, want %t", viewer, c.page, got, want)
			}
		}
		if len(files) == 0 || len(files) >= len(all) {
			t.Errorf("%q sees %d files of %d", viewer, len(files), len(all))
		}
	}
}

// TestChromaNeedsDefault: on a server the owner has to say who sees a folder of which nothing is said. Nothing is made
// before that, nor by a dry run.
func TestChromaNeedsDefault(t *testing.T) {
	c := newCollection(t)
	dir := fixtures.Dir(t, "starter")
	flags := []string{dir, "--chroma", c.Chroma, "--collection", c.Collection, "--config", emptyConfig(t)}
	_, err := attempt(t, append([]string{"ingest"}, flags...)...)
	if lines := describe(err, exitFailed); !errors.Is(err, source.ErrNoDefault) || !strings.Contains(strings.Join(lines, "\n"), "access: {default: public}") {
		t.Errorf("ingest: %q", lines)
	}
	if _, err := attempt(t, append([]string{"access", "explain", "index.mdx"}, flags...)...); !errors.Is(err, source.ErrNoDefault) {
		t.Errorf("explain: %v", err)
	}
	command(t, append([]string{"ingest", "--dry-run", "--access-default", "public"}, flags...)...)
	if _, err := openStore(t.Context(), c, false); !errors.Is(err, index.ErrNoCollection) {
		t.Errorf("the collection was made: %v", err)
	}
	command(t, append([]string{"ingest", "--access-default", "public"}, flags...)...)
	if _, err := attempt(t, append([]string{"verify"}, flags...)...); !errors.Is(err, source.ErrNoDefault) {
		t.Errorf("verify: %v", err)
	}
}
