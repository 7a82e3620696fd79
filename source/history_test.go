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

// TestHistoryRunsNothing sets what makes git run other programs.
func TestHistoryRunsNothing(t *testing.T) {
	r := newRepo(t)
	r.commit(t, map[string]string{"a.md": "1"})
	mark := filepath.Join(t.TempDir(), "mark")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+mark+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"core.fsmonitor", "core.pager", "pager.log", "diff.external", "gpg.program"} {
		git(t, r.dir, "config", key, script)
	}
	git(t, r.dir, "config", "log.showSignature", "true")
	write(t, r.dir, ".git/hooks/post-index-change", "#!/bin/sh\ntouch '"+mark+"'\n")
	if err := os.Chmod(filepath.Join(r.dir, ".git/hooks/post-index-change"), 0o755); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(r.dir, ".git/index"))
	stale := time.Unix(1_500_000_000, 0) // so that git looks at the content
	os.Chtimes(filepath.Join(r.dir, "a.md"), stale, stale)
	if got := times(t, r.dir)["a.md"]; got != r.last(t, "a.md") {
		t.Errorf("time %d", got)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("git ran a program that the repository names")
	}
	if after, _ := os.ReadFile(filepath.Join(r.dir, ".git/index")); string(after) != string(before) {
		t.Error("the index was written")
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
