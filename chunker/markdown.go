package chunker

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Bounds on what goldmark is given: its time and memory grow with the number of lines times that of open blocks, and a
// list of one-letter items takes two hundred times its size.
const (
	// maxParse is the size of a document above which the line scanner finds the blocks.
	maxParse = 128 << 10
	// maxNesting is the number of open lists, list items and quotes beyond which no other is recognised.
	maxNesting = 16
)

// blockParser has goldmark's block parsers only. Inline parsing, which is quadratic on hostile input, and link
// definitions move no block.
var blockParser = parser.NewParser(parser.WithBlockParsers(
	watched(parser.NewSetextHeadingParser(), 100),
	watched(parser.NewThematicBreakParser(), 200),
	watched(shallow{parser.NewListParser()}, 300),
	watched(parser.NewListItemParser(), 400),
	watched(parser.NewCodeBlockParser(), 500),
	watched(parser.NewATXHeadingParser(), 600),
	watched(parser.NewFencedCodeBlockParser(), 700),
	watched(shallow{parser.NewBlockquoteParser()}, 800),
	watched(parser.NewHTMLBlockParser(), 900),
	watched(parser.NewParagraphParser(), 1000),
))

// foundKey is where a parse keeps its *[]block.
var foundKey = parser.NewContextKey()

// parse appends the top-level blocks of a Markdown document that begins at offset body.
func parse(blocks []block, content []byte, body int) []block {
	n := len(blocks)
	pc := parser.NewContext()
	pc.Set(foundKey, &blocks)
	blockParser.Parse(text.NewReader(content[body:]), parser.WithContext(pc))
	for i := range blocks[n:] {
		blocks[n+i].start += body
		blocks[n+i].text += body
	}
	return blocks
}

// watcher notes each top-level block as it is opened.
type watcher struct{ parser.BlockParser }

func watched(p parser.BlockParser, priority int) util.PrioritizedValue {
	return util.Prioritized(watcher{p}, priority)
}

// Open notes the block and drops those before the previous one, which are finished, from the tree: that bounds its
// memory and spares them the inline parsing that goldmark does even without inline parsers.
func (w watcher) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, line := r.PeekLine()
	node, state := w.BlockParser.Open(parent, r, pc)
	if node == nil || parent.Kind() != ast.KindDocument {
		return node, state
	}
	found := pc.Get(foundKey).(*[]block)
	switch h, ok := node.(*ast.Heading); {
	case ok && state&parser.RequireParagraph != 0: // an underline: the paragraph before it is the heading
		b := &(*found)[len(*found)-1]
		from, to := trim(r.Source(), b.start, line.Start)
		b.text, b.size, b.level = from, to-from, int8(h.Level)
	case ok:
		b, _ := heading(r.Source(), line.Start, line.Stop)
		*found = append(*found, b)
	default:
		*found = append(*found, block{start: line.Start})
	}
	for parent.FirstChild() != parent.LastChild() {
		parent.RemoveChild(parent, parent.FirstChild())
	}
	return node, state
}

// shallow limits the nesting of a container.
type shallow struct{ parser.BlockParser }

// Open refuses what is nested too deep; it is then read as the text of a paragraph.
func (s shallow) Open(parent ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= maxNesting {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, r, pc)
}
