package source

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/access"
)

// Survey is what resolving access needs of a whole folder, without any content.
type Survey struct {
	// Files, pointers among them, and Links are those selected, in byte order of their paths.
	Files []Facts
	Links []Link

	folder  *Folder
	refused map[string]error // by path: why a file of the listing is not selected
}

// Survey reads every file of a listing. Files that turn out ignored or invalid are left out, see Explain; the error is the
// context's.
func (f *Folder) Survey(ctx context.Context, l *Listing) (*Survey, error) {
	facts := make([]Facts, len(l.Files))
	refused := make([]error, len(l.Files))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(l.Files); i = int(next.Add(1)) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				file, err := f.Read(l.Files[i])
				if refused[i] = err; err == nil {
					facts[i] = file.Facts
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s := &Survey{folder: f, refused: map[string]error{}, Files: l.PointerFacts()}
	for i, name := range l.Files {
		if refused[i] != nil {
			s.refused[name] = refused[i]
			continue
		}
		s.Files = append(s.Files, facts[i])
	}
	slices.SortFunc(s.Files, func(a, b Facts) int { return cmp.Compare(a.Path, b.Path) })
	selected := make([]string, len(s.Files))
	for i := range s.Files {
		selected[i] = s.Files[i].Path
	}
	kept, ignored := f.ResolveLinks(l.Links, selected)
	s.Links = kept
	for i := range ignored {
		s.refused[ignored[i].Path] = &ignored[i]
	}
	return s, nil
}

// Resolve is Folder.Resolve of all that was surveyed.
func (s *Survey) Resolve(pinned *access.Access) (*Resolution, error) {
	return s.folder.Resolve(s.Files, s.Links, pinned)
}

// Explain says why a path of the listing is not selected. It wraps fs.ErrNotExist for one of which nothing is known, and
// is nil for one that is selected.
func (s *Survey) Explain(name string) error {
	if err := s.refused[name]; err != nil {
		return err
	}
	if _, ok := findFacts(s.Files, name); ok || findLink(s.Links, name) >= 0 {
		return nil
	}
	return fmt.Errorf("%q was not seen: %w", name, fs.ErrNotExist)
}
