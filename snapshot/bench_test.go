package snapshot

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

var benchSizes = []struct {
	name  string
	paths int
}{{"10k", 10_000}, {"100k", 100_000}, {"1M", 1_000_000}}

// BenchmarkOpen is read, gunzip, decode and one listing; BenchmarkGunzip is the floor under it, over the same bytes.
func BenchmarkOpen(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			data := benchSnapshot(b, size.paths)
			for b.Loop() {
				t, err := Decode(bytes.NewReader(data), Limits{})
				if err != nil {
					b.Fatal(err)
				}
				if lo, hi := t.Range("guides/"); lo == hi {
					b.Fatal("empty folder")
				}
			}
		})
	}
}

func BenchmarkGunzip(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(size.name, func(b *testing.B) {
			data := benchSnapshot(b, size.paths)
			for b.Loop() {
				zr, err := gzip.NewReader(bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, zr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchSnapshot(b *testing.B, n int) []byte {
	b.Helper()
	t, err := New(Header{Collection: "docs", Records: "r"}, someEntries(n))
	if err != nil {
		b.Fatal(err)
	}
	var buf bytes.Buffer
	if err := Encode(&buf, t); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(buf.Len())/float64(n), "gzip-B/path")
	return buf.Bytes()
}
