// Package index holds chunk records: one Store interface, implemented over Chroma (index/chroma) and over one SQLite
// file (index/sqlite), and held to one conformance suite (index/indextest). It knows records, not pages.
package index

import (
	"context"
	"errors"
)

// Kinds of record that chromafs writes. Records of no kind, or another, belong to somebody else and are left alone.
const (
	KindChunk    = "chunk"
	KindPathTree = "path_tree"
	KindPart     = "part"
)

// Errors that callers branch on.
var (
	// ErrUnavailable: the store can't be reached, or did not answer in time. A write may have happened all the same.
	ErrUnavailable = errors.New("store unavailable")
	// ErrNoCollection: the collection does not exist and the caller did not ask for it to be made.
	ErrNoCollection = errors.New("no such collection")
	// ErrNoRecord: a record that is to be copied does not exist.
	ErrNoRecord = errors.New("no such record")
	// ErrChanged: somebody else made the store while the caller took it for empty. Nothing was written; whoever starts
	// anew sees what is there.
	ErrChanged = errors.New("changed by another ingest meanwhile: run it again")
	// ErrCorrupt: the store answered with something that no writer of this project wrote.
	ErrCorrupt = errors.New("store corrupt")
)

// MaxKeyBytes is where the metadata values Title and Headings are cut, at a rune border, by whoever makes the record.
const MaxKeyBytes = 1024

// Record is one row of the collection. The embedding is the store's own matter. Every string is valid UTF-8 without NUL.
type Record struct {
	ID       string
	Document string
	Metadata Metadata
}

// Metadata are the only keys that are ever written (Chroma is poisoned by some foreign ones). The wire name is in the
// tag. A zero value means that the key is absent, but for ChunkIndex, IsPublic, Groups and Visibility of a chunk, which
// are always written.
type Metadata struct {
	Kind       string   `json:"kind,omitempty"`
	PageSlug   string   `json:"page_slug,omitempty"`
	ChunkIndex int      `json:"chunk_index"`
	IsPublic   bool     `json:"isPublic"`
	Groups     []string `json:"groups"`
	Visibility string   `json:"visibility"`
	Title      string   `json:"title,omitempty"`
	Headings   string   `json:"headings,omitempty"`
	StartLine  int      `json:"start_line,omitempty"`
	Site       string   `json:"site,omitempty"`
	URL        string   `json:"url,omitempty"`
	RetiredAt  int64    `json:"retired_at,omitempty"`
	// Snapshot, Parts and PublishedAt stand on the path-tree record alone: the digest of the published snapshot, the ids
	// of its manifest records joined by commas, and Unix seconds. Retiring names older snapshots' manifests likewise,
	// whose records are not all deleted yet.
	Snapshot    string `json:"snapshot,omitempty"`
	Parts       string `json:"parts,omitempty"`
	PublishedAt int64  `json:"published_at,omitempty"`
	Retiring    string `json:"retiring,omitempty"`
	// Part is the text of a part of a snapshot. It is not the document, because Chroma indexes every three bytes of those
	// for its searches: as documents the parts cost a tenth of a first ingest.
	Part string `json:"part,omitempty"`
}

// Copy writes the record From once more under the id To, with other metadata, its document and its embedding as they are
// stored. From stays as it is; where it is To itself, only its metadata are replaced.
type Copy struct {
	From, To string
	Metadata Metadata
}

// Query is a coarse search. It selects chunk records whose document holds at least one of Literals.
type Query struct {
	// Literals are plain text of valid UTF-8, none empty, at least one.
	Literals []string
	// FoldCase compares by Unicode simple case folding, as regexp's (?i) does.
	FoldCase bool
}

// Store is one collection of records. Implementations are safe for concurrent use. Every method returns the context's
// error when it ends first; after an error of a write, the write may or may not have happened.
//
// A Store that is opened for writing where nothing is yet makes nothing before its first write: until then it is empty.
// If another one has made it meanwhile, the first write is ErrChanged.
type Store interface {
	// Upsert writes whole records: a key that a record lacks is absent afterwards, whatever was there. A batch of any
	// size is taken and cut to what the backend likes; each cut is atomic, the whole is not. Nothing is written of
	// records that Validate refuses.
	Upsert(ctx context.Context, records []Record) error
	// Copy writes the records To, whole, as Upsert does: cut to what the backend likes, and by the same contract of the
	// first write. Several copies may have one From. Nothing is written of copies that ValidateCopies refuses, nor of a cut
	// with a From that does not exist, which is ErrNoRecord and is named.
	Copy(ctx context.Context, copies []Copy) error
	// Get returns the records of ids that exist, in the order of ids. Asking twice for one id is the caller's mistake.
	Get(ctx context.Context, ids []string) ([]Record, error)
	// Documents is Get without metadata: id to document, for the ids that exist.
	Documents(ctx context.Context, ids []string) (map[string]string, error)
	// Metadata is Get without documents, in the order of ids.
	Metadata(ctx context.Context, ids []string) ([]Record, error)
	// Delete removes the records of ids; those that do not exist are skipped.
	Delete(ctx context.Context, ids []string) error
	// IDs lists the ids of the records whose kind and site are given, in no order; an empty site means the records
	// without one. An empty kind lists every record of the collection, whoever wrote it and whatever the site.
	IDs(ctx context.Context, kind, site string) ([]string, error)
	// Count is the number of all records in the collection.
	Count(ctx context.Context) (int, error)
	// Search returns the ids of the chunk records that q selects, in no order. It may return too many (of other sites,
	// too), never too few.
	Search(ctx context.Context, q Query) ([]string, error)
	// Batch is the number of records per Upsert that suits the backend. Callers need not obey: they may close a batch
	// earlier, by its bytes for one, to bound their own memory.
	Batch() int
	Close() error
}
