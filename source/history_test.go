package source

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// repo is a git repository in which each commit is a day later than the last.
type repo struct {
	dir string
	day int
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := &repo{dir: t.TempDir()}
	r.git(t, "init", "-q", "-b", "main")
	return r
}

func (r *repo) git(t *testing.T, args ...string) string {
	t.Helper()
	date := "2020-01-01T00:00:00Z"
	if r.day > 0 {
		date = fmt.Sprintf("@%d +0000", 1_600_000_000+r.day*86_400)
	}
	t.Setenv("GIT_COMMITTER_DATE", date)
	t.Setenv("GIT_AUTHOR_DATE", "@1000000000 +0000")
	return git(t, r.dir, args...)
}

func (r *repo) commit(t *testing.T, files map[string]string) {
	t.Helper()
	r.day++
	for name, content := range files {
		write(t, r.dir, name, content)
	}
	r.git(t, "add", "-A")
	r.git(t, "commit", "-q", "--allow-empty", "-m", "x")
}

// last asks git for one file at a time.
func (r *repo) last(t *testing.T, name string) int64 {
	t.Helper()
	out := strings.TrimSpace(git(t, r.dir, "log", "-1", "--format=%ct", "--", ":(literal)"+name))
	n, _ := strconv.ParseInt(out, 10, 64)
	return n
}

// times are those of the files that the walk of a folder of the repository found.
func times(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	f := open(t, dir, Options{})
	l := list(t, f)
	if len(l.Files) == 0 || len(l.Warnings) > 0 {
		t.Fatalf("files %q, warnings %v", l.Files, l.Warnings)
	}
	out := map[string]int64{}
	for _, p := range l.Files {
		got, err := f.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		out[p] = got.MTime
	}
	for _, link := range l.Links {
		out[link.Path] = link.MTime
	}
	return out
}

// branchy has a merge with a conflict, a merge without, renames, and names that git would quote.
func branchy(t *testing.T) *repo {
	r := newRepo(t)
	r.commit(t, map[string]string{"docs/a.md": "1", "docs/b.md": "1\n2\n3\n4\n5\n", "docs/d/é \"x\"\n.md": "1", "other/x": "1"})
	r.commit(t, map[string]string{"docs/c.md": "1", "docs/\nfirst.md": "1", "docs/old.md": "text\ntext\ntext\n"})
	r.git(t, "checkout", "-q", "-b", "side")
	r.commit(t, map[string]string{"docs/a.md": "side", "docs/b.md": "one\n2\n3\n4\n5\n"})
	r.git(t, "checkout", "-q", "main")
	r.commit(t, map[string]string{"docs/a.md": "main", "docs/b.md": "1\n2\n3\n4\nfive\n"})
	r.git(t, "mv", "docs/old.md", "docs/new.md")
	r.commit(t, map[string]string{"other/x": "2", "\nroot.md": "1"})
	r.day++
	cmd := exec.Command("git", "-C", r.dir, "merge", "-q", "--no-commit", "side")
	cmd.Run() // the conflict
	r.commit(t, map[string]string{"docs/a.md": "both"})
	r.git(t, "checkout", "-q", "-b", "topic")
	r.commit(t, map[string]string{"docs/c.md": "topic"})
	r.git(t, "checkout", "-q", "main")
	r.commit(t, map[string]string{"other/x": "3"})
	r.day++
	r.git(t, "-c", "user.name=t", "merge", "-q", "--no-ff", "-m", "m", "topic")
	r.commit(t, map[string]string{"other/x": "4"})
	return r
}

func TestHistoryAgreesWithGit(t *testing.T) {
	r := branchy(t)
	for _, folder := range []string{"docs", "docs/d", "."} {
		got := times(t, filepath.Join(r.dir, folder))
		distinct := map[int64]bool{}
		for p, when := range got {
			distinct[when] = true
			if want := r.last(t, filepath.Join(folder, p)); when != want || when == 0 {
				t.Errorf("%s of %s: %d, git says %d", p, folder, when, want)
			}
		}
		if folder == "docs" && len(distinct) < 4 {
			t.Errorf("only %d times in %v", len(distinct), got)
		}
	}
}

func TestHistoryAbsent(t *testing.T) {
	r := newRepo(t)
	r.commit(t, map[string]string{"same.md": "1", "edited.md": "1", "staged.md": "1", "touched.md": "1"})
	write(t, r.dir, "edited.md", "2")
	write(t, r.dir, "staged.md", "2")
	write(t, r.dir, "added.md", "1")
	r.git(t, "add", "staged.md", "added.md")
	write(t, r.dir, "untracked.md", "1")
	write(t, r.dir, "touched.md", "1")
	if err := os.Symlink("same.md", filepath.Join(r.dir, "link")); err != nil {
		t.Skip(err)
	}
	day1 := int64(1_600_000_000 + 86_400)
	want := map[string]int64{"same.md": day1, "touched.md": day1}
	for p, when := range times(t, r.dir) {
		if when != want[p] {
			t.Errorf("%s: %d, want %d", p, when, want[p])
		}
	}
	r.commit(t, nil)
	if got := times(t, r.dir); got["link"] != day1+86_400 {
		t.Errorf("link: %d", got["link"])
	}
}

func TestHistoryShallow(t *testing.T) {
	r := newRepo(t)
	r.commit(t, map[string]string{"a.md": "1", "b.md": "1"})
	r.commit(t, map[string]string{"c.md": "1"})
	r.commit(t, map[string]string{"a.md": "2"})
	for depth, want := range map[int]map[string]int64{
		1: {"a.md": 0, "b.md": 0, "c.md": 0},
		2: {"a.md": r.last(t, "a.md"), "b.md": 0, "c.md": 0},
		9: {"a.md": r.last(t, "a.md"), "b.md": r.last(t, "b.md"), "c.md": r.last(t, "c.md")},
	} {
		clone := filepath.Join(t.TempDir(), "clone")
		git(t, r.dir, "clone", "-q", "--depth", strconv.Itoa(depth), "file://"+r.dir, clone)
		got := times(t, clone)
		for p, when := range want {
			if got[p] != when {
				t.Errorf("depth %d: %s: %d, want %d", depth, p, got[p], when)
			}
		}
	}
}

// TestHistoryElsewhere is of folders that no history speaks of.
func TestHistoryElsewhere(t *testing.T) {
	outer := newRepo(t)
	outer.commit(t, map[string]string{".gitignore": "/.cache\n", "a.md": "1"})
	write(t, outer.dir, ".cache/site/a.md", "1")
	unborn := newRepo(t)
	write(t, unborn.dir, "a.md", "1")
	git(t, unborn.dir, "add", "-A")
	plain := tree(t, map[string]string{"a.md": ""})
	for _, dir := range []string{filepath.Join(outer.dir, ".cache/site"), unborn.dir, plain} {
		if got := times(t, dir)["a.md"]; got != 0 {
			t.Errorf("%s: %d", dir, got)
		}
	}
	// As in a hook, where git is pointed at the repository that it runs for.
	t.Setenv("GIT_DIR", filepath.Join(outer.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", outer.dir)
	if got := times(t, plain)["a.md"]; got != 0 {
		t.Errorf("a plain folder inside a hook: %d", got)
	}
	t.Setenv("PATH", t.TempDir())
	if got := times(t, outer.dir)["a.md"]; got != 0 {
		t.Errorf("without git: %d", got)
	}
}

// programs sets up scripts that leave a mark when they run.
type programs struct{ dir, marks string }

func newPrograms(t *testing.T) programs {
	return programs{t.TempDir(), t.TempDir()}
}

func (p programs) script(t *testing.T, name string) (path string) {
	t.Helper()
	path = filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch '"+filepath.Join(p.marks, name)+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func (p programs) ran(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(p.marks)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// sign puts a signature, if none that holds, on the last commit.
func (r *repo) sign(t *testing.T) {
	t.Helper()
	text := git(t, r.dir, "cat-file", "commit", "HEAD")
	signature := "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"
	write(t, r.dir, ".git/signed", strings.Replace(text, "\n\n", signature, 1))
	id := strings.TrimSpace(git(t, r.dir, "hash-object", "-t", "commit", "-w", ".git/signed"))
	git(t, r.dir, "update-ref", "HEAD", id)
}

// TestHistoryRunsNothing sets what makes git run other programs.
func TestHistoryRunsNothing(t *testing.T) {
	r := newRepo(t)
	attributes := "*.md filter=one diff=d\n*.txt filter=two diff=d\n"
	r.commit(t, map[string]string{"a.md": "1", "b.txt": "1", "edited.md": "1", ".gitattributes": attributes})
	r.sign(t)
	p := newPrograms(t)
	keys := []string{
		"filter.one.clean", "filter.one.smudge", "filter.two.process", "diff.d.textconv", "diff.d.command", "core.fsmonitor",
		"core.pager", "pager.log", "pager.ls-tree", "alias.rev-parse", "diff.external", "gpg.program", "core.sshCommand",
	}
	for _, key := range keys {
		value := p.script(t, key)
		if strings.HasPrefix(key, "alias.") {
			value = "!" + value
		}
		git(t, r.dir, "config", key, value)
	}
	git(t, r.dir, "config", "log.showSignature", "true")
	for _, hook := range []string{"post-index-change", "reference-transaction"} {
		if err := os.Rename(p.script(t, hook), filepath.Join(r.dir, ".git/hooks", hook)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, r.dir, "edited.md", "2")
	before, _ := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	stale := time.Unix(1_500_000_000, 0) // so that git would look at the content
	for _, name := range []string{"a.md", "b.txt", "edited.md"} {
		os.Chtimes(filepath.Join(r.dir, name), stale, stale)
	}
	got := times(t, r.dir)
	if ran := p.ran(t); len(ran) > 0 {
		t.Errorf("git ran programs that the repository names: %q", ran)
	}
	if after, _ := os.ReadFile(filepath.Join(r.dir, ".git/index")); string(after) != string(before) {
		t.Error("the index was written")
	}
	day1 := int64(1_600_000_000 + 86_400)
	if got["a.md"] != day1 || got["b.txt"] != day1 || got["edited.md"] != 0 {
		t.Errorf("times %v", got)
	}
	exec.Command("git", "-C", r.dir, "status").Run()
	exec.Command("git", "-C", r.dir, "log").Run()
	if ran := strings.Join(p.ran(t), " "); !strings.Contains(ran, "filter.one.clean") ||
		!strings.Contains(ran, "filter.two.process") || !strings.Contains(ran, "gpg.program") || !strings.Contains(ran, "core.fsmonitor") {
		t.Errorf("git itself ran only %q: the test proves little", ran)
	}
}

// TestHistoryFetchesNothing is of a partial clone that lacks a folder of its older commit.
func TestHistoryFetchesNothing(t *testing.T) {
	for _, remote := range []string{"ext::SCRIPT", "ssh://127.0.0.1/x", "file:///nowhere"} {
		r := newRepo(t)
		r.commit(t, map[string]string{"a.md": "1"})
		r.commit(t, map[string]string{"b.md": "1"})
		p := newPrograms(t)
		script := p.script(t, "remote")
		for key, value := range map[string]string{
			"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
			"remote.origin.url": strings.Replace(remote, "SCRIPT", script, 1), "remote.origin.uploadpack": script,
			"core.sshCommand": script, "protocol.allow": "always", "protocol.ext.allow": "always",
		} {
			git(t, r.dir, "config", key, value)
		}
		lost := strings.TrimSpace(git(t, r.dir, "rev-parse", "HEAD~^{tree}"))
		if err := os.Remove(filepath.Join(r.dir, ".git/objects", lost[:2], lost[2:])); err != nil {
			t.Skip(err)
		}
		l := list(t, open(t, r.dir, Options{}))
		if ran := p.ran(t); len(ran) > 0 || len(l.Files) != 2 || len(l.Warnings) != 1 {
			t.Errorf("%s: ran %q, files %q, warnings %v", remote, ran, l.Files, l.Warnings)
		}
		exec.Command("git", "-C", r.dir, "log", "--name-only").Run()
		if len(p.ran(t)) == 0 {
			t.Errorf("%s: git itself fetches nothing: the test proves nothing", remote)
		}
	}
}

// TestHistoryUnreadable: a repository that git refuses is worth a warning, unlike none.
func TestHistoryUnreadable(t *testing.T) {
	lost := tree(t, map[string]string{".git": "gitdir: /nowhere\n", "a.md": ""})
	l := list(t, open(t, lost, Options{}))
	if len(l.Files) != 1 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0].Text, "/nowhere") {
		t.Errorf("a lost repository: %v", l.Warnings)
	}
	r := newRepo(t)
	r.commit(t, map[string]string{"a.md": "1"})
	for name, value := range map[string]string{"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull} {
		t.Setenv(name, value)
	}
	l = list(t, open(t, r.dir, Options{}))
	if len(l.Files) != 1 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0].Text, "dubious ownership") {
		t.Errorf("another's repository: %v", l.Warnings)
	}
}

func TestHistorySHA256(t *testing.T) {
	r := newRepo(t)
	if err := exec.Command("git", "init", "-q", "--object-format=sha256", filepath.Join(r.dir, "new")).Run(); err != nil {
		t.Skip("git has no SHA-256")
	}
	r.dir = filepath.Join(r.dir, "new")
	r.commit(t, map[string]string{"a.md": "1", "b.md": "1"})
	write(t, r.dir, "b.md", "2")
	if got := times(t, r.dir); got["a.md"] != r.last(t, "a.md") || got["a.md"] == 0 || got["b.md"] != 0 {
		t.Errorf("times %v", got)
	}
}

// TestHistoryFarFuture: a time that no snapshot can hold is none.
func TestHistoryFarFuture(t *testing.T) {
	r := newRepo(t)
	for when, want := range map[int64]int64{maxTime: maxTime, maxTime + 1: 0} {
		r.commit(t, map[string]string{"a.md": strconv.FormatInt(when, 10)})
		text := strings.Replace(git(t, r.dir, "cat-file", "commit", "HEAD"), fmt.Sprint("> ", 1_600_000_000+r.day*86_400), fmt.Sprint("> ", when), 1)
		write(t, r.dir, ".git/future", text)
		id := strings.TrimSpace(git(t, r.dir, "hash-object", "-t", "commit", "-w", ".git/future"))
		git(t, r.dir, "update-ref", "HEAD", id)
		if got := times(t, r.dir)["a.md"]; got != want {
			t.Errorf("%d: %d, want %d", when, got, want)
		}
	}
}

// TestHistoryBroken: a damaged repository is worth a warning and no times, rather than some.
func TestHistoryBroken(t *testing.T) {
	r := newRepo(t)
	r.commit(t, map[string]string{"a.md": "1"})
	r.commit(t, map[string]string{"b.md": "1"})
	old := strings.TrimSpace(git(t, r.dir, "rev-parse", "HEAD~"))
	if err := os.Remove(filepath.Join(r.dir, ".git/objects", old[:2], old[2:])); err != nil {
		t.Skip(err)
	}
	f := open(t, r.dir, Options{})
	l := list(t, f)
	got, err := f.Read("b.md")
	if err != nil || got.MTime != 0 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0].Text, "git log") {
		t.Errorf("time %d, warnings %v, error %v", got.MTime, l.Warnings, err)
	}
}
