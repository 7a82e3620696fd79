package chunker

import "bytes"

// Chunks from here on are big enough to end before a heading, and to end at all.
const (
	roomyBytes = TargetBytes / 2
	smallBytes = TargetBytes / 4
)

// packer decides on the cuts of one file, in order. The open chunk begins at the last of them.
type packer struct {
	content []byte
	cuts    []int
	lead    int // where the headings begin that the open chunk ends with, or -1
}

// pack returns the offset of every chunk. Content without blocks is packed by lines.
func pack(content []byte, blocks []block) []int {
	p := packer{content: content, cuts: make([]int, 1, 2+len(content)/roomyBytes), lead: -1}
	if len(blocks) > 0 {
		p.add(blocks, len(content), 0)
	} else {
		p.lines(0, len(content))
	}
	if n := len(p.cuts); n > 1 && len(content)-p.cuts[n-1] < smallBytes {
		before := p.cuts[n-2]
		if len(content)-before <= MaxBytes {
			p.cuts = p.cuts[:n-1]
		}
	}
	return p.cuts
}

// add packs blocks, of which the last ends at end. Those deeper than depth stay with the one before them if they fit.
func (p *packer) add(blocks []block, end int, depth int8) {
	for len(blocks) > 0 {
		n, start, stop := 1, blocks[0].start, end
		for n < len(blocks) && blocks[n].depth > depth {
			n++
		}
		if n < len(blocks) {
			stop = blocks[n].start
		}
		switch {
		case stop-start <= MaxBytes:
			p.place(blocks[0], stop, n == 1)
		case n > 1:
			p.add(blocks[:n], stop, depth+1)
		default:
			p.lines(start, stop)
		}
		blocks = blocks[n:]
	}
}

// place adds what begins with b and ends at end to the open chunk or begins the next one with it. Alone says that b is
// all of it.
func (p *packer) place(b block, end int, alone bool) {
	size := b.start - p.open()
	full := size >= smallBytes && (end-p.open() > TargetBytes || b.level > 0 && size >= roomyBytes)
	if size > 0 && (full || end-p.open() > MaxBytes) {
		p.cutBefore(b.start, end)
	}
	switch {
	case b.level == 0 || !alone:
		p.lead = -1
	case p.lead < 0:
		p.lead = b.start
	}
}

// cutBefore begins a chunk at start, or already at the headings before it if they fit with what ends at end.
func (p *packer) cutBefore(start, end int) {
	if p.lead > p.open() && end-p.lead <= MaxBytes {
		start = p.lead
	}
	p.cut(start)
}

// lines cuts a block that is too long.
func (p *packer) lines(start, end int) {
	if start-p.open() >= smallBytes {
		p.cutBefore(start, start)
	}
	p.lead = -1
	for end-p.open() > TargetBytes {
		next := p.lineCut()
		if next >= end {
			break
		}
		p.cut(next)
	}
}

// lineCut returns the best offset to end the open chunk at, after the last line within TargetBytes or else the first.
func (p *packer) lineCut() int {
	open := p.open()
	next := open + 1 + bytes.LastIndexByte(p.content[open:open+TargetBytes], '\n')
	if next < open+2 { // a chunk of one LF would be empty
		next = lineEnd(p.content, open+TargetBytes)
	}
	// A single empty line is left to no chunk's beginning, because there the next line might be too long for it.
	rest := p.content[next:]
	if len(rest) > 1 && rest[0] == '\n' && rest[1] != '\n' && next-open <= MaxBytes {
		next++
	}
	return next
}

func (p *packer) open() int { return p.cuts[len(p.cuts)-1] }

func (p *packer) cut(offset int) {
	p.cuts = append(p.cuts, offset)
	p.lead = -1
}
