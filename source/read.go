package source

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// Kind is what a file is to its readers.
type Kind string

// The kinds.
const (
	// Page: the name ends in .md, .mdx, .markdown or a rarer extension of Markdown, in any case.
	Page Kind = "page"
	// Spec: the name ends in .json, .yaml or .yml and the top level gives the version of OpenAPI, Swagger or AsyncAPI.
	Spec Kind = "spec"
	// Plain is every other file.
	Plain Kind = "file"
)

// File is a selected file.
type File struct {
	Facts
	Content []byte // as on disk
	SHA256  [sha256.Size]byte
	// Title is the frontmatter's, else a page's first heading of level 1, else empty. White space in it is single spaces.
	Title string
	// MTime is the committer's time of the last commit that changed the file, in Unix seconds, as the last Walk found
	// it: the newest one on any line of history, where a merge counts only if its result differs from all its parents.
	// It is 0 without git or a work tree, for a file that is not byte for byte as in the last commit, and where a shallow
	// clone ends.
	MTime    int64
	Warnings []Warning
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
	out := &File{Facts: Facts{Path: name, Kind: kindOf(name, content)}, Content: content, SHA256: sha256.Sum256(content)}
	out.MTime = f.mtime(name, content)
	out.readFacts()
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

// readFacts reads what the content says of itself and of other files, and the title.
func (f *File) readFacts() {
	switch {
	case f.Kind == Page:
		f.readPage()
	case isData(f.Path):
		var u useList
		u.addRefs(f.Content)
		f.use(u)
		if parts := mintParts(f.Path, f.Content); len(parts) > 0 {
			if f.Uses == nil {
				f.Uses = &Uses{}
			}
			f.Uses.Parts = parts
		}
	case slices.Contains(scripts[:], strings.ToLower(path.Ext(f.Path))):
		var u useList
		u.addText(bytes.TrimPrefix(f.Content, bom), 1, false)
		f.use(u)
	default:
		f.warnUnread()
	}
}

// warnUnread warns of words about access in a file that is no page.
func (f *File) warnUnread() {
	front, _ := splitFront(f.Content)
	if front.delimiter == "" || !front.closed {
		return
	}
	if line := markerLine(front.text); line > 0 {
		f.Warnings = append(f.Warnings, Warning{f.Path, line + 1, "frontmatter is read in Markdown alone: give this file a rule in chromafs.yaml, if it is not for all"})
	}
}

func (f *File) use(u useList) {
	if len(u.list) > 0 {
		f.Uses = &Uses{Files: u.list}
	}
}

// readPage reads frontmatter and body. Of what is not quite frontmatter, all is taken for body too.
func (f *File) readPage() {
	front, body := splitFront(f.Content)
	front.path = f.Path
	text, line := bytes.TrimPrefix(f.Content, bom), 1
	var u useList
	if front.delimiter != "" {
		m := front.parse()
		f.Title, f.Own = m.title, m.said
		for _, w := range m.warnings {
			f.Warnings = append(f.Warnings, Warning{f.Path, w.line, w.text})
		}
		for _, use := range m.specs {
			u.add(use)
		}
		if m.valid {
			text, line = body, 3+bytes.Count(front.text, []byte("\n"))
		}
	}
	if fault := front.unread(f.Content, body); fault != nil {
		f.fail(fault)
	}
	if f.Title == "" {
		f.Title = heading(body)
	}
	f.Title = strings.Join(strings.Fields(strings.ToValidUTF8(f.Title, "\ufffd")), " ")
	u.addText(text, line, true)
	f.use(u)
}

// fail adds a fault to what the page says; the first one stays.
func (f *File) fail(fault *access.Fault) {
	if f.Own == nil {
		f.Own = &access.Said{}
	}
	if f.Own.Fault == nil {
		f.Own.Fault = fault
	}
}

func kindOf(name string, content []byte) Kind {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn", ".mdtxt", ".mdtext":
		return Page
	}
	if isData(name) && isSpec(content) {
		return Spec
	}
	return Plain
}

// isData reports whether a file is JSON or YAML by its name.
func isData(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
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
