package access

import "slices"

// Within reports whether every viewer whom a admits is admitted by b: whether replacing b by a opens the page to nobody
// new. The operator, who sees everything, does not count.
func (a Access) Within(b Access) bool {
	switch {
	case b.Public:
		return true
	case a.Public:
		return false
	case a.empty():
		return true
	}
	for _, g := range b.Excludes { // some viewer of a is a member of g too, unless a excludes it
		if !slices.Contains(a.Excludes, g) {
			return false
		}
	}
	if slices.Contains(b.Groups, AnySignedIn) {
		return true
	}
	for _, g := range a.Groups {
		if !slices.Contains(a.Excludes, g) && !slices.Contains(b.Groups, g) {
			return false
		}
	}
	return true
}

// empty reports whether a admits nobody.
func (a Access) empty() bool {
	return !a.Public && !slices.ContainsFunc(a.Groups, func(g string) bool { return !slices.Contains(a.Excludes, g) })
}

// Narrow is an access that admits only viewers whom both admit. Where the words for all of them are missing, such as for
// members of one group of a and one of b, it admits fewer, nobody at worst.
func (a Access) Narrow(b Access) Access {
	switch {
	case b.Public:
		return a
	case a.Public:
		return b
	}
	groups := union(common(a, b), common(b, a))
	excludes := union(a.Excludes, b.Excludes)
	if slices.Contains(groups, AnySignedIn) { // the others are among them
		groups = []string{AnySignedIn}
	}
	groups = slices.DeleteFunc(groups, func(g string) bool { return slices.Contains(excludes, g) })
	if len(groups) == 0 || max(len(groups), len(excludes)) > MaxGroups {
		return Nobody()
	}
	if len(excludes) == 0 {
		excludes = nil
	}
	return Access{Groups: groups, Excludes: excludes}
}

// common are the groups of a that b admits.
func common(a, b Access) []string {
	if slices.Contains(b.Groups, AnySignedIn) {
		return a.Groups
	}
	var list []string
	for _, g := range a.Groups {
		if slices.Contains(b.Groups, g) {
			list = append(list, g)
		}
	}
	return list
}

// union is sorted and distinct, and a copy.
func union(a, b []string) []string {
	list := append(append([]string(nil), a...), b...)
	slices.Sort(list)
	return slices.Compact(list)
}
