package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// Stats are counts for anyone who watches a kernel.
type Stats struct {
	TokenHits, TokenMisses uint64 // tokens found among those verified lately, and computed
	Graphs, Cuts, Texts    bytelru.Stats
}

// Stats returns the counts so far.
func (k *Kernel) Stats() Stats {
	hits, misses := k.authority.Looked()
	kept := k.kept.Load()
	return Stats{TokenHits: hits, TokenMisses: misses, Graphs: kept.graphs.Stats(), Cuts: kept.cuts.Stats(), Texts: kept.texts.Stats()}
}

// CanSign reports whether a key signs. Without one nothing can be sliced.
func (k Slices) CanSign() bool {
	_, err := k.authority.Keyring().Signer()
	return err == nil
}

// Count returns the number of a tenant's newest issued slice, 0 if there is none.
func (k Slices) Count(ctx context.Context, tenant dag.Tenant) (uint64, error) {
	return k.bundles().Last(ctx, tenant)
}
