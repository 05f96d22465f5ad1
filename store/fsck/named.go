package fsck

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
)

// A named is a turn with an external id, which must lead to it.
type named struct {
	id   dag.TurnID
	name string
}

const (
	// namedAtOnce is the number of named turns that the scan collects before it looks up their names, each name once.
	namedAtOnce = 512

	// fewNamed is the number of turns that are looked up by one name. If more turns have the name, those with greater ids are not checked.
	fewNamed = 64
)

// askNames looks up the collected turns by their external ids.
func askNames(c *checker) error {
	type answer struct {
		ids []dag.TurnID
		err error
	}
	answers := make(map[string]*answer, len(c.unasked))
	var names []string
	for _, n := range c.unasked {
		if answers[n.name] == nil {
			answers[n.name] = &answer{}
			names = append(names, n.name)
		}
	}
	atOnce(len(names), func(i int) {
		a := answers[names[i]]
		a.ids, a.err = c.s.Find(c.ctx, c.tenant, store.External(names[i]), fewNamed)
	})
	for _, n := range c.unasked {
		a := answers[n.name]
		if a.err != nil {
			if err := c.unreadable(turnName(n.id), a.err); err != nil {
				return err
			}
			continue
		}
		if err := leads(c, n, a.ids); err != nil {
			return err
		}
	}
	c.unasked = c.unasked[:0]
	return nil
}

// leads checks that a turn is among the turns that its name leads to. If it is the first of them, leads also checks the others.
func leads(c *checker, n named, ids []dag.TurnID) error {
	at, ok := slices.BinarySearchFunc(ids, n.id, dag.TurnID.Compare)
	if !ok && len(ids) == fewNamed && at == fewNamed {
		return nil
	}
	others := ids
	if ok {
		if at > 0 {
			return nil
		}
		others = ids[1:]
	} else {
		others = append(slices.Clone(ids), n.id)
	}
	if len(others) == 0 {
		return nil
	}
	where := turnName(n.id)
	records, err := c.s.Turns(c.ctx, c.tenant, store.IDs(others))
	if err != nil {
		return c.unreadable(where, err)
	}
	for _, other := range records {
		switch {
		case other.Body == nil: // erased meanwhile
		case other.Turn.ID == n.id:
			c.find(where, "external id", "%q leads to %d other turns and not to this turn", n.name, len(ids))
		case other.External != n.name:
			c.find(turnName(other.Turn.ID), "external id", "%q leads to it, but its external id is %q", n.name, other.External)
		}
	}
	return nil
}
