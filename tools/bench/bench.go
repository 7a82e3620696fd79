package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/chromafs/chromafs/fixtures/corpora"
)

// bench holds what the measures share.
type bench struct {
	rounds int
	// root is the checkout, tmp a folder for this run, bin the command under test.
	root, tmp, bin string
}

func newBench(rounds int) (*bench, error) {
	root, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, errors.New("run it from the checkout: make bench")
	}
	tmp, err := os.MkdirTemp("", "chromafs-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{rounds: rounds, root: root, tmp: tmp, bin: filepath.Join(tmp, "chromafs")}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.bin, "./cmd/chromafs")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.close()
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	return b, nil
}

func (b *bench) close() { os.RemoveAll(b.tmp) }

// corpus is the folder of an unpacked corpus.
func (b *bench) corpus(name string) (string, error) { return corpora.Unpack(name) }

// fresh makes a new folder for one run.
func (b *bench) fresh() (string, error) { return os.MkdirTemp(b.tmp, "run-") }

// chromafs runs the command and returns how long it took.
func (b *bench) chromafs(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, b.bin, args...)
	cmd.Dir = b.tmp
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("chromafs %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start), nil
}

// peakMemory runs the command and returns the most bytes it had resident. Its resource usage would count what this
// process had when it made it, so the kernel's own mark is read while the command runs, up to the end.
func (b *bench) peakMemory(ctx context.Context, args ...string) (int64, error) {
	cmd := exec.CommandContext(ctx, b.bin, args...)
	cmd.Dir = b.tmp
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var peak int64
	for {
		select {
		case err := <-done:
			return peak, err
		case <-time.After(2 * time.Millisecond):
			peak = max(peak, residentPeak(cmd.Process.Pid))
		}
	}
}

// residentPeak is VmHWM of proc(5), in bytes; 0 where it can't be read.
func residentPeak(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	var kib int64
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	_, _ = fmt.Sscan(rest, &kib) // 0 where it is no number
	return kib * 1024
}

// sha256sum is the floor: reading and hashing every file of dir with the system's own command.
func sha256sum(ctx context.Context, dir string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", "find . -type f -print0 | xargs -0 sha256sum >/dev/null")
	cmd.Dir = dir
	start := time.Now()
	err := cmd.Run()
	return time.Since(start), err
}

// alternate runs both sides by turns, after one run of each that does not count, and returns the medians.
func alternate(rounds int, a, b func() (time.Duration, error)) (time.Duration, time.Duration, error) {
	sides := [2]func() (time.Duration, error){a, b}
	var took [2][]time.Duration
	for i := range rounds + 1 {
		for s := range sides {
			side := (s + i) % 2
			d, err := sides[side]()
			if err != nil {
				return 0, 0, err
			}
			if i > 0 {
				took[side] = append(took[side], d)
			}
		}
	}
	return median(took[0]), median(took[1]), nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func ms(d time.Duration) string { return fmt.Sprintf("%.4g ms", float64(d)/1e6) }
