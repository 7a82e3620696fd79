package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chromafs/chromafs/fixtures"
)

// checkText stands in for the chunker's check.
func checkText(content []byte) error {
	switch {
	case !utf8.Valid(content):
		return errors.New("not UTF-8")
	case slices.Contains(content, 0):
		return errors.New("NUL byte")
	}
	return nil
}

func open(t testing.TB, dir string, opts Options) *Folder {
	t.Helper()
	f, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func list(t testing.TB, f *Folder) *Listing {
	t.Helper()
	l, err := f.Walk(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// partition is the answer for each path after everything was read: "selected", "link", a reason, or "invalid".
func partition(t testing.TB, f *Folder) map[string]string {
	t.Helper()
	l := list(t, f)
	out := map[string]string{}
	put := func(path, answer string) {
		if was, ok := out[path]; ok {
			t.Errorf("%q is both %s and %s", path, was, answer)
		}
		out[path] = answer
	}
	var selected []string
	for _, p := range l.Files {
		var ign *Ignored
		var inv *Invalid
		switch _, err := f.Read(p); {
		case err == nil:
			selected = append(selected, p)
			put(p, "selected")
		case errors.As(err, &ign):
			put(p, string(ign.Reason))
		case errors.As(err, &inv):
			put(p, "invalid")
		default:
			t.Errorf("read %q: an error of no type: %v", p, err)
		}
	}
	kept, ignored := f.ResolveLinks(l.Links, selected)
	for _, k := range kept {
		put(k.Path, "link")
	}
	for _, i := range append(ignored, l.Ignored...) {
		put(i.Path, string(i.Reason))
	}
	for _, i := range l.Invalid {
		put(i.Path, "invalid")
	}
	return out
}

// answers finds the answers for a path, its own and those of the folders above it.
func answers(parts map[string]string, p string) (found []string) {
	for i := range p {
		if a, ok := parts[p[:i]]; ok && p[i-1] == '/' {
			found = append(found, a)
		}
	}
	if a, ok := parts[p]; ok {
		found = append(found, a)
	}
	return found
}

// testPartition holds the partition against a listing of its own.
func testPartition(t *testing.T, dir string, opts Options) {
	t.Helper()
	f := open(t, dir, opts)
	parts := partition(t, f)
	l := list(t, f)
	unseen := maps.Clone(parts)
	err := filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, full)
		p := filepath.ToSlash(rel)
		if err != nil || p == "." {
			return err
		}
		delete(unseen, p)
		delete(unseen, p+"/")
		if d.IsDir() {
			return nil
		}
		if found := answers(parts, p); len(found) != 1 {
			t.Errorf("%q has %d answers: %q", p, len(found), found)
		}
		byName := !slices.Contains(l.Files, p) && !slices.ContainsFunc(l.Links, func(l Link) bool { return l.Path == p })
		if err := l.Explain(p); (err != nil) != byName || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: explained by %v", p, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(unseen) > 0 {
		t.Errorf("answers for paths that don't exist: %q", unseen)
	}
}

func TestPartitionOfFixtures(t *testing.T) {
	sites := fixtures.All()
	if len(sites) == 0 {
		t.Fatal("no fixtures")
	}
	for _, s := range sites {
		t.Run(s.Name, func(t *testing.T) {
			dir := fixtures.Dir(t, s.Name)
			testPartition(t, dir, Options{Check: checkText})
			testPartition(t, dir, Options{Include: []string{"**", ".hidden.md"}, Exclude: []string{"**/page.md"}})
		})
	}
}

func TestPartitionOfRandomTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b.md", ".x", ".well-known", "node_modules", "c d", "é", "\xff", "build", "n\nl", `b\s`}
	globs := []string{"**", "a/**", "**/.x", "build", "**/b.md", "node_modules/**", "{a,.x}/**", "*/*"}
	pick := func(from []string) string { return from[rng.IntN(len(from))] }
	for range 40 {
		dir := t.TempDir()
		for range 30 {
			var parts []string
			for range 1 + rng.IntN(4) {
				parts = append(parts, pick(names))
			}
			full := filepath.Join(dir, filepath.Join(parts...))
			if os.MkdirAll(filepath.Dir(full), 0o755) != nil {
				continue // a file is in the way
			}
			switch rng.IntN(5) {
			case 0:
				os.Symlink(pick(names)+"/../"+pick(names), full)
			case 1:
				os.WriteFile(filepath.Join(filepath.Dir(full), pick(ignoreFiles[:])), []byte(randomLines(rng)), 0o644)
			default:
				os.WriteFile(full, []byte(pick([]string{"x", "\x00", ""})), 0o644)
			}
		}
		var opts Options
		if rng.IntN(2) == 0 {
			opts.Include = []string{pick(globs)}
		}
		if rng.IntN(2) == 0 {
			opts.Exclude = []string{pick(globs)}
		}
		opts.Check = checkText
		if testPartition(t, dir, opts); t.Failed() {
			t.Fatalf("with %+v", opts)
		}
	}
}

// TestIgnoreFixture trusts each page's own word on whether it is kept.
func TestIgnoreFixture(t *testing.T) {
	dir := fixtures.Dir(t, "ignore")
	parts := partition(t, open(t, dir, Options{}))
	tried := 0
	err := filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(ignoreFiles[:], d.Name()) {
			return err
		}
		content, err := os.ReadFile(full)
		rel, _ := filepath.Rel(dir, full)
		kept := strings.HasPrefix(string(content), "kept") || strings.Contains(string(content), "brought back") || rel == "index.md"
		if got := answers(parts, filepath.ToSlash(rel)); len(got) != 1 || (got[0] == "selected") != kept {
			t.Errorf("%q: %q, but it says %q", rel, got, content)
		}
		tried++
		return err
	})
	if err != nil || tried == 0 {
		t.Fatalf("%d pages tried: %v", tried, err)
	}
}

func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		write(t, dir, name, content)
	}
	return dir
}

func TestWalkSelects(t *testing.T) {
	site := map[string]string{
		"a.md": "", "draft/b.md": "", "draft/c.png": "", ".github/d.md": "", ".github/.cache/e.md": "", ".env": "",
		"node_modules/m/f.md": "", "build/g.md": "", "build/sub/h.md": "", ".gitignore": "build/\n", ".well-known/i": "",
		"node_modules.md": "",
	}
	cases := []struct {
		include, exclude []string
		want             string // selected files
	}{
		{want: ".well-known/i a.md draft/b.md draft/c.png node_modules.md"},
		{exclude: []string{"draft"}, want: ".well-known/i a.md node_modules.md"},
		{exclude: []string{"./draft/"}, want: ".well-known/i a.md node_modules.md"},
		{exclude: []string{"**/*.{md,png}"}, want: ".well-known/i"},
		{exclude: []string{"**"}, want: ""},
		{include: []string{"**"}, want: ".well-known/i a.md build/g.md build/sub/h.md draft/b.md draft/c.png node_modules.md"},
		{include: []string{"build/*/h.md"}, exclude: []string{"*.md", "draft", ".*"}, want: "build/sub/h.md"},
		{include: []string{".github"}, exclude: []string{"*"}, want: ""},
		{include: []string{".github"}, exclude: []string{"[!.]*"}, want: ".github/d.md .well-known/i"},
		{include: []string{"{.github,x}/{.cache/,}*.md"}, exclude: []string{"[!.]*"}, want: ".github/.cache/e.md .github/d.md .well-known/i"},
		{include: []string{"/**/.env", "node_modules/**"}, exclude: []string{"draft", "a.md"},
			want: ".env .well-known/i node_modules.md node_modules/m/f.md"},
	}
	dir := tree(t, site)
	for _, c := range cases {
		l := list(t, open(t, dir, Options{Include: c.include, Exclude: c.exclude}))
		if got := strings.Join(l.Files, " "); got != c.want {
			t.Errorf("include %q exclude %q:\n got %s\nwant %s", c.include, c.exclude, got, c.want)
		}
	}
}

func TestWalkReportsFoldersOnce(t *testing.T) {
	dir := tree(t, map[string]string{
		"node_modules/x/a.md": "", "node_modules/b.md": "", ".git/c": "", "out/d/e.md": "", "sub/.gitignore": "/out\n!out/f.md\n",
		"sub/out/f.md": "", ".mintignore": "# x\nout/\n",
	})
	l := list(t, open(t, dir, Options{}))
	want := []Ignored{
		{".git/", DotName, ""},
		{".mintignore", DotName, ""},
		{"node_modules/", NodeModules, ""},
		{"out/", ByIgnoreFile, ".mintignore:2: out/"},
		{"sub/.gitignore", DotName, ""},
		{"sub/out/", ByIgnoreFile, ".mintignore:2: out/"},
	}
	if !slices.Equal(l.Ignored, want) || len(l.Files) > 0 {
		t.Errorf("ignored %q, files %q", l.Ignored, l.Files)
	}
	var ign *Ignored
	if err := l.Explain("node_modules/x/a.md"); !errors.As(err, &ign) || ign.Path != "node_modules/" {
		t.Errorf("explained by %v", err)
	}
	if err := l.Explain("nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("explained by %v", err)
	}
}

func TestWalkLinkedIgnoreFile(t *testing.T) {
	dir := tree(t, map[string]string{"rules": "*.md\n", "a.md": ""})
	if err := os.Symlink("rules", filepath.Join(dir, ".gitignore")); err != nil {
		t.Skip(err)
	}
	l := list(t, open(t, dir, Options{}))
	if len(l.Invalid) != 1 || l.Invalid[0].Path != ".gitignore" {
		t.Errorf("invalid %v", l.Invalid)
	}
}

// TestWalkIncludedFolder: in a folder that is ignored but for what is included, ignore files have no say.
func TestWalkIncludedFolder(t *testing.T) {
	dir := tree(t, map[string]string{".gitignore": "build\n", "build/a.md": "", "build/b.txt": "", "build/c/d.txt": "", "x/build/e.txt": ""})
	if err := os.Symlink("a.md", filepath.Join(dir, "build/.gitignore")); err != nil {
		t.Skip(err)
	}
	l := list(t, open(t, dir, Options{Include: []string{"build/*.md"}}))
	want := []Ignored{
		{".gitignore", DotName, ""},
		{"build/.gitignore", ByIgnoreFile, ".gitignore:1: build"},
		{"build/b.txt", ByIgnoreFile, ".gitignore:1: build"},
		{"build/c/", ByIgnoreFile, ".gitignore:1: build"},
		{"x/build/", ByIgnoreFile, ".gitignore:1: build"},
	}
	if !slices.Equal(l.Ignored, want) || !slices.Equal(l.Files, []string{"build/a.md"}) || len(l.Invalid) > 0 {
		t.Errorf("ignored %q, files %q, invalid %v", l.Ignored, l.Files, l.Invalid)
	}
}

// TestWalkLongPaths: a path that no snapshot can hold is invalid, and one that is just short enough is not.
func TestWalkLongPaths(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder := strings.Repeat(strings.Repeat("d", 199)+"/", 19) // 3,800 bytes
	last, over := strings.Repeat("f", 200), strings.Repeat("g", 201)
	if err := root.MkdirAll(folder+over+"/x", 0o755); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{last, over[1:] + "h", over + "/x/y"} {
		if err := root.WriteFile(folder+name, nil, 0o644); err != nil {
			t.Skip(err)
		}
	}
	eachDisk(t, dir, Options{}, func(t *testing.T, f *Folder) {
		l := list(t, f)
		if len(l.Files) != 1 || len(l.Files[0]) != maxPath {
			t.Errorf("%d files", len(l.Files))
		}
		if len(l.Invalid) != 2 || l.Invalid[0].Path != folder+over+"/" || !errors.Is(&l.Invalid[1], errLongPath) {
			t.Errorf("invalid %v", l.Invalid)
		}
		for _, p := range l.Files {
			if _, err := f.Read(p); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestWalkLargeIgnoreFile must not set aside memory for what it refuses.
func TestWalkLargeIgnoreFile(t *testing.T) {
	dir := tree(t, map[string]string{".gitignore": "", "d/.gitignore": "", "a.md": ""})
	for name, size := range map[string]int64{".gitignore": 1 << 30, "d/.gitignore": maxIgnoreFile} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Skip(err)
		}
	}
	f := open(t, dir, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := list(t, f)
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<20 {
		t.Errorf("%d bytes allocated", after.TotalAlloc-before.TotalAlloc)
	}
	if len(l.Invalid) != 1 || l.Invalid[0].Error() != `".gitignore": ignore file of more than 4194304 bytes` {
		t.Errorf("invalid %v", l.Invalid)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := tree(t, map[string]string{"file": ""})
	for _, missing := range []string{"", "nowhere", "file", "file/x"} {
		if missing != "" {
			missing = filepath.Join(dir, missing)
		}
		if _, err := Open(missing, Options{}); !errors.Is(err, ErrNoFolder) {
			t.Errorf("open %q: %v", missing, err)
		}
	}
	for _, glob := range []string{"", "/", "a[", "a{b", "../x", "a/../b", "\xff", `a\`} {
		for _, opts := range []Options{{Include: []string{"ok", glob}}, {Exclude: []string{glob}}} {
			_, err := Open(dir, opts)
			if !errors.Is(err, ErrGlob) || !strings.Contains(err.Error(), fmt.Sprintf("%q", glob)) {
				t.Errorf("glob %q: %v", glob, err)
			}
		}
	}
}

func TestWalkStops(t *testing.T) {
	f := open(t, tree(t, map[string]string{"a/b.md": ""}), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := f.Walk(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("walk: %v", err)
	}
}

func TestWalkEmptyFolder(t *testing.T) {
	l := list(t, open(t, t.TempDir(), Options{}))
	if len(l.Files)+len(l.Links)+len(l.Ignored)+len(l.Invalid) > 0 {
		t.Errorf("found %+v", l)
	}
}
