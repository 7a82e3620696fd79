package source

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// lists reports whether a file names other pages: the site's configuration in all its parts, chromafs.yaml, llms*.txt. The
// case of a name, and what follows that of a configuration, as in a copy, is no matter.
func (r *resolving) lists(name string) bool {
	base := strings.ToLower(path.Base(name))
	for _, config := range [...]string{"docs.json", "mint.json", "chromafs.yaml", "chromafs.yml"} {
		if strings.HasPrefix(base, config) {
			return true
		}
	}
	return r.nav.files[name] || name == r.folder.opts.Config || strings.HasPrefix(base, "llms") && strings.Contains(base, ".txt")
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
		if i, ok := r.spec(s.name); ok {
			c := r.contents(i)
			c.Parts = append(c.Parts[:len(c.Parts):len(c.Parts)], *s.said)
		}
	}
}

// warnUnread warns of configuration that somebody may think is read.
func (r *resolving) warnUnread() {
	for i := range r.files {
		switch name := r.files[i].Path; path.Base(name) {
		case "docs.json", "mint.json":
			if !r.nav.files[name] {
				r.warn(name, 0, "only the configuration in the docs folder itself says who may see pages, this one is not read for that")
			}
		case "chromafs.yaml", "chromafs.yml":
			if name != r.folder.opts.Config {
				r.warn(name, 0, "this is not the configuration that is read: run chromafs where it is, or name it by --config")
			}
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
	if !found && p.said != nil && !opens {
		found = r.restrictAlike(p)
	}
	if !found && p.said != nil && p.said.Public != nil {
		r.warn(p.at.Path, p.at.Line, fmt.Sprintf("%q is said to be public or not, but there is no such page", p.name))
	}
}

// restrictAlike restricts what a page of the navigation may mean that is there in another case, by way of a link, or as the
// index of a folder.
func (r *resolving) restrictAlike(p navPage) (found bool) {
	if r.folded == nil {
		r.folded = map[string][]int{}
		for i := range r.pages {
			name := strings.ToLower(r.pages[i].Path)
			r.folded[name] = append(r.folded[name], i)
		}
	}
	name := clean(p.name)
	for _, suffix := range pageSuffixes {
		alike := slices.Concat(r.folded[strings.ToLower(name+suffix)], r.folded[strings.ToLower(name+"/index"+suffix)])
		if i, ok := r.reach(name + suffix); ok {
			alike = append(alike, i)
		}
		for _, i := range alike {
			if r.pages[i].Site == nil {
				r.pages[i].Site = p.said
			}
			found = true
		}
	}
	return found
}

// pageSuffixes are what the navigation may leave out, the likeliest first.
var pageSuffixes = [...]string{"", ".mdx", ".md", ".markdown"}
