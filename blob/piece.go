package blob

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
)

const (
	// readBytes are read at a time at most.
	readBytes = 256 << 10
	// hashBytes are hashed at a time, while more are read: few enough for the processor to have them at hand.
	hashBytes = 64 << 10
)

// readPiece reads what comes next of r, which is to be the piece. The end of an object must be where it should be.
func readPiece(r io.Reader, p piece) ([]byte, error) {
	h := newHasher()
	body, err := readSize(r, p.size, h)
	sum := h.sum(body)
	if err == nil && p.ends() {
		err = readEnd(r)
	}
	if err == nil && sum != p.sum {
		err = ErrDigest
	}
	switch {
	case err == nil:
		return body, nil
	case p.n >= 0:
		return nil, fmt.Errorf("block %d %w", p.n, err)
	}
	return nil, err
}

// readSize reads size bytes. A tree alone, which says the size, must not make it take memory.
func readSize(r io.Reader, size int64, h *hasher) ([]byte, error) {
	body := make([]byte, 0, min(size, WholeBytes))
	for int64(len(body)) < size {
		n := int(min(size-int64(len(body)), readBytes))
		body = slices.Grow(body, n)
		n, err := r.Read(body[len(body):][:n])
		body = body[:len(body)+n]
		h.follow(body)
		switch {
		case err == io.EOF && int64(len(body)) < size:
			return body, fmt.Errorf("%w, %d bytes too soon", ErrShort, size-int64(len(body)))
		case err != nil && err != io.EOF:
			return body, err
		}
	}
	return body, nil
}

// readEnd fails if anything follows.
func readEnd(r io.Reader) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0:
		return ErrTrailing
	case err != io.EOF:
		return err
	}
	return nil
}

// hasher hashes bytes that grow, while they do.
type hasher struct {
	given int
	parts chan []byte
	done  chan [32]byte
}

func newHasher() *hasher {
	h := &hasher{parts: make(chan []byte, 16), done: make(chan [32]byte, 1)}
	go func() {
		hash := sha256.New()
		for part := range h.parts {
			hash.Write(part)
		}
		h.done <- [32]byte(hash.Sum(nil))
	}()
	return h
}

// follow takes all bytes so far, of which those that it was given before do not change any more.
func (h *hasher) follow(body []byte) {
	for len(body)-h.given >= hashBytes {
		h.parts <- body[h.given : h.given+hashBytes]
		h.given += hashBytes
	}
}

// sum is the digest of body, and ends the hasher.
func (h *hasher) sum(body []byte) [32]byte {
	h.parts <- body[h.given:]
	close(h.parts)
	return <-h.done
}
