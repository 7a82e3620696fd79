package source

import (
	"path"
	"strings"

	"github.com/chromafs/chromafs/access"
)

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
		return []int{r.anySpec()}
	}
	suffixes := importSuffixes[:]
	if u.Spec {
		suffixes = specSuffixes[:]
	}
	var list []int
	for _, base := range bases(from, u.Target) {
		for _, suffix := range suffixes {
			if i, ok := r.reach(base + suffix); ok {
				list = append(list, i)
			}
		}
		if len(list) > 0 && !u.Spec { // a platform may look for an API description from the page or from the root
			break
		}
	}
	if u.Spec && len(list) == 0 {
		list = append(list, r.alike(u.Target))
	}
	return list
}

// alike stands for the API descriptions of that name in other folders, or else for any, where a page names one that is not
// there.
func (r *resolving) alike(target string) int {
	base := path.Base(clean(target))
	if i, ok := r.alikes[base]; ok {
		return i
	}
	var found []int
	for i := range r.files {
		if name := path.Base(r.files[i].Path); isData(name) && (name == base || strings.TrimSuffix(name, path.Ext(name)) == base) {
			found = append(found, i)
		}
	}
	at := r.anySpec()
	if len(found) > 0 {
		at = r.standIn(found)
	}
	if r.alikes == nil {
		r.alikes = map[string]int{}
	}
	r.alikes[base] = at
	return at
}

// standIn is a page that is no file, and shows others: however many pages show it, there is one way to each.
func (r *resolving) standIn(shown []int) int {
	opens := true
	at := len(r.pages)
	r.pages = append(r.pages, access.Page{Own: &access.Said{Public: &opens}, Lists: true})
	for _, i := range shown {
		c := r.contents(at)
		c.Shows = append(c.Shows, access.Show{Page: i})
	}
	return at
}

// specSuffixes and importSuffixes are what the name of an API description and an import may leave out.
var specSuffixes = [...]string{"", ".json", ".yaml", ".yml"}

var importSuffixes = [...]string{"", ".mdx", ".md", ".jsx", ".tsx", ".js", ".ts", ".json", "/index.mdx", "/index.md", "/index.jsx", "/index.tsx", "/index.js", "/index.ts"}

// bases are the paths that the target of a use may mean, the likeliest first. What an alias stands for, "@/" or "@site/" or
// "~/", may lie above the docs folder.
func bases(from, target string) []string {
	if i := strings.IndexAny(target, "?#"); i >= 0 { // a loader's query, or else part of the name
		return append(bases(from, target[:i]), path.Join(path.Dir(from), target), clean(target))
	}
	here := path.Join(path.Dir(from), target)
	if strings.HasPrefix(target, "@") || strings.HasPrefix(target, "~") {
		var list []string
		for _, rest, below := strings.Cut(target, "/"); below; _, rest, below = strings.Cut(rest, "/") {
			list = append(list, clean(rest))
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

// spec is the API description that the navigation names, or what stands for any.
func (r *resolving) spec(name string) (int, bool) {
	if name == "" {
		return r.anySpec(), true
	}
	return r.reach(clean(name))
}

// anySpec stands for any API description: for those that the navigation names, else for all.
func (r *resolving) anySpec() int {
	if r.any > 0 {
		return r.any
	}
	var shown []int
	seen := map[int]bool{}
	for _, s := range r.nav.specs {
		if i, ok := r.reach(clean(s.name)); ok && !seen[i] {
			seen[i] = true
			shown = append(shown, i)
		}
	}
	for i := range r.files {
		if r.files[i].Kind == Spec && len(seen) == 0 {
			shown = append(shown, i)
		}
	}
	r.any = r.standIn(shown)
	return r.any
}

// find is the position of a file.
func (r *resolving) find(name string) (int, bool) { return findFacts(r.files, name) }

// reach is the position of the file that name leads to, through links.
func (r *resolving) reach(name string) (int, bool) {
	for range maxHops + 1 {
		if i, ok := r.find(name); ok {
			return i, true
		}
		next, ok := r.hop(name)
		if !ok {
			break
		}
		name = next
	}
	return 0, false
}

// hop replaces the first part of name that is a link by its target.
func (r *resolving) hop(name string) (string, bool) {
	for at := 0; len(r.links) > 0 && at < len(name); {
		end := len(name)
		if n := strings.IndexByte(name[at:], '/'); n >= 0 {
			end = at + n
		}
		if i := findLink(r.links, name[:end]); i >= 0 {
			return path.Join(path.Dir(name[:end]), r.links[i].Target, name[end:]), true
		}
		at = end + 1
	}
	return "", false
}

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
