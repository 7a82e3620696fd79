package source

import (
	"bytes"
	"strings"
)

// Bounds of what is read of one import, and of one comment in it, in bytes; both are more than any has.
const (
	maxClause  = 16 << 10
	maxComment = 1 << 10
)

// specifier is the module that an import, or an export from one, at the start of text names, with the size of the statement
// up to there, or 0 for none. What stands before the module need not be right, as long as it can be read so.
func specifier(text []byte) (module string, size int) {
	isExport := bytes.HasPrefix(text, []byte("export"))
	if !isExport && !bytes.HasPrefix(text, []byte("import")) {
		return "", 0
	}
	const word = len("import")
	t := tokens{text[word:min(len(text), maxClause)]}
	if len(t.text) > 0 && isNameByte(t.text[0]) {
		return "", 0
	}
	all := word + len(t.text)
	token := t.next()
	switch {
	case !isExport && isQuoted(token):
		return unquote(token), all - len(t.text)
	case isExport && token == "type":
		token = t.next()
	}
	if isExport && token != "*" && token != "{" {
		return "", 0
	}
	if token = t.from(token); token == "" {
		return "", 0
	}
	return unquote(token), all - len(t.text)
}

// from reads, from a first token on, up to the module behind "from", in its quotes.
func (t *tokens) from(token string) string {
	for braces := false; ; token = t.next() {
		switch {
		case token == "{" && !braces:
			braces = true
		case token == "}" && braces:
			braces = false
		case braces && (isQuoted(token) || isName(token) || token == ","):
		case token == "from":
			ahead := *t
			if module := ahead.next(); isQuoted(module) {
				*t = ahead
				return module
			}
		case token == "import" || token == "export": // the next statement: no semicolon has to be there
			return ""
		case token != "," && token != "*" && !isName(token):
			return ""
		}
	}
}

func isQuoted(token string) bool { return token != "" && (token[0] == '"' || token[0] == '\'') }

// unquote takes off the quotes, and the loaders that a bundler takes before a "!".
func unquote(token string) string {
	token = token[1 : len(token)-1]
	return token[strings.LastIndexByte(token, '!')+1:]
}

func isName(token string) bool { return token != "" && isNameByte(token[0]) }

func isNameByte(c byte) bool {
	return c >= 0x80 || c == '_' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// tokens cuts JavaScript into names, texts in quotes and single characters, as far as imports have them.
type tokens struct{ text []byte }

// next is empty at the end, and where a text or a comment has none.
func (t *tokens) next() string {
	if !t.skip() || len(t.text) == 0 {
		return ""
	}
	n := 1
	switch c := t.text[0]; {
	case c == '"' || c == '\'':
		for n < len(t.text) && t.text[n] != c && t.text[n] != '\n' {
			if t.text[n] == '\\' {
				n++
			}
			n++
		}
		if n >= len(t.text) || t.text[n] != c {
			return ""
		}
		n++
	case isNameByte(c):
		for n < len(t.text) && isNameByte(t.text[n]) {
			n++
		}
	}
	token := string(t.text[:n])
	t.text = t.text[n:]
	return token
}

// skip skips white space and comments. It is false where a comment has no end, or one too far away.
func (t *tokens) skip() bool {
	for {
		t.text = bytes.TrimLeft(t.text, " \t\r\n")
		end := ""
		switch {
		case bytes.HasPrefix(t.text, []byte("//")):
			end = "\n"
		case bytes.HasPrefix(t.text, []byte("/*")):
			end = "*/"
		default:
			return true
		}
		n := bytes.Index(t.text[2:min(len(t.text), maxComment)], []byte(end))
		if n < 0 {
			return false
		}
		t.text = t.text[2+n+len(end):]
	}
}
