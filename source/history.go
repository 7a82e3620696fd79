package source

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// commit is the last one that changed a file.
type commit struct {
	when int64  // committer's time, Unix s
	blob blobID // of the file in it
}

// history is the last commits of a folder's files, while they are being found out.
type history struct {
	done    chan struct{}
	commits map[string]commit
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
		commits, err := g.commits()
		switch {
		case ctx.Err() != nil:
			h.err = ctx.Err()
		case err != nil:
			h.warning = fmt.Sprintf("no commit times: %v", err)
		default:
			h.commits = commits
		}
	}()
	return h
}

func (h *history) wait() (commits map[string]commit, warning string, err error) {
	<-h.done
	return h.commits, h.warning, h.err
}

// mtime is the time of the last commit of a file with the content, or link with the target; 0 if it has another there.
func (f *Folder) mtime(path string, content []byte) int64 {
	c, ok := f.lastCommit(path)
	if !ok || !c.blob.names(content) {
		return 0
	}
	return c.when
}

func (f *Folder) lastCommit(path string) (c commit, ok bool) {
	if commits := f.commits.Load(); commits != nil {
		c, ok = (*commits)[path]
	}
	return c, ok
}

// blobID is git's name for content: a SHA-1, or a SHA-256 in the repositories that have those.
type blobID struct {
	sum    [sha256.Size]byte
	sha256 bool
}

func parseBlobID(text string) (id blobID, ok bool) {
	n, err := hex.Decode(id.sum[:], []byte(text[:min(len(text), 2*len(id.sum))]))
	id.sha256 = n == sha256.Size
	return id, err == nil && 2*n == len(text) && (id.sha256 || n == sha1.Size)
}

// names reports whether git would store content under the id, without asking git: to compare a file, git runs the
// filters that the repository's configuration names. So a file that git stores otherwise than it lies in the folder,
// by a filter or with other line ends, counts as modified.
func (id blobID) names(content []byte) bool {
	h := id.hash(int64(len(content)))
	h.Write(content)
	return id.isSum(h)
}

// hash is that of content of the size, all of which is still to be written to it.
func (id blobID) hash(size int64) hash.Hash {
	h := sha1.New()
	if id.sha256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}

func (id blobID) isSum(h hash.Hash) bool { return bytes.Equal(h.Sum(nil), id.sum[:h.Size()]) }

// gitDir runs git in one folder. The folder may be anybody's, and so may the configuration of its repository, which can
// name programs for many purposes; what runs here has none of them: no look at the work tree or the index (filters,
// fsmonitor, hooks), no signatures, no text conversion or external diff, no pager, no network.
type gitDir struct {
	ctx context.Context
	dir string
}

// commits is nil without an error where there is no history to ask: no git, no repository, no commit, nothing in it.
func (g gitDir) commits() (map[string]commit, error) {
	l, err := g.begin()
	if l == nil || err != nil {
		return nil, err
	}
	if l.open, err = g.tracked(l.head); err != nil || len(l.open) == 0 {
		return nil, err
	}
	if l.shallow {
		if l.boundary, err = g.boundary(); err != nil {
			return nil, err
		}
	}
	return l.commits, g.log(l)
}

// noRepository is what git says outside of every repository, but not in a damaged one or one of another owner.
const noRepository = "fatal: not a git repository (or any "

// begin is nil without an error where there is nothing to read.
func (g gitDir) begin() (*gitLog, error) {
	out, err := g.output("rev-parse", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix")
	switch {
	case errors.Is(err, exec.ErrNotFound), err != nil && strings.Contains(err.Error(), noRepository):
		return nil, nil
	case err != nil:
		return nil, err
	}
	inside, rest, _ := strings.Cut(string(out), "\n")
	shallow, prefix, _ := strings.Cut(rest, "\n")
	if inside != "true" {
		return nil, nil
	}
	head, err := g.output("rev-parse", "--verify", "--quiet", "HEAD")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil // no commit yet
	}
	return &gitLog{
		head: strings.TrimSpace(string(head)), prefix: strings.TrimSuffix(prefix, "\n"), shallow: shallow == "true",
		commits: map[string]commit{},
	}, err
}

// tracked lists the files and links of a commit that are below the folder.
func (g gitDir) tracked(head string) (map[string]blobID, error) {
	out, err := g.output("ls-tree", "-r", "-z", head)
	files := map[string]blobID{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		about, name, _ := strings.Cut(entry, "\t") // mode, type, id
		fields := strings.Fields(about)
		if len(fields) != 3 || fields[1] != "blob" {
			continue
		}
		if id, ok := parseBlobID(fields[2]); ok {
			files[name] = id
		}
	}
	return files, err
}

// boundary lists the commits whose parents a shallow clone lacks.
func (g gitDir) boundary() ([]string, error) {
	name, err := g.output("rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return nil, err
	}
	commits, err := os.ReadFile(strings.TrimSuffix(string(name), "\n"))
	return strings.Fields(string(commits)), err
}

func (g gitDir) log(l *gitLog) error {
	ctx, stop := context.WithCancel(g.ctx)
	defer stop()
	cmd := g.command(ctx, "log", "-z", "-c", "--name-only", "--no-renames", "--ignore-submodules=all",
		"--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-color", "--no-notes", "--no-decorate",
		"--format="+logFormat, l.head, "--")
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
		_ = cmd.Wait() // killed on purpose
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

// gitArgs undo settings that would run programs or change the output; gitEnv likewise. A partial clone would fetch what it
// lacks, by programs of its choice: old versions of git know only the list of protocols, of which there is no "none".
var gitArgs = []string{
	"--no-pager", "-c", "core.quotePath=off", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	"-c", "diff.relative=false", "-c", "log.showRoot=true", "-c", "log.follow=false",
}

var gitEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C",
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
	cmd.Env = append(cmd.Env, gitEnv...)
	cmd.WaitDelay = time.Second // for a grandchild that keeps the pipe
	return cmd
}

// logFormat begins with a slash, which no path in git's output does.
const logFormat = "/%H %ct"

// gitLog gathers what git tells about the files of a folder.
type gitLog struct {
	head     string // the commit that it begins with
	prefix   string // of the folder in its repository, with a slash at the end, or empty
	shallow  bool
	boundary []string          // commits that say nothing
	open     map[string]blobID // tracked files that nothing is known of yet, relative to the folder
	commits  map[string]commit
}

// maxTime is the last second of the year 9999; a snapshot holds no time after it.
const maxTime = 253402300799

// settle ends the search for a file; a time that can't be means that it has none.
func (l *gitLog) settle(name string, when int64) {
	name, ok := strings.CutPrefix(name, l.prefix)
	blob, open := l.open[name]
	if !ok || !open {
		return
	}
	delete(l.open, name)
	if 0 < when && when <= maxTime {
		l.commits[name] = commit{when, blob}
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
