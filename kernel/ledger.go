package kernel

import (
	"context"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
)

// A replaceable is the current identity, with a version that counts replacements.
type replaceable struct {
	mu      sync.Mutex
	id      identity.Identity // guarded by mu
	version uint64            // guarded by mu
}

func (r *replaceable) get() (identity.Identity, uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.id, r.version
}

// Identity returns the current identity, or its zero value if there is none.
func (k Ledger) Identity() identity.Identity {
	id, _ := k.identity.get()
	return id
}

// ReplaceIdentity replaces the identity, for example after its attestation key was
// rotated. The new identity must have the same name and the same keys, except the attestation
// keys, because the name and the keys define the logs.
func (k Ledger) ReplaceIdentity(id identity.Identity) error {
	k.identity.mu.Lock()
	defer k.identity.mu.Unlock()
	if was := k.identity.id; was.Name() != "" && !was.Succeeds(id) {
		return fmt.Errorf("%w: %s with other keys of its logs, not %s", identity.ErrName, id.Name(), was.Name())
	}
	k.identity.id, k.identity.version = id, k.identity.version+1
	return nil
}

// hashes reads a tenant's ledger for proofs.
type hashes struct {
	store  store.Store
	tenant dag.Tenant
}

func (h hashes) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return h.store.LogHashes(ctx, h.tenant, level, from, n)
}

// Root returns the size and the root of a tenant's ledger, without a signature.
func (k Ledger) Root(ctx context.Context, tenant dag.Tenant) (ledger.Root, error) {
	t, err := k.store.Log(ctx, tenant)
	return ledger.Root{Size: t.Size(), Hash: t.Root()}, err
}

// Hashes returns n hashes of a level of the ledger from an index on, or fewer if the level
// ends. See ledger.Node.
func (k Ledger) Hashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error) {
	return k.store.LogHashes(ctx, tenant, level, from, n)
}

// Leaves returns up to limit leaves of the ledger from an index on, in order.
func (k Ledger) Leaves(ctx context.Context, tenant dag.Tenant, from uint64, limit int) ([][]byte, error) {
	return history.Leaves(ctx, k.store, tenant, from, limit)
}

// A Checkpoint is a signed checkpoint, with the refusals of the witnesses.
type Checkpoint struct {
	ledger.Root
	Note     []byte
	Refusals []witness.Refusal
}

// checkpoints keeps, for each tenant, the last checkpoint that witnesses were asked about.
type checkpoints struct {
	mu   sync.Mutex
	kept *lru.Cache[dag.Tenant, *cosigned]
}

type cosigned struct {
	turn chan struct{} // capacity 1; filled while witnesses are asked, so that a second caller waits and gets the first caller's checkpoint
	last Checkpoint    // guarded by turn
	at   time.Time     // guarded by turn
}

func (c *checkpoints) of(tenant dag.Tenant) *cosigned {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok := c.kept.Get(tenant)
	if !ok {
		at = &cosigned{turn: make(chan struct{}, 1)}
		c.kept.Add(tenant, at)
	}
	return at
}

// Checkpoint returns a signed checkpoint of the ledger. With witnesses configured it carries
// their cosignatures, and may be as old as Config.CheckpointEvery. Without an identity the error
// is identity.ErrNone. Checkpoints of the same size have the same signature of the log.
func (k Ledger) Checkpoint(ctx context.Context, tenant dag.Tenant) (Checkpoint, error) {
	return k.checkpoint(ctx, tenant, 0)
}

// checkpoint returns a checkpoint with at least least leaves, if the ledger has so many.
func (k *engine) checkpoint(ctx context.Context, tenant dag.Tenant, least uint64) (Checkpoint, error) {
	if _, err := k.announceKeys(ctx, tenant); err != nil {
		return Checkpoint{}, err
	}
	if k.config.Witnesses == nil {
		return k.sign(ctx, tenant)
	}
	kept := k.checkpoints.of(tenant)
	select {
	case kept.turn <- struct{}{}:
	case <-ctx.Done():
		return Checkpoint{}, ctx.Err()
	}
	defer func() { <-kept.turn }()
	if now := k.clock(); kept.last.Note == nil || kept.last.Size < least || now.Sub(kept.at) >= k.config.CheckpointEvery || now.Before(kept.at) {
		fresh, err := k.sign(ctx, tenant)
		if err != nil {
			return Checkpoint{}, err
		}
		// The result is cached for other callers, so this caller's cancellation does not end
		// the collection; the Asker's HTTP client limits its time.
		fresh.Note, fresh.Refusals, err = k.config.Witnesses.Collect(context.WithoutCancel(ctx), fresh.Note, func(ctx context.Context, old uint64) ([]ledger.Hash, error) {
			return fresh.ProveConsistency(ctx, old, hashes{k.store, tenant})
		})
		if err != nil {
			return Checkpoint{}, err
		}
		if err := k.heed(tenant, fresh.Root, fresh.Refusals); err != nil {
			return Checkpoint{}, err
		}
		kept.last, kept.at = fresh, now
	}
	return kept.last, nil
}

// announceKeys calls announce for a signature outside of a slice. Without an identity it returns identity.ErrNone.
func (k *engine) announceKeys(ctx context.Context, tenant dag.Tenant) (identity.Identity, error) {
	if k.ledger().Identity().Name() == "" {
		return identity.Identity{}, identity.ErrNone
	}
	return steady(k, func(c *cache) (identity.Identity, error) { return c.announce(ctx, tenant) })
}

func (k *engine) sign(ctx context.Context, tenant dag.Tenant) (Checkpoint, error) {
	root, err := k.ledger().Root(ctx, tenant)
	if err != nil {
		return Checkpoint{}, err
	}
	id := k.ledger().Identity()
	signer, _, err := id.Log(tenant)
	if err != nil {
		return Checkpoint{}, err
	}
	if err := k.remember(tenant, root); err != nil {
		return Checkpoint{}, err
	}
	signed, err := ledger.Checkpoint{Origin: string(id.Origin(tenant)), Root: root}.Sign(signer)
	return Checkpoint{Root: root, Note: signed}, err
}

// Prove returns the proof that the leaf at an index is in the ledger, under a checkpoint like
// that of Checkpoint. An index beyond the ledger is store.ErrNotFound.
func (k Ledger) Prove(ctx context.Context, tenant dag.Tenant, index uint64) (*ledger.Proof, error) {
	root, err := k.ledger().Root(ctx, tenant)
	if err != nil {
		return nil, err
	}
	if index >= root.Size { // before the witnesses are asked
		return nil, fmt.Errorf("leaf %d of tenant %s: %w: its ledger has %d leaves", index, tenant, store.ErrNotFound, root.Size)
	}
	c, err := k.checkpoint(ctx, tenant, index+1)
	if err != nil {
		return nil, err
	}
	leaves, err := history.Leaves(ctx, k.store, tenant, index, 1)
	if err != nil {
		return nil, err
	}
	if len(leaves) == 0 || index >= c.Size {
		return nil, fmt.Errorf("leaf %d of tenant %s: %w: its ledger has %d leaves", index, tenant, store.ErrNotFound, c.Size)
	}
	path, err := c.ProveInclusion(ctx, index, hashes{k.store, tenant})
	if err != nil {
		return nil, err
	}
	return &ledger.Proof{Leaf: leaves[0], Index: index, Path: path, Checkpoint: c.Note}, nil
}

// ProveConsistency returns the proof that the ledger of the root now, which was handed out,
// begins with the first old leaves.
func (k Ledger) ProveConsistency(ctx context.Context, tenant dag.Tenant, old uint64, now ledger.Root) ([]ledger.Hash, error) {
	return now.ProveConsistency(ctx, old, hashes{k.store, tenant})
}
