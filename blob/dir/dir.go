// Package dir keeps objects as files of a folder.
package dir

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/chromafs/chromafs/blob"
)

// Folder is a blob.Store: each object is the file of its key. Pins other than those with an ETag or a version hold; a
// folder has neither.
//
// Put writes a temporary file beside the object, syncs and renames it, so an object is there whole or not at all, also
// after a crash. Links in the folder are not followed out of it.
type Folder struct {
	dir string

	// step, if any, is asked before every change of the disk; an error of it stands for that of the disk. For tests.
	step func(op string) error
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

// fail makes err one about the object. A missing object is no fs.ErrNotExist, which would be said of the file it is for.
func (f *Folder) fail(key string, err error) error {
	var known *blob.Error
	var inPath *fs.PathError
	var link *os.LinkError
	switch {
	case err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &blob.Error{URI: f.URI(key), Err: blob.ErrNotFound}
	case errors.Is(err, fs.ErrPermission):
		return &blob.Error{URI: f.URI(key), Detail: err.Error(), Err: blob.ErrDenied}
	case errors.As(err, &inPath):
		return &blob.Error{URI: f.URI(key), Detail: inPath.Op, Err: inPath.Err}
	case errors.As(err, &link):
		return &blob.Error{URI: f.URI(key), Detail: link.Op, Err: link.Err}
	}
	return &blob.Error{URI: f.URI(key), Err: err}
}
