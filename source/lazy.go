package source

import "fmt"

// LazyOptions say which files readers get as a whole, when they ask for them, rather than as chunks.
type LazyOptions struct {
	// SpecBytes is the size above which an API description is lazy: 64 KiB for 0, none at all below 0.
	SpecBytes int64
	// Match are globs, as in Options.Rules, of files that are lazy whatever they hold. An empty file never is.
	Match []string
}

// specBytes is the size of API descriptions above which they are lazy by default.
const specBytes = 64 << 10

// LazyReason is why a file is lazy, in words for a person; there are only the ones below. The first that holds is given.
type LazyReason string

// The reasons. Content that can't be chunked makes pages and API descriptions lazy, and of other files only those that a glob
// of Options.Include names.
const (
	LazyMatch   LazyReason = "named by lazy.match"
	LazySpec    LazyReason = "API description over the limit"
	LazyContent LazyReason = "content can't be chunked"
)

// Lazy is why a file is not chunked.
type Lazy struct {
	Reason LazyReason
	// Detail names the deciding glob, limit or fault.
	Detail string
}

// judge decides what becomes of a file of the kind, as far as is known of it: nil for what can be chunked, and an
// *Ignored for what is not selected.
func (r *reading) judge(kind Kind) (*Lazy, error) {
	limit := r.folder.opts.Lazy.SpecBytes
	if limit == 0 {
		limit = specBytes
	}
	switch {
	case r.match != nil:
		return &Lazy{LazyMatch, r.match.text}, nil
	case kind == Spec && limit > 0 && r.before.size > limit:
		return &Lazy{LazySpec, fmt.Sprintf("more than %d bytes", limit)}, nil
	case r.refusal == nil:
		return nil, nil
	case kind != Plain || r.folder.include.brings(r.name):
		return &Lazy{LazyContent, r.refusal.Error()}, nil
	}
	return nil, &Ignored{r.name, NotText, r.refusal.Error()}
}

// mayBeLazy reports whether there may be a reason, by the name alone.
func (r *reading) mayBeLazy() bool {
	return r.match != nil || isPage(r.name) || isData(r.name) || r.folder.include.brings(r.name)
}
