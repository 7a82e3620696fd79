package verify

import (
	"cmp"
	"slices"
	"sync"
)

// Kind names one way in which a reader does not get the folder.
type Kind string

// The kinds of finding.
const (
	// KindSnapshot: what is published can't be read, so nothing else could be compared.
	KindSnapshot Kind = "snapshot"
	// KindMissing: in the folder, neither in the snapshot nor ignored for a stated reason.
	KindMissing Kind = "missing"
	// KindExtra: in the snapshot, but not in the folder, or ignored there.
	KindExtra Kind = "extra"
	// KindType: a file on one side, a folder or link on the other.
	KindType Kind = "type"
	// KindLink: a link that leads elsewhere than the folder's.
	KindLink Kind = "link"
	// KindSize: a size in the snapshot, a listing or the answer to stat that is not that of the content.
	KindSize Kind = "size"
	// KindStale: the folder's file is not the one that was published.
	KindStale Kind = "stale"
	// KindAccess: other viewers than the folder says.
	KindAccess Kind = "access"
	// KindLeak: a viewer gets what is not theirs, or learns of it.
	KindLeak Kind = "leak"
	// KindHidden: a viewer does not get what is theirs.
	KindHidden Kind = "hidden"
	// KindListing: a listing that is not the snapshot's, or out of order.
	KindListing Kind = "listing"
	// KindChunkMissing: the store lacks a chunk that the snapshot names.
	KindChunkMissing Kind = "chunk-missing"
	// KindChunkAltered: a chunk is not the part of the file that it stands for.
	KindChunkAltered Kind = "chunk-altered"
	// KindContent: a file can't be read, or reads wrong, for another reason.
	KindContent Kind = "content"
	// KindLazy: lazy in the snapshot and chunked by the folder, or the other way round, or another object than was named.
	KindLazy Kind = "lazy"
	// KindObject: what holds a lazy file is missing, unreadable, changed, or not of the right size.
	KindObject Kind = "object"
	// KindRecord: the metadata of a record is not what the snapshot says.
	KindRecord Kind = "record"
	// KindRecordExtra: a chunk record of this site that the snapshot does not name.
	KindRecordExtra Kind = "record-extra"
	// KindPathTree: the compact tree in the collection is not the snapshot's.
	KindPathTree Kind = "path-tree"
	// KindSearch: a coarse search left out a record that holds what was searched.
	KindSearch Kind = "search"
	// KindGrep: an answer to a pattern is not that of a plain scan of the folder.
	KindGrep Kind = "grep"
	// KindWrite: a write was not refused.
	KindWrite Kind = "write"
)

const (
	reingest = "run chromafs ingest again"
	rewrite  = "run chromafs ingest --rewrite, which writes every record and sends every object again"
	report   = "this is a defect of chromafs or of its store: please report it"
	others   = "look at the other findings first; if there are none, " + report
)

// remedies is what helps against each kind.
var remedies = map[Kind]string{
	KindSnapshot:     rewrite,
	KindMissing:      reingest,
	KindExtra:        reingest,
	KindType:         reingest,
	KindLink:         reingest,
	KindSize:         rewrite,
	KindStale:        reingest + ", or find out why an older snapshot is published",
	KindAccess:       reingest + " with the options that verify was given",
	KindLeak:         others,
	KindHidden:       others,
	KindListing:      report,
	KindChunkMissing: rewrite,
	KindChunkAltered: rewrite,
	KindContent:      rewrite,
	KindLazy:         reingest + " with the options that verify was given",
	KindObject:       rewrite,
	KindRecord:       rewrite,
	KindRecordExtra:  reingest + ": it deletes old records of this site; another writer's records belong into another collection",
	KindPathTree:     rewrite,
	KindSearch:       report,
	KindGrep:         others,
	KindWrite:        report,
}

// Finding is one difference.
type Finding struct {
	Kind Kind `json:"kind"`
	// Path is relative to the docs folder, empty where the finding is not about one path.
	Path   string `json:"path"`
	Detail string `json:"detail"`
	// Remedy is what to do next.
	Remedy string `json:"remedy"`
}

func compareFindings(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Detail, b.Detail))
}

// findings gathers without regard to order, each difference once. Of every kind it keeps the first few by path, and
// counts the rest. It is safe for concurrent use.
type findings struct {
	perKind int

	mu    sync.Mutex
	kept  map[Kind][]Finding // sorted
	total map[Kind]int
}

func newFindings(perKind int) *findings {
	return &findings{perKind: perKind, kept: make(map[Kind][]Finding), total: make(map[Kind]int)}
}

func (f *findings) add(kind Kind, path, detail string) {
	f.put(Finding{Kind: kind, Path: path, Detail: detail, Remedy: remedies[kind]})
}

// put adds a finding whose remedy is not that of its kind.
func (f *findings) put(found Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := found.Kind
	at, known := slices.BinarySearchFunc(f.kept[kind], found, compareFindings)
	if known {
		return
	}
	f.total[kind]++
	if at < f.perKind {
		list := slices.Insert(f.kept[kind], at, found)
		f.kept[kind] = list[:min(len(list), f.perKind)]
	}
}

// sorted is what was kept, by kind and path, and how many more there are of each kind.
func (f *findings) sorted() (list []Finding, more map[Kind]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	more = make(map[Kind]int)
	for kind, kept := range f.kept {
		list = append(list, kept...)
		if n := f.total[kind] - len(kept); n > 0 {
			more[kind] = n
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), compareFindings(a, b)) })
	return list, more
}
