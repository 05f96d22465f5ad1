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
	s, ok := c.items.Get(key)
	return s.value, ok
}

// getOrPut gives the value under key, and puts made there if there is none.
func (c *byteLRU[K, V]) getOrPut(key K, made func() V) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.items.Get(key); ok {
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
	}
}

func (c *byteLRU[K, V]) remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items.Remove(key)
}

// bytes gives the size of everything kept.
func (c *byteLRU[K, V]) bytes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held
}
