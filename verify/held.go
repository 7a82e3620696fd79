package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/chromafs/chromafs/blob"
)

// held answers the sessions of viewers with the beginning of one lazy file, as the operator got it, and counts how often
// any was asked for: nothing is fetched for each viewer again. The zero value holds none.
type held struct {
	asked   atomic.Int64
	pointer blob.Pointer
	head    []byte
}

var errNotHeld = errors.New("not fetched for this viewer")

func (h *held) Read(_ context.Context, p blob.Pointer, offset, _ int64) ([]byte, error) {
	h.asked.Add(1)
	if p != h.pointer || offset >= int64(len(h.head)) {
		return nil, errNotHeld
	}
	return h.head[offset:], nil
}

// take is the number of questions since the last call of it.
func (h *held) take() int64 { return h.asked.Swap(0) }

// openAs opens entry i as viewers do. Whoever may see it gets the head, as far as that is known; to all others it is not
// there, and nothing is asked of a storage.
func (s *lazyScan) openAs(i int, head []byte) {
	if len(s.viewing) == 0 || s.decided[i] == nil {
		return
	}
	s.held.pointer, s.held.head = s.tree.At(i).Pointer(), head
	class := s.outline.classes[i]
	for k := range min(len(s.viewing), mostReaders) {
		v := s.viewing[(i*mostReaders+k)%len(s.viewing)]
		s.openOne(v, i, v.may(class))
	}
}

func (s *lazyScan) openOne(v viewing, i int, mine bool) {
	e := s.tree.At(i)
	head := s.held.head
	s.held.take()
	info, statErr := v.files.Stat(e.Path)
	body, err := firstBytes(v.files, e.Path, len(head))
	switch asked := s.held.take(); {
	case !mine && (asked > 0 || !errors.Is(statErr, fs.ErrNotExist) || !errors.Is(err, fs.ErrNotExist)):
		s.findings.add(KindLeak, e.Path, fmt.Sprintf("%s opens it (%d bytes, %v; stat: %v), but it is for %s", v.viewer, len(body), err, statErr, because(s.decided[i])))
	case !mine:
	case statErr != nil || err != nil:
		s.findings.add(KindHidden, e.Path, fmt.Sprintf("%s can't open it: %v", v.viewer, cmp.Or(statErr, err)))
	case info.Size() != e.Size:
		s.findings.add(KindSize, e.Path, fmt.Sprintf("%s sees %d bytes, in the snapshot it has %d", v.viewer, info.Size(), e.Size))
	case !bytes.Equal(body, head):
		s.findings.add(KindContent, e.Path, fmt.Sprintf("%s gets other bytes than the operator", v.viewer))
	}
}

// firstBytes opens a file and reads n bytes of it.
func firstBytes(fsys fs.FS, name string, n int) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	body := make([]byte, n)
	n, err = io.ReadFull(f, body)
	return body[:n], err
}
