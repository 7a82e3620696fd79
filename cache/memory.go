// Package cache keeps values that never change under their keys, up to a bound: in memory, and in a folder that several
// processes share.
package cache

import (
	"container/list"
	"sync"
)

// Memory keeps the values used last, up to a total size. It is safe for concurrent use. Values are shared: nobody changes
// them.
type Memory[K comparable, V any] struct {
	max int64

	mu    sync.Mutex
	used  int64
	order list.List // of *slot[K, V], the one used last in front
	items map[K]*list.Element
}

type slot[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// NewMemory bounds the sizes of the values together; at most 0 keeps nothing.
func NewMemory[K comparable, V any](maxSize int64) *Memory[K, V] {
	return &Memory[K, V]{max: maxSize, items: make(map[K]*list.Element)}
}

// Get returns the value of a key, if it is still kept.
func (c *Memory[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	el, ok := c.items[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(el)
	return el.Value.(*slot[K, V]).value, true
}

// Put keeps value unless it is larger than the bound by itself. A key's value never changes, so a known key stays.
func (c *Memory[K, V]) Put(key K, value V, size int64) {
	size += slotBytes
	if size > c.max {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok {
		return
	}
	c.items[key] = c.order.PushFront(&slot[K, V]{key, value, size})
	for c.used += size; c.used > c.max; {
		last := c.order.Remove(c.order.Back()).(*slot[K, V])
		delete(c.items, last.key)
		c.used -= last.size
	}
}

// slotBytes is about what a kept value costs beside itself, so that a million empty pages are bounded too.
const slotBytes = 200
