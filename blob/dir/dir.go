// Package dir keeps objects as files of a folder.
package dir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/chromafs/chromafs/blob"
)

const (
	// tempPrefix begins the names of objects that are being written. No part of a key that package blob makes begins so.
	tempPrefix = ".chromafs-tmp-"
	// tempAge is after how long nobody can still be writing one.
	tempAge = 24 * time.Hour
)

// Folder is a blob.Store: each object is the file of its key. Pins other than those with an ETag or a version hold; a
// folder has neither.
//
// Put writes a temporary file beside the object, syncs and renames it, so an object is there whole or not at all, also
// after a crash. Links in the folder are not followed out of it.
type Folder struct {
	dir string
}

var _ blob.Store = (*Folder)(nil)

// New is the store in a folder, which the first Put makes.
func New(dir string) *Folder { return &Folder{dir: dir} }

// URI is the path of the object's file.
func (f *Folder) URI(key string) string { return filepath.Join(f.dir, filepath.FromSlash(key)) }

// Stat describes an object.
func (f *Folder) Stat(ctx context.Context, key string, pin blob.Pin) (blob.Info, error) {
	file, info, err := f.open(ctx, key, pin)
	if err != nil {
		return blob.Info{}, f.fail(key, err)
	}
	return blob.Info{Size: info.Size()}, f.fail(key, file.Close())
}

// Open reads of an object. The file that was opened is read to its end, whatever replaces it.
func (f *Folder) Open(ctx context.Context, key string, pin blob.Pin, offset, length int64) (io.ReadCloser, error) {
	file, info, err := f.open(ctx, key, pin)
	if err != nil {
		return nil, f.fail(key, err)
	}
	if length < 0 || length > info.Size()-offset {
		length = max(0, info.Size()-offset)
	}
	return &body{f, ctx, key, file, io.NewSectionReader(file, offset, length)}, nil
}

// open opens a regular file.
func (f *Folder) open(ctx context.Context, key string, pin blob.Pin) (*os.File, fs.FileInfo, error) {
	if err := cmp.Or(ctx.Err(), blob.CheckKey(key)); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // a pipe must not keep us waiting
	}
	file, err := root.OpenFile(filepath.FromSlash(key), flag, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fs.ErrNotExist
	case err == nil && (pin.ETag != "" || pin.Version != ""):
		err = blob.ErrChanged
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// body reads a part of a file, as long as its context lasts.
type body struct {
	f    *Folder
	ctx  context.Context
	key  string
	file *os.File
	part *io.SectionReader
}

func (b *body) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.part.Read(p)
	if err != nil && err != io.EOF {
		err = b.f.fail(b.key, err)
	}
	return n, err
}

func (b *body) Close() error { return b.file.Close() }

// Put stores an object.
func (f *Folder) Put(ctx context.Context, key string, c blob.Content, replace bool) error {
	err := cmp.Or(ctx.Err(), blob.CheckKey(key))
	if err == nil && !replace {
		if _, err := f.Stat(ctx, key, blob.Pin{}); err == nil {
			return nil
		}
	}
	if err == nil {
		err = f.put(ctx, key, c)
	}
	return f.fail(key, err)
}

func (f *Folder) put(ctx context.Context, key string, c blob.Content) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder := path.Dir(key)
	if err := root.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	removeOld(root, folder)
	temp := path.Join(folder, fmt.Sprintf("%s%d-%d", tempPrefix, os.Getpid(), time.Now().UnixNano()))
	if err := write(ctx, root, temp, c); err != nil {
		return errors.Join(err, ignoreAbsent(root.Remove(temp)))
	}
	if err := root.Rename(temp, filepath.FromSlash(key)); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return syncFolder(root, folder)
}

// write makes the file temp of the content, held to its digest.
func write(ctx context.Context, root *os.Root, temp string, c blob.Content) error {
	r, err := c.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, &reader{ctx, blob.Verify(r, c.Size, c.SHA256)})
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// removeOld removes what killed writers left in a folder. What can't be removed is in nobody's way.
func removeOld(root *os.Root, folder string) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > tempAge {
			_ = root.Remove(path.Join(folder, e.Name()))
		}
	}
}

// syncFolder makes a rename last. Windows has no such call.
func syncFolder(root *os.Root, folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// fail makes err one about the object.
func (f *Folder) fail(key string, err error) error {
	var known *blob.Error
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &blob.Error{URI: f.URI(key), Err: blob.ErrNotFound}
	case errors.Is(err, fs.ErrPermission):
		return &blob.Error{URI: f.URI(key), Detail: err.Error(), Err: blob.ErrDenied}
	}
	return &blob.Error{URI: f.URI(key), Err: err}
}
