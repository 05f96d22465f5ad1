package facts

import (
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/knowledge"
)

// TestNextBatch follows the sizes of batches on stores of several speeds.
func TestNextBatch(t *testing.T) {
	t.Parallel()
	for each, want := range map[time.Duration][]int{ // by the time that an act takes
		time.Microsecond:       {10_000, 20_000, 40_000, 80_000, 100_000, 100_000},
		30 * time.Microsecond:  {10_000, 20_000, 40_000, 80_000, 80_000}, // which take 2.4 s
		100 * time.Microsecond: {10_000, 20_000, 20_000},
		time.Millisecond:       {10_000, 10_000},
	} {
		size := knowledge.MaxActs
		for i, w := range want {
			if size != w {
				t.Errorf("%v an act: batch %d has %d, want %d", each, i, size, w)
			}
			size = nextBatch(size, size, time.Duration(size)*each)
		}
	}
	if got := nextBatch(80_000, 80_000, 4*time.Second); got != 40_000 {
		t.Errorf("a store that became slow is given %d next, want 40000", got)
	}
	if got := nextBatch(80_000, 39_999, time.Second); got != knowledge.MaxActs {
		t.Errorf("behind a batch that was known for the most part come %d, want %d", got, knowledge.MaxActs)
	}
}
