package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ingestFresh ingests dir into a new embedded store, which is then removed.
func (b *bench) ingestFresh(ctx context.Context, dir string) (time.Duration, error) {
	store, err := b.fresh()
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(store)
	return b.chromafs(ctx, "ingest", dir, "--store", store)
}

func ingestEmbedded(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("tldr")
	if err != nil {
		return 0, "", err
	}
	ours, floor, err := alternate(b.rounds,
		func() (time.Duration, error) { return b.ingestFresh(ctx, dir) },
		func() (time.Duration, error) { return sha256sum(ctx, dir) })
	return ratio(ours, floor), fmt.Sprintf("%s / %s", ms(ours), ms(floor)), err
}

func ingestMemory(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("tldr")
	if err != nil {
		return 0, "", err
	}
	peak, err := b.peak(ctx, dir)
	return float64(peak) / 1e6, "MB, all of tldr", err
}

// peak is the highest memory of a few ingests.
func (b *bench) peak(ctx context.Context, dir string) (int64, error) {
	var peak int64
	for range 3 {
		store, err := b.fresh()
		if err != nil {
			return 0, err
		}
		rss, err := b.peakMemory(ctx, "ingest", dir, "--store", store)
		if err := errors.Join(err, os.RemoveAll(store)); err != nil {
			return 0, err
		}
		peak = max(peak, rss)
	}
	return peak, nil
}

// largePages is how many pages the made-up site has that shows how memory grows.
const largePages = 200_000

func ingestMemoryLarge(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.fresh()
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(dir)
	for i := range largePages {
		folder := filepath.Join(dir, fmt.Sprintf("section-%03d", i/500))
		if i%500 == 0 {
			if err := os.Mkdir(folder, 0o777); err != nil {
				return 0, "", err
			}
		}
		text := fmt.Sprintf("# Page %d\n\nWhat page %d says.\n", i, i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("page-%06d.md", i)), []byte(text), 0o666); err != nil {
			return 0, "", err
		}
	}
	rss, err := b.peak(ctx, dir)
	allowed := 200e6 + 600*float64(largePages-40_000)
	return float64(rss) / allowed, fmt.Sprintf("%.0f MB / %.0f MB, %d pages", float64(rss)/1e6, allowed/1e6, largePages), err
}

// ingested ingests dir into a new embedded store that the caller removes.
func (b *bench) ingested(ctx context.Context, dir string) (store string, err error) {
	if store, err = b.fresh(); err != nil {
		return "", err
	}
	_, err = b.chromafs(ctx, "ingest", dir, "--store", store)
	return store, err
}

func ingestUnchanged(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("tldr")
	if err != nil {
		return 0, "", err
	}
	store, err := b.ingested(ctx, dir)
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(store)
	ours, floor, err := alternate(b.rounds,
		func() (time.Duration, error) { return b.chromafs(ctx, "ingest", dir, "--store", store) },
		func() (time.Duration, error) { return sha256sum(ctx, dir) })
	return ratio(ours, floor), fmt.Sprintf("%s / %s", ms(ours), ms(floor)), err
}

func verifyEmbedded(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("tldr")
	if err != nil {
		return 0, "", err
	}
	store, err := b.ingested(ctx, dir)
	if err != nil {
		return 0, "", err
	}
	defer os.RemoveAll(store)
	ours, floor, err := alternate(min(b.rounds, 3),
		func() (time.Duration, error) { return b.chromafs(ctx, "verify", dir, "--store", store) },
		func() (time.Duration, error) { return b.ingestFresh(ctx, dir) })
	return ratio(ours, floor), fmt.Sprintf("%s / %s", ms(ours), ms(floor)), err
}
