package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/chromafs/chromafs/access"
)

// mintKey is the key of an API description below which Mintlify looks for the frontmatter of the pages that it makes.
const mintKey = "x-mint"

// maxYAML is the size above which an API description in YAML is searched but not parsed, which takes many times its size.
const maxYAML = 4 << 20

// mintParts is what an API description, or a part of one that is split, says of the pages that are made of it: one of each object with a marker, at any
// depth below an x-mint, which itself may stand at any depth. Where the text can't be parsed, but has such a key behind
// the first x-mint, it is one fault.
func mintParts(path string, content []byte) []access.Said {
	content = bytes.TrimPrefix(content, bom)
	if findMint(content) < 0 {
		return nil
	}
	j := mintJSON{path: path, lines: lineCount{text: content, line: 1}, d: json.NewDecoder(bytes.NewReader(content))}
	err := j.read()
	if err == nil {
		return j.parts
	}
	if len(content) > maxYAML {
		return guessParts(path, content, errors.New("too large to be read for x-mint: convert it to JSON"))
	}
	var doc yaml.Node
	if yamlErr := yaml.Unmarshal(content, &doc); yamlErr != nil {
		if !bytes.HasPrefix(bytes.TrimLeft(content, " \t\r\n"), []byte("{")) {
			err = yamlErr
		}
		return guessParts(path, content, fmt.Errorf("broken, so that x-mint can't be read: %w", err))
	}
	y := mintYAML{path: path, seen: map[*yaml.Node]bool{}, last: 1 + bytes.Count(content, []byte("\n"))}
	y.walk(&doc, false)
	return y.parts
}

// object is one that may turn out to say something.
type object struct {
	part int // its place among the parts, from 1
	seen []string
}

// say adds a field to the part of an object, which is the next one if it is new.
func (o *object) say(parts []access.Said, path string, f field) []access.Said {
	if o.part == 0 {
		parts = append(parts, access.Said{})
		o.part = len(parts)
	}
	if slices.Contains(o.seen, f.key) {
		f.err = errTwice(f.key)
	}
	o.seen = append(o.seen, f.key)
	say(&parts[o.part-1], path, f)
	return parts
}

// mintJSON is one pass over the tokens.
type mintJSON struct {
	path  string
	lines lineCount
	d     *json.Decoder
	stack []mintLevel
	parts []access.Said
}

// mintLevel is an open object or array.
type mintLevel struct {
	object
	isObject bool
	isKey    bool // an object's key is next, not its value
	below    bool // below x-mint
}

func (j *mintJSON) read() error {
	j.stack = []mintLevel{{}}
	below := false // of the next value
	for {
		token, err := j.d.Token()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		top := &j.stack[len(j.stack)-1]
		delim, isDelim := token.(json.Delim)
		switch {
		case delim == '}' || delim == ']':
			j.stack = j.stack[:len(j.stack)-1]
			below = j.stack[len(j.stack)-1].below
			continue
		case top.isKey:
			key, _ := token.(string)
			if top.below && marker(key) != "" {
				if err := j.say(top, key); err != nil {
					return err
				}
				continue
			}
			below = top.below || key == mintKey
			top.isKey = false
			continue
		}
		top.isKey = top.isObject
		if isDelim {
			j.stack = append(j.stack, mintLevel{isObject: delim == '{', isKey: delim == '{', below: below})
		}
	}
}

// say reads a marker's value. Nothing in it is looked at as an object of its own.
func (j *mintJSON) say(top *mintLevel, key string) error {
	f := field{key: key, line: j.lines.to(int(j.d.InputOffset()))}
	var raw json.RawMessage
	if err := j.d.Decode(&raw); err != nil {
		return err
	}
	d := jsonDecoder{json.NewDecoder(bytes.NewReader(raw)), maxNodes}
	f.value, f.err = d.value()
	j.parts = top.say(j.parts, j.path, f)
	return nil
}

// jsonDecoder decodes valid JSON, but refuses a key that is there twice, and more than so many values.
type jsonDecoder struct {
	*json.Decoder
	left int
}

func (d *jsonDecoder) value() (any, error) {
	if d.left--; d.left < 0 {
		return nil, errNodes
	}
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			item, err := d.value()
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		return d.object()
	}
	return token, nil
}

func (d *jsonDecoder) object() (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if _, twice := object[key]; twice {
			return nil, errTwice(key)
		}
		if object[key], err = d.value(); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return object, err
}

// mintYAML looks at each node once, and once more if it is also found below x-mint. So a mapping that others merge stands
// for itself, whatever they override.
type mintYAML struct {
	path  string
	seen  map[*yaml.Node]bool // to whether it was below
	last  int                 // line; the parser ends lines at more characters than we do
	parts []access.Said
}

func (y *mintYAML) walk(n *yaml.Node, below bool) {
	n = target(n)
	if was, ok := y.seen[n]; ok && (was || !below) {
		return
	}
	y.seen[n] = below
	if n.Kind != yaml.MappingNode {
		for _, item := range n.Content {
			y.walk(item, below)
		}
		return
	}
	var o object
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]).Value, n.Content[i+1]
		if below && marker(key) != "" {
			v, err := yamlValue(value)
			y.parts = o.say(y.parts, y.path, field{key, min(n.Content[i].Line, y.last), v, err})
			continue
		}
		y.walk(value, below || key == mintKey)
	}
}

// mintText is a marker key in a text that may be indented, in a list, or in braces.
var mintText = regexp.MustCompile(`(?i)(?:^|[\s\p{Z}\p{Cf}{,])["']?(?:public|groups)[\s\p{Z}\p{Cf}]*["']?\s*:`)

// mintEscaped is the key with some of its characters escaped, as JSON and YAML allow between quotes.
var mintEscaped = regexp.MustCompile(`(?:x|\\(?:u00|x|U000000)78)(?:-|\\(?:u00|x|U000000)2[dD])(?:m|\\(?:u00|x|U000000)6[dD])(?:i|\\(?:u00|x|U000000)69)(?:n|\\(?:u00|x|U000000)6[eE])(?:t|\\(?:u00|x|U000000)74)`)

// findMint is the offset of the first x-mint, however it is written, or -1.
func findMint(text []byte) int {
	plain := bytes.Index(text, []byte(mintKey))
	if !bytes.Contains(text, []byte(`\u00`)) && !bytes.Contains(text, []byte(`\x`)) && !bytes.Contains(text, []byte(`\U0`)) {
		return plain
	}
	if at := mintEscaped.FindIndex(text); at != nil {
		return at[0] // what is escaped nowhere matches too
	}
	return plain
}

// guessParts is a fault, if anything behind the first x-mint looks like a marker.
func guessParts(path string, content []byte, err error) []access.Said {
	start := max(0, findMint(content))
	at := mintText.FindIndex(content[start:])
	if at == nil {
		return nil
	}
	lines := lineCount{text: content, line: 1}
	place := access.Place{Path: path, Line: lines.to(start + at[0])}
	return []access.Said{{Fault: &access.Fault{At: place, Err: err}}}
}
