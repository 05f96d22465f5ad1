package fsck

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// checkLookups looks up every turn by its id and by its place.
func checkLookups(c *checker) error {
	for page := range slices.Chunk(c.byConv, c.o.Page) {
		ids := make([]dag.TurnID, len(page))
		places := make([]store.Place, len(page))
		for i, n := range page {
			t := c.turn(n)
			ids[i] = t.id
			places[i] = store.Place{Conversation: c.conversations[t.conv].ID, Seq: t.seq}
		}
		byID, err := c.s.Turns(c.ctx, c.tenant, store.IDs(ids))
		if err := looked(c, page, byID, "found by id", err); err != nil {
			return err
		}
		byPlace, err := c.s.Turns(c.ctx, c.tenant, store.Places(places))
		if err := looked(c, page, byPlace, "found by place", err); err != nil {
			return err
		}
		c.progress("look-ups", int(page[len(page)-1])+1, c.len())
	}
	return nil
}

// looked compares the result of a look-up of some turns with the scan.
func looked(c *checker, asked []uint32, records []store.Record, rule string, err error) error {
	if err != nil {
		return c.unreadable(turnName(c.turn(asked[0]).id)+" and others", err)
	}
	missing := make(map[uint32]bool, len(asked))
	for _, i := range asked {
		missing[i] = true
	}
	for n := range records {
		r := &records[n]
		i, known := c.lookup(r.Turn.ID)
		if !known || !missing[i] {
			c.find(turnName(r.Turn.ID), rule, "it was not requested, or was returned twice")
			continue
		}
		delete(missing, i)
		t := c.turn(i)
		if skeletonHash(c, skeletonOf(r)) != t.skeleton {
			c.find(turnName(t.id), rule, "the turn read as number %d differs from the turn that the scan returned as number %d", r.Seq, t.seq)
		}
		if leaf := slice.TurnLeaf(&r.Turn); leaf != r.Leaf {
			c.find(turnName(t.id), "leaf", "the stored leaf is %s, but the leaf computed from its fields is %s", r.Leaf, leaf)
		}
		switch body := bodyHash(c, r); {
		case body == t.body:
		case body == 0:
			c.vanished = append(c.vanished, i)
			t.body = 0
		default:
			c.find(turnName(t.id), rule, "its body differs from the one that the scan returned")
		}
	}
	for _, i := range asked {
		if missing[i] {
			c.find(turnName(c.turn(i).id), rule, "it is not found, but the scan returned it as number %d", c.turn(i).seq)
		}
	}
	return nil
}

// fewMatches bounds the known turns of a prefix that is looked up.
const fewMatches = 1000

// checkMatches looks up all turns by prefixes of their ids.
func checkMatches(c *checker) error { return match(c, "") }

func match(c *checker, prefix string) error {
	first, last, _ := store.PrefixRange(prefix)
	byID := func(i uint32, id dag.TurnID) int { return c.turn(i).id.Compare(id) }
	begin, _ := slices.BinarySearchFunc(c.byID, first, byID)
	end, exact := slices.BinarySearchFunc(c.byID, last, byID)
	if exact {
		end++
	}
	known := c.byID[begin:end]
	if len(known) > fewMatches {
		return matchLonger(c, prefix)
	}
	limit := len(known) + fewMatches
	got, err := c.s.Find(c.ctx, c.tenant, store.Prefix(prefix), limit)
	if err != nil {
		return c.unreadable("turns "+prefix+"…", err)
	}
	if len(got) == limit && len(prefix) < dag.IDText {
		return matchLonger(c, prefix)
	}
	var fresh []dag.TurnID
	for n, id := range got {
		if n > 0 && got[n-1].Compare(id) >= 0 {
			c.find(turnName(id), "found by prefix", "it is listed after %s", got[n-1])
		}
		if _, ok := c.lookup(id); !ok {
			fresh = append(fresh, id)
		}
	}
	for _, i := range known {
		if _, ok := slices.BinarySearchFunc(got, c.turn(i).id, dag.TurnID.Compare); !ok {
			c.find(turnName(c.turn(i).id), "found by prefix", "the scan returned it, but the prefix %q does not lead to it", prefix)
		}
	}
	c.progress("prefixes", end, c.len())
	return foundFresh(c, fresh)
}

func matchLonger(c *checker, prefix string) error {
	switch len(prefix) {
	case 8, 13, 18, 23:
		prefix += "-"
	}
	for _, digit := range "0123456789abcdef" {
		if err := match(c, prefix+string(digit)); err != nil {
			return err
		}
	}
	return nil
}

// foundFresh checks turns that the scan did not return: they must be newer.
func foundFresh(c *checker, ids []dag.TurnID) error {
	for ids := range slices.Chunk(ids, c.o.Page) {
		records, err := c.s.Turns(c.ctx, c.tenant, store.IDs(ids))
		if err != nil {
			return c.unreadable(turnName(ids[0])+" and others", err)
		}
		newer := map[dag.TurnID]bool{}
		for _, r := range records {
			if r.Seq > c.head {
				newer[r.Turn.ID] = true
				c.saw(r.Seq, turnName(r.Turn.ID))
			}
		}
		for _, id := range ids {
			if !newer[id] {
				c.find(turnName(id), "found by prefix", "its id is found, but the scan did not return it")
			}
		}
	}
	return nil
}

// checkConversations compares the listing of conversations with the scan.
func checkConversations(c *checker) error {
	order := make([]uint32, len(c.conversations))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return c.conversations[a].ID.Compare(c.conversations[b].ID) })
	unlisted := func(below *dag.ConversationID) {
		for len(order) > 0 && (below == nil || c.conversations[order[0]].ID.Compare(*below) < 0) {
			c.find(conversationName(c.conversations[order[0]].ID), "conversation", "it has %d turns but is not listed", c.conversations[order[0]].Turns)
			order = order[1:]
		}
	}
	for after := (dag.ConversationID{}); ; {
		page, err := c.s.Conversations(c.ctx, c.tenant, after, c.o.Page)
		if err != nil {
			return c.unreadable("conversations", err)
		}
		for i := range page {
			got := &page[i]
			if got.ID.Compare(after) <= 0 {
				c.find(conversationName(got.ID), "conversation", "it is listed after %s", after)
				return nil
			}
			after = got.ID
			unlisted(&got.ID)
			want := store.Conversation{ID: got.ID}
			if len(order) > 0 && c.conversations[order[0]].ID == got.ID {
				want = c.conversations[order[0]].Conversation
				order = order[1:]
			}
			if err := listed(c, got, want); err != nil {
				return err
			}
		}
		if len(page) < c.o.Page {
			unlisted(nil)
			return nil
		}
	}
}

// listed compares a line of the listing with the turns of the scan, and those added since.
func listed(c *checker, got *store.Conversation, want store.Conversation) error {
	if *got != want && got.Last > c.head {
		err := c.s.Scan(c.ctx, c.tenant, c.head, &got.ID, func(r *store.Record) error {
			if r.Seq > got.Last {
				return errEnough
			}
			c.saw(r.Seq, turnName(r.Turn.ID))
			if want.Turns == 0 {
				want.First, want.FirstAt, want.LastAt = r.Seq, r.Turn.CreatedAt, r.Turn.CreatedAt
			}
			grow(&want, r)
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return c.unreadable(conversationName(got.ID), err)
		}
	}
	if *got != want {
		c.find(conversationName(got.ID), "conversation", "it is listed with %s, but its turns are %s", summary(got), summary(&want))
	}
	return nil
}

func summary(c *store.Conversation) string {
	return fmt.Sprintf("%d turns from number %d to %d, from %s to %s", c.Turns, c.First, c.Last, c.FirstAt, c.LastAt)
}

// Bounds of a group of conversations that are read at once.
const (
	groupConversations = 64
	groupTurns         = 4096
)

// checkSegments reads each conversation alone from its beginning, and several at
// once after their middle, after their last turn but one, and after their end.
func checkSegments(c *checker) error {
	var group []uint32
	turns := 0
	flush := func() error {
		for _, left := range []func(n int) int{
			func(n int) int { return (n + 1) / 2 },
			func(int) int { return 1 },
			func(int) int { return 0 },
		} {
			var parts []store.Part
			for _, conv := range group {
				all := c.of(conv)
				after := dag.Seq(0)
				if skip := len(all) - left(len(all)); skip > 0 {
					after = c.turn(all[skip-1]).seq
				}
				parts = append(parts, store.Part{Conversation: c.conversations[conv].ID, After: after})
			}
			if err := segment(c, group, parts); err != nil {
				return err
			}
		}
		group, turns = group[:0], 0
		return nil
	}
	done := 0
	for i := range c.conversations {
		conv := uint32(i)
		if err := segment(c, []uint32{conv}, []store.Part{{Conversation: c.conversations[i].ID}}); err != nil {
			return err
		}
		done += c.conversations[i].Turns
		c.progress("segments", done, c.len())
		if c.conversations[i].damaged {
			continue
		}
		group = append(group, conv)
		if turns += c.conversations[i].Turns; len(group) == groupConversations || turns > groupTurns {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// segment compares one segment with the scan.
func segment(c *checker, convs []uint32, parts []store.Part) error {
	if len(parts) == 0 {
		return nil
	}
	where := conversationName(parts[0].Conversation)
	seg, err := c.s.Segment(c.ctx, c.tenant, parts)
	if err != nil {
		for _, conv := range convs {
			c.conversations[conv].damaged = true
		}
		return c.unreadable(where, err)
	}
	if seg.Head < c.head {
		c.find(where, "segment", "it was read at head %d, but the head was already %d", seg.Head, c.head)
	}
	var turns []uint32
	var links []link
	for n, conv := range convs {
		all := c.of(conv)
		skip, _ := slices.BinarySearchFunc(all, parts[n].After+1, func(i uint32, seq dag.Seq) int { return cmp.Compare(c.turn(i).seq, seq) })
		turns = append(turns, all[skip:]...)
		begin, _ := slices.BinarySearchFunc(c.links, conv, func(l link, conv uint32) int { return cmp.Compare(l.from, conv) })
		for _, l := range c.links[begin:] {
			if l.from != conv {
				break
			}
			if c.turn(l.child).seq > parts[n].After {
				links = append(links, l)
			}
		}
	}
	slices.Sort(turns)
	segmentTurns(c, seg.Turns, turns)
	segmentLinks(c, where, seg.Links, links)
	return nil
}

func segmentTurns(c *checker, got []dag.Skeleton, want []uint32) {
	missing := func(below dag.Seq) {
		for len(want) > 0 && c.turn(want[0]).seq < below {
			c.find(turnName(c.turn(want[0]).id), "segment", "the scan returned it as number %d, but its conversation lacks it", c.turn(want[0]).seq)
			want = want[1:]
		}
	}
	last := dag.Seq(0)
	for i := range got {
		s := &got[i]
		if s.Seq <= last {
			c.find(turnName(s.ID), "segment", "number %d comes after number %d", s.Seq, last)
			continue
		}
		if last = s.Seq; last > c.head {
			c.saw(s.Seq, turnName(s.ID))
			continue
		}
		missing(s.Seq)
		if len(want) == 0 || c.turn(want[0]).seq != s.Seq {
			c.find(turnName(s.ID), "segment", "its conversation has it as number %d, but the scan did not return it", s.Seq)
			continue
		}
		if t := c.turn(want[0]); skeletonHash(c, s) != t.skeleton {
			c.find(turnName(t.id), "segment", "number %d of its conversation differs from the turn that the scan returned", t.seq)
		}
		want = want[1:]
	}
	missing(dag.MaxSeq + 1)
}

func segmentLinks(c *checker, where string, got []dag.Link, want []link) {
	expected := make(map[dag.Link]bool, len(want))
	for _, l := range want {
		child := c.turn(l.child)
		expected[dag.Link{Parent: c.turn(l.parent).id, Child: child.id, ChildConversation: c.conversations[child.conv].ID, Seq: child.seq}] = true
	}
	last := dag.Seq(0)
	for _, l := range got {
		if l.Seq < last {
			c.find(where, "link", "the link of number %d comes after number %d", l.Seq, last)
		}
		last = max(last, l.Seq)
		switch {
		case l.Seq > c.head:
			c.saw(l.Seq, turnName(l.Child))
		case !expected[l]:
			c.find(turnName(l.Child), "link", "it is linked from %s as number %d of conversation %s, but there is no such edge, or the link exists twice", l.Parent, l.Seq, l.ChildConversation)
		}
		delete(expected, l)
	}
	for _, l := range want { // in order
		child := c.turn(l.child)
		if expected[dag.Link{Parent: c.turn(l.parent).id, Child: child.id, ChildConversation: c.conversations[child.conv].ID, Seq: child.seq}] {
			c.find(turnName(child.id), "link", "its parent %s is in another conversation, which has no link to this turn", c.turn(l.parent).id)
		}
	}
}
