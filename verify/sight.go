package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/vfs"
)

// compareViewers holds what each viewer is shown to what the folder decides, and tries every name that they may not know.
func (r *run) compareViewers(ctx context.Context) error {
	r.outline = r.newOutline()
	r.viewers = drawViewers(r.outline.accesses, r.tree.Classes())
	r.report.Viewers = make([]ViewerReport, len(r.viewers))
	progress := r.counter("viewers", len(r.viewers))
	var next, lookups atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers() {
		fetched, asked := &counted{Chunks: r.store}, &held{}
		session := r.serve(ctx, fetched, asked, noCache)
		g.Go(func() error {
			for k := int(next.Add(1)) - 1; k < len(r.viewers); k = int(next.Add(1)) - 1 {
				s := r.newSight(r.viewers[k], session(r.viewers[k].Viewer))
				if err := s.compare(ctx); err != nil {
					return err
				}
				if n := fetched.n.Swap(0); n > 0 {
					r.findings.add(KindLeak, "", fmt.Sprintf("%s: %d chunks were fetched to list folders and to look for what is not theirs", s.viewer, n))
				}
				if n := asked.take(); n > 0 {
					r.findings.add(KindLeak, "", fmt.Sprintf("%s: %d times a lazy file was asked for to list folders and to look for what is not theirs", s.viewer, n))
				}
				r.report.Viewers[k] = s.report()
				lookups.Add(int64(s.lookups))
				progress()
			}
			return nil
		})
	}
	err := g.Wait()
	r.report.Lookups = int(lookups.Load())
	return err
}

// counted counts the chunks that are fetched.
type counted struct {
	vfs.Chunks
	n atomic.Int64
}

func (c *counted) Documents(ctx context.Context, ids []string) (map[string]string, error) {
	c.n.Add(int64(len(ids)))
	return c.Chunks.Documents(ctx, ids)
}

// sight is what one viewer sees.
type sight struct {
	*run
	*outline
	viewer  *viewer
	fsys    reader
	absent  answers
	mine    []bool           // by place, what the viewer should see
	shown   []bool           // by place, what listings show
	ways    map[int][]string // by place, the ways to learn of what is hidden
	aliases []alias
	lookups int
}

// alias is a link that the viewer sees, to a folder. What lies in the folder has a further name by it.
type alias struct{ link, to string }

func (r *run) newSight(v *viewer, fsys reader) *sight {
	s := &sight{run: r, outline: r.outline, viewer: v, fsys: fsys, mine: r.outline.visible(v.allowed)}
	s.absent = r.answersOf(fsys)
	s.shown, s.ways = make([]bool, len(s.places)), make(map[int][]string)
	for l, t := range s.trails {
		k := s.outline.files + l
		switch {
		case !s.mine[k] || !t.leads:
		case t.end == root:
			s.aliases = append(s.aliases, alias{s.places[k].path, ""})
		case s.places[t.end].mode == fs.ModeDir:
			s.aliases = append(s.aliases, alias{s.places[k].path, s.places[t.end].path})
		}
	}
	return s
}

// compare walks and looks up, then tells what it found.
func (s *sight) compare(ctx context.Context) error {
	if err := s.walk(ctx, "."); err != nil {
		return err
	}
	s.matchAll()
	if err := s.lookUp(ctx); err != nil {
		return err
	}
	for k, p := range s.places {
		switch {
		case s.mine[k] && !s.shown[k]:
			s.findings.add(KindHidden, p.path, fmt.Sprintf("%s is not shown it%s", s.viewer, s.because(k)))
		case len(s.ways[k]) > 0:
			s.findings.add(KindLeak, p.path, fmt.Sprintf("%s learns of it by %s%s", s.viewer, few(s.ways[k]), s.because(k)))
		}
	}
	return nil
}

// few is the beginning of a list of ways.
func few(ways []string) string {
	const most = 3
	text := strings.Join(ways[:min(most, len(ways))], "; ")
	if more := len(ways) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// because says why a viewer should see a place, or not.
func (s *sight) because(k int) string {
	switch e := s.places[k].entry; {
	case e < 0 && s.mine[k]:
		return ", but something in it is theirs"
	case e < 0:
		return ", but nothing in it is theirs"
	case !s.mine[k] && s.viewer.may(s.classes[e]):
		return ", but not all that it leads through and to is theirs"
	default:
		return ", but it is for " + because(s.decided[e])
	}
}

// hidden reports whether the viewer may not know of a place.
func (s *sight) hidden(k int) bool { return !s.mine[k] && !s.places[k].unsure }

// leaks notes a way to learn of what is hidden.
func (s *sight) leaks(k int, way string) { s.ways[k] = append(s.ways[k], way) }

// walk lists a folder and all in it.
func (s *sight) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	list, err := s.fsys.ReadDir(dir)
	if err != nil {
		s.findings.add(KindHidden, dir, fmt.Sprintf("%s can't list it: %v", s.viewer, err))
	}
	for _, d := range list {
		name := path.Join(dir, d.Name())
		k, ok := s.byPath[name]
		switch {
		case ok && s.places[k].mode != d.Type():
			s.findings.add(KindListing, name, fmt.Sprintf("%s is shown a %s, a %s in the folder", s.viewer, kindOf(d.Type()), kindOf(s.places[k].mode)))
			continue
		case ok && !s.shown[k]:
			if s.shown[k] = true; s.hidden(k) {
				s.leaks(k, "a listing")
			}
		case !s.inTree(name):
			s.findings.add(KindLeak, name, fmt.Sprintf("%s is shown a name that is not in the snapshot", s.viewer))
			continue
		}
		if d.IsDir() {
			if err := s.walk(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// inTree reports whether the snapshot has something at name or below it.
func (s *sight) inTree(name string) bool {
	lo, hi := s.tree.Range(name + "/")
	_, found := s.tree.Find(name)
	return found || lo < hi
}

// matchAll has every folder globbed, the hidden ones and those behind links too.
func (s *sight) matchAll() {
	s.matchIn("", "")
	for _, p := range s.places[s.outline.files+s.outline.links:] {
		s.matchIn(p.path, p.path)
	}
	for _, a := range s.aliases {
		s.matchIn(a.link, a.to)
	}
}

// matchIn globs all in the folder that has the name, and is at dir.
func (s *sight) matchIn(name, dir string) {
	matches, err := fs.Glob(s.fsys, join(escape(name), "*"))
	if err != nil {
		s.findings.add(KindListing, name, fmt.Sprintf("%s can't glob it: %v", s.viewer, err))
	}
	for _, m := range matches {
		at := join(dir, strings.TrimPrefix(strings.TrimPrefix(m, name), "/"))
		if k, ok := s.byPath[at]; ok && s.hidden(k) {
			s.leaks(k, fmt.Sprintf("glob of %q", join(name, "*")))
		}
	}
}

// join is path.Join for names below the docs folder, which is empty, and leaves escapes alone.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// lookUp tries the hidden places by name, each as it is, as if something were in it, and behind links.
func (s *sight) lookUp(ctx context.Context) error {
	var hidden []int
	for k := range s.places {
		if s.hidden(k) {
			hidden = append(hidden, k)
		}
	}
	if !s.viewer.common {
		hidden = spaced(hidden, max(leastLookups, mostLookups/len(s.viewers)))
	}
	for _, k := range hidden {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := s.places[k].path
		s.try(k, p)
		s.try(k, p+"/x")
		for _, a := range s.aliases {
			if below, ok := strings.CutPrefix(p, a.to); ok && (a.to == "" || below != "" && below[0] == '/') {
				s.try(k, a.link+"/"+strings.TrimPrefix(below, "/"))
			}
		}
	}
	return nil
}

// Bounds of how many hidden places are looked up for members of single groups: in all, and for each of them at least.
// Where there are more, some are chosen, evenly spaced.
const (
	mostLookups  = 1 << 18
	leastLookups = 500
)

// try looks up a name of place k, which is hidden.
func (s *sight) try(k int, name string) {
	s.lookups++
	for op, ask := range lookups {
		err := ask.of(s.fsys, name)
		if want := s.absent.of(op, name); err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
			way := fmt.Sprintf("%s of %q", ask.name, name)
			if err != nil {
				way += fmt.Sprintf(", which says %q", err)
			}
			s.leaks(k, way)
		}
	}
}

func (s *sight) report() ViewerReport {
	r := ViewerReport{Name: s.viewer.name, Others: s.viewer.others}
	for k := range s.outline.files {
		if s.mine[k] {
			r.Visible++
		} else {
			r.Hidden++
		}
	}
	return r
}
