package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// A logReader reads the source's ledger for a proof.
type logReader struct {
	s      store.Store
	tenant dag.Tenant
}

func (r logReader) Hashes(ctx context.Context, level int, from uint64, n int) ([]ledger.Hash, error) {
	return r.s.LogHashes(ctx, r.tenant, level, from, n)
}

// sameLedger checks that the source's ledger begins with the target's. A proof of a few hundred
// hashes shows that, however long the ledgers are: if they differ in a leaf, their roots differ.
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
		return fmt.Errorf("%w: its ledger has %d leaves, but the ledger of the source has only %d", ErrDiffers, old.Size, now.Size)
	}
	if err := c.begins(old, now); errors.Is(err, ledger.ErrInconsistent) {
		return fmt.Errorf("%w: the %d leaves of its ledger differ from the first leaves of the source's ledger", ErrDiffers, old.Size)
	} else if err != nil {
		return err
	}
	return c.sameRecord(dag.Seq(old.Size))
}

// begins returns ledger.ErrInconsistent unless the source's ledger begins with the ledger of the root old.
func (c *copying) begins(old, now ledger.Root) error {
	proof, err := now.ProveConsistency(c.ctx, old.Size, logReader{c.from, c.tenant})
	if err != nil {
		return err
	}
	return now.CheckConsistency(old, proof)
}

// sameRecord compares the entries of the record that the target has: the proof covers only their leaves.
func (c *copying) sameRecord(size dag.Seq) error {
	for after := dag.Seq(0); after < size; {
		p := history.Page{Stream: history.Record, After: after, Limit: int(min(page, size-after))}
		there, err := c.to.Entries(c.ctx, c.tenant, p)
		if err != nil {
			return err
		}
		here, err := c.from.Entries(c.ctx, c.tenant, p)
		if err != nil {
			return err
		}
		if len(there) == 0 || len(there) != len(here) {
			return fmt.Errorf("%w: from leaf %d on its page has %d leaves, and the page of the source %d", ErrDiffers, after, len(there), len(here))
		}
		for i := range there {
			e := &there[i]
			if !e.SameButErased(&here[i]) {
				return fmt.Errorf("%w: leaf %d, or the data stored with the leaf, differs from the source's", ErrDiffers, e.Seq-1)
			}
			n := c.report.Record[e.Kind]
			n.Existing++
			c.report.Record[e.Kind] = n
			after = e.Seq
		}
	}
	return nil
}

func root(t *ledger.Tree) ledger.Root { return ledger.Root{Size: t.Size(), Hash: t.Root()} }

// leaves copies the record up to its present size in the source, or up to an entry that was made from a view that the target
// does not have yet: then waiting is true. It is called after erasures are read from the source and before they are written
// to the target, so the target has the leaf of each erasure first. The source's ledger must begin with the copied leaves.
func (c *copying) leaves() error {
	tree, err := c.from.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	now := root(&tree)
	if now.Size < c.ledger.Size() {
		return fmt.Errorf("%w: its ledger has %d leaves now, and had %d before", ErrDamaged, now.Size, c.ledger.Size())
	}
	for c.waiting = false; c.ledger.Size() < now.Size && !c.waiting; {
		if err := c.leafPage(now.Size - c.ledger.Size()); err != nil {
			return err
		}
	}
	if got := root(&c.ledger); got.Size == now.Size && got != now {
		return fmt.Errorf("%w: the root computed from its %d leaves is %s, but the stored root is %s", ErrDamaged, got.Size, got.Hash, now.Hash)
	} else if err := c.begins(got, now); err != nil {
		return fmt.Errorf("%w: the root computed from its first %d leaves is %s: %w", ErrDamaged, got.Size, got.Hash, err)
	}
	return nil
}

func (c *copying) leafPage(most uint64) error {
	first := dag.Seq(c.ledger.Size())
	list, err := c.from.Entries(c.ctx, c.tenant, history.Page{Stream: history.Record, After: first, Limit: int(min(most, page))})
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("%w: its ledger has no leaf %d", ErrDamaged, first)
	}
	for i := range list {
		if codecs := kinds.All(); codecs.AsOf(&list[i]) > c.report.Head {
			list, c.waiting = list[:i], true
			break
		}
	}
	grown, forms := c.ledger, kinds.Leaves()
	for i := range list {
		e := &list[i]
		if e.Seq != first+dag.Seq(i)+1 {
			return fmt.Errorf("%w: its ledger has leaf %d where it must have %d", ErrDamaged, e.Seq-1, first+dag.Seq(i))
		}
		if _, err := ledger.ParseLeaf(e.Public, forms...); err != nil {
			return fmt.Errorf("%w: leaf %d: %w", ErrDamaged, e.Seq-1, err)
		}
		if _, err := grown.Append(ledger.Hash(e.Leaf()), nil); err != nil {
			return err
		}
	}
	if err := c.record(list); err != nil {
		return err
	}
	c.ledger = grown
	c.report.Leaves.Copied += len(list)
	for i := range list {
		n := c.report.Record[list[i].Kind]
		n.Copied++
		c.report.Record[list[i].Kind] = n
	}
	return nil
}

// record copies entries of the record, under the numbers that they have.
func (c *copying) record(list []history.Entry) error {
	if len(list) == 0 {
		return nil
	}
	change, err := kinds.All().Adopt(history.Record, list)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	err = c.to.Write(c.ctx, c.tenant, history.Once(history.Exactly(change, history.Record, list), list))
	if errors.Is(err, dag.ErrForm) {
		return fmt.Errorf("leaf %d and %d others do not continue the ledger of the target: %w; the source is damaged, one of its acts had no leaf, or another process writes to the target", list[0].Seq-1, len(list)-1, err)
	}
	return err
}

// copiedLedger checks in the end that the target's ledger is the copied one.
func (c *copying) copiedLedger() error {
	there, err := c.to.Log(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	if got, want := root(&there), root(&c.ledger); got != want {
		return fmt.Errorf("the target's ledger has %d leaves with the root %s, but %d with %s were copied: an act of the source had no leaf, or another process writes to the target",
			got.Size, got.Hash, want.Size, want.Hash)
	}
	return nil
}
