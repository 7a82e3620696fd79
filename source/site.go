package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// siteFiles are the names that Mintlify's site configuration has, in the docs folder itself. The second one is the older
// and is not read where there is the first.
var siteFiles = [...]string{"docs.json", "mint.json"}

// Limits of a site configuration that is split by $ref.
const (
	maxSiteFiles  = 200
	maxSiteBytes  = 16 << 20
	maxSiteValues = 1 << 20 // of all files, and again of the whole that they make
)

// Errors of a site configuration.
var (
	errSiteSize  = fmt.Errorf("more than %d files or %d bytes of configuration", maxSiteFiles, maxSiteBytes)
	errSiteLink  = fmt.Errorf("%w: no link is followed here, put the file itself there", errNotRegular)
	errRefText   = errors.New("$ref is no text")
	errRefPart   = errors.New("$ref leads to a part of a file, which is not known here")
	errRefOut    = errors.New("$ref leaves the folder")
	errRefCircle = errors.New("$ref goes in a circle")
	errRefBeside = errors.New("beside a $ref to what is no object, this would be lost")
)

// siteRole is what a value of the configuration stands for.
type siteRole byte

const (
	siteTop     siteRole = iota // the whole configuration
	siteInside                  // a part of the navigation
	siteOutside                 // anything else
)

// siteRef is a file, and what a $ref makes of it.
type siteRef struct {
	path string
	role siteRole
}

// site is the configuration of a site, split by $ref as it is on disk.
type site struct {
	disk  *disk
	roots map[string]*jsonValue
	done  map[siteRef]bool // false while what a file leads to is still being loaded
	files map[string]bool  // that exist
	bytes int
	left  int       // values that the files may still have
	spare int       // values that the whole may still have
	specs []navSpec // named outside the navigation
}

func newSite(d *disk) *site {
	return &site{
		disk: d, roots: map[string]*jsonValue{}, done: map[siteRef]bool{}, files: map[string]bool{},
		left: maxSiteValues, spare: maxSiteValues,
	}
}

// open loads the configuration of the name and all that it leads to. Without one, all is nil.
func (s *site) open(name string) (*jsonValue, *access.Fault) {
	root, err := s.load(name)
	var fault *access.Fault
	switch {
	case errors.As(err, &fault):
		return nil, fault
	case isAbsent(err):
		return nil, nil
	case err != nil:
		return nil, &access.Fault{At: access.Place{Path: name}, Err: err}
	}
	s.done[siteRef{name, siteTop}] = false
	if fault := s.scan(root, siteTop); fault != nil {
		return nil, fault
	}
	return s.whole(root)
}

// load reads a file, once. Its error is an *access.Fault where the text is no JSON.
func (s *site) load(name string) (*jsonValue, error) {
	if root := s.roots[name]; root != nil {
		return root, nil
	}
	if len(s.files) == maxSiteFiles {
		return nil, errSiteSize
	}
	content, err := s.content(name)
	if isAbsent(err) {
		return nil, err
	}
	s.files[name] = true
	if errors.As(err, new(sizeError)) {
		return nil, errSiteSize
	}
	if err != nil {
		return nil, err
	}
	s.bytes += len(content)
	root, fault := parseJSON(name, content, &s.left)
	if fault != nil {
		return nil, fault
	}
	s.roots[name] = root
	return root, nil
}

// content reads a file that no link is on the way to. (By such a way the file would not be known as what it is.)
func (s *site) content(name string) ([]byte, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		if fi, err := s.disk.root.Lstat(name[:i]); err != nil {
			return nil, cause(err)
		} else if !fi.IsDir() {
			return nil, errSiteLink
		}
	}
	content, err := s.disk.read(name, int64(maxSiteBytes-s.bytes))
	if errors.Is(err, errNotRegular) {
		err = errSiteLink
	}
	return content, err
}

// scan loads all that a file leads to. What is outside the navigation only names pages: nothing there is a fault.
func (s *site) scan(v *jsonValue, role siteRole) *access.Fault {
	if role == siteTop {
		if v.kind != jsonObject {
			return nil
		}
		if m := v.twice("navigation", "$ref"); m != nil {
			return &access.Fault{At: m.at(), Err: errRepeated}
		}
	}
	for i := range v.members {
		m := &v.members[i]
		if fault := s.scanMember(m, role); fault != nil {
			return fault
		}
	}
	return nil
}

func (s *site) scanMember(m *jsonMember, role siteRole) *access.Fault {
	switch {
	case m.key == "$ref":
		fault := s.follow(m, role)
		if role == siteOutside {
			return nil
		}
		return fault
	case role == siteTop && m.key == "navigation":
		return s.scan(m.value, siteInside)
	case isSiteSpecKey(m.key) && role == siteInside:
		return nil // for the walk, which knows who may see what is made of it
	case isSiteSpecKey(m.key):
		for _, name := range specNames(m.value) {
			s.specs = append(s.specs, navSpec{name: name, at: m.at()})
		}
		return nil
	case role == siteTop:
		return s.scan(m.value, siteOutside)
	}
	return s.scan(m.value, role)
}

// follow loads the target of a $ref, and all that it leads to.
func (s *site) follow(m *jsonMember, role siteRole) *access.Fault {
	name, err := refTarget(m.value)
	if err != nil {
		return &access.Fault{At: m.at(), Err: err}
	}
	ref := siteRef{name, role}
	if done, seen := s.done[ref]; done {
		return nil
	} else if seen {
		return &access.Fault{At: m.at(), Err: errRefCircle}
	}
	root, err := s.load(name)
	var fault *access.Fault
	switch {
	case errors.As(err, &fault):
		return fault
	case err != nil:
		return &access.Fault{At: m.at(), Err: fmt.Errorf("$ref to %q: %w", name, err)}
	}
	s.done[ref] = false
	fault = s.scan(root, role)
	s.done[ref] = true
	return fault
}

// refTarget is the path of the file that a $ref means: relative to its own file, or with a leading slash to the folder.
func refTarget(ref *jsonValue) (string, error) {
	target := ref.text
	switch {
	case ref.kind != jsonString || target == "":
		return "", errRefText
	case strings.Contains(target, "#"):
		return "", errRefPart
	}
	dir := path.Dir(ref.at.Path)
	if target[0] == '/' {
		dir = "."
	}
	name := path.Join(dir, target)
	if !fs.ValidPath(name) || name == "." {
		return "", errRefOut
	}
	return name, nil
}

// whole is v, or where v is a $ref, what it leads to with v's other keys on top. All of it has been scanned.
func (s *site) whole(v *jsonValue) (*jsonValue, *access.Fault) {
	for {
		ref := v.member("$ref")
		if ref == nil {
			return v, nil
		}
		name, err := refTarget(ref.value)
		if err != nil {
			return nil, &access.Fault{At: ref.at(), Err: err}
		}
		target := s.roots[name]
		if target.kind != jsonObject {
			return target, unmerged(v)
		}
		if fault := s.spend(len(target.members), ref.at()); fault != nil {
			return nil, fault
		}
		v = overlay(target, v)
	}
}

// unmerged is a fault if there are keys beside a $ref to no object that would matter. Mintlify ignores them all.
func unmerged(v *jsonValue) *access.Fault {
	for i := range v.members {
		m := &v.members[i]
		if marker(m.key) == "public" || m.value.kind >= jsonArray {
			return &access.Fault{At: m.at(), Err: errRefBeside}
		}
	}
	return nil
}

// overlay is target with the members of over, but its $ref, on top, each in its first place.
func overlay(target, over *jsonValue) *jsonValue {
	out := &jsonValue{kind: jsonObject, at: over.at, repeated: over.repeated}
	if out.repeated == nil {
		out.repeated = target.repeated
	}
	index := make(map[string]int, len(target.members))
	for i, m := range target.members {
		index[m.key] = i
	}
	out.members = append(out.members, target.members...)
	for _, m := range over.members {
		i, ok := index[m.key]
		switch {
		case m.key == "$ref":
		case ok:
			out.members[i] = m
		default:
			out.members = append(out.members, m)
		}
	}
	return out
}

// spend counts values of the whole, because a file may be in it many times.
func (s *site) spend(n int, at access.Place) *access.Fault {
	if s.spare -= n; s.spare < 0 {
		return &access.Fault{At: at, Err: errValues}
	}
	return nil
}
