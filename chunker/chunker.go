// Package chunker cuts a page into ordered chunks and joins them again, byte for byte.
//
// A cut is made at a line end only and removes exactly one LF, never the file's last one, so that the chunks joined
// with one LF are the file and no line ever spans two chunks. Only LF ends a line: a CR before it stays in the text,
// and VT, FF or U+2028 are text. What can't be cut so is refused with an error; nothing is ever repaired or dropped.
//
// Where to cut is a matter of taste, not of correctness. A document within TargetBytes is one chunk. In a longer one
// whole blocks are packed, in order:
//
//   - a chunk takes the next block while the two fit TargetBytes, but a heading starts a new chunk once the current one
//     has half of that;
//   - a chunk under a quarter of TargetBytes takes the next block whatever its size, and so does the chunk before a
//     last one that small, as long as the two fit MaxBytes;
//   - a heading never ends a chunk if it fits with what follows it;
//   - a block between TargetBytes and MaxBytes (a code fence, a table, a JSX element, a list) stays whole; a longer one
//     is cut at line ends to about TargetBytes, a JSX element first between the blocks inside it.
//
// A block counts the blank lines that follow it; blank lines before the first block belong to that one. Text is cut at
// line ends like a block that is too long. Markdown of more than 128 KiB gets the line scanner of MDX, without its JSX,
// and lists and quotes nested deeper than 16 in all are text.
//
// The package is pure and deterministic, its functions are safe for concurrent use, and they take time linear in the
// input whatever it is.
package chunker

import (
	"bytes"
	"path"
	"strings"
	"sync"
)

// Version changes whenever the same file could be cut in another way.
const Version = 1

// Sizes of a chunk's text.
const (
	// TargetBytes is what blocks are packed to.
	TargetBytes = 2000
	// MaxBytes is never exceeded: Chroma Cloud refuses longer documents.
	MaxBytes = 16384
)

// Syntax says how the blocks of a file are found. Every file may be cut by any of them.
type Syntax int

const (
	// Text has no blocks but its lines, and no headings.
	Text Syntax = iota
	// Markdown is CommonMark, optionally after a frontmatter.
	Markdown
	// MDX is Markdown with JSX, import and export.
	MDX
)

// SyntaxOf goes by the extension of a path, in either case; what it doesn't know is Text.
func SyntaxOf(name string) Syntax {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown":
		return Markdown
	case ".mdx":
		return MDX
	}
	return Text
}

// Chunk is one piece of a file.
type Chunk struct {
	// Text aliases the file's bytes. It is empty only for the empty file.
	Text []byte
	// Headings is the path of headings in force at the first line, outermost first, with the heading that the chunk
	// begins with, if any. They are as written, without markers and surrounding blanks. Chunks may share the slice.
	Headings []string
	// StartLine is the number of the first line in the file, from 1.
	StartLine int
}

// Split cuts content into at least one chunk, or returns the error of Check. The chunks' texts alias content.
func Split(syntax Syntax, content []byte) ([]Chunk, error) {
	if err := Check(content); err != nil {
		return nil, err
	}
	if len(content) <= TargetBytes {
		path := outline{content: content}
		path.enter(opening(syntax, content))
		return []Chunk{{Text: content[:len(content):len(content)], Headings: path.names(), StartLine: 1}}, nil
	}
	space := blockSpace.Get().(*[]block)
	defer blockSpace.Put(space)
	*space = split(*space, syntax, content)
	return chunks(content, pack(content, *space), *space), nil
}

// blockSpace spares the blocks of one file after the other to the garbage collector.
var blockSpace = sync.Pool{New: func() any { return new([]block) }}

// Join is the inverse of Split: the texts of all chunks of one file, in order, give its bytes.
func Join[T ~string | ~[]byte](texts ...T) []byte {
	size := max(len(texts)-1, 0)
	for _, t := range texts {
		size += len(t)
	}
	out := make([]byte, 0, size)
	for i, t := range texts {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, t...)
	}
	return out
}

// chunks cuts content before each of the offsets in cuts; the first is 0.
func chunks(content []byte, cuts []int, blocks []block) []Chunk {
	out := make([]Chunk, len(cuts))
	path := outline{content: content}
	line := 1
	for i, start := range cuts {
		next, end := len(content), len(content)
		if i+1 < len(cuts) {
			next, end = cuts[i+1], cuts[i+1]-1
		}
		for len(blocks) > 0 && blocks[0].start <= start {
			path.enter(blocks[0])
			blocks = blocks[1:]
		}
		out[i] = Chunk{Text: content[start:end:end], Headings: path.names(), StartLine: line}
		line += bytes.Count(content[start:next], newline)
	}
	return out
}
