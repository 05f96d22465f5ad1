package space

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Limits of a walk over links.
const (
	mostLinked = 1000
	farthest   = 20
)

// Directions of links.
const (
	linksFrom = "from"
	linksTo   = "to"
)

// Links returns the links of a memory, over some steps, or the shortest way to another memory. Its cost is that of reading the items that are reached.
func (k Memories) Links(ctx context.Context, tenant dag.Tenant, in api.LinksQuery) (out api.LinkedMemories, _ error) {
	of, err := k.found(ctx, tenant, in.MemoryName)
	if err != nil {
		return out, err
	}
	out = api.LinkedMemories{Of: of.Memory, Links: []api.MemoryLink{}}
	var until belief.Item
	if in.Until != "" {
		m, err := k.named(ctx, tenant, in.Until)
		if err != nil {
			return out, err
		}
		if m.revision == nil || of.revision != nil && m.revision.Item == of.revision.Item {
			return out, malformed("no way leads to %s: it is %s", in.Until, map[bool]string{true: "a proposal that waits, which has no links", false: "the same memory"}[m.revision == nil])
		}
		until = m.revision.Item
	}
	if of.revision == nil { // a proposal that waits has no revision
		return out, nil
	}
	w := walk{k, tenant, &in, map[belief.Item]*api.MemoryLink{of.revision.Item: nil}, map[dag.Seq]bool{}}
	depth := cmp.Or(in.Depth, map[bool]int{true: farthest, false: 1}[until != ""])
	next := []belief.Item{of.revision.Item}
	for step := 1; step <= depth && len(next) > 0 && !out.Cut; step++ {
		links, reached, err := w.step(ctx, next, step)
		if err != nil {
			return out, err
		}
		out.Links = append(out.Links, links...)
		if len(out.Links) > mostLinked {
			out.Links, out.Cut = out.Links[:mostLinked], true
		}
		if w.way[until] != nil {
			break
		}
		next = reached
	}
	if until == "" {
		return out, nil
	}
	cut := out.Cut
	if out.Links, out.Cut = w.back(until), false; len(out.Links) == 0 && cut {
		return out, fmt.Errorf("%w: no way leads from %s to %s over the nearest %d links, and there are more; name a type or a direction", journal.ErrTooWide, of.ID, in.Until, mostLinked)
	} else if len(out.Links) == 0 {
		return out, fmt.Errorf("%w: no way over at most %d links leads from %s to %s", journal.ErrNoItem, depth, of.ID, in.Until)
	}
	return out, nil
}

// A walk follows links from memory to memory.
type walk struct {
	Memories
	tenant dag.Tenant
	asked  *api.LinksQuery
	way    map[belief.Item]*api.MemoryLink // the link over which an item was reached first; nil for the beginning
	seen   map[dag.Seq]bool                // links
}

// step returns the links of some items that were not returned before, and the items that were not reached before.
func (w *walk) step(ctx context.Context, items []belief.Item, depth int) (links []api.MemoryLink, reached []belief.Item, _ error) {
	var addresses []string
	for _, item := range items {
		record, err := w.journal().Item(ctx, w.tenant, item, history.Forever-1)
		if err != nil {
			return nil, nil, err
		}
		for _, r := range record.Revisions {
			addresses = append(addresses, r.Address().String())
		}
	}
	var found []*journal.Link
	back := map[dag.Seq]bool{}
	for _, incoming := range []bool{false, true} {
		if w.asked.Direction == linksFrom && incoming || w.asked.Direction == linksTo && !incoming {
			continue
		}
		lists, err := w.journal().Links(ctx, w.tenant, addresses, incoming, history.Forever-1)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range slices.Concat(lists...) {
			if !w.seen[l.Seq] && (w.asked.Type == "" || l.Type == w.asked.Type) {
				w.seen[l.Seq], back[l.Seq] = true, incoming
				found = append(found, l)
			}
		}
	}
	slices.SortFunc(found, func(a, b *journal.Link) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, l := range found {
		one := api.MemoryLink{From: l.From.String(), Type: l.Type, To: l.To, Depth: depth, Back: back[l.Seq]}
		end := l.From
		if !one.Back {
			var err error
			if end, err = belief.ParseAddress(l.To); err != nil { // a turn, or a slice
				links = append(links, one)
				continue
			}
		}
		if ScopeOf(ctx).Check(end.Item.Space()) != nil { // not for this caller, and neither is that there is a link
			continue
		}
		kref, err := w.catalog().Kref(ctx, w.tenant, belief.Address{Item: end.Item})
		if err != nil {
			return nil, nil, err
		}
		m, err := w.byItem(ctx, w.tenant, end.Item)
		if err != nil {
			return nil, nil, err
		}
		one.Memory, one.Ended = &m.Memory, kref.Record.Deprecated || kref.Revision == nil
		links = append(links, one)
		if _, was := w.way[end.Item]; !was {
			w.way[end.Item] = &one
			reached = append(reached, end.Item)
		}
	}
	return links, reached, nil
}

// back returns the links over which an item was reached, from the beginning on.
func (w *walk) back(to belief.Item) (list []api.MemoryLink) {
	for l := w.way[to]; l != nil; l = w.way[to] {
		list = append(list, *l)
		near := l.To
		if !l.Back {
			near = l.From
		}
		a, err := belief.ParseAddress(near)
		if err != nil {
			return nil
		}
		to = a.Item
	}
	slices.Reverse(list)
	return list
}
