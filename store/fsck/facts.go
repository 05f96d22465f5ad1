package fsck

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// recutFacts cuts an issued slice of facts again.
func recutFacts(c *checker, where string, i *issued.Record, registry policy.Registry) error {
	if gone, err := erasedFacts(c, i); err != nil || gone {
		return err
	}
	q, err := facts.ParseQuestion(i.Question)
	if err != nil {
		c.find(where, "question", "%v", err)
		return nil
	}
	p, err := registry.Get(i.Provenance.PolicyID)
	if err != nil {
		c.find(where, "policy", "%s is not registered", i.Provenance.PolicyID)
		return nil
	}
	b, err := cutFacts(c, q, p, i.AsOf)
	if err != nil {
		return c.cannot(where, "slice", err)
	}
	c.counts.Recut++
	compare(c, where, &i.Provenance, &b.Provenance)
	b.Seal = slice.Seal{Tenant: c.tenant, KeyID: i.KeyID, Token: i.Token}
	if again := dag.Digest(sha256.Sum256(b.Append(nil))); again != i.Bundle { // the bundle contains nothing that can be erased
		c.find(where, "bundle", "the record has %s, but cutting again makes %s", i.Bundle, again)
	}
	return nil
}

// erasedFacts reports whether assertions of a slice of facts, or its question, were erased: then the slice
// cannot be cut again. A question is erased with a name that facts had, which takes the erasure of a turn.
func erasedFacts(c *checker, i *issued.Record) (bool, error) {
	acts, err := knowledgeBase(c).ActsAt(c.ctx, c.tenant, i.Facts.Unpack())
	if err != nil {
		return false, c.unreadable(issuedName(i.Number), err)
	}
	if slices.ContainsFunc(acts, func(r knowledge.Recorded) bool { return r.Erased }) {
		return true, nil
	}
	return i.Question == "" && c.counts.Events > 0, nil
}

func cutFacts(c *checker, q facts.Question, p policy.Registered, asOf dag.Seq) (*facts.Bundle, error) {
	params, err := facts.PolicyOf(p)
	if err != nil {
		return nil, err
	}
	aliases, err := aliasesAsOf(c, asOf)
	if err != nil {
		return nil, err
	}
	answer, err := knowledge.Traverse(c.ctx, edgesOf{c}, aliases, q.Query(&params, asOf))
	if err != nil {
		return nil, err
	}
	leaves := func(ctx context.Context, turns []dag.TurnID, leaf func(dag.TurnID, dag.Digest)) error {
		records, err := c.s.Turns(ctx, c.tenant, store.IDs(turns))
		for i := range records {
			leaf(records[i].Turn.ID, records[i].Leaf)
		}
		return err
	}
	known, err := facts.Gather(c.ctx, knowledgeBase(c), leaves, c.tenant, aliases, &answer)
	if err != nil {
		return nil, err
	}
	return facts.Cut(q, p, asOf, &answer, known)
}

// knowledgeBase returns a Base that reads the store's facts.
func knowledgeBase(c *checker) knowledge.Base { return knowledge.Base{History: c.s} }

// An aliasTable is the alias table as of the number that was last asked for.
type aliasTable struct {
	acts  []knowledge.Recorded // of the tenant, by ascending number
	asOf  dag.Seq
	taken int // the number of acts that table includes
	table *normalize.Table
}

// aliasesAsOf returns the alias table as of a number. Most slices were issued in the order of their numbers, so it extends the last table if it can.
func aliasesAsOf(c *checker, asOf dag.Seq) (*normalize.Table, error) {
	a := c.table
	if a == nil {
		acts, err := knowledgeBase(c).Aliases(c.ctx, c.tenant, 0)
		if err != nil {
			return nil, err
		}
		a = &aliasTable{acts: acts}
	}
	if asOf < a.asOf {
		a = &aliasTable{acts: a.acts}
	}
	taken := a.taken
	for taken < len(a.acts) && a.acts[taken].Seq <= asOf {
		taken++
	}
	table := a.table
	if taken > a.taken {
		var err error
		if table, err = knowledge.AliasesOf(a.table, a.acts[a.taken:taken], asOf); err != nil {
			return nil, err
		}
	}
	c.table = &aliasTable{a.acts, asOf, taken, table}
	return table, nil
}

// edgesOf returns the store's edges, as a knowledge.Graph.
type edgesOf struct{ c *checker }

func (e edgesOf) Edges(ctx context.Context, asks []knowledge.Ask) ([]knowledge.Run, error) {
	lists, err := knowledgeBase(e.c).Edges(ctx, e.c.tenant, asks)
	if err != nil {
		return nil, err
	}
	return knowledge.Runs(asks, lists), nil
}
