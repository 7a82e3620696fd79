// Package verify proves that readers of a published snapshot get the docs folder: every listing, every byte, every answer
// to a pattern, and no way to write; and each viewer what is theirs, and no sign of anything else. It lists and reads the
// folder itself, opens the snapshot as any reader does, and repairs nothing. What ignores a path, and who may see it, is
// asked of package source, and nothing else is.
package verify

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/chunker"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/source"
	"github.com/chromafs/chromafs/vfs"
)

// Options say what to compare with. The zero value of each field but Dir is the default.
type Options struct {
	// Dir is the docs folder.
	Dir string
	// Collection is the name of the collection; a snapshot of another one is a finding. Empty is not compared.
	Collection string
	// Source is what ingest was given: its rules explain absences, and its rules and default who may see what.
	Source source.Options
	// Blobs opens what readers read the lazy files of a tree with. It has nothing from before, so that what is proven is what
	// the storage holds, and room for a few of the pieces that it fetches together. It is called where the tree has a lazy
	// file, and nobody closes what it returns. That it is nil, or returns nil or an error, is found of each such file.
	Blobs func(ctx context.Context, tree *snapshot.Tree) (Blobs, error)
	// NoFetch reads nothing of lazy files, and only asks whether their objects are there with the right size.
	NoFetch bool
	// Patterns is how many searches to try, 200 by default; a small corpus may not have as many.
	Patterns int
	// PerKind is how many findings of each kind to report one by one, 50 by default; the rest is counted.
	PerKind int
	// Progress is called from one goroutine at a time, as often as there is news; nil means nobody looks.
	Progress func(stage string, done, total int)
}

// Report is what was compared and what differed.
type Report struct {
	Snapshot  string    `json:"snapshot"`
	Published time.Time `json:"published"`
	Folders   int       `json:"folders"`
	Files     int       `json:"files"` // with lazy ones
	Links     int       `json:"links"`
	Bytes     int64     `json:"bytes"` // without those of lazy files
	// Lazy is the number of lazy files, LazyBytes their size, and Fetched how many of them were read to their end.
	Lazy      int   `json:"lazy"`
	LazyBytes int64 `json:"lazyBytes"`
	Fetched   int   `json:"fetched"`
	// NoFetch is set if none was to be read.
	NoFetch bool `json:"noFetch"`
	// Records is the number of the snapshot's chunk records that the store lists.
	Records int `json:"records"`
	// Patterns are those tried, by class; Lines are the lines that they matched in the folder.
	Patterns map[Class]int `json:"patterns"`
	Lines    int           `json:"lines"`
	// Writes is the number of writes tried.
	Writes int `json:"writes"`
	// Viewers are those whose view was compared: anonymous, signed in, a member of each single group, of all groups.
	Viewers []ViewerReport `json:"viewers"`
	// Lookups are those of names that a viewer may not know. Secrets are lines that one page alone has, which were searched
	// for viewers who may not see it.
	Lookups int `json:"lookups"`
	Secrets int `json:"secrets"`
	// Ignored counts the paths that are absent for a stated reason.
	Ignored map[source.Reason]int `json:"ignored"`
	// Findings are sorted by kind and path; More counts those of each kind that are not listed.
	Findings []Finding    `json:"findings"`
	More     map[Kind]int `json:"more,omitempty"`
}

// OK reports whether nothing differs.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// reader is the filesystem that readers get.
type reader interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.ReadLinkFS
	fs.StatFS
	writable
	Candidates(ids []string) []vfs.Candidate
}

// run is one verification under way.
type run struct {
	Options
	store    index.Store
	findings *findings
	report   *Report

	location    snapshot.Location
	tree        *snapshot.Tree
	serve       server
	blobs       Blobs  // nil without lazy files
	fsys        reader // for the operator, who sees every page
	folder      *source.Folder
	listing     *source.Listing
	absentFiles []string // only in the folder, for no reason
	absentLinks []string // only in the folder, so far for no reason

	chunks chunks
	seen   []bool  // entries of the tree that the folder has, or its pointers name
	files  []int   // those that are files on both sides
	pages  []int   // those of them that are chunks, to be compared
	lazies []int   // those of them that are lazy
	links  []int   // those that are the same link on both sides
	state  []state // of the content of each entry
	bases  []int   // number of chunks in all entries before entry i

	decided []*access.Decision // by entry of the tree, nil where the folder has no such file or link
	def     *access.Decision
	whole   bool // the tree has all files and links that the folder decides on
	outline *outline
	viewers []*viewer
	secrets secrets
}

// state is what is known of the content of an entry.
type state byte

const (
	unread state = iota
	stale        // the folder's file is not the one published
	good         // readers get the folder's bytes
)

// server opens the published tree over chunks and blobs, for one viewer after another. The sessions have a cache of some
// bytes in common.
type server func(ctx context.Context, chunks vfs.Chunks, blobs vfs.Blobs, cache int64) func(access.Viewer) reader

var operator = access.Viewer{Operator: true}

// Run compares. The error says that it could not: the folder or the store can't be read, nothing is published, or the
// context ended. Whatever differs is in the report, all of it.
func Run(ctx context.Context, store index.Store, location snapshot.Location, o Options) (*Report, error) {
	return start(store, o).run(ctx, location)
}

func start(store index.Store, o Options) *run {
	r := &run{Options: o.withDefaults(), store: store}
	r.findings = newFindings(r.PerKind)
	r.report = &Report{NoFetch: o.NoFetch, Patterns: make(map[Class]int), Ignored: make(map[source.Reason]int)}
	r.serve = r.sessions
	return r
}

func (r *run) run(ctx context.Context, location snapshot.Location) (*Report, error) {
	var err error
	if r.folder, err = source.Open(r.Dir, r.Source); err != nil {
		return nil, err
	}
	defer r.folder.Close()
	if err := r.open(ctx, location); err != nil {
		return nil, err
	}
	if r.tree != nil {
		if err := r.compare(ctx); err != nil {
			return nil, err
		}
	}
	r.report.Findings, r.report.More = r.findings.sorted()
	return r.report, nil
}

func (o Options) withDefaults() Options {
	if o.Patterns == 0 {
		o.Patterns = defaultPatterns
	}
	if o.PerKind == 0 {
		o.PerKind = 50
	}
	if o.Source.Check == nil {
		o.Source.Check = chunker.Check
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return o
}

// open loads the snapshot as a reader does. A damaged one is a finding, and leaves tree nil.
func (r *run) open(ctx context.Context, location snapshot.Location) error {
	p, err := location.Load(ctx)
	if snapshot.IsDamage(err) {
		r.findings.add(KindSnapshot, "", err.Error())
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the published snapshot: %w", err)
	}
	if name := p.Tree.Header().Collection; r.Collection != "" && name != r.Collection {
		r.findings.add(KindSnapshot, "", fmt.Sprintf("the published snapshot is of collection %q, not %q: is the snapshot folder right?", name, r.Collection))
		return nil
	}
	r.location, r.tree = location, p.Tree
	r.report.Snapshot, r.report.Published = p.Digest, p.At
	if err := r.openBlobs(ctx); err != nil {
		return err
	}
	r.fsys = r.serve(ctx, r.store, r.blobs, noCache)(operator)
	r.seen = make([]bool, r.tree.Len())
	r.state = make([]state, r.tree.Len())
	r.bases = make([]int, r.tree.Len()+1)
	for i := range r.tree.Len() {
		r.bases[i+1] = r.bases[i] + r.tree.At(i).Chunks
	}
	return nil
}

// noCache has every page fetched at every read.
const noCache = -1

// sessions are what readers get.
func (r *run) sessions(ctx context.Context, chunks vfs.Chunks, blobs vfs.Blobs, cache int64) func(access.Viewer) reader {
	shared := vfs.NewShared(r.tree, chunks, vfs.Options{CacheBytes: cache, Blobs: blobs})
	return func(v access.Viewer) reader { return shared.For(v).WithContext(ctx) }
}

// compare goes through everything; each part adds its findings and only fails where it can't go on.
func (r *run) compare(ctx context.Context) error {
	parts := []func(context.Context) error{
		r.compareFolders, r.compareAccess, r.compareIDs, r.comparePathTree, r.compareViewers, r.comparePages,
		r.compareLazies, r.searchSecrets, r.tryWrites,
	}
	for _, part := range parts {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// workers is how many things are done at a time.
func workers() int { return runtime.GOMAXPROCS(0) }
