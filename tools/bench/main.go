// Command bench measures chromafs beside what it is compared with, in one run, and prints the ratios. Times on a shared
// machine are noise; ratios of alternating runs are what counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// measure is one row of the table.
type measure struct {
	name   string
	target string
	// ok compares a value with the target.
	ok func(v float64) bool
	// run returns the value and what was measured in plain figures.
	run func(context.Context, *bench) (value float64, detail string, err error)
}

func atLeast(x float64) func(float64) bool { return func(v float64) bool { return v >= x } }
func atMost(x float64) func(float64) bool  { return func(v float64) bool { return v <= x } }

// measures are the rows, named for --only.
var measures = []measure{
	{"chunk-mdx", "at least 0.5 of SHA-256", atLeast(0.5), chunkMDX},
	{"chunk-text", "at least 0.5 of SHA-256", atLeast(0.5), chunkText},
	{"chunk-md", "at least 0.15 of SHA-256", atLeast(0.15), chunkMarkdown},
	{"chunk-md-large", "at least 0.15 of SHA-256", atLeast(0.15), chunkLargeMarkdown},
	{"open-10k", "at most 3 times gunzip", atMost(3), open(10_000)},
	{"open-100k", "at most 3 times gunzip", atMost(3), open(100_000)},
	{"open-1m", "at most 3 times gunzip", atMost(3), open(1_000_000)},
	{"session-100k", "at most 50 µs", atMost(50), session},
	{"session-1m", "at most 10 times session-100k", atMost(10), sessionLarge},
	{"ingest-embedded", "at most 4 times sha256sum", atMost(4), ingestEmbedded},
	{"ingest-memory", "at most 200 MB", atMost(200), ingestMemory},
	{"ingest-memory-large", "at most 200 MB plus 600 B a page over 40,000", atMost(1), ingestMemoryLarge},
	{"ingest-unchanged", "at most 1.5 times sha256sum", atMost(1.5), ingestUnchanged},
	{"verify-embedded", "at most 10 times its ingest", atMost(10), verifyEmbedded},
	{"ingest-chroma", "at least 0.9 of a bare upsert loop", atLeast(0.9), ingestChroma},
	{"lazy-memory", "at most 200 MB", atMost(200), lazyMemory},
	{"lazy-cat", "at most 1.2 times a bare GetObject", atMost(1.2), catLazy},
	{"lazy-cat-again", "at most 1 time a bare GetObject", atMost(1), catLazyAgain},
	{"cat-chroma", "at most 1.3 times a bare get", atMost(1.3), catChroma},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	only := flag.String("only", "", "comma-separated names or prefixes of the rows to measure")
	rounds := flag.Int("rounds", 5, "alternating runs of each side")
	flag.Parse()
	b, err := newBench(*rounds)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer b.close()
	return b.table(ctx, *only)
}

// table runs the rows and prints each as it is done. A missed target is a figure; a row that fails is an error.
func (b *bench) table(ctx context.Context, only string) int {
	code := 0
	fmt.Println("| measure | target | value | met | figures |\n| --- | --- | ---: | --- | --- |")
	for _, m := range measures {
		if only != "" && !slices.ContainsFunc(strings.Split(only, ","), func(p string) bool { return strings.HasPrefix(m.name, p) }) {
			continue
		}
		value, detail, err := m.run(ctx, b)
		if err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", m.name, err)
			code = 1
			continue
		}
		met := "yes"
		if !m.ok(value) {
			met = "no"
		}
		fmt.Printf("| %s | %s | %.2f | %s | %s |\n", m.name, m.target, value, met, detail)
	}
	return code
}
