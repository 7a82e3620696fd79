package source

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// overlap is how much of a text two windows share, in bytes: nothing that is looked for is longer.
const overlap = 4 * maxClause

// windows are the parts of a text, one after the other, of which each but the last begins the next one.
type windows struct {
	text  []byte // in this window
	start int64  // of it in the whole
	line  int    // of its first byte
	last  bool

	r     io.Reader
	buf   []byte
	fresh int // bytes that each window adds
}

func newWindows(r io.Reader, fresh int) *windows {
	return &windows{r: r, buf: make([]byte, fresh+overlap), fresh: fresh, line: 1}
}

// next moves on. The text before is gone then.
func (w *windows) next() error {
	done := w.own()
	w.line += bytes.Count(w.text[:done], []byte("\n"))
	w.start += int64(done)
	kept := copy(w.buf, w.text[done:])
	n, err := io.ReadFull(w.r, w.buf[kept:kept+w.fresh])
	w.text = w.buf[:kept+n]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		w.last, err = true, nil
	}
	return err
}

// own is the length of what is in no later window.
func (w *windows) own() int {
	if w.last {
		return len(w.text)
	}
	return max(0, len(w.text)-overlap)
}

// runes is the window without parts of characters at its ends.
func (w *windows) runes() []byte {
	text := w.text
	for i := 1; i < utf8.UTFMax && w.start > 0 && len(text) > 0 && !utf8.RuneStart(text[0]); i++ {
		text = text[1:]
	}
	if w.last {
		return text
	}
	return wholeRunes(text)
}
