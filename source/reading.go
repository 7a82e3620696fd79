package source

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"sync"
)

// errPath: not the path of a file in a folder.
var errPath = errors.New("malformed path")

// reading is one file while it is read.
type reading struct {
	*openFile
	folder  *Folder
	name    string
	match   *glob // of lazy.match; nil for most
	refusal error // of Options.Check
}

// Read reads a file of the listing. The error is an *Ignored where the content is not to be selected, else an *Invalid; a
// file that is gone, or has become something else, or changes meanwhile, is invalid.
//
// A file of up to 16 MiB is read whole. So is a larger one that is to be chunked; of one that is lazy little is held in
// memory, and not all is read as in smaller ones: frontmatter must end in the first 16 MiB, and there the version of an API
// description stands; an x-mint anywhere is a fault; what a page shows of other files counts in code too; and a page that
// lists some between --8<-- is invalid.
func (f *Folder) Read(name string) (*File, error) {
	file, err := f.read(name)
	switch {
	case errors.As(err, new(*Ignored)):
		return nil, err
	case errors.As(err, new(sizeError)):
		return nil, &Ignored{name, TooLarge, err.Error()}
	case err != nil:
		return nil, &Invalid{Path: name, Err: err}
	}
	return file, nil
}

func (f *Folder) read(name string) (*File, error) {
	if !isPath(name) {
		return nil, errPath
	}
	o, err := f.disk.begin(name)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	r := reading{openFile: o, folder: f, name: name}
	if o.before.size > 0 {
		r.match = f.lazy.find(name)
	}
	large := o.before.size > int64(f.whole) && r.mayBeLazy()
	if o.before.size > f.most && !large {
		return nil, sizeError(f.most)
	}
	head, err := o.head()
	if err != nil {
		return nil, err
	}
	if o.before.size > headBytes {
		if r.refusal = r.check(wholeRunes(head)); r.refusal != nil && !r.mayBeLazy() {
			return nil, &Ignored{name, NotText, r.refusal.Error()}
		}
	}
	if large {
		return r.large(head)
	}
	content, err := o.whole(head)
	if err != nil {
		return nil, err
	}
	return r.file(content)
}

// large streams the file, and reads it whole if it turns out to be no lazy one.
func (r *reading) large(head []byte) (*File, error) {
	out, err := r.stream(head)
	if err != nil || out.Lazy != nil {
		return out, err
	}
	content, err := r.folder.disk.read(r.name, r.folder.most)
	if err != nil {
		return nil, err
	}
	return r.file(content)
}

func (r *reading) check(content []byte) error {
	if r.folder.opts.Check == nil {
		return nil
	}
	return r.folder.opts.Check(content)
}

// file makes the file of all its content.
func (r *reading) file(content []byte) (*File, error) {
	if r.refusal == nil {
		r.refusal = r.check(content)
	}
	text := decode(content)
	out := &File{Facts: Facts{Path: r.name, Kind: kindOf(r.name, text)}, Size: int64(len(content))}
	var err error
	if out.Lazy, err = r.judge(out.Kind); err != nil {
		return nil, err
	}
	if out.Lazy == nil {
		out.Content = content
	}
	out.SHA256 = sha256.Sum256(content)
	out.MTime = r.folder.mtime(r.name, content)
	out.readFacts(text)
	return out, nil
}

// OpenFile opens a regular file of the folder, behind no link, to read it from the start; the caller closes it. The error is
// an *Invalid. Nobody checks whether the file changes meanwhile.
func (f *Folder) OpenFile(name string) (io.ReadCloser, error) {
	if !isPath(name) {
		return nil, &Invalid{Path: name, Err: errPath}
	}
	o, err := f.disk.begin(name)
	if err != nil {
		return nil, &Invalid{Path: name, Err: err}
	}
	return &closeOnce{Reader: o, close: sync.OnceValue(o.Close)}, nil
}

// closeOnce may be closed more than once, as a file descriptor may not.
type closeOnce struct {
	io.Reader
	close func() error
}

func (c *closeOnce) Close() error { return c.close() }

// isPath reports whether name may be that of a file below a folder.
func isPath(name string) bool { return fs.ValidPath(name) && name != "." }
