package source

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// parseTOML reads the fields of TOML.
func (f front) parseTOML() meta {
	var values map[string]any
	if err := toml.Unmarshal(f.text, &values); err != nil {
		line := 1
		if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
			line, _ = at.Position()
		}
		return f.broken(line+1, strings.TrimPrefix(err.Error(), "toml: "))
	}
	m := meta{path: f.path, valid: true}
	m.title, _ = values["title"].(string)
	var fields []field
	var lines map[string]int
	for key, value := range values {
		if !telling(key) {
			continue
		}
		if lines == nil {
			lines = tomlLines(f.text)
		}
		fields = append(fields, field{key: key, line: max(lines[key], 1) + 1, value: value})
	}
	m.take(fields)
	return m
}

// tomlKey is a key, or the first part of a dotted one, at the start of a line or of a table's header.
var tomlKey = regexp.MustCompile(`(?m)^[ \t]*\[{0,2}[ \t]*("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)[ \t]*[.=\]]`)

// tomlLines are the lines of the keys of the top level, from 1. A text of several lines may mislead it about a line.
func tomlLines(text []byte) map[string]int {
	found := map[string]int{}
	lines := lineCount{text: text, line: 1}
	for _, at := range tomlKey.FindAllSubmatchIndex(text, -1) {
		key := string(text[at[2]:at[3]])
		switch key[0] {
		case '\'':
			key = key[1 : len(key)-1]
		case '"':
			if plain, err := strconv.Unquote(key); err == nil {
				key = plain
			}
		}
		if line := lines.to(at[2]); found[key] == 0 {
			found[key] = line
		}
	}
	return found
}
