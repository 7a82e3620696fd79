package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// sessions is how many are opened in one round, each for another viewer.
const sessions = 1000

// session is the time of a further session on a loaded tree, up to the end of its first "ls /" and one stat.
func session(_ context.Context, b *bench) (float64, string, error) {
	ours, _, first, err := sessionsOf(b, 100_000, 100_000)
	return float64(ours) / 1e3, fmt.Sprintf("µs, %d viewers, the first of all %s", sessions, ms(first)), err
}

// sessionLarge compares it with the same on a tree of a tenth of the size.
func sessionLarge(_ context.Context, b *bench) (float64, string, error) {
	ours, floor, first, err := sessionsOf(b, 1_000_000, 100_000)
	return ratio(ours, floor), fmt.Sprintf("%.2f / %.2f µs, %d viewers, the first of all %s", float64(ours)/1e3, float64(floor)/1e3, sessions, ms(first)), err
}

// sessionsOf is the time of one session on trees of two sizes, and that of the very first on the first tree, which finds
// out what all sessions have in common.
func sessionsOf(b *bench, paths, other int) (ours, floor, first time.Duration, err error) {
	var sides [2]func() (time.Duration, error)
	for i, n := range []int{paths, other} {
		tree, err := guardedTree(n)
		if err != nil {
			return 0, 0, 0, err
		}
		shared := vfs.NewShared(tree, nil, vfs.Options{})
		took, err := openSessions(shared, tree, rand.New(rand.NewPCG(0, 0)), 1)
		if err != nil {
			return 0, 0, 0, err
		}
		if i == 0 {
			first = took
		}
		r := rand.New(rand.NewPCG(1, uint64(n))) // goes on from round to round
		sides[i] = func() (time.Duration, error) { return openSessions(shared, tree, r, sessions) }
	}
	ours, floor, err = alternate(b.rounds, sides[0], sides[1])
	return ours / sessions, floor / sessions, first, err
}

// openSessions opens one session after the other, for viewers and paths that are chosen before the clock starts.
func openSessions(shared *vfs.Shared, tree *snapshot.Tree, r *rand.Rand, n int) (time.Duration, error) {
	viewers, paths := make([]access.Viewer, n), make([]string, n)
	for i := range n {
		viewers[i], paths[i] = someViewer(r), tree.Path(r.IntN(tree.Len()))
	}
	listed := 0
	start := time.Now()
	for i, v := range viewers {
		fsys := shared.For(v)
		list, err := fsys.ReadDir(".")
		if err != nil {
			return 0, err
		}
		listed += len(list)
		if _, err := fsys.Stat(paths[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	took := time.Since(start)
	if most := n * rootFolders; listed == 0 || n > 1 && listed >= most {
		return 0, fmt.Errorf("%d names listed of %d: nothing or everything is hidden", listed, most)
	}
	return took, nil
}

const (
	rootFolders   = 60
	someGroups    = 200
	accessClasses = 20
)

// someViewer is anonymous, signed in, or mostly a member of up to 20 groups, or of many that no page names as well.
func someViewer(r *rand.Rand) access.Viewer {
	n := r.IntN(22) - 1
	if n < 0 {
		return access.Viewer{}
	}
	v := access.Viewer{SignedIn: true, Groups: groupNames(r, n)}
	for i := 0; n > 15 && i < 200; i++ {
		v.Groups = append(v.Groups, fmt.Sprintf("elsewhere-%03d", i))
	}
	return v
}

func groupNames(r *rand.Rand, n int) (names []string) {
	for _, g := range r.Perm(someGroups)[:n] {
		names = append(names, fmt.Sprintf("team-%03d", g))
	}
	slices.Sort(names)
	return names
}

// someAccesses are everyone, any signed-in viewer, nobody, some of these but some groups, and then groups.
func someAccesses(r *rand.Rand) []access.Access {
	list := []access.Access{
		access.Everyone(), access.SignedIn(), access.Nobody(),
		{Groups: []string{access.AnySignedIn}, Excludes: groupNames(r, 5)},
		{Groups: []string{access.AnySignedIn}, Excludes: groupNames(r, 20)},
	}
	for n := 1; len(list) < accessClasses; n++ {
		a := access.Access{Groups: groupNames(r, n)}
		if n%4 == 0 {
			a.Excludes = groupNames(r, 2)
		}
		list = append(list, a)
	}
	return list
}

// guardedTree has folders of 50 pages in 60 folders of the root. Each of these is mostly for one class, and every third
// for that class alone, so that it is hidden from others. One page in a hundred is a link, to a page or to a folder of
// anywhere.
func guardedTree(paths int) (*snapshot.Tree, error) {
	r := rand.New(rand.NewPCG(3, uint64(paths)))
	accesses := someAccesses(r)
	folder := func(i int) string { return fmt.Sprintf("part-%02d/topic-%05d", i/50%rootFolders, i/50) }
	entries := make([]snapshot.Entry, paths)
	for i := range entries {
		part := i / 50 % rootFolders
		e := snapshot.Entry{Path: fmt.Sprintf("%s/page-%07d.md", folder(i), i), Access: accesses[part%accessClasses]}
		if part%3 > 0 && r.IntN(4) == 0 {
			e.Access = accesses[r.IntN(accessClasses)]
		}
		switch to := r.IntN(paths); {
		case i%100 == 7:
			e.Link = path.Join("../..", folder(to))
		case i%100 == 57 && to%100 != 7 && to%100 != 57:
			e.Link = path.Join("../..", fmt.Sprintf("%s/page-%07d.md", folder(to), to))
		default:
			e.Size, e.Chunks = 2000, 1
			e.SHA256[0], e.SHA256[1], e.SHA256[2] = byte(i), byte(i>>8), byte(i>>16)
		}
		entries[i] = e
	}
	slices.SortFunc(entries, func(a, b snapshot.Entry) int { return strings.Compare(a.Path, b.Path) })
	h := snapshot.Header{Collection: "docs", Records: strings.Repeat("0", 32), Default: access.SignedIn()}
	return snapshot.New(h, entries)
}
