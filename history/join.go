package history

import (
	"cmp"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// Join returns one change made of several, which plan from the same state. Each sees the answers to its own ranges only.
func Join(list ...Change) Change {
	if len(list) == 1 {
		return list[0]
	}
	return &joined{list: list}
}

// With returns a change that plans first, and then the changes that act with it. Each of them sees the head and
// the size of the record that the changes before it leave. If first plans no entries, the others plan nothing.
func With(first Change, then ...Change) Change {
	if len(then) == 0 {
		return first
	}
	return &joined{list: append([]Change{first}, then...), follow: true}
}

type joined struct {
	list   []Change
	follow bool
	spans  [][]span // for each change, its spans of State.Ranges
}

type span struct{ from, n int }

// view returns the state that the change with the index i sees.
func (c *joined) view(k *State, i int) *State {
	own := *k
	own.Ranges = nil
	if i < len(c.spans) {
		for _, s := range c.spans[i] {
			own.Ranges = append(own.Ranges, k.Ranges[s.from:s.from+s.n]...)
		}
	}
	return &own
}

func (c *joined) Needs(k *State) (n Needs) {
	if k.Round == 0 {
		c.spans = make([][]span, len(c.list))
	}
	for i, one := range c.list {
		more := one.Needs(c.view(k, i))
		c.spans[i] = append(c.spans[i], span{len(k.Ranges) + len(n.Ranges), len(more.Ranges)})
		n.Newest, n.Ranges, n.Size = append(n.Newest, more.Newest...), append(n.Ranges, more.Ranges...), n.Size || more.Size
		n.Entries, n.Records = append(n.Entries, more.Entries...), append(n.Records, more.Records...)
		n.Turns, n.Snapshots = append(n.Turns, more.Turns...), append(n.Snapshots, more.Snapshots...)
	}
	return n
}

func (c *joined) Plan(k *State) (*Plan, error) {
	all := &Plan{}
	for i, one := range c.list {
		own := c.view(k, i)
		if c.follow {
			own.Head, own.Size = all.Head(k.Head), k.Size+dag.Seq(len(all.Records))
		}
		p, err := one.Plan(own)
		if err != nil {
			return nil, err
		}
		all.add(p)
		if c.follow && len(all.Entries) == 0 {
			break
		}
	}
	bySeq := func(a, b Entry) int { return cmp.Compare(a.Seq, b.Seq) }
	slices.SortFunc(all.Entries, bySeq)
	slices.SortFunc(all.Records, bySeq)
	return all, nil
}

func (p *Plan) add(o *Plan) {
	p.Entries, p.Records = append(p.Entries, o.Entries...), append(p.Records, o.Records...)
	p.Begin, p.End = append(p.Begin, o.Begin...), append(p.End, o.End...)
	p.Forget, p.ForgetRecords = append(p.Forget, o.Forget...), append(p.ForgetRecords, o.ForgetRecords...)
	p.Snapshots = append(p.Snapshots, o.Snapshots...)
	p.Bodies, p.Erases = append(p.Bodies, o.Bodies...), p.Erases || o.Erases
}
