package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromafs/chromafs/chunker"
)

func chunkMDX(_ context.Context, b *bench) (float64, string, error) {
	return b.chunk("mem0-docs", chunker.MDX, 0, ".mdx")
}

func chunkText(_ context.Context, b *bench) (float64, string, error) {
	return b.chunk("openapi-specs", chunker.Text, 0, ".json", ".yaml", ".yml")
}

func chunkMarkdown(_ context.Context, b *bench) (float64, string, error) {
	return b.chunk("tldr", chunker.Markdown, 0, ".md")
}

// chunkLargeMarkdown leaves out the files that need no cut, so that the block parser is what is measured.
func chunkLargeMarkdown(_ context.Context, b *bench) (float64, string, error) {
	return b.chunk("tldr", chunker.Markdown, chunker.TargetBytes+1, ".md")
}

// chunk compares cutting a corpus' files with hashing them. The files are in memory.
func (b *bench) chunk(name string, syntax chunker.Syntax, smallest int, extensions ...string) (float64, string, error) {
	dir, err := b.corpus(name)
	if err != nil {
		return 0, "", err
	}
	files, size, err := readAll(dir, smallest, extensions)
	if err != nil {
		return 0, "", err
	}
	passes := 1 + sampleBytes/size
	ours, floor, err := alternate(b.rounds, timed(passes, files, func(data []byte) error {
		_, err := chunker.Split(syntax, data)
		return err
	}), timed(passes, files, func(data []byte) error {
		sha256.Sum256(data)
		return nil
	}))
	rate := func(d time.Duration) float64 { return float64(size*passes) / 1e6 / d.Seconds() }
	return ratio(floor, ours), fmt.Sprintf("%.0f / %.0f MB/s, %d files", rate(ours), rate(floor), len(files)), err
}

// sampleBytes is about how much one sample reads, so that it lasts long enough to be worth something.
const sampleBytes = 64 << 20

func timed(passes int, files [][]byte, f func([]byte) error) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		start := time.Now()
		for range passes {
			for _, data := range files {
				if err := f(data); err != nil {
					return 0, err
				}
			}
		}
		return time.Since(start), nil
	}
}

func readAll(dir string, smallest int, extensions []string) (files [][]byte, size int, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !slices.Contains(extensions, filepath.Ext(path)) {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) >= smallest && chunker.Check(data) == nil {
			files, size = append(files, data), size+len(data)
		}
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no file of %v in %s", extensions, dir)
	}
	return files, size, err
}
