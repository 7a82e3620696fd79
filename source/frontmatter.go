package source

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
// YAML may end with "..." too. Frontmatter without an end is taken to be all lines up to the first code fence, so that no
// marker in it is missed.
func splitFront(content []byte) (f front, body []byte) {
	content = bytes.TrimPrefix(content, bom)
	first, rest := cutLine(content)
	switch d := string(bytes.TrimRight(first, " \t")); d {
	case "---", "+++":
		f.delimiter = d
	default:
		return f, content
	}
	fence := -1
	for at := rest; len(at) > 0; {
		start := len(rest) - len(at)
		var line []byte
		line, at = cutLine(at)
		switch text := string(bytes.TrimRight(line, " \t")); {
		case text == f.delimiter || text == "..." && f.delimiter == "---":
			f.text, f.closed = rest[:start], true
			return f, at
		case fence < 0 && (strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~")):
			fence = start
		}
	}
	f.text = rest
	if fence >= 0 {
		f.text = rest[:fence]
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
	case !utf8.Valid(f.text): // the parser would try UTF-16
		return f.guess(1, "frontmatter is not UTF-8")
	case len(f.text) > maxFront:
		return f.guess(1, fmt.Sprintf("frontmatter of more than %d bytes is not read", maxFront))
	case f.delimiter == "+++":
		return f.parseTOML()
	}
	return f.parseYAML()
}

func (f front) parseYAML() meta {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(f.text))
	if err := d.Decode(&doc); err == io.EOF {
		return meta{}
	} else if err != nil {
		return f.broken(err)
	}
	if err := d.Decode(&more); err == nil {
		return f.guess(more.Line+1, "frontmatter is broken: text behind its end")
	} else if err != io.EOF {
		return f.broken(err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return f.guess(root.Line+1, "frontmatter is not a list of keys and values")
	}
	k := keys{entries: map[string]entry{}, done: map[*yaml.Node]bool{}}
	k.add(root)
	if k.repeated != nil {
		return f.guess(k.repeated.Line+1, fmt.Sprintf("frontmatter is broken: key %q is there twice", k.repeated.Value))
	}
	var m meta
	if e, ok := k.entries["title"]; ok {
		m.title = scalar(e.value)
	}
	for _, key := range markerKeys {
		if e, ok := k.entries[key]; ok {
			m.markers = append(m.markers, note{e.line + 1, key})
		}
	}
	slices.SortStableFunc(m.markers, func(a, b note) int { return a.line - b.line })
	return m
}

// markerKeys are the words that say who may see a page.
var markerKeys = [...]string{"public", "groups"}

// keys gathers the keys of a mapping and of those merged into it. (The library's own decoder takes quadratic time.)
type keys struct {
	entries  map[string]entry
	done     map[*yaml.Node]bool
	repeated *yaml.Node // the first key that a mapping has twice
}

type entry struct {
	value *yaml.Node
	line  int
}

func (k *keys) add(n *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if k.done[n] {
		return
	}
	k.done[n] = true
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			k.add(item)
		}
	case yaml.MappingNode:
		k.addMapping(n)
	}
}

// addMapping takes the mapping's own keys before the merged ones, which they override.
func (k *keys) addMapping(n *yaml.Node) {
	own := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case key.Kind == yaml.AliasNode:
			key = key.Alias
		case key.Tag == "!!merge":
			merged = append(merged, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if own[key.Value] && k.repeated == nil {
			k.repeated = key
		}
		own[key.Value] = true
		if _, ok := k.entries[key.Value]; !ok {
			k.entries[key.Value] = entry{value, key.Line}
		}
	}
	for _, m := range merged {
		k.add(m)
	}
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
	line := 2
	if _, err := fmt.Sscanf(text, "line %d: ", &line); err == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return f.guess(line, "frontmatter is broken: "+text)
}

// markerText finds what may be a marker in text that can't be parsed: rather one too many than one missed.
var markerText = regexp.MustCompile(`(?m)(?:^|[\s{,])["']?(public|groups)["']?[ \t]*[:=]`)

// maxGuesses bounds the markers of one file that can't be parsed; the first one is as good as all.
const maxGuesses = 100

// guess is the meta of frontmatter that can't be understood.
func (f front) guess(line int, warning string) meta {
	return meta{warnings: []note{{line, warning}}, markers: f.guessMarkers()}
}

func (f front) guessMarkers() (found []note) {
	lines := lineCount{text: f.text, line: 2}
	for _, at := range markerText.FindAllSubmatchIndex(f.text, maxGuesses) {
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
