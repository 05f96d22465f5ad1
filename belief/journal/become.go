package journal

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// PromotedTo is the type of the link from what was promoted to what it became.
const PromotedTo = "promoted_to"

// Promote decides a request, which must name its item, and links what it was promoted from to the revision in the same change.
func (b Base) Promote(ctx context.Context, tenant dag.Tenant, request Request, from []belief.Address) (*Outcome, error) {
	return b.become(ctx, tenant, &becoming{operation: operation{Request: request}, from: from, link: PromotedTo})
}

// Abstract decides a request, and links what it was made from to the revision in the same change, with links of a type. Each of from must be what is believed of its item; another revision is
// ErrChanged. If replaces, their items are deprecated in the same change; what is published is refused. An abstraction that an original gives way to, or that is stated by an original
// already, is belief.ErrInput.
func (b Base) Abstract(ctx context.Context, tenant dag.Tenant, request Request, from []belief.Address, link string, replaces bool) (*Outcome, error) {
	c := &becoming{operation: operation{Request: request}, from: from, link: link, abstracts: true, replaces: replaces}
	o, err := b.become(ctx, tenant, c)
	if err == nil {
		err = c.general() // of a dry one, that records nothing
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// A becoming is a request that follows from revisions.
type becoming struct {
	operation
	from                []belief.Address
	link                string
	abstracts, replaces bool
}

func (b Base) become(ctx context.Context, tenant dag.Tenant, c *becoming) (*Outcome, error) {
	if err := c.Request.Check(); err != nil {
		return nil, err
	}
	if err := b.write(ctx, tenant, &step{before: &c.operation, needs: c.more, add: c.add}); err != nil {
		return nil, err
	}
	return c.outcome, nil
}

// more asks for what is known of the originals, and what is current of them.
func (c *becoming) more(k *history.State) (n history.Needs) {
	for _, a := range c.from {
		switch {
		case !c.abstracts:
		case k.Round == 0:
			n.Newest = append(n.Newest, keysOf(a.Item, Published)...)
		case k.Round == 1:
			if seq, err := currentOf(k, a.Item); err == nil && seq != 0 {
				n.Entries = append(n.Entries, seq)
			}
		}
	}
	return n
}

// general refuses an abstraction that is none.
func (c *becoming) general() error {
	for _, a := range c.from {
		if slices.ContainsFunc(c.outcome.GaveWay, func(l Loss) bool { return l.Revision.Item == a.Item }) && c.outcome.Result == Changed {
			return fmt.Errorf("%w: it contradicts %s, from which it is to be abstracted", belief.ErrInput, a)
		}
		if c.outcome.Item == a.Item {
			return fmt.Errorf("%w: it would be a revision of %s, from which it is to be abstracted; name another item", belief.ErrInput, a.Item)
		}
	}
	return nil
}

func (c *becoming) add(k *history.State, f *folding) error {
	if c.outcome.Result != Changed || c.outcome.Revision == 0 {
		return nil
	}
	if c.abstracts {
		if err := c.general(); err != nil {
			return err
		}
	}
	to := belief.Address{Item: c.outcome.Item, Revision: c.outcome.Revision}
	for _, a := range c.from {
		l := &Link{From: a, Type: c.link, To: to.String(), By: c.By, Seq: f.plan.Head(k.Head) + 1, At: c.At}
		if err := f.put(k, l, l.entry()); err != nil {
			return err
		}
	}
	for i, a := range c.from {
		if !c.abstracts {
			break
		}
		if err := c.original(k, f, a, salts(c.Salt, "original", len(c.from))[i], to); err != nil {
			return err
		}
	}
	return nil
}

// original makes sure that an original is believed, and deprecates it if the abstraction takes its place. The operation changed nothing of it, or it would have given way.
func (c *becoming) original(k *history.State, f *folding, a belief.Address, salt dag.Salt, to belief.Address) error {
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
