package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/store"
)

// Facts returns the reader and writer of a store's facts.
func Facts(s store.Store) knowledge.Base { return knowledge.Base{History: s} }

// Acts returns acts, with Until and Opened set.
func Acts(ctx context.Context, s store.Store, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	acts, err := Facts(s).Acts(ctx, tenant, after, limit)
	if err != nil {
		return nil, err
	}
	return acts, Facts(s).Complete(ctx, tenant, acts)
}

// Assertion returns an act that asserts a fact of entities e0, e1, …; the same arguments return the same act.
func Assertion(subject, predicate, object int, confidence dag.PPM, source string) knowledge.Act {
	f, err := knowledge.NewFact(fmt.Sprintf("e%d", subject), fmt.Sprintf("p%d", predicate), fmt.Sprintf("E%d", object), source)
	if err != nil {
		panic("storetest: " + err.Error())
	}
	f.Confidence = confidence
	return knowledge.Act{Kind: knowledge.Assert, Fact: f}
}

// RandomAct returns an act about few entities, so that most acts affect others.
func RandomAct(r *rand.Rand) knowledge.Act {
	const entities = 6
	name := func(n int) string { return fmt.Sprintf("e%d", n) }
	a := Assertion(r.IntN(entities), r.IntN(2), r.IntN(entities), dag.PPM(r.IntN(3))*300_000, fmt.Sprintf("source-%d", r.IntN(2)))
	switch r.IntN(12) {
	case 0, 1:
		return knowledge.Act{Kind: knowledge.Retract, Statement: a.Fact.ID(), Reason: "it was \x00 wrong"}
	case 2:
		return knowledge.Act{Kind: knowledge.Alias, Alias: fmt.Sprintf("other-name-%d", r.IntN(4)), Canonical: name(r.IntN(2))}
	case 3:
		return knowledge.Act{Kind: knowledge.Unalias, Alias: fmt.Sprintf("other-name-%d", r.IntN(4)), Canonical: name(r.IntN(2))}
	case 4:
		a.Fact.Turn = TurnID(r.IntN(3) + 1)
	case 5:
		a.Fact.From, a.Fact.Statement.Until = dag.Time(r.IntN(4)), dag.Time(5+r.IntN(4))
	case 6:
		a.Fact.Slice = "0123456789abcdef"
	case 7, 8:
		a.Fact.Rule = normalize.V1
	case 9:
		a.Fact.Rule = normalize.V1
		a.Fact.Source = fmt.Sprintf("source,%q:%q,", "normalize", normalize.V2) // as if the act named a rule
	}
	return a
}

// beliefs replays acts up to a number, in the simplest way, and returns the believed statements with their confidences.
func beliefs(acts []knowledge.Recorded, asOf dag.Seq) map[knowledge.ID]dag.PPM {
	believed := map[knowledge.ID]dag.PPM{}
	for _, r := range acts {
		if r.Seq > asOf {
			break
		}
		switch r.Act.Kind {
		case knowledge.Assert:
			for _, old := range r.Act.Supersedes {
				delete(believed, old)
			}
			id := r.Act.Fact.ID()
			before, ok := believed[id]
			if c := r.Act.Fact.Confidence; !ok || c > before {
				believed[id] = c
			}
		case knowledge.Retract:
			delete(believed, r.Act.Statement)
		}
	}
	return believed
}

// decided is like beliefs, but uses the decisions of acts: if some acts are erased, only the decisions show what they ended.
func decided(acts []knowledge.Recorded, asOf dag.Seq) map[knowledge.ID]dag.PPM {
	ended := map[dag.Seq]bool{}
	for i := range acts {
		if acts[i].Seq <= asOf {
			for _, seq := range acts[i].Did.Ended {
				ended[seq] = true
			}
		}
	}
	believed := map[knowledge.ID]dag.PPM{}
	for i := range acts {
		if r := &acts[i]; r.Seq <= asOf && r.Did.Opened != 0 && !r.Erased && !ended[r.Seq] {
			believed[r.Act.Fact.ID()] = r.Act.Fact.Confidence
		}
	}
	return believed
}

// SameKnowledge compares everything that a store returns of a tenant's knowledge with what follows from its acts.
func SameKnowledge(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	acts, err := Acts(ctx, s, tenant, 0, 1<<30)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	statements := map[knowledge.ID]knowledge.Statement{}
	for i, r := range acts {
		if i > 0 && acts[i-1].Seq >= r.Seq {
			return fmt.Errorf("act %d does not come after %d", r.Seq, acts[i-1].Seq)
		}
		if !r.Erased && r.Leaf != r.Act.Leaf() {
			return fmt.Errorf("act %d has another leaf", r.Seq)
		}
		if r.Act.Kind == knowledge.Assert && !r.Erased {
			f := r.Act.Fact
			names[f.Subject], names[f.Object] = true, true
			statements[f.ID()] = f.Statement
		}
	}
	var asks []knowledge.Ask
	for name := range names {
		asks = append(asks, knowledge.Ask{Name: name, Limit: 1 << 20}, knowledge.Ask{Name: name, Incoming: true, Limit: 1 << 20})
	}
	lists, err := Facts(s).Edges(ctx, tenant, asks)
	if err != nil {
		return err
	}
	for _, r := range append(acts, knowledge.Recorded{Seq: dag.MaxSeq - 1}) {
		want := beliefs(acts, r.Seq)
		if slices.ContainsFunc(acts, func(r knowledge.Recorded) bool { return r.Erased }) {
			want = decided(acts, r.Seq)
		}
		var seen [2]map[knowledge.ID]dag.PPM
		for i := range seen {
			seen[i] = map[knowledge.ID]dag.PPM{}
		}
		for i, list := range lists {
			for _, e := range list {
				if e.Statement != statements[e.ID] || e.Incoming != asks[i].Incoming || !asks[i].Of(&e.Version) {
					return fmt.Errorf("asked for %+v, the store gave %+v", asks[i], e)
				}
				if !e.Seen(r.Seq) {
					continue
				}
				into := seen[0]
				if e.Incoming {
					into = seen[1]
				}
				if _, twice := into[e.ID]; twice {
					return fmt.Errorf("as of %d statement %s has two versions", r.Seq, e.ID)
				}
				into[e.ID] = e.Confidence
			}
		}
		for i := range seen {
			if !reflect.DeepEqual(seen[i], want) {
				return fmt.Errorf("as of %d, end %d: the edges say %v, the acts %v", r.Seq, i, seen[i], want)
			}
		}
	}
	for i, list := range lists {
		if !slices.IsSortedFunc(list, func(a, b knowledge.Edge) int { return a.Compare(&b) }) {
			return fmt.Errorf("the edges for %+v are not in order", asks[i])
		}
	}
	return nil
}
