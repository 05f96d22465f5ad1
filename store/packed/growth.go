package packed

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// A Growth is the part of a write that is added to one conversation.
type Growth struct {
	store.Conversation           // of the new turns alone
	Fresh              []NewTurn // by ascending sequence number
}

// Grow groups new records by conversation, in the order of the conversations' first new turns. kept contains the Kept of each record.
func Grow(records []store.Record, kept [][]byte) []*Growth {
	grown := map[dag.ConversationID]*Growth{}
	var order []*Growth
	for i := range records {
		r := &records[i]
		g := grown[r.Turn.Conversation]
		if g == nil {
			g = &Growth{Conversation: store.Conversation{ID: r.Turn.Conversation, First: r.Seq, FirstAt: r.Turn.CreatedAt, LastAt: r.Turn.CreatedAt}}
			grown[g.ID] = g
			order = append(order, g)
		}
		g.Turns++
		g.Last = r.Seq
		g.FirstAt = min(g.FirstAt, r.Turn.CreatedAt)
		g.LastAt = max(g.LastAt, r.Turn.CreatedAt)
		g.Fresh = append(g.Fresh, NewTurn{r.Seq, Skeleton(kept[i])})
	}
	return order
}

// An Outgoing is an edge into another conversation, with the conversation of its parent.
type Outgoing struct {
	From dag.ConversationID
	dag.Link
}

// Links returns the edges of records whose parents are in other conversations.
func Links(records []store.Record) (links []Outgoing) {
	for i := range records {
		r := &records[i]
		for _, p := range r.Parents {
			if p.Conversation != r.Turn.Conversation {
				links = append(links, Outgoing{p.Conversation, dag.Link{Parent: p.ID, Child: r.Turn.ID, ChildConversation: r.Turn.Conversation, Seq: r.Seq}})
			}
		}
	}
	return links
}
