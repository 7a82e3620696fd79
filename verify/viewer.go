package verify

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/chromafs/chromafs/access"
)

// ViewerReport is how much a viewer sees, by what the folder says.
type ViewerReport struct {
	Name string `json:"name"`
	// Others is the number of further viewers who see the same, and so were not compared one by one.
	Others int `json:"others,omitempty"`
	// Visible and Hidden count files.
	Visible int `json:"visible"`
	Hidden  int `json:"hidden"`
}

// viewer is somebody who looks, and stands for all who may see the same.
type viewer struct {
	access.Viewer
	name    string
	others  int
	allowed []bool // by the outline's accesses
	common  bool   // anonymous, signed in or in all groups
}

// may reports whether the viewer may see what has one of the outline's accesses.
func (v *viewer) may(class int) bool { return v.Operator || v.allowed[class] }

// String names who is meant.
func (v *viewer) String() string {
	if v.others == 0 {
		return v.name
	}
	return fmt.Sprintf("%s (and %d more)", v.name, v.others)
}

// drawViewers is anonymous, signed in, each single group and all groups, without those who may see the same as one before
// them: both by the folder's accesses and by the tree's.
func drawViewers(folder, tree []access.Access) []*viewer {
	names := groupNames(folder, tree)
	everybody := []*viewer{
		{name: "anonymous", common: true},
		{name: "signed in", common: true, Viewer: access.Viewer{SignedIn: true}},
	}
	for _, g := range names {
		everybody = append(everybody, &viewer{name: fmt.Sprintf("group %q", g), Viewer: access.Viewer{SignedIn: true, Groups: []string{g}}})
	}
	if len(names) > 0 {
		everybody = append(everybody, &viewer{name: "all groups", common: true, Viewer: access.Viewer{SignedIn: true, Groups: names}})
	}
	var list []*viewer
	first := make(map[string]*viewer)
	for _, v := range everybody {
		v.allowed = allows(folder, v.Viewer)
		key := bits(v.allowed) + bits(allows(tree, v.Viewer))
		if like, ok := first[key]; ok {
			like.others++
			like.common = like.common || v.common
			continue
		}
		first[key] = v
		list = append(list, v)
	}
	return list
}

func allows(accesses []access.Access, v access.Viewer) []bool {
	list := make([]bool, len(accesses))
	for c, a := range accesses {
		list[c] = mayRead(v, a)
	}
	return list
}

// mayRead is the contract's rule in words of its own: what readers prune by is not to prove itself.
func mayRead(v access.Viewer, a access.Access) bool {
	member := func(g string) bool { return slices.Contains(v.Groups, g) }
	if slices.ContainsFunc(a.Excludes, member) {
		return false
	}
	signedIn := v.SignedIn || len(v.Groups) > 0
	return a.Public || slices.ContainsFunc(a.Groups, member) || signedIn && slices.Contains(a.Groups, "*")
}

func bits(list []bool) string {
	b := newBitset(len(list))
	for i, set := range list {
		if set {
			b.set(i)
		}
	}
	return fmt.Sprintf("%x", b)
}

// groupNames are all that any access names, sorted.
func groupNames(lists ...[]access.Access) []string {
	names := make(map[string]bool)
	for _, list := range lists {
		for _, a := range list {
			for _, g := range slices.Concat(a.Groups, a.Excludes) {
				names[g] = true
			}
		}
	}
	delete(names, access.AnySignedIn)
	return slices.Sorted(maps.Keys(names))
}

// viewing is one viewer's session.
type viewing struct {
	*viewer
	files reader
}

// mostReaders is how many viewers read each page. Where there are more, each page has others.
const mostReaders = 16

// readAs reads entry i as viewers do. Whoever may see it gets what the operator has got, if that was a page; to all others
// it is not there.
func (s *scan) readAs(i int, have []byte, readable bool) {
	if len(s.viewing) == 0 || s.decided[i] == nil {
		return
	}
	class := s.outline.classes[i]
	for k := range min(len(s.viewing), mostReaders) {
		v := s.viewing[(i*mostReaders+k)%len(s.viewing)]
		s.readOne(v, i, have, v.may(class), readable)
	}
}

func (s *scan) readOne(v viewing, i int, have []byte, mine, readable bool) {
	name := s.tree.Path(i)
	body, err := v.files.ReadFile(name)
	switch {
	case !mine && !errors.Is(err, fs.ErrNotExist):
		s.findings.add(KindLeak, name, fmt.Sprintf("%s reads it (%d bytes, %v), but it is for %s", v.viewer, len(body), err, because(s.decided[i])))
	case !mine || !readable:
	case err != nil:
		s.findings.add(KindHidden, name, fmt.Sprintf("%s can't read it: %v", v.viewer, err))
	case string(body) != string(have):
		s.findings.add(KindContent, name, fmt.Sprintf("%s gets other bytes than the operator", v.viewer))
	}
}
