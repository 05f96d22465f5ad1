package notary

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/bytelru"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
)

// hashes reads a tenant's ledger for proofs.
type hashes struct {
	store  store.Store
	tenant dag.Tenant
}

func (h hashes) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return h.store.LogHashes(ctx, h.tenant, level, from, n)
}

// A Log is the ledgers of a kernel's tenants, with their signed checkpoints.
type Log struct {
	store     store.Store
	signatory *Signatory
	roots     *Roots
	clock     func() time.Time
	witnesses *witness.Asker
	every     time.Duration // how old a checkpoint may be before the witnesses are asked again

	mu   sync.Mutex
	kept *bytelru.Cache[dag.Tenant, *cosigned] // the last checkpoint of each tenant that witnesses were asked about
}

// Root returns the size and the root of a tenant's ledger, without a signature.
func (l *Log) Root(ctx context.Context, tenant dag.Tenant) (ledger.Root, error) {
	return rootOf(ctx, l.store, tenant)
}

func rootOf(ctx context.Context, s store.Store, tenant dag.Tenant) (ledger.Root, error) {
	t, err := s.Log(ctx, tenant)
	return ledger.Root{Size: t.Size(), Hash: t.Root()}, err
}

// Hashes returns n hashes of a level of the ledger from an index on, or fewer if the level
// ends. See ledger.Node.
func (l *Log) Hashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error) {
	return l.store.LogHashes(ctx, tenant, level, from, n)
}

// Leaves returns up to limit leaves of the ledger from an index on, in order.
func (l *Log) Leaves(ctx context.Context, tenant dag.Tenant, from uint64, limit int) ([][]byte, error) {
	return history.Leaves(ctx, l.store, tenant, from, limit)
}

// A Checkpoint is a signed checkpoint, with the refusals of the witnesses.
type Checkpoint struct {
	ledger.Root
	Note     []byte
	Refusals []witness.Refusal
}

type cosigned struct {
	turn chan struct{} // capacity 1; filled while witnesses are asked, so that a second caller waits and gets the first caller's checkpoint
	last Checkpoint    // guarded by turn
	at   time.Time     // guarded by turn
}

func (l *Log) cosigned(tenant dag.Tenant) *cosigned {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.kept.Get(tenant)
	if !ok {
		at = &cosigned{turn: make(chan struct{}, 1)}
		l.kept.Put(tenant, at, 1)
	}
	return at
}

// Checkpoint returns a signed checkpoint of the ledger. With witnesses configured it carries
// their cosignatures, and may be as old as Config.CheckpointEvery. Without an identity the error
// is identity.ErrNone. Checkpoints of the same size have the same signature of the log.
func (l *Log) Checkpoint(ctx context.Context, tenant dag.Tenant) (Checkpoint, error) {
	return l.checkpoint(ctx, tenant, 0)
}

// checkpoint returns a checkpoint with at least least leaves, if the ledger has so many.
func (l *Log) checkpoint(ctx context.Context, tenant dag.Tenant, least uint64) (Checkpoint, error) {
	if _, err := l.signatory.announce(ctx, tenant); err != nil {
		return Checkpoint{}, err
	}
	if l.witnesses == nil {
		return l.sign(ctx, tenant)
	}
	kept := l.cosigned(tenant)
	select {
	case kept.turn <- struct{}{}:
	case <-ctx.Done():
		return Checkpoint{}, ctx.Err()
	}
	defer func() { <-kept.turn }()
	if now := l.clock(); kept.last.Note == nil || kept.last.Size < least || now.Sub(kept.at) >= l.every || now.Before(kept.at) {
		fresh, err := l.sign(ctx, tenant)
		if err != nil {
			return Checkpoint{}, err
		}
		// The result is cached for other callers, so this caller's cancellation does not end
		// the collection; the Asker's HTTP client limits its time.
		fresh.Note, fresh.Refusals, err = l.witnesses.Collect(context.WithoutCancel(ctx), fresh.Note, func(ctx context.Context, old uint64) ([]ledger.Hash, error) {
			return fresh.ProveConsistency(ctx, old, hashes{l.store, tenant})
		})
		if err != nil {
			return Checkpoint{}, err
		}
		if err := l.roots.heed(tenant, fresh.Root, fresh.Refusals); err != nil {
			return Checkpoint{}, err
		}
		kept.last, kept.at = fresh, now
	}
	return kept.last, nil
}

func (l *Log) sign(ctx context.Context, tenant dag.Tenant) (Checkpoint, error) {
	root, err := l.Root(ctx, tenant)
	if err != nil {
		return Checkpoint{}, err
	}
	id := l.signatory.Identity()
	signer, _, err := id.Log(tenant)
	if err != nil {
		return Checkpoint{}, err
	}
	if err := l.roots.remember(tenant, root); err != nil {
		return Checkpoint{}, err
	}
	signed, err := ledger.Checkpoint{Origin: string(id.Origin(tenant)), Root: root}.Sign(signer)
	return Checkpoint{Root: root, Note: signed}, err
}

// Prove returns the proof that the leaf at an index is in the ledger, under a checkpoint like
// that of Checkpoint. An index beyond the ledger is store.ErrNotFound.
func (l *Log) Prove(ctx context.Context, tenant dag.Tenant, index uint64) (*ledger.Proof, error) {
	root, err := l.Root(ctx, tenant)
	if err != nil {
		return nil, err
	}
	if index >= root.Size { // before the witnesses are asked
		return nil, fmt.Errorf("leaf %d of tenant %s: %w: its ledger has %d leaves", index, tenant, store.ErrNotFound, root.Size)
	}
	c, err := l.checkpoint(ctx, tenant, index+1)
	if err != nil {
		return nil, err
	}
	leaves, err := history.Leaves(ctx, l.store, tenant, index, 1)
	if err != nil {
		return nil, err
	}
	if len(leaves) == 0 || index >= c.Size {
		return nil, fmt.Errorf("leaf %d of tenant %s: %w: its ledger has %d leaves", index, tenant, store.ErrNotFound, c.Size)
	}
	path, err := c.ProveInclusion(ctx, index, hashes{l.store, tenant})
	if err != nil {
		return nil, err
	}
	return &ledger.Proof{Leaf: leaves[0], Index: index, Path: path, Checkpoint: c.Note}, nil
}

// ProveConsistency returns the proof that the ledger of the root now, which was handed out,
// begins with the first old leaves.
func (l *Log) ProveConsistency(ctx context.Context, tenant dag.Tenant, old uint64, now ledger.Root) ([]ledger.Hash, error) {
	return now.ProveConsistency(ctx, old, hashes{l.store, tenant})
}
