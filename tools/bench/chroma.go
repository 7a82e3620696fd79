package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromafs/chromafs/access"
	"github.com/chromafs/chromafs/index"
	"github.com/chromafs/chromafs/index/chroma"
	"github.com/chromafs/chromafs/index/sqlite"
	"github.com/chromafs/chromafs/snapshot"
	"github.com/chromafs/chromafs/vfs"
)

// upsertBatch is how many records each side sends at once.
const upsertBatch = 500

// ingestChroma compares a first ingest of tldr/pages with a loop that sends the same records in the same batches, each
// on a server of its own.
func ingestChroma(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("tldr")
	if err != nil {
		return 0, "", err
	}
	dir += "/pages"
	records, err := b.recordsOf(ctx, dir)
	if err != nil {
		return 0, "", err
	}
	bodies, err := upsertBodies(records)
	if err != nil {
		return 0, "", err
	}
	ours, floor, err := alternate(min(b.rounds, 3),
		func() (time.Duration, error) {
			return b.onServer(ctx, func(s *server) (time.Duration, error) {
				return b.chromafs(ctx, "ingest", dir, "--chroma", s.url, "--access-default", "public")
			})
		},
		func() (time.Duration, error) {
			return b.onServer(ctx, func(s *server) (time.Duration, error) { return upsertLoop(s, bodies) })
		})
	rate := func(d time.Duration) float64 { return float64(len(records)) / d.Seconds() }
	return ratio(floor, ours), fmt.Sprintf("%.0f / %.0f records/s, %d records", rate(ours), rate(floor), len(records)), err
}

// onServer runs f against a fresh server.
func (b *bench) onServer(ctx context.Context, f func(*server) (time.Duration, error)) (time.Duration, error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	return f(s)
}

// recordsOf are the chunk records of dir, by way of the embedded store.
func (b *bench) recordsOf(ctx context.Context, dir string) ([]index.Record, error) {
	store, err := b.fresh()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(store)
	if _, err := b.chromafs(ctx, "ingest", dir, "--store", store); err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, store+"/docs/index.db", sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ids, err := db.IDs(ctx, index.KindChunk, "")
	if err != nil {
		return nil, err
	}
	return db.Get(ctx, ids)
}

// upsertBodies are the requests of the bare loop, serialised before the clock starts.
func upsertBodies(records []index.Record) ([][]byte, error) {
	var bodies [][]byte
	for batch := range slices.Chunk(records, upsertBatch) {
		body := map[string]any{}
		var ids, documents []string
		var embeddings [][]float32
		var metadatas []index.Metadata
		for _, r := range batch {
			ids, documents = append(ids, r.ID), append(documents, r.Document)
			embeddings, metadatas = append(embeddings, []float32{0}), append(metadatas, r.Metadata)
		}
		body["ids"], body["documents"], body["embeddings"], body["metadatas"] = ids, documents, embeddings, metadatas
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, data)
	}
	return bodies, nil
}

func upsertLoop(s *server, bodies [][]byte) (time.Duration, error) {
	c := newBare(s.url)
	if err := c.create("docs"); err != nil {
		return 0, err
	}
	start := time.Now()
	for _, body := range bodies {
		if _, err := c.postBytes(c.collection+"/upsert", body); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// catPages is how many pages are read in each run of catChroma.
const catPages = 200

// catChroma compares reading whole pages through the filesystem, nothing cached, with a bare get of the same ids.
func catChroma(ctx context.Context, b *bench) (float64, string, error) {
	dir, err := b.corpus("mem0-docs")
	if err != nil {
		return 0, "", err
	}
	s, err := b.startServer(ctx)
	if err != nil {
		return 0, "", err
	}
	defer s.stop()
	if _, err := b.chromafs(ctx, "ingest", dir, "--chroma", s.url, "--access-default", "public", "--blobs", filepath.Join(b.tmp, "blobs")); err != nil {
		return 0, "", err
	}
	store, err := chroma.Open(ctx, chroma.Options{URL: s.url, Collection: "docs"})
	if err != nil {
		return 0, "", err
	}
	defer store.Close()
	published, err := (&snapshot.Collection{Store: store}).Load(ctx)
	if err != nil {
		return 0, "", err
	}
	return b.cat(store, s, published.Tree)
}

func (b *bench) cat(store index.Store, s *server, tree *snapshot.Tree) (float64, string, error) {
	c := newBare(s.url)
	if err := c.create("docs"); err != nil {
		return 0, "", err
	}
	pages := somePages(tree)
	ours, floor, err := alternate(b.rounds,
		func() (time.Duration, error) {
			fsys := vfs.New(tree, store, access.Viewer{}, vfs.Options{})
			start := time.Now()
			for _, i := range pages {
				if _, err := fsys.ReadFile(tree.At(i).Path); err != nil {
					return 0, err
				}
			}
			return time.Since(start), nil
		},
		func() (time.Duration, error) {
			start := time.Now()
			for _, i := range pages {
				body := map[string]any{"ids": tree.IDs(i), "include": []string{"documents"}}
				if _, err := c.post(c.collection+"/get", body); err != nil {
					return 0, err
				}
			}
			return time.Since(start), nil
		})
	each := func(d time.Duration) string { return ms(d / time.Duration(len(pages))) }
	return ratio(ours, floor), fmt.Sprintf("%s / %s a page, %d pages", each(ours), each(floor), len(pages)), err
}

// somePages are positions of different chunked files, the same in every run.
func somePages(tree *snapshot.Tree) []int {
	r := rand.New(rand.NewPCG(1, 2))
	var pages []int
	for _, i := range r.Perm(tree.Len()) {
		if tree.Link(i) == "" && !tree.IsLazy(i) && len(pages) < catPages {
			pages = append(pages, i)
		}
	}
	return pages
}
