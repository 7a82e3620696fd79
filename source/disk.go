package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"unicode/utf8"
)

var (
	errChanged    = errors.New("changed while it was read")
	errNotRegular = errors.New("not a regular file")
)

// sizeError is the size that a file may have, which is less than it has.
type sizeError int64

func (most sizeError) Error() string { return fmt.Sprintf("more than %d bytes", int64(most)) }

// maxFile is the size above which a file is not read at all, unless it is lazy.
const maxFile = 1 << 30

// headBytes of a larger file are judged before memory is set aside for the rest.
const headBytes = 64 << 10

// disk opens what is below one folder and nothing else. Paths are slash-separated and relative; the folder is ".".
type disk struct {
	root *os.Root
	fast fastDisk
}

// file is an open file, which may turn out to be something else.
type file interface {
	io.ReadCloser
	stat() (fileStat, error)
}

// fileStat is what must stay the same while a file is read.
type fileStat struct {
	regular bool
	size    int64
	mtime   int64 // ns
}

func openDisk(dir string) (*disk, error) {
	root, err := os.OpenRoot(dir)
	if fi, statErr := os.Stat(dir); err != nil && (isAbsent(statErr) || statErr == nil && !fi.IsDir()) {
		return nil, fmt.Errorf("%w: %q", ErrNoFolder, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open folder %q: %w", dir, cause(err))
	}
	return &disk{root: root, fast: openFast(root)}, nil
}

func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (d *disk) close() error {
	return cmp.Or(d.fast.close(), d.root.Close())
}

// readDir lists all of a folder, in no order, or fails.
func (d *disk) readDir(path string) ([]fs.DirEntry, error) {
	h, err := d.openDir(path)
	if err != nil {
		return nil, cause(err)
	}
	defer h.Close()
	entries, err := h.ReadDir(-1)
	if err != nil {
		return nil, cause(err)
	}
	return entries, nil
}

// openFile is an open regular file, and what it was at first.
type openFile struct {
	file
	before fileStat
}

func (d *disk) begin(path string) (*openFile, error) {
	h, err := d.open(path)
	if err != nil {
		return nil, cause(err)
	}
	before, err := h.stat()
	if err == nil && !before.regular {
		err = errNotRegular
	}
	if err != nil {
		h.Close()
		return nil, cause(err)
	}
	return &openFile{h, before}, nil
}

// read returns the whole of a regular file, or an error if it is none, changes meanwhile, or has more than most bytes (a
// sizeError).
func (d *disk) read(path string, most int64) ([]byte, error) {
	o, err := d.begin(path)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	if o.before.size > most {
		return nil, sizeError(most)
	}
	head, err := o.head()
	if err != nil {
		return nil, err
	}
	return o.whole(head)
}

// head reads the first headBytes, or all of a smaller file. Only an empty file is tried for more, because some filesystems
// call all their files empty; of others the size tells afterwards, which spares a read per file.
func (o *openFile) head() ([]byte, error) {
	if o.before.size == 0 {
		if n, err := o.Read(make([]byte, 1)); n > 0 || err != io.EOF {
			return nil, changed(err)
		}
		return []byte{}, nil
	}
	head := make([]byte, min(o.before.size, headBytes))
	return head, readFull(o, head)
}

// whole adds the rest to the head.
func (o *openFile) whole(head []byte) ([]byte, error) {
	content := head
	if o.before.size > int64(len(head)) {
		content = append(make([]byte, 0, o.before.size), head...)[:o.before.size]
		if err := readFull(o, content[len(head):]); err != nil {
			return nil, err
		}
	}
	return content, o.end()
}

// end fails if the file is no more what it was at first.
func (o *openFile) end() error {
	if after, err := o.stat(); err != nil || after != o.before {
		return changed(err)
	}
	return nil
}

func readFull(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errChanged
	}
	return cause(err)
}

// changed is errChanged, and why if there is a reason.
func changed(err error) error {
	if err == nil || err == io.EOF {
		return errChanged
	}
	return fmt.Errorf("%w: %w", errChanged, cause(err))
}

// wholeRunes leaves out a character at the end that is cut in two.
func wholeRunes(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

func (d *disk) openDir(path string) (*os.File, error) {
	if d.fast.ready() {
		return d.fast.openDir(path)
	}
	return d.openSame(path, fs.ModeDir)
}

func (d *disk) open(path string) (file, error) {
	if d.fast.ready() {
		return d.fast.open(path)
	}
	h, err := d.openSame(path, 0)
	if err != nil {
		return nil, err
	}
	return osFile{h}, nil
}

// openSame opens something of the type, but not through a link at its own name. (At the names above it, a link that
// came after the walk could still lead elsewhere in the folder; never out of it.)
func (d *disk) openSame(path string, typ fs.FileMode) (*os.File, error) {
	want, err := d.root.Lstat(path)
	if err != nil {
		return nil, err
	}
	if got := want.Mode().Type(); got != typ && typ == fs.ModeDir {
		return nil, syscall.ENOTDIR
	} else if got != typ {
		return nil, errNotRegular
	}
	flag := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flag |= syscall.O_NONBLOCK // a pipe must not keep us waiting
	}
	h, err := d.root.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	if got, err := h.Stat(); err != nil || !os.SameFile(want, got) {
		h.Close()
		return nil, changed(err)
	}
	return h, nil
}

// osFile is the file of systems without a faster way.
type osFile struct{ *os.File }

func (f osFile) stat() (fileStat, error) {
	fi, err := f.Stat()
	if err != nil {
		return fileStat{}, err
	}
	return fileStat{fi.Mode().IsRegular(), fi.Size(), fi.ModTime().UnixNano()}, nil
}

// cause strips an error of the operating system down to what went wrong: the path is said elsewhere, in our own terms.
func cause(err error) error {
	var errno syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.As(err, &errno) && errno == syscall.ELOOP:
		return errNotRegular // but a link
	case errors.As(err, &errno):
		return errno
	}
	return err
}
