package sqlite_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/fixtures/corpora"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/sqlite"
)

// pages are the files of tldr, one record each: 38,427 records, 18.6 MB of text.
func pages(b *testing.B) []index.Record {
	b.Helper()
	dir := corpora.Dir(b, "tldr")
	var records []index.Record
	for _, name := range corpora.Files(b, "tldr") {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			b.Fatal(err)
		}
		if !strings.HasSuffix(name, ".md") {
			continue
		}
		rev := sha256.Sum256([]byte(name))
		title, _, _ := strings.Cut(string(text), "\n")
		records = append(records, index.Record{
			ID: hex.EncodeToString(rev[:13]) + "#0", Document: string(text),
			Metadata: index.Metadata{
				Kind: index.KindChunk, PageSlug: name, IsPublic: true, Groups: []string{"*"}, Visibility: "public",
				Title: title, Headings: title, StartLine: 1,
			},
		})
	}
	return records
}

func fill(b *testing.B, path string, records []index.Record) *sqlite.Store {
	b.Helper()
	s := open(b, path, sqlite.Options{})
	for part := range slices.Chunk(records, s.Batch()) {
		upsert(b, s, part)
	}
	return s
}

// BenchmarkUpsert fills a new file and closes it.
func BenchmarkUpsert(b *testing.B) {
	records := pages(b)
	for b.Loop() {
		closeStore(b, fill(b, temp(b), records))
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkReplace writes every hundredth record again.
func BenchmarkReplace(b *testing.B) {
	records := pages(b)
	s := fill(b, temp(b), records)
	defer closeStore(b, s)
	var some []index.Record
	for i := 0; i < len(records); i += 100 {
		some = append(some, records[i])
	}
	for b.Loop() {
		upsert(b, s, some)
	}
}

// BenchmarkCopy copies every record into a file that holds it.
func BenchmarkCopy(b *testing.B) {
	records := pages(b)
	copies := make([]index.Copy, len(records))
	for i, r := range records {
		copies[i] = index.Copy{From: r.ID, To: r.ID + "'", Metadata: r.Metadata}
	}
	for b.Loop() {
		b.StopTimer()
		s := fill(b, temp(b), records)
		b.StartTimer()
		if err := s.Copy(b.Context(), copies); err != nil {
			b.Fatal(err)
		}
		closeStore(b, s)
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkRead(b *testing.B) {
	records := pages(b)
	path := temp(b)
	closeStore(b, fill(b, path, records))
	s := open(b, path, sqlite.Options{ReadOnly: true})
	defer closeStore(b, s)
	b.Run("IDs", func(b *testing.B) {
		for b.Loop() {
			if ids, err := s.IDs(b.Context(), index.KindChunk, ""); err != nil || len(ids) != len(records) {
				b.Fatal(len(ids), err)
			}
		}
	})
	for _, n := range []int{1, 8, 1000} {
		b.Run(fmt.Sprintf("Documents/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i = (i + 1777) % (len(records) - n) {
				ids := make([]string, n)
				for k := range ids {
					ids[k] = records[i+k].ID
				}
				if found, err := s.Documents(b.Context(), ids); err != nil || len(found) != n {
					b.Fatal(len(found), err)
				}
			}
		})
	}
	for _, q := range []index.Query{
		{Literals: []string{"kubectl get"}},
		{Literals: []string{"nowhere to be found"}},
		{Literals: []string{"a"}},
		{Literals: []string{"docker", "podman", "kubectl"}},
		{Literals: []string{"kubectl get"}, FoldCase: true},
		{Literals: []string{"Überprüf"}, FoldCase: true},
	} {
		b.Run(fmt.Sprintf("Search/%s/%t", strings.Join(q.Literals, "|"), q.FoldCase), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
