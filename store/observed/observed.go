// Package observed wraps a store so that its calls can be watched: how long they take, whether they fail, which
// request they belong to. It knows no metrics and no spans; the program that wraps the store provides them.
package observed

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/store"
)

// A Hook is called before each call with the call's name; the function that it returns is called after the call with
// the error. The call gets the hook's context. A scan counts as one call, including everything that its function does.
type Hook func(ctx context.Context, call string) (context.Context, func(error))

// Calls lists the names of all calls.
var Calls = [...]string{
	"append", "adopt", "tenants", "head", "head_while", "turns", "placed", "segment", "scan", "match", "external", "conversations",
	"write", "entries", "terms", "log", "log_hashes", "cells", "swap", "snapshots",
}

// New wraps a store.
func New(s store.Store, h Hook) store.Store { return &watched{s, h} }

type watched struct {
	inner store.Store
	hook  Hook
}

var _ store.Store = (*watched)(nil)

// errPanicked is the error that a hook receives if a call panicked, for example in a function that it was given to run.
var errPanicked = errors.New("observed: the call panicked")

// watch makes one call under the hook.
func watch[T any](ctx context.Context, w *watched, name string, call func(context.Context) (T, error)) (v T, err error) {
	ctx, done := w.hook(ctx, name)
	err = errPanicked
	defer func() { done(err) }()
	v, err = call(ctx)
	return v, err
}

// act is like watch, for a call that returns only an error.
func act(ctx context.Context, w *watched, name string, call func(context.Context) error) error {
	_, err := watch(ctx, w, name, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

func (w *watched) Append(ctx context.Context, tenant dag.Tenant, batches []store.Batch) (store.Receipt, error) {
	return watch(ctx, w, "append", func(ctx context.Context) (store.Receipt, error) { return w.inner.Append(ctx, tenant, batches) })
}

func (w *watched) Adopt(ctx context.Context, tenant dag.Tenant, s store.Stretch) error {
	return act(ctx, w, "adopt", func(ctx context.Context) error { return w.inner.Adopt(ctx, tenant, s) })
}

func (w *watched) Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error) {
	return watch(ctx, w, "tenants", func(ctx context.Context) ([]dag.Tenant, error) { return w.inner.Tenants(ctx, after, limit) })
}

func (w *watched) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return watch(ctx, w, "head", func(ctx context.Context) (dag.Seq, error) { return w.inner.Head(ctx, tenant) })
}

func (w *watched) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error) {
	return watch(ctx, w, "head_while", func(ctx context.Context) (dag.Seq, error) { return store.HeadWhile(ctx, w.inner, tenant, work) })
}

// Turns is reported as "turns" for ids and as "placed" for places, whose costs differ.
func (w *watched) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	op := "turns"
	if _, ok := of.(store.Places); ok {
		op = "placed"
	}
	return watch(ctx, w, op, func(ctx context.Context) ([]store.Record, error) { return w.inner.Turns(ctx, tenant, of) })
}

func (w *watched) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	return watch(ctx, w, "segment", func(ctx context.Context) (store.Segment, error) { return w.inner.Segment(ctx, tenant, parts) })
}

// EachSkeleton is reported as "segment", which reads the same.
func (w *watched) EachSkeleton(ctx context.Context, tenant dag.Tenant, parts []store.Part, fn func(*dag.Skeleton) error) (dag.Seq, error) {
	return watch(ctx, w, "segment", func(ctx context.Context) (dag.Seq, error) {
		return store.EachSkeleton(ctx, w.inner, tenant, parts, fn)
	})
}

func (w *watched) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	return act(ctx, w, "scan", func(ctx context.Context) error { return w.inner.Scan(ctx, tenant, after, conversation, fn) })
}

// Find is reported as "match" for a prefix of an id, and as "external" for an external id or its prefix.
func (w *watched) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) ([]dag.TurnID, error) {
	op := "external"
	if _, ok := name.(store.Prefix); ok {
		op = "match"
	}
	return watch(ctx, w, op, func(ctx context.Context) ([]dag.TurnID, error) { return w.inner.Find(ctx, tenant, name, limit) })
}

func (w *watched) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	return watch(ctx, w, "conversations", func(ctx context.Context) ([]store.Conversation, error) {
		return w.inner.Conversations(ctx, tenant, after, limit)
	})
}

func (w *watched) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return act(ctx, w, "write", func(ctx context.Context) error { return w.inner.Write(ctx, tenant, c) })
}

func (w *watched) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	return watch(ctx, w, "entries", func(ctx context.Context) ([]history.Entry, error) { return w.inner.Entries(ctx, tenant, p) })
}

func (w *watched) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	return watch(ctx, w, "terms", func(ctx context.Context) ([][]history.Term, error) { return w.inner.Terms(ctx, tenant, ranges) })
}

func (w *watched) Log(ctx context.Context, tenant dag.Tenant) (ledger.Tree, error) {
	return watch(ctx, w, "log", func(ctx context.Context) (ledger.Tree, error) { return w.inner.Log(ctx, tenant) })
}

func (w *watched) LogHashes(ctx context.Context, tenant dag.Tenant, level int, from uint64, n int) ([]ledger.Hash, error) {
	return watch(ctx, w, "log_hashes", func(ctx context.Context) ([]ledger.Hash, error) {
		return w.inner.LogHashes(ctx, tenant, level, from, n)
	})
}

func (w *watched) Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]history.Cell, error) {
	return watch(ctx, w, "cells", func(ctx context.Context) ([]history.Cell, error) { return w.inner.Cells(ctx, tenant, prefix) })
}

func (w *watched) Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error {
	return act(ctx, w, "swap", func(ctx context.Context) error { return w.inner.Swap(ctx, tenant, name, old, next) })
}

func (w *watched) Snapshots(ctx context.Context, tenant dag.Tenant, p history.SnapshotPage) ([]history.Snapshot, error) {
	return watch(ctx, w, "snapshots", func(ctx context.Context) ([]history.Snapshot, error) { return w.inner.Snapshots(ctx, tenant, p) })
}

func (w *watched) Epoch() uint64 { return w.inner.Epoch() }

func (w *watched) Close() error { return w.inner.Close() }
