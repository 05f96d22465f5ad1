package space

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

// A Scope contains the spaces of beliefs that a caller may see.
type Scope struct{ access.Scope }

// ScopeOf returns the scope of the caller.
func ScopeOf(ctx context.Context) Scope { return Scope{access.Asking(ctx).Admits} }

// Whole reports whether the scope contains all spaces.
func (s Scope) Whole() bool { return s.Spaces == "" }

// Check refuses a space outside the scope.
func (s Scope) Check(space belief.Space) error {
	if !s.Sees(string(space)) {
		return fmt.Errorf("%w: the key is not for the space %s, only for the spaces %s", access.ErrMayNot, space, s.Spaces)
	}
	return nil
}

// Shows reports whether a fact with a source may be shown: no belief asserts it, or a belief in a space of the scope does. A fact whose
// source names a belief without a valid item is not shown.
func (s Scope) Shows(source string) bool {
	item, held := knowledge.HolderOf(source)
	if s.Whole() || !held {
		return true
	}
	of, err := belief.ParseItem("kref://" + item)
	return err == nil && s.Sees(string(of.Space()))
}

// dependents walks from a revision over the links that come from revisions in the scope, as if other links did not exist.
func (s Scope) dependents(root belief.Address, list []journal.Dependent, depth int) (shown []journal.Dependent) {
	if s.Whole() {
		return list
	}
	to := map[string][]journal.Dependent{}
	for _, d := range list {
		if s.Sees(string(d.From.Item.Space())) {
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

// addresses returns the addresses in spaces of the scope.
func (s Scope) addresses(list []string) []string {
	if s.Whole() {
		return list
	}
	return slices.DeleteFunc(list, func(address string) bool {
		a, err := belief.ParseAddress(address)
		return err != nil || !s.Sees(string(a.Item.Space()))
	})
}

// CheckAnswer refuses an answer that contains a fact outside the scope. Evidence is refused rather than filtered, because a caller who
// replays it may have a different scope.
func (s Scope) CheckAnswer(a *knowledge.Answer) error {
	for _, r := range a.Reached {
		for _, e := range r.Path {
			if !s.Shows(e.Source) {
				return fmt.Errorf("%w: the evidence would contain a fact of a space outside %s, for which the key is not; ask for a traversal, or use a policy whose predicates exclude that fact", access.ErrMayNot, s.Spaces)
			}
		}
	}
	return nil
}

// RestsOn returns the turns that the beliefs of a space rest on, as of a number.
func RestsOn(ctx context.Context, j journal.Base, tenant dag.Tenant, space belief.Space, asOf dag.Seq) (map[dag.TurnID]bool, error) {
	if err := ScopeOf(ctx).Check(space); err != nil {
		return nil, err
	}
	if _, err := j.Space(ctx, tenant, space, asOf); err != nil {
		return nil, err
	}
	held, err := j.Believed(ctx, tenant, space, asOf)
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

// Choose returns the spaces whose beliefs a context includes: the named spaces, or all spaces of the scope if none are named. nil means
// all spaces.
func (s Scope) Choose(ctx context.Context, j journal.Base, tenant dag.Tenant, named []string, asOf dag.Seq) ([]string, error) {
	for _, space := range named {
		if err := s.Check(belief.Space(space)); err != nil {
			return nil, err
		}
	}
	if len(named) > 0 || s.Whole() {
		return named, nil
	}
	all, err := j.Spaces(ctx, tenant, asOf)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	for space := range all {
		if s.Sees(string(space)) {
			named = append(named, string(space))
		}
	}
	slices.Sort(named)
	switch {
	case len(named) == 0:
		return nil, fmt.Errorf("%w: none of the spaces %s, for which the key is, existed at number %d", journal.ErrSpace, s.Spaces, asOf)
	case len(named) > contexts.MaxSpaces:
		return nil, fmt.Errorf("%w: the key is for %d spaces; name at most %d", contexts.ErrRequest, len(named), contexts.MaxSpaces)
	}
	return named, nil
}
