package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressEvery is how often the line is drawn again, at most.
const progressEvery = 100 * time.Millisecond

// progress draws one line on a terminal, over itself, and nothing anywhere else.
type progress struct {
	out   io.Writer
	last  time.Time
	drawn bool
}

func newProgress(out *os.File) *progress {
	if !term.IsTerminal(int(out.Fd())) {
		return &progress{}
	}
	return &progress{out: out}
}

// show is an ingest's Progress.
func (p *progress) show(stage string, done, total int) {
	if p.out == nil || (time.Since(p.last) < progressEvery && done < total) {
		return
	}
	p.last, p.drawn = time.Now(), true
	fmt.Fprintf(p.out, "\r\x1b[K%s %d of %d", stage, done, total)
}

// clear takes the line away.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
