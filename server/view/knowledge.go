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
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// MostEvidence bounds the assertions that are shown of each fact of a listing.
const MostEvidence = 32

// until is when a statement ends; 0: it does not.
func until(s *knowledge.Statement) dag.Time {
	if s.Until == knowledge.Forever {
		return 0
	}
	return s.Until
}

// asserted returns the names that a statement has itself, where aliases give others.
func asserted(s *knowledge.Statement, subject, object string) (w api.Written) {
	if s.Subject != subject {
		w.Subject = s.Subject
	}
	if s.Object != object {
		w.Object = s.Object
	}
	return w
}

// Fact shows a fact with the newest of its evidence.
func Fact(f *kernel.Fact) api.Fact {
	v := &f.Version
	w := api.Fact{
		Statement: v.ID, Subject: f.Subject, Predicate: v.Predicate, Object: f.Object, Confidence: v.Confidence,
		Source: v.Source, Turn: v.Turn, Since: v.Since, EvidenceTotal: len(f.Evidence),
	}
	w.ValidFrom, w.ValidUntil = v.From, until(&v.Statement)
	w.Asserted = asserted(&v.Statement, f.Subject, f.Object)
	for i := range f.Evidence {
		if f.Evidence[i].Seq == v.Since {
			w.Written = f.Evidence[i].Act.Fact.Written
		}
	}
	newest := f.Evidence[max(0, len(f.Evidence)-MostEvidence):]
	w.Evidence = make([]api.FactEvidence, len(newest))
	for i := range newest {
		r := &newest[i]
		said := &r.Act.Fact
		w.Evidence[i] = api.FactEvidence{
			Seq: r.Seq, At: r.At, Source: said.Source, Confidence: said.Confidence,
			Turn: said.Turn, Slice: slice.SliceID(said.Slice), Written: said.Written,
		}
	}
	return w
}

// Act shows a recorded act.
func Act(r *knowledge.Recorded) api.KnowledgeAct {
	a := &r.Act
	w := api.KnowledgeAct{Seq: r.Seq, At: r.At, Kind: string(a.Kind), Leaf: r.Leaf}
	switch {
	case r.Erased:
		w.Erased, w.Turn = true, a.Fact.Turn
	case a.Kind == knowledge.Assert:
		f := &a.Fact
		id := f.ID()
		w.Statement, w.Subject, w.Predicate, w.Object, w.Written = id, f.Subject, f.Predicate, f.Object, f.Written
		w.Confidence, w.Source, w.Turn, w.Slice = &f.Confidence, f.Source, f.Turn, slice.SliceID(f.Slice)
		w.ValidFrom, w.ValidUntil = f.From, until(&f.Statement)
		w.Supersedes = a.Supersedes
		if w.Version = r.Until != 0; r.Until != dag.MaxSeq {
			w.Until = r.Until
		}
	case a.Kind == knowledge.Retract:
		w.Statement, w.Reason = a.Statement, a.Reason
	default:
		w.Alias, w.Canonical = a.Alias, a.Canonical
	}
	return w
}

// Acts shows recorded acts.
func Acts(list []knowledge.Recorded) []api.KnowledgeAct {
	w := make([]api.KnowledgeAct, len(list))
	for i := range list {
		w[i] = Act(&list[i])
	}
	return w
}

// KnowledgeEvent tells of an act in a few words: what may be long is left out.
func KnowledgeEvent(r *knowledge.Recorded) api.KnowledgeEvent {
	a := Act(r)
	return api.KnowledgeEvent{
		Seq: a.Seq, At: a.At, Kind: a.Kind, Erased: a.Erased, Statement: a.Statement, Subject: a.Subject, Predicate: a.Predicate, Object: a.Object,
		Confidence: a.Confidence, Source: a.Source, Alias: a.Alias, Canonical: a.Canonical,
	}
}

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

// TurnNamed finds the turn that a name means: its id, its external id, or a beginning of its id. Whether
// there is a turn of an id is not asked.
func TurnNamed(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, name string) (id dag.TurnID, err error) {
	if id.UnmarshalText([]byte(name)) == nil {
		return id, nil
	}
	if id, err = k.Turns().Resolve(ctx, tenant, name); err != nil {
		return id, fmt.Errorf("turn: %w", err)
	}
	return id, nil
}

// FactQuery asks the kernel for facts.
func FactQuery(ctx context.Context, k *kernel.Kernel, tenant dag.Tenant, f *api.FactFilter) (kernel.FactQuery, error) {
	q := kernel.FactQuery{
		Subject: f.Subject, Predicate: f.Predicate, Object: f.Object, Entity: f.Entity, Source: f.Source,
		Statement: f.Statement, MinConfidence: f.MinConfidence, ValidAt: f.ValidAt,
	}
	if f.Turn == "" {
		return q, nil
	}
	id, err := TurnNamed(ctx, k, tenant, f.Turn)
	q.Turn = &id
	return q, err
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
		if fact.Turn, err = TurnNamed(ctx, k, tenant, f.Turn); errors.Is(err, store.ErrNotFound) {
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
