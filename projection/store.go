// Package projection owns the data that a process derives from a store and caches in memory: graphs of conversations,
// cuts, texts, facts, policies, and the indexes that searches use.
//
// All of the data belongs to one epoch of the store:
//
//	s := projection.NewStore(inner)
//	ends := projection.NewEnds(s)
//	graphs := projection.NewGraphs(s, ends, &heads, bytes)
//	head, err := graphs.View(ctx, tenant, conversation, 0, nil, func(v dag.View, settled dag.Seq) error { … })
//
// When the epoch has ended, every call returns an error, see [Ended], and the caller begins again with a new
// store and new projections. Every cache is bounded in bytes or in number, checked against the store's head
// before use, and safe for use by many goroutines.
package projection

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
)

// errEpoch is wrapped when the store's epoch has ended. Callers of the kernel see it only
// if one server after the other takes over.
var errEpoch = fmt.Errorf("projection: %w: one server after the other took over", store.ErrBusy)

// Ended reports whether an error says that the epoch of a Store has ended. Such an error wraps store.ErrBusy.
func Ended(err error) bool { return errors.Is(err, errEpoch) }

// A Store is a store during one epoch. Its methods return an error if the result may belong to another epoch. It has the
// methods of [store.Store] that projections and their callers need.
type Store struct {
	inner store.Store
	epoch uint64
}

// NewStore returns s during its present epoch.
func NewStore(s store.Store) Store { return Store{s, s.Epoch()} }

// Still returns an error if the epoch has ended.
func (s Store) Still() error {
	if s.inner.Epoch() != s.epoch {
		return errEpoch
	}
	return nil
}

// stillOf returns the result of a call, or an error if the epoch has ended meanwhile. Every method ends with it.
func stillOf[T any](s Store, v T, err error) (T, error) {
	if changed := s.Still(); changed != nil {
		var none T
		return none, changed
	}
	return v, err
}

// Head is like Head of [store.Store].
func (s Store) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	v, err := s.inner.Head(ctx, tenant)
	return stillOf(s, v, err)
}

// HeadWhile is like [store.HeadWhile].
func (s Store) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error) {
	v, err := store.HeadWhile(ctx, s.inner, tenant, work)
	return stillOf(s, v, err)
}

// Segment is like Segment of [store.Store].
func (s Store) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	v, err := s.inner.Segment(ctx, tenant, parts)
	return stillOf(s, v, err)
}

// EachSkeleton is like [store.EachSkeleton].
func (s Store) EachSkeleton(ctx context.Context, tenant dag.Tenant, parts []store.Part, fn func(*dag.Skeleton) error) (dag.Seq, error) {
	v, err := store.EachSkeleton(ctx, s.inner, tenant, parts, fn)
	return stillOf(s, v, err)
}

// Turns is like Turns of [store.Store].
func (s Store) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	v, err := s.inner.Turns(ctx, tenant, of)
	return stillOf(s, v, err)
}

// Scan is like Scan of [store.Store], for all conversations.
func (s Store) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, fn func(*store.Record) error) error {
	err := s.inner.Scan(ctx, tenant, after, nil, func(r *store.Record) error {
		if err := s.Still(); err != nil {
			return err
		}
		return fn(r)
	})
	_, err = stillOf(s, struct{}{}, err)
	return err
}

// Erasures returns the record of erasures.
func (s Store) Erasures() erasures.Base { return erasures.Base{History: s} }

// Knowledge returns the reader of facts.
func (s Store) Knowledge() knowledge.Base { return knowledge.Base{History: s} }

// Entries implements [history.History].
func (s Store) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	v, err := s.inner.Entries(ctx, tenant, p)
	return stillOf(s, v, err)
}

// Terms implements [history.History].
func (s Store) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	v, err := s.inner.Terms(ctx, tenant, ranges)
	return stillOf(s, v, err)
}

// Write implements [history.History].
func (s Store) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	if err := s.Still(); err != nil {
		return err
	}
	err := s.inner.Write(ctx, tenant, c)
	_, err = stillOf(s, struct{}{}, err)
	return err
}

// Snapshots is like Snapshots of [store.Store].
func (s Store) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	v, err := s.inner.Snapshots(ctx, tenant, p)
	return stillOf(s, v, err)
}

// Cells is like Cells of [store.Store].
func (s Store) Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]history.Cell, error) {
	v, err := s.inner.Cells(ctx, tenant, prefix)
	return stillOf(s, v, err)
}

// Swap is like Swap of [store.Store].
func (s Store) Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
	err := s.inner.Swap(ctx, tenant, name, old, next)
	_, err = stillOf(s, struct{}{}, err)
	return err
}
