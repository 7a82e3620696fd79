package source

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/chromafs/chromafs/access"
)

// ErrNoDefault: nothing at all says who may see the pages.
var ErrNoDefault = errors.New("nothing says who may see the pages")

// Resolution says who may see each file and link, and why.
type Resolution struct {
	// Files and Links are in the order of what was resolved. Decisions are shared; do not change them.
	Files, Links []*access.Decision
	// Default is the decision on pages of which nothing is said.
	Default *access.Decision
	// Faults are all places that can't be understood, each once, by path and line. The pages that depend on them are
	// for nobody.
	Faults   []*access.Fault
	Warnings []Warning

	files []Facts
	links []Link
}

// Behind is the path of the file that the link at name leads to, if it is one, and leads to a file.
func (r *Resolution) Behind(name string) (file string, ok bool) {
	if findLink(r.links, name) < 0 {
		return "", false
	}
	i, ok := (&resolving{files: r.files, links: r.links}).reach(name)
	if !ok {
		return "", false
	}
	return r.files[i].Path, true
}

// Find is the decision on the file or link at name, or nil.
func (r *Resolution) Find(name string) *access.Decision {
	if i, ok := findFacts(r.files, name); ok {
		return r.Files[i]
	}
	if i := findLink(r.links, name); i >= 0 {
		return r.Links[i]
	}
	return nil
}

func findFacts(files []Facts, name string) (int, bool) {
	return slices.BinarySearchFunc(files, name, func(f Facts, name string) int { return cmp.Compare(f.Path, name) })
}

func findLink(links []Link, name string) int {
	i, ok := slices.BinarySearchFunc(links, name, func(l Link, name string) int { return cmp.Compare(l.Path, name) })
	if !ok {
		return -1
	}
	return i
}

// Resolve decides who may see each file and each link, by what the files say of themselves, the site's navigation in
// docs.json or mint.json, the rules and the default. Files are in byte order of their paths. Pinned is the default of the
// published snapshot, nil where there is none. It fails with ErrNoDefault where nothing is said and Options.Unmarked is
// not set.
func (f *Folder) Resolve(files []Facts, links []Link, pinned *access.Access) (*Resolution, error) {
	nav := f.readNavigation()
	r := resolving{folder: f, files: files, links: links, nav: nav, pages: make([]access.Page, len(files)+len(links))}
	r.describe()
	def := access.ChooseDefault(f.opts.Default, f.opts.DefaultAt, r.marked(), pinned)
	if def == nil && f.opts.Unmarked {
		def = access.UnmarkedDefault()
	}
	if def == nil {
		return nil, ErrNoDefault
	}
	decisions := access.Resolve(r.pages, def)
	out := &Resolution{Files: decisions[:len(files)], Links: decisions[len(files) : len(files)+len(links)], Default: def, Warnings: r.warnings, files: files, links: links}
	out.Faults = faults(decisions, nav)
	return out, nil
}

// resolving is one resolution under way. The first pages are the files, the others the links.
type resolving struct {
	folder   *Folder
	files    []Facts
	links    []Link
	nav      *navigation
	pages    []access.Page
	any      int              // the page that stands for any API description, once it is needed
	alikes   map[string]int   // the same for descriptions of a name
	folded   map[string][]int // positions by path in lower case, once it is needed
	warnings []Warning
}

func (r *resolving) describe() {
	for i, f := range r.files {
		r.pages[i] = access.Page{Path: f.Path, Own: f.Own, Lists: r.lists(f.Path)}
		if f.Uses != nil && len(f.Uses.Parts) > 0 {
			r.contents(i).Parts = f.Uses.Parts
		}
	}
	for i, l := range r.links {
		r.pages[len(r.files)+i] = access.Page{Path: l.Path}
		if to, ok := r.reach(l.Path); ok && r.lists(l.Path) {
			r.pages[to].Lists = true
		}
	}
	r.describeRules()
	r.warnings = append(r.warnings, r.nav.warnings...)
	r.describeSite()
	r.warnUnread()
	for i, f := range r.files {
		if f.Uses != nil {
			r.describeUses(i, f.Uses.Files)
		}
	}
}

// describeRules finds the rule for each page, and warns of rules for none: of a path that is misspelt, as a rule.
func (r *resolving) describeRules() {
	used := map[*access.Rule]bool{}
	for i := range r.pages {
		p := &r.pages[i]
		p.Rule, p.Named = r.folder.rules.find(p.Path)
		used[p.Rule] = true
	}
	for i := range r.folder.rules.rules {
		rule := &r.folder.rules.rules[i]
		match := func(p access.Page) bool { return r.folder.rules.matches(i, p.Path) }
		if !used[rule] && !slices.ContainsFunc(r.pages, match) {
			r.warn(rule.At.Path, rule.At.Line, fmt.Sprintf("the rule for %q matches no file: paths are relative to the docs folder", rule.Glob))
		}
	}
}

// contents are those of page i, made at the first use.
func (r *resolving) contents(i int) *access.Contents {
	if r.pages[i].Contents == nil {
		r.pages[i].Contents = &access.Contents{}
	}
	return r.pages[i].Contents
}

func (r *resolving) warn(name string, line int, text string) {
	r.warnings = append(r.warnings, Warning{name, line, text})
}

// marked is the first place that says anything about access, or nil.
func (r *resolving) marked() *access.Place {
	for i := range r.files {
		if own := r.files[i].Own; own != nil {
			return place(own)
		}
	}
	for i := range r.files {
		if u := r.files[i].Uses; u != nil && len(u.Parts) > 0 {
			return place(&u.Parts[0])
		}
	}
	switch {
	case r.nav.marked != nil:
		return r.nav.marked
	case r.nav.fault != nil:
		return &r.nav.fault.At
	case len(r.folder.rules.rules) > 0:
		return &r.folder.rules.rules[0].At
	}
	return nil
}

// place is where something was said.
func place(s *access.Said) *access.Place {
	switch {
	case s.Fault != nil:
		return &s.Fault.At
	case s.Groups != nil:
		return &s.GroupsAt
	case s.Condition != nil:
		return s.Condition
	}
	return &s.PublicAt
}

// faults are those of decisions and of the navigation, each once.
func faults(decisions []*access.Decision, nav *navigation) (list []*access.Fault) {
	seen := map[access.Place]bool{}
	add := func(f *access.Fault) {
		if f != nil && !seen[f.At] {
			seen[f.At] = true
			list = append(list, f)
		}
	}
	add(nav.fault)
	for _, p := range nav.pages {
		if p.said != nil {
			add(p.said.Fault)
		}
	}
	for _, s := range nav.specs {
		if s.said != nil {
			add(s.said.Fault)
		}
	}
	for _, d := range decisions {
		add(d.Fault)
	}
	slices.SortFunc(list, func(a, b *access.Fault) int {
		return cmp.Or(cmp.Compare(a.At.Path, b.At.Path), cmp.Compare(a.At.Line, b.At.Line))
	})
	return list
}
