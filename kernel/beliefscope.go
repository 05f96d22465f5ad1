package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A scope is the spaces of beliefs that are there for who asks.
type scope struct{ of access.Scope }

func scopeOf(ctx context.Context) scope { return scope{access.Asking(ctx).Admits} }

// whole reports whether all spaces are.
func (s scope) whole() bool { return s.of.Spaces == "" }

// check refuses a space that is not.
func (s scope) check(space belief.Space) error {
	if !s.of.Sees(string(space)) {
		return fmt.Errorf("%w: the space %s; the key is for the spaces %s", ErrMayNot, space, s.of.Spaces)
	}
	return nil
}

// shows reports whether a fact of a source is asserted by no belief, or by one of the spaces. A source that does not tell the space is not shown.
func (s scope) shows(source string) bool {
	item, held := knowledge.HolderOf(source)
	if s.whole() || !held {
		return true
	}
	of, err := belief.ParseItem("kref://" + item)
	return err == nil && s.of.Sees(string(of.Space()))
}

// graph is that of the facts that the scope shows.
func (s scope) graph(v *view) knowledge.Graph {
	if s.whole() {
		return v
	}
	return boundedGraph{v, func(e *knowledge.Edge) bool { return s.shows(e.Source) }}
}

// dependents walks from a revision over the links of revisions that the scope shows, as if there were no others.
func (s scope) dependents(root belief.Address, list []journal.Dependent, depth int) (shown []journal.Dependent) {
	if s.whole() {
		return list
	}
	to := map[string][]journal.Dependent{}
	for _, d := range list {
		if s.of.Sees(string(d.From.Item.Space())) {
			to[d.To] = append(to[d.To], d)
		}
	}
	next := []string{root.String()}
	seen := map[string]bool{next[0]: true}
	for step := 1; step <= depth && len(next) > 0; step++ {
		var links []journal.Dependent
		for _, address := range next {
			links = append(links, to[address]...)
		}
		slices.SortFunc(links, func(a, b journal.Dependent) int { return cmp.Compare(a.Seq, b.Seq) })
		next = nil
		for _, d := range links {
			d.Depth = step
			shown = append(shown, d)
			if from := d.From.String(); !seen[from] {
				seen[from] = true
				next = append(next, from)
			}
		}
	}
	return shown
}

// addresses are those of spaces that the scope shows.
func (s scope) addresses(list []string) []string {
	if s.whole() {
		return list
	}
	return slices.DeleteFunc(list, func(address string) bool {
		a, err := belief.ParseAddress(address)
		return err != nil || !s.of.Sees(string(a.Item.Space()))
	})
}

// checkAnswer reports an answer that has a fact outside the scope. Evidence is refused and not filtered, because whoever replays it may have a
// different scope.
func (s scope) checkAnswer(a *knowledge.Answer) error {
	for _, r := range a.Reached {
		for _, e := range r.Path {
			if !s.shows(e.Source) {
				return fmt.Errorf("%w: the evidence would have a fact of a space that is none of %s; ask for a traversal, or under a policy whose predicates leave it out", ErrMayNot, s.of.Spaces)
			}
		}
	}
	return nil
}

// acts are those of a chain (see knowledge.Fact.Chain) if the scope shows them; those that end something have no source.
func (s scope) acts(chain []knowledge.Recorded) []knowledge.Recorded {
	if slices.ContainsFunc(chain, func(r knowledge.Recorded) bool { return !s.shows(r.Act.Fact.Source) }) {
		return nil
	}
	return chain
}

// spaceOf returns the id of a space's policy, if the space is there for who asks.
func (k *engine) spaceOf(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (string, error) {
	if err := scopeOf(ctx).check(space); err != nil {
		return "", err
	}
	return k.journal().Space(ctx, tenant, space, asOf)
}

// restsOn returns the turns on which something rests that is believed in a space as of a number.
func (c *cache) restsOn(ctx context.Context, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (map[dag.TurnID]bool, error) {
	if err := scopeOf(ctx).check(space); err != nil {
		return nil, err
	}
	if _, err := c.journal().Space(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	held, err := c.journal().Believed(ctx, tenant, space, asOf)
	if err != nil {
		return nil, err
	}
	turns := map[dag.TurnID]bool{}
	for i := range held {
		for _, id := range held[i].Stated().Turns {
			turns[id] = true
		}
	}
	return turns, nil
}

// spacesFor returns the spaces whose beliefs a context has: those that are named, or those that are there for who asks; nil is all.
func (k *engine) spacesFor(ctx context.Context, tenant dag.Tenant, named []string, asOf dag.Seq) ([]string, error) {
	s := scopeOf(ctx)
	for _, space := range named {
		if err := s.check(belief.Space(space)); err != nil {
			return nil, err
		}
	}
	if len(named) > 0 || s.whole() {
		return named, nil
	}
	all, err := k.journal().Spaces(ctx, tenant, asOf)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	for space := range all {
		if s.of.Sees(string(space)) {
			named = append(named, string(space))
		}
	}
	slices.Sort(named)
	switch {
	case len(named) == 0:
		return nil, fmt.Errorf("%w: none of the spaces %s that the key is for was made by number %d", journal.ErrSpace, s.of.Spaces, asOf)
	case len(named) > contexts.MaxSpaces:
		return nil, fmt.Errorf("%w: the key is for %d spaces; name at most %d", contexts.ErrRequest, len(named), contexts.MaxSpaces)
	}
	return named, nil
}
