package kernel

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// MaxReason bounds the bytes of the reason given for an erasure.
const MaxReason = 1024

// Erase deletes a turn's text and salt for good, and records when and why.
// Everything else of the turn stays: old slices still verify and replay, and say
// that the text is gone. Erasing twice gives the first event, and finishes the work
// if the store could not the first time.
func (k Turns) Erase(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, reason string) (_ store.Event, err error) {
	ctx, observed := k.observe(ctx, "erase")
	defer func() { observed(err) }()
	if reason == "" || len(reason) > MaxReason || !utf8.ValidString(reason) {
		return store.Event{}, fmt.Errorf("%w: an erasure needs a reason of 1 to %d bytes of UTF-8, got %d", dag.ErrForm, MaxReason, len(reason))
	}
	now, err := k.now()
	if err != nil {
		return store.Event{}, err
	}
	e, err := k.store.Erase(ctx, tenant, store.Event{Kind: store.Erasure, Turn: turn, Reason: reason, At: now})
	k.kept.Load().texts.forget(tenant, turn) // whatever came of it: an erasure may be kept and reported as failed
	k.changes.tell(tenant)
	if err != nil {
		return store.Event{}, err
	}
	return e, nil
}

// Events returns up to limit events numbered above after, ascending.
func (k Turns) Events(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]store.Event, error) {
	return k.store.Events(ctx, tenant, after, limit)
}
