package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"github.com/chromafs/chromafs/index"
)

// Bounds of the lines that are searched for viewers who may not see them.
const (
	mostSecrets  = 200 // pages they are from
	classSecrets = 20  // pages of one access
	pageLines    = 8   // tried until one is in no other page
	viewSecrets  = 20  // searched for each viewer
)

// secret is a line of a page that somebody may not see.
type secret struct {
	page      int // entry of the tree
	line      string
	elsewhere atomic.Bool // in another page too
}

// secrets are candidates, until every page of the folder has been looked at.
type secrets struct {
	list   []*secret // page by page
	byLine map[string]*secret
}

// lineKey is the line as it is searched: what is beyond maxBytes is left out.
func lineKey(line []byte) []byte {
	if len(line) <= maxBytes {
		return line
	}
	end := maxBytes
	for !utf8.RuneStart(line[end]) {
		end--
	}
	return line[:end]
}

// drawSecrets chooses pages of every access that is not for all viewers, and the longest lines of each.
func (r *run) drawSecrets() error {
	r.secrets = secrets{byLine: make(map[string]*secret)}
	pages := make([][]int, len(r.outline.accesses))
	hidden := make([]bool, len(pages))
	for c := range hidden {
		hidden[c] = slices.ContainsFunc(r.viewers, func(v *viewer) bool { return !v.may(c) })
	}
	var classes []int // those hidden that have pages
	for _, i := range r.pages {
		if c := r.outline.classes[i]; c >= 0 && hidden[c] {
			if len(pages[c]) == 0 {
				classes = append(classes, c)
			}
			pages[c] = append(pages[c], i)
		}
	}
	classes = spaced(classes, mostSecrets)
	for _, c := range classes {
		for _, i := range spaced(pages[c], min(classSecrets, mostSecrets/len(classes))) {
			text, err := os.ReadFile(r.onDisk(r.tree.Path(i)))
			if err != nil {
				return fmt.Errorf("read the docs folder: %w", err)
			}
			r.secrets.add(i, text)
		}
	}
	return nil
}

func (s *secrets) add(page int, text []byte) {
	var lines []string
	for line := range bytes.SplitSeq(text, newline) {
		if key := lineKey(line); fits(key) {
			lines = append(lines, string(key))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	lines = slices.Compact(lines)
	for _, line := range lines[:min(pageLines, len(lines))] {
		if other := s.byLine[line]; other != nil {
			other.elsewhere.Store(true)
			continue
		}
		s.byLine[line] = &secret{page: page, line: line}
		s.list = append(s.list, s.byLine[line])
	}
}

// look finds those lines that page has, but are of others. It is safe for concurrent use.
func (s *secrets) look(page int, text []byte) {
	if len(s.byLine) == 0 {
		return
	}
	for line := range bytes.SplitSeq(text, newline) {
		if secret := s.byLine[string(lineKey(line))]; secret != nil && secret.page != page {
			secret.elsewhere.Store(true)
		}
	}
}

// unique is one line of each page, as far as it was published and no other page has it.
func (s *secrets) unique(state []state) (list []*secret) {
	for _, secret := range s.list {
		if n := len(list); secret.elsewhere.Load() || state[secret.page] == stale || n > 0 && list[n-1].page == secret.page {
			continue
		}
		list = append(list, secret)
	}
	return list
}

// searchSecrets searches lines of hidden pages as readers do: what the store's coarse search finds is cut down to what
// the viewer may see, and only that is fetched.
func (r *run) searchSecrets(ctx context.Context) error {
	list := r.secrets.unique(r.state)
	if len(list) == 0 {
		return nil
	}
	session := r.serve(ctx, r.store, nil, noCache)
	everything := viewing{&viewer{Viewer: operator, name: "the operator"}, session(operator)}
	found := make([][]string, len(list))
	for k, secret := range list {
		var err error
		if found[k], err = r.store.Search(ctx, index.Query{Literals: []string{secret.line}}); err != nil {
			return fmt.Errorf("search %q: %w", secret.line, err)
		}
		pages, err := r.grep(ctx, everything, secret, found[k])
		if err != nil {
			return err
		}
		if r.state[secret.page] == good && !slices.Contains(pages, secret.page) {
			r.findings.add(KindSearch, r.tree.Path(secret.page), fmt.Sprintf("the operator does not find its line %q", secret.line))
		}
	}
	r.report.Secrets = len(list)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for _, v := range r.viewers {
		g.Go(func() error { return r.searchFor(ctx, viewing{v, session(v.Viewer)}, list, found) })
	}
	return g.Wait()
}

// searchFor searches the lines that a viewer may not see.
func (r *run) searchFor(ctx context.Context, v viewing, list []*secret, found [][]string) error {
	var hidden []int
	for k, secret := range list {
		if !v.may(r.outline.classes[secret.page]) {
			hidden = append(hidden, k)
		}
	}
	for _, k := range spaced(hidden, viewSecrets) {
		pages, err := r.grep(ctx, v, list[k], found[k])
		if err != nil {
			return err
		}
		for _, i := range pages {
			if r.state[i] != stale { // another version of that page may have had the line
				r.findings.add(KindLeak, r.tree.Path(list[k].page), fmt.Sprintf("%s finds its line %q in %q, but it is for %s",
					v.viewer, list[k].line, r.tree.Path(i), because(r.decided[list[k].page])))
			}
		}
	}
	return nil
}

// grep returns the entries in which a viewer finds the line, given the records that the store's search found.
func (r *run) grep(ctx context.Context, v viewing, s *secret, found []string) (pages []int, err error) {
	var ids []string
	for _, c := range v.files.Candidates(found) {
		i, chunk, ok := r.chunks.find(c.ID)
		switch {
		case !ok || r.tree.Path(i) != c.Path || chunk != c.Chunk:
			r.findings.add(KindLeak, c.Path, fmt.Sprintf("%s: a search gives chunk %d, record %q, which the snapshot has not", v.viewer, c.Chunk, c.ID))
			continue
		case r.decided[i] != nil && !v.may(r.outline.classes[i]):
			r.findings.add(KindLeak, c.Path, fmt.Sprintf("%s: a search gives chunk %d, but it is for %s", v.viewer, c.Chunk, because(r.decided[i])))
		}
		ids = append(ids, c.ID)
	}
	for part := range slices.Chunk(ids, recordBatch) {
		docs, err := r.store.Documents(ctx, part)
		if err != nil {
			return nil, fmt.Errorf("read records: %w", err)
		}
		for id, doc := range docs {
			if i, _, ok := r.chunks.find(id); ok && hasLine(doc, s.line) {
				pages = append(pages, i)
			}
		}
	}
	slices.Sort(pages)
	return slices.Compact(pages), nil
}

func hasLine(doc, line string) bool {
	for l := range bytes.SplitSeq([]byte(doc), newline) {
		if string(lineKey(l)) == line {
			return true
		}
	}
	return false
}
