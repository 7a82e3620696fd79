package verify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/verify"
)

var names = []string{"one", "two", "three"}

// fronts are what random pages say.
var fronts = []string{
	"", "", "public: true", "public: false", "groups: []", "groups: [one]", "groups: [one, two]", "groups: [three]", "groups: two",
	"groups: [{includes: ['*'], excludes: [two]}]", "groups: [{includes: [one, two], excludes: [three]}]",
}

// accesses are what random rules say, and what is published in place of what was to be.
var accesses = []access.Access{
	access.Everyone(), access.SignedIn(), access.Nobody(), groups("one"), groups("one", "two"), groups("three"),
	{Groups: []string{"*"}, Excludes: []string{"one", "two"}}, {Groups: []string{"one", "three"}, Excludes: []string{"two"}},
}

func pick[E any](rng *rand.Rand, list []E) E { return list[rng.IntN(len(list))] }

// randomSite publishes random pages and links in a few folders, as a folder and rules say.
func randomSite(t *testing.T, rng *rand.Rand) *site {
	s := emptySite(t, "")
	s.options.Patterns, s.options.PerKind = 1, 10_000
	folders := []string{".", "a", "a/b", "a/b/c", "d", "d/e", "f-[x]"}
	for i := range 3 + rng.IntN(25) {
		s.lay(path.Join(pick(rng, folders), fmt.Sprintf("%d.md", i)), guarded(fmt.Sprint("page ", i), pick(rng, fronts)))
	}
	targets := append([]string{"../a", "../d/e", "..", "../l1", "e/../..", "b/c/../..", "../a/../d", "l0/../a"}, folders...)
	for i := range rng.IntN(25) {
		folder, target := pick(rng, folders), pick(rng, targets)
		if rng.IntN(2) == 0 {
			target = path.Join(target, fmt.Sprintf("%d.md", rng.IntN(20)))
		}
		s.must(os.MkdirAll(s.path(folder), 0o777))
		s.symlink(path.Join(folder, fmt.Sprintf("l%d", i)), target)
	}
	for range rng.IntN(4) {
		glob := pick(rng, []string{"a/**", "d/**", "**/1*.md", "a/b/c/**", "**/l*", "5.md"})
		s.options.Source.Rules = append(s.options.Source.Rules, access.Rule{Glob: glob, Access: pick(rng, accesses)})
	}
	if rng.IntN(2) == 0 {
		s.options.Source.Default = to(pick(rng, accesses[:2]))
	} else {
		s.options.Source.Unmarked = true
	}
	s.read()
	s.publish()
	return s
}

// TestRandomAccess finds nothing where the tree is right. Where one page is published for others, it finds exactly whether
// somebody gets it who should not, and whether somebody does not who should.
func TestRandomAccess(t *testing.T) {
	leaks, hides, links := 0, 0, 0
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := randomSite(t, rng)
		r := s.verify()
		if links += r.Links; !r.OK() {
			t.Fatalf("seed %d: %+v", seed, r.Findings)
		}
		e := pick(rng, s.entries)
		wrong := pick(rng, accesses)
		if e.IsLink() || wrong.Equal(e.Access) {
			continue
		}
		s.reopen(e.Path, wrong)
		r = s.verify()
		leak := slices.ContainsFunc(everybody(), func(v access.Viewer) bool { return wrong.Allows(v) && !e.Access.Allows(v) })
		hide := slices.ContainsFunc(everybody(), func(v access.Viewer) bool { return !wrong.Allows(v) && e.Access.Allows(v) })
		for kind, want := range map[verify.Kind]bool{verify.KindAccess: true, verify.KindLeak: leak, verify.KindHidden: hide} {
			found := slices.ContainsFunc(r.Findings, func(f verify.Finding) bool { return f.Kind == kind && f.Path == e.Path })
			if found != want {
				t.Errorf("seed %d, %s: from %s to %s: %t for %s, want %t", seed, e.Path, e.Access, wrong, found, kind, want)
			}
		}
		leaks, hides = leaks+count(leak), hides+count(hide)
	}
	if leaks < 10 || hides < 10 || links < 100 {
		t.Errorf("%d leaks, %d hidden pages, %d links", leaks, hides, links)
	}
}

func everybody() []access.Viewer {
	list := []access.Viewer{{}, {SignedIn: true}, {SignedIn: true, Groups: names}}
	for _, g := range names {
		list = append(list, access.Viewer{SignedIn: true, Groups: []string{g}})
	}
	return list
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRandomCounts holds the figures of each viewer to the pages' own words, one by one.
func TestRandomCounts(t *testing.T) {
	hidden := 0
	for seed := range uint64(10) {
		s := randomSite(t, rand.New(rand.NewPCG(seed, 4)))
		for _, v := range s.verify().Viewers {
			viewer := access.Viewer{SignedIn: v.Name != "anonymous"}
			for _, g := range names {
				if v.Name == "all groups" || strings.Contains(v.Name, g) {
					viewer.Groups = append(viewer.Groups, g)
				}
			}
			want := verify.ViewerReport{Name: v.Name, Others: v.Others}
			for _, e := range s.entries {
				switch {
				case e.IsLink():
				case e.Access.Allows(viewer):
					want.Visible++
				default:
					want.Hidden++
				}
			}
			if hidden += want.Hidden; v != want {
				t.Errorf("seed %d: got %+v, want %+v", seed, v, want)
			}
		}
	}
	if hidden == 0 {
		t.Error("nothing was hidden")
	}
}
