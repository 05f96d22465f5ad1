package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// ErrNoFilter is wrapped if a retraction has no filter, so that it would end all facts.
var ErrNoFilter = errors.New("a retraction needs a filter")

// Learn records acts of knowledge, all of them or none, and returns the outcome of each. The outcome of a recorded act has the
// number of the last entry of the whole change. Turns
// and slices that facts name as evidence must be in the store, and the turns must not be erased. An error about one of the acts wraps a
// knowledge.ActError.
func (k Facts) Learn(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act) (_ []knowledge.Outcome, err error) {
	ctx, observed := k.kernel.Observe(ctx, "learn")
	defer func() { observed(err) }()
	if err := k.kernel.Screen(ctx, tenant, func() []dag.Text { return textsOf(acts) }); err != nil {
		return nil, err
	}
	if err := k.checkEvidence(ctx, tenant, acts); err != nil {
		return nil, err
	}
	now, err := k.kernel.Now()
	if err != nil {
		return nil, err
	}
	if acts, err = k.salted(acts); err != nil {
		return nil, err
	}
	outcomes, err := k.kernel.Knowledge().Learn(ctx, tenant, acts, now)
	k.kernel.Changed(tenant)
	whole := dag.Seq(0) // all acts are one change
	for i := range outcomes {
		whole = max(whole, outcomes[i].Seq)
	}
	for i := range outcomes {
		if outcomes[i].Seq != 0 {
			outcomes[i].Seq = whole
		}
	}
	return outcomes, err
}

// salted returns a copy of acts in which each act has a salt: its own, or a newly drawn one.
func (k Facts) salted(acts []knowledge.Act) ([]knowledge.Act, error) {
	acts = slices.Clone(acts)
	for i := range acts {
		if acts[i].Salt != (dag.Salt{}) {
			continue
		}
		if err := k.kernel.Draw(acts[i].Salt[:]); err != nil {
			return nil, err
		}
	}
	return acts, nil
}

// checkEvidence checks that the turns and slices that facts name as evidence exist, and that the turns are not erased.
func (k Facts) checkEvidence(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act) error {
	named := map[dag.TurnID]int{}
	cuts := map[string]int{}
	for i := range acts {
		if acts[i].Kind != knowledge.Assert {
			continue
		}
		f := &acts[i].Fact
		if _, ok := named[f.Turn]; !ok && f.Turn != (dag.TurnID{}) {
			named[f.Turn] = i
		}
		if _, ok := cuts[f.Slice]; !ok && f.Slice != "" {
			cuts[f.Slice] = i
		}
	}
	missing := func(i int, what string) error {
		return &knowledge.ActError{Index: i, Of: len(acts), Err: fmt.Errorf("%w: %s of tenant %s", knowledge.ErrNoEvidence, what, tenant)}
	}
	if len(named) > 0 {
		ids := make([]dag.TurnID, 0, len(named))
		for id := range named {
			ids = append(ids, id)
		}
		for some := range slices.Chunk(ids, knowledge.MaxActs) {
			records, err := k.kernel.Turns(ctx, tenant, some)
			if err != nil {
				return err
			}
			for i := range records {
				r := &records[i]
				if r.Body == nil && !r.Withheld { // facts learned from an erased text must not come back
					return missing(named[r.Turn.ID], fmt.Sprintf("the text of turn %s, which was erased,", r.Turn.ID))
				}
				delete(named, r.Turn.ID)
			}
		}
		if first, id := firstOf(named); first >= 0 {
			return missing(first, "turn "+id.String())
		}
	}
	for id := range cuts {
		switch err := k.kernel.Issued(ctx, tenant, slice.SliceID(id)); {
		case err == nil:
			delete(cuts, id)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	if first, id := firstOf(cuts); first >= 0 {
		return missing(first, "slice "+id)
	}
	return nil
}

// firstOf returns the entry with the smallest value; least is -1 if the map is empty.
func firstOf[K comparable](m map[K]int) (least int, key K) {
	least = -1
	for k, i := range m {
		if least < 0 || i < least {
			least, key = i, k
		}
	}
	return least, key
}

// Retract ends the belief in all facts that a filter matches, up to knowledge.MaxActs at once,
// all or none. A dry run changes nothing. The answer contains the assertions that were, or would be, retracted.
func (k Facts) Retract(ctx context.Context, tenant dag.Tenant, in api.Retracting) (w api.Retracted, err error) {
	if len(in.Reason) > knowledge.MaxReason || !utf8.ValidString(in.Reason) {
		return w, api.Faultf(api.CodeInvalid, "query parameter reason", "a reason of %d bytes, want UTF-8 of at most %d", len(in.Reason), knowledge.MaxReason)
	}
	if !limits(in.FactFilter) {
		return w, fmt.Errorf("%w: name a subject, a predicate, an object, an entity, a source, a turn or a statement; a confidence or a time alone is none", ErrNoFilter)
	}
	turn, err := k.evidenceNamed(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	list, err := read(k.kernel, func(e epoch) ([]knowledge.Recorded, error) {
		v, err := viewAsOf(ctx, e, tenant, 0)
		if err != nil {
			return nil, err
		}
		find, err := findIn(e.Shows(ctx), v, &in.FactFilter, turn)
		if err != nil {
			return nil, err
		}
		find.Limit = knowledge.MaxActs
		list, total, err := e.Knowledge().Versions(ctx, tenant, find)
		if err != nil {
			return nil, err
		}
		if total > len(list) {
			return nil, fmt.Errorf("%w: the filter matches %d facts, at most %d are retracted at once", knowledge.ErrQuery, total, knowledge.MaxActs)
		}
		return list, e.Still()
	})
	if err == nil && !in.DryRun && len(list) > 0 {
		list, err = k.retract(ctx, tenant, list, in.Reason)
	}
	w = api.Retracted{DryRun: in.DryRun, Total: len(list)}
	w.Acts, _ = shownActs(list, len(list))
	return w, err
}

// retract ends the belief in statements, and returns the assertions of the statements that were believed.
func (k Facts) retract(ctx context.Context, tenant dag.Tenant, list []knowledge.Recorded, reason string) ([]knowledge.Recorded, error) {
	acts := make([]knowledge.Act, len(list))
	for i := range list {
		acts[i] = knowledge.Act{Kind: knowledge.Retract, Statement: list[i].Act.Fact.Chain(), Reason: reason}
	}
	outcomes, err := k.Learn(ctx, tenant, acts)
	if err != nil {
		return nil, err
	}
	ended := list[:0]
	for i := range outcomes {
		if outcomes[i].Result == knowledge.Retracted {
			ended = append(ended, list[i])
		}
	}
	return ended, nil
}

// limits reports whether a filter selects facts by their names, statement, source or evidence. The minimum confidence
// and the time of validity do not count, since nearly all facts meet them.
func limits(f api.FactFilter) bool {
	f.MinConfidence, f.ValidAt = 0, nil
	return f != api.FactFilter{}
}

// evidenceNamed returns the turn that a filter names, or nil if it names none.
func (k Facts) evidenceNamed(ctx context.Context, tenant dag.Tenant, name string) (*dag.TurnID, error) {
	if name == "" {
		return nil, nil
	}
	id, err := k.kernel.Named(ctx, tenant, name)
	return &id, err
}

// Assertion returns the act of a new fact, as [api.NewFact.Act] does, with the turn that the fact names.
func (k Facts) Assertion(ctx context.Context, tenant dag.Tenant, f *api.NewFact, source string) (knowledge.Act, error) {
	act, err := f.Act(source)
	if err != nil || f.Turn == "" {
		return act, err
	}
	if act.Fact.Turn, err = k.kernel.Named(ctx, tenant, f.Turn); errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %v", knowledge.ErrNoEvidence, err) // not %w: store.ErrNotFound would say that the fact does not exist
	}
	return act, err
}

// textsOf returns the texts of acts, as they were written.
func textsOf(acts []knowledge.Act) (texts []dag.Text) {
	for i := range acts {
		add := func(in, name string, spellings ...string) {
			for n, text := range spellings {
				if text != "" && (n == 0 || text != spellings[0]) {
					texts = append(texts, dag.Text{In: fmt.Sprintf("acts[%d].%s", i, in), Name: name, Text: text})
				}
			}
		}
		a := &acts[i]
		f := &a.Fact
		add("subject", "", f.Subject, f.Written.Subject)
		add("predicate", "", f.Predicate, f.Written.Predicate)
		add("object", f.Predicate, f.Object, f.Written.Object)
		add("reason", "", a.Reason)
		add("alias", "", a.Alias)
		add("canonical", "", a.Canonical)
	}
	return texts
}
