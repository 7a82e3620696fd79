package source

import (
	"fmt"
	"strings"

	"github.com/chromafs/chromafs/access"
)

// markerKeys are the words that say who may see a page.
var markerKeys = [...]string{"public", "groups"}

// marker is the word that a key is, or that it would be in lower case and without white space around it; empty for any
// other key.
func marker(key string) string {
	for _, word := range markerKeys {
		if len(key) >= len(word) && strings.EqualFold(strings.TrimSpace(key), word) {
			return word
		}
	}
	return ""
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
		err = fmt.Errorf("key %q: write %s", f.key, marker(f.key))
	}
	if err != nil && s.Fault == nil {
		s.Fault = &access.Fault{At: at, Err: err}
	}
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
