package report

import (
	"fmt"
	"io"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/ingest"
)

// mostChanges is how many changes of one kind are printed one by one.
const mostChanges = 50

// changes prints what a run writes, and whose pages come to be seen by others. Widened ones stand out.
func changes(w io.Writer, r *ingest.Result, dryRun bool) {
	if dryRun {
		fmt.Fprintf(w, "%d added, %d edited, %d removed; would write %s, delete %s\n", r.Added, r.Edited, r.Removed, things(r.Written, "record"), count(r.Deleted))
		audience(w, "narrowed", r.Narrowed)
	} else {
		copied := ""
		if r.Copied > 0 {
			copied = fmt.Sprintf(" (%s copied)", count(r.Copied))
		}
		fmt.Fprintf(w, "%s written%s, %s deleted\n", things(r.Written, "record"), copied, count(r.Deleted))
	}
	Widened(w, r)
	for _, f := range r.Denied {
		fmt.Fprintf(w, "DENIED %s\n", Printable(f.Error()))
	}
}

// Widened prints the pages that more viewers would see than do now.
func Widened(w io.Writer, r *ingest.Result) { audience(w, "WIDENED", r.Widened) }

func audience(w io.Writer, what string, list []ingest.Change) {
	for i, c := range list {
		if i == mostChanges {
			fmt.Fprintf(w, "%s %s more\n", what, count(len(list)-i))
			return
		}
		path := c.Path
		if path == "" {
			path = "(pages of which nothing is said)"
		}
		if c.From != "" {
			path += " (was " + c.From + ")"
		}
		fmt.Fprintf(w, "%s %s: %s -> %s; %s\n", what, Printable(path), Printable(c.Before.String()), Printable(c.After.String()), Printable(reason(c.Why)))
	}
}

// reason is one line: what decides, where, and what is said there.
func reason(r access.Reason) string {
	s := string(r.Source)
	if r.At.Path != "" {
		s += " at " + r.At.String()
	}
	if r.Text != "" {
		s += ": " + r.Text
	}
	return s
}

type jsonAccess struct {
	Public   bool     `json:"isPublic"`
	Groups   []string `json:"groups"`
	Excludes []string `json:"excludes,omitempty"`
}

func accessJSON(a access.Access) jsonAccess {
	groups := a.Groups
	if groups == nil {
		groups = []string{}
	}
	return jsonAccess{a.Public, groups, a.Excludes}
}

type jsonReason struct {
	Source string `json:"source"`
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Text   string `json:"text"`
}

func reasonJSON(r access.Reason) jsonReason {
	return jsonReason{string(r.Source), r.At.Path, r.At.Line, r.Text}
}

type jsonDecision struct {
	Access  jsonAccess   `json:"access"`
	Because jsonReason   `json:"because"`
	Others  []jsonReason `json:"others,omitempty"`
}

func decisionJSON(d *access.Decision) jsonDecision {
	if d == nil {
		d = &access.Decision{}
	}
	out := jsonDecision{Access: accessJSON(d.Access), Because: reasonJSON(d.Reason)}
	for _, o := range d.Others {
		out.Others = append(out.Others, reasonJSON(o))
	}
	return out
}

type jsonChange struct {
	Path    string     `json:"path"`
	From    string     `json:"from,omitempty"`
	Before  jsonAccess `json:"before"`
	After   jsonAccess `json:"after"`
	Because jsonReason `json:"because"`
}

func changesJSON(list []ingest.Change) []jsonChange {
	out := []jsonChange{}
	for _, c := range list {
		out = append(out, jsonChange{c.Path, c.From, accessJSON(c.Before), accessJSON(c.After), reasonJSON(c.Why)})
	}
	return out
}

// Explained is a path, and what is decided on it.
type Explained struct {
	Path string
	*access.Decision
}

// Explain prints who may see one path, and why, and the same of what a link leads to, on which it depends as well.
func Explain(w io.Writer, format string, path Explained, behind *Explained) error {
	if format == JSON {
		out := explainJSON(path)
		if behind != nil {
			target := explainJSON(*behind)
			out.LeadsTo = &target
		}
		return encode(w, out)
	}
	if behind == nil {
		return explain(w, path)
	}
	if err := explain(w, path); err != nil {
		return err
	}
	fmt.Fprintln(w, "and only whoever sees what this link leads to sees it:")
	return explain(w, *behind)
}

func explain(w io.Writer, e Explained) error {
	_, err := fmt.Fprintf(w, "%s: %s\n  decided by %s\n", Printable(e.Path), Printable(e.Access.String()), Printable(reason(e.Reason)))
	for _, o := range e.Others {
		fmt.Fprintf(w, "  also said: %s\n", Printable(reason(o)))
	}
	return err
}

type jsonExplained struct {
	Path string `json:"path"`
	jsonDecision
	LeadsTo *jsonExplained `json:"leads_to,omitempty"`
}

func explainJSON(e Explained) jsonExplained {
	return jsonExplained{Path: e.Path, jsonDecision: decisionJSON(e.Decision)}
}

// Visible is one path that a viewer sees. A folder's ends in a slash.
type Visible struct {
	Path string
	Size int64
	// Access is nil for a folder, which is there for whoever sees anything in it.
	Access *access.Access
}

// List prints the paths that a viewer sees, one a line, in the order of a walk.
func List(w io.Writer, format string, list []Visible) error {
	if format == JSON {
		return encode(w, listJSON(list))
	}
	for _, v := range list {
		if _, err := fmt.Fprintln(w, Printable(v.Path)); err != nil {
			return err
		}
	}
	return nil
}

type jsonVisible struct {
	Path   string      `json:"path"`
	Size   int64       `json:"size"`
	Access *jsonAccess `json:"access,omitempty"`
}

func listJSON(list []Visible) []jsonVisible {
	out := make([]jsonVisible, 0, len(list))
	for _, v := range list {
		item := jsonVisible{Path: v.Path, Size: v.Size}
		if v.Access != nil {
			a := accessJSON(*v.Access)
			item.Access = &a
		}
		out = append(out, item)
	}
	return out
}
