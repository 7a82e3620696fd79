package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// siteFiles are the names that Mintlify's site configuration has, in the docs folder itself.
var siteFiles = [...]string{"docs.json", "mint.json"}

// Limits of a site configuration that is split by $ref.
const (
	maxSiteFiles = 200
	maxSiteBytes = 16 << 20
)

// ErrSite: the site configuration can't be read whole, so nothing is known about the access that it gives.
var ErrSite = errors.New("site configuration can't be read")

// Markers finds every key "public" inside the navigation of the docs folder's docs.json and mint.json, following $ref
// within the folder. Where the text is no JSON, each such key in it counts. Mintlify calls only true and false a
// marker; any value counts here. The warnings are for malformed files and for a $ref to nothing.
func (f *Folder) Markers() ([]Marker, []Warning, error) {
	s := site{disk: f.disk, seen: map[siteRef]bool{}}
	for _, name := range siteFiles {
		s.todo = append(s.todo, siteRef{path: name})
		for len(s.todo) > 0 {
			ref := s.todo[0]
			s.todo = s.todo[1:]
			if err := s.read(ref, name == ref.path); err != nil {
				return nil, nil, fmt.Errorf("%q: %w: %w", ref.path, ErrSite, err)
			}
		}
	}
	return s.markers, s.warnings, nil
}

// siteRef is a file to look at, and whether what it holds is inside the navigation.
type siteRef struct {
	path       string
	navigation bool
}

type site struct {
	disk     *disk
	seen     map[siteRef]bool
	bytes    int
	todo     []siteRef
	markers  []Marker
	warnings []Warning
}

func (s *site) read(ref siteRef, optional bool) error {
	if s.seen[ref] {
		return nil
	}
	s.seen[ref] = true
	content, err := s.disk.read(ref.path, maxSiteBytes, nil)
	if isAbsent(err) {
		if !optional {
			s.warn(ref.path, 0, "a $ref leads to it, but there is no such file")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if s.bytes += len(content); s.bytes > maxSiteBytes || len(s.seen) > maxSiteFiles {
		return fmt.Errorf("more than %d bytes or %d files", maxSiteBytes, maxSiteFiles)
	}
	content = bytes.TrimPrefix(content, bom)
	scan := siteScan{content: content, lines: lineCount{text: content, line: 1}, navigation: ref.navigation}
	if err := scan.run(); err != nil {
		s.warn(ref.path, scan.line(), "malformed: "+err.Error())
		scan.guess()
	}
	for _, line := range scan.public {
		s.markers = append(s.markers, Marker{ref.path, line, "public"})
	}
	for _, r := range scan.refs {
		s.follow(ref, r)
	}
	return nil
}

func (s *site) warn(path string, line int, text string) {
	s.warnings = append(s.warnings, Warning{path, line, text})
}

func (s *site) follow(from siteRef, to siteRef) {
	target, _, _ := strings.Cut(to.path, "#")
	p := path.Join(path.Dir(from.path), target)
	if strings.HasPrefix(target, "/") {
		p = strings.TrimPrefix(path.Clean(target), "/")
	}
	if target == "" || !fs.ValidPath(p) || p == "." {
		s.warn(from.path, 0, fmt.Sprintf("$ref to %q leaves the folder", to.path))
		return
	}
	s.todo = append(s.todo, siteRef{p, to.navigation})
}

// siteScan is one pass over the tokens of one file.
type siteScan struct {
	content    []byte
	navigation bool // all of it is inside the navigation
	lines      lineCount
	d          *json.Decoder
	stack      []siteLevel
	public     []int // lines
	refs       []siteRef
}

// siteLevel is an open object or array.
type siteLevel struct {
	object     bool
	key        string // the key whose value is next
	hasKey     bool
	navigation bool
}

func (s *siteScan) run() error {
	s.d = json.NewDecoder(bytes.NewReader(s.content))
	for {
		token, err := s.d.Token()
		if err != nil {
			return err
		}
		s.take(token)
		if len(s.stack) == 0 {
			return nil
		}
	}
}

func (s *siteScan) take(token json.Token) {
	var top *siteLevel
	if n := len(s.stack); n > 0 {
		top = &s.stack[n-1]
	}
	delim, isDelim := token.(json.Delim)
	switch {
	case isDelim && (delim == '}' || delim == ']'):
		s.stack = s.stack[:len(s.stack)-1]
	case top != nil && top.object && !top.hasKey:
		top.key, _ = token.(string)
		top.hasKey = true
		if top.key == "public" && top.navigation {
			s.public = append(s.public, s.line())
		}
	default:
		inside := s.navigation
		if top != nil {
			inside = top.navigation || len(s.stack) == 1 && top.key == "navigation"
			if ref, ok := token.(string); ok && top.key == "$ref" && (inside || len(s.stack) == 1) {
				s.refs = append(s.refs, siteRef{ref, inside})
			}
			top.hasKey = false
		}
		if isDelim {
			s.stack = append(s.stack, siteLevel{object: delim == '{', navigation: inside})
		}
	}
}

// line is that of the token just read.
func (s *siteScan) line() int {
	return s.lines.to(int(s.d.InputOffset()))
}

var (
	publicText = regexp.MustCompile(`"public"\s*:`)
	refText    = regexp.MustCompile(`"\$ref"\s*:\s*"([^"\\]+)"`)
)

// guess takes each key in the text for one inside the navigation, because the file can't be parsed.
func (s *siteScan) guess() {
	s.public, s.refs = nil, nil
	s.lines = lineCount{text: s.content, line: 1}
	for _, at := range publicText.FindAllIndex(s.content, maxGuesses) {
		s.public = append(s.public, s.lines.to(at[0]))
	}
	for _, m := range refText.FindAllSubmatch(s.content, maxSiteFiles) {
		s.refs = append(s.refs, siteRef{string(m[1]), true})
	}
}
