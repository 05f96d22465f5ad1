package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// Erase erases a turn's text, and what was learned from it.
func Erase(ctx context.Context, s store.Store, tenant dag.Tenant, e erasures.Erasure) (erasures.Erasure, error) {
	return erasures.Base{History: s}.Erase(ctx, tenant, e, kinds.Erasing(e.Turn, e.At)...)
}

// Events lists erasures.
func Events(ctx context.Context, s store.Store, tenant dag.Tenant, after dag.Seq, limit int) ([]erasures.Erasure, error) {
	return erasures.Base{History: s}.After(ctx, tenant, after, limit)
}

// A Stretch is a store.Stretch with its erasures separate from its other entries.
type Stretch struct {
	Records []store.Record
	Events  []erasures.Erasure
	Entries []history.Entry
	Change  history.Change // nil: made from the entries
}

// Store returns the stretch as a store.Stretch.
func (s Stretch) Store() store.Stretch {
	stretch := store.Stretch{Records: s.Records, Entries: slices.Clone(s.Entries), Change: s.Change}
	merged := 0
	for i := range s.Events { // in their given order, even if that is wrong
		e := s.Events[i].Entry()
		for merged < len(stretch.Entries) && stretch.Entries[merged].Seq < e.Seq {
			merged++
		}
		stretch.Entries = slices.Insert(stretch.Entries, merged, e)
		merged++
	}
	if len(stretch.Entries) == 0 || s.Change != nil {
		return stretch
	}
	var err error
	if stretch.Change, err = kinds.All().Adopt(history.Known, stretch.Entries); err != nil {
		stretch.Change = refusing{err}
	}
	return stretch
}

// A refusing is a change whose planning fails.
type refusing struct{ err error }

func (refusing) Needs(*history.State) history.Needs { return history.Needs{} }

func (r refusing) Plan(*history.State) (*history.Plan, error) { return nil, r.err }

// Adopt adopts a stretch, after the leaves of its erasures.
func Adopt(ctx context.Context, s store.Store, tenant dag.Tenant, stretch Stretch) error {
	if err := PutErased(ctx, s, tenant, stretch.Events); err != nil {
		return err
	}
	return s.Adopt(ctx, tenant, stretch.Store())
}

// PutErased records the leaves of erasures that are not recorded yet, as a copy does.
func PutErased(ctx context.Context, s store.Store, tenant dag.Tenant, list []erasures.Erasure) error {
	turns := make([]dag.TurnID, len(list))
	for i := range list {
		turns[i] = list[i].Turn
	}
	logged, err := erasures.Base{History: s}.LoggedAmong(ctx, tenant, turns)
	if err != nil {
		return err
	}
	tree, err := s.Log(ctx, tenant)
	if err != nil {
		return err
	}
	var entries []history.Entry
	for i := range list {
		if logged[list[i].Turn] == 0 {
			entries = append(entries, history.Entry{Seq: dag.Seq(tree.Size()) + dag.Seq(len(entries)) + 1, Kind: erasures.Logged, Public: list[i].Leaf(tenant)})
		}
	}
	if len(entries) == 0 {
		return nil
	}
	c, err := erasures.LoggedCodec{}.Adopt(entries)
	if err != nil {
		return err
	}
	return s.Write(ctx, tenant, history.Once(c, entries))
}

// PutLeaves records the leaves of announced keys that are not recorded yet; see Leaves.
func PutLeaves(ctx context.Context, s store.Store, tenant dag.Tenant, leaves [][]byte) ([]uint64, error) {
	return identity.Announced().Put(ctx, s, tenant, leaves)
}

// Raw returns the codec of entries of the record with leaves of any kind.
func Raw() *history.Bare {
	return &history.Bare{Kind: "raw/1", Index: 222, Check: func([]byte) (dag.Tenant, error) { return "", nil }}
}

// LeafIndex returns the index of a leaf of Leaves.
func LeafIndex(ctx context.Context, s store.Store, tenant dag.Tenant, leaf []byte) (uint64, error) {
	hash := sha256.Sum256(append([]byte{0}, leaf...))
	lists, err := s.Terms(ctx, tenant, []history.Range{{Index: identity.Announced().Index, Prefix: hash[:]}})
	if err != nil {
		return 0, err
	}
	if len(lists) != 1 || len(lists[0]) == 0 {
		return 0, fmt.Errorf("leaf %q: %w", leaf, store.ErrNotFound)
	}
	if len(lists[0]) > 1 {
		return 0, errors.New("a leaf is there twice")
	}
	return uint64(lists[0][0].Since) - 1, nil
}

// leavesThere returns a function that reports whether the ledger has the first n of Leaves.
func leavesThere(n int) func(context.Context, store.Store) (bool, error) {
	return func(ctx context.Context, s store.Store) (bool, error) {
		_, first := LeafIndex(ctx, s, Tenant, Leaves(n-4, 1)[0])
		at, last := LeafIndex(ctx, s, Tenant, Leaves(n-1, 1)[0])
		switch {
		case errors.Is(first, store.ErrNotFound) && errors.Is(last, store.ErrNotFound):
			return false, nil
		case first != nil || last != nil || at != uint64(n-1):
			return false, errors.Join(first, last, fmt.Errorf("the last leaf stands at %d", at))
		}
		return true, nil
	}
}
