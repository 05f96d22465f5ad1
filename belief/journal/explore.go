package journal

import (
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// An exploring asks, round by round, for the elements that rules connect with some slots, and for the states of their items.
type exploring struct {
	space  belief.Space
	tags   []string             // tags of an item that belong to its state
	asked  map[belief.Slot]bool // slots whose elements were asked for
	of     map[belief.Item]bool // items whose state was asked for
	linked map[string]bool      // revisions whose incoming links were asked for
	turns  map[dag.TurnID]bool  // turns whose state was asked for
	read   map[dag.Seq]bool     // entries that were asked for

	revisions map[dag.Seq]*Revision // revisions read from entries; they must not be changed
}

func (x *exploring) begin(space belief.Space, tags ...string) {
	*x = exploring{space, append(slices.Clip(tags), Published), map[belief.Slot]bool{}, map[belief.Item]bool{}, map[string]bool{}, map[dag.TurnID]bool{}, map[dag.Seq]bool{}, map[dag.Seq]*Revision{}}
}

// ask asks for the elements of slots and the states of items that were not yet asked for.
func (x *exploring) ask(n *history.Needs, slots []belief.Slot, items []belief.Item) {
	for _, s := range slots {
		if !x.asked[s] {
			x.asked[s] = true
			n.Ranges = append(n.Ranges, history.Range{Index: indexElements, Prefix: slotPrefix(x.space, s), AsOf: history.Forever - 1})
		}
	}
	for _, item := range items {
		if !x.of[item] {
			x.of[item] = true
			n.Newest = append(n.Newest, keysOf(item, x.tags...)...)
		}
	}
}

// more asks for what the elements found so far lead to. It ignores damaged terms and entries, which planning reports.
func (x *exploring) more(k *history.State) (n history.Needs) {
	for _, seq := range entriesOf(termsOf(k, indexElements)) {
		if _, ok := k.Entries[seq]; !ok && !x.read[seq] {
			x.read[seq] = true
			n.Entries = append(n.Entries, seq)
		}
	}
	if len(n.Entries) > 0 {
		return n
	}
	parts, err := x.near(k)
	if err != nil || len(parts) > MaxNeighbours {
		return n
	}
	for _, p := range parts {
		x.ask(&n, p.Stated().slots(), []belief.Item{p.Revision.Item})
		x.know(&n, p.Revision)
		if address := p.Revision.Address().String(); !x.linked[address] {
			x.linked[address] = true
			n.Ranges = append(n.Ranges, history.Range{Index: indexLinked, Prefix: linkKey(address)})
		}
	}
	want := map[dag.Seq]bool{}
	for _, seq := range x.current(k) {
		want[seq] = true
	}
	for _, t := range termsOf(k, indexLinked) {
		want[t.Since] = true
	}
	for seq := range want {
		if _, ok := k.Entries[seq]; !ok && !x.read[seq] {
			x.read[seq] = true
			n.Entries = append(n.Entries, seq)
		}
	}
	slices.Sort(n.Entries)
	for _, seq := range x.current(k) {
		if e, ok := k.Entries[seq]; ok {
			if r, err := readOnce(x.revisions, &e); err == nil {
				x.know(&n, r)
			}
		}
	}
	return n
}

// current returns the numbers of the entries of the items' current revisions.
func (x *exploring) current(k *history.State) (list []dag.Seq) {
	for item := range x.of {
		if seq, err := currentOf(k, item); err == nil && seq != 0 {
			list = append(list, seq)
		}
	}
	slices.Sort(list)
	return list
}

// slots returns the slots that the statement connects: its own and those of its premises.
func (s *Stated) slots() []belief.Slot {
	list := []belief.Slot{s.Slot()}
	for _, p := range s.Premises {
		list = append(list, p.Slot())
	}
	return list
}

func termsOf(k *history.State, index history.Index) (list []history.Term) {
	for _, some := range k.Ranges {
		for i := range some {
			if some[i].Index == index {
				list = append(list, some[i])
			}
		}
	}
	return list
}

// readOnce returns the revision of an entry. It caches the revisions that it reads in revisions.
func readOnce(revisions map[dag.Seq]*Revision, e *history.Entry) (r *Revision, err error) {
	r, ok := revisions[e.Seq]
	if !ok {
		if r, err = ReadRevision(e); err == nil {
			revisions[e.Seq] = r
		}
	}
	return r, err
}

// near returns the elements found so far, in the order of their revisions. The entries of the revisions must have been asked for.
func (x *exploring) near(k *history.State) ([]Part, error) {
	terms := termsOf(k, indexElements)
	held, err := believed(terms, x.revisions, k.Entries)
	if err != nil {
		return nil, err
	}
	for _, seq := range entriesOf(terms) {
		if x.revisions[seq].Erased {
			return nil, fmt.Errorf("%w: number %d is a believed revision but was erased", history.ErrDamaged, seq)
		}
	}
	list := make([]Part, len(held))
	for i := range held {
		list[i] = held[i].Part
	}
	return list, nil
}

// A base contains elements and the revisions that they come from.
type base struct {
	all      belief.Base
	elements belief.Base         // the operator decides with these: all elements, minus the elements of an item that the request replaces
	from     map[dag.Digest]Part // by the id in the element's rank
}

// explored returns the elements that an exploring has found, and adds the states of its items to the folding.
func (f *folding) explored(k *history.State, x *exploring) (*base, error) {
	parts, err := x.near(k)
	if err != nil {
		return nil, err
	}
	if len(parts) > MaxNeighbours {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrTooWide, len(parts), MaxNeighbours)
	}
	f.revisions = x.revisions
	for item := range x.of {
		if err := f.know(k, item, x.tags...); err != nil {
			return nil, err
		}
	}
	b := &base{from: map[dag.Digest]Part{}}
	for _, p := range parts {
		e := p.element(f.guards(p.Revision))
		b.elements, b.from[e.Rank.ID] = append(b.elements, e), p
	}
	b.all = b.elements
	return b, nil
}
