package kernel

import (
	"cmp"
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// A FactQuery asks for facts. Names are as they are written; what is empty does not limit.
type FactQuery struct {
	Subject, Predicate, Object string
	Entity                     string // the subject or the object
	Source                     string
	Turn                       *dag.TurnID
	Statement                  *knowledge.ID
	MinConfidence              dag.PPM
	AsOf                       dag.Seq   // 0: now
	ValidAt                    *dag.Time // nil: whenever it held
	After                      dag.Seq   // facts that are believed since a later number
	Limit                      int       // 0: 100, at most MaxFacts
}

// MaxFacts bounds a page of facts.
const MaxFacts = 1000

// limits reports whether the query picks facts out by what they are about or rest on. That they
// hold at a time, or are believed with some confidence, is true of nearly all.
func (q *FactQuery) limits() bool {
	return q.Subject != "" || q.Predicate != "" || q.Object != "" || q.Entity != "" || q.Source != "" || q.Turn != nil || q.Statement != nil
}

// A Fact is a statement that is believed, as somebody who asks sees it.
type Fact struct {
	Version  knowledge.Version
	Subject  string // the canonical name, under the aliases that counted
	Object   string
	Evidence []knowledge.Recorded // the assertions that count, by ascending number
}

// A FactPage is an answer to a FactQuery.
type FactPage struct {
	Facts []Fact
	Total int     // of all pages
	Next  dag.Seq // After of the next page, which has facts; 0: there is none
	AsOf  dag.Seq
}

// List lists facts, by ascending number of the assertion that gave their confidence.
func (k Facts) List(ctx context.Context, tenant dag.Tenant, q FactQuery) (_ *FactPage, err error) {
	ctx, observed := k.observe(ctx, "facts")
	defer func() { observed(err) }()
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.Limit < 1 || q.Limit > MaxFacts {
		return nil, fmt.Errorf("%w: a limit of %d, want 1 to %d", knowledge.ErrQuery, q.Limit, MaxFacts)
	}
	return steady(k.engine, func(c *cache) (*FactPage, error) {
		find, v, err := c.find(ctx, tenant, &q)
		if err != nil {
			return nil, err
		}
		find.Limit++ // one more tells whether any follow
		list, total, err := c.store.knowledge().Versions(ctx, tenant, find)
		if err != nil {
			return nil, err
		}
		page := &FactPage{Total: total, AsOf: v.asOf}
		if len(list) > q.Limit {
			list = list[:q.Limit]
			page.Next = list[q.Limit-1].Seq
		}
		evidence, err := c.store.knowledge().ActsIn(ctx, tenant, spansOf(list, v.asOf))
		if err != nil {
			return nil, err
		}
		page.Facts = make([]Fact, len(list))
		for i := range list {
			page.Facts[i] = v.fact(&list[i], evidence[i])
		}
		return page, c.store.still()
	})
}

// Totals counts the facts as of a number, 0 is now, and the names that they are about.
func (k Facts) Totals(ctx context.Context, tenant dag.Tenant, asOf dag.Seq) (knowledge.Totals, error) {
	return steady(k.engine, func(c *cache) (knowledge.Totals, error) {
		_, v, err := c.find(ctx, tenant, &FactQuery{AsOf: asOf})
		if err != nil {
			return knowledge.Totals{}, err
		}
		n, err := c.store.knowledge().Totals(ctx, tenant, v.aliases, v.asOf)
		return n, cmp.Or(err, c.store.still())
	})
}

// find turns a query into one of stored names.
func (c *cache) find(ctx context.Context, tenant dag.Tenant, q *FactQuery) (f knowledge.Find, v *view, err error) {
	at, _, err := c.asOf(ctx, tenant, q.AsOf)
	if err != nil {
		return f, nil, err
	}
	if v, err = c.tenants.of(tenant).facts.view(ctx, at); err != nil {
		return f, nil, err
	}
	f = knowledge.Find{
		Filter: knowledge.Filter{AsOf: at, ValidAt: q.ValidAt, MinConfidence: q.MinConfidence},
		Source: q.Source, Turn: q.Turn, Statement: q.Statement, After: q.After, Limit: q.Limit,
	}
	if s := scopeOf(ctx); !s.whole() {
		f.Shows = s.shows
	}
	for _, n := range [...]struct {
		written string
		into    *[]string
	}{{q.Subject, &f.Subjects}, {q.Object, &f.Objects}, {q.Entity, &f.Either}} {
		if n.written == "" {
			continue
		}
		names, err := namesOf([]string{n.written})
		if err != nil {
			return f, nil, err
		}
		*n.into = v.aliases.Members(v.aliases.Resolve(names[0]))
	}
	if q.Predicate != "" {
		f.Predicates, err = namesOf([]string{q.Predicate})
	}
	return f, v, err
}

// spansOf returns of each version the acts that count for it as of a number: those since its
// statement is believed, which are all assertions.
func spansOf(list []knowledge.Recorded, asOf dag.Seq) []knowledge.Span {
	spans := make([]knowledge.Span, len(list))
	for i := range list {
		spans[i] = knowledge.Span{Statement: list[i].Act.Fact.Chain(), After: list[i].Opened - 1, UpTo: asOf}
	}
	return spans
}

// fact completes what a listing gives of a version.
func (v *view) fact(r *knowledge.Recorded, evidence []knowledge.Recorded) Fact {
	version, _ := r.Version()
	return Fact{Version: version, Subject: v.aliases.Resolve(version.Subject), Object: v.aliases.Resolve(version.Object), Evidence: evidence}
}
