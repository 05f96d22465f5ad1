package bytelru

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestGlance asks for eight values in the same order again and again, while others come: none of
// the eight goes, though few of the times count. What nobody asks for does.
func TestGlance(t *testing.T) {
	c := New[int, int](400)
	for key := range 9 {
		c.Put(key, key, 1)
	}
	for n := range 4000 {
		c.Put(100+n, n, 1)
		for range 4 {
			for key := range 8 {
				if v, ok := c.Glance(key); !ok || v != key {
					t.Fatalf("after %d others %d is gone", n, key)
				}
			}
		}
	}
	if _, ok := c.Glance(8); ok {
		t.Error("what nobody asked for is still there")
	}
	if s := c.Stats(); s.Hits != 4000*32 || s.Misses != 1 || s.Entries != 400 {
		t.Errorf("counted %+v", s)
	}
}

// TestBound puts, gets and removes values at random, and compares the cache with a list in the order of use.
func TestBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const most = 10
		type entry struct{ key, value, size int }
		c, list, evicted := New[int, int](most), []entry(nil), uint64(0)
		out := func(key int) (e entry, ok bool) {
			i := slices.IndexFunc(list, func(e entry) bool { return e.key == key })
			if i < 0 {
				return e, false
			}
			e = list[i]
			list = slices.Delete(list, i, i+1)
			return e, true
		}
		bytes := func() (sum int) {
			for _, e := range list {
				sum += e.size
			}
			return sum
		}
		for n := range rapid.IntRange(1, 60).Draw(rt, "steps") {
			key := rapid.IntRange(0, 5).Draw(rt, "key")
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0, 1, 2:
				e := entry{key, n, rapid.IntRange(0, most+2).Draw(rt, "size")}
				c.Put(key, n, e.size)
				if out(key); e.size > most {
					break
				}
				for list = append(list, e); bytes() > most; evicted++ {
					list = list[1:]
				}
			case 3:
				c.Remove(key)
				out(key)
			default:
				got, ok := c.Get(key)
				e, want := out(key)
				if ok != want || ok && got != e.value {
					rt.Fatalf("key %d is %d, %t; want %d, %t", key, got, ok, e.value, want)
				}
				if want {
					list = append(list, e)
				}
			}
			if s := c.Stats(); s.Bytes != bytes() || s.Entries != len(list) || s.Evicted != evicted {
				rt.Fatalf("counted %+v, want %d bytes in %v, %d gone", s, bytes(), list, evicted)
			}
		}
		if c.Purge(); c.Stats().Bytes != 0 || c.Stats().Entries != 0 {
			rt.Fatalf("after a purge: %+v", c.Stats())
		}
	})
}
