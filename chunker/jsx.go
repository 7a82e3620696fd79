package chunker

import "bytes"

// tags takes the tags of a line.
func (s *scanner) tags(text []byte) {
	for len(text) > len("<>") {
		i := bytes.IndexByte(text, '<')
		if i < 0 {
			return
		}
		text = text[i+1:]
		closing := len(text) > 0 && text[0] == '/'
		if closing {
			text = text[1:]
		}
		n := nameLength(text)
		if n == 0 && (len(text) == 0 || text[0] != '>') {
			continue
		}
		name := text[:n]
		text = text[n:]
		if closing {
			s.closeElement(name)
			continue
		}
		s.name, s.brackets, s.quote = name, 0, 0
		text = s.tag(text)
	}
}

// tag goes on with an opening tag and returns what follows it on the line, if anything.
func (s *scanner) tag(text []byte) []byte {
	s.mode = inTag
	for i := 0; i < len(text); i++ {
		if s.quote != 0 {
			n := bytes.IndexByte(text[i:], s.quote)
			if n < 0 {
				return nil
			}
			i += n
			s.quote = 0
			continue
		}
		switch c := text[i]; c {
		case '{':
			s.brackets++
		case '}':
			s.brackets = max(s.brackets-1, 0)
		case '"', '\'':
			if s.brackets == 0 {
				s.quote = c
			}
		case '>':
			if s.brackets == 0 {
				s.mode = prose
				if i == 0 || text[i-1] != '/' {
					s.openElement()
				}
				return text[i+1:]
			}
		}
	}
	return nil
}

func (s *scanner) openElement() {
	if len(s.elements) < cap(s.elements) {
		s.elements = append(s.elements, element{s.name, len(s.blocks) - 1})
	}
}

// closeElement closes the innermost element of that name. What follows its line is another block.
func (s *scanner) closeElement(name []byte) {
	for i := len(s.elements) - 1; i >= 0; i-- {
		if bytes.Equal(s.elements[i].name, name) {
			s.close(i + 1)
			s.elements = s.elements[:i]
			s.joined = false
			return
		}
	}
}

// close forgets all but the first n elements. Nothing closed them, so nothing was inside them.
func (s *scanner) close(n int) {
	for _, e := range s.elements[n:] {
		for i := e.block + 1; i < len(s.blocks); i++ {
			s.blocks[i].depth--
		}
	}
	s.elements = s.elements[:n]
}

// nameLength returns the length of the JSX name that text begins with.
func nameLength(text []byte) int {
	for i, c := range text {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '$' || c >= 0x80
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '.' || c == '-' || c == ':')) {
			return i
		}
	}
	return len(text)
}
