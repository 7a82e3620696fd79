package cache_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromafs/chromafs/cache"
)

// childPath in the environment makes the test binary a user of the cache folder that it names.
const childPath = "CHROMAFS_TEST_USE_CACHE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childPath); dir != "" {
		seed, _ := strconv.ParseUint(os.Args[1], 10, 64)
		if err := useCache(dir, seed, 400); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// sharedBound makes room for about a tenth of the values.
const sharedBound = 1 << 20

func valueOf(n int) []byte { return bytes.Repeat([]byte(fmt.Sprintf("%03d\n", n)), 250*(1+n%20)) }

// useCache puts, reads and drops values, each of which must be its own, whole.
func useCache(dir string, seed uint64, rounds int) error {
	d, err := cache.OpenDisk(dir, sharedBound)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		n := rng.IntN(1000)
		d.Put(fmt.Sprint(n), valueOf(n))
		n = rng.IntN(1000)
		if v, ok := d.Get(fmt.Sprint(n)); ok && !bytes.Equal(v, valueOf(n)) {
			return fmt.Errorf("value %d is %d bytes, or of something else", n, len(v))
		}
		if n%50 == 0 {
			d.Drop(fmt.Sprint(n))
		}
	}
	return nil
}

// Several processes share a folder; some are killed.
func TestDiskProcesses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var stay, killed []*exec.Cmd
	for seed := range 6 {
		cmd := exec.Command(self, strconv.Itoa(seed))
		cmd.Env = append(os.Environ(), childPath+"="+dir)
		cmd.Stderr = new(strings.Builder)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if seed < 4 {
			stay = append(stay, cmd)
		} else {
			killed = append(killed, cmd)
		}
	}
	if err := useCache(dir, 100, 100); err != nil {
		t.Error(err)
	}
	for _, cmd := range killed {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	for _, cmd := range stay {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, cmd.Stderr)
		}
	}
	keys, size := kept(t, dir)
	if len(keys) == 0 || size > 2*sharedBound {
		t.Errorf("%d values, %d bytes", len(keys), size)
	}
	temps, err := filepath.Glob(filepath.Join(dir, ".chromafs-tmp-*"))
	if err != nil {
		t.Fatal(err)
	}
	age(t, 2, temps...)
	d := openDisk(t, dir, sharedBound)
	if _, size := kept(t, dir); size > sharedBound {
		t.Errorf("%d bytes after a look at them", size)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".chromafs-tmp-*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	for _, key := range keys {
		n, err := strconv.Atoi(key)
		if err != nil {
			t.Fatal(err)
		}
		if v, ok := d.Get(key); ok && !bytes.Equal(v, valueOf(n)) {
			t.Errorf("value %s is %d bytes, or of something else", key, len(v))
		}
	}
}
