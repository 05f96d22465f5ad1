package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
)

// pageBytes is about how many bytes of text a page of turns has, unless a service has its own limit.
const pageBytes = 16 << 20

// Operations lists the operations that the facet answers.
func (k Turns) Operations() []api.Answer {
	return append(k.Turns.Operations(),
		api.GetTurn.By(k.getTurn), api.ListTurns.By(k.listTurns), api.LookUpTurns.By(k.lookUpTurns), api.ResolveTurn.By(k.resolveTurn), api.EraseTurn.By(k.eraseTurn),
		api.ListErasures.By(k.listErasures), api.ListHeldBack.By(k.listHeldBack), api.ReleaseTurns.By(k.releaseTurns),
		api.ListConversations.By(k.listConversations),
	)
}

func (k Turns) resolveTurn(ctx context.Context, tenant dag.Tenant, in api.TurnNamed) (api.ResolvedTurn, error) {
	id, err := k.Resolve(ctx, tenant, in.Name)
	if err != nil {
		return api.ResolvedTurn{}, &api.Fault{Place: "query parameter name", Err: err}
	}
	return api.ResolvedTurn{ID: id}, nil
}

func (k Turns) getTurn(ctx context.Context, tenant dag.Tenant, in api.TurnByID) (w api.StoredTurn, err error) {
	record, err := k.Get(ctx, tenant, in.ID)
	if err != nil {
		return w, err
	}
	return Stored(&record)
}

// Page lists a page of turns; bytes is about how much text it has at most. found reports whether any turn was
// read, also if the filter selected none.
func (k Turns) Page(ctx context.Context, tenant dag.Tenant, in api.TurnQuery, bytes int) (w api.StoredTurns, found bool, err error) {
	after, err := in.Number()
	if err != nil {
		return w, false, err
	}
	only := TurnFilter{Credential: in.Key}
	if in.Key != "" {
		if err := access.CheckCredential(in.Key); err != nil {
			return w, false, &api.Fault{Place: "query parameter key", Err: err}
		}
	}
	if in.Role != "" {
		if only.Role, err = dag.ParseRole(in.Role); err != nil {
			return w, false, &api.Fault{Place: "query parameter role", Err: err}
		}
	}
	records, last, more, err := k.By(ctx, tenant, only, dag.Seq(after), in.Conversation, in.Size(), bytes)
	if err != nil {
		return w, false, err
	}
	if more {
		w.Next = api.Next(uint64(last))
	}
	w.Turns, err = stored(records)
	return w, last != 0, err
}

func (k Turns) listTurns(ctx context.Context, tenant dag.Tenant, in api.TurnQuery) (api.StoredTurns, error) {
	w, _, err := k.Page(ctx, tenant, in, pageBytes)
	return w, err
}

// PageOf lists a page of a conversation's turns; bytes is about how much text it has at most.
func (k Turns) PageOf(ctx context.Context, tenant dag.Tenant, in api.ConversationByID, bytes int) (w api.ConversationTurns, err error) {
	page, found, err := k.Page(ctx, tenant, api.TurnQuery{Conversation: &in.ID, Key: in.Key, Paging: in.Paging}, bytes)
	if err == nil && !found && in.After == "" {
		err = fmt.Errorf("conversation %s: %w", in.ID, store.ErrNotFound)
	}
	return api.ConversationTurns{Conversation: in.ID, Turns: page.Turns, Next: page.Next}, err
}

// LookUp returns the turns of in.IDs that are stored. bytes is the most text that they may have; more is a fault with api.CodeTooLarge.
func (k Turns) LookUp(ctx context.Context, tenant dag.Tenant, in api.TurnIDs, bytes int) (w api.StoredTurns, err error) {
	var records []store.Record
	for _, id := range in.IDs {
		r, err := k.Get(ctx, tenant, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			return w, err
		}
		if bytes -= len(r.Body); bytes < 0 {
			return w, api.Faultf(api.CodeTooLarge, "ids", "the turns hold more text than an answer may; ask for fewer at once")
		}
		records = append(records, r)
	}
	w.Turns, err = stored(records)
	return w, err
}

func (k Turns) lookUpTurns(ctx context.Context, tenant dag.Tenant, in api.TurnIDs) (api.StoredTurns, error) {
	return k.LookUp(ctx, tenant, in, math.MaxInt)
}

func stored(records []store.Record) (list []api.StoredTurn, err error) {
	list = make([]api.StoredTurn, len(records))
	for i := range records {
		if list[i], err = Stored(&records[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (k Turns) eraseTurn(ctx context.Context, tenant dag.Tenant, in api.Erasure) (w api.ErasedTurn, err error) {
	reason, err := api.ReasonOf(in.Reason, in.Body)
	if err != nil {
		return w, err
	}
	event, err := k.Erase(ctx, tenant, in.ID, reason)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return w, &api.Fault{Code: api.CodeNotFound, Err: fmt.Errorf("turn %s: %w", in.ID, store.ErrNotFound)}
	case err != nil:
		return w, err
	case event.Seq == 0:
		return w, api.Faultf(api.CodeNotFound, "", "turn %s came without text, so there is none to erase", in.ID)
	}
	w.Event = ErasureEvent(&event.Erasure)
	w.AsOf = event.AsOf
	w.Unguarded, w.Tasks = event.Unguarded, event.Tasks
	return w, nil
}

func (k Turns) listConversations(ctx context.Context, tenant dag.Tenant, in api.ConversationQuery) (w api.Conversations, err error) {
	read := k.conversationsByID
	if in.Newest {
		read = k.newestConversations
	}
	list, next, err := read(ctx, tenant, in.Paging)
	if err != nil {
		return w, err
	}
	w.Next = next
	titles, err := k.Titles(ctx, tenant, list)
	if err != nil {
		return w, err
	}
	w.Conversations = []api.Conversation{}
	for i := range list {
		w.Conversations = append(w.Conversations, conversation(&list[i], titles[list[i].ID]))
	}
	return w, nil
}

func (k Turns) conversationsByID(ctx context.Context, tenant dag.Tenant, in api.Paging) (list []store.Conversation, next string, err error) {
	var after dag.ConversationID
	if in.After != "" {
		if after, err = dag.AnyCase(dag.ParseConversationID)(in.After); err != nil {
			return nil, "", api.BadAfter(in.After)
		}
	}
	limit := in.Size()
	list, err = k.Conversations(ctx, tenant, after, limit+1)
	if len(list) > limit {
		list = list[:limit]
		next = list[limit-1].ID.String()
	}
	return list, next, err
}

func (k Turns) newestConversations(ctx context.Context, tenant dag.Tenant, in api.Paging) (list []store.Conversation, next string, err error) {
	var after *Last
	if in.After != "" {
		at, err := ParseLast(in.After)
		if err != nil {
			return nil, "", api.BadAfter(in.After)
		}
		after = &at
	}
	list, more, err := k.Newest(ctx, tenant, after, in.Size())
	if more {
		next = LastOf(&list[len(list)-1]).String()
	}
	return list, next, err
}

// listHeldBack lists a page of the turns that were held back, the oldest first.
func (k Turns) listHeldBack(ctx context.Context, tenant dag.Tenant, in api.HeldBackQuery) (w api.HeldBackTurns, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	list, err := k.HeldBack(ctx, tenant, dag.Seq(after), limit+1)
	if err != nil {
		return w, err
	}
	list, w.Next = api.Page(list, limit, func(h *HeldBack) uint64 { return uint64(h.Seq) })
	w.HeldBack = make([]api.HeldBack, len(list))
	for i := range list {
		h := &list[i]
		w.HeldBack[i] = api.HeldBack{
			Seq: h.Seq, Turn: h.Turn, Erased: h.Erased, Rule: string(h.Rule), At: h.At, By: h.By, Place: h.Place, Released: h.Released,
		}
	}
	return w, nil
}

func (k Turns) releaseTurns(ctx context.Context, tenant dag.Tenant, in api.TurnIDs) (api.Released, error) {
	n, err := k.Release(ctx, tenant, in.IDs)
	return api.Released{Released: n}, err
}

// listErasures lists a page of the erasures of turns, the oldest first; with in.Turn, only the erasure of that turn.
func (k Turns) listErasures(ctx context.Context, tenant dag.Tenant, in api.ErasureQuery) (w api.Erasures, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	limit := in.Size()
	var list []erasures.Erasure
	if in.Turn == nil {
		list, err = k.Events(ctx, tenant, dag.Seq(after), limit+1)
	} else {
		var one *erasures.Erasure
		if one, err = k.Erasure(ctx, tenant, *in.Turn); one != nil && uint64(one.Seq) > after {
			list = append(list, *one)
		}
	}
	if err != nil {
		return w, err
	}
	list, w.Next = api.Page(list, limit, func(e *erasures.Erasure) uint64 { return uint64(e.Seq) })
	w.Erasures = make([]api.Event, len(list))
	for i := range list {
		w.Erasures[i] = ErasureEvent(&list[i])
	}
	return w, nil
}
