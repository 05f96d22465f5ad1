package storetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Check reads all that a tenant has and derives anew what can be derived:
// sequence numbers have no gap, leaves and digests are those of what is stored,
// parents come before their children, and every way to read gives the same
// turns. It reports the first thing that does not fit. Nobody may write to the
// tenant meanwhile. It holds the tenant's turns in memory, without bodies.
func Check(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	c := checker{
		ctx: ctx, s: s, tenant: tenant,
		byID:  map[dag.TurnID]*dag.Skeleton{},
		gone:  map[dag.TurnID]bool{},
		names: map[string][]dag.TurnID{},
		convs: map[dag.ConversationID]*store.Conversation{},
		links: map[dag.ConversationID][]dag.Link{},
	}
	for _, stage := range []struct {
		name string
		run  func() error
	}{
		{"head", c.readHead},
		{"scan", c.scan},
		{"events", c.events},
		{"turns", c.turns},
		{"conversations", c.conversations},
		{"segment", c.segments},
		{"match", c.match},
		{"external", c.external},
		{"policies", c.policies},
		{"issued", c.issued},
		{"keys", c.keys},
	} {
		if err := stage.run(); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	return nil
}

type checker struct {
	ctx    context.Context
	s      store.Store
	tenant dag.Tenant

	head  dag.Seq
	all   []*dag.Skeleton // by Seq
	byID  map[dag.TurnID]*dag.Skeleton
	gone  map[dag.TurnID]bool // turns without a body
	names map[string][]dag.TurnID
	convs map[dag.ConversationID]*store.Conversation
	links map[dag.ConversationID][]dag.Link // by conversation of the parent
}

// few is a page size that makes small stores take several pages, too.
const few = 7

func (c *checker) readHead() (err error) {
	c.head, err = c.s.Head(c.ctx, c.tenant)
	return err
}

func (c *checker) scan() error {
	last := dag.Seq(0)
	return c.s.Scan(c.ctx, c.tenant, 0, nil, func(r *store.Record) error {
		if r.Seq <= last || r.Seq > c.head {
			return fmt.Errorf("turn %s has number %d, after %d and with head %d", r.Turn.ID, r.Seq, last, c.head)
		}
		last = r.Seq
		if c.byID[r.Turn.ID] != nil {
			return fmt.Errorf("turn %s stands twice", r.Turn.ID)
		}
		if err := c.record(r); err != nil {
			return fmt.Errorf("turn %s, number %d: %w", r.Turn.ID, r.Seq, err)
		}
		return nil
	})
}

func (c *checker) record(r *store.Record) error {
	if err := r.Turn.Check(); err != nil {
		return err
	}
	if leaf := slice.TurnLeaf(&r.Turn); leaf != r.Leaf {
		return fmt.Errorf("leaf is %s, stored is %s", leaf, r.Leaf)
	}
	if err := c.body(r); err != nil {
		return err
	}
	sk := &dag.Skeleton{
		Seq: r.Seq, ID: r.Turn.ID, Conversation: r.Turn.Conversation, CreatedAt: r.Turn.CreatedAt, Salience: r.Turn.Salience,
		Role: r.Turn.Role, Phase: r.Turn.Phase, Leaf: r.Leaf, Parents: slices.Clone(r.Parents),
	}
	seen := map[dag.TurnID]bool{}
	for _, p := range r.Parents {
		parent := c.byID[p.ID] // read before, so numbered below
		switch {
		case parent == nil:
			return fmt.Errorf("parent %s has no smaller number", p.ID)
		case seen[p.ID]:
			return fmt.Errorf("parent %s stands twice", p.ID)
		case parent.Conversation != p.Conversation:
			return fmt.Errorf("parent %s is in conversation %s, stored as %s", p.ID, parent.Conversation, p.Conversation)
		case p.Leaf != slice.EdgeLeaf(dag.Edge{Parent: p.ID, Child: r.Turn.ID, Kind: p.Kind}):
			return fmt.Errorf("edge from %s has another leaf than is stored", p.ID)
		}
		seen[p.ID] = true
		if p.Conversation != r.Turn.Conversation {
			c.links[p.Conversation] = append(c.links[p.Conversation], dag.Link{Parent: p.ID, Child: sk.ID, ChildConversation: sk.Conversation, Seq: sk.Seq})
		}
	}
	c.all = append(c.all, sk)
	c.byID[sk.ID] = sk
	c.count(sk)
	return nil
}

func (c *checker) body(r *store.Record) error {
	if r.Body == nil {
		if r.Salt != (dag.Salt{}) || r.External != "" {
			return fmt.Errorf("has no body, but a salt or an external id")
		}
		c.gone[r.Turn.ID] = true
		return nil
	}
	if d := slice.DigestBody(r.Body, r.Salt); d != r.Turn.BodyDigest {
		return fmt.Errorf("body digest is %s, stored is %s", d, r.Turn.BodyDigest)
	}
	body, err := slice.ParseBody(r.Body)
	if err != nil {
		return err
	}
	if name := body.Attrs[dag.AttrExternalID]; name != r.External {
		return fmt.Errorf("external id is %q, stored is %q", name, r.External)
	}
	if r.External != "" {
		c.names[r.External] = append(c.names[r.External], r.Turn.ID)
	}
	return nil
}

func (c *checker) count(sk *dag.Skeleton) {
	conv := c.convs[sk.Conversation]
	if conv == nil {
		conv = &store.Conversation{ID: sk.Conversation, First: sk.Seq, FirstAt: sk.CreatedAt}
		c.convs[sk.Conversation] = conv
	}
	conv.Turns++
	conv.Last = sk.Seq
	conv.FirstAt = min(conv.FirstAt, sk.CreatedAt)
	conv.LastAt = max(conv.LastAt, sk.CreatedAt)
}

func (c *checker) events() error {
	taken := map[dag.Seq]bool{}
	for _, sk := range c.all {
		taken[sk.Seq] = true
	}
	erased := map[dag.TurnID]bool{}
	for after := dag.Seq(0); ; {
		page, err := c.s.Events(c.ctx, c.tenant, after, few)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			switch {
			case e.Seq <= after || taken[e.Seq]:
				return fmt.Errorf("event has number %d after %d, or shares it with a turn", e.Seq, after)
			case e.Kind != store.Erasure || c.byID[e.Turn] == nil || !c.gone[e.Turn] || erased[e.Turn]:
				return fmt.Errorf("event %d is a second one, or turn %s exists not or not without a body", e.Seq, e.Turn)
			}
			after, taken[e.Seq], erased[e.Turn] = e.Seq, true, true
		}
	}
	for seq := dag.Seq(1); seq <= c.head; seq++ {
		if !taken[seq] {
			return fmt.Errorf("number %d is neither a turn's nor an event's; head is %d", seq, c.head)
		}
	}
	if len(taken) != int(c.head) {
		return fmt.Errorf("%d numbers are in use, head is %d", len(taken), c.head)
	}
	return nil
}

// turns asks for every turn, and for one that does not exist.
func (c *checker) turns() error {
	for page := range slices.Chunk(c.all, 5*few) {
		ids := []dag.TurnID{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
		for _, sk := range page {
			ids = append(ids, sk.ID)
		}
		records, err := c.s.Turns(c.ctx, c.tenant, ids)
		if err != nil {
			return err
		}
		if len(records) != len(page) {
			return fmt.Errorf("%d of %d turns were found", len(records), len(page))
		}
		for _, r := range records {
			sk := c.byID[r.Turn.ID]
			if sk == nil || r.Seq != sk.Seq || r.Leaf != sk.Leaf || r.Leaf != slice.TurnLeaf(&r.Turn) || !sameList(r.Parents, sk.Parents) {
				return fmt.Errorf("turn %s differs from the scan's", r.Turn.ID)
			}
			if (r.Body == nil) != c.gone[r.Turn.ID] || r.Body != nil && slice.DigestBody(r.Body, r.Salt) != r.Turn.BodyDigest {
				return fmt.Errorf("turn %s has another body than the scan's", r.Turn.ID)
			}
		}
	}
	return nil
}

func (c *checker) sortedConversations() []dag.ConversationID {
	return slices.SortedFunc(maps.Keys(c.convs), dag.ConversationID.Compare)
}

func (c *checker) conversations() error {
	want := c.sortedConversations()
	after := dag.ConversationID{}
	for len(want) > 0 {
		page, err := c.s.Conversations(c.ctx, c.tenant, after, few)
		if err != nil {
			return err
		}
		if len(page) != min(few, len(want)) {
			return fmt.Errorf("%d conversations after %s, want %d", len(page), after, min(few, len(want)))
		}
		for _, got := range page {
			if got != *c.convs[want[0]] {
				return fmt.Errorf("got %+v, want %+v", got, *c.convs[want[0]])
			}
			after, want = got.ID, want[1:]
		}
	}
	page, err := c.s.Conversations(c.ctx, c.tenant, after, few)
	if err == nil && len(page) > 0 {
		err = fmt.Errorf("conversation %s has no turn", page[0].ID)
	}
	return err
}

// segments asks for each conversation alone, from the beginning and from its
// middle, and for all of them at once.
func (c *checker) segments() error {
	var parts []store.Part
	for _, id := range c.sortedConversations() {
		middle := c.convs[id].First + (c.convs[id].Last-c.convs[id].First)/2
		for _, after := range []dag.Seq{0, middle, c.head} {
			if err := c.segment(store.Part{Conversation: id, After: after}); err != nil {
				return err
			}
		}
		parts = append(parts, store.Part{Conversation: id, After: middle})
	}
	return c.segment(parts...)
}

func (c *checker) segment(parts ...store.Part) error {
	seg, err := c.s.Segment(c.ctx, c.tenant, parts)
	if err != nil {
		return err
	}
	if seg.Head != c.head {
		return fmt.Errorf("head is %d, want %d", seg.Head, c.head)
	}
	after := map[dag.ConversationID]dag.Seq{}
	var links []dag.Link
	for _, p := range parts {
		after[p.Conversation] = p.After
		for _, l := range c.links[p.Conversation] {
			if l.Seq > p.After {
				links = append(links, l)
			}
		}
	}
	turns := slices.Collect(func(yield func(dag.Skeleton) bool) {
		for _, sk := range c.all {
			if from, ok := after[sk.Conversation]; ok && sk.Seq > from && !yield(*sk) {
				return
			}
		}
	})
	if len(seg.Turns) != len(turns) {
		return fmt.Errorf("%v: %d turns, want %d", parts, len(seg.Turns), len(turns))
	}
	for i, got := range seg.Turns {
		want := turns[i]
		if !sameList(got.Parents, want.Parents) {
			return fmt.Errorf("turn %s has parents %v, want %v", got.ID, got.Parents, want.Parents)
		}
		got.Parents, want.Parents = nil, nil
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
	}
	for i := range seg.Links[min(1, len(seg.Links)):] {
		if seg.Links[i].Seq > seg.Links[i+1].Seq {
			return fmt.Errorf("links are not by ascending number")
		}
	}
	got := slices.SortedFunc(slices.Values(seg.Links), compareLinks)
	slices.SortFunc(links, compareLinks)
	if !sameList(got, links) {
		return fmt.Errorf("%v: links %v, want %v", parts, got, links)
	}
	return nil
}

func compareLinks(a, b dag.Link) int {
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Parent.Compare(b.Parent))
}

// sameList compares without telling nil from empty.
func sameList[T comparable](a, b []T) bool { return slices.Equal(a, b) }

// match asks for some turns by their whole name and for all by the first digit.
func (c *checker) match() error {
	var want [16][]dag.TurnID
	for i, sk := range c.all {
		want[sk.ID[0]>>4] = append(want[sk.ID[0]>>4], sk.ID)
		if i%101 != 0 {
			continue
		}
		if got, err := c.s.Match(c.ctx, c.tenant, sk.ID.String(), 2); err != nil || len(got) != 1 || got[0] != sk.ID {
			return fmt.Errorf("%s gives %v, %v", sk.ID, got, err)
		}
	}
	for digit, ids := range want {
		slices.SortFunc(ids, dag.TurnID.Compare)
		got, err := c.s.Match(c.ctx, c.tenant, fmt.Sprintf("%x", digit), len(c.all)+1)
		if err != nil {
			return err
		}
		if !sameList(got, ids) {
			return fmt.Errorf("prefix %x gives %d turns, want %d", digit, len(got), len(ids))
		}
	}
	return nil
}

func (c *checker) external() error {
	for _, name := range slices.Sorted(maps.Keys(c.names)) {
		ids := c.names[name]
		slices.SortFunc(ids, dag.TurnID.Compare)
		got, err := c.s.External(c.ctx, c.tenant, name, len(ids)+1)
		if err != nil {
			return err
		}
		if !sameList(got, ids) {
			return fmt.Errorf("%q gives %v, want %v", name, got, ids)
		}
	}
	return nil
}

func (c *checker) policies() error {
	registry, err := c.s.Policies(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	for _, p := range registry.All() {
		params := p.Params()
		if hash := params.Hash(); hash != p.Hash() {
			return fmt.Errorf("policy %s has hash %s, stored is %s", p.ID(), hash, p.Hash())
		}
	}
	return nil
}

func (c *checker) issued() error {
	bundles := map[dag.Digest]bool{}
	bySlice := map[slice.SliceID][]store.Issued{}
	last := uint64(0)
	for {
		page, err := c.s.IssuedAfter(c.ctx, c.tenant, last, few)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, i := range page {
			if i.Number != last+1 || bundles[i.Bundle] {
				return fmt.Errorf("number %d follows %d, or its bundle is recorded twice", i.Number, last)
			}
			if err := i.Provenance.Check(); err != nil {
				return fmt.Errorf("number %d: %w", i.Number, err)
			}
			last, bundles[i.Bundle] = i.Number, true
			bySlice[i.Provenance.SliceID] = append(bySlice[i.Provenance.SliceID], i)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(bySlice)) {
		got, err := c.s.IssuedByID(c.ctx, c.tenant, id)
		if err != nil {
			return err
		}
		if !sameList(got, bySlice[id]) {
			return fmt.Errorf("slice %s has %d records, want %d", id, len(got), len(bySlice[id]))
		}
	}
	return nil
}

func (c *checker) keys() error {
	list, err := c.s.Keys(c.ctx, c.tenant)
	if err != nil {
		return err
	}
	if len(list) > store.MaxKeys {
		return fmt.Errorf("%d keys, want at most %d", len(list), store.MaxKeys)
	}
	hashes := map[[32]byte]bool{}
	for i, k := range list {
		switch err := k.Check(); {
		case err != nil:
			return err
		case k.Tenant != c.tenant:
			return fmt.Errorf("key %s is of tenant %s", k.ID, k.Tenant)
		case i > 0 && store.CompareKeys(list[i-1], k) >= 0:
			return fmt.Errorf("key %s follows %s", k.ID, list[i-1].ID)
		case hashes[k.Hash]:
			return fmt.Errorf("key %s has the hash of another", k.ID)
		}
		hashes[k.Hash] = true
		if got, err := c.s.Key(c.ctx, c.tenant, k.ID); err != nil || got != k {
			return fmt.Errorf("key %s alone is %+v, %v, in the list %+v", k.ID, got, err, k)
		}
	}
	return nil
}
