package vfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/chromafs/chromafs/vfs"
)

// operations are all that a filesystem can be asked about a path, each with the whole of its answer as text.
var operations = map[string]func(fsys *vfs.FS, p string) string{
	"open":     openAll,
	"stat":     func(fsys *vfs.FS, p string) string { return text(fsys.Stat(p)) },
	"lstat":    func(fsys *vfs.FS, p string) string { return text(fsys.Lstat(p)) },
	"readlink": func(fsys *vfs.FS, p string) string { return text(fsys.ReadLink(p)) },
	"readfile": func(fsys *vfs.FS, p string) string { return text(fsys.ReadFile(p)) },
	"readdir":  func(fsys *vfs.FS, p string) string { return text(fsys.ReadDir(p)) },
	"glob":     func(fsys *vfs.FS, p string) string { return text(fs.Glob(fsys, p)) + text(fs.Glob(fsys, p+"/*")) },
	"sub":      walkSub,
	"write": func(fsys *vfs.FS, p string) string {
		answer := ""
		for op, write := range writes {
			if err := write(fsys, p); err == nil || !strings.HasSuffix(err.Error(), ": read-only file system") {
				answer += op + text(nil, err)
			}
		}
		return answer
	},
	"candidates": func(fsys *vfs.FS, p string) string { return fmt.Sprint(fsys.Candidates([]string{p, p + "#0"})) },
}

// writes are all ways to change a filesystem.
var writes = map[string]func(fsys *vfs.FS, p string) error{
	"create":       func(fsys *vfs.FS, p string) error { _, err := fsys.Create(p); return err },
	"write file":   func(fsys *vfs.FS, p string) error { return fsys.WriteFile(p, []byte("x"), 0o666) },
	"mkdir":        func(fsys *vfs.FS, p string) error { return fsys.Mkdir(p, 0o777) },
	"mkdir all":    func(fsys *vfs.FS, p string) error { return fsys.MkdirAll(p, 0o777) },
	"remove":       (*vfs.FS).Remove,
	"remove all":   (*vfs.FS).RemoveAll,
	"rename":       func(fsys *vfs.FS, p string) error { return fsys.Rename(p, "new") },
	"rename to":    func(fsys *vfs.FS, p string) error { return fsys.Rename("README.md", p) },
	"symlink":      func(fsys *vfs.FS, p string) error { return fsys.Symlink("README.md", p) },
	"link":         func(fsys *vfs.FS, p string) error { return fsys.Link("README.md", p) },
	"chmod":        func(fsys *vfs.FS, p string) error { return fsys.Chmod(p, 0o777) },
	"chown":        func(fsys *vfs.FS, p string) error { return fsys.Chown(p, 1, 1) },
	"chtimes":      func(fsys *vfs.FS, p string) error { return fsys.Chtimes(p, time.Time{}, time.Time{}) },
	"truncate":     func(fsys *vfs.FS, p string) error { return fsys.Truncate(p, 0) },
	"write only":   openFor(os.O_WRONLY),
	"read write":   openFor(os.O_RDWR),
	"create flag":  openFor(os.O_CREATE),
	"append flag":  openFor(os.O_APPEND),
	"trunc flag":   openFor(os.O_TRUNC),
	"exclusive":    openFor(os.O_EXCL),
	"usual create": openFor(os.O_RDWR | os.O_CREATE | os.O_TRUNC),
}

func openFor(flag int) func(*vfs.FS, string) error {
	return func(fsys *vfs.FS, p string) error { _, err := fsys.OpenFile(p, flag, 0o666); return err }
}

func openAll(fsys *vfs.FS, p string) string {
	f, err := fsys.OpenFile(p, os.O_RDONLY, 0)
	if err != nil {
		return text(nil, err)
	}
	defer f.Close()
	answer := text(f.Stat()) + text(io.ReadAll(f))
	d, ok := f.(fs.ReadDirFile)
	for err := error(nil); ok && err == nil; {
		var list []fs.DirEntry
		list, err = d.ReadDir(2)
		answer += text(list, err)
	}
	return answer
}

func walkSub(fsys *vfs.FS, p string) string {
	sub, err := fs.Sub(fsys, p)
	if err != nil {
		return text(nil, err)
	}
	var names []string
	err = fs.WalkDir(sub, ".", func(p string, _ fs.DirEntry, err error) error {
		names = append(names, p)
		return err
	})
	return text(names, err)
}

// text has everything in it that answers of a filesystem can differ in.
func text(v any, err error) string {
	if err != nil {
		return fmt.Sprintf(" <%T %T %v>", err, errors.Unwrap(err), err)
	}
	switch v := v.(type) {
	case fs.FileInfo:
		return fmt.Sprintf(" [%s %d %v %v %t]", v.Name(), v.Size(), v.Mode(), v.ModTime(), v.IsDir())
	case []fs.DirEntry:
		answer := fmt.Sprint(len(v))
		for _, d := range v {
			answer += fmt.Sprintf(" %s %v %t", d.Name(), d.Type(), d.IsDir()) + text(d.Info())
		}
		return answer
	}
	return fmt.Sprintf(" %q", v)
}
