package vfs_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

var someGroups = []string{"staff", "legal", "guests", "sales"}

func randomGroups(r *rand.Rand) []string {
	list := slices.Clone(someGroups)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return slices.Sorted(slices.Values(list[:1+r.IntN(2)]))
}

func randomAccess(r *rand.Rand) access.Access {
	switch r.IntN(8) {
	case 0, 1:
		return access.Everyone()
	case 2:
		return access.SignedIn()
	case 3:
		return access.Nobody()
	case 4:
		return access.Access{Groups: []string{"*"}, Excludes: randomGroups(r)}
	case 5:
		return access.Access{Groups: randomGroups(r), Excludes: randomGroups(r)}
	}
	return access.Access{Groups: randomGroups(r)}
}

func randomViewer(r *rand.Rand) access.Viewer {
	switch r.IntN(8) {
	case 0:
		return operator
	case 1:
		return anonymous
	case 2:
		return signedIn
	}
	return access.Viewer{Groups: randomGroups(r)}
}

func randomPath(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(4))
	for i := range parts {
		parts[i] = string(rune('a' + r.IntN(5)))
	}
	return strings.Join(parts, "/")
}

// randomSite has about as many links as files. Its folders are few and often hold nothing but links.
func randomSite(r *rand.Rand) (pages []page) {
	for i := range 4 + r.IntN(24) {
		p := page{path: randomPath(r), access: randomAccess(r), mtime: int64(i)}
		clash := func(q page) bool {
			return p.path == q.path || strings.HasPrefix(p.path, q.path+"/") || strings.HasPrefix(q.path, p.path+"/")
		}
		if slices.ContainsFunc(pages, clash) {
			continue
		}
		if p.content = strings.Repeat(fmt.Sprintln("line", i), 1+r.IntN(3)); r.IntN(2) == 0 {
			p.content, p.link = "", randomTarget(r, p.path, pages)
		}
		pages = append(pages, p)
	}
	return pages
}

// randomTarget leads past one page, or folder, and to another, or just anywhere.
func randomTarget(r *rand.Rand, from string, pages []page) string {
	at := path.Dir(from)
	var legs []string
	for range 1 + r.IntN(2) {
		to := randomPath(r)
		if len(pages) > 0 && r.IntN(5) > 0 {
			to = pages[r.IntN(len(pages))].path
		}
		for r.IntN(3) == 0 {
			to = path.Dir(to)
		}
		rel, _ := filepath.Rel(at, to)
		at, legs = to, append(legs, filepath.ToSlash(rel))
	}
	target := strings.Join(legs, "/")
	if end := path.Join(path.Dir(from), target); end == ".." || strings.HasPrefix(end, "../") {
		return "."
	}
	return target + strings.Repeat("/", r.IntN(8)/7)
}

// TestPruneLikeFiltering holds what random viewers see of random sites to the same sites without all that a naive filter
// leaves out, in every answer: never more, and never less.
func TestPruneLikeFiltering(t *testing.T) {
	links := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		pages, viewer := randomSite(r), randomViewer(r)
		left := seenBy(viewer, pages)
		full, pruned := open(t, viewer, pages...), open(t, operator, left...)
		if got, want := walk(t, full), foldersOf(left); !slices.Equal(got, want) {
			t.Fatalf("seed %d, viewer %+v:\ngot  %q\nwant %q", seed, viewer, got, want)
		}
		all := paths(names(pages))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, name := range append(names(pages), all[:min(len(all), 60)]...) {
			for op, ask := range operations {
				if got, want := ask(full, name), ask(pruned, name); got != want {
					t.Fatalf("seed %d, viewer %+v: %s %s: %s\nwithout the hidden pages: %s", seed, viewer, op, name, got, want)
				}
			}
		}
		for _, p := range left {
			if p.link != "" {
				links++
			}
		}
	}
	if links < 100 {
		t.Fatalf("only %d visible links", links)
	}
}

// foldersOf are the names that a walk over pages meets.
func foldersOf(pages []page) (names []string) {
	for _, p := range pages {
		names = append(names, p.path)
		for d := path.Dir(p.path); d != "."; d = path.Dir(d) {
			names = append(names, d+"/")
		}
	}
	// As "/" comes before all letters, so does what is in a folder.
	slices.Sort(names)
	return slices.Compact(names)
}

// TestPrunedLikeTheFolder lays out what is left for a viewer as a real folder, and asks both the same questions.
func TestPrunedLikeTheFolder(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		pages, viewer := randomSite(r), randomViewer(r)
		fsys, folder := open(t, viewer, pages...), layOut(t, seenBy(viewer, pages))
		for _, name := range paths(names(pages)) {
			if got, want := ask(fsys, name), ask(folder, name); got != want {
				t.Fatalf("seed %d, viewer %+v, %s:\ngot  %s\nwant %s", seed, viewer, name, got, want)
			}
		}
	}
}

// TestRandomCandidates mixes the records of random sites with what else a search might find.
func TestRandomCandidates(t *testing.T) {
	found := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 3))
		pages, viewer := randomSite(r), randomViewer(r)
		tree, store := build(t, pages)
		var ids []string
		var want []vfs.Candidate
		for i := range tree.Len() {
			e := tree.At(i)
			elsewhere := snapshot.Rev(snapshot.Header{Site: "other"}, e)
			for k, id := range tree.IDs(i) {
				ids = append(ids, id, id, snapshot.RecordID(tree.Rev(i), e.Chunks+k), snapshot.RecordID(elsewhere, k))
				if mayRead(viewer, e.Access) {
					want = append(want, vfs.Candidate{Path: e.Path, Chunk: k, ID: id})
				}
			}
		}
		r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		got := vfs.New(tree, store, viewer, vfs.Options{}).Candidates(ids)
		if !slices.Equal(got, want) || store.Calls() > 0 {
			t.Fatalf("seed %d, viewer %+v, %d fetches:\ngot  %v\nwant %v", seed, viewer, store.Calls(), got, want)
		}
		found += len(got)
	}
	if found == 0 {
		t.Fatal("no candidate at all")
	}
}
