package cache_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/chromafs/chromafs/cache"
)

// Those used last stay.
func TestMemoryOrder(t *testing.T) {
	c := cache.NewMemory[string, int](3000)
	c.Put("a", 1, 800)
	c.Put("b", 2, 800)
	c.Put("c", 3, 800)
	c.Get("a")
	c.Put("a", 9, 800)
	c.Put("large", 5, 3001)
	c.Put("d", 4, 800)
	for key, want := range map[string]int{"a": 1, "b": 0, "c": 3, "d": 4, "large": 0} {
		if got, ok := c.Get(key); got != want || ok != (want != 0) {
			t.Errorf("%s is %d, %v, want %d", key, got, ok, want)
		}
	}
}

func TestMemoryKeepsNothing(t *testing.T) {
	for _, bound := range []int64{-1, 0} {
		c := cache.NewMemory[string, int](bound)
		if c.Put("a", 1, 0); bound > 0 {
			t.Fatal("no case")
		}
		if _, ok := c.Get("a"); ok {
			t.Errorf("bound %d keeps something", bound)
		}
	}
}

// Whatever is put, the values that are kept are those that were put, and within the bound.
func TestMemoryBound(t *testing.T) {
	const bound = 100_000
	c := cache.NewMemory[int, string](bound)
	var all sync.WaitGroup
	for seed := range uint64(4) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 2000 {
				key := rng.IntN(300)
				c.Put(key, fmt.Sprint(key), int64(key)*10)
				if got, ok := c.Get(rng.IntN(300)); ok && got == "" {
					t.Error("an empty value")
				}
			}
		})
	}
	all.Wait()
	kept := int64(0)
	for key := range 300 {
		if got, ok := c.Get(key); ok {
			if kept += int64(key) * 10; got != fmt.Sprint(key) {
				t.Errorf("%d is %q", key, got)
			}
		}
	}
	if kept == 0 || kept > bound {
		t.Errorf("%d bytes are kept", kept)
	}
}
