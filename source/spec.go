package source

import "bytes"

// isSpec reports whether the top level of JSON or YAML gives the version of an API description, as in `openapi: 3.1.0` or
// `"swagger": "2.0"`. The version may be quoted, and begins with a digit, as all versions of the three do. Any other value
// is something else of that name: the configuration of a Mintlify site, itself no description, points to one by
// `"openapi": "/api.json"`. Only the first document of YAML counts. Nothing is parsed: it is one pass over the bytes, with
// no memory and no recursion, that takes malformed text as it comes.
func isSpec(content []byte) bool {
	content = bytes.TrimPrefix(content, bom)
	started := false
	for len(content) > 0 {
		line, rest := cutLine(content)
		text := bytes.TrimLeft(line, " \t")
		switch {
		case len(text) == 0 || text[0] == '#':
		case text[0] == '{':
			return flowSpec(content[len(line)-len(text)+1:])
		case line[0] == '%' && !started:
		case isMark(line, "---") && !started:
			started = true
			if inline := bytes.TrimLeft(line[3:], " \t"); len(inline) > 0 && inline[0] != '#' {
				at := len(line) - len(inline)
				return inline[0] == '{' && flowSpec(content[at+1:])
			}
		default:
			return blockSpec(content, len(line)-len(text))
		}
		content = rest
	}
	return false
}

// isMark reports whether a line is the document mark, alone or with something behind it.
func isMark(line []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(mark))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
}

// blockSpec looks at the keys of a block mapping, whose lines are all indented alike, up to the document's end.
func blockSpec(content []byte, indent int) bool {
	for len(content) > 0 {
		var line []byte
		line, content = cutLine(content)
		if isMark(line, "---") || isMark(line, "...") {
			return false
		}
		text := bytes.TrimLeft(line, " ")
		if len(line)-len(text) != indent || len(text) == 0 {
			continue
		}
		key, value, _ := bytes.Cut(text, []byte(":"))
		spaced := len(value) > 0 && (value[0] == ' ' || value[0] == '\t')
		if spaced && isSpecKey(key) && isVersion(value) {
			return true
		}
	}
	return false
}

// flowSpec looks at the keys of a JSON object or a flow mapping, behind its opening brace.
func flowSpec(b []byte) bool {
	depth := 1
	isKey := true // whether a scalar here would be a key of the top level
	for len(b) > 0 && depth > 0 {
		n := 1
		switch c := b[0]; c {
		case '{', '[':
			depth++
			isKey = false
		case '}', ']':
			depth--
		case ',':
			isKey = depth == 1
		case ' ', '\t', '\r', '\n', ':':
		case '#':
			n = lineLen(b)
		default:
			n = scalarLen(b)
			if isKey && isSpecKey(b[:n]) {
				value, ok := bytes.CutPrefix(bytes.TrimLeft(b[n:], " \t\r\n"), []byte(":"))
				if ok && isVersion(value) {
					return true
				}
			}
			isKey = false
		}
		b = b[n:]
	}
	return false
}

// scalarLen is the length of the quoted or plain scalar that b begins with, at least 1.
func scalarLen(b []byte) int {
	quote := b[0]
	if quote != '"' && quote != '\'' {
		if n := bytes.IndexAny(b, ",:{}[]\n"); n > 0 {
			return n
		}
		return len(b)
	}
	for i := 1; i < len(b); i++ {
		switch {
		case b[i] == '\\' && quote == '"':
			i++
		case b[i] == quote:
			return i + 1
		}
	}
	return len(b)
}

func lineLen(b []byte) int {
	if n := bytes.IndexByte(b, '\n'); n >= 0 {
		return n
	}
	return len(b)
}

// isSpecKey reports whether a scalar, quoted or not, is one of the keys.
func isSpecKey(b []byte) bool {
	b = bytes.TrimRight(b, " \t\r")
	if n := len(b); n >= 2 && (b[0] == '"' || b[0] == '\'') && b[n-1] == b[0] {
		b = b[1 : n-1]
	}
	switch string(b) {
	case "openapi", "swagger", "asyncapi":
		return true
	}
	return false
}

func isVersion(value []byte) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	if len(value) > 1 && (value[0] == '"' || value[0] == '\'') {
		value = value[1:]
	}
	return len(value) > 0 && '0' <= value[0] && value[0] <= '9'
}
