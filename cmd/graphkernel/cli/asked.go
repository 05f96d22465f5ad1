package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/normalize"
)

// most is the most items of a page, and of turns that are looked up at once.
const most = 1000

// all reads every page of a list, up to limit items; 0 means no limit. A list has more pages if next is not empty.
func all[T any](from api.Paging, limit int, read func(api.Paging) (items []T, next string, err error)) ([]T, string, error) {
	list := []T{}
	for {
		if from.Limit = most; limit != 0 {
			from.Limit = min(most, limit-len(list))
		}
		items, next, err := read(from)
		if err == nil && next != "" && next == from.After {
			err = fmt.Errorf("%w: page %.80q leads to itself", client.ErrAnswer, next)
		}
		if err != nil {
			return nil, "", err
		}
		if list, from.After = append(list, items...), next; next == "" || limit != 0 && len(list) >= limit {
			return list, next, nil
		}
	}
}

// ListTurns returns a page of turns in the order of admission, and the start of the next page; "" on the last page.
func (s *Session) ListTurns(ctx context.Context, q api.TurnQuery) (turns []Turn, next string, err error) {
	page, err := Do(ctx, s, api.ListTurns, q)
	if err != nil {
		return nil, "", err
	}
	turns, err = readTurns(page.Turns)
	return turns, page.Next, err
}

// LookUp returns the stored turns among ids, in no particular order.
func (s *Session) LookUp(ctx context.Context, ids []dag.TurnID) (turns []Turn, err error) {
	for len(ids) > 0 {
		n := min(len(ids), most)
		page, err := Do(ctx, s, api.LookUpTurns, api.TurnIDs{IDs: ids[:n]})
		if err != nil {
			return nil, err
		}
		some, err := readTurns(page.Turns)
		if err != nil {
			return nil, err
		}
		turns, ids = append(turns, some...), ids[n:]
	}
	return turns, nil
}

// readTurns converts turns of an answer.
func readTurns(list []api.StoredTurn) ([]Turn, error) {
	turns := make([]Turn, len(list))
	for i := range list {
		d, err := ingest.ReadLine(list[i].Turn)
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w: %w", list[i].Seq, client.ErrAnswer, err)
		}
		if d.BodyDigest, err = dag.ParseDigest(list[i].BodyDigest.String()); err != nil {
			return nil, fmt.Errorf("turn %s: %w: %w", d.ID, client.ErrAnswer, err)
		}
		turns[i] = Turn{Draft: d, Seq: list[i].Seq, Key: list[i].Key}
	}
	return turns, nil
}

// Conversations returns every conversation, by ascending id.
func (s *Session) Conversations(ctx context.Context) ([]api.Conversation, error) {
	list, _, err := all(api.Paging{}, 0, func(p api.Paging) ([]api.Conversation, string, error) {
		page, err := Do(ctx, s, api.ListConversations, api.ConversationQuery{Paging: p})
		return page.Conversations, page.Next, err
	})
	return list, err
}

// ByLast sorts conversations by their latest turn, the newest first.
func ByLast(list []api.Conversation) {
	slices.SortStableFunc(list, func(x, y api.Conversation) int { return cmp.Compare(y.LastAt, x.LastAt) }) // times have one spelling, which sorts as they do
}

// TurnAfter returns the first turn of a conversation with a number above after, of a role unless role is empty; nil if there is none.
func (s *Session) TurnAfter(ctx context.Context, conversation string, after dag.Seq, role string) (*Turn, error) {
	id, err := dag.ParseConversationID(conversation)
	if err != nil {
		return nil, err
	}
	q := api.TurnQuery{Conversation: &id, Role: role, Paging: api.Paging{Limit: 1}}
	if after > 0 {
		q.After = strconv.FormatUint(uint64(after), 10)
	}
	turns, _, err := s.ListTurns(ctx, q)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	return &turns[0], nil
}

// EraseTurn erases a turn. If the turn never had a text here, the event has the number 0.
func (s *Session) EraseTurn(ctx context.Context, id dag.TurnID, reason string) (api.ErasedTurn, error) {
	e, err := Do(ctx, s, api.EraseTurn, api.Erasure{ID: id, Body: api.ErasureRequest{Reason: reason}})
	if Is(err, api.CodeNotFound) {
		if here, lookErr := s.LookUp(ctx, []dag.TurnID{id}); lookErr == nil && len(here) == 1 && here[0].Redacted {
			return api.ErasedTurn{Event: api.Event{At: dag.Time(0)}}, nil
		}
	}
	return e, err
}

// History returns all acts on a statement, by ascending number.
func (s *Session) History(ctx context.Context, id dag.Digest) ([]api.KnowledgeAct, error) {
	list, _, err := all(api.Paging{}, 0, func(p api.Paging) ([]api.KnowledgeAct, string, error) {
		page, err := Do(ctx, s, api.FactsHistory, api.HistoryOf{Statement: id, Paging: p})
		return page.Acts, page.Next, err
	})
	return list, err
}

// Acts returns up to limit acts with a number above after.
func (s *Session) Acts(ctx context.Context, after dag.Seq, limit int) (w api.KnowledgeChanges, err error) {
	from := api.Paging{After: strconv.FormatUint(uint64(after), 10)}
	w.Acts, w.Next, err = all(from, limit, func(p api.Paging) ([]api.KnowledgeAct, string, error) {
		page, err := Do(ctx, s, api.KnowledgeSince, p)
		return page.Acts, page.Next, err
	})
	return w, err
}

// AsOf resolves an as-of number: a number inside a change is resolved to the last number before the change. For 0, the present, it returns the head.
func (s *Session) AsOf(ctx context.Context, given dag.Seq) (dag.Seq, error) {
	page, err := Do(ctx, s, api.ListAliases, api.AliasesOf{View: api.View{AsOf: given}, Paging: api.Paging{Limit: 1}})
	return page.AsOf, err
}

// Aliases returns the alias table as of a number; 0 is the present.
func (s *Session) Aliases(ctx context.Context, asOf dag.Seq) (*normalize.Table, error) {
	list, _, err := all(api.Paging{}, 0, func(p api.Paging) ([]api.Alias, string, error) {
		page, err := Do(ctx, s, api.ListAliases, api.AliasesOf{View: api.View{AsOf: asOf}, Paging: p})
		return page.Aliases, page.Next, err
	})
	if err != nil {
		return nil, err
	}
	changes := make([]normalize.Change, len(list))
	for i, a := range list {
		changes[i] = normalize.Change{Alias: a.Alias, Canonical: a.Canonical}
	}
	t, _, err := (*normalize.Table)(nil).With(changes...)
	if err != nil {
		return nil, fmt.Errorf("aliases: %w: %w", client.ErrAnswer, err)
	}
	return t, nil
}
