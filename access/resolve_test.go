package access

import (
	"errors"
	"testing"
)

var (
	staff    = Access{Groups: []string{"staff"}}
	partners = Access{Groups: []string{"partners"}}
	errBad   = errors.New("bad")
)

func groups(a Access) *Said { return &Said{Groups: &a, GroupsAt: Place{"own", 2}} }

func public(b bool) *Said { return &Said{Public: &b, PublicAt: Place{"own", 3}} }

func both(a Access, b bool) *Said {
	s := groups(a)
	s.Public, s.PublicAt = &b, Place{"own", 3}
	return s
}

func fault(path string) *Said { return &Said{Fault: &Fault{Place{path, 1}, errBad}} }

func rule(a Access) *Rule { return &Rule{Glob: "**", Access: a, At: Place{"rules", 7}} }

func condition() *Said { return &Said{Condition: &Place{"own", 4}} }

// TestOneDecision has a row for each source, alone and against those below it.
func TestOneDecision(t *testing.T) {
	def := ChooseDefault(new(SignedIn()), Place{}, nil, nil)
	cases := []struct {
		name string
		page Page
		want Access
		from Source
		at   Place
	}{
		{"nothing", Page{}, SignedIn(), FromDefault, Place{}},
		{"groups", Page{Own: groups(staff)}, staff, FromGroups, Place{"own", 2}},
		{"groups of nobody", Page{Own: groups(Nobody())}, Nobody(), FromGroups, Place{"own", 2}},
		{"public", Page{Own: public(true)}, Everyone(), FromPublic, Place{"own", 3}},
		{"not public", Page{Own: public(false)}, SignedIn(), FromPublic, Place{"own", 3}},
		{"groups win over public", Page{Own: both(staff, true)}, staff, FromGroups, Place{"own", 2}},
		{"groups win over the navigation", Page{Own: groups(staff), Site: public(true)}, staff, FromGroups, Place{"own", 2}},
		{"groups win over a rule", Page{Own: groups(staff), Rule: rule(partners)}, staff, FromGroups, Place{"own", 2}},
		{"navigation", Page{Site: public(true)}, Everyone(), FromNavigation, Place{"own", 3}},
		{"navigation closes", Page{Site: public(false), Rule: rule(Everyone())}, SignedIn(), FromNavigation, Place{"own", 3}},
		{"public wins over the navigation", Page{Own: public(false), Site: public(true)}, SignedIn(), FromPublic, Place{"own", 3}},
		{"public wins over a rule for any viewer", Page{Own: public(true), Rule: rule(SignedIn())}, Everyone(), FromPublic, Place{"own", 3}},
		{"rule", Page{Rule: rule(Everyone())}, Everyone(), FromRule, Place{"rules", 7}},
		{"rule for signed-in viewers", Page{Rule: rule(SignedIn())}, SignedIn(), FromRule, Place{"rules", 7}},
		{"rule for groups", Page{Rule: rule(staff)}, staff, FromRestriction, Place{"rules", 7}},
		{"rule for groups wins over public", Page{Own: public(true), Rule: rule(staff)}, staff, FromRestriction, Place{"rules", 7}},
		{"rule for groups wins over not public", Page{Own: public(false), Rule: rule(staff)}, staff, FromRestriction, Place{"rules", 7}},
		{"rule for groups wins over the navigation", Page{Site: public(true), Rule: rule(staff)}, staff, FromRestriction, Place{"rules", 7}},
		{"rule for nobody", Page{Own: public(true), Rule: rule(Nobody())}, Nobody(), FromRestriction, Place{"rules", 7}},
		{"malformed page", Page{Own: fault("own"), Rule: rule(Everyone())}, Nobody(), FromFault, Place{"own", 1}},
		{"malformed site", Page{Site: fault("site"), Rule: rule(Everyone())}, Nobody(), FromFault, Place{"site", 1}},
		{"malformed site, page decided", Page{Own: groups(staff), Site: fault("site")}, staff, FromGroups, Place{"own", 2}},
		{"malformed site, page opened", Page{Own: public(true), Site: fault("site")}, Everyone(), FromPublic, Place{"own", 3}},
		{"condition", Page{Own: condition()}, Nobody(), FromCondition, Place{"own", 4}},
		{"condition, opened by a rule", Page{Own: condition(), Rule: rule(Everyone())}, Nobody(), FromCondition, Place{"own", 4}},
		{"condition, with a rule for any viewer", Page{Own: condition(), Rule: rule(SignedIn())}, SignedIn(), FromCondition, Place{"own", 4}},
		{"condition, with a rule for groups", Page{Own: condition(), Rule: rule(staff)}, staff, FromRestriction, Place{"rules", 7}},
	}
	for _, c := range cases {
		d := Resolve([]Page{c.page}, def)[0]
		if !d.Access.Equal(c.want) || d.Reason.Source != c.from || d.Reason.At != c.at || (d.Fault != nil) != (c.from == FromFault) {
			t.Errorf("%s: %v by %q at %v, want %v by %q at %v", c.name, d.Access, d.Reason.Source, d.Reason.At, c.want, c.from, c.at)
		}
	}
}

func TestOthersAreKept(t *testing.T) {
	d := Resolve([]Page{{Own: both(staff, true), Site: public(true), Rule: rule(SignedIn())}}, UnmarkedDefault())[0]
	var from []Source
	for _, o := range d.Others {
		from = append(from, o.Source)
	}
	if len(from) != 3 || from[0] != FromPublic || from[1] != FromNavigation || from[2] != FromRule {
		t.Errorf("%q", from)
	}
}

func shows(pages ...int) *Contents {
	c := &Contents{}
	for _, p := range pages {
		c.Shows = append(c.Shows, Show{p, Place{"user", 5}})
	}
	return c
}

// TestNarrowed has a row for each way in which a page is narrowed by others. Page 0 is the one looked at.
func TestNarrowed(t *testing.T) {
	open := Page{Own: public(true)}
	cases := []struct {
		name  string
		pages []Page
		want  Access
		from  Source
	}{
		{"shown by an open page", []Page{open, {Own: public(true), Contents: shows(0)}}, Everyone(), FromPublic},
		{"shown by a restricted page", []Page{open, {Own: groups(staff), Contents: shows(0)}}, staff, FromUse},
		{"shown by both", []Page{open, {Own: public(true), Contents: shows(0)}, {Own: groups(staff), Contents: shows(0)}}, staff, FromUse},
		{"shown by two groups", []Page{open, {Own: groups(partners), Contents: shows(0)}, {Own: groups(staff), Contents: shows(0)}}, Nobody(), FromUse},
		{"narrower than its user", []Page{{Own: groups(staff)}, {Own: public(false), Contents: shows(0)}}, staff, FromGroups},
		{"by way of another", []Page{open, {Own: public(true), Contents: shows(0)}, {Own: groups(staff), Contents: shows(1)}}, staff, FromUse},
		{"in a circle", []Page{{Own: public(true), Contents: shows(1)}, {Own: public(true), Contents: shows(0)}, {Own: groups(staff), Contents: shows(1)}}, staff, FromUse},
		{"shown by a denied page", []Page{open, {Own: fault("own"), Contents: shows(0)}}, Nobody(), FromUse},
		{"a rule names it", []Page{{Rule: rule(Everyone()), Named: true}, {Own: groups(staff), Contents: shows(0)}}, Everyone(), FromRule},
		{"a rule for a group names it", []Page{{Rule: rule(partners), Named: true}, {Own: groups(staff), Contents: shows(0)}}, partners, FromRestriction},
		{"by way of what has no place", []Page{open, {Own: public(true), Lists: true, Contents: &Contents{Shows: []Show{{Page: 0}}}}, {Own: groups(staff), Contents: shows(1)}}, staff, FromUse},
		{"a rule matches it with others", []Page{{Rule: rule(Everyone())}, {Own: groups(staff), Contents: shows(0)}}, staff, FromUse},
		{"a rule names it but frontmatter decides", []Page{{Own: public(true), Rule: rule(Everyone()), Named: true}, {Own: groups(staff), Contents: shows(0)}}, staff, FromUse},
		{"part for a group", []Page{{Own: public(true), Contents: &Contents{Parts: []Said{*groups(staff)}}}}, staff, FromParts},
		{"parts, open and not", []Page{{Own: public(true), Contents: &Contents{Parts: []Said{*public(true), *public(false)}}}}, SignedIn(), FromParts},
		{"part opens nothing", []Page{{Own: groups(staff), Contents: &Contents{Parts: []Said{*public(true)}}}}, staff, FromGroups},
		{"part, but a rule names it", []Page{{Rule: rule(Everyone()), Named: true, Contents: &Contents{Parts: []Said{*groups(staff)}}}}, Everyone(), FromRule},
		{"malformed part of one that a rule names", []Page{{Rule: rule(Everyone()), Named: true, Contents: &Contents{Parts: []Said{*fault("own")}}}}, Nobody(), FromParts},
		{"list of open pages", []Page{{Own: public(true), Lists: true}, open}, Everyone(), FromPublic},
		{"list with a hidden page", []Page{{Own: public(true), Lists: true}, open, {Own: groups(staff)}}, Nobody(), FromList},
		{"list of what its readers see", []Page{{Own: groups(staff), Lists: true}, open, {Own: public(false)}}, staff, FromGroups},
		{"list with a page for others", []Page{{Own: groups(staff), Lists: true}, {Own: groups(partners)}}, Nobody(), FromList},
		{"list that a rule names", []Page{{Rule: rule(Everyone()), Named: true, Lists: true}, {Own: groups(staff)}}, Everyone(), FromRule},
		{"list that a rule matches with others", []Page{{Rule: rule(Everyone()), Lists: true}, {Own: groups(staff)}}, Nobody(), FromList},
		{"lists alone", []Page{{Own: public(true), Lists: true}, {Own: groups(staff), Lists: true}}, Everyone(), FromPublic},
	}
	for _, c := range cases {
		d := Resolve(c.pages, ChooseDefault(new(Everyone()), Place{}, nil, nil))[0]
		if !d.Access.Equal(c.want) || d.Reason.Source != c.from || c.from == FromUse && d.Reason.At != (Place{"user", 5}) {
			t.Errorf("%s: %v by %q at %v, want %v by %q", c.name, d.Access, d.Reason.Source, d.Reason.At, c.want, c.from)
		}
	}
}

// What narrows keeps what it narrowed among the others, and decisions that are shared stay as they were.
func TestNarrowKeepsReasons(t *testing.T) {
	def := ChooseDefault(new(Everyone()), Place{}, nil, nil)
	d := Resolve([]Page{{}, {Own: groups(staff), Contents: shows(0)}, {}}, def)
	if len(d[0].Others) != 1 || d[0].Others[0].Source != FromDefault || d[2] != def || !def.Access.Equal(Everyone()) {
		t.Errorf("%+v, %+v", d[0], def)
	}
}

func TestChooseDefault(t *testing.T) {
	everyone, signedIn := Everyone(), SignedIn()
	marked := &Place{"a.md", 3}
	cases := []struct {
		name               string
		configured, pinned *Access
		marked             *Place
		want               *Access
	}{
		{"nothing", nil, nil, nil, nil},
		{"configured", &everyone, &signedIn, marked, &everyone},
		{"a marker", nil, nil, marked, &signedIn},
		{"a marker, pinned open", nil, &everyone, marked, &signedIn},
		{"pinned", nil, &signedIn, nil, &signedIn},
		{"pinned open", nil, &everyone, nil, nil},
	}
	for _, c := range cases {
		d := ChooseDefault(c.configured, Place{"config", 1}, c.marked, c.pinned)
		if (d == nil) != (c.want == nil) || d != nil && (!d.Access.Equal(*c.want) || d.Reason.Source != FromDefault) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
