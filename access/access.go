// Package access decides whether one viewer may see one page. It does no I/O and fails closed: what it does not
// understand, nobody sees.
package access

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// Access says who may see one page. The zero value is nobody. It is treated as immutable; do not change its lists.
type Access struct {
	// Public is true for everyone. It is false whenever Groups is not empty.
	Public bool
	// Groups are sorted and distinct; a member of any of them may see the page, unless Excludes forbids it.
	Groups []string
	// Excludes are sorted and distinct; no member of any of them may see the page. There are none without Groups.
	Excludes []string
}

// Everyone, SignedIn and Nobody build the three accesses that name no group of their own.
func Everyone() Access { return Access{Public: true} }

// SignedIn is any signed-in viewer.
func SignedIn() Access { return Access{Groups: []string{AnySignedIn}} }

// Nobody is denied to all but the operator.
func Nobody() Access { return Access{} }

// Equal reports whether both let in the same viewers by the same words.
func (a Access) Equal(b Access) bool {
	return a.Public == b.Public && slices.Equal(a.Groups, b.Groups) && slices.Equal(a.Excludes, b.Excludes)
}

// String is the access in words, as people read it.
func (a Access) String() string {
	switch {
	case a.Public:
		return "everyone"
	case len(a.Groups) == 0:
		return "nobody"
	}
	who := "groups " + quoted(a.Groups)
	if slices.Contains(a.Groups, AnySignedIn) {
		who = "any signed-in viewer"
	}
	if len(a.Excludes) > 0 {
		who += " but groups " + quoted(a.Excludes)
	}
	return who
}

func quoted(names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strconv.Quote(n)
	}
	return strings.Join(list, ", ")
}

// Compact is the access as records and other readers know it, who know no excludes: nobody, where there are any.
func (a Access) Compact() Access {
	if len(a.Excludes) > 0 {
		return Nobody()
	}
	return a
}

// Visibility is the state written on records: public, authenticated, groups, excludes or denied. Excludes depend on all
// groups of a viewer, which no filter over records can ask for, so such a record is open to nobody.
func (a Access) Visibility() string {
	switch {
	case a.Public:
		return "public"
	case len(a.Excludes) > 0:
		return "excludes"
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

// Validate refuses what the contract calls malformed: public together with groups, excludes without groups or of "*",
// unsorted or repeated names, too many or too long ones, empty, reserved or non-UTF-8 names, NUL. Its errors wrap
// ErrMalformed.
func (a Access) Validate() error {
	switch {
	case a.Public && len(a.Groups) > 0:
		return fmt.Errorf("%w: public together with groups", ErrMalformed)
	case len(a.Excludes) > 0 && len(a.Groups) == 0:
		return fmt.Errorf("%w: excludes without groups", ErrMalformed)
	case slices.Contains(a.Excludes, AnySignedIn):
		return fmt.Errorf("%w: %q can't be excluded", ErrMalformed, AnySignedIn)
	}
	if err := validateNames(a.Groups); err != nil {
		return err
	}
	return validateNames(a.Excludes)
}

func validateNames(names []string) error {
	if len(names) > MaxGroups {
		return fmt.Errorf("%w: %d groups, at most %d", ErrMalformed, len(names), MaxGroups)
	}
	for i, g := range names {
		if err := validateGroup(g); err != nil {
			return err
		}
		if i > 0 && names[i-1] >= g {
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
