package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Abstract decides a request that makes an abstraction of originals: the revisions that Request.Incoming links to the new revision. Each
// original must be the believed revision of its item; otherwise the error is ErrChanged. If replaces is true, the items of the originals
// are deprecated in the same change, and a published original is refused. The error is belief.ErrInput if an original would give way to the
// abstraction, or if the abstraction would be a revision of an original's item.
func (b Changes) Abstract(ctx context.Context, tenant dag.Tenant, request Request, replaces bool) (*Outcome, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	c := &abstracting{operation: operation{Request: request}, replaces: replaces}
	whole, err := b.write(ctx, tenant, &step{before: &c.operation, needs: c.more, add: c.add})
	if err == nil {
		err = c.general() // a dry request records nothing, so add was not called
	}
	if err != nil {
		return nil, err
	}
	return c.outcome.in(whole), nil
}

type abstracting struct {
	operation
	replaces bool
}

// more asks for the state of the originals' items, and for their current revisions.
func (c *abstracting) more(k *history.State) (n history.Needs) {
	for _, l := range c.Incoming {
		switch a := l.From; k.Round {
		case 0:
			n.Newest = append(n.Newest, keysOf(a.Item, Published)...)
		case 1:
			if seq, err := currentOf(k, a.Item); err == nil && seq != 0 {
				n.Entries = append(n.Entries, seq)
			}
		}
	}
	return n
}

// general refuses an abstraction that contradicts an original or would be a revision of its item.
func (c *abstracting) general() error {
	for _, l := range c.Incoming {
		a := l.From
		if slices.ContainsFunc(c.outcome.GaveWay, func(l Loss) bool { return l.Revision.Item == a.Item }) && c.outcome.Result == Changed {
			return fmt.Errorf("%w: the abstraction contradicts %s, from which it is made", belief.ErrInput, a)
		}
		if c.outcome.Item == a.Item {
			return fmt.Errorf("%w: the abstraction would be a revision of %s, from which it is made; name another item", belief.ErrInput, a.Item)
		}
	}
	return nil
}

func (c *abstracting) add(k *history.State, f *folding) error {
	if c.outcome.Result != Changed {
		return nil
	}
	if err := c.general(); err != nil {
		return err
	}
	to := belief.Address{Item: c.outcome.Item, Revision: c.outcome.Revision}
	for i, l := range c.Incoming {
		if err := c.original(k, f, l.From, salts(c.Salt, "original", len(c.Incoming))[i], to); err != nil {
			return err
		}
	}
	return nil
}

// original checks that an original is believed, and deprecates its item if the abstraction replaces it. The operation did not change the
// item: general refused that.
func (c *abstracting) original(k *history.State, f *folding, a belief.Address, salt dag.Salt, to belief.Address) error {
	if err := f.know(k, a.Item, Published); err != nil {
		return err
	}
	s := f.items[a.Item]
	if s.live() == 0 || s.current.Number != a.Revision {
		return fmt.Errorf("%w: %s is not the believed revision of its item", ErrChanged, a)
	}
	if !c.replaces {
		return nil
	}
	if f.guards(s.current) {
		return fmt.Errorf("%w: %s is published; first remove its tag published, or set a lower specificity", belief.ErrProtected, a)
	}
	reason := fmt.Sprintf("%s takes its place", to)
	head, err := f.retract(s.ending(nil), salt, reason, f.plan.Head(k.Head), c.At)
	if err != nil {
		return err
	}
	d := &Deprecation{Item: a.Item, Deprecated: true, By: c.By, Reason: reason, Seq: head + 1, At: c.At}
	return f.put(k, d, d.entry())
}
