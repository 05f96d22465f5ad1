package query

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

// Evidence returns the assertions of a statement that count as of a number; 0 is now. The assertions that count are
// the ones since the statement is believed; a statement that is not believed has none.
func (k Facts) Evidence(ctx context.Context, tenant dag.Tenant, id knowledge.ID, asOf dag.Seq) ([]knowledge.Recorded, error) {
	return read(k.kernel, func(e epoch) ([]knowledge.Recorded, error) {
		at, _, err := e.AsOf(ctx, tenant, asOf)
		if err != nil {
			return nil, err
		}
		return e.evidence(ctx, tenant, id, at)
	})
}

func (e epoch) evidence(ctx context.Context, tenant dag.Tenant, id knowledge.ID, asOf dag.Seq) ([]knowledge.Recorded, error) {
	acts, err := e.Knowledge().ActsOf(ctx, tenant, id, 0, 1<<20)
	return knowledge.Counting(acts, asOf), err
}

// History lists a page of the acts about a statement, by ascending number.
func (k Facts) History(ctx context.Context, tenant dag.Tenant, in api.HistoryOf) (w api.FactHistory, err error) {
	ctx, observed := k.kernel.Observe(ctx, "fact history")
	defer func() { observed(err) }()
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	acts, err := read(k.kernel, func(e epoch) ([]knowledge.Recorded, error) {
		acts, err := e.Knowledge().ActsOf(ctx, tenant, in.Statement, 0, 1<<20)
		if shows := e.Shows(ctx); shows != nil && slices.ContainsFunc(acts, func(r knowledge.Recorded) bool { return !shows(r.Act.Fact.Source) }) {
			return nil, err
		}
		return acts, err
	})
	if err == nil && len(acts) == 0 {
		err = fmt.Errorf("statement %s of tenant %s: %w", in.Statement, tenant, store.ErrNotFound)
	}
	if err != nil {
		return w, err
	}
	for len(acts) > 0 && acts[0].Seq <= dag.Seq(after) {
		acts = acts[1:]
	}
	w.Statement = in.Statement
	w.Acts, w.Next = shownActs(acts, in.Size())
	return w, nil
}

// Changes lists a page of all acts, by ascending number.
func (k Facts) Changes(ctx context.Context, tenant dag.Tenant, in api.Paging) (w api.KnowledgeChanges, err error) {
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	list, err := k.Acts(ctx, tenant, dag.Seq(after), in.Size()+1)
	if err == nil {
		w.Acts, w.Next = shownActs(list, in.Size())
	}
	return w, err
}

// Acts returns up to limit acts numbered above after, ascending.
func (k Facts) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	if s := access.Asking(ctx).Admits; s.Spaces != "" { // an act may have ended a belief of any space
		return nil, fmt.Errorf("%w: changes are those of all spaces, and the key is for %s; ask for facts as of a number", access.ErrMayNot, s.Spaces)
	}
	return read(k.kernel, func(e epoch) ([]knowledge.Recorded, error) {
		acts, err := e.Knowledge().Acts(ctx, tenant, after, limit)
		if err != nil {
			return nil, err
		}
		return acts, e.Knowledge().Complete(ctx, tenant, acts)
	})
}

// shownAct returns a recorded act with the names with which it was asserted.
func shownAct(r *knowledge.Recorded) api.KnowledgeAct {
	a := &r.Act
	w := api.KnowledgeAct{Seq: r.Seq, At: r.At, Kind: string(a.Kind), Leaf: r.Leaf}
	switch f := &a.Fact; {
	case r.Erased:
		w.Erased, w.Turn = true, f.Turn
	case a.Kind == knowledge.Assert:
		w.Statement, w.Subject, w.Predicate, w.Object, w.Written = f.ID(), f.Subject, f.Predicate, f.Object, f.Written
		w.Confidence, w.Source, w.Turn, w.Slice = &f.Confidence, f.Source, f.Turn, slice.SliceID(f.Slice)
		w.ValidFrom, w.ValidUntil, w.Supersedes = f.From, api.EndOf(&f.Statement), a.Supersedes
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

// shownActs returns up to limit acts, and the cursor of the next page.
func shownActs(list []knowledge.Recorded, limit int) (w []api.KnowledgeAct, next string) {
	list, next = api.Page(list, limit, func(r *knowledge.Recorded) uint64 { return uint64(r.Seq) })
	w = make([]api.KnowledgeAct, len(list))
	for i := range list {
		w[i] = shownAct(&list[i])
	}
	return w, next
}
