package source

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// mintKey is the key of an API description below which Mintlify looks for the frontmatter of the pages that it makes.
const mintKey = "x-mint"

// maxYAML is the size above which an API description in YAML is searched but not parsed, which takes many times its size.
const maxYAML = 4 << 20

// specMarkers finds the marker keys at any depth below an x-mint, which itself may stand at any depth, in an API
// description. Where the text can't be parsed, each such key behind the first x-mint counts.
func specMarkers(content []byte) []note {
	content = bytes.TrimPrefix(content, bom)
	if !bytes.Contains(content, []byte(mintKey)) {
		return nil
	}
	if found, err := jsonMarkers(content); err == nil {
		return found
	}
	var doc yaml.Node
	if len(content) > maxYAML || yaml.Unmarshal(content, &doc) != nil {
		return guessSpec(content)
	}
	y := yamlMarkers{seen: map[*yaml.Node]bool{}}
	y.walk(&doc, false)
	last := 1 + bytes.Count(content, []byte("\n"))
	for i := range y.found { // the parser ends lines at more characters than we do
		y.found[i].line = min(y.found[i].line, last)
	}
	slices.SortStableFunc(y.found, func(a, b note) int { return a.line - b.line })
	return y.found
}

// jsonLevel is an open object or array.
type jsonLevel struct {
	object bool
	isKey  bool // an object's key is next, not its value
	below  bool // below x-mint
}

func jsonMarkers(content []byte) (found []note, err error) {
	d := json.NewDecoder(bytes.NewReader(content))
	lines := lineCount{text: content, line: 1}
	stack := []jsonLevel{{}}
	below := false // of the next value
	for {
		token, err := d.Token()
		if err == io.EOF {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		top := &stack[len(stack)-1]
		delim, isDelim := token.(json.Delim)
		switch {
		case delim == '}' || delim == ']':
			stack = stack[:len(stack)-1]
			below = stack[len(stack)-1].below
			continue
		case top.isKey:
			key, _ := token.(string)
			if top.below && isMarker(key) {
				found = append(found, note{lines.to(int(d.InputOffset())), key})
			}
			below = top.below || key == mintKey
			top.isKey = false
			continue
		}
		top.isKey = top.object
		if isDelim {
			stack = append(stack, jsonLevel{delim == '{', delim == '{', below})
		}
	}
}

func isMarker(key string) bool { return slices.Contains(markerKeys[:], key) }

// yamlMarkers looks at each node once, and once more if it is also found below x-mint.
type yamlMarkers struct {
	seen  map[*yaml.Node]bool // to whether it was below
	found []note
}

func (y *yamlMarkers) walk(n *yaml.Node, below bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
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
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if below && isMarker(key.Value) {
			y.found = append(y.found, note{n.Content[i].Line, key.Value})
		}
		y.walk(value, below || key.Value == mintKey)
	}
}

// specMarkerText is a marker key in a text that may be indented, in a list, or in braces.
var specMarkerText = regexp.MustCompile(`(?:^|[\s{,])["']?(public|groups)["']?\s*:`)

func guessSpec(content []byte) (found []note) {
	start := bytes.Index(content, []byte(mintKey))
	lines := lineCount{text: content, line: 1}
	for _, at := range specMarkerText.FindAllSubmatchIndex(content[start:], maxGuesses) {
		found = append(found, note{lines.to(start + at[2]), string(content[start+at[2] : start+at[3]])})
	}
	return found
}
