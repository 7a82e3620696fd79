package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/chromafs/chromafs/access"
)

// maxFront is the size above which frontmatter is not parsed.
const maxFront = 64 << 10

// front is the block between delimiters that a page may begin with.
type front struct {
	path      string // of the page
	delimiter string // "---" for YAML, "+++" for TOML, empty for none
	text      []byte
	closed    bool
	dots      bool // by a line "..."
	cut       bool // the page goes on behind what is known of it
}

// meta is what frontmatter says. Lines are those of the file.
type meta struct {
	path     string
	valid    bool // it is frontmatter, and nothing of the page's body is in it
	title    string
	said     *access.Said
	specs    []Use
	warnings []note
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
			f.text, f.closed, f.dots = rest[:start], true, text == "..."
			return f, at
		case fence < 0 && opensFence(line):
			fence = start
		}
	}
	f.text = rest
	if fence >= 0 {
		f.text = rest[:fence]
	}
	return f, rest
}

// opensFence reports whether a line, indented or in a list, begins fenced code.
func opensFence(line []byte) bool {
	text, _ := indented(line)
	text, _ = listItem(text, 0)
	return opens(text) != nil
}

func (f front) parse() meta {
	switch {
	case !f.closed && f.cut:
		return f.fault(1, errNoEnd(f.delimiter).Error())
	case !f.closed:
		return f.doubtful(1, errNoEnd(f.delimiter).Error())
	case !utf8.Valid(f.text): // the parser would try UTF-16
		return f.broken(1, "it is not UTF-8")
	case len(f.text) > maxFront:
		return f.broken(1, fmt.Sprintf("it is longer than %d bytes", maxFront))
	case f.delimiter == "+++":
		return f.parseTOML()
	}
	return f.parseYAML()
}

func (f front) parseYAML() meta {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(f.text))
	if err := d.Decode(&doc); err == io.EOF {
		return meta{valid: true}
	} else if err != nil {
		return f.brokenYAML(err)
	}
	if err := d.Decode(&more); err == nil {
		return f.broken(more.Line+1, "there is text behind its end")
	} else if err != io.EOF {
		return f.brokenYAML(err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return f.doubtful(root.Line+1, "frontmatter is not a list of keys and values: write them, or, if it is not frontmatter, "+beginWithText)
	}
	k := keys{entries: map[string]entry{}, done: map[*yaml.Node]bool{}}
	k.add(root)
	if k.repeated != nil {
		return f.broken(k.repeated.Line+1, errTwice(k.repeated.Value).Error())
	}
	m := meta{path: f.path, valid: true}
	if e, ok := k.entries["title"]; ok {
		m.title = yamlText(e.value)
	}
	var fields []field
	for key, e := range k.entries {
		if telling(key) {
			value, err := yamlValue(e.value)
			fields = append(fields, field{key, f.clamp(e.line + 1), value, err})
		}
	}
	m.take(fields)
	return m
}

// telling reports whether anything but the title is to be read of a key.
func telling(key string) bool {
	return key == "if" || slices.Contains(specKeys[:], key) || marker(key) != ""
}

// visitor begins what GitBook's conditions ask of a viewer.
const visitor = "visitor."

// take reads fields whose keys are telling.
func (m *meta) take(fields []field) {
	slices.SortFunc(fields, func(a, b field) int { return cmp.Or(a.line-b.line, strings.Compare(a.key, b.key)) })
	var said access.Said
	for _, f := range fields {
		switch {
		case marker(f.key) != "":
			say(&said, m.path, f)
		case f.key != "if" && f.err != nil:
			m.specs = append(m.specs, Use{Spec: true, Line: f.line})
		case f.key != "if":
			m.specs = appendSpecs(m.specs, f.value, f.line)
		case f.err != nil || mentions(f.value, visitor): // of what can't be decoded nothing else is known
			said.Condition = &access.Place{Path: m.path, Line: f.line}
			m.warnings = append(m.warnings, note{f.line, "a visitor condition can't be mapped to groups: nobody sees the page " +
				"unless a rule in chromafs.yaml says who"})
		}
	}
	if said != (access.Said{}) {
		m.said = &said
	}
}

var yamlLine = regexp.MustCompile(`\bline (\d+)`)

// brokenYAML takes the line from the parser's error. The parser counts from the line behind the delimiter, and names no
// line for the first one.
func (f front) brokenYAML(err error) meta {
	text := yamlLine.ReplaceAllStringFunc(strings.TrimPrefix(err.Error(), "yaml: "), func(s string) string {
		n, _ := strconv.Atoi(s[len("line "):])
		return fmt.Sprintf("line %d", n+1)
	})
	line := 2
	if _, err := fmt.Sscanf(text, "line %d: ", &line); err == nil {
		_, text, _ = strings.Cut(text, ": ")
	}
	return f.broken(line, text)
}

// broken is the meta of frontmatter that can't be read, so that nobody knows what it says.
func (f front) broken(line int, why string) meta {
	return f.fault(line, "frontmatter is broken: "+why+": mend it, or, if it is not frontmatter, "+beginWithText)
}

// fault keeps the API descriptions that the page seems to show: no wider than the page, they are for nobody.
func (f front) fault(line int, text string) meta {
	at := access.Place{Path: f.path, Line: f.clamp(line)}
	return meta{said: &access.Said{Fault: &access.Fault{At: at, Err: errors.New(text)}}, specs: guessSpecs(f.text, 2)}
}

// clamp keeps a line inside the file: the parser ends lines at more characters than we do.
func (f front) clamp(line int) int {
	last := 1 + bytes.Count(f.text, []byte("\n"))
	if f.closed {
		last++
	}
	return min(line, last)
}
