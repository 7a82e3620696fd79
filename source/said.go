package source

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chromafs/chromafs/access"
)

// markerKeys are the words that say who may see a page.
var markerKeys = [...]string{"public", "groups"}

// marker is the word that a key is, or that it would be in lower case and without white space and invisible characters;
// empty for any other key.
func marker(key string) string {
	for _, word := range markerKeys {
		if len(key) >= len(word) && strings.EqualFold(visible(key), word) {
			return word
		}
	}
	return ""
}

func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, text)
}

// unseen reports whether a character is white space, or nothing to be seen.
func unseen(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Z, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// field is a key that was found, with its value as a decoder gives it, or why it can't be decoded.
type field struct {
	key   string
	line  int
	value any
	err   error
}

// say adds a field whose key is a marker to what is said in the file of that path. The first fault stays.
func say(s *access.Said, path string, f field) {
	at := access.Place{Path: path, Line: f.line}
	err := f.err
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", f.key, err)
	case f.key == "groups":
		var a access.Access
		if a, err = access.ParseGroups(f.value); err == nil {
			s.Groups, s.GroupsAt = &a, at
		}
	case f.key == "public":
		var public bool
		if public, err = access.ParsePublic(f.value); err == nil {
			s.Public, s.PublicAt = &public, at
		} else {
			err = fmt.Errorf("%w: write true or false", err)
		}
	default:
		err = errSpelling(f.key)
	}
	if err != nil && s.Fault == nil {
		s.Fault = &access.Fault{At: at, Err: err}
	}
}

// errSpelling: a key is almost a marker.
func errSpelling(key string) error {
	return fmt.Errorf("key %q: write %s", key, marker(key))
}

// mentions reports whether text is anywhere in a decoded value.
func mentions(value any, text string) bool {
	switch v := value.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		for _, item := range v {
			if mentions(item, text) {
				return true
			}
		}
	case map[string]any:
		for key, item := range v {
			if strings.Contains(key, text) || mentions(item, text) {
				return true
			}
		}
	}
	return false
}
