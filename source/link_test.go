package source

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/fixtures"
)

func TestResolveLinks(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "", "d/b.md": "", "d/e/c.md": "", ".x": "", "drafts/f.md": "", "only/.gitkeep": ""})
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		path, target string
		want         Reason
	}{
		{"l", "a.md", ""},
		{"l", "./d//e/", ""},
		{"l", "d/e/../b.md", ""},
		{"l", ".", ""},
		{"d/l", "..", ""},
		{"d/l", "../a.md", ""},
		{"d/e/l", "../../d/e/c.md", ""},
		{"only/l", "../a.md", ""},
		{"l", "/a.md", LinkAbsolute},
		{"l", dir + "/a.md", LinkAbsolute},
		{"l", "..", LinkOutside},
		{"d/l", "../..", LinkOutside},
		{"l", "../" + filepath.Base(dir) + "/a.md", LinkOutside},
		{"l", "d/../../" + filepath.Base(dir) + "/a.md", LinkOutside},
		{"l", "nowhere", LinkDangling},
		{"l", "nowhere/../a.md", LinkDangling},
		{"l", "a.md/", LinkToIgnored},
		{"l", "a.md/../a.md", LinkToIgnored},
		{"l", "a.md/x", LinkDangling},
		{"l", "\xff", LinkDangling},
		{"l", ".x", LinkToIgnored},
		{"l", "empty", LinkToIgnored},
		{"l", "only", LinkToIgnored},
		{"l", "only/../a.md", LinkToIgnored},
		{"l", "drafts/f.md", LinkToIgnored},
		{"l", "drafts/../a.md", LinkToIgnored},
		{"l", "l", LinkLoop},
		{"l", "l/x", LinkLoop},
	}
	for _, c := range cases {
		l := filepath.Join(dir, c.path)
		if err := os.Symlink(c.target, l); err != nil {
			t.Skip(err)
		}
		f := open(t, dir, Options{Exclude: []string{"drafts"}})
		found := list(t, f)
		kept, ignored := f.ResolveLinks(found.Links, found.Files)
		var got Reason
		switch {
		case len(kept)+len(ignored) != 1:
			t.Errorf("%s -> %s: %d kept, %d ignored", c.path, c.target, len(kept), len(ignored))
		case len(kept) == 1 && kept[0].Target != c.target:
			t.Errorf("%s -> %s: kept as %s", c.path, c.target, kept[0].Target)
		case len(ignored) == 1:
			got = ignored[0].Reason
		}
		if got != c.want {
			t.Errorf("%s -> %s: %q, want %q", c.path, c.target, got, c.want)
		}
		os.Remove(l)
	}
}

func TestResolveLinksChains(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "", "d/.x": ""})
	links := map[string]string{"d/3": "../a.md", "2": "d", "1": "2/3", "ab": "ba", "ba": "ab", "far": "../far", "farther": "far"}
	for p, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, p)); err != nil {
			t.Skip(err)
		}
	}
	for i := range maxHops {
		target := fmt.Sprintf("n%d", i+1)
		if i == maxHops-1 {
			target = "a.md"
		}
		os.Symlink(target, filepath.Join(dir, fmt.Sprintf("n%d", i)))
	}
	os.Symlink("n0", filepath.Join(dir, "one-more"))
	parts := partition(t, open(t, dir, Options{}))
	// 2 leads to a folder without a file, so 1 can't go through it.
	want := map[string]string{"d/3": "link", "2": string(LinkToIgnored), "1": string(LinkToIgnored), "ab": string(LinkLoop),
		"far": string(LinkOutside), "farther": string(LinkOutside), "n0": "link", "one-more": string(LinkLoop)}
	for p, answer := range want {
		if parts[p] != answer {
			t.Errorf("%s -> %s: %s, want %s", p, links[p], parts[p], answer)
		}
	}
}

// TestLinksFitSnapshot: what a snapshot refuses is ignored here, though the system follows it.
func TestLinksFitSnapshot(t *testing.T) {
	dir := tree(t, map[string]string{"a/b/c.md": "", "top.md": ""})
	links := map[string]struct {
		target string
		want   string
	}{
		"deep":      {"a/b", "link"},
		"good.md":   {"deep/../../top.md", string(LinkOutside)},
		"on-it.md":  {"good.md", string(LinkToIgnored)},
		"same.md":   {"deep/../b/c.md", "link"},
		"longest":   {strings.Repeat("./", (maxPath-len("top.md"))/2) + "top.md", "link"},
		"a/too-far": {strings.Repeat("./", maxPath/2) + "b", string(LinkTarget)},
	}
	for p, l := range links {
		if err := os.Symlink(l.target, filepath.Join(dir, p)); err != nil {
			t.Skip(err)
		}
	}
	parts := partition(t, open(t, dir, Options{}))
	for p, l := range links {
		if _, err := os.Stat(filepath.Join(dir, p)); err != nil {
			t.Errorf("%s leads nowhere: %v", p, err)
		}
		if parts[p] != l.want {
			t.Errorf("%s: %q, want %q", p, parts[p], l.want)
		}
	}
}

func TestUnfit(t *testing.T) {
	cases := map[Link]Reason{
		{Path: "l", Target: "a/../b"}:                       "",
		{Path: "d/l", Target: ".."}:                         "",
		{Path: "d/l", Target: "../.."}:                      LinkOutside,
		{Path: "d/l", Target: "x/../../../y"}:               LinkOutside,
		{Path: "l", Target: "..."}:                          "",
		{Path: "l", Target: "\xff"}:                         LinkTarget,
		{Path: "l", Target: "a\x00"}:                        LinkTarget,
		{Path: "l", Target: strings.Repeat("x", maxPath)}:   "",
		{Path: "l", Target: strings.Repeat("x", maxPath+1)}: LinkTarget,
	}
	for l, want := range cases {
		if got := unfit(l); got != want {
			t.Errorf("%s -> %.20q: %q, want %q", l.Path, l.Target, got, want)
		}
	}
}

func TestLinkFixture(t *testing.T) {
	parts := partition(t, open(t, fixtures.Dir(t, "links"), Options{}))
	bad := 0
	for p, answer := range parts {
		if strings.HasPrefix(p, "bad/") {
			bad++
		}
		if strings.HasPrefix(p, "bad/") == (answer == "link" || answer == "selected") && !strings.HasPrefix(p, ".") {
			t.Errorf("%q: %s", p, answer)
		}
	}
	if bad == 0 {
		t.Fatal("the fixture has no bad links")
	}
}

// TestLinksAgreeWithSystem builds what a reader gets, selected files and kept links, and follows every link there.
func TestLinksAgreeWithSystem(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	words := []string{"a", "b", "c", "..", "..", ".", "", "f", "g"}
	kept, dropped := 0, 0
	for range 150 {
		dir, reader := t.TempDir(), t.TempDir()
		for range 12 {
			p := filepath.Join(dir, words[rng.IntN(3)], words[rng.IntN(3)], words[5+rng.IntN(4)])
			var target []string
			for range 1 + rng.IntN(5) {
				target = append(target, words[rng.IntN(len(words))])
			}
			os.MkdirAll(filepath.Dir(p), 0o755)
			if rng.IntN(2) == 0 {
				os.Symlink(strings.TrimPrefix(strings.Join(target, "/"), "/"), p)
			} else {
				os.WriteFile(p, nil, 0o644)
			}
		}
		f := open(t, dir, Options{Exclude: []string{"g", "b/g"}})
		l := list(t, f)
		links, ignored := f.ResolveLinks(l.Links, l.Files)
		for _, p := range l.Files {
			write(t, reader, p, "")
		}
		for _, k := range links {
			os.MkdirAll(filepath.Join(reader, path.Dir(k.Path)), 0o755)
			if err := os.Symlink(k.Target, filepath.Join(reader, k.Path)); err != nil {
				t.Fatal(err)
			}
		}
		for _, k := range links {
			kept++
			if !leadsTo(t, reader, k.Path, l.Files) {
				t.Errorf("%s -> %s is kept, but leads nowhere\n%s", k.Path, k.Target, all(dir))
			}
		}
		for _, i := range ignored {
			dropped++
			full := filepath.Join(reader, i.Path)
			os.MkdirAll(filepath.Dir(full), 0o755)
			os.Symlink(i.Detail, full)
			if !strings.HasPrefix(i.Detail, "/") && unfit(Link{Path: i.Path, Target: i.Detail}) == "" && leadsTo(t, reader, i.Path, l.Files) {
				t.Errorf("%s -> %s is ignored (%s), but works\n%s", i.Path, i.Detail, i.Reason, all(dir))
			}
			os.Remove(full)
		}
	}
	if kept == 0 || dropped == 0 {
		t.Fatalf("%d kept, %d ignored: nothing compared", kept, dropped)
	}
}

// leadsTo reports whether the system finds a selected file, or a folder with one, behind a link of the reader's tree.
func leadsTo(t *testing.T, root, link string, files []string) bool {
	t.Helper()
	inside, err := os.OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	if _, err := inside.Stat(link); err != nil {
		return false
	}
	end, err := filepath.EvalSymlinks(filepath.Join(root, link))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(root, end)
	return err == nil && slices.ContainsFunc(files, func(p string) bool {
		return rel == "." || p == rel || strings.HasPrefix(p, rel+"/")
	})
}

// all describes a tree for a failure.
func all(dir string) string {
	out := map[string]string{}
	filepath.Walk(dir, func(full string, _ os.FileInfo, err error) error {
		target, _ := os.Readlink(full)
		out[strings.TrimPrefix(full, dir)] = target
		return err
	})
	var text strings.Builder
	for _, p := range slices.Sorted(maps.Keys(out)) {
		fmt.Fprintf(&text, "%s -> %q\n", p, out[p])
	}
	return text.String()
}
