package kernel

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Titles returns the titles of the conversations in a list; a conversation without a title is left out. The title is the newest that was chosen,
// else the newest that a program made, else that of the first turn. Erased texts do not count.
// Titles needs a few queries; their number grows with the logarithm of how often a conversation was named.
func (k Turns) Titles(ctx context.Context, tenant dag.Tenant, list []store.Conversation) (map[dag.ConversationID]string, error) {
	places := make(store.Places, len(list))
	for i := range list {
		places[i] = store.Place{Conversation: list[i].ID, Seq: list[i].First}
	}
	titles := map[dag.ConversationID]string{}
	err := k.titled(ctx, tenant, places, func(of dag.ConversationID, _ dag.TurnID, attrs map[string]string) {
		if title := attrs[ingest.AttrTitle]; title != "" {
			titles[of] = title
		}
	})
	if err != nil {
		return nil, err
	}
	for i := len(ingest.TitleKinds) - 1; i >= 0; i-- { // the first kind counts first
		if err := k.newestTitles(ctx, tenant, list, ingest.TitleKinds[i], titles); err != nil {
			return nil, err
		}
	}
	return titles, nil
}

// titlesAtOnce is how many titles of a conversation the second query reads; each later query reads twice as many.
const titlesAtOnce = 8

// newestTitles sets the titles of conversations to their newest titles of a kind. The ids of title turns follow from their numbers, so it reads the
// first title turn of each conversation, and then more where that is stored.
func (k Turns) newestTitles(ctx context.Context, tenant dag.Tenant, list []store.Conversation, kind ingest.TitleKind, titles map[dag.ConversationID]string) error {
	asked := make([]dag.ConversationID, len(list))
	for i := range list {
		asked[i] = list[i].ID
	}
	for from, n := 0, 1; len(asked) > 0; from, n = from+n, max(titlesAtOnce, 2*n) {
		var ids store.IDs
		place := map[dag.TurnID]int{}
		for _, of := range asked {
			for i := from; i < from+n; i++ {
				id := ingest.TitleTurn(of, kind, i)
				ids, place[id] = append(ids, id), i
			}
		}
		newest, last := map[dag.ConversationID]int{}, map[dag.ConversationID]bool{}
		err := k.titled(ctx, tenant, ids, func(of dag.ConversationID, id dag.TurnID, attrs map[string]string) {
			i := place[id]
			last[of] = last[of] || i == from+n-1
			if before, known := newest[of]; attrs[ingest.AttrTitle] != "" && ingest.TitleKind(attrs[ingest.AttrTitleKind]) == kind && (!known || i > before) {
				newest[of], titles[of] = i, attrs[ingest.AttrTitle]
			}
		})
		if err != nil {
			return err
		}
		more := asked[:0]
		for _, of := range asked {
			if last[of] {
				more = append(more, of)
			}
		}
		asked = more
	}
	return nil
}

// titled calls fn for each selected turn that is stored, with its attributes. The attributes of a turn without text are nil.
func (k Turns) titled(ctx context.Context, tenant dag.Tenant, of store.Selection, fn func(of dag.ConversationID, id dag.TurnID, attrs map[string]string)) error {
	records, err := k.store.Turns(ctx, tenant, of)
	if err != nil {
		return err
	}
	for i := range records {
		r := &records[i]
		var attrs map[string]string
		if r.Body != nil {
			body, err := slice.ParseBody(r.Body)
			if err != nil {
				return fmt.Errorf("turn %s: %w: %w", r.Turn.ID, store.ErrDamaged, err)
			}
			attrs = body.Attrs
		}
		fn(r.Turn.Conversation, r.Turn.ID, attrs)
	}
	return nil
}
