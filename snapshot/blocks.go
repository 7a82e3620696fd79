package snapshot

import "io"

// blocks reads in a goroutine of its own, so that unpacking and scanning overlap. The blocks end at line ends, but for
// the last one before an error, which ends where the reading did.
type blocks struct {
	full chan []byte
	free chan []byte
	quit chan struct{}
	err  error // of the reader; set before full is closed
}

// blockBytes is the size of the blocks; less is slower, more is not faster.
const blockBytes = 128 << 10

// readBlocks starts to read r. The caller must call stop before it lets go of r.
func readBlocks(r io.Reader, lineBytes int) *blocks {
	const ahead = 3
	b := &blocks{full: make(chan []byte), free: make(chan []byte, ahead), quit: make(chan struct{})}
	for range ahead {
		b.free <- nil
	}
	go b.run(r, max(blockBytes, lineBytes))
	return b
}

func (b *blocks) run(r io.Reader, size int) {
	defer close(b.full)
	var rest []byte
	for b.err == nil {
		var buf []byte
		select {
		case buf = <-b.free:
		case <-b.quit:
			return
		}
		if buf == nil {
			buf = make([]byte, size)
		}
		n := copy(buf, rest)
		for n < size && b.err == nil {
			var m int
			m, b.err = r.Read(buf[n:])
			n += m
		}
		cut := n
		if b.err == nil {
			if cut = lineEnd(buf); cut == 0 {
				cut, b.err = n, malformed("line of more than %d bytes", size)
			}
		}
		rest = buf[cut:n]
		select {
		case b.full <- buf[:cut]:
		case <-b.quit:
			return
		}
	}
}

// lineEnd is the length of the whole lines in b.
func lineEnd(b []byte) int {
	for i := len(b); i > 0; i-- {
		if b[i-1] == '\n' {
			return i
		}
	}
	return 0
}

// next returns the next block, or the error of the reader, io.EOF too. It takes back the block before.
func (b *blocks) next(last []byte) ([]byte, error) {
	if last != nil {
		b.free <- last[:cap(last)]
	}
	if block, ok := <-b.full; ok {
		return block, nil
	}
	return nil, b.err
}

// stop ends the reading and waits for it.
func (b *blocks) stop() {
	close(b.quit)
	for range b.full {
	}
}
