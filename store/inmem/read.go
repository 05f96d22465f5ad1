package inmem

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// Head returns the tenant's newest sequence number.
func (s *Store) Head(ctx context.Context, name dag.Tenant) (dag.Seq, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.disk.mu.Unlock()
	return s.disk.tenant(name).head, nil
}

// Tenants lists tenants by ascending name.
func (s *Store) Tenants(ctx context.Context, after dag.Tenant, limit int) ([]dag.Tenant, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	list := empty[dag.Tenant](s)
	for name := range s.disk.tenants {
		if name > after {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), max(limit, 0))], nil
}

// Turns returns records in an order that depends on the seed.
func (s *Store) Turns(ctx context.Context, name dag.Tenant, of store.Selection) ([]store.Record, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	found := empty[store.Record](s)
	given := map[dag.TurnID]bool{}
	for _, r := range s.disk.tenant(name).selected(of) {
		if !given[r.Turn.ID] {
			given[r.Turn.ID] = true
			found = append(found, clone(r))
		}
	}
	s.shuffle(found)
	return found, nil
}

// selected returns the records of the selected turns that exist.
func (t *tenant) selected(of store.Selection) (records []*store.Record) {
	switch of := of.(type) {
	case store.IDs:
		for _, id := range of {
			if r := t.byID[id]; r != nil {
				records = append(records, r)
			}
		}
	case store.Places:
		for _, p := range of {
			at, ok := slices.BinarySearchFunc(t.records, p.Seq, func(r *store.Record, seq dag.Seq) int { return cmp.Compare(r.Seq, seq) })
			if ok && t.records[at].Turn.Conversation == p.Conversation {
				records = append(records, t.records[at])
			}
		}
	}
	return records
}

// Segment returns the turns that a reader lacks of some conversations.
func (s *Store) Segment(ctx context.Context, name dag.Tenant, parts []store.Part) (store.Segment, error) {
	if err := s.enter(ctx); err != nil {
		return store.Segment{}, err
	}
	defer s.disk.mu.Unlock()
	t := s.disk.tenant(name)
	after := map[dag.ConversationID]dag.Seq{}
	for _, p := range store.Distinct(parts) {
		after[p.Conversation] = p.After
	}
	seg := store.Segment{Head: t.head, Turns: empty[dag.Skeleton](s), Links: empty[dag.Link](s)}
	for _, r := range t.records {
		if from, ok := after[r.Turn.Conversation]; ok && r.Seq > from {
			seg.Turns = append(seg.Turns, skeleton(r))
		}
		for _, l := range links(r) {
			if from, ok := after[l.from]; ok && r.Seq > from {
				seg.Links = append(seg.Links, l.Link)
			}
		}
	}
	return seg, nil
}

func skeleton(r *store.Record) dag.Skeleton {
	c := clone(r)
	return dag.Skeleton{
		Seq: r.Seq, ID: r.Turn.ID, Conversation: r.Turn.Conversation, CreatedAt: r.Turn.CreatedAt, Salience: r.Turn.Salience,
		Role: r.Turn.Role, Phase: r.Turn.Phase, Leaf: r.Leaf, Marks: c.Marks, Parents: c.Parents,
	}
}

type outgoing struct {
	from dag.ConversationID
	dag.Link
}

// links returns the edges of a turn that come from other conversations, by
// ascending parent.
func links(r *store.Record) (out []outgoing) {
	for _, p := range r.Parents {
		if p.Conversation != r.Turn.Conversation {
			out = append(out, outgoing{p.Conversation, dag.Link{Parent: p.ID, Child: r.Turn.ID, ChildConversation: r.Turn.Conversation, Seq: r.Seq}})
		}
	}
	slices.SortFunc(out, func(a, b outgoing) int { return a.Parent.Compare(b.Parent) })
	return out
}

// Scan calls fn with records by ascending number. Each record is overwritten after fn has returned.
func (s *Store) Scan(ctx context.Context, name dag.Tenant, after dag.Seq, conversation *dag.ConversationID, fn func(*store.Record) error) error {
	head, err := s.Head(ctx, name)
	if err != nil {
		return err
	}
	for {
		r, err := s.next(ctx, name, after, head, conversation)
		if err != nil || r == nil {
			return err
		}
		after = r.Seq
		err = fn(r)
		*r = store.Record{}
		if err != nil {
			return err
		}
	}
}

func (s *Store) next(ctx context.Context, name dag.Tenant, after, head dag.Seq, conversation *dag.ConversationID) (*store.Record, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	records := s.disk.tenant(name).records
	at, _ := slices.BinarySearchFunc(records, after+1, func(r *store.Record, seq dag.Seq) int { return cmp.Compare(r.Seq, seq) })
	for _, r := range records[at:] {
		if r.Seq > head {
			return nil, nil
		}
		if conversation == nil || r.Turn.Conversation == *conversation {
			c := clone(r)
			return &c, nil
		}
	}
	return nil, nil
}

// Find returns the ids of the turns that match a name.
func (s *Store) Find(ctx context.Context, tenant dag.Tenant, name store.Name, limit int) ([]dag.TurnID, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	ids := empty[dag.TurnID](s)
	for _, r := range s.disk.tenant(tenant).records {
		if hasName(r, name) {
			ids = append(ids, r.Turn.ID)
		}
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	return ids[:min(len(ids), max(limit, 0))], nil
}

func hasName(r *store.Record, name store.Name) bool {
	switch name := name.(type) {
	case store.Prefix:
		return strings.HasPrefix(r.Turn.ID.String(), string(name))
	case store.External:
		return name != "" && r.External == string(name)
	case store.ExternalPrefix:
		return name.Has(r.External)
	}
	return false
}

// Conversations lists conversations by ascending id.
func (s *Store) Conversations(ctx context.Context, name dag.Tenant, after dag.ConversationID, limit int) ([]store.Conversation, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.disk.mu.Unlock()
	at := map[dag.ConversationID]int{}
	list := empty[store.Conversation](s)
	for _, r := range s.disk.tenant(name).records {
		id := r.Turn.Conversation
		if id.Compare(after) <= 0 {
			continue
		}
		if _, ok := at[id]; !ok {
			at[id] = len(list)
			list = append(list, store.Conversation{ID: id, First: r.Seq, FirstAt: r.Turn.CreatedAt})
		}
		c := &list[at[id]]
		c.Turns++
		c.Last = r.Seq
		c.FirstAt = min(c.FirstAt, r.Turn.CreatedAt)
		c.LastAt = max(c.LastAt, r.Turn.CreatedAt)
	}
	slices.SortFunc(list, func(a, b store.Conversation) int { return a.ID.Compare(b.ID) })
	return list[:min(len(list), max(limit, 0))], nil
}
