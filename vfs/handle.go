package vfs

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"
)

// file is an open file: fs.File, io.ReaderAt, io.Seeker and io.WriterTo. It is safe for concurrent use. The first read
// fetches the content and keeps it until Close.
type file struct {
	fs   *FS
	name string
	node node

	mu     sync.Mutex
	body   []byte
	loaded bool
	closed bool
	offset int64
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, f.fail("stat", fs.ErrClosed)
	}
	return f.fs.view.info(f.name, f.node), nil
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return f.fail("close", fs.ErrClosed)
	}
	f.closed, f.body = true, nil
	return nil
}

func (f *file) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, err := f.load()
	if err != nil {
		return 0, err
	}
	if f.offset >= int64(len(body)) {
		return 0, io.EOF
	}
	n := copy(p, body[f.offset:])
	f.offset += int64(n)
	return n, nil
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, f.fail("read", errNegative)
	}
	f.mu.Lock()
	body, err := f.load()
	f.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if offset >= int64(len(body)) {
		return 0, io.EOF
	}
	n := copy(p, body[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Seek fetches nothing: the size is known.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, f.fail("seek", fs.ErrClosed)
	}
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.fs.view.info(f.name, f.node).size
	default:
		return 0, f.fail("seek", syscall.EINVAL)
	}
	if offset < 0 {
		return 0, f.fail("seek", errNegative)
	}
	f.offset = offset
	return offset, nil
}

// WriteTo writes what is left in one piece.
func (f *file) WriteTo(w io.Writer) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, err := f.load()
	if err != nil || f.offset >= int64(len(body)) {
		return 0, err
	}
	n, err := w.Write(body[f.offset:])
	f.offset += int64(n)
	return int64(n), err
}

// load is called with mu held.
func (f *file) load() (body []byte, err error) {
	if f.closed {
		return nil, f.fail("read", fs.ErrClosed)
	}
	if !f.loaded {
		if body, err = f.fs.content("read", f.name, f.node); err != nil {
			return nil, err
		}
		f.body, f.loaded = body, true
	}
	return f.body, nil
}

var errNegative = errors.New("negative offset")

func (f *file) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// folder is an open folder. It is safe for concurrent use.
type folder struct {
	fs   *FS
	name string
	node node

	mu     sync.Mutex
	rest   []fs.DirEntry
	listed bool
	closed bool
}

func (d *folder) Stat() (fs.FileInfo, error) { return d.fs.view.info(d.name, d.node), nil }

func (d *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: syscall.EISDIR}
}

func (d *folder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed, d.rest = true, nil
	return nil
}

// ReadDir is as fs.ReadDirFile says.
func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &fs.PathError{Op: "readdir", Path: d.name, Err: fs.ErrClosed}
	}
	if !d.listed {
		d.rest, d.listed = d.fs.view.list(d.node), true
	}
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	list := d.rest[:n:n]
	d.rest = d.rest[n:]
	return list, nil
}
