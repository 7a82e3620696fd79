package verify

import (
	"bytes"
	"crypto/sha256"
	"math/rand/v2"
	"testing"

	"github.com/chromafs/chromafs/blob"
)

// TestCapture writes files of all kinds of size in pieces of all kinds of size.
func TestCapture(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	content := make([]byte, blob.WholeBytes+3*blob.BlockBytes)
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	for _, size := range []int{1, pieceBytes - 1, pieceBytes, pieceBytes + 1, blob.WholeBytes, blob.WholeBytes + 1, len(content)} {
		c := newCapture(int64(size))
		for rest := content[:size]; len(rest) > 0; {
			n := min(len(rest), 1+rng.IntN(1<<rng.IntN(22)))
			if got, err := c.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("%d, %v", got, err)
			}
			rest = rest[n:]
		}
		if c.size != int64(size) || [32]byte(c.sum.Sum(nil)) != sha256.Sum256(content[:size]) {
			t.Errorf("%d bytes: %d, or other bytes", size, c.size)
		}
		if want := map[bool]int{false: 1, true: 3}[size > blob.WholeBytes]; len(c.pieces) != want {
			t.Errorf("%d bytes: %d pieces", size, len(c.pieces))
		}
		for _, p := range c.pieces {
			if !bytes.Equal(p.text, content[p.at:p.at+int64(len(p.text))]) || len(p.text) != min(size, pieceBytes) {
				t.Errorf("%d bytes: %d at %d are others", size, len(p.text), p.at)
			}
		}
		if last := c.pieces[len(c.pieces)-1]; size > blob.WholeBytes && (last.at+pieceBytes != int64(size) || (c.pieces[1].at+pieceBytes/2)%blob.BlockBytes != 0) {
			t.Errorf("%d bytes: pieces at %d and %d", size, c.pieces[1].at, last.at)
		}
	}
}
