package report

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/chromafs/chromafs/verify"
)

// Verify prints what a verify compared and found. seconds is how long it took.
func Verify(w io.Writer, format string, r *verify.Report, seconds float64) error {
	if format == JSON {
		if r.Findings == nil {
			r.Findings = []verify.Finding{}
		}
		if r.Viewers == nil {
			r.Viewers = []verify.ViewerReport{}
		}
		return encode(w, struct {
			OK bool `json:"ok"`
			*verify.Report
			Seconds float64 `json:"seconds"`
		}{r.OK(), r, seconds})
	}
	for _, f := range r.Findings {
		if err := finding(w, f); err != nil {
			return err
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(r.More)) {
		if _, err := fmt.Fprintf(w, "%s: %s more\n", kind, count(r.More[kind])); err != nil {
			return err
		}
	}
	if err := viewers(w, r.Viewers); err != nil {
		return err
	}
	if err := lazies(w, r); err != nil {
		return err
	}
	verdict := "ok"
	if !r.OK() {
		verdict = "different"
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s, %s, %s with %s, in %.1f s; %s\n", verdict, things(r.Files, "file"), things(r.Folders, "folder"),
		bytesText(r.Bytes), things(total(r.Patterns), "pattern"), things(r.Lines, "line"), seconds, r.Snapshot)
	return err
}

func finding(w io.Writer, f verify.Finding) error {
	path := "the snapshot"
	if f.Path != "" {
		path = fmt.Sprintf("%q", f.Path)
	}
	_, err := fmt.Fprintf(w, "%s: %s: %s\n  remedy: %s\n", f.Kind, path, Printable(f.Detail), Printable(f.Remedy))
	return err
}

// viewers prints one line where any of them may not see all.
func viewers(w io.Writer, list []verify.ViewerReport) error {
	hides := func(v verify.ViewerReport) bool { return v.Hidden > 0 }
	if !slices.ContainsFunc(list, hides) {
		return nil
	}
	checked := 0
	for _, v := range list {
		checked += 1 + v.Others
	}
	first := list[0]
	_, err := fmt.Fprintf(w, "access: %s checked; %s sees %s of %s\n", things(checked, "viewer"), first.Name, count(first.Visible),
		things(first.Visible+first.Hidden, "file"))
	return err
}

// lazies prints how far lazy files were compared, if there are any.
func lazies(w io.Writer, r *verify.Report) error {
	if r.Lazy == 0 {
		return nil
	}
	how := "fetched and compared"
	switch {
	case r.NoFetch:
		how = "not fetched (--no-fetch): existence and size by HEAD only"
	case r.Fetched < r.Lazy:
		how = fmt.Sprintf("%s of them fetched and compared", count(r.Fetched))
	}
	_, err := fmt.Fprintf(w, "lazy: %s, %s, %s\n", things(r.Lazy, "file"), bytesText(r.LazyBytes), how)
	return err
}

func total(patterns map[verify.Class]int) int {
	n := 0
	for _, k := range patterns {
		n += k
	}
	return n
}
