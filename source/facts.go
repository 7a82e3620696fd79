package source

import "github.com/chromafs/chromafs/access"

// Facts are what a file says of itself and of others, as far as it takes to decide who may see it. They hold none of its
// content. What is nil or empty was not said; most files say nothing.
type Facts struct {
	Path string
	Kind Kind
	// Own is what the page's frontmatter says.
	Own *access.Said
	// Uses is what the file has to do with others.
	Uses *Uses
}

// Uses are the files whose content is shown with this one's, and the pages that a platform makes of this one.
type Uses struct {
	Files []Use
	// Parts are what an API description says, below its x-mint keys, of the pages that are made of it.
	Parts []access.Said
}

// Use is one place that names another file.
type Use struct {
	// Target is as written: the path of an import, or the file of an API description; empty stands for any API
	// description, where a page names only an operation.
	Target string
	// Spec is set for API descriptions.
	Spec bool
	Line int // from 1
}
