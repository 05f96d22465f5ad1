package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
)

// mostExamples bounds the entries of a list that are shown of those that were not used.
const mostExamples = 20

// AliasList shows what of a list was not used; nil for none.
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

// Assertion is the act that records a fact, from a source if the fact names none. What is wrong with
// the fact is a *canon.FieldError.
func Assertion(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, f *api.NewFact, source string) (knowledge.Act, error) {
	fact, err := knowledge.NewFact(f.Subject, f.Predicate, f.Object, cmp.Or(f.Source, source))
	if name := fact.Object; err == nil && f.ObjectText != nil {
		if fact, err = knowledge.NewText(f.Subject, f.Predicate, *f.ObjectText, cmp.Or(f.Source, source)); err == nil && fact.Object != name {
			return knowledge.Act{}, &canon.FieldError{Path: "object_text", Err: fmt.Errorf("its name is %s, and object is %s", fact.Object, name)}
		}
	}
	if err != nil {
		return knowledge.Act{}, &canon.FieldError{Err: err}
	}
	fact.Slice = string(f.Slice)
	set(&fact.Confidence, f.Confidence)
	set(&fact.From, f.ValidFrom)
	set(&fact.Until, f.ValidUntil)
	if f.Turn != "" {
		if fact.Turn, err = k.Turns().Named(ctx, tenant, f.Turn); errors.Is(err, store.ErrNotFound) {
			return knowledge.Act{}, fmt.Errorf("%w: %v", kernel.ErrNoEvidence, err) // not %w: that there is no fact is not meant
		} else if err != nil {
			return knowledge.Act{}, err
		}
	}
	act := knowledge.Act{Kind: knowledge.Assert, Fact: fact, Supersedes: knowledge.SortIDs(f.Supersedes)}
	return act, checked(&act)
}

func checked(act *knowledge.Act) error {
	if err := act.Check(); err != nil {
		return &canon.FieldError{Err: err}
	}
	return nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Retraction is the act that ends the belief in a statement.
func Retraction(r *api.Retraction) (knowledge.Act, error) {
	act := knowledge.Act{Kind: knowledge.Retract, Statement: r.Statement, Reason: r.Reason}
	return act, checked(&act)
}
