package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
)

// FuzzRead: any sequence of reads, over any cache, gives the bytes of the file. Each read is 6 bytes of steps: an offset
// and what is wanted.
func FuzzRead(f *testing.F) {
	large := noise(blob.WholeBytes + 2*blob.BlockBytes + 5)
	files := [][]byte{nil, []byte("x"), noise(70_000), large, make([]byte, blob.WholeBytes+1)}
	s := blobtest.NewMemory()
	var pointers []blob.Pointer
	for _, data := range files {
		pointers = append(pointers, add(f, s, data))
	}
	f.Add(uint8(3), int32(0), []byte{0, 0, 0, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 0, 1})
	f.Add(uint8(3), int32(-1), []byte{0x9f, 0xff, 0xff, 0, 0, 2, 0xa0, 0, 4, 0, 0, 2, 0xa0, 0, 5, 0, 0, 2})
	f.Add(uint8(4), int32(3<<20), []byte{0, 0, 0, 0x80, 0, 1, 0x80, 0, 0, 0, 0, 0})
	f.Add(uint8(2), int32(1), []byte{0, 0, 7, 0, 0, 0, 1, 0x11, 0x70, 0, 0, 9})
	f.Fuzz(func(t *testing.T, file uint8, memory int32, steps []byte) {
		data, p := files[int(file)%len(files)], pointers[int(file)%len(files)]
		reader := open(t, s, "", int64(memory))
		defer reader.Close()
		for ; len(steps) >= 6; steps = steps[6:] {
			offset := int64(binary.BigEndian.Uint32(steps) >> 8)
			want := int64(binary.BigEndian.Uint32(steps[2:]) & 0xffffff)
			got, err := reader.Read(t.Context(), p, offset, want)
			if offset >= p.Size {
				if err != io.EOF || len(got) > 0 {
					t.Fatalf("offset %d of %d: %d bytes, error %v", offset, p.Size, len(got), err)
				}
				continue
			}
			if err != nil || len(got) == 0 || !bytes.HasPrefix(data[offset:], got) {
				t.Fatalf("offset %d of %d: %d bytes, error %v", offset, p.Size, len(got), err)
			}
		}
	})
}

// FuzzList: whatever the block list and the sizes that a tree claims, a read ends, and gives nothing but what the list
// proves.
func FuzzList(f *testing.F) {
	s := blobtest.NewMemory()
	data := noise(blob.WholeBytes + 1)
	p := add(f, s, data)
	_, list, err := blob.Describe(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(list, p.Size, int64(0))
	f.Add(list[:32], p.Size, int64(1))
	f.Add(append(bytes.Clone(list), list[:32]...), p.Size+1, p.Size)
	f.Add([]byte{}, int64(1)<<62, int64(1)<<61)
	f.Fuzz(func(t *testing.T, list []byte, size, offset int64) {
		s := blobtest.NewMemory()
		s.Set(blob.Key(p.SHA256), data)
		lie := blob.Pointer{Size: size, SHA256: p.SHA256, Blocks: s.Add(list)}
		got, err := open(t, s, "", 0).Read(t.Context(), lie, offset, 1)
		named := (*blob.Error)(nil)
		switch {
		case err == io.EOF:
			if offset >= 0 && offset < size {
				t.Errorf("offset %d of %d is the end", offset, size)
			}
		case err != nil:
			if !errors.As(err, &named) {
				t.Errorf("error %v", err)
			}
		case size <= blob.WholeBytes:
			t.Errorf("%d bytes of another size", len(got))
		default:
			k := offset / blob.BlockBytes
			block := data[k*blob.BlockBytes : min(int64(len(data)), (k+1)*blob.BlockBytes)]
			if sha256.Sum256(block) != [32]byte(list[k*32:]) || !bytes.Equal(got, block[offset-k*blob.BlockBytes:]) {
				t.Errorf("offset %d of %d: %d bytes that nothing proves", offset, size, len(got))
			}
		}
	})
}
