// Package source reads a folder of documentation. It puts every path below the folder in exactly one of selected,
// ignored (with a reason) and invalid (with an error), and tells what it finds in a page without changing a byte of it:
// kind, title, access, commit time.
//
// It never writes, never follows a link, and never opens a file outside the folder, nor a pipe or a device.
package source

import (
	"errors"
	"sync/atomic"

	"github.com/chromafs/chromafs/access"
)

// Errors that callers branch on.
var (
	// ErrNoFolder: the docs folder does not exist, or is no folder.
	ErrNoFolder = errors.New("no such folder")
	// ErrGlob: a glob of include, exclude, lazy.match or access.rules is malformed.
	ErrGlob = errors.New("bad glob")
)

// Options say what to select. The zero value selects every regular file that no default rule and no ignore file names.
type Options struct {
	// Include and Exclude are globs over paths below the folder, with *, ?, [], {} and ** as doublestar has them. A glob
	// that names a folder stands for all in it. Include brings back what a default rule or an ignore file names, but a
	// wildcard never stands for a leading dot or for node_modules: "**/*.md" leaves .github alone, ".github/**" does not.
	// Exclude wins over everything.
	Include, Exclude []string
	// Rules say who may see the paths that their globs match; the last that matches decides. Globs are as in Include, and
	// their wildcards stand for leading dots too.
	Rules []access.Rule
	// Default is the access of files that say nothing, and DefaultAt where that is said; nil where it is not configured.
	Default   *access.Access
	DefaultAt access.Place
	// Unmarked opens a folder to everyone of which nothing at all says who may see it.
	Unmarked bool
	// Config is the path of the configuration file where it is one of the folder's files.
	Config string
	// Check says why content can't be chunked, as chunker.Check does; nil takes everything. Of a file over 64 KiB it is
	// asked about parts first, cut between characters, and must accept each of them if it accepts the file.
	Check func(content []byte) error
	// Lazy says which files are selected, but not chunked.
	Lazy LazyOptions
	// Pointers are further files, which the folder does not hold.
	Pointers []Pointer
}

// Folder is an open docs folder. It is safe for concurrent use, Close aside.
type Folder struct {
	disk    *disk
	opts    Options
	include globs
	exclude globs
	rules   accessRules
	lazy    globs
	whole   int                               // bytes up to which every file is read whole
	most    int64                             // bytes that one may have that is read whole
	commits atomic.Pointer[map[string]commit] // of the last walk
}

// wholeBytes is the size up to which every file is read whole.
const wholeBytes = 16 << 20

// Open opens the folder dir, which may itself be a link. The caller closes it.
func Open(dir string, opts Options) (*Folder, error) {
	include, err := parseGlobs("include", opts.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := parseGlobs("exclude", opts.Exclude)
	if err != nil {
		return nil, err
	}
	lazy, err := parseGlobs("lazy.match", opts.Lazy.Match)
	if err != nil {
		return nil, err
	}
	rules, err := parseAccessRules(opts.Rules)
	if err != nil {
		return nil, err
	}
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{disk: d, opts: opts, include: include, exclude: exclude, rules: rules, lazy: lazy, whole: wholeBytes, most: maxFile}, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.disk.close() }
