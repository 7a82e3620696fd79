package source

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/chromafs/chromafs/access"
)

// maxStreamUses bounds what is kept of a large file.
const maxStreamUses = 1 << 16

// Errors of a large file. Where not all is known that it shows, nobody knows who may see what.
var (
	errLargeMint = fmt.Errorf("too large to be read for x-mint: over %d MiB: split it", wholeBytes>>20)
	errLargeUses = fmt.Errorf("too large to name more than %d other files: over %d MiB", maxStreamUses, wholeBytes>>20)
	errLargeList = fmt.Errorf("too large to be read for a list of files between --8<--: over %d MiB", wholeBytes>>20)
)

// stream reads all of a file, but holds only a window of it. In what it returns, Lazy is nil for a file that can be chunked
// as far as was seen. The error is an *Ignored where the file is not to be selected.
func (r *reading) stream(head []byte) (*File, error) {
	d := digest{sum: sha256.New()}
	commit, tracked := r.folder.lastCommit(r.name)
	if tracked {
		d.git = commit.blob.hash(r.before.size)
	}
	raw := io.LimitReader(io.MultiReader(bytes.NewReader(head), r.openFile), r.before.size)
	s := scan{reading: r, out: &File{Facts: Facts{Path: r.name}, Size: r.before.size}, wide: wide(head) != nil}
	s.uses.most = maxStreamUses
	s.windows = newWindows(decodeFrom(io.TeeReader(raw, &d), head), r.folder.whole)
	if r.refusal == nil {
		r.refusal = r.check(wholeRunes(head))
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	if d.size != r.before.size {
		return nil, errChanged
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	d.sum.Sum(s.out.SHA256[:0])
	if tracked && commit.blob.isSum(d.git) {
		s.out.MTime = commit.when
	}
	return s.out, nil
}

// digest is that of what is written to it.
type digest struct {
	sum  hash.Hash
	git  hash.Hash // nil where git does not know the file
	size int64
}

func (d *digest) Write(p []byte) (int, error) {
	d.sum.Write(p)
	if d.git != nil {
		d.git.Write(p)
	}
	d.size += int64(len(p))
	return len(p), nil
}

// scan looks at a large file window by window.
type scan struct {
	*reading
	*windows
	out  *File
	wide bool // so that the windows are not what Check is to be asked about
	uses useList
	mint int // line of the first x-mint
}

func (s *scan) run() error {
	for first := true; !s.last; first = false {
		if err := s.next(); err != nil {
			return cause(err)
		}
		if first {
			s.out.Kind = kindOf(s.name, s.text)
		}
		if err := s.ask(); err != nil {
			return err
		}
		if s.look(first); s.uses.full {
			return errLargeUses
		}
		if s.out.Kind == Page && bytes.Contains(s.text, []byte("8<-")) && snippetMark.Match(s.text) {
			return errLargeList
		}
	}
	var parts []access.Said
	if s.mint > 0 {
		parts = []access.Said{{Fault: &access.Fault{At: access.Place{Path: s.name, Line: s.mint}, Err: errLargeMint}}}
	}
	s.out.use(s.uses, parts)
	return nil
}

// ask asks Check about the window, until it refuses one.
func (s *scan) ask() (err error) {
	if s.refusal == nil && !s.wide {
		if err := s.check(s.runes()); err != nil {
			s.refusal = s.later(err)
		}
	}
	if s.out.Lazy == nil {
		s.out.Lazy, err = s.judge(s.out.Kind)
	}
	return err
}

// later corrects a refusal, which counts lines from the start of the window.
func (s *scan) later(err error) error {
	if s.line == 1 {
		return err
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return fmt.Errorf("behind line %d: %w", s.line-1, err)
}

// look reads what the window says.
func (s *scan) look(first bool) {
	page := s.out.Kind == Page
	switch {
	case !page && isData(s.name):
		s.uses.addRefs(s.text, s.line, s.own())
		s.lookForMint()
	case !page && isScript(s.name):
		s.uses.addText(s.text, s.line, false)
	case page && first:
		s.out.readPage(s.text, !s.last, &s.uses)
	case page:
		s.uses.addFound(s.text, s.line, findMentions(s.text, true), nil)
	case first:
		s.out.warnUnread(s.text)
	}
}

func (s *scan) lookForMint() {
	if s.mint > 0 {
		return
	}
	if at := findMint(s.text); at >= 0 {
		s.mint = s.line + bytes.Count(s.text[:at], []byte("\n"))
	}
}
