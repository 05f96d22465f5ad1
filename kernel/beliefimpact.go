package kernel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
)

// An impact is what depends on a revision.
type impact struct {
	Kref
	Falls   []belief.Conclusion // what would not follow without it; without the elements that support it
	Wording journal.Wording     // of Falls
	Links   []journal.Dependent

	Deprecated map[belief.Item]bool // items of Links that are
}

// Impact answers what would fall without a revision, and what links to it over some steps.
func (k Beliefs) Impact(ctx context.Context, tenant dag.Tenant, in api.ImpactQuery) (out api.Impact, _ error) {
	a, err := belief.ParseAddress(in.Ref)
	if err != nil {
		return out, err
	}
	of, err := k.impact(ctx, tenant, a, cmp.Or(in.Depth, 10))
	if err != nil {
		return out, err
	}
	out = api.Impact{AsOf: of.AsOf, Ref: addressOf(of.Revision), Falls: []api.WrittenStatement{}, Links: []api.Dependent{}}
	for _, f := range of.Falls {
		out.Falls = append(out.Falls, worded(f.Literal, of.Wording))
	}
	for _, l := range of.Links {
		out.Links = append(out.Links, api.Dependent{Ref: l.From.String(), Type: l.Type, To: l.To, Depth: l.Depth, Deprecated: of.Deprecated[l.From.Item]})
	}
	return out, nil
}

func (k Beliefs) impact(ctx context.Context, tenant dag.Tenant, a belief.Address, depth int) (*impact, error) {
	return steady(k.engine, func(c *cache) (*impact, error) {
		kref, err := c.resolve(ctx, tenant, a)
		if err != nil {
			return nil, err
		}
		if kref.Revision == nil {
			return nil, fmt.Errorf("%w: %s has no such revision now", journal.ErrNoItem, a)
		}
		of := &impact{Kref: *kref}
		if of.Falls, of.Wording, err = k.falls(ctx, c, tenant, kref); err != nil {
			return stillOf[*impact](c.store, nil, err) // the policy is read without regard to the epoch
		}
		root := belief.Address{Item: a.Item, Revision: kref.Revision.Number}
		of.Links, err = c.beliefLinks.dependents(ctx, tenant, root, depth, kref.AsOf)
		of.Links = scopeOf(ctx).dependents(root, of.Links, depth)
		if err == nil {
			of.Deprecated, err = c.deprecated(ctx, tenant, of.Links, kref.AsOf)
		}
		return stillOf(c.store, of, err)
	})
}

// deprecated returns the items of dependents that are deprecated as of a number.
func (c *cache) deprecated(ctx context.Context, tenant dag.Tenant, list []journal.Dependent, asOf dag.Seq) (map[belief.Item]bool, error) {
	all := map[belief.Item]bool{}
	for _, l := range list {
		all[l.From.Item] = false
	}
	now, err := c.journal().Now(ctx, tenant, slices.Sorted(maps.Keys(all)), asOf)
	for _, item := range now {
		all[item.Item] = item.Deprecated
	}
	return all, err
}

// falls returns the conclusions that would no longer follow without a revision, with their wording. It examines the elements that rules connect with the
// statements of the revision.
func (k Beliefs) falls(ctx context.Context, c *cache, tenant dag.Tenant, kref *Kref) ([]belief.Conclusion, journal.Wording, error) {
	space := kref.Record.Item.Space()
	p, _, err := k.kindsOf(ctx, tenant, space, kref.AsOf)
	if err != nil {
		return nil, nil, err
	}
	held, err := c.journal().Near(ctx, tenant, space, kref.Revision.Statements, kref.AsOf)
	if err != nil {
		return nil, nil, err
	}
	var all, without belief.Base
	for i := range held {
		e := held[i].Element()
		if all = append(all, e); held[i].Revision.Seq != kref.Revision.Seq {
			without = append(without, e)
		}
	}
	if len(all) == len(without) {
		return nil, nil, nil
	}
	falls := belief.Fallen(p.Constraints(), all, without)
	for i := range falls {
		falls[i].Support = nil
	}
	return falls, journal.Worded(func(yield func(journal.Part) bool) {
		for i := range held {
			if !yield(held[i].Part) {
				return
			}
		}
	}), nil
}
