package history

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// Bare are entries of the record that consist of their leaf alone. Each leaf is there at most once. It is the
// codec of their kind.
type Bare struct {
	Kind  Kind
	Index Index // leads from an entry's Leaf to the entry

	// Check refuses a leaf that is not of the kind, and returns the tenant that it says it
	// is, "" if it does not say.
	Check func(leaf []byte) (dag.Tenant, error)
}

// Put appends the leaves that are not there yet, in this order, all of them or none, and returns the
// index of each in the ledger.
func (b *Bare) Put(ctx context.Context, h interface {
	Write(ctx context.Context, tenant dag.Tenant, c Change) error
}, tenant dag.Tenant, leaves [][]byte) ([]uint64, error) {
	if len(leaves) == 0 {
		return nil, nil
	}
	entries := make([]Entry, len(leaves))
	for i := range leaves {
		entries[i] = Entry{Kind: b.Kind, Public: leaves[i]}
	}
	a, err := b.additions(entries)
	if err != nil {
		return nil, err
	}
	if err := h.Write(ctx, tenant, a); err != nil {
		return nil, err
	}
	at := make([]uint64, len(leaves))
	for i := range at {
		at[i] = uint64(a.Numbers[i]) - 1
	}
	return at, nil
}

func (b *Bare) additions(entries []Entry) (*Additions, error) {
	a := &Additions{List: make([]Addition, len(entries))}
	for i := range entries {
		of, err := b.Check(entries[i].Public)
		if err != nil {
			return nil, fmt.Errorf("%w: leaf %d of %d: %w", dag.ErrForm, i+1, len(entries), err)
		}
		leaf := entries[i].Leaf()
		a.List[i] = Addition{Entry: entries[i], Tenant: of, Key: Key{Index: b.Index, Key: string(leaf[:])}}
	}
	return a, nil
}

// Kinds is the kind.
func (b *Bare) Kinds() []Kind { return []Kind{b.Kind} }

// Stream is the record.
func (b *Bare) Stream() Stream { return Record }

// Turns returns none: a leaf rests on nothing.
func (b *Bare) Turns(*Entry) []dag.TurnID { return nil }

// Adopt makes a change of entries that another store has.
func (b *Bare) Adopt(entries []Entry) (Change, error) {
	for i := range entries {
		if e := &entries[i]; len(e.Detail)+len(e.Private) > 0 {
			return nil, fmt.Errorf("%w: number %d of the record, of kind %s, has something beside its leaf", dag.ErrForm, e.Seq, e.Kind)
		}
	}
	a, err := b.additions(entries)
	if err != nil {
		return nil, err
	}
	a.Adopting = true
	return a, nil
}
