package blob

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// piece is what one digest proves: a file of at most WholeBytes, the block list of a larger one, or a block.
type piece struct {
	of   Pointer
	n    int64 // number of the block, or wholePiece or listPiece
	sum  [32]byte
	size int64
}

const (
	wholePiece = -1
	listPiece  = -2
)

func wholeOf(p Pointer) piece { return piece{p, wholePiece, p.SHA256, p.Size} }

func listOf(p Pointer) piece { return piece{p, listPiece, p.Blocks, listBytes(p.Size)} }

// blocksOf is n blocks from number first on. The list has the size that the file's asks for.
func blocksOf(p Pointer, list []byte, first, n int64) []piece {
	pieces := make([]piece, 0, n)
	for k := first; k < first+n; k++ {
		pieces = append(pieces, piece{p, k, [32]byte(list[k*sha256.Size:]), min(BlockBytes, p.Size-k*BlockBytes)})
	}
	return pieces
}

// offset is where the piece begins in its object.
func (p piece) offset() int64 { return max(0, p.n) * BlockBytes }

// ends reports whether the object ends with the piece.
func (p piece) ends() bool { return p.n < 0 || p.offset()+p.size == p.of.Size }

// listBytes is the size of the block list of a file.
func listBytes(size int64) int64 {
	blocks := size / BlockBytes
	if size%BlockBytes > 0 {
		blocks++
	}
	return blocks * sha256.Size
}

// Describe reads r to its end and says what a pointer to it holds. list is the block list of one of more than WholeBytes,
// else nil. What it needs of memory is 32 bytes a block.
func Describe(r io.Reader) (p Pointer, list []byte, err error) {
	whole, block := sha256.New(), sha256.New()
	for {
		n, err := io.CopyN(io.MultiWriter(whole, block), r, BlockBytes)
		if p.Size += n; n > 0 {
			list = block.Sum(list)
			block.Reset()
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Pointer{}, nil, fmt.Errorf("describe a file: %w", err)
		}
	}
	p.SHA256 = [32]byte(whole.Sum(nil))
	if p.Size <= WholeBytes {
		return p, nil, nil
	}
	p.Blocks = sha256.Sum256(list)
	return p, list, nil
}
