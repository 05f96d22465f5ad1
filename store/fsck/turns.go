package fsck

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// A turnRecord keeps the facts about a tenant's turns that later checks need, from one scan.
type turnRecord struct {
	whole         bool       // the scan reached its end
	turns         pile[turn] // by Seq
	index         map[dag.TurnID]uint32
	byID          []uint32       // replaces index when all turns are known
	byConv        []uint32       // by conversation, then by Seq
	conversations []conversation // by their first turns
	convIndex     map[dag.ConversationID]uint32
	links         []link // by the parent's conversation, when all are known
	unasked       []named
}

// A turn keeps the facts about one turn that later checks need.
type turn struct {
	id       dag.TurnID
	seq      dag.Seq
	skeleton uint64 // hash of what Segment must return
	body     uint64 // hash of body, salt and external id; 0: no body
	conv     uint32
	erased   bool
}

type conversation struct {
	store.Conversation
	begin   uint32 // its first index in byConv
	damaged bool   // could not be read
}

// A link is an edge between conversations.
type link struct{ from, parent, child uint32 }

func (h *turnRecord) len() int { return h.turns.len() }

func (h *turnRecord) turn(i uint32) *turn { return h.turns.at(i) }

// lookup returns the index of the turn with an id.
func (h *turnRecord) lookup(id dag.TurnID) (uint32, bool) {
	if h.index != nil {
		i, ok := h.index[id]
		return i, ok
	}
	at, ok := slices.BinarySearchFunc(h.byID, id, func(i uint32, id dag.TurnID) int { return h.turn(i).id.Compare(id) })
	if !ok {
		return 0, false
	}
	return h.byID[at], true
}

// of returns a conversation's turns, by Seq.
func (h *turnRecord) of(conv uint32) []uint32 {
	c := &h.conversations[conv]
	return h.byConv[c.begin : c.begin+uint32(c.Turns)]
}

// settle sorts the results of the scan, and releases the map.
func (h *turnRecord) settle() {
	n := h.len()
	h.byID, h.byConv = make([]uint32, n), make([]uint32, n)
	h.index = nil
	begin := uint32(0)
	next := make([]uint32, len(h.conversations))
	for i := range h.conversations {
		h.conversations[i].begin, next[i] = begin, begin
		begin += uint32(h.conversations[i].Turns)
	}
	for i := range uint32(n) {
		h.byID[i] = i
		conv := h.turn(i).conv
		h.byConv[next[conv]] = i
		next[conv]++
	}
	slices.SortFunc(h.byID, func(a, b uint32) int { return h.turn(a).id.Compare(h.turn(b).id) })
	slices.SortFunc(h.links, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.child, b.child), h.turn(a.parent).id.Compare(h.turn(b.parent).id))
	})
}

// errEnough ends a scan at the head that the check began with.
var errEnough = errors.New("the rest was added meanwhile")

// checkTurns reads all records up to the head and checks each on its own.
func checkTurns(c *checker) error {
	c.index = map[dag.TurnID]uint32{}
	c.convIndex = map[dag.ConversationID]uint32{}
	last := dag.Seq(0)
	err := c.s.Scan(c.ctx, c.tenant, 0, nil, func(r *store.Record) error {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if r.Seq > c.head {
			return errEnough
		}
		if r.Seq <= last {
			c.find(turnName(r.Turn.ID), "number", "it has number %d, but the scan returned it after number %d", r.Seq, last)
			return nil
		}
		last = r.Seq
		if c.len()%c.o.Page == 0 {
			c.progress("turns", int(last), int(c.head))
		}
		return record(c, r)
	})
	switch {
	case err == nil || errors.Is(err, errEnough):
		c.whole = true
	default:
		if err := c.unreadable(fmt.Sprintf("number %d and on", last+1), err); err != nil {
			return err
		}
	}
	if err := askNames(c); err != nil {
		return err
	}
	c.settle()
	return nil
}

// record checks a record on its own and against the records before it.
func record(c *checker, r *store.Record) error {
	where := turnName(r.Turn.ID)
	if twin, ok := c.index[r.Turn.ID]; ok {
		c.find(where, "id", "it has number %d and also number %d", r.Seq, c.turn(twin).seq)
		return nil
	}
	if err := r.Turn.Check(); err != nil {
		c.find(where, "form", "%v", err)
	}
	if r.Turn.ID == (dag.TurnID{}) || r.Turn.Conversation == (dag.ConversationID{}) {
		c.find(where, "form", "it has number %d, and its id or its conversation is the nil UUID, which is not allowed", r.Seq)
	}
	if err := r.Marks.Check(); err != nil {
		c.find(where, "marks", "%v", err)
	}
	if r.Key != "" {
		if err := access.CheckCredential(r.Key); err != nil {
			c.find(where, "key", "it was not admitted with an API key or a JWT: %v", err)
		}
	}
	if leaf := slice.TurnLeaf(&r.Turn); leaf != r.Leaf {
		c.find(where, "leaf", "the stored leaf is %s, but the leaf computed from its fields is %s", r.Leaf, leaf)
	}
	t := turn{id: r.Turn.ID, seq: r.Seq, conv: conversationOf(c, r), body: bodyHash(c, r)}
	t.skeleton = skeletonHash(c, skeletonOf(r))
	i := c.turns.add(t)
	parents(c, r, i)
	c.index[r.Turn.ID] = i
	c.counts.Turns++
	return body(c, r)
}

// conversationOf counts the turn in its conversation, and returns the conversation's index.
func conversationOf(c *checker, r *store.Record) uint32 {
	at, ok := c.convIndex[r.Turn.Conversation]
	if !ok {
		at = uint32(len(c.conversations))
		c.convIndex[r.Turn.Conversation] = at
		c.conversations = append(c.conversations, conversation{Conversation: store.Conversation{
			ID: r.Turn.Conversation, First: r.Seq, FirstAt: r.Turn.CreatedAt, LastAt: r.Turn.CreatedAt,
		}})
		c.counts.Conversations++
	}
	grow(&c.conversations[at].Conversation, r)
	return at
}

// grow adds a turn to the counts of a conversation.
func grow(c *store.Conversation, r *store.Record) {
	c.Turns++
	c.Last = r.Seq
	c.FirstAt = min(c.FirstAt, r.Turn.CreatedAt)
	c.LastAt = max(c.LastAt, r.Turn.CreatedAt)
}

func parents(c *checker, r *store.Record, child uint32) {
	where := turnName(r.Turn.ID)
	c.counts.Edges += len(r.Parents)
	if len(r.Parents) > dag.MaxParents {
		c.find(where, "edge", "it has %d parents, at most %d", len(r.Parents), dag.MaxParents)
	}
	seen := make(map[dag.TurnID]bool, len(r.Parents))
	for _, p := range r.Parents {
		i, known := c.index[p.ID]
		switch {
		case !known:
			c.find(where, "parent", "its parent %s is missing or has no smaller number", p.ID)
		case seen[p.ID]:
			c.find(where, "parent", "its parent %s is listed twice", p.ID)
		case c.conversations[c.turn(i).conv].ID != p.Conversation:
			c.find(where, "parent", "its parent %s is stored with conversation %s, but is in conversation %s", p.ID, p.Conversation, c.conversations[c.turn(i).conv].ID)
		case p.Kind.String() == "":
			c.find(where, "edge", "the edge from %s has no kind", p.ID)
		}
		seen[p.ID] = true
		if leaf := slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: r.Turn.ID, Kind: p.Kind}); leaf != p.Leaf {
			c.find(where, "edge leaf", "the edge from %s is stored with the leaf %s, but the leaf computed from its fields is %s", p.ID, p.Leaf, leaf)
		}
		if known && p.Conversation != r.Turn.Conversation {
			c.links = append(c.links, link{from: c.turn(i).conv, parent: i, child: child})
			c.counts.Links++
		}
	}
}

// body checks the text, and has its external id looked up: it must lead to the turn.
func body(c *checker, r *store.Record) error {
	where := turnName(r.Turn.ID)
	if r.Body == nil {
		c.counts.Bare++
		if !r.Withheld {
			c.vanished = append(c.vanished, c.index[r.Turn.ID])
		}
		if r.Salt != (dag.Salt{}) || r.External != "" {
			c.find(where, "body", "it has no body, but a salt or an external id")
		}
		return nil
	}
	c.counts.Bodies++
	if d := slice.DigestBody(r.Body, r.Salt); d != r.Turn.BodyDigest {
		c.find(where, "body digest", "the stored digest is %s, but the digest of the body and the salt is %s", r.Turn.BodyDigest, d)
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		c.find(where, "body", "%v", err)
		return nil
	}
	if name := body.Attrs[dag.AttrExternalID]; name != r.External {
		c.find(where, "external id", "the stored id is %q, but its body has %q", r.External, name)
		return nil
	}
	if r.External == "" {
		return nil
	}
	c.unasked = append(c.unasked, named{r.Turn.ID, r.External})
	if len(c.unasked) < namedAtOnce {
		return nil
	}
	return askNames(c)
}

func bodyHash(c *checker, r *store.Record) uint64 {
	if r.Body == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(c.seed)
	_, _ = h.Write(r.Salt[:])
	_, _ = h.WriteString(r.External)
	_ = h.WriteByte(0)
	_, _ = h.Write(r.Body)
	return h.Sum64() | 1
}

// skeletonOf returns the skeleton that Segment must return for a record.
func skeletonOf(r *store.Record) *dag.Skeleton {
	return &dag.Skeleton{
		Seq: r.Seq, ID: r.Turn.ID, Conversation: r.Turn.Conversation, CreatedAt: r.Turn.CreatedAt, Salience: r.Turn.Salience,
		Role: r.Turn.Role, Phase: r.Turn.Phase, Leaf: r.Leaf, Marks: r.Marks, Parents: r.Parents,
	}
}

func skeletonHash(c *checker, s *dag.Skeleton) uint64 {
	b := make([]byte, 0, 256)
	b = binary.BigEndian.AppendUint64(b, uint64(s.Seq))
	b = append(b, s.ID[:]...)
	b = append(b, s.Conversation[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.CreatedAt))
	b = binary.BigEndian.AppendUint32(b, uint32(s.Salience))
	b = append(b, byte(s.Role), byte(s.Phase))
	b = append(b, s.Leaf[:]...)
	b = append(b, byte(s.Marks.Rules), byte(s.Marks.Voice))
	b = binary.BigEndian.AppendUint32(b, s.Marks.Cost)
	o := &s.Marks.Origin
	b = append(append(append(b, byte(o.Channel), byte(o.Grant)), o.Author[:]...), o.Key[:]...)
	for i := range s.Marks.Things {
		b = append(b, s.Marks.Things[i][:]...)
	}
	for i := range s.Parents {
		p := &s.Parents[i]
		b = append(b, p.ID[:]...)
		b = append(b, p.Conversation[:]...)
		b = append(b, byte(p.Kind))
		b = append(b, p.Leaf[:]...)
	}
	return maphash.Bytes(c.seed, b)
}
