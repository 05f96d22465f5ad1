package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// ErrNoFilter is wrapped if a retraction has no filter, so that it would end all facts.
var ErrNoFilter = errors.New("a retraction needs a filter")

// Learn records acts of knowledge, all of them or none, and returns the outcome of each. The outcome of a recorded act has the
// number of the last entry of the whole change. Turns
// and slices that facts name as evidence must be in the store, and the turns must not be erased. An error about one of the acts wraps a
// knowledge.ActError.
func (k Facts) Learn(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act) (_ []knowledge.Outcome, err error) {
	ctx, observed := k.observe(ctx, "learn")
	defer func() { observed(err) }()
	if err := k.screen(ctx, tenant, func() []dag.Text { return textsOf(acts) }); err != nil {
		return nil, err
	}
	if err := k.checkEvidence(ctx, tenant, acts); err != nil {
		return nil, err
	}
	now, err := k.now()
	if err != nil {
		return nil, err
	}
	if acts, err = k.salted(acts); err != nil {
		return nil, err
	}
	outcomes, err := knowledge.Base{History: k.store}.Learn(ctx, tenant, acts, now)
	k.changes.tell(tenant)
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
func (k *engine) salted(acts []knowledge.Act) ([]knowledge.Act, error) {
	acts = slices.Clone(acts)
	for i := range acts {
		if acts[i].Salt != (dag.Salt{}) {
			continue
		}
		if err := k.draw(acts[i].Salt[:]); err != nil {
			return nil, err
		}
	}
	return acts, nil
}

// checkEvidence checks that the turns and slices that facts name as evidence exist, and that the turns are not erased.
func (k *engine) checkEvidence(ctx context.Context, tenant dag.Tenant, acts []knowledge.Act) error {
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
			records, err := k.store.Turns(ctx, tenant, store.IDs(some))
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
	for id, i := range cuts {
		records, err := k.bundles().ByID(ctx, tenant, slice.SliceID(id))
		if err != nil {
			return err
		}
		if len(records) > 0 {
			delete(cuts, id)
		} else {
			cuts[id] = i
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

// queryOf returns the query of a traversal request, with normalized names and with defaults filled in.
func queryOf(t *api.TraverseRequest, asOf dag.Seq) (q knowledge.Query, err error) {
	q = knowledge.Query{
		Filter:    knowledge.Filter{AsOf: asOf, ValidAt: t.ValidAt, MinConfidence: t.MinConfidence},
		Direction: cmp.Or(t.Direction, knowledge.Both), MaxHops: cmp.Or(t.MaxHops, 3), MaxResults: cmp.Or(t.MaxResults, 100),
	}
	if q.Start, err = namesOf(t.Start); err != nil {
		return q, fmt.Errorf("start: %w", err)
	}
	if q.Predicates, err = namesOf(t.Predicates); err != nil {
		return q, fmt.Errorf("predicates: %w", err)
	}
	slices.Sort(q.Predicates)
	q.Predicates = slices.Compact(q.Predicates)
	return q, q.Check()
}

func namesOf(written []string) ([]string, error) {
	if len(written) == 0 {
		return nil, nil
	}
	names := make([]string, len(written))
	for i, w := range written {
		name, err := normalize.Name(w)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", knowledge.ErrQuery, err)
		}
		names[i] = name
	}
	return names, nil
}

// Traverse returns the entities that can be reached from the start entities, with a path to each. A question that was
// asked twice before, as of the same number, is answered from memory: the answer is shared and must not be changed. A traversal within evidence follows
// only the facts that the evidence lets through, in the view of the evidence unless the request names another; aliases apply as in any traversal.
func (k Facts) Traverse(ctx context.Context, tenant dag.Tenant, in api.TraverseRequest) (api.Traversal, error) {
	found, err := k.traverse(ctx, tenant, in)
	if err != nil {
		return api.Traversal{}, err
	}
	return found.Shown(), nil
}

func (k Facts) traverse(ctx context.Context, tenant dag.Tenant, t api.TraverseRequest) (_ *projection.Answer, err error) {
	ctx, observed := k.observe(ctx, "traverse")
	defer func() { observed(err) }()
	if _, err := queryOf(&t, 0); err != nil {
		return nil, err
	}
	var boundary *token.Boundary
	if t.Within != nil {
		if boundary, err = k.slices().Boundary(tenant, t.Within); err != nil {
			return nil, err
		}
		t.AsOf = cmp.Or(t.AsOf, boundary.AsOf())
	}
	return steady(k.engine, func(c *cache) (*projection.Answer, error) {
		at, early, err := c.begin(ctx, tenant, &t)
		if err != nil || early != nil {
			return early, err
		}
		q, v, err := c.walk(ctx, tenant, &t, at)
		if err != nil {
			return nil, err
		}
		if boundary != nil {
			within, err := c.restingOn(ctx, boundary, v.AsOf)
			if err != nil {
				return nil, err
			}
			return v.Traverse(ctx, knowledge.Part{Graph: scoped(ctx, v), Has: func(e *knowledge.Edge) bool { return within[e.ID] }}, q)
		}
		return answerTo(ctx, v, q)
	})
}

// begin returns the as-of number of a traversal. While it waits for the store's head, it answers from the
// cache as of the likely head. If the head is the likely one, begin returns this answer as early.
func (c *cache) begin(ctx context.Context, tenant dag.Tenant, t *api.TraverseRequest) (at dag.Seq, early *projection.Answer, err error) {
	if t.AsOf != 0 {
		at, _, err = c.factsAsOf(ctx, tenant, t.AsOf)
		return at, nil, err
	}
	at, err = c.tenants.Of(tenant).Facts.Head(ctx, func(likely *projection.View) {
		if q, err := queryOf(t, likely.AsOf); err == nil {
			early, _ = answerTo(ctx, likely, q) // if this fails, the caller traverses again
		}
	})
	if err != nil || early != nil && early.AsOf != at {
		early = nil
	}
	return at, early, err
}

// walk returns the query of a traversal as of a number, and the view of that number. The head has reached the number.
func (c *cache) walk(ctx context.Context, tenant dag.Tenant, t *api.TraverseRequest, at dag.Seq) (q knowledge.Query, v *projection.View, err error) {
	if q, err = queryOf(t, at); err != nil {
		return q, nil, err
	}
	v, err = c.tenants.Of(tenant).Facts.View(ctx, at)
	return q, v, err
}

// Evidence returns the assertions of a statement that count as of a number; 0 is now. The assertions that count are
// the ones since the statement is believed; a statement that is not believed has none.
func (k Facts) Evidence(ctx context.Context, tenant dag.Tenant, id knowledge.ID, asOf dag.Seq) ([]knowledge.Recorded, error) {
	return steady(k.engine, func(c *cache) ([]knowledge.Recorded, error) {
		at, _, err := c.factsAsOf(ctx, tenant, asOf)
		if err != nil {
			return nil, err
		}
		return c.evidence(ctx, tenant, id, at)
	})
}

func (c *cache) evidence(ctx context.Context, tenant dag.Tenant, id knowledge.ID, asOf dag.Seq) ([]knowledge.Recorded, error) {
	acts, err := c.store.Knowledge().ActsOf(ctx, tenant, id, 0, 1<<20)
	return knowledge.Counting(acts, asOf), err
}

// History lists a page of the acts about a statement, by ascending number.
func (k Facts) History(ctx context.Context, tenant dag.Tenant, in api.HistoryOf) (w api.FactHistory, err error) {
	ctx, observed := k.observe(ctx, "fact history")
	defer func() { observed(err) }()
	after, err := in.Number()
	if err != nil {
		return w, err
	}
	acts, err := steady(k.engine, func(c *cache) ([]knowledge.Recorded, error) {
		return c.store.Knowledge().ActsOf(ctx, tenant, in.Statement, 0, 1<<20)
	})
	acts = space.ScopeOf(ctx).Acts(acts)
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
	list, err := k.acts(ctx, tenant, dag.Seq(after), in.Size()+1)
	if err == nil {
		w.Acts, w.Next = shownActs(list, in.Size())
	}
	return w, err
}

// acts returns up to limit acts numbered above after, ascending.
func (k Facts) acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	if s := space.ScopeOf(ctx); !s.Whole() { // an act may have ended a belief of any space
		return nil, fmt.Errorf("%w: changes are those of all spaces, and the key is for %s; ask for facts as of a number", access.ErrMayNot, s.Spaces)
	}
	return steady(k.engine, func(c *cache) ([]knowledge.Recorded, error) {
		acts, err := c.store.Knowledge().Acts(ctx, tenant, after, limit)
		if err != nil {
			return nil, err
		}
		return acts, c.store.Knowledge().Complete(ctx, tenant, acts)
	})
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
	list, err := steady(k.engine, func(c *cache) ([]knowledge.Recorded, error) {
		v, err := c.viewAsOf(ctx, tenant, 0)
		if err != nil {
			return nil, err
		}
		find, err := findIn(ctx, v, &in.FactFilter, turn)
		if err != nil {
			return nil, err
		}
		find.Limit = knowledge.MaxActs
		list, total, err := c.store.Knowledge().Versions(ctx, tenant, find)
		if err != nil {
			return nil, err
		}
		if total > len(list) {
			return nil, fmt.Errorf("%w: the filter matches %d facts, at most %d are retracted at once", knowledge.ErrQuery, total, knowledge.MaxActs)
		}
		return list, c.store.Still()
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

// Aliases returns the alias table as of a number; 0 is now.
func (k Facts) Aliases(ctx context.Context, tenant dag.Tenant, at dag.Seq) (*normalize.Table, error) {
	return steady(k.engine, func(c *cache) (*normalize.Table, error) {
		v, err := c.viewAsOf(ctx, tenant, at)
		if err != nil {
			return nil, err
		}
		return v.Aliases, nil
	})
}

// ListAliases lists a page of the alias table.
func (k Facts) ListAliases(ctx context.Context, tenant dag.Tenant, in api.AliasesOf) (api.Aliases, error) {
	return steady(k.engine, func(c *cache) (w api.Aliases, err error) {
		after, v, err := c.pageInView(ctx, tenant, &in.Paging, in.AsOf)
		if err != nil {
			return w, err
		}
		w = api.Aliases{Aliases: []api.Alias{}, Total: v.Aliases.Len(), AsOf: v.AsOf}
		n := dag.Seq(0)
		for alias, canonical := range v.Aliases.All() {
			if n++; n <= after {
				continue
			}
			if len(w.Aliases) == in.Size() {
				w.Next = api.NextInView(n-1, v.AsOf)
				break
			}
			w.Aliases = append(w.Aliases, api.Alias{Alias: alias, Canonical: canonical})
		}
		return w, nil
	})
}

// Paths returns the shortest paths from one entity to another, the best first.
func (k Facts) Paths(ctx context.Context, tenant dag.Tenant, p api.PathQuery) (w api.Traversal, err error) {
	ctx, observed := k.observe(ctx, "paths")
	defer func() { observed(err) }()
	to, err := normalize.Name(p.To)
	if err != nil {
		return w, fmt.Errorf("%w: to: %w", knowledge.ErrQuery, err)
	}
	t := api.TraverseRequest{Start: []string{p.From}, Predicates: p.Predicates, Direction: p.Direction, MaxHops: p.MaxHops, MaxResults: cmp.Or(p.Count, 1),
		MinConfidence: p.MinConfidence, AsOf: p.AsOf, ValidAt: p.ValidAt}
	if _, err := queryOf(&t, 0); err != nil {
		return w, err
	}
	found, err := steady(k.engine, func(c *cache) (*projection.Answer, error) {
		at, _, err := c.factsAsOf(ctx, tenant, t.AsOf)
		if err != nil {
			return nil, err
		}
		q, v, err := c.walk(ctx, tenant, &t, at)
		if err != nil {
			return nil, err
		}
		return v.Paths(ctx, scoped(ctx, v), q, to)
	})
	if err != nil {
		return w, err
	}
	return found.Shown(), nil
}
