package verify

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// outline is all that both sides have and the folder decides on: files, then links, then the folders above them.
type outline struct {
	places       []place
	files, links int
	byPath       map[string]int
	trails       []trail // of the links
	// accesses are the distinct ones that the folder decides on.
	accesses []access.Access
	// classes are positions in accesses, by entry of the tree; -1 where the folder does not decide.
	classes []int
}

// place is one path.
type place struct {
	path  string
	mode  fs.FileMode // its type
	up    int         // the folder that it is in; root is the docs folder
	entry int         // of the tree; -1 is a folder
	// unsure is set where it depends on what else differs who sees a link, or a folder with nothing else in it.
	unsure bool
}

// root is the docs folder itself, which is no place and everybody sees.
const root = -1

func (r *run) newOutline() *outline {
	o := &outline{byPath: make(map[string]int), classes: make([]int, r.tree.Len())}
	o.intern(r.decided)
	add := func(entries []int, mode fs.FileMode) (n int) {
		for _, i := range entries {
			if r.decided[i] != nil {
				o.byPath[r.tree.Path(i)] = len(o.places)
				o.places = append(o.places, place{path: r.tree.Path(i), mode: mode, entry: i})
				n++
			}
		}
		return n
	}
	o.files, o.links = add(r.files, 0), add(r.links, fs.ModeSymlink)
	for k := range o.files + o.links {
		o.places[k].up = o.folder(parent(o.places[k].path))
	}
	for k := o.files; k < o.files+o.links; k++ {
		o.trails = append(o.trails, o.follow(k, func(k int) string { return r.tree.At(o.places[k].entry).Link }))
	}
	o.doubt(r)
	return o
}

// intern numbers the accesses; decisions are mostly shared.
func (o *outline) intern(decisions []*access.Decision) {
	known := make(map[*access.Decision]int)
	byText := make(map[string]int) // equal words admit the same viewers
	for i, d := range decisions {
		if d == nil {
			o.classes[i] = -1
			continue
		}
		c, ok := known[d]
		if !ok {
			text := d.Access.String()
			if c, ok = byText[text]; !ok {
				c = len(o.accesses)
				o.accesses = append(o.accesses, d.Access)
				byText[text] = c
			}
			known[d] = c
		}
		o.classes[i] = c
	}
}

// folder is the place of a folder, made with all above it at the first call.
func (o *outline) folder(name string) int {
	if name == "" {
		return root
	}
	if k, ok := o.byPath[name]; ok {
		return k
	}
	up := o.folder(parent(name))
	o.byPath[name] = len(o.places)
	o.places = append(o.places, place{path: name, mode: fs.ModeDir, up: up, entry: -1})
	return o.byPath[name]
}

// parent is empty for what is in the docs folder itself.
func parent(name string) string {
	return name[:max(0, strings.LastIndexByte(name, '/'))]
}

// doubt marks what may be seen or not for reasons that are findings of their own: an entry that only the tree has shows
// the folders above it; and where the sides have not the same files and links, a link may lead elsewhere.
func (o *outline) doubt(r *run) {
	placed := make([]bool, r.tree.Len())
	for k := range o.files + o.links {
		placed[o.places[k].entry] = true
	}
	same := r.whole
	for i, ok := range placed {
		if !ok {
			same = false
			o.doubtFrom(parent(r.tree.Path(i)))
		}
	}
	for k := o.files; !same && k < o.files+o.links; k++ {
		o.doubtFrom(o.places[k].path)
	}
}

func (o *outline) doubtFrom(name string) {
	for ; name != ""; name = parent(name) {
		if k, ok := o.byPath[name]; ok {
			o.places[k].unsure = true
		}
	}
}

// trail is the way that a link leads.
type trail struct {
	leads   bool  // to somewhere
	end     int   // the place there
	links   []int // the places of all links on it, the link itself first
	folders []int // those that it leads through, without those that hold the link or its end
}

// maxHops is how many links one path may lead through, as on Linux.
const maxHops = 40

// follow goes from link k, name by name, whoever may see what is on the way.
func (o *outline) follow(k int, target func(link int) string) trail {
	t := trail{end: root, links: []int{k}}
	at, todo := parent(o.places[k].path), strings.Split(target(k), "/")
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == ".." && at == "":
			return t
		case name == "..":
			at = parent(at)
			continue
		}
		next, ok := o.byPath[path.Join(at, name)]
		switch {
		case !ok || len(t.links) > maxHops:
			return t
		case o.places[next].mode == fs.ModeDir:
			at = o.places[next].path
			t.folders = append(t.folders, next)
		case o.places[next].mode == fs.ModeSymlink:
			t.links = append(t.links, next)
			todo = append(strings.Split(target(next), "/"), todo...)
		case len(todo) > 0:
			return t // a file is no folder
		default:
			t.end = next
		}
	}
	if t.leads = true; t.end == root && at != "" {
		t.end = o.byPath[at]
	}
	t.folders = slices.DeleteFunc(t.folders, func(f int) bool { return o.holds(f, k) || t.end != root && o.holds(f, t.end) })
	return t
}

// holds reports whether place k lies in folder f.
func (o *outline) holds(f, k int) bool {
	for k != root && k != f {
		k = o.places[k].up
	}
	return k == f
}

// visible says of each place whether a viewer sees it to whom those accesses are allowed: a file by its access alone; a
// folder if anything in it is visible; a link if it and those that it leads through are allowed, and all that it leads
// through or to is visible. Of several answers that fit, as where folders hold nothing but links to each other, it is the
// one with the fewest.
func (o *outline) visible(allowed []bool) []bool {
	seen := make([]bool, len(o.places))
	may := func(k int) bool { return allowed[o.classes[o.places[k].entry]] }
	there := func(k int) bool { return k == root || seen[k] }
	for k := range o.files {
		if may(k) {
			o.show(seen, k)
		}
	}
	for more := true; more; {
		more = false
		for l, t := range o.trails {
			k := o.files + l
			if !seen[k] && !o.places[k].unsure && t.leads && all(t.links, may) && all(t.folders, there) && there(t.end) {
				o.show(seen, k)
				more = true
			}
		}
	}
	return seen
}

// show marks a place and the folders above it.
func (o *outline) show(seen []bool, k int) {
	for ; k != root && !seen[k]; k = o.places[k].up {
		seen[k] = true
	}
}

func all(list []int, ok func(int) bool) bool {
	for _, k := range list {
		if !ok(k) {
			return false
		}
	}
	return true
}
