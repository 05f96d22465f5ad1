package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A Catalog lists the conversations of tenants, with their titles.
type Catalog struct{ history projection.Checked }

// Operations lists the operations on conversations.
func (k Catalog) Operations() []api.Answer {
	return []api.Answer{api.ListConversations.By(k.listConversations)}
}

// Conversations lists up to limit conversations with ids above after, ascending.
func (k Catalog) Conversations(ctx context.Context, tenant dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	return k.history.Conversations(ctx, tenant, after, limit)
}

func (k Catalog) listConversations(ctx context.Context, tenant dag.Tenant, in api.ConversationQuery) (w api.Conversations, err error) {
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

func (k Catalog) conversationsByID(ctx context.Context, tenant dag.Tenant, in api.Paging) (list []store.Conversation, next string, err error) {
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

func (k Catalog) newestConversations(ctx context.Context, tenant dag.Tenant, in api.Paging) (list []store.Conversation, next string, err error) {
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

// conversation returns one line of a list of conversations.
func conversation(c *store.Conversation, title string) api.Conversation {
	return api.Conversation{
		ID: c.ID, Turns: c.Turns, First: c.First, Last: c.Last, FirstAt: c.FirstAt, LastAt: c.LastAt, Title: title,
	}
}

// newestWindow is how many conversations a search for the newest ones reads at once.
const newestWindow = 1000

// A Last is a place in the list of the newest conversations: after the conversation with this id, whose latest turn has this time.
type Last struct {
	At dag.Time
	ID dag.ConversationID
}

// LastOf returns the place of a conversation.
func LastOf(c *store.Conversation) Last { return Last{c.LastAt, c.ID} }

// compare puts newer times first, and smaller ids first within the same time.
func (l Last) compare(o Last) int { return cmp.Or(cmp.Compare(o.At, l.At), l.ID.Compare(o.ID)) }

// String formats a place; ParseLast reads it.
func (l Last) String() string { return fmt.Sprintf("%d.%s", l.At, l.ID) }

// ParseLast parses the text that String returns.
func ParseLast(text string) (l Last, err error) {
	at, id, _ := strings.Cut(text, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if l.At = dag.Time(n); err != nil || !l.At.Valid() {
		return l, fmt.Errorf("%w: %.80q is no place in the list of the newest conversations", dag.ErrForm, text)
	}
	l.ID, err = dag.ParseConversationID(id)
	return l, err
}

// Newest lists up to limit conversations after a place, ordered by their latest turns, the newest first; nil is the beginning. more reports whether
// the list continues. Newest reads the store's line of every conversation.
func (k Catalog) Newest(ctx context.Context, tenant dag.Tenant, after *Last, limit int) (list []store.Conversation, more bool, err error) {
	order := func(a, b store.Conversation) int { return LastOf(&a).compare(LastOf(&b)) }
	var from dag.ConversationID
	for {
		some, err := k.history.Conversations(ctx, tenant, from, newestWindow)
		if err != nil {
			return nil, false, err
		}
		for i := range some {
			if after == nil || LastOf(&some[i]).compare(*after) > 0 {
				list = append(list, some[i])
			}
		}
		if len(list) > 2*(limit+newestWindow) || len(some) < newestWindow {
			slices.SortFunc(list, order)
			more = more || len(list) > limit
			list = list[:min(len(list), limit)]
		}
		if len(some) < newestWindow {
			return list, more, nil
		}
		from = some[len(some)-1].ID
	}
}

// Titles returns the titles of the conversations in a list; a conversation without a title is left out. The title is the newest that was chosen,
// else the newest that a program made, else that of the first turn. Erased texts do not count.
// Titles needs a few queries; their number grows with the logarithm of how often a conversation was named.
func (k Catalog) Titles(ctx context.Context, tenant dag.Tenant, list []store.Conversation) (map[dag.ConversationID]string, error) {
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
func (k Catalog) newestTitles(ctx context.Context, tenant dag.Tenant, list []store.Conversation, kind ingest.TitleKind, titles map[dag.ConversationID]string) error {
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
func (k Catalog) titled(ctx context.Context, tenant dag.Tenant, of store.Selection, fn func(of dag.ConversationID, id dag.TurnID, attrs map[string]string)) error {
	records, err := k.history.Turns(ctx, tenant, of)
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
