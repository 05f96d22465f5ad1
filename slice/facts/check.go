package facts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice"
)

// The checks of a bundle of facts that a bundle of turns does not have. The other checks have the names and meanings of
// package slice.
const (
	CheckFacts    slice.CheckID = "facts"    // the policy and the question admit every fact, and every fact lies on a path
	CheckAliases  slice.CheckID = "aliases"  // every alias belongs to a name in the bundle, and leads to a name that is no alias
	CheckEvidence slice.CheckID = "evidence" // the turns are exactly the turns that the facts name
	CheckReached  slice.CheckID = "reached"  // every path is connected and obeys the policy, and the paths are in their canonical order
	CheckQuestion slice.CheckID = "question" // anchor_turn_id is the anchor of the question
)

// Checks lists the checks of Bundle.Check, in their order.
var Checks = [...]slice.CheckID{
	slice.CheckCanonicalOrder, CheckFacts, CheckAliases, CheckEvidence, CheckReached, CheckQuestion,
	slice.CheckPolicyHash, slice.CheckSnapshot, slice.CheckSliceID,
}

// Check recomputes from the bundle's body everything that its header claims, and returns one result for each of Checks,
// even if some fail. It does not check the token.
func (b *Bundle) Check() []slice.Check {
	want, got := b.fingerprint(), &b.Provenance
	return []slice.Check{
		b.checkCanonicalOrder(), b.checkFacts(), b.checkAliases(), b.checkEvidence(), b.checkReached(),
		slice.Compared(CheckQuestion, want.Anchor, got.Anchor),
		slice.Compared(slice.CheckPolicyHash, want.PolicyParamsHash, got.PolicyParamsHash),
		slice.Compared(slice.CheckSnapshot, want.GraphSnapshotHash, got.GraphSnapshotHash),
		slice.Compared(slice.CheckSliceID, want.SliceID, got.SliceID),
	}
}

func (b *Bundle) checkCanonicalOrder() slice.Check {
	bad := func(format string, args ...any) slice.Check {
		return slice.Failed(slice.CheckCanonicalOrder, "", "", format, args...)
	}
	for i := 1; i < len(b.Facts); i++ {
		if x, y := b.Facts[i-1].Fact.ID(), b.Facts[i].Fact.ID(); compareIDs(x, y) >= 0 {
			return bad("facts[%d]: statement %s does not come after %s", i, y, x)
		}
	}
	for i := 1; i < len(b.Aliases); i++ {
		if b.Aliases[i-1].Alias >= b.Aliases[i].Alias {
			return bad("aliases[%d]: %.80q does not come after %.80q", i, b.Aliases[i].Alias, b.Aliases[i-1].Alias)
		}
	}
	for i := 1; i < len(b.Evidence); i++ {
		if b.Evidence[i-1].ID.Compare(b.Evidence[i].ID) >= 0 {
			return bad("evidence[%d]: turn %s does not come after %s", i, b.Evidence[i].ID, b.Evidence[i-1].ID)
		}
	}
	return slice.Passed(slice.CheckCanonicalOrder, "%d facts, %d aliases, %d turns", len(b.Facts), len(b.Aliases), len(b.Evidence))
}

func (b *Bundle) checkFacts() slice.Check {
	used := map[knowledge.ID]bool{}
	for i := range b.Reached {
		for j := range b.Reached[i].Path {
			used[b.Reached[i].Path[j].Fact] = true
		}
	}
	follows := b.Policy.Follows()
	for i := range b.Facts {
		f := &b.Facts[i].Fact
		wrong := b.keptOut(f, follows)
		if !used[f.ID()] {
			wrong = "no path uses it"
		}
		if wrong != "" {
			return slice.Failed(CheckFacts, "", "", "facts[%d], statement %s: %s", i, f.ID(), wrong)
		}
	}
	return slice.Passed(CheckFacts, "%d", len(b.Facts))
}

// keptOut returns why the policy or the question does not admit a fact, or "".
func (b *Bundle) keptOut(f *knowledge.Fact, follows []string) string {
	switch {
	case f.Confidence < b.Policy.MinConfidence:
		return fmt.Sprintf("its confidence %s is below min_confidence %s", f.Confidence, b.Policy.MinConfidence)
	case len(follows) > 0 && !slices.Contains(follows, f.Predicate):
		return fmt.Sprintf("the policy does not follow %.80q", f.Predicate)
	case b.Question.ValidAt != nil && !f.Holds(*b.Question.ValidAt):
		return fmt.Sprintf("it does not hold at %s", b.Question.ValidAt)
	}
	return ""
}

func (b *Bundle) checkAliases() slice.Check {
	names := b.names()
	for i, a := range b.Aliases {
		wrong := b.chained(a)
		if !names[a.Alias] {
			wrong = "no part of the bundle uses it"
		}
		if wrong != "" {
			return slice.Failed(CheckAliases, "", "", "aliases[%d], %.80q: %s", i, a.Alias, wrong)
		}
	}
	return slice.Passed(CheckAliases, "%d", len(b.Aliases))
}

// chained returns why an alias does not lead to a name that is no alias, or "".
func (b *Bundle) chained(a Alias) string {
	if a.Alias == a.Canonical {
		return "it is an alias of itself"
	}
	if _, chain := b.alias(a.Canonical); chain {
		return fmt.Sprintf("its canonical name %.80q is itself an alias", a.Canonical)
	}
	return ""
}

// alias returns the canonical name of a name, and whether the name is an alias.
func (b *Bundle) alias(name string) (string, bool) {
	at, ok := slices.BinarySearchFunc(b.Aliases, name, func(a Alias, name string) int { return cmp.Compare(a.Alias, name) })
	if !ok {
		return name, false
	}
	return b.Aliases[at].Canonical, true
}

func (b *Bundle) resolve(name string) string {
	name, _ = b.alias(name)
	return name
}

func (b *Bundle) checkEvidence() slice.Check {
	named := map[dag.TurnID]bool{}
	for i := range b.Facts {
		if turn := b.Facts[i].Fact.Turn; turn != (dag.TurnID{}) {
			named[turn] = true
		}
	}
	for i := range b.Evidence {
		if !named[b.Evidence[i].ID] {
			return slice.Failed(CheckEvidence, "", b.Evidence[i].ID.String(), "evidence[%d]: no fact names turn %s", i, b.Evidence[i].ID)
		}
	}
	if len(named) != len(b.Evidence) {
		return slice.Failed(CheckEvidence, fmt.Sprint(len(named)), fmt.Sprint(len(b.Evidence)), "the number of turns differs from the number that the facts name")
	}
	return slice.Passed(CheckEvidence, "%d turns", len(named))
}

// A place is the position of an entity in a traversal, with the path to it.
type place struct {
	index int
	from  string // the start of the path
	path  []Step
	low   dag.PPM
}

// checkReached follows every path, and checks that the paths are in the order of knowledge.Traverse: each path extends
// the best path of another entity, and the paths are ordered by hops, by the lowest confidence, by the entity that they
// extend and by the edge.
func (b *Bundle) checkReached() slice.Check {
	bad := func(i int, format string, args ...any) slice.Check {
		return slice.Failed(CheckReached, "", "", "reached[%d], %.80q: %s", i, b.Reached[i].Entity, fmt.Sprintf(format, args...))
	}
	if len(b.Reached) > b.Policy.MaxResults {
		return slice.Failed(CheckReached, fmt.Sprint(b.Policy.MaxResults), fmt.Sprint(len(b.Reached)), "more entities than max_results")
	}
	if b.Cut == knowledge.CutResults && len(b.Reached) < b.Policy.MaxResults {
		return slice.Failed(CheckReached, fmt.Sprint(b.Policy.MaxResults), fmt.Sprint(len(b.Reached)), "cut says that results were left out, but there are fewer entities than max_results")
	}
	facts := make(map[knowledge.ID]*knowledge.Fact, len(b.Facts))
	for i := range b.Facts {
		facts[b.Facts[i].Fact.ID()] = &b.Facts[i].Fact
	}
	places := make(map[string]place, len(b.Question.Start)+len(b.Reached))
	for _, name := range b.Question.Start {
		if name = b.resolve(name); places[name].low == 0 {
			places[name] = place{index: len(places), from: name, low: dag.One}
		}
	}
	var before order
	for i := range b.Reached {
		r := &b.Reached[i]
		if len(r.Path) == 0 || len(r.Path) > b.Policy.MaxHops {
			return bad(i, "it has %d hops, want 1 to max_hops, which is %d", len(r.Path), b.Policy.MaxHops)
		}
		last := len(r.Path) - 1
		via := r.From
		if last > 0 {
			via = r.Path[last-1].Entity
		}
		parent, ok := places[via]
		if !ok || parent.from != r.From || !slices.Equal(parent.path, r.Path[:last]) {
			return bad(i, "its path to %.80q differs from the path that is listed for that entity", via)
		}
		step := &r.Path[last]
		f := facts[step.Fact]
		if f == nil {
			return bad(i, "statement %s is not among the facts", step.Fact)
		}
		near, far := f.Subject, f.Object
		if step.Incoming {
			near, far = far, near
		}
		switch {
		case step.Incoming && b.Policy.Direction == knowledge.Outgoing, !step.Incoming && b.Policy.Direction == knowledge.Incoming:
			return bad(i, "the policy allows only %s steps, and the last step goes the other way", b.Policy.Direction)
		case b.resolve(near) != via || b.resolve(far) != step.Entity || step.Entity != r.Entity:
			return bad(i, "the last step, statement %s, does not lead from %.80q to this entity", step.Fact, via)
		}
		if _, again := places[r.Entity]; again {
			return bad(i, "the entity is listed twice")
		}
		low := min(parent.low, f.Confidence)
		if low != r.MinConfidence {
			return slice.Failed(CheckReached, low.String(), r.MinConfidence.String(), "reached[%d], %.80q: min_confidence differs from the lowest confidence on the path", i, r.Entity)
		}
		now := order{hops: len(r.Path), low: low, parent: parent.index, edge: knowledge.Edge{
			Version: knowledge.Version{ID: step.Fact, Confidence: f.Confidence}, Incoming: step.Incoming,
		}}
		if i > 0 && before.compare(&now) >= 0 {
			return bad(i, "it does not come after %.80q", b.Reached[i-1].Entity)
		}
		before = now
		places[r.Entity] = place{index: len(places), from: r.From, path: r.Path, low: low}
	}
	return slice.Passed(CheckReached, "%d entities", len(b.Reached))
}

// An order contains the values by which reached entities are ordered.
type order struct {
	hops   int
	low    dag.PPM
	parent int
	edge   knowledge.Edge
}

func (o *order) compare(p *order) int {
	return cmp.Or(cmp.Compare(o.hops, p.hops), cmp.Compare(p.low, o.low), cmp.Compare(o.parent, p.parent), o.edge.Compare(&p.edge))
}
