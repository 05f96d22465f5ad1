package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

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
func (k Turns) Newest(ctx context.Context, tenant dag.Tenant, after *Last, limit int) (list []store.Conversation, more bool, err error) {
	order := func(a, b store.Conversation) int { return LastOf(&a).compare(LastOf(&b)) }
	var from dag.ConversationID
	for {
		some, err := k.store.Conversations(ctx, tenant, from, newestWindow)
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
