package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// open compares reading a snapshot until it is ready for ls with gunzip alone, over the same bytes in memory.
func open(paths int) func(context.Context, *bench) (float64, string, error) {
	return func(_ context.Context, b *bench) (float64, string, error) {
		packed, err := makeSnapshot(paths)
		if err != nil {
			return 0, "", err
		}
		ours, floor, err := alternate(b.rounds, func() (time.Duration, error) { return openOnce(packed) },
			func() (time.Duration, error) { return gunzipOnce(packed) })
		return ratio(ours, floor), fmt.Sprintf("%s / %s, %.1f MB packed", ms(ours), ms(floor), float64(len(packed))/1e6), err
	}
}

func openOnce(packed []byte) (time.Duration, error) {
	start := time.Now()
	tree, err := snapshot.Decode(bytes.NewReader(packed), snapshot.DefaultLimits())
	if err != nil {
		return 0, err
	}
	list, err := vfs.New(tree, nil, access.Viewer{}, vfs.Options{}).ReadDir(".")
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("ls of %d paths is empty", tree.Len())
	}
	return time.Since(start), err
}

func gunzipOnce(packed []byte) (time.Duration, error) {
	start := time.Now()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, z)
	return time.Since(start), err
}

// makeSnapshot encodes a tree of made-up paths, in folders of 50, with digests as random as real ones.
func makeSnapshot(paths int) ([]byte, error) {
	words := strings.Fields("guides reference api quickstart install configure deploy monitor errors webhooks billing teams search index agents")
	entries := make([]snapshot.Entry, paths)
	for i := range entries {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
		folder, size := i/50, int64(200+i%7000)
		entries[i] = snapshot.Entry{
			Path:   fmt.Sprintf("%s/%s-%d/%s-%d.mdx", words[folder%len(words)], words[folder/7%len(words)], folder, words[i%len(words)], i),
			Access: access.Everyone(), Size: size, SHA256: sum, Chunks: 1 + int(size/2000),
		}
	}
	slices.SortFunc(entries, func(a, b snapshot.Entry) int { return strings.Compare(a.Path, b.Path) })
	tree, err := snapshot.New(snapshot.Header{Collection: "docs", Records: strings.Repeat("0", 32), Default: access.Everyone()}, entries)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = snapshot.Encode(&packed, tree)
	return packed.Bytes(), err
}
