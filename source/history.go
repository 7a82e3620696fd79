package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// history is the commit times of a folder's files, while they are being found out.
type history struct {
	done    chan struct{}
	times   map[string]int64
	warning string
	err     error // only the context's
}

// startHistory asks git for the times that File.MTime describes, in one pass over the log, up to the commit that settles
// the last file.
func (f *Folder) startHistory(ctx context.Context) *history {
	h := &history{done: make(chan struct{})}
	g := gitDir{ctx: ctx, dir: f.disk.root.Name()}
	go func() {
		defer close(h.done)
		times, err := g.times()
		switch {
		case ctx.Err() != nil:
			h.err = ctx.Err()
		case err != nil:
			h.warning = fmt.Sprintf("no commit times: %v", err)
		default:
			h.times = times
		}
	}()
	return h
}

func (h *history) wait() (times map[string]int64, warning string, err error) {
	<-h.done
	return h.times, h.warning, h.err
}

// gitDir runs git in one folder, read-only and without anything that the repository's configuration could add.
type gitDir struct {
	ctx context.Context
	dir string
}

// times is nil without an error where there is no history to ask: no git, no repository, nothing tracked, no commit.
func (g gitDir) times() (map[string]int64, error) {
	listed, err := g.output("ls-files", "-z", "--", ".")
	if err != nil || len(listed) == 0 {
		return nil, nil
	}
	if _, err := g.output("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, nil
	}
	prefix, err := g.output("rev-parse", "--show-prefix")
	if err != nil {
		return nil, err
	}
	l := gitLog{prefix: strings.TrimSuffix(string(prefix), "\n"), open: map[string]bool{}, times: map[string]int64{}}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		l.open[name] = true
	}
	if l.boundary, err = g.shallow(); err != nil {
		return nil, err
	}
	if err := g.modified(&l); err != nil {
		return nil, err
	}
	return l.times, g.log(&l)
}

// shallow lists the commits whose parents a shallow clone lacks.
func (g gitDir) shallow() ([]string, error) {
	is, err := g.output("rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(is)) != "true" {
		return nil, err
	}
	name, err := g.output("rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return nil, err
	}
	commits, err := os.ReadFile(strings.TrimSuffix(string(name), "\n"))
	return strings.Fields(string(commits)), err
}

// modified settles the files that differ from the last commit.
func (g gitDir) modified(l *gitLog) error {
	out, err := g.output("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=no",
		"--ignore-submodules=all", "--", ".")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if len(entry) > len("XY ") {
			l.settle(entry[len("XY "):], 0)
		}
	}
	return err
}

func (g gitDir) log(l *gitLog) error {
	ctx, stop := context.WithCancel(g.ctx)
	defer stop()
	cmd := g.command(ctx, "log", "-z", "-c", "--name-only", "--no-renames", "--ignore-submodules=all",
		"--no-show-signature", "--no-color", "--no-notes", "--no-decorate", "--format="+logFormat, "HEAD", "--")
	if l.prefix != "" { // at the top it would change nothing but double git's work
		cmd.Args = append(cmd.Args, ".")
	}
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := l.read(bufio.NewReaderSize(out, 64<<10))
	if len(l.open) == 0 || readErr != nil {
		stop()
		cmd.Wait() // killed on purpose
		return readErr
	}
	if err := cmd.Wait(); err != nil {
		return gitError(cmd, err, faults.Bytes())
	}
	return nil
}

func (g gitDir) output(args ...string) ([]byte, error) {
	cmd := g.command(g.ctx, args...)
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = gitError(cmd, err, exit.Stderr)
	}
	return out, err
}

func gitError(cmd *exec.Cmd, err error, stderr []byte) error {
	line, _, _ := bytes.Cut(bytes.TrimSpace(stderr), []byte("\n"))
	return fmt.Errorf("git %s: %w: %s", cmd.Args[len(gitArgs)+1], err, line)
}

// gitArgs undo settings that would run programs or change the output.
var gitArgs = []string{
	"--no-pager", "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	"-c", "diff.relative=false", "-c", "log.showRoot=true", "-c", "log.follow=false",
}

// gitElsewhere are variables that point git away from the folder, as inside a hook.
var gitElsewhere = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_SHALLOW_FILE",
	"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
}

func (g gitDir) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(slices.Clone(gitArgs), args...)...)
	cmd.Dir = g.dir
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(gitElsewhere, name)
	})
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = time.Second // for a grandchild that keeps the pipe
	return cmd
}

// logFormat begins with a slash, which no path in git's output does.
const logFormat = "/%H %ct"

// gitLog gathers what git tells about the files of a folder.
type gitLog struct {
	prefix   string          // of the folder in its repository, with a slash at the end, or empty
	boundary []string        // commits that say nothing
	open     map[string]bool // tracked files that nothing is known of yet, relative to the folder
	times    map[string]int64
}

// settle ends the search for a file; a time of 0 or less means that it has none.
func (l *gitLog) settle(name string, when int64) {
	name, ok := strings.CutPrefix(name, l.prefix)
	if !ok || !l.open[name] {
		return
	}
	delete(l.open, name)
	if when > 0 {
		l.times[name] = when
	}
}

// read takes the output of git log until every file is settled.
func (l *gitLog) read(r *bufio.Reader) error {
	var when int64
	var first bool
	for len(l.open) > 0 {
		token, err := r.ReadString(0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		token = token[:len(token)-1]
		if strings.HasPrefix(token, "/") {
			if when, err = l.header(token); err != nil {
				return err
			}
			first = true
			continue
		}
		if first { // a line end stands between a commit and its names, or nothing and a NUL after a merge
			token = strings.TrimPrefix(token, "\n")
		}
		first = false
		l.settle(token, when)
	}
	return nil
}

func (l *gitLog) header(token string) (when int64, err error) {
	commit, seconds, _ := strings.Cut(token[1:], " ")
	when, err = strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("unexpected output of git log: %q", token)
	}
	if slices.Contains(l.boundary, commit) {
		when = 0
	}
	return when, nil
}
