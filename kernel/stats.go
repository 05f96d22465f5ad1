package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// Stats are counts for anyone who watches a kernel.
type Stats struct {
	TokenHits, TokenMisses uint64 // tokens found among those verified lately, and computed
	Graphs, Cuts, Texts    CacheStats
}

// Stats returns the counts so far.
func (k *Kernel) Stats() Stats {
	hits, misses := k.authority.Looked()
	kept := k.kept.Load()
	return Stats{TokenHits: hits, TokenMisses: misses, Graphs: kept.graphs.kept.stats(), Cuts: kept.cuts.kept.stats(), Texts: kept.texts.kept.stats()}
}

// CanSign reports whether a key signs. Without one nothing can be sliced.
func (k Slices) CanSign() bool {
	_, err := k.authority.Keyring().Signer()
	return err == nil
}

// Count returns the number of a tenant's newest issued slice, 0 if there is
// none. Numbers have no gaps, so it takes a look-up for each binary digit of it.
func (k Slices) Count(ctx context.Context, tenant dag.Tenant) (uint64, error) {
	above := func(n uint64) (bool, error) {
		list, err := k.store.IssuedAfter(ctx, tenant, n, 1)
		return len(list) > 0, err
	}
	low, high := uint64(0), uint64(1) // the count is at least low
	for {
		more, err := above(high - 1)
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		low, high = high, high*2
	}
	for low+1 < high {
		middle := low + (high-low)/2
		more, err := above(middle - 1)
		if err != nil {
			return 0, err
		}
		if more {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}
