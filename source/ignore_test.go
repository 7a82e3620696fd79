package source

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// verdict applies rules as the walk does: a path below an ignored folder is ignored, whatever a later line says.
func verdict(byDir map[string]*rules, name string, isDir bool) bool {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '/' {
			continue
		}
		part := name[:i]
		dir := path.Dir(part)
		for byDir[dir] == nil {
			dir = path.Dir(dir)
		}
		if r := byDir[dir].find(part, isDir || i < len(name)); r != nil && !r.negate {
			return true
		}
	}
	return false
}

func TestRules(t *testing.T) {
	cases := []struct {
		lines, path string
		dir, want   bool
	}{
		{"*.log", "a/b.log", false, true},
		{"/a.md", "a.md", false, true},
		{"/a.md", "b/a.md", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build/y.md", false, true},
		{"a/b", "a/b", false, true},
		{"a/b", "x/a/b", false, false},
		{"foo/**\n!foo/keep.md", "foo/keep.md", false, false},
		{"foo/**", "foo", true, false},
		{"foo\n!foo/keep.md", "foo/keep.md", false, true},
		{"**/a/b", "a/c/a/b", false, true},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"[!a].md", "b.md", false, true},
		{"[!a].md", "a.md", false, false},
		{"[[:digit:]].md", "7.md", false, true},
		{"[[:nope:]].md", "7.md", false, false},
		{"[a", "[a", false, false},
		{"[]-]", "]", false, true},
		{"\\#x", "#x", false, true},
		{"#x", "#x", false, false},
		{"\\!x", "!x", false, true},
		{"x\\ ", "x ", false, true},
		{"x   ", "x", false, true},
		{"x\\", "x\\", false, false},
		{"{a,b}", "{a,b}", false, true},
		{"{a,b}", "a", false, false},
		{"a*b*c", "aXbYc", false, true},
		{"\ufeff*.md\r\n!b.md\r", "b.md", false, false},
		{"\ufeff*.md\r\n", "a.md", false, true},
		{"caf??.md", "café.md", false, true},
		{"ignored", "Ignored", false, false},
		{"a\x00b", "a", false, true},
		{"/", "a", false, false},
		{"!", "a", false, false},
	}
	for _, c := range cases {
		rs := map[string]*rules{".": parseRules("", ".gitignore", []byte(c.lines), nil)}
		if got := verdict(rs, c.path, c.dir); got != c.want {
			t.Errorf("lines %q, path %q, folder %v: ignored %v, want %v", c.lines, c.path, c.dir, got, c.want)
		}
	}
}

// TestRulesAgreeWithGit compares random ignore files over a fixed tree with git itself.
func TestRulesAgreeWithGit(t *testing.T) {
	g := newGitTree(t, 40)
	rng := rand.New(rand.NewPCG(1, 2))
	ignored, total := 0, 0
	for range 12 {
		want, got := g.round(t, rng)
		for _, p := range g.paths {
			total++
			if got[p] {
				ignored++
			}
			if got[p] != want[p] {
				t.Errorf("%q: ignored %v, git says %v, by\n%s", p, got[p], want[p], g.explain(p))
			}
		}
	}
	if ignored == 0 || ignored == total {
		t.Fatalf("%d of %d paths ignored: the comparison shows nothing", ignored, total)
	}
}

// gitTree is many copies of one small tree in one repository, each with ignore files of its own.
type gitTree struct {
	root  string
	paths []string
	dirs  map[string]bool
	lines map[string]string // by folder
	roots []string
}

var treeFiles = []string{
	"a", "ab", "abc", "b.md", "a.md", "é.md", "[a]", "{a,b}", "a b", "a ", "a/..", "!a", "#a", `a\b`,
	"foo/a", "foo/ab/a", "foo/b.md", "foo/foo/a", "foo/bar/foo/b", "bar/a.md", "bar/foo/ab/c.md", "abx/c/a", "abx/a",
}

func newGitTree(t *testing.T, copies int) *gitTree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, so nothing to compare with")
	}
	g := &gitTree{root: t.TempDir(), dirs: map[string]bool{}}
	git(t, g.root, "init", "-q")
	for i := range copies {
		top := fmt.Sprintf("r%d", i)
		g.roots = append(g.roots, top)
		for _, f := range treeFiles {
			if strings.HasSuffix(f, "/..") {
				continue
			}
			g.add(t, top+"/t/"+f)
		}
	}
	return g
}

func (g *gitTree) add(t *testing.T, p string) {
	t.Helper()
	for d := path.Dir(p); d != "." && !g.dirs[d]; d = path.Dir(d) {
		g.dirs[d] = true
		g.paths = append(g.paths, d)
	}
	full := filepath.Join(g.root, p)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
		// A file whose name another path has as a folder is left out.
		if os.WriteFile(full, nil, 0o644) == nil {
			g.paths = append(g.paths, p)
		}
	}
}

func (g *gitTree) round(t *testing.T, rng *rand.Rand) (want, got map[string]bool) {
	t.Helper()
	g.lines = map[string]string{}
	got = map[string]bool{}
	for _, top := range g.roots {
		by := map[string]*rules{".": {}}
		for _, dir := range []string{top, top + "/t", top + "/t/foo"} {
			if dir != top && rng.IntN(3) > 0 {
				os.Remove(filepath.Join(g.root, dir, ".gitignore"))
				continue
			}
			lines := randomLines(rng)
			g.lines[dir] = lines
			write(t, g.root, dir+"/.gitignore", lines)
			parent := by[path.Dir(dir)]
			if parent == nil {
				parent = by[top]
			}
			by[dir] = parseRules(dir, ".gitignore", []byte(lines), parent)
		}
		for _, p := range g.paths {
			if strings.HasPrefix(p, top+"/") {
				got[p] = verdict(by, p, g.dirs[p])
			}
		}
	}
	return g.ask(t), got
}

func (g *gitTree) ask(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.Command("git", "-C", g.root, "-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false",
		"check-ignore", "--no-index", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(g.paths, "\x00") + "\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for p := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		want[string(p)] = true
	}
	return want
}

func (g *gitTree) explain(p string) string {
	var out strings.Builder
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if l, ok := g.lines[d]; ok {
			fmt.Fprintf(&out, "%s/.gitignore %q\n", d, l)
		}
	}
	return out.String()
}

var lineParts = []string{
	"*", "*", "**", "**/", "/**", "/", "/", "?", "!", "#", "\\", " ", "a", "a", "ab", "b", "c", ".md", "*.md", "foo", "foo", "bar",
	"t/", "abx", "[a-c]", "[!a]", "[^b]", "[]a]", "[a", "[[:alpha:]]", "[[:x:]]", "[a-", "{a,b}", "é", "[[]", "\\a", "\\*", "***", "t",
}

func randomLines(rng *rand.Rand) string {
	var out strings.Builder
	for range 1 + rng.IntN(4) {
		if rng.IntN(4) == 0 {
			out.WriteString("!")
		}
		for range 1 + rng.IntN(5) {
			out.WriteString(lineParts[rng.IntN(len(lineParts))])
		}
		out.WriteString([]string{"", "", "/", " ", "\r"}[rng.IntN(5)] + "\n")
	}
	if againstManual.MatchString(out.String()) {
		return randomLines(rng)
	}
	return out.String()
}

// againstManual finds lines such as "x**/**", which git lets match x too, against gitignore(5).
var againstManual = regexp.MustCompile(`(?m)[^/*\n]\*\*+/[*/]*[ \r]*$`)

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func write(t testing.TB, root, name, content string) {
	t.Helper()
	full := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
