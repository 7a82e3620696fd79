package access

import (
	"fmt"
	"slices"
)

// Viewer is who asks. The zero value is anonymous.
type Viewer struct {
	// Operator sees every page, denied ones too.
	Operator bool
	// SignedIn is implied by any group.
	SignedIn bool
	Groups   []string
}

// Member is a signed-in viewer who belongs to groups. The error, which wraps ErrMalformed, is for names that no group may
// have, "*" among them: whoever asks for those is not to be taken for somebody else.
func Member(groups []string) (Viewer, error) {
	for _, g := range groups {
		if g == AnySignedIn {
			return Viewer{}, fmt.Errorf("%w: nobody is a member of %q", ErrMalformed, g)
		}
		if err := validateGroup(g); err != nil {
			return Viewer{}, err
		}
	}
	return Viewer{SignedIn: true, Groups: groups}, nil
}

// Allows reports whether v may see a page with access a.
func (a Access) Allows(v Viewer) bool {
	if v.Operator || a.Public {
		return true
	}
	for _, g := range a.Excludes {
		if slices.Contains(v.Groups, g) {
			return false
		}
	}
	signedIn := v.SignedIn || len(v.Groups) > 0
	for _, g := range a.Groups {
		if (g == AnySignedIn && signedIn) || slices.Contains(v.Groups, g) {
			return true
		}
	}
	return false
}
