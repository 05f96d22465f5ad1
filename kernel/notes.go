package kernel

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/notes"
)

// Note records a short text about a turn. It is erased with the turn.
func (k Turns) Note(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, text string) (_ notes.Note, err error) {
	ctx, observed := k.observe(ctx, "note")
	defer func() { observed(err) }()
	n := notes.Note{Turn: turn, Text: text}
	if n.At, err = k.now(); err != nil {
		return notes.Note{}, err
	}
	if err := k.drawSalt(&n.Salt); err != nil {
		return notes.Note{}, err
	}
	n, err = notes.Base{History: k.store}.Add(ctx, tenant, n)
	k.changes.tell(tenant)
	return n, err
}

// Notes returns up to limit notes of a turn numbered above after, by ascending number.
func (k Turns) Notes(ctx context.Context, tenant dag.Tenant, turn dag.TurnID, after dag.Seq, limit int) ([]notes.Note, error) {
	return notes.Base{History: k.store}.Of(ctx, tenant, turn, after, limit)
}
