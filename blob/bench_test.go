package blob_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/chromafs/chromafs/blob"
	"github.com/chromafs/chromafs/blob/blobtest"
	"github.com/chromafs/chromafs/blob/dir"
)

// BenchmarkRead is the reading of whole files: bare from the store into one buffer, the first time, with and without a
// cache on disk, and again from memory.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{3_400_000, 64 << 20} {
		data := blobtest.Bytes(size, 1)
		memory := blobtest.NewMemory()
		p := add(b, memory, data)
		folder := dir.New(b.TempDir())
		_, list, err := blob.Describe(bytes.NewReader(data))
		if err != nil {
			b.Fatal(err)
		}
		for _, content := range [][]byte{data, list} {
			if _, err := blob.Send(b.Context(), folder, blobtest.ContentOf(content), false); err != nil {
				b.Fatal(err)
			}
		}
		for name, s := range map[string]blob.Store{"memory": memory, "folder": folder} {
			run := func(kind string, f func(b *testing.B)) {
				b.Run(fmt.Sprintf("%s/%d/%s", name, size, kind), func(b *testing.B) {
					b.SetBytes(int64(size))
					f(b)
				})
			}
			run("bare", func(b *testing.B) {
				for b.Loop() {
					r, err := s.Open(b.Context(), blob.Key(p.SHA256), blob.Pin{}, 0, -1)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(r, make([]byte, size)); err != nil {
						b.Fatal(err)
					}
					r.Close()
				}
			})
			run("first", func(b *testing.B) { benchmarkFirst(b, s, p, false) })
			run("first with disk", func(b *testing.B) { benchmarkFirst(b, s, p, true) })
			run("again", func(b *testing.B) {
				f := open(b, s, "", 128<<20)
				defer f.Close()
				for b.Loop() {
					readThrough(b, f, p)
				}
			})
		}
	}
}

func benchmarkFirst(b *testing.B, s blob.Store, p blob.Pointer, disk bool) {
	for b.Loop() {
		b.StopTimer()
		folder := ""
		if disk {
			folder = b.TempDir()
		}
		f := open(b, s, folder, 0)
		b.StartTimer()
		readThrough(b, f, p)
		b.StopTimer()
		f.Close()
		b.StartTimer()
	}
}

func readThrough(b *testing.B, f *blob.Files, p blob.Pointer) {
	for at := int64(0); at < p.Size; {
		part, err := f.Read(b.Context(), p, at, p.Size-at)
		if err != nil {
			b.Fatal(err)
		}
		at += int64(len(part))
	}
}
