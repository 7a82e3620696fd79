package report

import (
	"fmt"
	"io"

	"github.com/chromafs/chromafs/ingest"
)

// shownLazy is how many lazy files are listed one by one.
const shownLazy = 10

type jsonLazy struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	URI    string `json:"uri,omitempty"`
}

// lazyFiles prints which files are lazy, and why.
func lazyFiles(w io.Writer, r *ingest.Result, dryRun bool) {
	if len(r.Lazy) == 0 {
		return
	}
	var size int64
	for _, f := range r.Lazy {
		size += f.Size
	}
	sent := "all there already"
	if r.Sent > 0 {
		verb := "sent"
		if dryRun {
			verb = "would send"
		}
		sent = fmt.Sprintf("%s %s, %s", verb, things(r.Sent, "object"), bytesText(r.SentBytes))
	}
	fmt.Fprintf(w, "lazy: %s, %s; %s\n", things(len(r.Lazy), "file"), bytesText(size), sent)
	for i, f := range r.Lazy {
		if i == shownLazy {
			fmt.Fprintf(w, "  and %s more (--format json lists all)\n", count(len(r.Lazy)-i))
			break
		}
		fmt.Fprintf(w, "  %s, %s: %s\n", Printable(f.Path), bytesText(f.Size), lazyReason(f))
	}
}

func lazyReason(f ingest.LazyFile) string {
	text := string(f.Reason)
	if f.Detail != "" {
		text += " (" + Printable(f.Detail) + ")"
	}
	if f.URI != "" {
		text += ", " + Printable(f.URI)
	}
	return text
}
