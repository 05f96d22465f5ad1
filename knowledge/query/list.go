package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
)

// MaxFacts is the maximum number of facts of a page.
const MaxFacts = 1000

// pageInView is [api.Paging.InView] for a number from a caller, see viewAsOf. It returns the view of the page.
func (e epoch) pageInView(ctx context.Context, tenant dag.Tenant, p *api.Paging, given dag.Seq) (after dag.Seq, v *projection.View, err error) {
	if given != 0 || p.After == "" {
		if v, err = viewAsOf(ctx, e, tenant, given); err != nil {
			return 0, nil, err
		}
		given = v.AsOf
	}
	after, asOf, err := p.InView(given)
	if err == nil && p.After != "" {
		v, err = viewAsOf(ctx, e, tenant, asOf)
	}
	return after, v, err
}

// List returns a page of the believed facts, in the order of the assertions that set their confidence.
func (k Facts) List(ctx context.Context, tenant dag.Tenant, in api.FactQuery) (w api.Facts, err error) {
	ctx, observed := k.kernel.Observe(ctx, "facts")
	defer func() { observed(err) }()
	limit := in.Size()
	if limit < 1 || limit > MaxFacts {
		return w, fmt.Errorf("%w: a limit of %d, want 1 to %d", knowledge.ErrQuery, limit, MaxFacts)
	}
	turn, err := k.evidenceNamed(ctx, tenant, in.Turn)
	if err != nil {
		return w, err
	}
	return read(k.kernel, func(e epoch) (w api.Facts, err error) {
		after, v, err := e.pageInView(ctx, tenant, &in.Paging, in.AsOf)
		if err != nil {
			return w, err
		}
		find, err := findIn(e.Shows(ctx), v, &in.FactFilter, turn)
		if err != nil {
			return w, err
		}
		find.After, find.Limit = after, limit+1 // one more shows whether there is a next page
		list, total, err := e.Knowledge().Versions(ctx, tenant, find)
		if err != nil {
			return w, err
		}
		w = api.Facts{Total: total, AsOf: v.AsOf}
		if len(list) > limit {
			list = list[:limit]
			w.Next = api.NextInView(list[limit-1].Seq, v.AsOf)
		}
		evidence, err := e.Knowledge().ActsIn(ctx, tenant, spansOf(list, v.AsOf))
		if err != nil {
			return w, err
		}
		w.Facts = make([]api.Fact, len(list))
		for i := range list {
			w.Facts[i] = factIn(v, &list[i], evidence[i])
		}
		return w, e.Still()
	})
}

// findIn converts a filter to a query of the facts that a caller may see, with the names that are stored, as of a view.
func findIn(shows func(source string) bool, v *projection.View, q *api.FactFilter, turn *dag.TurnID) (f knowledge.Find, err error) {
	f = knowledge.Find{
		Filter: knowledge.Filter{AsOf: v.AsOf, ValidAt: q.ValidAt, MinConfidence: q.MinConfidence},
		Source: q.Source, Turn: turn, Statement: q.Statement, Shows: shows,
	}
	for _, n := range [...]struct {
		written string
		into    *[]string
	}{{q.Subject, &f.Subjects}, {q.Object, &f.Objects}, {q.Entity, &f.Either}} {
		if n.written == "" {
			continue
		}
		names, err := Names([]string{n.written})
		if err != nil {
			return f, err
		}
		*n.into = v.Aliases.Members(v.Aliases.Resolve(names[0]))
	}
	if q.Predicate != "" {
		f.Predicates, err = Names([]string{q.Predicate})
	}
	return f, err
}

// spansOf returns, for each version, the span of the acts that count for it as of a number: all acts since the
// belief in its statement began, which are only assertions.
func spansOf(list []knowledge.Recorded, asOf dag.Seq) []knowledge.Span {
	spans := make([]knowledge.Span, len(list))
	for i := range list {
		spans[i] = knowledge.Span{Statement: list[i].Act.Fact.Chain(), After: list[i].Opened - 1, UpTo: asOf}
	}
	return spans
}

// mostEvidence is the maximum number of assertions that a listing shows of each fact.
const mostEvidence = 32

// factIn returns a version as a fact with the canonical names of a view, and the newest of its evidence.
func factIn(v *projection.View, r *knowledge.Recorded, evidence []knowledge.Recorded) api.Fact {
	of, _ := r.Version()
	w := api.Fact{
		Statement: of.ID, Subject: v.Aliases.Resolve(of.Subject), Predicate: of.Predicate, Object: v.Aliases.Resolve(of.Object), Confidence: of.Confidence,
		Source: of.Source, Turn: of.Turn, Since: of.Since, ValidFrom: of.From, ValidUntil: api.EndOf(&of.Statement), EvidenceTotal: len(evidence),
	}
	w.Asserted = api.AssertedOf(&of.Statement, w.Subject, w.Object)
	for i := range evidence {
		if evidence[i].Seq == of.Since {
			w.Written = evidence[i].Act.Fact.Written
		}
	}
	w.Evidence = evidenceOf(evidence[max(0, len(evidence)-mostEvidence):])
	return w
}

func evidenceOf(list []knowledge.Recorded) []api.FactEvidence {
	w := make([]api.FactEvidence, len(list))
	for i := range list {
		r, said := &list[i], &list[i].Act.Fact
		w[i] = api.FactEvidence{
			Seq: r.Seq, At: r.At, Source: said.Source, Confidence: said.Confidence, Turn: said.Turn, Slice: slice.SliceID(said.Slice), Written: said.Written,
		}
	}
	return w
}

// Totals counts the facts as of a number, and the entities in them; 0 is now.
func (k Facts) Totals(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (knowledge.Totals, error) {
	return read(k.kernel, func(e epoch) (n knowledge.Totals, err error) {
		v, err := viewAsOf(ctx, e, tenant, asOf)
		if err != nil {
			return n, err
		}
		n, err = e.Knowledge().Totals(ctx, tenant, v.Aliases, v.AsOf)
		return n, cmp.Or(err, e.Still())
	})
}

// mostCounts is the maximum number of names of a count.
const mostCounts = 100

// Count counts the believed facts, and their entities, predicates and sources.
func (k Facts) Count(ctx context.Context, tenant dag.Tenant, in api.KnowledgeCount) (w api.KnowledgeStats, err error) {
	asOf, err := k.kernel.AsOf(ctx, tenant, in.AsOf)
	if err != nil {
		return w, err
	}
	given := cmp.Or(asOf, in.AsOf) // asOf is 0 if there was nothing yet, but as an argument 0 is now
	aliases, err := k.Aliases(ctx, tenant, given)
	if err != nil {
		return w, err
	}
	w = api.KnowledgeStats{Aliases: aliases.Len(), AsOf: asOf}
	if in.Brief {
		n, err := k.Totals(ctx, tenant, given)
		w.Facts, w.Entities, w.Predicates, w.Sources = n.Facts, n.Entities, []api.NameCount{}, []api.NameCount{}
		return w, err
	}
	const atOnce = 1000
	entities, predicates, sources := map[string]bool{}, map[string]int{}, map[string]int{}
	for after := dag.Seq(0); after < asOf; {
		list, err := k.Acts(ctx, tenant, after, atOnce)
		if err != nil {
			return w, err
		}
		for i := range list {
			if v, ok := list[i].Version(); ok && v.Seen(asOf) {
				w.Facts++
				entities[aliases.Resolve(v.Subject)], entities[aliases.Resolve(v.Object)] = true, true
				predicates[v.Predicate]++
				sources[v.Source]++
			}
		}
		if len(list) < atOnce {
			break
		}
		after = list[len(list)-1].Seq
	}
	w.Entities = len(entities)
	w.Predicates, w.PredicatesTotal = counts(predicates), len(predicates)
	w.Sources, w.SourcesTotal = counts(sources), len(sources)
	return w, nil
}

// counts returns the names with the most facts, in descending order, at most mostCounts.
func counts(of map[string]int) []api.NameCount {
	list := make([]api.NameCount, 0, len(of))
	for name, n := range of {
		list = append(list, api.NameCount{Name: name, Facts: n})
	}
	slices.SortFunc(list, func(a, b api.NameCount) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), mostCounts)]
}

// Aliases returns the alias table as of a number; 0 is now.
func (k Facts) Aliases(ctx context.Context, tenant dag.Tenant, at dag.Seq) (*normalize.Table, error) {
	return read(k.kernel, func(e epoch) (*normalize.Table, error) {
		v, err := viewAsOf(ctx, e, tenant, at)
		if err != nil {
			return nil, err
		}
		return v.Aliases, nil
	})
}

// ListAliases lists a page of the alias table.
func (k Facts) ListAliases(ctx context.Context, tenant dag.Tenant, in api.AliasesOf) (api.Aliases, error) {
	return read(k.kernel, func(e epoch) (w api.Aliases, err error) {
		after, v, err := e.pageInView(ctx, tenant, &in.Paging, in.AsOf)
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
