package source

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFront is the size above which frontmatter is not parsed.
const maxFront = 64 << 10

// front is the block between delimiters that a page may begin with.
type front struct {
	delimiter string // "---" for YAML, "+++" for TOML, empty for none
	text      []byte
	closed    bool
}

// meta is what frontmatter says. Lines are those of the file.
type meta struct {
	title             string
	warnings, markers []note
}

type note struct {
	line int
	text string
}

// splitFront cuts content into its frontmatter and the rest. The first line, a byte order mark aside, must be a delimiter;
// YAML may end with "..." too. Frontmatter without an end is taken to be the lines up to the first empty one.
func splitFront(content []byte) (f front, body []byte) {
	content = bytes.TrimPrefix(content, bom)
	first, rest := cutLine(content)
	switch d := string(bytes.TrimRight(first, " \t")); d {
	case "---", "+++":
		f.delimiter = d
	default:
		return f, content
	}
	paragraph := -1
	for at := rest; len(at) > 0; {
		start := len(rest) - len(at)
		var line []byte
		line, at = cutLine(at)
		switch text := string(bytes.TrimRight(line, " \t")); {
		case text == f.delimiter || text == "..." && f.delimiter == "---":
			f.text, f.closed = rest[:start], true
			return f, at
		case text == "" && paragraph < 0:
			paragraph = start
		}
	}
	f.text = rest
	if paragraph >= 0 {
		f.text = rest[:paragraph]
	}
	return f, rest
}

func (f front) parse() meta {
	m := f.parseText()
	last := 2 + bytes.Count(f.text, []byte("\n"))
	for _, list := range [][]note{m.warnings, m.markers} {
		for i := range list { // the parser ends lines at more characters than we do
			list[i].line = min(list[i].line, last)
		}
	}
	return m
}

func (f front) parseText() meta {
	switch {
	case !f.closed:
		return f.guess(1, "frontmatter has no end")
	case len(f.text) > maxFront:
		return f.guess(1, fmt.Sprintf("frontmatter of more than %d bytes is not read", maxFront))
	case f.delimiter == "+++":
		return f.parseTOML()
	}
	return f.parseYAML()
}

func (f front) parseYAML() meta {
	var doc yaml.Node
	if err := yaml.Unmarshal(f.text, &doc); err != nil {
		return f.broken(err)
	}
	if len(doc.Content) == 0 {
		return meta{}
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return f.guess(root.Line+1, "frontmatter is not a list of keys and values")
	}
	values := map[string]yaml.Node{} // merged keys are in it too
	if err := root.Decode(&values); err != nil {
		return f.broken(err)
	}
	var m meta
	if n, ok := values["title"]; ok {
		m.title = scalar(&n)
	}
	for _, key := range markerKeys {
		if n, ok := values[key]; ok {
			m.markers = append(m.markers, note{keyLine(root, key, n.Line) + 1, key})
		}
	}
	slices.SortStableFunc(m.markers, func(a, b note) int { return a.line - b.line })
	return m
}

// markerKeys are the words that say who may see a page.
var markerKeys = [...]string{"public", "groups"}

// keyLine is the line of a key in the mapping itself, or else of its value, which is merged from elsewhere.
func keyLine(mapping *yaml.Node, key string, value int) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i].Line
		}
	}
	return value
}

func scalar(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// broken takes the line from the parser's error. The parser counts from the line behind the delimiter, and names no
// line for the first one.
func (f front) broken(err error) meta {
	text := yamlLine.ReplaceAllStringFunc(strings.TrimPrefix(err.Error(), "yaml: "), func(s string) string {
		n, _ := strconv.Atoi(s[len("line "):])
		return fmt.Sprintf("line %d", n+1)
	})
	text = strings.TrimPrefix(text, "unmarshal errors:\n  ")
	line := 2
	if _, err := fmt.Sscanf(text, "line %d: ", &line); err == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return f.guess(line, "frontmatter is broken: "+text)
}

// markerText finds what may be a marker in text that can't be parsed: rather one too many than one missed.
var markerText = regexp.MustCompile(`(?m)(?:^|[\s{,])["']?(public|groups)["']?[ \t]*[:=]`)

// guess is the meta of frontmatter that can't be understood.
func (f front) guess(line int, warning string) meta {
	return meta{warnings: []note{{line, warning}}, markers: f.guessMarkers()}
}

func (f front) guessMarkers() (found []note) {
	lines := lineCount{text: f.text, line: 2}
	for _, at := range markerText.FindAllSubmatchIndex(f.text, -1) {
		found = append(found, note{lines.to(at[2]), string(f.text[at[2]:at[3]])})
	}
	return found
}

// tomlTitle is a title of one line and in quotes, before the first table: all that is read of TOML.
var (
	tomlTitle = regexp.MustCompile(`(?m)^title[ \t]*=[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*')`)
	tomlTable = regexp.MustCompile(`(?m)^\[`)
)

func (f front) parseTOML() meta {
	m := meta{markers: f.guessMarkers()}
	top := f.text
	if at := tomlTable.FindIndex(top); at != nil {
		top = top[:at[0]]
	}
	if at := tomlTitle.FindSubmatch(top); at != nil {
		m.title = string(at[1][1 : len(at[1])-1])
		if text, err := strconv.Unquote(string(at[1])); err == nil && at[1][0] == '"' {
			m.title = text
		}
	}
	return m
}
