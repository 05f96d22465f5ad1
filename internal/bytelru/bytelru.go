// Package bytelru keeps the values that were used last, up to a number of bytes; or up to a number of values, where each has the size 1.
package bytelru

import (
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// A Cache keeps the values used last, up to a number of bytes. It is safe for
// use by many goroutines.
type Cache[K comparable, V any] struct {
	mu    sync.Mutex
	items *simplelru.LRU[K, sized[V]]
	held  int
	most  int
	hits  uint64
	looks uint64
	dice  uint64 // of onward
	gone  uint64 // entries let go for want of room
	stay  int    // entries that stay, whatever their size

	dropped func(K, V) // nil: nobody wants to know
}

// Stats counts the look-ups of a cache and the entries that it holds.
type Stats struct {
	Bytes, Entries int
	Hits, Misses   uint64 // look-ups that found something, and that did not
	Evicted        uint64 // entries let go for want of room
}

type sized[V any] struct {
	value V
	size  int
}

// NewLast returns a cache of at most so many bytes beside the value used last, which stays whatever its size. dropped is called for each value that goes, and must not
// use the cache.
func NewLast[K comparable, V any](most int, dropped func(K, V)) *Cache[K, V] {
	c := New[K, V](most)
	c.stay, c.dropped = 1, dropped
	return c
}

// New returns a cache of at most so many bytes.
func New[K comparable, V any](most int) *Cache[K, V] {
	c := &Cache[K, V]{most: most}
	// Bytes are the bound; the number of entries needs one only for the library.
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

// look counts. It is called with the lock held.
func (c *Cache[K, V]) look(key K) (sized[V], bool) {
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
func (c *Cache[K, V]) onward() bool {
	c.dice = c.dice*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
	return c.dice>>61 == 0
}

// Glance is Get for values that are looked up in large numbers.
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

// GetOrPut returns the value under key, and puts made there if there is none.
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

// Put keeps a value of a size, in place of what stood under its key. A value
// larger than the whole cache is not kept.
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

// Remove removes what is kept under key.
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
