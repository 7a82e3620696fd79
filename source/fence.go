package source

import (
	"bytes"
	"strings"
)

// fence is fenced code, from its opening line to its closing one.
type fence struct {
	start, end int
	indent     int // columns before the opening marks
}

// fences finds the fenced code of Markdown. Where one never closes, or seems to hold another one, it is anybody's guess
// which text is code; then there is none.
func fences(text []byte) (list []fence) {
	var s fenceScan
	for at := 0; at < len(text); {
		line, rest := cutLine(text[at:])
		start := at
		at = len(text) - len(rest)
		s.line(line, start, at)
		if s.confused {
			return nil
		}
	}
	if s.marks != nil {
		return nil
	}
	return s.list
}

type fenceScan struct {
	list     []fence
	marks    []byte // of the open fence
	open     fence
	item     int // columns by which the open fence's list item is indented, 0 for none
	confused bool
}

// line takes the line between two offsets. Marks may be indented by any width, as in MDX.
func (s *fenceScan) line(line []byte, start, end int) {
	text, indent := indented(line)
	if len(text) == 0 {
		return
	}
	if s.marks != nil && indent < s.item { // the list item ends, and the code with it
		s.close(start)
	}
	switch {
	case s.marks == nil:
		content, item := listItem(text, indent)
		if s.marks = opens(content); s.marks != nil {
			s.open, s.item = fence{start: start, indent: indent}, item
		}
	case text[0] != s.marks[0]:
	case closes(bytes.TrimRight(text, " \t"), s.marks):
		s.close(end)
	case bytes.HasPrefix(text, s.marks) && opens(text) != nil:
		s.confused = true
	}
}

func (s *fenceScan) close(end int) {
	s.open.end = end
	s.list = append(s.list, s.open)
	s.marks = nil
}

// listItem strips the marks of list items from a text that is indented so far, and tells how far what follows is; 0 if
// there are none.
func listItem(text []byte, at int) (content []byte, indent int) {
	for {
		digits := 0
		for digits < len(text) && '0' <= text[digits] && text[digits] <= '9' {
			digits++
		}
		marks := "-*+"
		if digits > 0 {
			marks = ".)"
		}
		rest := text[digits:]
		if len(rest) < 2 || strings.IndexByte(marks, rest[0]) < 0 || rest[1] != ' ' && rest[1] != '\t' {
			return text, indent
		}
		var width int
		text, width = indented(rest[1:])
		at += digits + 1 + width
		indent = at
	}
}

// indented strips the white space at the start of a line, and tells its width in columns, with tab stops of four.
func indented(line []byte) (text []byte, width int) {
	for i, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 4 - width%4
		default:
			return line[i:], width
		}
	}
	return nil, width
}
