package source

import (
	"fmt"
	"io/fs"
	"slices"
	"sort"
)

// Reason is why a path is ignored, in words for a person; there are only the ones below.
type Reason string

// Reasons that a name gives, before anything is opened.
const (
	DotName      Reason = "name begins with a dot"
	NodeModules  Reason = "node_modules"
	ByIgnoreFile Reason = "named by an ignore file"
	Excluded     Reason = "excluded by the configuration"
	NotRegular   Reason = "neither file, folder nor link"
)

// Reasons that content gives.
const (
	NotText  Reason = "content can't be chunked"
	TooLarge Reason = "too large"
)

// Reasons of links.
const (
	LinkAbsolute  Reason = "link to an absolute path"
	LinkOutside   Reason = "link leaves the folder"
	LinkDangling  Reason = "link to nothing"
	LinkLoop      Reason = "link goes in a circle"
	LinkToIgnored Reason = "link to something not selected"
	LinkTarget    Reason = "link target is too long or not UTF-8"
)

// Ignored is a path that is left out on purpose. A folder's ends in a slash and stands for everything below it.
type Ignored struct {
	Path   string
	Reason Reason
	// Detail names the deciding line, glob or fault; it may be empty.
	Detail string
}

func (i *Ignored) Error() string {
	if i.Detail == "" {
		return fmt.Sprintf("%q is ignored: %s", i.Path, i.Reason)
	}
	return fmt.Sprintf("%q is ignored: %s (%s)", i.Path, i.Reason, i.Detail)
}

// Invalid is a path that should be there but can't be read or named. A folder's ends in a slash and stands for
// everything below it. An invalid path says nothing about what was there before; it must not pass for a removed one.
type Invalid struct {
	Path string
	Line int // from 1; 0 where no line is to blame
	Err  error
}

func (i *Invalid) Error() string {
	if i.Line > 0 {
		return fmt.Sprintf("%q line %d: %v", i.Path, i.Line, i.Err)
	}
	return fmt.Sprintf("%q: %v", i.Path, i.Err)
}

func (i *Invalid) Unwrap() error { return i.Err }

// Warning is something that a person should know but that keeps nothing from being selected.
type Warning struct {
	Path string // empty where the whole folder is meant
	Line int    // from 1; 0 where no line is to blame
	Text string
}

// Link is a symbolic link, with its target as written.
type Link struct {
	Path, Target string
	MTime        int64 // as in File
}

// Listing is what a walk found, each list in byte order of the paths. Folders themselves are in none of them unless
// they are ignored or invalid as a whole.
type Listing struct {
	// Files may still turn out ignored or invalid when read.
	Files []string
	// Links may still be ignored, see ResolveLinks.
	Links []Link
	// Pointers are those that name something new.
	Pointers []Pointer
	Ignored  []Ignored
	Invalid  []Invalid
	Warnings []Warning
}

// Explain says why the walk left out a path, as an *Ignored or *Invalid of the path or of a folder above it. It is nil for
// a path that is in Files, Links or Pointers, and wraps fs.ErrNotExist for one that the walk did not see.
func (l *Listing) Explain(path string) error {
	if l.selects(path) {
		return nil
	}
	for end := 1; end <= len(path); end++ {
		part := path
		if end < len(path) {
			if path[end-1] != '/' {
				continue
			}
			part = path[:end]
		}
		if i, ok := find(l.Ignored, part, func(e *Ignored) string { return e.Path }); ok {
			return &l.Ignored[i]
		}
		if i, ok := find(l.Invalid, part, func(e *Invalid) string { return e.Path }); ok {
			return &l.Invalid[i]
		}
	}
	return fmt.Errorf("%q was not seen: %w", path, fs.ErrNotExist)
}

func (l *Listing) selects(path string) bool {
	_, file := slices.BinarySearch(l.Files, path)
	_, link := find(l.Links, path, func(e *Link) string { return e.Path })
	return file || link || l.points(path)
}

// find looks up a path in a list in byte order.
func find[E any](list []E, path string, of func(*E) string) (int, bool) {
	i := sort.Search(len(list), func(i int) bool { return of(&list[i]) >= path })
	return i, i < len(list) && of(&list[i]) == path
}
