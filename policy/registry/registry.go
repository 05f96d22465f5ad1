// Package registry owns the record of registered policies: their entries, and reading and writing them in a history.
// The detail of an entry is the policy's canonical parameters; its leaf contains their hash.
package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/standard"
)

// Kind is the kind of the entries.
const Kind history.Kind = "policy/1"

// index maps a policy's id to its hash and its canonical parameters.
const index history.Index = 128

// A Base is a history through which policies are registered and read.
type Base struct{ history.History }

// Put registers a policy permanently. Registering the same id with the same hash again has no effect; with another hash
// the error wraps policy.ErrConflict.
func (b Base) Put(ctx context.Context, tenant dag.Tenant, p policy.Registered) error {
	if _, err := policy.ParseID(string(p.ID())); err != nil {
		return err
	}
	leaf, params := Leaf{Tenant: tenant, ID: p.ID(), Hash: p.Hash()}, p.Params()
	return b.Write(ctx, tenant, history.Deciding(Codec{}, func(tx *history.Tx) error {
		t, there, err := tx.Newest(registered(leaf.ID))
		switch {
		case err != nil:
			return err
		case !there:
			_, err = tx.Add(history.Entry{Kind: Kind, Public: leaf.Append(nil), Detail: params.Canonical()})
			return err
		case !bytes.HasPrefix(t.Value, leaf.Hash[:]):
			return fmt.Errorf("%w: %s is already registered with a hash other than %s", policy.ErrConflict, leaf.ID, leaf.Hash)
		}
		return nil
	}))
}

func registered(id policy.ID) history.Key { return history.Key{Index: index, Key: string(id)} }

// All returns every policy of a tenant; the registry is empty if none was ever registered. Each policy is parsed and
// hashed again, and a wrong hash is an error: a damaged registry must not decide anything.
func (b Base) All(ctx context.Context, tenant dag.Tenant) (r policy.Registry, err error) {
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: index}})
	if err != nil {
		return policy.Registry{}, err
	}
	if len(lists) != 1 {
		return policy.Registry{}, fmt.Errorf("the store returned %d lists for one range of terms", len(lists))
	}
	for i := range lists[0] {
		t := &lists[0][i]
		hash := t.Value[:min(len(t.Value), len(dag.Digest{}))]
		p, err := standard.Forms().Restore(policy.ID(t.Key), hash, t.Value[len(hash):])
		if err != nil {
			return policy.Registry{}, err
		}
		if r, err = r.With(p); err != nil {
			return policy.Registry{}, err
		}
	}
	return r, nil
}

// Codec is the codec of registered policies.
type Codec struct{}

// Kinds returns Kind.
func (Codec) Kinds() []history.Kind { return []history.Kind{Kind} }

// Stream returns the record.
func (Codec) Stream() history.Stream { return history.Record }

// Turns returns none: a policy does not rest on turns.
func (Codec) Turns(*history.Entry) []dag.TurnID { return nil }

// Adopt returns a change that adds registrations from another store.
func (c Codec) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(c, entries), nil
}

// Fold begins the term of a policy. It returns an error if the policy is already registered.
func (Codec) Fold(tx *history.Tx, e *history.Entry) error {
	l, err := ledger.ParseLeaf(e.Public, Form())
	if err != nil {
		return fmt.Errorf("%w: number %d of the record: %w", dag.ErrForm, e.Seq, err)
	}
	leaf, ok := l.(*Leaf)
	if !ok {
		return fmt.Errorf("%w: the leaf of number %d of the record is not the leaf of a policy", dag.ErrForm, e.Seq)
	}
	if _, err := standard.Forms().Restore(leaf.ID, leaf.Hash[:], e.Detail); err != nil {
		return errors.Join(dag.ErrForm, err)
	}
	if err := history.First(tx, e, leaf.Tenant, registered(leaf.ID)); err != nil {
		return err
	}
	tx.Begin(e, history.Term{Index: index, Key: []byte(leaf.ID), Value: slices.Concat(leaf.Hash[:], e.Detail)})
	return nil
}
