package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/access"
)

var (
	errPublic   = fmt.Errorf("%w: public is neither true nor false", access.ErrMalformed)
	errRepeated = fmt.Errorf("%w: the key is there twice", access.ErrMalformed)
)

// navigation is what Mintlify's configuration of a site says about who may see pages.
type navigation struct {
	// pages are in the order in which they are first listed, each once, and what counts of all that is said of it.
	pages []navPage
	// specs are the uses of API descriptions, each once with what is said there.
	specs []navSpec
	// files are those that hold the configuration, and all that a $ref in it leads to, as far as they exist.
	files map[string]bool
	// fault is set where the configuration can't be understood as a whole. Nothing is known then but files.
	fault *access.Fault
	// marked is the first public in the navigation, whatever its value.
	marked   *access.Place
	warnings []Warning
}

// navPage is an entry of the navigation: the path of a file, with or without its extension.
type navPage struct {
	name string
	said *access.Said // shared; nil where nothing is said
	at   access.Place // where it is first listed
}

// navSpec is a use of an API description. An empty name stands for any, where pages name only an operation.
type navSpec struct {
	name string
	said *access.Said
	at   access.Place
}

// readNavigation reads docs.json, or else mint.json. Without either nothing is said.
//
// Its rules are Mintlify's: public: true on a group opens the pages below it, and the nearest true or false counts. But
// false counts on whatever else has pages below it, too.
func (f *Folder) readNavigation() *navigation {
	s := newSite(f.disk)
	nav := &navigation{files: s.files}
	root, fault := s.open(siteFiles[0])
	if root == nil && fault == nil {
		root, fault = s.open(siteFiles[1])
	} else {
		nav.warnUnread(s)
	}
	switch {
	case fault != nil:
		nav.fault = fault
	case root != nil:
		nav.read(s, root)
	}
	return nav
}

// warnUnread looks for a navigation that Mintlify no longer reads.
func (n *navigation) warnUnread(s *site) {
	root, err := s.load(siteFiles[1])
	if err != nil {
		return
	}
	if m := root.member("navigation"); m != nil {
		n.warn(m.at(), fmt.Sprintf("not read, because there is %s: delete it", siteFiles[0]))
	}
}

func (n *navigation) warn(at access.Place, text string) {
	n.warnings = append(n.warnings, Warning{at.Path, at.Line, text})
}

func (n *navigation) read(s *site, root *jsonValue) {
	n.specs = s.specs
	m := root.member("navigation")
	if m == nil {
		return
	}
	w := navWalk{navigation: n, site: s, index: map[string]int{}, used: map[navSpec]bool{}, warned: map[access.Place]bool{}}
	w.walk(m.value, m.key, navScope{})
	if n.fault != nil {
		*n = navigation{files: n.files, fault: n.fault}
	}
}

// navScope is what holds at a place in the navigation for all below it.
type navScope struct {
	said   *access.Said // by the nearest public
	broken bool         // said is a fault that no public can mend
	specs  []string     // API descriptions of the nearest key, whose operations may be listed
	async  bool         // of AsyncAPI, whose channels look like pages
	depth  int
}

// navWalk goes over the navigation once.
type navWalk struct {
	*navigation
	site   *site
	index  map[string]int // of pages, by name
	used   map[navSpec]bool
	warned map[access.Place]bool
}

// walk looks at a value under a key; the items of an array are under its own.
func (w *navWalk) walk(v *jsonValue, key string, sc navScope) {
	if w.fault != nil {
		return
	}
	if v, w.fault = w.site.whole(v); w.fault != nil {
		return
	}
	if w.fault = w.site.spend(1, v.at); w.fault != nil {
		return
	}
	if sc.depth++; sc.depth > maxNesting {
		w.fault = &access.Fault{At: v.at, Err: errNesting}
		return
	}
	switch v.kind {
	case jsonString:
		if key == "pages" || key == "root" {
			w.page(v, sc)
		}
	case jsonArray:
		for _, m := range v.members {
			w.walk(m.value, key, sc)
		}
	case jsonObject:
		sc = w.enter(v, sc)
		for _, m := range v.members {
			if m.key != "public" && !isSiteSpecKey(m.key) {
				w.walk(m.value, m.key, sc)
			}
		}
	}
}

// enter is what holds inside an object.
func (w *navWalk) enter(v *jsonValue, sc navScope) navScope {
	if v.repeated != nil && !sc.broken {
		sc.said = &access.Said{Fault: &access.Fault{At: *v.repeated, Err: errRepeated}}
		sc.broken = true
	}
	if m := v.member("public"); m != nil {
		if at := m.at(); w.marked == nil {
			w.marked = &at
		}
		if !sc.broken {
			sc.said = w.judge(v, m, sc.said)
		}
	}
	if at := almostPublic(v); at != nil {
		if w.marked == nil {
			w.marked = &at.At
		}
		if !sc.broken {
			sc.said = &access.Said{Fault: at}
		}
	}
	var names []string
	for _, key := range siteSpecKeys {
		m := v.member(key)
		if m == nil {
			continue
		}
		for _, name := range specNames(m.value) {
			names = append(names, name)
			w.spec(name, m.at(), sc)
		}
	}
	if names != nil {
		sc.specs, sc.async = names, v.member("asyncapi") != nil
	}
	return sc
}

// almostPublic is a fault if an object has a key that somebody may take for public.
func almostPublic(v *jsonValue) *access.Fault {
	for i := range v.members {
		if m := &v.members[i]; m.key != "public" && marker(m.key) == "public" {
			return &access.Fault{At: m.at(), Err: errSpelling(m.key)}
		}
	}
	return nil
}

// judge is what an object says by its key public, where outer is what holds around it. Only groups can open pages, and
// mend what is malformed around them.
func (w *navWalk) judge(v *jsonValue, public *jsonMember, outer *access.Said) *access.Said {
	at := public.at()
	isGroup := v.member("group") != nil
	switch {
	case public.value.kind != jsonBool:
		return &access.Said{Fault: &access.Fault{At: at, Err: errPublic}}
	case public.value.truth && !isGroup:
		w.warnOpensNothing(v, at)
		return outer
	case !isGroup && outer != nil && outer.Fault != nil:
		return outer
	}
	truth := public.value.truth
	return &access.Said{Public: &truth, PublicAt: at}
}

func (w *navWalk) warnOpensNothing(v *jsonValue, at access.Place) {
	if !w.warned[at] {
		w.warned[at] = true
		w.warn(at, fmt.Sprintf("public: true on %s opens nothing: put it on its groups", divisionName(v)))
	}
}

// divisionName is what Mintlify calls the object, by the key that gives its title.
func divisionName(v *jsonValue) string {
	for _, key := range [...]string{"tab", "anchor", "dropdown", "language", "version", "product", "item"} {
		switch {
		case v.member(key) == nil:
		case key == "anchor":
			return "an anchor"
		case key == "item":
			return "a menu item"
		default:
			return "a " + key
		}
	}
	return "what is no group"
}

// page takes an entry of the navigation: a page, or an operation of an API description.
func (w *navWalk) page(v *jsonValue, sc navScope) {
	if m := operation.FindStringSubmatch(v.text); m != nil {
		w.operation(clean(m[1]), v.at, sc)
		return
	}
	if sc.async {
		w.operation("", v.at, sc)
	}
	name := clean(v.text)
	if name == "" {
		return
	}
	i, seen := w.index[name]
	if !seen {
		w.index[name] = len(w.pages)
		w.pages = append(w.pages, navPage{name, sc.said, v.at})
		return
	}
	w.pages[i].said = saidFirst(w.pages[i].said, sc.said)
}

// saidFirst is what counts of two places that list one page: the first, but it can't leave a restriction unsaid.
func saidFirst(first, later *access.Said) *access.Said {
	if first == nil && later != nil && (later.Public == nil || !*later.Public) {
		return later
	}
	return first
}

// operation takes a use of the description that the entry names, else of those that hold here, else of any.
func (w *navWalk) operation(name string, at access.Place, sc navScope) {
	names := sc.specs
	if name != "" || len(names) == 0 {
		names = []string{name}
	}
	for _, name := range names {
		w.spec(name, at, sc)
	}
}

func (w *navWalk) spec(name string, at access.Place, sc navScope) {
	key := navSpec{name: name, said: sc.said}
	if !w.used[key] {
		w.used[key] = true
		w.specs = append(w.specs, navSpec{name, sc.said, at})
	}
}

// operation is an entry such as "GET /plants" or "openapi.json GET /plants"; the file is its first group.
var operation = regexp.MustCompile(`^\s*(?:(\S.*?)\s+)?(?:(?:[A-Z]+|(?i:get|post|put|patch|delete|head|options|trace))\s+/|WEBHOOK\s+\S)`)

// siteSpecKeys are the keys whose values name API descriptions.
var siteSpecKeys = [...]string{"openapi", "asyncapi"}

func isSiteSpecKey(key string) bool { return slices.Contains(siteSpecKeys[:], key) }

// specNames are the files that the value of such a key names: text, a list, or an object with a source. A URL is no
// file. What can't be told is an empty name, which stands for any.
func specNames(v *jsonValue) (names []string) {
	switch v.kind {
	case jsonString:
		if name := clean(v.text); name != "" && !strings.Contains(v.text, "://") {
			return []string{name}
		}
	case jsonArray:
		for _, m := range v.members {
			names = append(names, specNames(m.value)...)
		}
	case jsonObject:
		source := v.member("source")
		if source == nil || source.value.kind != jsonString {
			return []string{""}
		}
		return specNames(source.value)
	}
	return names
}
