package chunker

import (
	"bytes"
	"slices"
)

// block is a run of lines that is better not cut. It ends where the next one starts. A file has very many, so a block
// is small and holds no pointer.
type block struct {
	start int  // offset of its first line
	text  int  // offset of a heading's text
	size  int  // of that text
	level int8 // 1 to 6 if it is a heading
	depth int8 // how many open elements it is in
}

// split returns the blocks of content, in the space of blocks. The first starts at 0; Text has none.
func split(blocks []block, syntax Syntax, content []byte) []block {
	blocks = blocks[:0]
	if syntax == Text {
		return blocks
	}
	body, front := bodyOffset(content)
	if front {
		blocks = append(blocks, block{})
	}
	if syntax == Markdown && len(content) <= maxParse {
		blocks = parse(blocks, content, body)
	} else {
		blocks = scan(blocks, content, body, syntax == MDX)
	}
	if len(blocks) == 0 {
		blocks = append(blocks, block{})
	}
	blocks[0].start = 0
	return blocks
}

// opening returns the first block as split would, without finding the others.
func opening(syntax Syntax, content []byte) block {
	body, front := bodyOffset(content)
	if syntax == Text || front {
		return block{}
	}
	pos, end := body, lineEnd(content, body)
	for end < len(content) && isBlank(content[pos:end]) {
		pos, end = end, lineEnd(content, end)
	}
	if h, ok := heading(content, pos, end); ok && (syntax == MDX || indent(content[pos:end]) < 4) {
		h.start = 0
		return h
	}
	// What has an underline before the next blank line may be a heading still, which is not easily said.
	for syntax == Markdown && end < len(content) && !isBlank(content[pos:end]) {
		pos, end = end, lineEnd(content, end)
		if isUnderline(content[pos:end]) {
			return split(nil, syntax, content)[0]
		}
	}
	return block{}
}

// heading reads the line from start to end as an ATX heading, whatever its indentation.
func heading(content []byte, start, end int) (block, bool) {
	from, to := trim(content, start, end)
	text := from
	for text < to && content[text] == '#' {
		text++
	}
	level := text - from
	if level < 1 || level > 6 || text < to && !isSpace(content[text]) {
		return block{}, false
	}
	from, to = trim(content, text, to)
	open := to
	for open > from && content[open-1] == '#' {
		open--
	}
	if open == from || isSpace(content[open-1]) {
		from, to = trim(content, from, open)
	}
	return block{start: start, text: from, size: to - from, level: int8(level)}, true
}

// isUnderline reports whether a line may be that of a setext heading.
func isUnderline(line []byte) bool {
	from, to := trim(line, 0, len(line))
	line = line[from:to]
	return len(line) > 0 && (len(bytes.Trim(line, "=")) == 0 || len(bytes.Trim(line, "-")) == 0)
}

// bodyOffset returns where the blocks begin, after a byte order mark and the frontmatter (YAML or TOML, closed), and
// whether there is a frontmatter.
func bodyOffset(content []byte) (offset int, front bool) {
	if bytes.HasPrefix(content, []byte("\ufeff")) {
		offset = len("\ufeff")
	}
	pos := lineEnd(content, offset)
	fence := bytes.TrimRight(content[offset:pos], " \t\r\n")
	if string(fence) != "---" && string(fence) != "+++" {
		return offset, false
	}
	for pos < len(content) {
		end := lineEnd(content, pos)
		line := bytes.TrimRight(content[pos:end], " \t\r\n")
		if bytes.Equal(line, fence) || string(line) == "..." && fence[0] == '-' {
			return end, true
		}
		pos = end
	}
	return offset, false
}

// lineEnd returns the offset after the line that pos is in.
func lineEnd(content []byte, pos int) int {
	if i := bytes.IndexByte(content[pos:], '\n'); i >= 0 {
		return pos + i + 1
	}
	return len(content)
}

// indent returns the width of the blanks before the text of a line. A tab reaches to the next multiple of four.
func indent(line []byte) int {
	width := 0
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width += 4 - width%4
		default:
			return width
		}
	}
	return width
}

// isSpace knows the blanks that CommonMark does. VT and FF are text.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isBlank(line []byte) bool {
	return !slices.ContainsFunc(line, func(c byte) bool { return !isSpace(c) })
}

// trim narrows a range of s to what blanks surround.
func trim(s []byte, from, to int) (int, int) {
	for from < to && isSpace(s[from]) {
		from++
	}
	for from < to && isSpace(s[to-1]) {
		to--
	}
	return from, to
}
