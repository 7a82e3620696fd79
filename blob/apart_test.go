package blob_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
)

// Who proves what the storage holds sees damage also where an equal block, of the same file or another, is sound.
func TestApart(t *testing.T) {
	zeros := make([]byte, blob.WholeBytes+3*blob.BlockBytes)
	other := append(bytes.Clone(zeros), 1)
	for _, at := range []int{0, 5 * blob.BlockBytes, len(zeros) - 1} {
		store := blobtest.NewMemory()
		sound, damaged := add(t, store, other), add(t, store, zeros)
		flipped := bytes.Clone(zeros)
		flipped[at] = 7
		store.Set(blob.Key(damaged.SHA256), flipped)
		files := blob.NewFiles(blob.FilesOptions{Store: store, Apart: true, MemoryBytes: 2 * blob.WholeBytes})
		if got, err := readFile(t, files, sound); err != nil || !bytes.Equal(got, other) {
			t.Errorf("the sound file: %d bytes, %v", len(got), err)
		}
		if _, err := readFile(t, files, damaged); !errors.Is(err, blob.ErrDigest) {
			t.Errorf("damaged at %d: %v", at, err)
		}
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	}
}
