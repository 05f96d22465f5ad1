package history

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// Bare is the codec of a kind of Record entries that consist of their leaf alone. Each leaf is recorded at most once.
type Bare struct {
	Kind  Kind
	Index Index // leads from an entry's Leaf to the entry

	// Check refuses a leaf that is not of the kind, and returns the tenant that the leaf names, "" if it names none.
	Check func(leaf []byte) (dag.Tenant, error)
}

// Put appends the leaves that are not recorded yet, in this order, all of them or none, and returns the index of every leaf in the ledger.
func (b *Bare) Put(ctx context.Context, h interface {
	Write(ctx context.Context, tenant dag.Tenant, c Change) error
}, tenant dag.Tenant, leaves [][]byte) ([]uint64, error) {
	if len(leaves) == 0 {
		return nil, nil
	}
	at := make([]uint64, len(leaves))
	err := h.Write(ctx, tenant, Deciding(b, func(tx *Tx) error {
		keys := make([]Key, len(leaves))
		for i := range leaves {
			if _, err := b.Check(leaves[i]); err != nil {
				return fmt.Errorf("%w: leaf %d of %d: %w", dag.ErrForm, i+1, len(leaves), err)
			}
			keys[i] = b.key(&Entry{Public: leaves[i]})
		}
		tx.Fetch(keys)
		for i := range leaves {
			t, there, err := tx.Newest(keys[i])
			if err == nil && !there {
				t.Since, err = tx.Add(Entry{Kind: b.Kind, Public: leaves[i]})
			}
			if err != nil {
				return err
			}
			at[i] = uint64(t.Since) - 1
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return at, nil
}

func (b *Bare) key(e *Entry) Key {
	leaf := e.Leaf()
	return Key{Index: b.Index, Key: string(leaf[:])}
}

// Kinds returns the codec's kind.
func (b *Bare) Kinds() []Kind { return []Kind{b.Kind} }

// Stream returns Record.
func (b *Bare) Stream() Stream { return Record }

// Turns returns no turns: a leaf rests on none.
func (b *Bare) Turns(*Entry) []dag.TurnID { return nil }

// Adopt returns a change that adopts entries of another store.
func (b *Bare) Adopt(entries []Entry) (Change, error) { return Adopting(b, entries), nil }

// Fold begins the term of a leaf, and refuses a leaf that is recorded already.
func (b *Bare) Fold(tx *Tx, e *Entry) error {
	if len(e.Detail)+len(e.Private) > 0 {
		return fmt.Errorf("%w: number %d of the record, of kind %s, must have a leaf and nothing else", dag.ErrForm, e.Seq, e.Kind)
	}
	of, err := b.Check(e.Public)
	if err != nil {
		return fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err)
	}
	key := b.key(e)
	if err := First(tx, e, of, key); err != nil {
		return err
	}
	tx.Begin(e, Term{Index: key.Index, Key: []byte(key.Key)})
	return nil
}
