package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// writable is every way of package os to change a filesystem.
type writable interface {
	OpenFile(name string, flag int, mode fs.FileMode) (fs.File, error)
	Create(name string) (fs.File, error)
	WriteFile(name string, data []byte, mode fs.FileMode) error
	Mkdir(name string, mode fs.FileMode) error
	MkdirAll(name string, mode fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldName, newName string) error
	Symlink(target, newName string) error
	Link(oldName, newName string) error
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error
	Truncate(name string, size int64) error
}

// tryWrites tries every kind of write on a page, on a lazy file, on a folder and on what is not there.
func (r *run) tryWrites(context.Context) error {
	names := []string{".", "chromafs-verify-absent"}
	for _, list := range [][]int{r.pages, r.lazies} {
		if len(list) > 0 {
			names = append(names, r.tree.Path(list[0]))
		}
	}
	for _, name := range names {
		for op, err := range writes(r.fsys, name) {
			r.report.Writes++
			if !errors.Is(err, syscall.EROFS) {
				r.findings.add(KindWrite, name, fmt.Sprintf("%s was answered by %v, not by %q", op, err, syscall.EROFS))
			}
		}
	}
	return nil
}

// writes tries them all on one name.
func writes(fsys writable, name string) map[string]error {
	opened := func(f fs.File, err error) error {
		if err == nil {
			f.Close()
		}
		return err
	}
	const other = "chromafs-verify-other"
	return map[string]error{
		"create":             opened(fsys.Create(name)),
		"open for writing":   opened(fsys.OpenFile(name, os.O_WRONLY, 0o644)),
		"open for both":      opened(fsys.OpenFile(name, os.O_RDWR, 0o644)),
		"open and create":    opened(fsys.OpenFile(name, os.O_RDONLY|os.O_CREATE, 0o644)),
		"open for appending": opened(fsys.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o644)),
		"open and truncate":  opened(fsys.OpenFile(name, os.O_TRUNC, 0o644)),
		"write file":         fsys.WriteFile(name, []byte("x"), 0o644),
		"mkdir":              fsys.Mkdir(name, 0o755),
		"mkdir with parents": fsys.MkdirAll(name, 0o755),
		"remove":             fsys.Remove(name),
		"remove all":         fsys.RemoveAll(name),
		"rename":             fsys.Rename(name, other),
		"rename over":        fsys.Rename(other, name),
		"symlink":            fsys.Symlink(other, name),
		"link":               fsys.Link(name, other),
		"change mode":        fsys.Chmod(name, 0o777),
		"change owner":       fsys.Chown(name, 0, 0),
		"change times":       fsys.Chtimes(name, time.Unix(0, 0), time.Unix(0, 0)),
		"truncate":           fsys.Truncate(name, 0),
	}
}
