package service

import "testing"

// TestPercentFor holds how far a heap may grow: by twice what is in use while that is little, then by as much as garbage may be, and by a quarter at the least.
func TestPercentFor(t *testing.T) {
	for _, c := range []struct {
		live    uint64
		percent int
	}{{0, 200}, {1 << 20, 200}, {32 << 20, 200}, {64 << 20, 100}, {128 << 20, 50}, {256 << 20, 25}, {4 << 30, 25}, {1 << 62, 25}} {
		if got := percentFor(c.live); got != c.percent {
			t.Errorf("of %d bytes in use it is %d%%, want %d%%", c.live, got, c.percent)
		}
	}
}
