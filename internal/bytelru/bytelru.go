// Package bytelru provides a least-recently-used cache that is bounded in bytes, or in the number of values if each has the size 1.
package bytelru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Cache keeps the most recently used values, up to a number of bytes. It is safe for use by many goroutines.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	items *simplelru.LRU[K, sized[V]]
	held  int
	most  int
	hits  uint64
	looks uint64
	dice  uint64 // the state of onward
	gone  uint64 // entries evicted for lack of room
	stay  int    // entries that stay, whatever their size

	dropped func(K, V) // nil: nobody is told
}

// Stats counts a cache's look-ups and entries.
type Stats struct {
	Bytes, Entries int
	Hits, Misses   uint64 // look-ups that found a value, and look-ups that did not
	Evicted        uint64 // entries evicted for lack of room
}

type sized[V any] struct {
	value V
	size  int
}

// NewLast returns a cache of up to most bytes, in which the value used last stays whatever its size. dropped is called for each value that leaves the cache, and
// must not use the cache.
func NewLast[K comparable, V any](most int, dropped func(K, V)) *Cache[K, V] {
	c := New[K, V](most)
	c.stay, c.dropped = 1, dropped
	return c
}

// New returns a cache of up to most bytes.
func New[K comparable, V any](most int) *Cache[K, V] {
	c := &Cache[K, V]{most: most}
	// The cache is bounded by bytes; only the library needs a bound on the number of entries.
	items, err := simplelru.NewLRU[K, sized[V]](1<<31-1, func(key K, gone sized[V]) {
		c.held -= gone.size
		if c.dropped != nil {
			c.dropped(key, gone.value)
		}
	})
	if err != nil {
		panic("bytelru: " + err.Error()) // a size below 1
	}
	c.items = items
	return c
}

// Get returns the value under key, and whether there is one.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.look(key)
	return s.value, ok
}

// look is Get without the lock; it counts the look-up. The caller holds the lock.
func (c *Cache[K, V]) look(key K) (sized[V], bool) {
	s, ok := c.items.Get(key)
	c.looks++
	if ok {
		c.hits++
	}
	return s, ok
}

// onward reports whether found values move to the front. It returns true one time in eight: moving hundreds of values costs
// more than finding them, and frequently used values stay near the front anyway. The times are pseudo-random, since with
// regular times the same keys of a repeated query could move every time. The caller holds the lock.
func (c *Cache[K, V]) onward() bool {
	c.dice = c.dice*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
	return c.dice>>61 == 0
}

// Glance is like Get, for values that are looked up in large numbers: it moves a found value to the front only one time in
// eight.
func (c *Cache[K, V]) Glance(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	find := c.items.Peek
	if c.onward() {
		find = c.items.Get
	}
	s, ok := find(key)
	c.looks++
	if ok {
		c.hits++
	}
	return s.value, ok
}

// GetAll calls found with each of n keys that has a value.
func (c *Cache[K, V]) GetAll(n int, key func(i int) K, found func(i int, value V)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	find := c.items.Peek
	if c.onward() {
		find = c.items.Get
	}
	for i := range n {
		if s, ok := find(key(i)); ok {
			found(i, s.value)
			c.hits++
		}
	}
	c.looks += uint64(n)
}

// GetOrPut returns the value under key. If there is none, it stores and returns made(), which counts as 0 bytes.
func (c *Cache[K, V]) GetOrPut(key K, made func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.look(key); ok {
		return s.value
	}
	v := made()
	c.items.Add(key, sized[V]{value: v})
	return v
}

// Put stores a value of a size in bytes under key, in place of an earlier value. A value larger than the whole cache is not
// stored.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if size > c.most && c.stay == 0 {
		c.items.Remove(key)
		return
	}
	before, _ := c.items.Peek(key)
	c.items.Add(key, sized[V]{value, size})
	c.held += size - before.size
	for c.held > c.most && c.items.Len() > c.stay {
		c.items.RemoveOldest()
		c.gone++
	}
}

// Remove removes the value under key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Remove(key)
}

// Purge removes everything.
func (c *Cache[K, V]) Purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Purge()
}

// Stats returns the counts so far.
func (c *Cache[K, V]) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Bytes: c.held, Entries: c.items.Len(), Hits: c.hits, Misses: c.looks - c.hits, Evicted: c.gone}
}
