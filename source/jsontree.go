package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/chromafs/chromafs/access"
)

// maxNesting is how deep objects and arrays may lie in each other.
const maxNesting = 200

var (
	errEmptyJSON = errors.New("empty, not JSON")
	errMoreJSON  = errors.New("something follows the JSON text")
	errNesting   = fmt.Errorf("nested more than %d levels deep", maxNesting)
	errValues    = errors.New("too many values")
)

// jsonKind is what a value is, as far as it matters here.
type jsonKind byte

const (
	jsonOther jsonKind = iota // a number or null
	jsonBool
	jsonString
	jsonArray
	jsonObject
)

// jsonValue is a value in a JSON text. Unlike what encoding/json gives, it keeps its place, the order of keys, and the
// keys that are there twice.
type jsonValue struct {
	kind     jsonKind
	truth    bool
	text     string
	at       access.Place
	members  []jsonMember  // of an object; of an array, with empty keys
	repeated *access.Place // of the first key that the object has twice
}

// jsonMember is a key with its value. Both are in the same file.
type jsonMember struct {
	key   string
	line  int // of the key
	value *jsonValue
}

func (m *jsonMember) at() access.Place { return access.Place{Path: m.value.at.Path, Line: m.line} }

// member is the first one with the key, or nil, as it is for whatever has no keys.
func (v *jsonValue) member(key string) *jsonMember {
	if v.kind != jsonObject {
		return nil
	}
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i]
		}
	}
	return nil
}

// twice is the second member with any one of the keys, or nil.
func (v *jsonValue) twice(keys ...string) *jsonMember {
	for _, key := range keys {
		first := v.member(key)
		for i := range v.members {
			if m := &v.members[i]; m.key == key && m != first {
				return m
			}
		}
	}
	return nil
}

// parseJSON reads a text of one value, behind a byte order mark or not. It takes the number of values in it off left, and
// gives up at zero.
func parseJSON(path string, content []byte, left *int) (*jsonValue, *access.Fault) {
	content = bytes.TrimPrefix(content, bom)
	p := jsonParser{json.NewDecoder(bytes.NewReader(content)), lineCount{text: content, line: 1}, path, left}
	p.UseNumber()
	root, err := p.value(0)
	if err == nil {
		if _, end := p.Token(); end != io.EOF {
			err = errMoreJSON
		}
	}
	if err != nil {
		return nil, &access.Fault{At: p.place(), Err: err}
	}
	return root, nil
}

type jsonParser struct {
	*json.Decoder
	lines lineCount
	path  string
	left  *int
}

// place is that of the token just read, none of which goes over a line's end.
func (p *jsonParser) place() access.Place {
	return access.Place{Path: p.path, Line: p.lines.to(int(p.InputOffset()))}
}

func (p *jsonParser) value(depth int) (*jsonValue, error) {
	token, err := p.Token()
	if err == io.EOF {
		err = errEmptyJSON
		if depth > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil {
		return nil, err
	}
	if *p.left--; *p.left < 0 {
		return nil, errValues
	}
	v := &jsonValue{at: p.place()}
	switch token := token.(type) {
	case bool:
		v.kind, v.truth = jsonBool, token
	case string:
		v.kind, v.text = jsonString, token
	case json.Delim:
		if depth == maxNesting {
			return nil, errNesting
		}
		return v, p.fill(v, token, depth+1)
	}
	return v, nil
}

// fill reads the members of an array or object up to its end.
func (p *jsonParser) fill(v *jsonValue, open json.Delim, depth int) (err error) {
	v.kind = jsonArray
	var keys map[string]bool
	if open == '{' {
		v.kind, keys = jsonObject, map[string]bool{}
	}
	for p.More() {
		var m jsonMember
		if v.kind == jsonObject {
			if m.key, err = p.key(); err != nil {
				return err
			}
			place := p.place()
			m.line = place.Line
			if keys[m.key] && v.repeated == nil {
				v.repeated = &place
			}
			keys[m.key] = true
		}
		if m.value, err = p.value(depth); err != nil {
			return err
		}
		v.members = append(v.members, m)
	}
	if _, err = p.Token(); err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (p *jsonParser) key() (string, error) {
	token, err := p.Token()
	if err != nil {
		return "", err
	}
	return token.(string), nil // the decoder has no other token here
}
