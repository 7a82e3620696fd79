// Package access decides whether one viewer may see one page. It does no I/O and fails closed: what it does not
// understand, nobody sees.
package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// AnySignedIn among a page's groups opens it to every signed-in viewer.
const AnySignedIn = "*"

// ReservedPrefix begins names that only chromafs itself may write on records.
const ReservedPrefix = "chromafs:"

// noGroup is written on records that nobody may see, because an empty array would let Chroma show an older record's
// groups (chroma #7594).
const noGroup = ReservedPrefix + "none"

// Limits of a page's groups. More, or longer ones, are malformed.
const (
	MaxGroups     = 100
	MaxGroupBytes = 128
)

// ErrMalformed is wrapped by every error of Validate.
var ErrMalformed = errors.New("malformed access")

// Access says who may see one page. The zero value is nobody. It is treated as immutable; do not change Groups.
type Access struct {
	// Public is true for everyone. It is false whenever Groups is not empty.
	Public bool
	// Groups are sorted and distinct; a member of any of them may see the page.
	Groups []string
}

// Everyone, SignedIn and Nobody build the three accesses that name no group of their own.
func Everyone() Access { return Access{Public: true} }

// SignedIn is any signed-in viewer.
func SignedIn() Access { return Access{Groups: []string{AnySignedIn}} }

// Nobody is denied to all but the operator.
func Nobody() Access { return Access{} }

// Equal reports whether both let in the same viewers by the same words.
func (a Access) Equal(b Access) bool {
	return a.Public == b.Public && slices.Equal(a.Groups, b.Groups)
}

// Visibility is the state written on records: public, authenticated, groups or denied.
func (a Access) Visibility() string {
	switch {
	case a.Public:
		return "public"
	case slices.Contains(a.Groups, AnySignedIn):
		return "authenticated"
	case len(a.Groups) > 0:
		return "groups"
	}
	return "denied"
}

// RecordGroups is the group array written on records; it is never empty.
func (a Access) RecordGroups() []string {
	switch a.Visibility() {
	case "public", "authenticated":
		return []string{AnySignedIn}
	case "groups":
		return a.Groups
	}
	return []string{noGroup}
}

// Validate refuses what the contract calls malformed: public together with groups, unsorted or repeated groups, too many
// or too long ones, empty, reserved or non-UTF-8 names, NUL. Its errors wrap ErrMalformed.
func (a Access) Validate() error {
	if a.Public && len(a.Groups) > 0 {
		return fmt.Errorf("%w: public together with groups", ErrMalformed)
	}
	if len(a.Groups) > MaxGroups {
		return fmt.Errorf("%w: %d groups, at most %d", ErrMalformed, len(a.Groups), MaxGroups)
	}
	for i, g := range a.Groups {
		if err := validateGroup(g); err != nil {
			return err
		}
		if i > 0 && a.Groups[i-1] >= g {
			return fmt.Errorf("%w: groups not sorted and distinct at %q", ErrMalformed, g)
		}
	}
	return nil
}

func validateGroup(g string) error {
	switch {
	case g == "":
		return fmt.Errorf("%w: empty group name", ErrMalformed)
	case len(g) > MaxGroupBytes:
		return fmt.Errorf("%w: group name of %d bytes, at most %d", ErrMalformed, len(g), MaxGroupBytes)
	case !utf8.ValidString(g) || strings.Contains(g, "\x00"):
		return fmt.Errorf("%w: group name %q is not UTF-8, or holds NUL", ErrMalformed, g)
	case strings.HasPrefix(g, ReservedPrefix):
		return fmt.Errorf("%w: group name %q is reserved", ErrMalformed, g)
	}
	return nil
}

// Viewer is who asks. The zero value is anonymous.
type Viewer struct {
	// Operator sees every page, denied ones too.
	Operator bool
	// SignedIn is implied by any group.
	SignedIn bool
	Groups   []string
}

// Allows reports whether v may see a page with access a.
func (a Access) Allows(v Viewer) bool {
	if v.Operator || a.Public {
		return true
	}
	signedIn := v.SignedIn || len(v.Groups) > 0
	for _, g := range a.Groups {
		if (g == AnySignedIn && signedIn) || slices.Contains(v.Groups, g) {
			return true
		}
	}
	return false
}

// ParseDefault reads the value of access.default: "public" or "authenticated".
func ParseDefault(s string) (Access, error) {
	switch s {
	case "public":
		return Everyone(), nil
	case "authenticated":
		return SignedIn(), nil
	}
	return Nobody(), fmt.Errorf("%w: access default %q is neither public nor authenticated", ErrMalformed, s)
}
