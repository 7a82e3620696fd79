package chunker

import "bytes"

// outline is the path of headings in force.
type outline struct {
	content []byte
	path    [6]title
	length  int      // of path
	known   []string // the names of path, nil after it has changed
}

type title struct {
	block
	name string // empty until it is asked for
}

// enter takes note of a block. A heading ends those of its level and deeper ones; one without text adds nothing.
func (o *outline) enter(b block) {
	if b.level == 0 {
		return
	}
	o.known = nil
	for o.length > 0 && o.path[o.length-1].level >= b.level {
		o.length--
	}
	if b.size > 0 {
		o.path[o.length] = title{block: b}
		o.length++
	}
}

// names returns the texts, outermost first. The slice is not changed later.
func (o *outline) names() []string {
	if o.known != nil || o.length == 0 {
		return o.known
	}
	o.known = make([]string, o.length)
	for i := range o.known {
		t := &o.path[i]
		if t.name == "" {
			t.name = oneLine(o.content[t.text : t.text+t.size])
		}
		o.known[i] = t.name
	}
	return o.known
}

// oneLine joins the lines of a setext heading with single blanks.
func oneLine(text []byte) string {
	if bytes.IndexByte(text, '\n') >= 0 {
		text = bytes.Join(bytes.Fields(text), []byte{' '})
	}
	return string(text)
}
