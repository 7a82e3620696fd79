package source

import (
	"bytes"
	"crypto/sha256"
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
	Content []byte // as on disk; nil for a lazy file
	Size    int64
	SHA256  [sha256.Size]byte
	// Lazy is why the file is not chunked; nil for most.
	Lazy *Lazy
	// Title is the frontmatter's, else a page's first heading of level 1, else empty. White space in it is single spaces.
	Title string
	// MTime is the committer's time of the last commit that changed the file, in Unix seconds, as the last Walk found
	// it: the newest one on any line of history, where a merge counts only if its result differs from all its parents.
	// It is 0 without git or a work tree, for a file that is not byte for byte as in the last commit, and where a shallow
	// clone ends.
	MTime    int64
	Warnings []Warning
}

// readFacts reads what a text, the file's content in UTF-8 as far as can be, says of itself and of other files, and the
// title.
func (f *File) readFacts(text []byte) {
	var u useList
	var parts []access.Said
	switch {
	case f.Kind == Page:
		f.readPage(text, false, &u)
	case isData(f.Path):
		u.addRefs(text, 1, len(text))
		parts = mintParts(f.Path, text)
	case isScript(f.Path):
		u.addText(bytes.TrimPrefix(text, bom), 1, false)
	default:
		f.warnUnread(text)
	}
	f.use(u, parts)
}

// warnUnread warns of words about access in a file that is no page.
func (f *File) warnUnread(text []byte) {
	front, _ := splitFront(text)
	if front.delimiter == "" || !front.closed {
		return
	}
	if line := markerLine(front.text); line > 0 {
		f.Warnings = append(f.Warnings, Warning{f.Path, line + 1, "frontmatter is read in Markdown alone: give this file a rule in chromafs.yaml, if it is not for all"})
	}
}

func (f *File) use(u useList, parts []access.Said) {
	if len(u.list)+len(parts) > 0 {
		f.Uses = &Uses{Files: u.list, Parts: parts}
	}
}

// readPage reads frontmatter and body. Of what is not quite frontmatter, all is taken for body too. With cut, content is
// only the start of the page; then nobody knows what is code.
func (f *File) readPage(content []byte, cut bool, u *useList) {
	front, body := splitFront(content)
	front.path, front.cut = f.Path, cut
	text, line := bytes.TrimPrefix(content, bom), 1
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
	if fault := front.unread(content, body); fault != nil {
		f.fail(fault)
	}
	if f.Own == nil && f.saysIn(visibleBytes(content), cut) {
		f.fail(&access.Fault{At: access.Place{Path: f.Path, Line: 1}, Err: errEncoding})
	}
	if f.Title == "" {
		f.Title = heading(body)
	}
	f.Title = strings.Join(strings.Fields(strings.ToValidUTF8(f.Title, "\ufffd")), " ")
	if cut {
		u.addFound(text, line, findMentions(text, true), nil)
	} else {
		u.addText(text, line, true)
	}
}

// saysIn reports whether a page of that content would say who may see it.
func (f *File) saysIn(content []byte, cut bool) bool {
	page := File{Facts: Facts{Path: f.Path, Kind: Page}}
	if content != nil {
		page.readPage(content, cut, new(useList))
	}
	return page.Own != nil
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

// kindOf takes the content in UTF-8, as far as can be.
func kindOf(name string, text []byte) Kind {
	switch {
	case isPage(name):
		return Page
	case isData(name) && isSpec(text):
		return Spec
	}
	return Plain
}

// isPage reports whether a file is Markdown by its name.
func isPage(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".mdx", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdwn", ".mdtxt", ".mdtext":
		return true
	}
	return false
}

// isData reports whether a file is JSON or YAML by its name.
func isData(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}

// isScript reports whether a file may import others by its name.
func isScript(name string) bool { return slices.Contains(scripts[:], strings.ToLower(path.Ext(name))) }

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
