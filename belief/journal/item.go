package journal

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// A Tagged is a period in which a tag pointed to a revision.
type Tagged struct {
	Name         string
	Number       int
	Since, Until dag.Seq // Until is history.Forever if the period has not ended

	entry dag.Seq // of the revision
}

// An ItemRecord contains the records of an item as of a number.
type ItemRecord struct {
	Item       belief.Item
	Revisions  []*Revision // ascending
	Tags       []Tagged    // by name and time
	Deprecated bool        // as of the number

	lapses []dag.Seq // the numbers at which it was deprecated or restored
}

// Item returns the record of an item as of a number. The error is ErrNoItem if the item did not exist.
func (b Items) Item(ctx context.Context, tenant dag.Tenant, item belief.Item, asOf dag.Seq) (*ItemRecord, error) {
	h, err := b.ItemHistory(ctx, tenant, item)
	if err != nil {
		return nil, err
	}
	return h.AsOf(asOf)
}

// An ItemHistory contains the records of an item as of every number. It is immutable.
type ItemHistory struct {
	item      belief.Item
	revisions []*Revision    // ascending
	tags      []Tagged       // by name and time
	lapsed    []history.Term // periods in which it is deprecated
	lapses    []dag.Seq
}

// ItemHistory returns all records of an item. There may be none.
func (b Items) ItemHistory(ctx context.Context, tenant dag.Tenant, item belief.Item) (*ItemHistory, error) {
	key := keyBytes(item.Key())
	lists, err := b.Terms(ctx, tenant, []history.Range{{Index: indexRevisions, Prefix: key}, {Index: indexTags, Prefix: key}, {Index: indexLapsed, Prefix: key}})
	if err != nil {
		return nil, err
	}
	h := &ItemHistory{item: item, lapsed: lists[2]}
	numbers := make([]dag.Seq, len(lists[0]))
	for i := range lists[0] {
		numbers[i] = lists[0][i].Since
	}
	entries, err := b.entriesAt(ctx, tenant, numbers)
	if err != nil {
		return nil, err
	}
	for _, seq := range numbers {
		e := entries[seq]
		r, err := ReadRevision(&e)
		if err != nil {
			return nil, err
		}
		h.revisions = append(h.revisions, r)
	}
	for i := range lists[1] {
		t := &lists[1][i]
		p, err := readPlace(t)
		if err != nil {
			return nil, err
		}
		h.tags = append(h.tags, Tagged{Name: string(t.Key[len(key):]), Number: p.number, Since: t.Since, Until: t.Until, entry: p.entry})
	}
	for i := range h.lapsed {
		t := &h.lapsed[i]
		h.lapses = append(h.lapses, t.Since)
		if t.Until != history.Forever {
			h.lapses = append(h.lapses, t.Until)
		}
	}
	return h, nil
}

// Size returns the approximate number of bytes that the history takes in memory.
func (h *ItemHistory) Size() int {
	n := 512 + 96*len(h.tags) + 256*len(h.lapsed)
	for _, r := range h.revisions {
		n += r.Size()
	}
	return n
}

// AsOf returns the record of the item as of a number. The error is ErrNoItem if the item did not exist.
func (h *ItemHistory) AsOf(asOf dag.Seq) (*ItemRecord, error) {
	n := len(h.revisions)
	for n > 0 && h.revisions[n-1].Seq > asOf {
		n--
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoItem, h.item)
	}
	all := &ItemRecord{Item: h.item, Revisions: h.revisions[:n:n], Tags: make([]Tagged, 0, len(h.tags)), lapses: h.lapses}
	for _, t := range h.tags {
		if t.Since > asOf {
			continue
		}
		if t.Until > asOf {
			t.Until = history.Forever
		}
		all.Tags = append(all.Tags, t)
	}
	for i := range h.lapsed {
		all.Deprecated = all.Deprecated || h.lapsed[i].Seen(asOf)
	}
	return all, nil
}

// Tagged returns the revision that a tag points to; nil if there is none.
func (r *ItemRecord) Tagged(name string) *Revision {
	for _, t := range r.Tags {
		if t.Name == name && t.Until == history.Forever {
			return r.Numbered(t.Number)
		}
	}
	return nil
}

// Numbered returns a revision by its number; nil if it does not exist.
func (r *ItemRecord) Numbered(n int) *Revision {
	if n < 1 || n > len(r.Revisions) {
		return nil
	}
	return r.Revisions[n-1]
}

// An ItemNow is the state of an item as of a sequence number.
type ItemNow struct {
	Item       belief.Item
	Current    *Revision // nil: nothing is believed of it
	Deprecated bool
}

// Now returns the states of items as of a sequence number, in the order of items. It reads two ranges for each item.
func (b Items) Now(ctx context.Context, tenant dag.Tenant, items []belief.Item, asOf dag.Seq) ([]ItemNow, error) {
	list := make([]ItemNow, len(items))
	places := map[dag.Seq]int{}
	var numbers []dag.Seq
	const most = 2048
	for from := 0; from < len(items); from += most {
		var ranges []history.Range
		for _, item := range items[from:min(from+most, len(items))] {
			ranges = append(ranges, history.Range{Index: indexLapsed, Prefix: keyBytes(item.Key()), AsOf: asOf}, history.Range{Index: indexTags, Prefix: tagKey(item, Current), AsOf: asOf})
		}
		lists, err := b.Terms(ctx, tenant, ranges)
		if err != nil {
			return nil, err
		}
		for n, terms := range lists {
			at := from + n/2
			list[at].Item = items[at]
			for i := range terms {
				switch t := &terms[i]; {
				case t.Index == indexLapsed:
					list[at].Deprecated = true
				case bytes.Equal(t.Key, tagKey(items[at], Current)):
					p, err := readPlace(t)
					if err != nil {
						return nil, err
					}
					places[p.entry] = at
					numbers = append(numbers, p.entry)
				}
			}
		}
	}
	entries, err := b.entriesAt(ctx, tenant, numbers)
	if err != nil {
		return nil, err
	}
	for seq, at := range places {
		e := entries[seq]
		if list[at].Current, err = ReadRevision(&e); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Upto returns the number of the last entry of the newest change of an item that was recorded at a time or before it, 0 if there is none.
func (b Items) Upto(ctx context.Context, tenant dag.Tenant, r *ItemRecord, at dag.Time) (dag.Seq, error) {
	entries, err := b.entriesAt(ctx, tenant, r.moments())
	last := dag.Seq(0)
	for _, e := range entries {
		if e.At <= at {
			last = max(last, e.Whole())
		}
	}
	return last, err
}

// moments returns the numbers of the entries about the item except uses and links, ascending.
func (r *ItemRecord) moments() []dag.Seq {
	numbers := slices.Clone(r.lapses)
	for _, revision := range r.Revisions {
		numbers = append(numbers, revision.Seq)
	}
	for _, t := range r.Tags {
		numbers = append(numbers, t.Since)
		if t.Until != history.Forever {
			numbers = append(numbers, t.Until)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}
