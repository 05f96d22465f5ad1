package kernel

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store/kinds"
)

// MaxReason bounds the bytes of the reason given for an erasure.
const MaxReason = 1024

// Erase deletes a turn's text and salt for good, with the facts that were learned from it, and
// records when, why and who asked (see access.As).
// Everything else of the turn stays: old slices still verify and replay, and say
// that the text is gone. Erasing twice gives the first event, and finishes the work
// if the store could not the first time.
func (k Turns) Erase(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, reason string) (_ erasures.Erasure, err error) {
	ctx, observed := k.observe(ctx, "erase")
	defer func() { observed(err) }()
	if reason == "" || len(reason) > MaxReason || !utf8.ValidString(reason) {
		return erasures.Erasure{}, fmt.Errorf("%w: an erasure needs a reason of 1 to %d bytes of UTF-8, got %d", dag.ErrForm, MaxReason, len(reason))
	}
	now, err := k.now()
	if err != nil {
		return erasures.Erasure{}, err
	}
	e, err := k.erasures().Erase(ctx, tenant, erasures.Erasure{Turn: turn, Reason: reason, At: now, By: access.CallerIn(ctx)}, kinds.Erasing(turn, now)...)
	kept := k.kept.Load().tenants.of(tenant)
	kept.texts.forget(turn)
	kept.facts.erased() // whatever came of it: an erasure may be kept and reported as failed
	k.changes.tell(tenant)
	if err != nil {
		return erasures.Erasure{}, err
	}
	return e, nil
}

// erasures returns the record of erasures.
func (k *engine) erasures() erasures.Base { return erasures.Base{History: k.store} }

// Events returns up to limit events numbered above after, ascending.
func (k Turns) Events(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]erasures.Erasure, error) {
	return k.erasures().After(ctx, tenant, after, limit)
}
