package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/bytelru"
)

// Stats are counts for monitoring a kernel.
type Stats struct {
	TokenHits, TokenMisses uint64 // good tokens found in the cache, and tokens not found there
	Graphs, Cuts, Texts    bytelru.Stats
}

// Stats returns the counts so far.
func (k *Kernel) Stats() Stats {
	hits, misses := k.authority.Looked()
	kept := k.kept.Load()
	return Stats{TokenHits: hits, TokenMisses: misses, Graphs: kept.graphs.Stats(), Cuts: kept.cuts.Stats(), Texts: kept.texts.Stats()}
}

// CanSign reports whether the keyring has a signing key. Without a signing key nothing can be sliced.
func (k Slices) CanSign() bool {
	_, err := k.authority.Keyring().Signer()
	return err == nil
}

// Count returns the number of a tenant's newest issued slice, or 0 if there is none.
func (k Slices) Count(ctx context.Context, tenant dag.Tenant) (uint64, error) {
	return k.bundles().Last(ctx, tenant)
}
