package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// Abstract decides a request that is abstracted from the originals, the revisions with links to what it makes (Request.Incoming). Each of them must be what is believed of its item; another
// revision is ErrChanged. If replaces, their items are deprecated in the same change; what is published is refused. An abstraction that an original gives way to, or that is stated by an
// original already, is belief.ErrInput.
func (b Base) Abstract(ctx context.Context, tenant dag.Tenant, request Request, replaces bool) (*Outcome, error) {
	if err := request.Check(); err != nil {
		return nil, err
	}
	c := &abstracting{operation: operation{Request: request}, replaces: replaces}
	whole, err := b.write(ctx, tenant, &step{before: &c.operation, needs: c.more, add: c.add})
	if err == nil {
		err = c.general() // of a dry one, that records nothing
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

// more asks for what is known of the originals, and what is current of them.
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

// general refuses an abstraction that is none.
func (c *abstracting) general() error {
	for _, l := range c.Incoming {
		a := l.From
		if slices.ContainsFunc(c.outcome.GaveWay, func(l Loss) bool { return l.Revision.Item == a.Item }) && c.outcome.Result == Changed {
			return fmt.Errorf("%w: it contradicts %s, from which it is to be abstracted", belief.ErrInput, a)
		}
		if c.outcome.Item == a.Item {
			return fmt.Errorf("%w: it would be a revision of %s, from which it is to be abstracted; name another item", belief.ErrInput, a.Item)
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

// original makes sure that an original is believed, and deprecates it if the abstraction takes its place. The operation changed nothing of it, or it would have given way.
func (c *abstracting) original(k *history.State, f *folding, a belief.Address, salt dag.Salt, to belief.Address) error {
	if err := f.know(k, a.Item, Published); err != nil {
		return err
	}
	s := f.items[a.Item]
	if s.live() == 0 || s.current.Number != a.Revision {
		return fmt.Errorf("%w: %s is not what is believed of its item", ErrChanged, a)
	}
	if !c.replaces {
		return nil
	}
	if f.guards(s.current) {
		return fmt.Errorf("%w: %s is published; take that tag away first, or give a lower specificity", belief.ErrProtected, a)
	}
	reason := fmt.Sprintf("%s takes its place", to)
	head, err := f.retract(s.ending(nil), salt, reason, f.plan.Head(k.Head), c.At)
	if err != nil {
		return err
	}
	d := &Deprecation{Item: a.Item, Deprecated: true, By: c.By, Reason: reason, Seq: head + 1, At: c.At}
	return f.put(k, d, d.entry())
}
