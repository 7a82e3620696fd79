package source

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxHops is the number of links on the way to one target, itself included, as on Linux.
const maxHops = 40

// ResolveLinks says which links of a listing are kept, given the paths of the selected files in byte order. A link is kept as
// written if it is relative, every step of the way stays in the folder and passes only selected folders and kept
// links, and it ends at a selected file or at a folder with one below it. Nor may its ".." lead out of the folder when
// they are taken by name, "a/.." for nothing, as readers without links do: a snapshot refuses such a target even where a
// link on the way makes it a good one. All others are ignored with a reason. Both answers keep the order of links.
func (f *Folder) ResolveLinks(links []Link, selected []string) (kept []Link, ignored []Ignored) {
	reasons := map[string]Reason{}
	kept = slices.Clone(links)
	for before := -1; before != len(kept); { // a link that falls may take others with it
		before = len(kept)
		r := resolver{f.disk, selected, make(map[string]string, len(kept))}
		for _, l := range kept {
			r.links[l.Path] = l.Target
		}
		kept = slices.DeleteFunc(kept, func(l Link) bool {
			reason := r.follow(l)
			reasons[l.Path] = reason
			return reason != ""
		})
	}
	for _, l := range links {
		if reason := reasons[l.Path]; reason != "" {
			ignored = append(ignored, Ignored{l.Path, reason, l.Target})
		}
	}
	return kept, ignored
}

type resolver struct {
	disk     *disk
	selected []string
	links    map[string]string // path to target
}

// follow returns why a link can't be kept, or empty.
func (r *resolver) follow(l Link) Reason {
	t := trip{resolver: r, at: names(path.Dir(l.Path))}
	reason := t.enter(l.Path, l.Target)
	for reason == "" && len(t.todo) > 0 {
		reason = t.step()
	}
	if end := strings.Join(t.at, "/"); reason == "" && !r.isFile(end) && !r.isFolder(end) {
		return r.missing(end)
	}
	return cmp.Or(reason, unfit(l))
}

// unfit is why a snapshot would refuse a link that leads somewhere, or empty.
func unfit(l Link) Reason {
	to := path.Join(path.Dir(l.Path), l.Target)
	switch {
	case len(l.Target) > maxPath || !utf8.ValidString(l.Target) || strings.Contains(l.Target, "\x00"):
		return LinkTarget
	case to == ".." || strings.HasPrefix(to, "../"):
		return LinkOutside
	}
	return ""
}

// trip is one walk along a link's target, name by name.
type trip struct {
	*resolver
	at     []string // the names of where we are
	todo   []string // the names still to follow
	passed []string // the links so far
}

func (t *trip) enter(link, target string) Reason {
	t.passed = append(t.passed, link)
	t.todo = append(strings.Split(target, "/"), t.todo...)
	switch {
	case strings.HasPrefix(target, "/"):
		return LinkAbsolute
	case len(t.passed) > maxHops:
		return LinkLoop
	}
	return ""
}

func (t *trip) step() Reason {
	name := t.todo[0]
	t.todo = t.todo[1:]
	here := strings.Join(t.at, "/")
	switch name {
	case "", ".", "..":
		if !t.isFolder(here) && !anyBelow(t.passed, here) {
			return t.missing(here)
		}
		if name == ".." && here == "" {
			return LinkOutside
		}
		if name == ".." {
			t.at = t.at[:len(t.at)-1]
		}
		return ""
	}
	next := path.Join(here, name)
	if target, ok := t.links[next]; ok {
		return t.enter(next, target)
	}
	t.at = append(t.at, name)
	return ""
}

// names splits the path of a folder; that of the docs folder itself, ".", has none.
func names(dir string) []string {
	if dir == "." {
		return nil
	}
	return strings.Split(dir, "/")
}

// missing tells apart what does not exist from what is not selected.
func (r *resolver) missing(at string) Reason {
	if _, err := r.disk.root.Lstat(path.Join(".", at)); err != nil {
		return LinkDangling
	}
	return LinkToIgnored
}

func (r *resolver) isFile(path string) bool {
	_, ok := slices.BinarySearch(r.selected, path)
	return ok
}

// isFolder reports whether a selected file is below the path.
func (r *resolver) isFolder(path string) bool {
	if path == "" {
		return len(r.selected) > 0
	}
	i := sort.SearchStrings(r.selected, path+"/")
	return i < len(r.selected) && strings.HasPrefix(r.selected[i], path+"/")
}

// anyBelow reports whether one of the paths is below dir; the folder of a kept link is there even if it holds no file.
func anyBelow(paths []string, dir string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") })
}
