package access

import (
	"fmt"
	"slices"
	"testing"
)

// subsets of a list, each sorted as the list is; the empty one is nil.
func subsets(list []string) (all [][]string) {
	for bits := range 1 << len(list) {
		var s []string
		for i, x := range list {
			if bits>>i&1 == 1 {
				s = append(s, x)
			}
		}
		all = append(all, s)
	}
	return all
}

// everyAccess are all accesses with three groups, everyViewer all viewers with them and one group that no page names.
func everyAccess() []Access {
	all := []Access{Everyone()}
	for _, groups := range subsets([]string{"*", "a", "b", "c"}) {
		for _, excludes := range subsets([]string{"a", "b", "c"}) {
			if a := (Access{Groups: groups, Excludes: excludes}); a.Validate() == nil {
				all = append(all, a)
			}
		}
	}
	return all
}

func everyViewer() []Viewer {
	all := []Viewer{{}, {SignedIn: true}}
	for _, groups := range subsets([]string{"a", "b", "c", "z"}) {
		all = append(all, Viewer{Groups: groups})
	}
	return all
}

func within(a, b Access) bool {
	return !slices.ContainsFunc(everyViewer(), func(v Viewer) bool { return a.Allows(v) && !b.Allows(v) })
}

// TestWithin compares with every viewer there is in a world of three groups, both ways.
func TestWithin(t *testing.T) {
	all := everyAccess()
	if len(all) < 100 {
		t.Fatalf("only %d accesses", len(all))
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := a.Within(b), within(a, b); got != want {
				t.Errorf("%v within %v: %t, want %t", a, b, got, want)
			}
		}
	}
}

// TestNarrow: nobody gets in by both whom one of them keeps out, and where one is within the other it is that one.
func TestNarrow(t *testing.T) {
	all := everyAccess()
	for _, a := range all {
		for _, b := range all {
			n := a.Narrow(b)
			if err := n.Validate(); err != nil {
				t.Fatalf("%v and %v: %v", a, b, err)
			}
			if !within(n, a) || !within(n, b) {
				t.Errorf("%v and %v: %v lets in others", a, b, n)
			}
			if within(a, b) && !within(a, n) {
				t.Errorf("%v is within %v, but %v is not it", a, b, n)
			}
		}
	}
}

// A page with excludes is for nobody where only records are asked.
func TestCompactIsWithin(t *testing.T) {
	for _, a := range everyAccess() {
		record := Access{Public: a.Public}
		if v := a.Visibility(); v == "groups" || v == "authenticated" {
			record.Groups = a.RecordGroups()
		}
		if !within(a.Compact(), a) || !within(record, a) {
			t.Errorf("%v: compact %v, record %v", a, a.Compact(), record)
		}
	}
}

// However many pages show one, the names beside "*" do not add up.
func TestNarrowManyTimes(t *testing.T) {
	a := SignedIn()
	for i := range 3 * MaxGroups {
		a = a.Narrow(Access{Groups: []string{"*", fmt.Sprint("g", i)}})
	}
	if !a.Equal(SignedIn()) {
		t.Errorf("%v", a)
	}
}
