package bytelru

import "testing"

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
