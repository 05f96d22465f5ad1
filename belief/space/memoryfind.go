package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// of returns the memories of a space as of a number, the newest first; 0 is the present.
func (k Memories) of(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) ([]heldMemory, error) {
	asOf, err := k.kernel.AsOf(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	if _, err := k.spaceOf(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	course, err := k.kernel.Course(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	var list []heldMemory
	var last *journal.Revision
	for i := range held { // in the order of their revisions
		if r := held[i].Revision; r != last {
			last = r
			list = append(list, heldMemory{Memory: memoryOf(r, course), revision: r})
		}
	}
	slices.Reverse(list)
	return list, nil
}

// waiting returns the proposals of a space that wait, the newest first.
func (k Memories) waiting(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (list []heldMemory, _ error) {
	waits, err := k.journal().Conflicts(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	for _, c := range slices.Backward(waits) {
		if c.Erased {
			continue
		}
		m := heldMemory{Memory: waitingMemory(c), conflict: c}
		for _, with := range c.With {
			record, err := k.journal().Item(ctx, tenant, with.Item, asOf)
			if err != nil {
				return nil, err
			}
			if old := record.Numbered(with.Revision); old != nil && !old.Erased {
				m.Ends = append(m.Ends, textOf(old))
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// spaces returns the spaces that a caller may see, ascending, or the one that is named.
func (k Memories) spaces(ctx context.Context, tenant dag.Tenant, named belief.Space, asOf dag.Seq) ([]belief.Space, error) {
	if named != "" {
		return []belief.Space{named}, ScopeOf(ctx).Check(named)
	}
	all, err := k.journal().Spaces(ctx, tenant, asOf)
	if err != nil {
		return nil, err
	}
	var list []belief.Space
	for space := range all {
		if ScopeOf(ctx).Sees(string(space)) {
			list = append(list, space)
		}
	}
	slices.Sort(list)
	return list, nil
}

// List returns the memories of a project, or of all projects: with words the matching memories, the best first; without words all memories, the newest first.
func (k Memories) List(ctx context.Context, tenant dag.Tenant, in api.MemoriesQuery) (out api.Memories, err error) {
	ctx, observed := k.kernel.Observe(ctx, "memories")
	defer func() { observed(err) }()
	after, asOf, err := in.InView(in.AsOf)
	if err != nil {
		return out, err
	}
	if asOf, err = k.kernel.AsOf(ctx, tenant, asOf); err != nil {
		return out, err
	}
	list, err := k.all(ctx, tenant, in.Project, asOf, in.Proposed)
	if err != nil {
		return out, err
	}
	kind := kindNamed(in.Kind)
	list = slices.DeleteFunc(list, func(m heldMemory) bool {
		return kind != "" && m.Kind != kind || in.Proposed && !m.Proposed || in.Around != "" && m.Project.OfProject() && m.Project != in.Around && m.Project != api.General
	})
	if kind != "" && len(list) == 0 {
		if err := kinds.Default().Allow(kind); err != nil {
			return out, err
		}
	}
	if in.Words != "" {
		if list, err = k.search(ctx, tenant, in.Words, list); err != nil {
			return out, err
		}
	}
	out.Memories = []api.Memory{}
	for i := int(min(after, dag.Seq(len(list)))); i < len(list); i++ { //nolint:gosec // at most the length
		if len(out.Memories) == in.Size() {
			out.Next = api.NextInView(dag.Seq(i), asOf) //nolint:gosec // an index
			break
		}
		out.Memories = append(out.Memories, list[i].Memory)
	}
	return out, nil
}

// kindNamed returns the kind that a name stands for: a rule is a hard_rule.
func kindNamed(name string) string {
	if name == "rule" {
		return "hard_rule"
	}
	return name
}

// all returns the memories of a project, or of all spaces that the caller may see, the newest first. A project that has no space yet has none.
func (k Memories) all(ctx context.Context, tenant dag.Tenant, project belief.Space, asOf dag.Seq, waiting bool) (list []heldMemory, _ error) {
	spaces, err := k.spaces(ctx, tenant, project, asOf)
	if err != nil {
		return nil, err
	}
	for _, space := range spaces {
		some, err := k.of(ctx, tenant, space, asOf)
		if errors.Is(err, journal.ErrSpace) && project != "" {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
		if waiting {
			if some, err = k.waiting(ctx, tenant, space, asOf); err != nil {
				return nil, err
			}
			list = append(list, some...)
		}
	}
	slices.SortStableFunc(list, func(a, b heldMemory) int { return cmp.Compare(b.seq(), a.seq()) })
	return list, nil
}

func (m *heldMemory) seq() dag.Seq {
	if m.conflict != nil {
		return m.conflict.Seq
	}
	return m.revision.Seq
}

// shortestID is the least number of characters of a beginning of an id.
const shortestID = 4

// named returns the memory that an id, a beginning of one or an address names. It need not hold any more.
func (k Memories) named(ctx context.Context, tenant dag.Tenant, id string) (m heldMemory, _ error) {
	if belief.IsAddress(id) {
		a, err := belief.ParseAddress(id)
		if err != nil {
			return m, err
		}
		return k.byItem(ctx, tenant, a.Item)
	}
	spaces, err := k.spaces(ctx, tenant, "", history.Forever-1)
	if err != nil {
		return m, err
	}
	if n, err := strconv.ParseUint(strings.TrimPrefix(id, waitingID), 10, 64); err == nil && strings.HasPrefix(id, waitingID) {
		for _, space := range spaces {
			waits, err := k.waiting(ctx, tenant, space, history.Forever-1)
			if err != nil {
				return m, err
			}
			for _, w := range waits {
				if w.conflict.Seq == dag.Seq(n) {
					return w, nil
				}
			}
		}
		return m, fmt.Errorf("%w: no proposal %s waits", journal.ErrNoItem, id)
	}
	if len(id) < shortestID {
		return m, malformed("the id %q, want at least its first %d characters", id, shortestID)
	}
	for _, begin := range [...]string{id + ".", id} { // the whole name first
		var found []belief.Item
		for _, space := range spaces {
			names, err := k.journal().Names(ctx, tenant, space, begin, 2, history.Forever-1)
			if err != nil {
				return m, err
			}
			for _, item := range names {
				if strings.HasPrefix(item.Name(), begin) {
					found = append(found, item)
				}
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return k.byItem(ctx, tenant, found[0])
		}
		return m, malformed("%q names several memories, such as %s and %s; give more of an id, or an address", id, found[0], found[1])
	}
	return m, fmt.Errorf("%w: no memory has the id %.80q; list them with their ids", journal.ErrNoItem, id)
}

// byItem returns the memory that an item is, with its newest revision if none is believed.
func (k Memories) byItem(ctx context.Context, tenant dag.Tenant, item belief.Item) (m heldMemory, _ error) {
	kref, err := k.catalog().Kref(ctx, tenant, belief.Address{Item: item})
	if err != nil {
		return m, err
	}
	newest := kref.Record.Revisions[len(kref.Record.Revisions)-1]
	r := cmp.Or(kref.Revision, newest)
	course, err := k.kernel.Course(ctx, tenant, 0)
	return heldMemory{Memory: memoryOf(r, course), revision: r, newest: newest.Number}, err
}

// found returns the memory that a query names.
func (k Memories) found(ctx context.Context, tenant dag.Tenant, in api.MemoryName) (m heldMemory, err error) {
	switch {
	case (in.ID == "") == (in.Words == ""):
		return m, malformed("give the id of a memory, or words that find it")
	case in.ID != "":
		return k.named(ctx, tenant, in.ID)
	}
	list, err := k.all(ctx, tenant, in.Project, 0, true)
	if err == nil {
		list, err = k.search(ctx, tenant, in.Words, list)
	}
	if err == nil && len(list) == 0 {
		if list, err = k.over(ctx, tenant, in.Project); err == nil {
			list, err = k.search(ctx, tenant, in.Words, list)
		}
	}
	if err != nil {
		return m, err
	}
	if len(list) == 0 {
		return m, fmt.Errorf("%w: nothing that is remembered matches %.80q", journal.ErrNoItem, in.Words)
	}
	return list[0], nil
}

// over returns the memories of a project, or of all spaces, that hold no longer, except those whose text was erased.
func (k Memories) over(ctx context.Context, tenant dag.Tenant, project belief.Space) (list []heldMemory, _ error) {
	spaces, err := k.spaces(ctx, tenant, project, history.Forever-1)
	if err != nil {
		return nil, err
	}
	const some = 1000
	for _, space := range spaces {
		for after, more := "", true; more; {
			names, err := k.journal().Names(ctx, tenant, space, after, some, history.Forever-1)
			if err != nil {
				return nil, err
			}
			now, err := k.journal().Now(ctx, tenant, names, history.Forever-1)
			if err != nil {
				return nil, err
			}
			for _, item := range now {
				if item.Current != nil && !item.Deprecated {
					continue
				}
				m, err := k.byItem(ctx, tenant, item.Item)
				if err != nil {
					return nil, err
				}
				if !m.revision.Erased {
					list = append(list, m)
				}
			}
			if more = len(names) == some; more {
				after = names[some-1].Name()
			}
		}
	}
	slices.SortStableFunc(list, func(a, b heldMemory) int { return cmp.Compare(b.seq(), a.seq()) })
	return list, nil
}
