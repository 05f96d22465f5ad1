package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/working"
)

// Consolidate makes messages into turns, in one admission with all of its checks, and then removes the messages from the session. If
// anything fails, the session is unchanged, and repeating the call is safe: a message that is a turn already is not admitted
// again. Each turn is a reply to the one before it, and the first is a reply to the turn that was consolidated last from the session.
func (k Sessions) Consolidate(ctx context.Context, tenant dag.Tenant, in api.Consolidating) (out api.Consolidated, err error) {
	ctx, observed := k.kernel.Observe(ctx, "consolidate")
	defer func() { observed(err) }()
	n := own(ctx, in.Session)
	if err := n.Check(); err != nil {
		return out, err
	}
	out = api.Consolidated{Session: in.Session, Conversation: n.Conversation()}
	if in.Conversation != nil {
		out.Conversation = *in.Conversation
	}
	const most = 3 // another call may consolidate the same messages in another order
	for tries := 1; ; tries++ {
		err = k.consolidate(ctx, tenant, n, in.Messages, &out)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) || tries == most {
			break
		}
	}
	if err != nil {
		return out, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return out, err
	}
	u, err := k.change(ctx, tenant, n, now, false, func(b *working.Buffer) error {
		if b.Take(out.Turns) > 0 {
			last := out.Turns[len(out.Turns)-1]
			b.Remember(k.limits, now, last)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Held = len(u.Buffer.Messages)
	return out, nil
}

// consolidate admits the chosen messages that are not turns yet.
func (k Sessions) consolidate(ctx context.Context, tenant dag.Tenant, n working.Name, ids []dag.TurnID, out *api.Consolidated) error {
	now, err := k.kernel.Now()
	if err != nil {
		return err
	}
	b, err := working.Read(ctx, k.memory, tenant, n)
	if err != nil {
		return err
	}
	b.Expire(now)
	chosen := slices.DeleteFunc(slices.Clone(b.Messages), func(m working.Message) bool { return ids != nil && !slices.Contains(ids, m.ID) })
	asked := slices.Clone(ids)
	for i := range chosen {
		asked = append(asked, chosen[i].ID)
	}
	if b.Last != nil {
		asked = append(asked, *b.Last)
	}
	done, err := k.turned(ctx, tenant, asked)
	if err != nil {
		return err
	}
	out.Turns = []dag.TurnID{}
	for i, id := range ids { // add the messages that an earlier call consolidated
		held := slices.ContainsFunc(chosen, func(m working.Message) bool { return m.ID == id })
		switch {
		case held:
		case done[id] == nil:
			return fmt.Errorf("messages[%d]: %w: %s is not in session %q; it was cleared, displaced or expired, or never existed", i, ErrNoMessage, id, n.Session)
		case !slices.Contains(out.Turns, id):
			out.Turns = append(out.Turns, id)
		}
	}
	var drafts []dag.Draft
	var parent *dag.TurnID
	if b.Last != nil && done[*b.Last] != nil && done[*b.Last].Turn.Conversation == out.Conversation {
		parent = b.Last
	}
	for i := range chosen {
		m := &chosen[i]
		out.Turns = append(out.Turns, m.ID)
		if r := done[m.ID]; r != nil {
			if err := says(r, m); err != nil {
				return fmt.Errorf("message %s: %w", m.ID, err)
			}
		} else {
			d := draftOf(m, out.Conversation)
			if parent != nil {
				d.Parents = []dag.Parent{{ID: *parent, Kind: dag.Reply}}
			}
			drafts = append(drafts, d)
		}
		parent = &m.ID
	}
	out.Admitted, out.Existing = 0, len(out.Turns)-len(drafts)
	if len(drafts) == 0 {
		out.Head, err = k.kernel.Head(ctx, tenant)
		return err
	}
	if err := k.mayAdmit(ctx, drafts); err != nil {
		return err
	}
	r, err := k.kernel.Admit(ctx, tenant, drafts)
	out.Admitted, out.Existing, out.Head = r.Admitted, out.Existing+r.Existing, r.Head
	return err
}
