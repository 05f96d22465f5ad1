package view

import (
	"cmp"
	"context"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/working"
)

func putWorking(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.WorkingPut) (api.WorkingOutcome, error) {
	list := make([]kernel.Saying, len(in.Messages))
	for i := range in.Messages {
		m := &in.Messages[i]
		role, err := dag.ParseRole(m.Role)
		if err != nil {
			return api.WorkingOutcome{}, err
		}
		list[i] = kernel.Saying{Role: role, Author: m.Author, Content: m.Content, Key: m.Key}
	}
	put, err := k.Working().Put(ctx, tenant, in.Session, list)
	if err != nil {
		return api.WorkingOutcome{}, err
	}
	w := api.WorkingOutcome{Session: in.Session, Messages: []api.PutMessage{}, Held: len(put.Held.Messages), Bytes: put.Held.Size(), Dropped: put.Dropped, Expired: put.Expired}
	for i := range put.Messages {
		m := &put.Messages[i]
		one := api.PutMessage{ID: m.ID.String(), Existing: m.Existing, Turn: m.Consolidated}
		if !m.Consolidated {
			one.ExpiresAt = m.Until.String()
		}
		w.Messages = append(w.Messages, one)
	}
	return w, nil
}

func listWorking(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, _ struct{}) (api.WorkingSessions, error) {
	list, err := k.Working().Sessions(ctx, tenant)
	if err != nil {
		return api.WorkingSessions{}, err
	}
	w := api.WorkingSessions{Sessions: []api.WorkingSession{}}
	for i := range list {
		e := &list[i]
		w.Sessions = append(w.Sessions, api.WorkingSession{Session: e.Session, Owner: e.Owner, Messages: e.Messages, Bytes: e.Bytes, ExpiresAt: e.Until.String()})
	}
	return w, nil
}

// sessionOf is the session that a query names.
func sessionOf(ctx context.Context, in *api.WorkingQuery) working.Name {
	return working.Name{Owner: cmp.Or(in.Owner, access.CallerIn(ctx)), Session: in.Session}
}

func getWorking(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.WorkingQuery) (api.WorkingMessages, error) {
	n := sessionOf(ctx, &in)
	list, err := k.Working().Messages(ctx, tenant, n)
	if err != nil {
		return api.WorkingMessages{}, err
	}
	w := api.WorkingMessages{Session: n.Session, Owner: n.Owner, Messages: []api.WorkingMessage{}}
	for i := range list {
		m := &list[i]
		w.Messages = append(w.Messages, api.WorkingMessage{ID: m.ID.String(), Role: m.Role.String(), Author: m.Author, Content: m.Content, At: m.At.String(), ExpiresAt: m.Until.String()})
	}
	return w, nil
}

func consolidateWorking(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.Consolidating) (api.Consolidated, error) {
	c, err := k.Working().Consolidate(ctx, tenant, kernel.Consolidation{Session: in.Session, Messages: in.Messages, Conversation: in.Conversation})
	if err != nil {
		return api.Consolidated{}, err
	}
	w := api.Consolidated{
		Session: in.Session, Conversation: c.Conversation.String(), Turns: []string{},
		Admitted: c.Receipt.Admitted, Existing: c.Receipt.Existing, Held: c.Held, Head: uint64(c.Receipt.Head),
	}
	for _, id := range c.Turns {
		w.Turns = append(w.Turns, id.String())
	}
	return w, nil
}

func clearWorking(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, in api.WorkingQuery) (api.WorkingCleared, error) {
	n := sessionOf(ctx, &in)
	cleared, err := k.Working().Clear(ctx, tenant, n)
	return api.WorkingCleared{Session: n.Session, Owner: n.Owner, Cleared: cleared}, err
}
