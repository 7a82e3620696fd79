package access

import (
	"fmt"
	"slices"
	"strings"
)

// Place is where something is said: a file, and a line from 1, or 0 where no line is to blame.
type Place struct {
	Path string
	Line int
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.Path
	}
	return fmt.Sprintf("%s:%d", p.Path, p.Line)
}

// Fault is a place that can't be understood, so that nobody may see the pages that depend on it.
type Fault struct {
	At  Place
	Err error
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: %v", f.At, f.Err) }

func (f *Fault) Unwrap() error { return f.Err }

// Said is what one place says about who may see a page. What is nil was not said.
type Said struct {
	Groups   *Access
	GroupsAt Place
	Public   *bool
	PublicAt Place
	// Condition is where a page is restricted in words that have no counterpart here, as GitBook's if does.
	Condition *Place
	// Fault is set where something was said that can't be understood.
	Fault *Fault
}

// Rule is one of access.rules.
type Rule struct {
	Glob   string
	Access Access
	At     Place
}

// restricts reports whether the rule is for fewer than any signed-in viewer.
func (r *Rule) restricts() bool { return !r.Access.Public && !r.Access.Equal(SignedIn()) }

// Page is one file or link, and what is known of it before anything is decided.
type Page struct {
	Path string
	// Own is what its frontmatter says, Site what the site's navigation does.
	Own, Site *Said
	// Rule is the last one that matches, and Named whether it names the file itself and not just many files.
	Rule  *Rule
	Named bool
	// Lists is set for files that name other pages, such as the site's configuration.
	Lists bool
	// Shows are files whose content is shown with this one's. Parts are pages that a platform makes of the file, as of an
	// API description, as far as something is said of each. Both are mostly empty.
	*Contents
}

// Contents is what a page has to do with others.
type Contents struct {
	Shows []Show
	Parts []Said
}

// Show is one use of another page, by its position among the pages. Without a place, what decides on the page that shows
// it tells where.
type Show struct {
	Page int
	At   Place
}

// Source is what kind of place decides.
type Source string

// The sources, in the order in which they decide, but for the last three, which only ever narrow.
const (
	FromFault       Source = "malformed"
	FromGroups      Source = "groups in its frontmatter"
	FromRestriction Source = "a restricting rule"
	FromCondition   Source = "a condition that can't be mapped"
	FromPublic      Source = "public in its frontmatter"
	FromNavigation  Source = "public in the navigation"
	FromRule        Source = "a rule"
	FromDefault     Source = "the default"

	FromParts Source = "a page made of it"
	FromUse   Source = "a page that uses it"
	FromList  Source = "a page that it may name"
)

// Reason is one thing that was said.
type Reason struct {
	Source Source
	At     Place
	// Text is what was said there, in words.
	Text string
}

// Decision says who may see one page, and why. Decisions are shared; do not change them.
type Decision struct {
	Access Access
	Reason Reason
	// Others were said too: what was overruled, or what the reason narrowed.
	Others []Reason
	// Fault is set where the page is denied for something malformed.
	Fault *Fault
}

// Resolve decides for every page. The decisions are in the order of pages.
//
// The most specific source decides: frontmatter, the navigation, the rules, the default. But what restricts to groups,
// in the frontmatter or else in the rules, wins over public; what can't be understood is for nobody; and a page is never
// wider than one that shows it, nor than a part that is made of it, unless a rule names it. A page that lists others is
// denied while any of them is hidden from somebody who might read it, unless a rule names it.
func Resolve(pages []Page, def *Decision) []*Decision {
	r := resolver{pages: pages, decisions: make([]*Decision, len(pages))}
	for i := range pages {
		r.decisions[i] = decide(&pages[i], def)
	}
	r.narrowParts()
	r.narrowShown()
	r.denyLists()
	return r.decisions
}

type resolver struct {
	pages     []Page
	decisions []*Decision
}

// saying is one reason with the access that it stands for.
type saying struct {
	Reason
	access Access
	fault  *Fault
}

// decide takes the first of what is said, in the order of the sources. The others are kept for people to read.
func decide(p *Page, def *Decision) *Decision {
	said := sayings(p)
	if len(said) == 0 {
		return def
	}
	d := &Decision{Access: said[0].access, Reason: said[0].Reason, Fault: said[0].fault}
	for _, s := range said[1:] {
		d.Others = append(d.Others, s.Reason)
	}
	return d
}

// sayings are all that is said of a page, what decides first.
func sayings(p *Page) (list []saying) {
	add := func(from Source, at Place, a Access, fault *Fault, text string) {
		list = append(list, saying{Reason{from, at, text}, a, fault})
	}
	own, site := p.Own, p.Site
	if own == nil {
		own = &Said{}
	}
	if site == nil {
		site = &Said{}
	}
	if own.Fault != nil {
		add(FromFault, own.Fault.At, Nobody(), own.Fault, own.Fault.Err.Error())
	}
	if own.Groups != nil {
		add(FromGroups, own.GroupsAt, *own.Groups, nil, own.Groups.String())
	}
	if p.Rule != nil && p.Rule.restricts() {
		add(FromRestriction, p.Rule.At, p.Rule.Access, nil, p.Rule.text())
	}
	if own.Condition != nil {
		a := Nobody()
		if p.Rule != nil && !p.Rule.Access.Public {
			a = p.Rule.Access
		}
		add(FromCondition, *own.Condition, a, nil, a.String())
	}
	if own.Public != nil {
		add(FromPublic, own.PublicAt, publicly(*own.Public), nil, publicText(*own.Public))
	}
	if site.Fault != nil {
		add(FromFault, site.Fault.At, Nobody(), site.Fault, site.Fault.Err.Error())
	}
	if site.Public != nil {
		add(FromNavigation, site.PublicAt, publicly(*site.Public), nil, publicText(*site.Public))
	}
	if p.Rule != nil && !p.Rule.restricts() {
		add(FromRule, p.Rule.At, p.Rule.Access, nil, p.Rule.text())
	}
	return list
}

func (r *Rule) text() string { return fmt.Sprintf("%q: %s", r.Glob, r.Access) }

// publicly is what public says: true opens, false leaves any signed-in viewer.
func publicly(public bool) Access {
	if public {
		return Everyone()
	}
	return SignedIn()
}

func publicText(public bool) string { return fmt.Sprintf("public: %t", public) }

// exempt reports whether a rule that names the page itself has decided, which no use of it narrows.
func (r *resolver) exempt(i int) bool {
	from := r.decisions[i].Reason.Source
	return r.pages[i].Named && (from == FromRule || from == FromRestriction)
}

// narrow replaces the decision on page i if its access becomes another. It reports whether it did.
func (r *resolver) narrow(i int, by Access, why Reason, fault *Fault) bool {
	d := r.decisions[i]
	a := d.Access.Narrow(by)
	if a.Equal(d.Access) && (fault == nil || d.Fault != nil) {
		return false
	}
	others := append([]Reason{d.Reason}, d.Others...)
	r.decisions[i] = &Decision{Access: a, Reason: why, Others: others, Fault: d.Fault}
	if d.Fault == nil {
		r.decisions[i].Fault = fault
	}
	return true
}

// narrowParts narrows files by the pages that a platform makes of them. A malformed part denies even what a rule opens.
func (r *resolver) narrowParts() {
	for i := range r.pages {
		if r.pages[i].Contents == nil {
			continue
		}
		for _, said := range r.pages[i].Parts {
			for _, s := range sayings(&Page{Own: &said}) {
				if s.fault != nil || !r.exempt(i) {
					s.Source, s.Text = FromParts, string(s.Source)+": "+s.Text
					r.narrow(i, s.access, s.Reason, s.fault)
				}
				break // the first decides on the part
			}
		}
	}
}

// narrowShown narrows what pages show, and what that shows in turn, until nothing changes.
func (r *resolver) narrowShown() {
	var todo []int
	for i := range r.pages {
		if r.pages[i].Contents != nil && len(r.pages[i].Shows) > 0 {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		if r.pages[i].Contents == nil {
			continue
		}
		for _, s := range r.pages[i].Shows {
			if r.exempt(s.Page) {
				continue
			}
			a, at := r.decisions[i].Access, s.At
			if at == (Place{}) {
				at = r.decisions[i].Reason.At
			}
			if r.narrow(s.Page, a, Reason{FromUse, at, "shown there to " + a.String()}, nil) {
				todo = append(todo, s.Page)
			}
		}
	}
}

// denyLists denies the pages that would name a hidden one.
func (r *resolver) denyLists() {
	lists := []int{}
	for i := range r.pages {
		if r.pages[i].Lists && !r.exempt(i) {
			lists = append(lists, i)
		}
	}
	if len(lists) == 0 {
		return
	}
	others := r.distinct()
	for _, i := range lists {
		a := r.decisions[i].Access
		k := slices.IndexFunc(others, func(q int) bool { return !a.Within(r.decisions[q].Access) })
		if k >= 0 {
			hidden := r.decisions[others[k]].Access
			r.narrow(i, Nobody(), Reason{FromList, Place{Path: r.pages[others[k]].Path}, "the page is for " + hidden.String()}, nil)
		}
	}
}

// distinct is one page of each access, without those that list others.
func (r *resolver) distinct() (list []int) {
	seen := map[string]bool{}
	var last *Decision
	for i, d := range r.decisions {
		if r.pages[i].Lists || d == last {
			continue
		}
		last = d
		key := fmt.Sprint(d.Access.Public, "\x00", strings.Join(d.Access.Groups, "\x00"), "\x00\x00", strings.Join(d.Access.Excludes, "\x00"))
		if !seen[key] {
			seen[key] = true
			list = append(list, i)
		}
	}
	return list
}

// ChooseDefault decides on the pages of which nothing is said, by the first of these: what is configured, at the given
// place; any signed-in viewer, as soon as anything at all is said about access, of which marked is one place; what the
// published snapshot pinned, unless that is everyone, so that taking away the last marker opens nothing. It is nil where
// none applies.
func ChooseDefault(configured *Access, at Place, marked *Place, pinned *Access) *Decision {
	switch {
	case configured != nil:
		return defaultDecision(*configured, "access.default", at)
	case marked != nil:
		return defaultDecision(SignedIn(), "some pages are marked, this one is not", *marked)
	case pinned != nil && !pinned.Public:
		return defaultDecision(*pinned, "the default of the published snapshot", Place{})
	}
	return nil
}

// UnmarkedDefault is for a folder that says nothing at all about access, in a place of its owner's own.
func UnmarkedDefault() *Decision {
	return defaultDecision(Everyone(), "nothing says who may see the pages", Place{})
}

func defaultDecision(a Access, text string, at Place) *Decision {
	return &Decision{Access: a, Reason: Reason{FromDefault, at, text}}
}
