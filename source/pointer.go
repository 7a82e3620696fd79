package source

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// Pointer is a file that the folder does not hold.
type Pointer struct {
	Path string
	URI  string // of what is there, which nobody looks at here
	At   access.Place
}

// Errors of pointers.
var (
	errHeld       = errors.New("the folder has a file or link of that path")
	errHeldFolder = errors.New("the folder has files below that path")
	errPointed    = errors.New("another pointer has that path")
	errUnruled    = errors.New("what such a file says of who may see it is not read: say it by a rule in access.rules that matches the path")
)

// PointerFacts are all that is known of the pointers, in the order of the list.
func (l *Listing) PointerFacts() []Facts {
	facts := make([]Facts, len(l.Pointers))
	for i, p := range l.Pointers {
		facts[i] = Facts{Path: p.Path, Kind: Plain}
		if isData(p.Path) {
			facts[i].Kind = Spec
		}
	}
	return facts
}

// point adds the pointers to a listing that is in order. Ignore files have no say in them, but Exclude has.
func (w *walk) point() {
	if len(w.f.opts.Pointers) == 0 {
		return
	}
	pointers := slices.Clone(w.f.opts.Pointers)
	slices.SortStableFunc(pointers, func(a, b Pointer) int { return cmp.Compare(a.Path, b.Path) })
	held := slices.Clone(w.out.Files)
	for _, l := range w.out.Links {
		held = append(held, l.Path)
	}
	slices.Sort(held)
	for _, p := range pointers {
		err := unfitPath(p.Path)
		g := w.f.exclude.find(p.Path)
		switch {
		case err != nil:
		case g != nil:
			w.exclude(p.Path, g)
			continue
		default:
			err = cmp.Or(w.conflict(p.Path, held), w.unruled(p.Path))
		}
		if err != nil {
			err = fmt.Errorf("lazy.pointers: %q: %w", p.Path, err)
			w.out.Invalid = append(w.out.Invalid, Invalid{cmp.Or(p.At.Path, p.Path), p.At.Line, err})
			continue
		}
		w.out.Pointers = append(w.out.Pointers, p)
	}
	w.out.Ignored = slices.DeleteFunc(w.out.Ignored, func(i Ignored) bool { return w.out.points(i.Path) })
	w.sort()
}

// unruled refuses a pointer to what could hold markers of access, but nobody reads here, without a rule for it.
func (w *walk) unruled(name string) error {
	if rule, _ := w.f.rules.find(name); rule == nil && (isPage(name) || isData(name)) {
		return errUnruled
	}
	return nil
}

// exclude says once that a path is excluded, be it also there.
func (w *walk) exclude(name string, g *glob) {
	says := func(i Ignored) bool {
		return i.Path == name || strings.HasSuffix(i.Path, "/") && strings.HasPrefix(name, i.Path)
	}
	if !slices.ContainsFunc(w.out.Ignored, says) {
		w.out.Ignored = append(w.out.Ignored, Ignored{name, Excluded, g.text})
	}
}

// conflict is why no file can be put at a path, given those of the folder in byte order; those of the pointers before it
// are in the listing.
func (w *walk) conflict(name string, held []string) error {
	if w.out.points(name) {
		return errPointed
	}
	i := sort.SearchStrings(held, name+"/")
	if i < len(held) && strings.HasPrefix(held[i], name+"/") {
		return errHeldFolder
	}
	if _, found := slices.BinarySearch(held, name); found {
		return errHeld
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, found := slices.BinarySearch(held, dir); found || w.out.points(dir) {
			return fmt.Errorf("it is below %q, which is no folder", dir)
		}
	}
	return nil
}

// unfitPath is why no file of a snapshot can have the path, or nil.
func unfitPath(name string) error {
	switch {
	case !isPath(name) || strings.Contains(name, "\x00"):
		return errPath
	case len(name) > maxPath:
		return errLongPath
	}
	return nil
}

func (l *Listing) points(name string) bool {
	_, ok := find(l.Pointers, name, func(p *Pointer) string { return p.Path })
	return ok
}
