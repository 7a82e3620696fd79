// Package report prints the results of commands, as text for people and as JSON for machines.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/chromafs/chromafs/ingest"
	"github.com/chromafs/chromafs/source"
)

// Formats that every command prints.
const (
	Text = "text"
	JSON = "json"
)

// Ingest prints what an ingest did, or would do in a dry run. seconds is how long it took.
func Ingest(w io.Writer, format string, r *ingest.Result, dryRun bool, seconds float64) error {
	if format == JSON {
		return encode(w, ingestJSON(r, dryRun, seconds))
	}
	links := ""
	if r.Links > 0 {
		links = " and " + things(r.Links, "link")
	}
	_, err := fmt.Fprintf(w, "%s%s, %s, %s in %.1f s\n", things(r.Pages, "page"), links, things(r.Chunks, "chunk"), bytesText(r.Bytes), seconds)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "access: %s\n", counts(r.Audiences))
	lazyFiles(w, r, dryRun)
	changes(w, r, dryRun)
	if len(r.Ignored) > 0 {
		fmt.Fprintf(w, "ignored: %s\n", counts(byReason(r.Ignored)))
	}
	_, err = fmt.Fprintf(w, "%s %s\n", state(r, dryRun), r.Snapshot)
	return err
}

func state(r *ingest.Result, dryRun bool) string {
	switch {
	case !r.Changed:
		return "unchanged"
	case dryRun:
		return "would publish"
	}
	return "published"
}

type jsonIngest struct {
	Snapshot        string         `json:"snapshot"`
	Changed         bool           `json:"changed"`
	Published       bool           `json:"published"`
	DryRun          bool           `json:"dry_run"`
	Pages           int            `json:"pages"`
	Links           int            `json:"links"`
	Chunks          int            `json:"chunks"`
	Bytes           int64          `json:"bytes"`
	Written         int            `json:"written"`
	Copied          int            `json:"copied"`
	Deleted         int            `json:"deleted"`
	Added           int            `json:"added"`
	Edited          int            `json:"edited"`
	Removed         int            `json:"removed"`
	Lazy            []jsonLazy     `json:"lazy"`
	Sent            int            `json:"sent"`
	SentBytes       int64          `json:"sent_bytes"`
	Audiences       map[string]int `json:"audiences"`
	Default         jsonDecision   `json:"default"`
	Widened         []jsonChange   `json:"widened"`
	Narrowed        []jsonChange   `json:"narrowed"`
	Denied          []jsonWarning  `json:"denied"`
	Ignored         []jsonIgnored  `json:"ignored"`
	IgnoredByReason map[string]int `json:"ignored_by_reason"`
	Warnings        []jsonWarning  `json:"warnings"`
	Seconds         float64        `json:"seconds"`
}

type jsonIgnored struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

type jsonWarning struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func ingestJSON(r *ingest.Result, dryRun bool, seconds float64) jsonIngest {
	out := jsonIngest{
		Snapshot: r.Snapshot, Changed: r.Changed, Published: r.Published, DryRun: dryRun, Pages: r.Pages, Links: r.Links, Chunks: r.Chunks, Bytes: r.Bytes,
		Written: r.Written, Copied: r.Copied, Deleted: r.Deleted, Added: r.Added, Edited: r.Edited, Removed: r.Removed,
		Audiences: r.Audiences, Default: decisionJSON(r.Default), Widened: changesJSON(r.Widened), Narrowed: changesJSON(r.Narrowed),
		IgnoredByReason: byReason(r.Ignored), Seconds: seconds,
		Lazy: []jsonLazy{}, Sent: r.Sent, SentBytes: r.SentBytes, Denied: []jsonWarning{}, Ignored: []jsonIgnored{}, Warnings: []jsonWarning{},
	}
	for _, f := range r.Denied {
		out.Denied = append(out.Denied, jsonWarning{f.At.Path, f.At.Line, f.Err.Error()})
	}
	for _, f := range r.Lazy {
		out.Lazy = append(out.Lazy, jsonLazy{f.Path, f.Size, string(f.Reason), f.Detail, f.URI})
	}
	for _, i := range r.Ignored {
		out.Ignored = append(out.Ignored, jsonIgnored{i.Path, string(i.Reason), i.Detail})
	}
	for _, w := range r.Warnings {
		out.Warnings = append(out.Warnings, jsonWarning(w))
	}
	return out
}

func byReason(ignored []source.Ignored) map[string]int {
	m := map[string]int{}
	for _, i := range ignored {
		m[string(i.Reason)]++
	}
	return m
}

// counts is a list of numbers of things, by name.
func counts(m map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %s", count(m[name]), name))
	}
	return strings.Join(parts, ", ")
}

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// things is a number of something.
func things(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return count(n) + " " + name + "s"
}

// count writes n with a comma every three digits.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func bytesText(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, u := float64(n), 0
	for v >= 1000 && u < len(units)-1 {
		v, u = v/1000, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}
