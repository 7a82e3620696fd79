package chunker

import "bytes"

// maxElements is the number of open JSX elements beyond which no other is tracked.
const maxElements = 16

// scanner finds the blocks of MDX line by line. It is no parser: it knows enough to keep together what belongs
// together, and whatever it takes wrong is cut in another place, not lost.
//
// A block ends at a blank line, unless that is inside a code fence, an import or export whose brackets are open, a
// comment, or a JSX tag with an open brace. A heading, at any indentation, is a block of its own; underlined ones are
// not known. Blocks inside a JSX element are deeper than the one that opens it.
type scanner struct {
	content []byte
	mdx     bool // else there are neither imports nor comments nor tags, and headings are not indented
	blocks  []block
	mode    mode
	joined  bool // the next line goes on with the last block, unless it is blank

	resume   int    // offset of the line after a code fence or comment
	endless  bool   // no comment ends after the current line
	brackets int    // open in an import or export, or braces in a tag
	quote    byte   // open in a tag
	name     []byte // of that tag

	elements []element
	space    [maxElements]element // of elements
}

type mode int

const (
	prose    mode = iota
	inModule      // import or export
	inTag         // between < and >
)

// element is an open JSX element.
type element struct {
	name  []byte // empty for a fragment
	block int    // index of the block that opens it
}

// scan appends the blocks of a document, of MDX or not, that begins at offset body.
func scan(blocks []block, content []byte, body int, mdx bool) []block {
	s := scanner{content: content, mdx: mdx, blocks: blocks}
	s.elements = s.space[:0]
	for pos := body; pos < len(content); {
		if content[pos] == '\n' && s.mode == prose {
			s.joined = false
			pos++
			continue
		}
		end := lineEnd(content, pos)
		s.line(pos, end)
		pos = max(end, s.resume)
	}
	s.close(0)
	return s.blocks
}

// line takes the line from pos to end.
func (s *scanner) line(pos, end int) {
	from := pos
	for from < end && (s.content[from] == ' ' || s.content[from] == '\t') {
		from++
	}
	text := s.content[from:end]
	if s.mode != prose && s.inside(text, from == pos) {
		return
	}
	if len(text) == 0 || text[0] == '\n' || text[0] == '\r' && isBlank(text) {
		s.joined = false
		return
	}
	if text[0] == '#' && (s.mdx || from-pos < 4) {
		if h, ok := heading(s.content, pos, end); ok {
			s.begin(h)
			s.joined = false
			return
		}
	}
	fresh := !s.joined
	if fresh {
		s.begin(block{start: pos})
	}
	s.open(text, from, end, fresh && from == pos)
}

// open enters the mode that a line of text, from one offset to end, may begin. First says that the line begins a block
// and has no indentation.
func (s *scanner) open(text []byte, from, end int, first bool) {
	switch c := text[0]; {
	case c == '`' || c == '~':
		s.openFence(text, end)
	case !s.mdx:
	case c == '{':
		s.comment(from)
	case c == '<':
		s.tags(text)
	case first && isModule(text):
		s.brackets = 0
		s.module(text)
	}
}

// begin starts a block.
func (s *scanner) begin(b block) {
	b.depth = int8(len(s.elements))
	s.blocks = append(s.blocks, b)
	s.joined = true
}

// inside takes the text of a line in any mode but prose and reports whether it was one. Flush says that the line has
// no indentation.
func (s *scanner) inside(text []byte, flush bool) bool {
	// Brackets that are never closed, say in a string, must not swallow the rest of the document.
	if _, ok := heading(text, 0, len(text)); ok && flush {
		s.mode = prose
		return false
	}
	if s.mode == inModule {
		s.module(text)
		return true
	}
	if s.brackets == 0 && isBlank(text) { // no tag has a blank line
		s.mode = prose
		return false
	}
	s.tags(s.tag(text))
	return true
}

// openFence skips the lines of a code fence that may begin with text, which ends at pos.
func (s *scanner) openFence(text []byte, pos int) {
	n := markers(text)
	if n < 3 || text[0] == '`' && bytes.IndexByte(text[n:], '`') >= 0 {
		return
	}
	s.resume = fenceEnd(s.content, pos, text[:n])
}

// fenceEnd returns the offset after the line that closes a code fence: it has nothing but at least as many markers. An
// open fence ends with the document.
func fenceEnd(content []byte, pos int, open []byte) int {
	for {
		i := bytes.Index(content[pos:], open)
		if i < 0 {
			return len(content)
		}
		at := pos + i
		pos = lineEnd(content, at)
		before := at
		for content[before-1] == ' ' || content[before-1] == '\t' {
			before--
		}
		if content[before-1] == '\n' && isBlank(content[at+markers(content[at:pos]):pos]) {
			return pos
		}
	}
}

// markers returns how often the first byte is repeated.
func markers(text []byte) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// comment skips the lines of a {/* comment */} that may begin at pos.
func (s *scanner) comment(pos int) {
	if s.endless || !bytes.HasPrefix(s.content[pos:], []byte("{/*")) {
		return
	}
	n := bytes.Index(s.content[pos:], []byte("*/"))
	if n < 0 {
		s.endless = true
		return
	}
	s.resume = lineEnd(s.content, pos+n)
}

func isModule(text []byte) bool {
	return bytes.HasPrefix(text, []byte("import ")) || bytes.HasPrefix(text, []byte("export "))
}

// module takes one line of an import or export, which is over when its brackets balance.
func (s *scanner) module(text []byte) {
	for _, c := range text {
		switch c {
		case '(', '[', '{':
			s.brackets++
		case ')', ']', '}':
			s.brackets--
		}
	}
	s.mode = inModule
	if s.brackets <= 0 {
		s.mode = prose
	}
}
