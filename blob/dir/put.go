package dir

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/chromafs/chromafs/blob"
)

const (
	// tempPrefix begins the names of objects that are being written. It begins no object's own name.
	tempPrefix = ".chromafs-tmp-"
	// tempAge is after how long nobody can still be writing one.
	tempAge = time.Hour
	// copyBytes are written at a time.
	copyBytes = 256 << 10
)

// Put stores an object. Only its owner may read it, as it is with the embedded index.
func (f *Folder) Put(ctx context.Context, key string, c blob.Content, replace bool) error {
	err := cmp.Or(ctx.Err(), blob.CheckKey(key))
	if err == nil && strings.HasPrefix(path.Base(key), tempPrefix) {
		err = fs.ErrInvalid
	}
	if err == nil && !replace {
		if _, err := f.Stat(ctx, key, blob.Pin{}); !errors.Is(err, blob.ErrNotFound) {
			return err
		}
	}
	if err == nil {
		err = f.put(ctx, key, c, replace)
	}
	return f.fail(key, err)
}

func (f *Folder) put(ctx context.Context, key string, c blob.Content, replace bool) error {
	if err := f.before("make folder"); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder := path.Dir(key)
	if err := f.makeFolder(root, folder); err != nil {
		return err
	}
	temp := tempPrefix + rand.Text() // where the next Put of any key removes it, should this one be killed
	if err := cmp.Or(f.write(ctx, root, temp, c), ctx.Err()); err != nil {
		return errors.Join(err, f.remove(root, temp))
	}
	if err := f.place(root, temp, key, replace); err != nil {
		return errors.Join(err, f.remove(root, temp))
	}
	return f.syncFolder(root, folder)
}

func (f *Folder) before(op string) error {
	if f.step == nil {
		return nil
	}
	return f.step(op)
}

// makeFolder makes a folder and those it is in, and makes them last.
func (f *Folder) makeFolder(root *os.Root, folder string) error {
	if info, err := root.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	in := path.Dir(folder)
	if err := f.makeFolder(root, in); err != nil {
		return err
	}
	if err := f.before("make folder in " + in); err != nil {
		return err
	}
	if err := root.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return f.syncFolder(root, in)
}

// write makes the file temp of the content, held to its digest.
func (f *Folder) write(ctx context.Context, root *os.Root, temp string, c blob.Content) error {
	r, err := c.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := f.before("create"); err != nil {
		return err
	}
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	removeOld(root, path.Dir(temp), file)
	content := reader{ctx, blob.Verify(r, c.Size, c.SHA256)}
	_, err = io.CopyBuffer(struct{ io.Writer }{file}, content, make([]byte, copyBytes))
	if err == nil {
		err = f.before("sync")
	}
	if err == nil {
		err = file.Sync()
	}
	return cmp.Or(err, file.Close())
}

// place gives a written file the name of its key. Where that is taken meanwhile, what is there stays unless it is to be
// replaced.
func (f *Folder) place(root *os.Root, temp, key string, replace bool) error {
	if err := f.before("place"); err != nil {
		return err
	}
	if !replace {
		err := root.Link(temp, key)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return f.remove(root, temp)
		}
		// Not every file system has hard links. Renaming replaces an object that appeared in this moment by another.
	}
	return root.Rename(temp, key)
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// removeOld removes what killed writers left in a folder long before the new file. What can't be removed is in nobody's
// way.
func removeOld(root *os.Root, folder string, file *os.File) {
	now, err := file.Stat() // the clock of the file system
	if err != nil {
		return
	}
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && now.ModTime().Sub(info.ModTime()) > tempAge {
			_ = root.Remove(path.Join(folder, e.Name()))
		}
	}
}

// remove removes a file that may be gone already.
func (f *Folder) remove(root *os.Root, name string) error {
	if err := f.before("remove"); err != nil {
		return err
	}
	if err := root.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder makes what was placed in a folder last. Windows has no such call.
func (f *Folder) syncFolder(root *os.Root, folder string) error {
	if err := f.before("sync folder"); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(folder)
	if err != nil {
		return err
	}
	return cmp.Or(d.Sync(), d.Close())
}
