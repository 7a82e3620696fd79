package source

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// Kind is what a file is to its readers.
type Kind string

// The kinds.
const (
	// Page: the name ends in .md, .mdx or .markdown, in any case.
	Page Kind = "page"
	// Spec: the name ends in .json, .yaml or .yml and the top level gives the version of OpenAPI, Swagger or AsyncAPI.
	Spec Kind = "spec"
	// Plain is every other file.
	Plain Kind = "file"
)

// File is a selected file.
type File struct {
	Path    string
	Kind    Kind
	Content []byte // as on disk
	SHA256  [sha256.Size]byte
	// Title is the frontmatter's, else a page's first heading of level 1, else empty. White space in it is single spaces.
	Title  string
	Access access.Access
	// MTime is the committer's time of the last commit that changed the file, in Unix seconds, as the last Walk found
	// it: the newest one on any line of history, where a merge counts only if its result differs from all its parents.
	// It is 0 without git or a work tree, for a file that is not byte for byte as in the last commit, and where a shallow
	// clone ends.
	MTime    int64
	Warnings []Warning
	// Markers are words about access in a page's frontmatter, or below x-mint in an API description; nothing has been
	// made of them.
	Markers []Marker
}

// Marker is a place that says something about who may see pages.
type Marker struct {
	Path string
	Line int    // from 1
	Key  string // public or groups
}

// errPath: not the path of a file in a folder.
var errPath = errors.New("malformed path")

// Read reads a file of the listing, once. The error is an *Ignored where the content is not to be selected, else an
// *Invalid; a file that is gone, or has become something else, or changes meanwhile, is invalid.
func (f *Folder) Read(name string) (*File, error) {
	if !fs.ValidPath(name) || name == "." {
		return nil, &Invalid{Path: name, Err: errPath}
	}
	content, err := f.content(name)
	if err != nil {
		return nil, err
	}
	out := &File{Path: name, Kind: kindOf(name, content), Content: content, SHA256: sha256.Sum256(content), Access: f.opts.Default}
	out.MTime = f.mtime(name, content)
	switch out.Kind {
	case Page:
		out.readPage()
	case Spec:
		out.mark(specMarkers(content))
	}
	return out, nil
}

func (f *Folder) content(name string) ([]byte, error) {
	var refusal error
	check := func(b []byte) error {
		if f.opts.Check != nil {
			refusal = f.opts.Check(b)
		}
		return refusal
	}
	content, err := f.disk.read(name, maxFile, check)
	if err == nil {
		err = check(content)
	}
	switch {
	case refusal != nil:
		return nil, &Ignored{name, NotText, refusal.Error()}
	case errors.As(err, new(sizeError)):
		return nil, &Ignored{name, TooLarge, err.Error()}
	case err != nil:
		return nil, &Invalid{Path: name, Err: err}
	}
	return content, nil
}

func (f *File) readPage() {
	front, body := splitFront(f.Content)
	if front.delimiter != "" {
		m := front.parse()
		f.Title = m.title
		for _, w := range m.warnings {
			f.Warnings = append(f.Warnings, Warning{f.Path, w.line, w.text})
		}
		f.mark(m.markers)
	}
	if f.Title == "" {
		f.Title = heading(body)
	}
	f.Title = strings.Join(strings.Fields(strings.ToValidUTF8(f.Title, "\ufffd")), " ")
}

func (f *File) mark(found []note) {
	for _, k := range found {
		f.Markers = append(f.Markers, Marker{f.Path, k.line, k.text})
	}
}

func kindOf(name string, content []byte) Kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown":
		return Page
	case ".json", ".yaml", ".yml":
		if isSpec(content) {
			return Spec
		}
	}
	return Plain
}

var bom = []byte("\xef\xbb\xbf")

// cutLine cuts b after its first line; the line comes without its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

// lineCount counts lines of a text from front to back.
type lineCount struct {
	text []byte
	at   int
	line int // of the byte at at
}

// to returns the line of a byte at or behind the last one asked for.
func (c *lineCount) to(offset int) int {
	c.line += bytes.Count(c.text[c.at:offset], []byte("\n"))
	c.at = offset
	return c.line
}
