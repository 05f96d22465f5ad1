package kernel

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// How many numbers a search for the newest conversations looks at, at once and in all.
const (
	newestWindow = 1000
	newestLooked = 50_000
)

// Newest lists up to limit conversations whose last turn was admitted before a number, the newest first; 0 is the present. The number that it
// returns goes on from there; it is 0 if there are no more. It reads turns from the newest on, at most 50 000 numbers at once, so a list may be short, or
// empty, and still go on.
func (k Turns) Newest(ctx context.Context, tenant dag.Tenant, before dag.Seq, limit int) (list []store.Conversation, next dag.Seq, err error) {
	if before == 0 {
		head, err := k.store.Head(ctx, tenant)
		if err != nil {
			return nil, 0, err
		}
		before = head + 1
	}
	lowest := before - min(before, newestLooked)
	seen := map[dag.ConversationID]bool{}
	for before > 1 && before > lowest {
		from := before - min(before, newestWindow)
		last, err := k.lastTurns(ctx, tenant, from, before)
		if err != nil {
			return nil, 0, err
		}
		for i := len(last) - 1; i >= 0; i-- {
			turn := last[i]
			if seen[turn.Conversation] {
				continue
			}
			seen[turn.Conversation] = true
			found, err := k.store.Conversations(ctx, tenant, below(turn.Conversation), 1)
			if err != nil {
				return nil, 0, err
			}
			if len(found) == 0 || found[0].ID != turn.Conversation || found[0].Last != turn.Seq {
				continue // a later turn listed it before
			}
			if list = append(list, found[0]); len(list) == limit {
				return list, turn.Seq, nil
			}
		}
		before = from + 1
	}
	if before <= 1 {
		return list, 0, nil
	}
	return list, before, nil
}

// lastTurns returns where the last turn of each conversation is, among the numbers above from and below before, ascending.
func (k Turns) lastTurns(ctx context.Context, tenant dag.Tenant, from, before dag.Seq) ([]store.Place, error) {
	var all []store.Place
	err := k.store.Store.Scan(ctx, tenant, from, nil, func(r *store.Record) error {
		if r.Seq >= before {
			return errEnough
		}
		all = append(all, store.Place{Conversation: r.Turn.Conversation, Seq: r.Seq})
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return all, nil
}

// below is the id before another, so that what comes after it begins with the other.
func below(id dag.ConversationID) dag.ConversationID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]--; id[i] != 0xff {
			break
		}
	}
	return id
}
