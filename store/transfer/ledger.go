package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// A logReader reads the source's ledger for a proof.
type logReader struct {
	s      store.Store
	tenant dag.Tenant
}

func (r logReader) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return r.s.LogHashes(ctx, r.tenant, level, from, n)
}

// sameLedger makes sure that the target's ledger is the beginning of the source's. A proof
// says so, of a few hundred hashes, however long the ledgers are: of two that differ in a
// leaf the roots differ.
func (c *copying) sameLedger() error {
	there, err := c.to.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	c.ledger, c.report.Leaves.Existing = there, int(there.Size())
	here, err := c.from.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	old, now := root(&there), root(&here)
	if old.Size > now.Size {
		return fmt.Errorf("%w: its ledger has %d leaves, and the source's %d", ErrDiffers, old.Size, now.Size)
	}
	proof, err := now.ProveConsistency(c.ctx, old.Size, logReader{c.from, c.tenant})
	if err != nil {
		return err
	}
	if err := now.CheckConsistency(old, proof); errors.Is(err, ledger.ErrInconsistent) {
		return fmt.Errorf("%w: the %d leaves of its ledger are not those with which the source's begins", ErrDiffers, old.Size)
	} else if err != nil {
		return err
	}
	return nil
}

func root(t *ledger.Tree) ledger.Root { return ledger.Root{Size: t.Size(), Hash: t.Root()} }

// leaves brings the target's ledger to where the source's is now. It comes between the
// reading of acts from the source and the writing of them to the target: then the
// target has the leaf of each, in the source's order, and appends none of its own, whoever
// writes to the source meanwhile. The root of what was copied must be the source's.
func (c *copying) leaves() error {
	here, err := c.from.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	if here.Size() < c.ledger.Size() {
		return fmt.Errorf("%w: its ledger has %d leaves, and had %d", ErrDamaged, here.Size(), c.ledger.Size())
	}
	for c.ledger.Size() < here.Size() {
		if err := c.leafPage(here.Size() - c.ledger.Size()); err != nil {
			return err
		}
	}
	if got, want := root(&c.ledger), root(&here); got != want {
		return fmt.Errorf("%w: of its %d leaves the root is %s, and it has %s", ErrDamaged, got.Size, got.Hash, want.Hash)
	}
	return nil
}

func (c *copying) leafPage(most uint64) error {
	first := c.ledger.Size()
	list, err := c.from.LogLeaves(c.ctx, c.tenant, first, int(min(most, page)))
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%w: its ledger has no leaf %d", ErrDamaged, first)
	}
	grown := c.ledger
	for i, leaf := range list {
		if err := ledger.CheckLeaf(leaf); err != nil {
			return fmt.Errorf("%w: leaf %d: %w", ErrDamaged, first+uint64(i), err)
		}
		if _, err := grown.Append(ledger.LeafHash(leaf), nil); err != nil {
			return err
		}
	}
	at, err := c.to.PutLeaves(c.ctx, c.tenant, list)
	if err != nil {
		return err
	}
	for i, n := range at {
		if n != first+uint64(i) {
			return fmt.Errorf("leaf %d was kept as leaf %d: it stands twice in the source, an act of the source had no leaf, or somebody else writes to the target", first+uint64(i), n)
		}
	}
	c.ledger = grown
	c.report.Leaves.Copied += len(list)
	return nil
}

// copiedLedger makes sure that the target's ledger is what was copied, in the end.
func (c *copying) copiedLedger() error {
	there, err := c.to.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	if got, want := root(&there), root(&c.ledger); got != want {
		return fmt.Errorf("the target's ledger has %d leaves with the root %s, and %d with %s were copied: an act of the source had no leaf, or somebody else writes to the target",
			got.Size, got.Hash, want.Size, want.Hash)
	}
	return nil
}
