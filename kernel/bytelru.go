package kernel

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A byteLRU keeps the values used last, up to a number of bytes. It is safe for
// use by many goroutines.
type byteLRU[K comparable, V any] struct {
	mu    sync.Mutex
	items *simplelru.LRU[K, sized[V]]
	held  int
	most  int
	hits  uint64
	looks uint64
	dice  uint64 // of onward
	gone  uint64 // entries let go for want of room
}

// A CacheStats counts what became of a cache.
type CacheStats struct {
	Bytes, Entries int
	Hits, Misses   uint64 // look-ups that found something, and that did not
	Evicted        uint64 // entries let go for want of room
}

type sized[V any] struct {
	value V
	size  int
}

func newByteLRU[K comparable, V any](most int) *byteLRU[K, V] {
	c := &byteLRU[K, V]{most: most}
	// Bytes are the bound; the number of entries needs one only for the library.
	items, err := simplelru.NewLRU[K, sized[V]](1<<31-1, func(_ K, gone sized[V]) { c.held -= gone.size })
	if err != nil {
		panic("kernel: " + err.Error()) // a size below 1
	}
	c.items = items
	return c
}

func (c *byteLRU[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.look(key)
	return s.value, ok
}

// look counts. It is called with the lock held.
func (c *byteLRU[K, V]) look(key K) (sized[V], bool) {
	s, ok := c.items.Get(key)
	c.looks++
	if ok {
		c.hits++
	}
	return s, ok
}

// onward says whether values that are found move to the front, which is so one time in eight:
// to move hundreds costs more than to find them, and who is asked for often stays, all the
// same. The times are scattered, or some keys of a question that comes again would have them
// all. It is called with the lock held.
func (c *byteLRU[K, V]) onward() bool {
	c.dice = c.dice*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
	return c.dice>>61 == 0
}

// glance is get for values that are looked up in large numbers.
func (c *byteLRU[K, V]) glance(key K) (V, bool) {
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

// getAll calls found with each of n keys that has a value.
func (c *byteLRU[K, V]) getAll(n int, key func(i int) K, found func(i int, value V)) {
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

// getOrPut returns the value under key, and puts made there if there is none.
func (c *byteLRU[K, V]) getOrPut(key K, made func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.look(key); ok {
		return s.value
	}
	v := made()
	c.items.Add(key, sized[V]{value: v})
	return v
}

// put keeps a value of a size, in place of what stood under its key. A value
// larger than the whole cache is not kept.
func (c *byteLRU[K, V]) put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Remove(key)
	if size > c.most {
		return
	}
	c.items.Add(key, sized[V]{value, size})
	c.held += size
	for c.held > c.most {
		c.items.RemoveOldest()
		c.gone++
	}
}

func (c *byteLRU[K, V]) remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Remove(key)
}

// purge removes everything.
func (c *byteLRU[K, V]) purge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Purge()
}

func (c *byteLRU[K, V]) stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return CacheStats{Bytes: c.held, Entries: c.items.Len(), Hits: c.hits, Misses: c.looks - c.hits, Evicted: c.gone}
}
