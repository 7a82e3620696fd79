package vfs

import (
	"cmp"
	"hash/maphash"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/chromafs/chromafs/snapshot"
)

// Candidate is one chunk of a file that the viewer may see.
type Candidate struct {
	Path  string
	Chunk int    // from 0
	ID    string // of its record
}

// Candidates keeps those of ids that are chunks of files which the viewer may see, each once, in the order of the tree
// and then of chunks. It is for searches over records, which know nothing of viewers: what else they find, be it of
// another site, of an older revision or no id at all, is left out before anybody reads it. It reads no content itself.
// The first call for a Shared computes the revision of every file.
func (f *FS) Candidates(ids []string) []Candidate {
	v := f.view
	type hit struct {
		entry, chunk int
		id           string
	}
	var hits []hit
	for _, id := range ids {
		rev, chunk, ok := cutID(id)
		if !ok {
			continue
		}
		if i, ok := v.revs().find(rev); ok && v.fileVisible(i) && chunk < v.tree.At(i).Chunks {
			hits = append(hits, hit{i, chunk, id})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(a.entry, b.entry), cmp.Compare(a.chunk, b.chunk)) })
	list := make([]Candidate, 0, len(hits))
	for _, h := range slices.Compact(hits) { // one chunk has one id
		list = append(list, Candidate{v.tree.Path(h.entry), h.chunk, h.id})
	}
	return list
}

// cutID is the inverse of snapshot.RecordID.
func cutID(id string) (rev string, chunk int, ok bool) {
	rev, number, _ := strings.Cut(id, "#")
	chunk, err := strconv.Atoi(number)
	return rev, chunk, err == nil && chunk >= 0 && strconv.Itoa(chunk) == number
}

// revs finds files by their revisions, in 8 bytes a file.
type revs struct {
	tree *snapshot.Tree
	seed maphash.Seed
	list []uint64 // sorted: the upper half of the revision's hash, then the entry
}

func newRevs(tree *snapshot.Tree) *revs {
	r := &revs{tree: tree, seed: maphash.MakeSeed()}
	parts := make([][]uint64, runtime.GOMAXPROCS(0))
	var group sync.WaitGroup
	for k := range parts {
		group.Go(func() {
			from, to := tree.Len()*k/len(parts), tree.Len()*(k+1)/len(parts)
			parts[k] = make([]uint64, 0, to-from)
			for i := from; i < to; i++ {
				if tree.Link(i) == "" {
					parts[k] = append(parts[k], r.hash(tree.Rev(i))|uint64(i))
				}
			}
		})
	}
	group.Wait()
	r.list = slices.Concat(parts...)
	slices.Sort(r.list)
	return r
}

// hash leaves the lower half for the entry.
func (r *revs) hash(rev string) uint64 { return maphash.String(r.seed, rev) >> 32 << 32 }

// find looks at every file whose revision has the hash of rev.
func (r *revs) find(rev string) (entry int, ok bool) {
	hash := r.hash(rev)
	at, _ := slices.BinarySearch(r.list, hash)
	for ; at < len(r.list) && r.list[at]>>32<<32 == hash; at++ {
		if i := int(uint32(r.list[at])); r.tree.Rev(i) == rev {
			return i, true
		}
	}
	return 0, false
}
