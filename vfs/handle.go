package vfs

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/chromafs/chromafs/blob"
)

// file is an open file: fs.File, io.ReaderAt, io.Seeker and io.WriterTo. It is safe for concurrent use. The first read
// fetches the content of a chunked file, and keeps it until Close; of a lazy one, each read fetches what it needs.
type file struct {
	fs   *FS
	name string
	node node

	mu     sync.Mutex
	body   []byte
	loaded bool
	closed bool
	offset int64
	ahead  readAhead
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
	body, err := f.begin()
	if err != nil {
		return 0, err
	}
	part, err := f.part(body, f.offset, f.ahead.want(f.offset, len(p)))
	n := copy(p, part)
	f.offset += int64(n)
	f.ahead.next = f.offset
	return n, err
}

func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, f.fail("read", errNegative)
	}
	f.mu.Lock()
	body, err := f.begin()
	want := f.ahead.want(offset, len(p))
	f.mu.Unlock()
	for err == nil && n < len(p) {
		var part []byte
		part, err = f.part(body, offset+int64(n), want-int64(n))
		n += copy(p[n:], part)
	}
	return n, err
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
		offset += f.size()
	default:
		return 0, f.fail("seek", syscall.EINVAL)
	}
	if offset < 0 {
		return 0, f.fail("seek", errNegative)
	}
	f.offset = offset
	return offset, nil
}

// WriteTo writes what is left, a chunked file in one piece.
func (f *file) WriteTo(w io.Writer) (written int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, err := f.begin()
	if err != nil {
		return 0, err
	}
	for {
		part, err := f.part(body, f.offset, f.size()-f.offset)
		if err == io.EOF {
			return written, nil
		}
		if err != nil {
			return written, err
		}
		n, err := w.Write(part)
		written += int64(n)
		f.offset += int64(n)
		if err != nil {
			return written, err
		}
	}
}

func (f *file) size() int64 { return f.fs.view.info(f.name, f.node).size }

// begin is called with mu held, and returns the content of a chunked file.
func (f *file) begin() (body []byte, err error) {
	if f.closed {
		return nil, f.fail("read", fs.ErrClosed)
	}
	if !f.loaded && !f.fs.view.tree.IsLazy(f.node.entry) {
		if f.body, err = f.fs.view.page(f.fs.ctx, f.node.entry); err != nil {
			return nil, f.fail("read", err)
		}
	}
	f.loaded = true
	return f.body, nil
}

// part returns bytes from offset on, at least one, or io.EOF. Body is what begin returned.
func (f *file) part(body []byte, offset, want int64) ([]byte, error) {
	if s := f.fs.view.Shared; s.tree.IsLazy(f.node.entry) {
		part, err := s.lazy(f.fs.ctx, f.node.entry, offset, want)
		if err != nil && err != io.EOF {
			err = f.fail("read", err)
		}
		return part, err
	}
	if offset >= int64(len(body)) {
		return nil, io.EOF
	}
	return body[offset:], nil
}

// readAhead guesses how much will be read: more and more, as long as each read goes on where the one before ended.
type readAhead struct {
	next   int64 // where that is
	window int64
}

// want is for a read of n bytes at offset.
func (r *readAhead) want(offset int64, n int) int64 {
	if offset != r.next {
		r.window = 0
	}
	r.next = offset + int64(n)
	r.window = min(2*max(r.window, int64(n)), blob.WholeBytes)
	return max(r.window, int64(n))
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
