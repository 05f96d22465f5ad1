package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
)

// mostExamples is the maximum number of unused entries of an alias list that are shown.
const mostExamples = 20

// AliasList returns the counts of an alias list, with examples of its entries that were not used; nil if l is nil.
func AliasList(l *normalize.List) *api.AliasList {
	if l == nil {
		return nil
	}
	w := &api.AliasList{Entries: l.Entries, Same: l.Same, Repeated: l.Repeated, Chained: len(l.Chained), Skipped: len(l.Skipped), Examples: []api.AliasSkip{}}
	add := func(place, why string) {
		if len(w.Examples) < mostExamples {
			w.Examples = append(w.Examples, api.AliasSkip{Place: place, Why: why})
		}
	}
	for _, s := range l.Skipped {
		add(s.Place, s.Err.Error())
	}
	for _, a := range l.Ambiguous {
		w.Ambiguous += len(a.Claims)
		add("alias "+a.Name, "it is said to stand for "+strings.Join(a.Claims[:min(len(a.Claims), 8)], " and for "))
	}
	for _, c := range l.Chained {
		add("alias "+c.Alias, "it, or "+c.Canonical+", the name it stands for, is both an alias and a canonical name")
	}
	return w
}

// Assertion returns the act of a new fact, as [api.NewFact.Act] does, with the turn that the fact names.
func (k Facts) Assertion(ctx context.Context, tenant dag.Tenant, f *api.NewFact, source string) (knowledge.Act, error) {
	act, err := f.Act(source)
	if err != nil || f.Turn == "" {
		return act, err
	}
	if act.Fact.Turn, err = k.turns().Named(ctx, tenant, f.Turn); errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %v", knowledge.ErrNoEvidence, err) // not %w: store.ErrNotFound would say that the fact does not exist
	}
	return act, err
}
