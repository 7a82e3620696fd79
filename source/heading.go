package source

import "bytes"

// heading is the text of the first heading of level 1 in Markdown, "# text" or underlined with "=", outside fenced code.
// Inline markup is left as it is.
func heading(body []byte) string {
	var fence, before []byte
	for len(body) > 0 {
		var line []byte
		line, body = cutLine(body)
		text := bytes.TrimLeft(line, " ")
		if len(line)-len(text) > 3 { // indented code, or the rest of a paragraph
			continue
		}
		text = bytes.TrimRight(text, " \t")
		switch {
		case fence != nil:
			if closes(text, fence) {
				fence = nil
			}
			continue
		case opens(text) != nil:
			fence = opens(text)
			text = nil
		case bytes.Equal(text, []byte("#")) || bytes.HasPrefix(text, []byte("# ")) || bytes.HasPrefix(text, []byte("#\t")):
			if title := atx(text[1:]); title != "" {
				return title
			}
		case len(before) > 0 && len(text) > 0 && len(bytes.Trim(text, "=")) == 0:
			return string(before)
		}
		before = text
	}
	return ""
}

// atx strips the marks that may close a heading.
func atx(text []byte) string {
	text = bytes.Trim(text, " \t")
	if open := bytes.TrimRight(text, "#"); len(open) == 0 || bytes.HasSuffix(open, []byte(" ")) || bytes.HasSuffix(open, []byte("\t")) {
		text = bytes.TrimRight(open, " \t")
	}
	return string(text)
}

// opens returns the marks of a line that opens fenced code, or nil.
func opens(text []byte) []byte {
	if len(text) < 3 || text[0] != '`' && text[0] != '~' {
		return nil
	}
	n := len(text) - len(bytes.TrimLeft(text, string(text[:1])))
	if n < 3 || text[0] == '`' && bytes.IndexByte(text[n:], '`') >= 0 {
		return nil
	}
	return text[:n]
}

func closes(text, fence []byte) bool {
	return len(text) >= len(fence) && len(bytes.Trim(text, string(fence[:1]))) == 0
}
