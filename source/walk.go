package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"unicode/utf8"
)

// maxIgnoreFile is the size above which an ignore file is refused.
const maxIgnoreFile = 4 << 20

var (
	errName       = errors.New("name is not UTF-8")
	errIgnoreFile = errors.New("ignore file is not a regular file")
	errLongPath   = fmt.Errorf("path of more than %d bytes", maxPath)
)

// maxPath bounds a path, and a link's target, in bytes: more does not go into a snapshot.
const maxPath = 4000

// Walk lists the folder by name. It opens ignore files and reads the targets of links, and no other content. What can't
// be read is in the listing as invalid; the error is that of the folder itself, or the context's. A pointer is invalid at the
// place that names it.
//
// Ignore files are .gitignore, .mintignore and .chromafsignore, each with the syntax and the rules of gitignore(5); where
// they disagree, the later of these three decides. Only those in the folder and below it count, so that the answer is
// the same on every machine: not those above it, nor .git/info/exclude, nor a user's own. As in git, no "!" brings back
// what is below an ignored folder; nor does it what is ignored by default, which only Options.Include can.
func (f *Folder) Walk(ctx context.Context) (*Listing, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	history := f.startHistory(ctx)
	w := walk{f: f, out: &Listing{}}
	if err := w.run(ctx); err != nil {
		cancel()
		<-history.done
		return nil, err
	}
	commits, warning, err := history.wait()
	if err != nil {
		return nil, err
	}
	f.commits.Store(&commits)
	for i, l := range w.out.Links {
		w.out.Links[i].MTime = f.mtime(l.Path, []byte(l.Target))
	}
	if warning != "" {
		w.out.Warnings = append(w.out.Warnings, Warning{Text: warning})
	}
	w.sort()
	w.point()
	return w.out, nil
}

type walk struct {
	f   *Folder
	out *Listing
	// todo are the folders still to list.
	todo []folder
}

// folder is one to list, and what is known of it from above.
type folder struct {
	path  string                   // "" for the docs folder itself
	rules [len(ignoreFiles)]*rules // of it and of the folders above
	// ignored is why all in it is ignored but for what Include brings; nil for most.
	ignored *Ignored
}

func (w *walk) run(ctx context.Context) error {
	entries, err := w.f.disk.readDir(".")
	if err != nil {
		return fmt.Errorf("list folder %q: %w", w.f.disk.root.Name(), err)
	}
	w.list(folder{}, entries)
	for len(w.todo) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		dir := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		entries, err := w.f.disk.readDir(dir.path)
		if err != nil {
			w.invalid(dir.path+"/", err)
			continue
		}
		w.list(dir, entries)
	}
	return nil
}

func (w *walk) list(dir folder, entries []fs.DirEntry) {
	broken := w.readRules(&dir, entries)
	for _, e := range entries {
		if slices.Contains(broken, e.Name()) {
			continue
		}
		p := e.Name()
		if dir.path != "" {
			p = dir.path + "/" + p
		}
		w.place(dir, p, e)
	}
}

// readRules reads the ignore files of a folder and returns the names of those that it could not read.
func (w *walk) readRules(dir *folder, entries []fs.DirEntry) (broken []string) {
	if dir.ignored != nil {
		return nil
	}
	for _, e := range entries {
		i := slices.Index(ignoreFiles[:], e.Name())
		if i < 0 || e.IsDir() {
			continue
		}
		p := path.Join(dir.path, e.Name())
		content, err := w.ignoreFile(p, e)
		if err != nil {
			w.invalid(p, err)
			broken = append(broken, e.Name())
			continue
		}
		dir.rules[i] = parseRules(dir.path, e.Name(), content, dir.rules[i])
	}
	return broken
}

// ignoreFile fails for a link too: git would pass it over, but whoever made it wants something left out.
func (w *walk) ignoreFile(p string, e fs.DirEntry) ([]byte, error) {
	if !e.Type().IsRegular() {
		return nil, errIgnoreFile
	}
	content, err := w.f.disk.read(p, maxIgnoreFile)
	if errors.As(err, new(sizeError)) {
		err = fmt.Errorf("ignore file of %w", err)
	}
	return content, err
}

// place puts one entry where it belongs.
func (w *walk) place(dir folder, p string, e fs.DirEntry) {
	f, isDir := w.f, e.IsDir()
	out := &w.out.Ignored
	if g := f.exclude.find(p); g != nil {
		*out = append(*out, Ignored{slash(p, isDir), Excluded, g.text})
		return
	}
	ign := dir.ignored
	if ign == nil {
		ign = dir.leavesOut(p, e)
	}
	if ign != nil && !f.include.brings(p) && !(isDir && f.include.mayBring(p)) {
		*out = append(*out, Ignored{slash(p, isDir), ign.Reason, ign.Detail})
		return
	}
	switch {
	case !utf8.ValidString(e.Name()):
		w.invalid(slash(p, isDir), errName)
	case len(p) > maxPath:
		w.invalid(slash(p, isDir), errLongPath)
	case isDir:
		w.todo = append(w.todo, folder{p, dir.rules, ign})
	case e.Type().IsRegular():
		w.out.Files = append(w.out.Files, p)
	case e.Type()&fs.ModeSymlink != 0:
		w.link(p)
	default:
		*out = append(*out, Ignored{p, NotRegular, typeName(e.Type())})
	}
}

// leavesOut is the default rule or the line of an ignore file that names a path, or nil.
func (dir *folder) leavesOut(p string, e fs.DirEntry) *Ignored {
	if reason := hidden(e.Name()); reason != "" {
		return &Ignored{Reason: reason}
	}
	for _, rs := range dir.rules {
		if r := rs.find(p, e.IsDir()); r != nil && r.negate {
			return nil
		} else if r != nil {
			return &Ignored{Reason: ByIgnoreFile, Detail: r.origin}
		}
	}
	return nil
}

func (w *walk) link(p string) {
	target, err := w.f.disk.root.Readlink(p)
	if err != nil {
		w.invalid(p, cause(err))
		return
	}
	w.out.Links = append(w.out.Links, Link{Path: p, Target: target})
}

func (w *walk) invalid(p string, err error) {
	w.out.Invalid = append(w.out.Invalid, Invalid{Path: p, Err: err})
}

func (w *walk) sort() {
	slices.Sort(w.out.Files)
	slices.SortFunc(w.out.Links, func(a, b Link) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(w.out.Ignored, func(a, b Ignored) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(w.out.Invalid, func(a, b Invalid) int { return cmp.Compare(a.Path, b.Path) })
}

func slash(p string, isDir bool) string {
	if isDir {
		return p + "/"
	}
	return p
}

func typeName(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "unknown type"
}
