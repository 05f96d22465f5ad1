package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
)

// constrains reports whether a revision of a kind is a constraint. It is the only place that decides this, and a replay asks it with the reading of the record.
func (k *engine) constrains(ctx context.Context, tenant dag.Tenant, kind kinds.Kind, r *journal.Revision, reading dag.Reading) (bool, error) {
	if !kind.Binds() || reading >= dag.ReadVouched && !r.Vouched() {
		return false, nil
	}
	if reading < dag.ReadVouched || r.Withheld || r.Title == "" && r.Summary == "" {
		return true, nil
	}
	// A proposal could once restate what a person stated in an item, and put a title and a summary of its own over it.
	agents, err := k.ofAgent(ctx, tenant, r.By)
	return !agents, err
}

// ofAgent reports whether the name of a caller on record is that of an agent: one over stdio, or a key of the role.
func (k *engine) ofAgent(ctx context.Context, tenant dag.Tenant, by string) (bool, error) {
	if by == access.Stdio || access.CheckID(by) != nil {
		return by == access.Stdio, nil
	}
	key, err := k.apiKeys().Get(ctx, tenant, by)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return key.Role == access.Agent, err
}

// kindsByName are the kinds of a policy, which is read once for it. One that is not listed does not bind.
func kindsByName(p kinds.Policy) map[string]kinds.Kind {
	named := map[string]kinds.Kind{}
	for _, kind := range p.Kinds() {
		named[kind.Name] = kind
	}
	return named
}

// limitsOf are those of the constraints of a space under a policy with some kinds.
func limitsOf(named map[string]kinds.Kind) journal.Limits {
	return journal.Limits{
		Binds: func(name string) bool { kind := named[name]; return kind.Binds() },
		Bytes: func(r *journal.Revision) int { return len(contexts.BeliefText(r)) },
	}
}

// loadOf adds up the constraints among what is believed.
func loadOf(named map[string]kinds.Kind, held []journal.Believed) (load journal.Load) {
	limits := limitsOf(named)
	for i := range held {
		if i == 0 || held[i-1].Revision != held[i].Revision {
			limits.Add(&load, held[i].Revision)
		}
	}
	return load
}

// Spaces returns the spaces that are there for who asks, ascending, with what their constraints add up to if that is asked for.
func (k Beliefs) Spaces(ctx context.Context, tenant dag.Tenant, in api.SpacesQuery) (out api.Spaces, _ error) {
	head, err := k.asOfHead(ctx, tenant, 0)
	if err != nil {
		return out, err
	}
	all, err := k.journal().Spaces(ctx, tenant, history.Forever-1)
	if err != nil {
		return out, err
	}
	out.Spaces = []api.Space{}
	for _, space := range slices.Sorted(maps.Keys(all)) {
		if !scopeOf(ctx).of.Sees(string(space)) {
			continue
		}
		one := api.Space{Space: space, Policy: policy.ID(all[space])}
		if in.Constraints {
			if one.Constraints, err = k.load(ctx, tenant, &one, head); err != nil {
				return out, err
			}
		}
		out.Spaces = append(out.Spaces, one)
	}
	return out, nil
}

// load adds up what a space has of kinds that bind.
func (k Beliefs) load(ctx context.Context, tenant dag.Tenant, of *api.Space, asOf dag.Seq) (*api.ConstraintLoad, error) {
	p, err := k.kindPolicy(ctx, tenant, of.Policy)
	if err != nil {
		return nil, err
	}
	held, err := k.journal().Believed(ctx, tenant, of.Space, asOf)
	if err != nil {
		return nil, err
	}
	named := kindsByName(p)
	l := loadOf(named, held)
	out := &api.ConstraintLoad{Count: l.Count, Bytes: l.Bytes, Longest: l.Longest, Over: l.Over()}
	seen := map[belief.Item]bool{}
	for i := range held {
		r := held[i].Revision
		kind := named[r.Item.Kind()]
		if seen[r.Item] || !kind.Binds() {
			continue
		}
		seen[r.Item] = true
		is, err := k.constrains(ctx, tenant, kind, r, dag.ReadNow)
		if err != nil {
			return nil, err
		}
		if !is {
			out.Proposed++
		}
	}
	return out, nil
}

// room makes sure that the constraints fit into a context. Those of spaces within their bounds always count. Of an overfull space the newest are left to compete
// by their words with other beliefs, as many as do not fit; a context of that space alone is refused.
func (g *gatherer) room() error {
	most := g.policy.Quotas[contexts.FromConstraints]
	if g.reading < dag.ReadVouched || most == 0 {
		return nil
	}
	cost := 0
	var loose []*journal.Revision // of overfull spaces
	for address := range g.beliefs.always {
		r := g.beliefs.of[address]
		cost += contexts.Tokens(contexts.BeliefText(r))
		if g.beliefs.loads[r.Item.Space()].Over() {
			loose = append(loose, r)
		}
	}
	fits := func() bool { return len(g.beliefs.always) <= most && cost <= g.asked.Budget }
	if fits() || len(loose) == 0 {
		return nil
	}
	if len(g.asked.Spaces) == 1 {
		space := loose[0].Item.Space()
		load := g.beliefs.loads[space]
		return fmt.Errorf("%w: the space %s has %d in %d bytes, at most %d in %d, and they do not fit into this context; list them with graphkernel belief rules %s, and end some with graphkernel belief contract or belief deprecate",
			journal.ErrTooManyConstraints, space, load.Count, load.Bytes, journal.MaxConstraints, journal.MaxConstraintBytes, space)
	}
	slices.SortFunc(loose, func(a, b *journal.Revision) int {
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), strings.Compare(string(a.Item), string(b.Item)))
	})
	left := map[belief.Space]int{}
	for _, r := range loose {
		if fits() {
			break
		}
		delete(g.beliefs.always, r.Address().String())
		cost -= contexts.Tokens(contexts.BeliefText(r))
		left[r.Item.Space()]++
	}
	for _, space := range slices.Sorted(maps.Keys(left)) {
		g.beliefs.overfull = append(g.beliefs.overfull, api.OverfullSpace{Space: space, Count: g.beliefs.loads[space].Count, Left: left[space]})
	}
	return nil
}
