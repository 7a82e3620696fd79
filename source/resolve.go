package source

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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
	return slices.IndexFunc(links, func(l Link) bool { return l.Path == name })
}

// Resolve decides who may see each file and each link, by what the files say of themselves, the site's navigation in
// docs.json or mint.json, the rules and the default. Files are in byte order of their paths. Pinned is the default of the
// published snapshot, nil where there is none. It fails with ErrNoDefault where nothing is said and Options.Unmarked is
// not set.
func (f *Folder) Resolve(files []Facts, links []Link, pinned *access.Access) (*Resolution, error) {
	nav := f.readNavigation()
	r := resolving{folder: f, files: files, links: links, nav: nav, pages: make([]access.Page, len(files)+len(links))}
	r.describe()
	def := access.ChooseDefault(f.opts.Default, r.marked(), pinned)
	if def == nil && f.opts.Unmarked {
		def = access.UnmarkedDefault()
	}
	if def == nil {
		return nil, ErrNoDefault
	}
	decisions := access.Resolve(r.pages, def)
	out := &Resolution{Files: decisions[:len(files)], Links: decisions[len(files):], Default: def, Warnings: r.warnings, files: files, links: links}
	out.Faults = faults(decisions, nav.fault)
	return out, nil
}

// resolving is one resolution under way. The first pages are the files, the others the links.
type resolving struct {
	folder   *Folder
	files    []Facts
	links    []Link
	nav      *navigation
	pages    []access.Page
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
	}
	for i := range r.pages {
		p := &r.pages[i]
		p.Rule, p.Named = r.folder.rules.find(p.Path)
	}
	r.warnings = append(r.warnings, r.nav.warnings...)
	r.describeSite()
	for i, f := range r.files {
		if f.Uses != nil {
			r.describeUses(i, f.Uses.Files)
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

// lists reports whether a file names other pages: the site's configuration in all its parts, chromafs.yaml, llms*.txt.
func (r *resolving) lists(name string) bool {
	switch base := path.Base(name); {
	case base == "docs.json", base == "mint.json", base == "chromafs.yaml", name == r.folder.opts.Config:
		return true
	default:
		return r.nav.files[name] || strings.HasPrefix(base, "llms") && strings.HasSuffix(base, ".txt")
	}
}

// describeSite adds what the site's configuration says: of each page, of API descriptions, and of all, where it can't be
// understood.
func (r *resolving) describeSite() {
	if fault := r.nav.fault; fault != nil {
		for i := range r.pages {
			r.pages[i].Site = &access.Said{Fault: fault}
		}
		if i, ok := r.find(fault.At.Path); ok {
			r.pages[i].Own = &access.Said{Fault: fault}
		}
		return
	}
	listed := map[int]bool{}
	for _, p := range r.nav.pages {
		r.describePage(p, listed)
	}
	for _, s := range r.nav.specs {
		if s.said == nil || s.said.Fault == nil && *s.said.Public {
			continue
		}
		for _, i := range r.specs(s.name) {
			c := r.contents(i)
			c.Parts = append(c.Parts[:len(c.Parts):len(c.Parts)], *s.said)
		}
	}
	for i := range r.files {
		name := r.files[i].Path
		if base := path.Base(name); (base == "docs.json" || base == "mint.json") && !r.nav.files[name] {
			r.warn(name, 0, "only the configuration in the docs folder itself says who may see pages, this one is not read for that")
		}
	}
}

// describePage finds the file that the navigation names, with or without its extension. Where several fit, only the
// first is opened, but all are restricted. A file that was listed before, by another spelling, is not opened by a later
// place, but restricted where the first one says nothing.
func (r *resolving) describePage(p navPage, listed map[int]bool) {
	opens := p.said != nil && p.said.Public != nil && *p.said.Public
	found := false
	for _, suffix := range pageSuffixes {
		for _, i := range r.named(clean(p.name) + suffix) {
			if site := &r.pages[i].Site; !listed[i] && !(found && opens) || *site == nil && !opens {
				*site = p.said
			}
			listed[i], found = true, true
		}
	}
	if !found && p.said != nil && p.said.Public != nil {
		r.warn(p.at.Path, p.at.Line, fmt.Sprintf("%q is said to be public or not, but there is no such page", p.name))
	}
}

// pageSuffixes are what the navigation may leave out, the likeliest first.
var pageSuffixes = [...]string{"", ".mdx", ".md", ".markdown"}

// describeUses adds what page i shows of other files.
func (r *resolving) describeUses(i int, uses []Use) {
	for _, u := range uses {
		at := access.Place{Path: r.files[i].Path, Line: u.Line}
		for _, shown := range r.targets(r.files[i].Path, u) {
			if shown != i {
				c := r.contents(i)
				c.Shows = append(c.Shows, access.Show{Page: shown, At: at})
			}
		}
	}
}

// targets are the files that a use may mean.
func (r *resolving) targets(from string, u Use) []int {
	if u.Spec && u.Target == "" {
		return r.specs("")
	}
	var list []int
	for _, base := range bases(from, u.Target) {
		for _, suffix := range importSuffixes {
			if i, ok := r.find(base + suffix); ok {
				list = append(list, i)
			}
		}
		if len(list) > 0 && !u.Spec { // a platform may look for an API description from the page or from the root
			break
		}
	}
	return list
}

// importSuffixes are what an import may leave out.
var importSuffixes = [...]string{"", ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts", ".json", "/index.mdx", "/index.jsx", "/index.tsx", "/index.js", "/index.ts"}

// bases are the paths that the target of a use may mean, the likeliest first. An alias of the project's root, "@/" or
// "@site/", may lie above the docs folder.
func bases(from, target string) []string {
	if i := strings.IndexAny(target, "?#"); i >= 0 { // a loader's query, or else part of the name
		return append(bases(from, target[:i]), path.Join(path.Dir(from), target), clean(target))
	}
	here := path.Join(path.Dir(from), target)
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(target, "@site/"), "@/"); ok || strings.HasPrefix(target, "@site/") {
		list := []string{clean(rest)}
		for below := true; below; {
			if _, rest, below = strings.Cut(rest, "/"); below {
				list = append(list, clean(rest))
			}
		}
		return list
	}
	switch {
	case strings.HasPrefix(target, "/"):
		return []string{clean(target)}
	case strings.HasPrefix(target, "."):
		return []string{here}
	}
	return []string{here, clean(target)}
}

// clean is a path below the docs folder as the tree has it.
func clean(name string) string {
	return strings.TrimPrefix(path.Clean("/"+name), "/")
}

// specs are the API descriptions of that name. An empty one stands for any, where only an operation is named: for those
// that the navigation names, else for all.
func (r *resolving) specs(name string) (list []int) {
	if name != "" {
		if i, ok := r.find(clean(name)); ok {
			list = append(list, i)
		}
		return list
	}
	for _, s := range r.nav.specs {
		if i, ok := r.find(clean(s.name)); ok && !slices.Contains(list, i) {
			list = append(list, i)
		}
	}
	if len(list) > 0 {
		return list
	}
	for i := range r.files {
		if r.files[i].Kind == Spec {
			list = append(list, i)
		}
	}
	return list
}

// find is the position of a file.
func (r *resolving) find(name string) (int, bool) { return findFacts(r.files, name) }

// named are the positions of the pages of that path: of a file, or of a link.
func (r *resolving) named(name string) []int {
	if i, ok := r.find(name); ok {
		return []int{i}
	}
	if i := findLink(r.links, name); i >= 0 {
		return []int{len(r.files) + i}
	}
	return nil
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

// faults are those of decisions and the site's, each once.
func faults(decisions []*access.Decision, site *access.Fault) (list []*access.Fault) {
	seen := map[access.Place]bool{}
	add := func(f *access.Fault) {
		if f != nil && !seen[f.At] {
			seen[f.At] = true
			list = append(list, f)
		}
	}
	add(site)
	for _, d := range decisions {
		add(d.Fault)
	}
	slices.SortFunc(list, func(a, b *access.Fault) int {
		return cmp.Or(cmp.Compare(a.At.Path, b.At.Path), cmp.Compare(a.At.Line, b.At.Line))
	})
	return list
}
