package vfs

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// refuse is the answer to every write, whether the path exists, is forbidden or makes no sense: it tells nothing.
func refuse(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
}

// writeFlags are the flags of os.OpenFile that ask for more than reading.
const writeFlags = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL | os.O_TRUNC

// OpenFile is Open for os.O_RDONLY and refuses every other flag of os that writes or creates.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (fs.File, error) {
	if flag&writeFlags != 0 {
		return nil, refuse("open", name)
	}
	return f.Open(name)
}

// The rest of os's ways to change a filesystem: each answers an *fs.PathError with syscall.EROFS.

func (f *FS) Create(name string) (fs.File, error)                  { return nil, refuse("create", name) }
func (f *FS) WriteFile(name string, _ []byte, _ fs.FileMode) error { return refuse("write", name) }
func (f *FS) Mkdir(name string, _ fs.FileMode) error               { return refuse("mkdir", name) }
func (f *FS) MkdirAll(name string, _ fs.FileMode) error            { return refuse("mkdir", name) }
func (f *FS) Remove(name string) error                             { return refuse("remove", name) }
func (f *FS) RemoveAll(name string) error                          { return refuse("remove", name) }
func (f *FS) Rename(oldName, _ string) error                       { return refuse("rename", oldName) }
func (f *FS) Symlink(_, newName string) error                      { return refuse("symlink", newName) }
func (f *FS) Link(_, newName string) error                         { return refuse("link", newName) }
func (f *FS) Chmod(name string, _ fs.FileMode) error               { return refuse("chmod", name) }
func (f *FS) Chown(name string, _, _ int) error                    { return refuse("chown", name) }
func (f *FS) Chtimes(name string, _, _ time.Time) error            { return refuse("chtimes", name) }
func (f *FS) Truncate(name string, _ int64) error                  { return refuse("truncate", name) }
