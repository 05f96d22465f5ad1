package assemble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/slice/contexts"
)

// A beliefSource finds the candidates that are beliefs: the constraints in the spaces of a request, which are mandatory, and the beliefs that share terms with
// the task or assert a fact that was found.
type beliefSource struct {
	*view
	of        map[string]*journal.Revision // the revisions that are believed in the spaces, by address
	chains    map[knowledge.ID]string      // the address of the revision that asserts a fact, by Fact.Chain
	always    map[string]bool              // the addresses of the constraints, which are mandatory
	loads     map[belief.Space]journal.Load
	overfull  []api.OverfullSpace
	contested map[belief.Item]bool
	found     map[string]*contexts.Candidate
	reached   int // the number of candidates in found that have the source FromFacts
}

// read reads the beliefs at rulesAsOf, without those whose span has ended.
func (g *beliefSource) read(ctx context.Context) error {
	j := g.epoch.Journal()
	all, err := j.Spaces(ctx, g.tenant, g.rulesAsOf())
	if err != nil {
		return err
	}
	spaces := slices.Sorted(maps.Keys(all))
	if len(g.asked.Spaces) > 0 {
		spaces = nil
		for _, s := range g.asked.Spaces {
			if _, ok := all[belief.Space(s)]; !ok && belief.Space(s).OfProject() {
				continue // nothing is remembered there yet
			} else if !ok {
				return fmt.Errorf("%w: %s", journal.ErrSpace, s)
			}
			spaces = append(spaces, belief.Space(s))
		}
	}
	for _, space := range spaces {
		if err := g.readSpace(ctx, j, space, policy.ID(all[space])); err != nil {
			return err
		}
	}
	return nil
}

func (g *beliefSource) readSpace(ctx context.Context, j journal.Base, space belief.Space, id policy.ID) error {
	binding, err := g.epoch.Binding(ctx, g.tenant, id)
	if err != nil {
		return err
	}
	held, err := j.Believed(ctx, g.tenant, space, g.rulesAsOf())
	if err != nil {
		return err
	}
	waiting, err := j.Conflicts(ctx, g.tenant, space, g.rulesAsOf())
	if err != nil {
		return err
	}
	present := g.reference
	if g.asked.Counted() { // times by the kernel's clock; the time of a turn is chosen by its writer
		present = 0
		for i := range held {
			present = max(present, held[i].Revision.At)
		}
		for i := range waiting {
			present = max(present, waiting[i].At)
		}
	}
	for i := range held {
		r := held[i].Revision
		if held[i].Stated().Span.Until <= present {
			continue
		}
		address := r.Address().String()
		if g.of[address] == nil {
			is, err := binding.Constrains(ctx, g.tenant, r, g.Reading)
			if err != nil {
				return err
			}
			if is && g.asked.Counted() {
				of, _ := g.course.OfBelief(r.Seq, r.By, r.Vouched())
				is = of.Standing.Orders()
			}
			if is {
				g.always[address] = true
			}
		}
		g.of[address] = r
		if chain, ok := r.Chain(held[i].At); ok {
			g.chains[chain] = address
		}
	}
	g.loads[space] = binding.Load(held)
	for _, c := range waiting {
		for _, with := range c.With {
			g.contested[with.Item] = true
		}
	}
	return nil
}

// gather gathers the constraints, and the beliefs that share terms with the task, by descending share.
func (g *beliefSource) gather() error {
	if err := g.bound(); err != nil {
		return err
	}
	if most := g.policy.Quotas[contexts.FromConstraints]; most > 0 && len(g.always) > most {
		return fmt.Errorf("%w: %d beliefs are constraints, which every context includes, and the policy allows at most %d; raise quotas.%s, or name only the spaces that you need",
			contexts.ErrRequest, len(g.always), most, contexts.FromConstraints)
	}
	if g.policy.Quotas[contexts.FromConstraints] > 0 {
		for address := range g.always {
			g.candidate(address).From[contexts.FromConstraints] = true
		}
	}
	g.remember()
	quota := g.policy.Quotas[contexts.FromBeliefs]
	asked := slices.Compact(slices.Sorted(slices.Values(analysis.English.Terms(nil, g.asked.Task))))
	if quota == 0 || len(asked) == 0 {
		return nil
	}
	shares := make(map[string]dag.PPM, len(g.of))
	for address, r := range g.of {
		if share := share(g.epoch.Terms(g.tenant, r), asked); share > 0 {
			shares[address] = share
		}
	}
	found := slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), strings.Compare(a, b))
	})
	for _, address := range found[:min(quota, len(found))] {
		c := g.candidate(address)
		c.From[contexts.FromBeliefs] = true
	}
	for address, c := range g.found {
		c.Features[contexts.FeatureTask] = max(c.Features[contexts.FeatureTask], shares[address])
	}
	return nil
}

// remember gathers the newest beliefs of owners and members, except constraints. Beliefs in the space of a project are gathered only if the request names the space.
func (g *beliefSource) remember() {
	quota := g.policy.Quotas[contexts.FromRemembered]
	if quota == 0 || !g.asked.Counted() {
		return
	}
	var stated []string
	for address, r := range g.of {
		if of, _ := g.course.OfBelief(r.Seq, r.By, r.Vouched()); of.Standing.Orders() && !g.always[address] && (len(g.asked.Spaces) > 0 || !r.Item.Space().OfProject() || r.Item.Space() == belief.General) {
			stated = append(stated, address)
		}
	}
	slices.SortFunc(stated, func(a, b string) int { return cmp.Or(cmp.Compare(g.of[b].Seq, g.of[a].Seq), strings.Compare(a, b)) })
	for i, address := range stated[:min(quota, len(stated))] {
		c := g.candidate(address)
		c.From[contexts.FromRemembered] = true
		c.Features[contexts.FeatureLine] = dag.One - dag.PPM(i)*fallsBy
	}
}

// fallsBy is how much less a belief is wanted in a brief than the one that was stated after it: as much as three lines of sessions.
const fallsBy = 30_000

// reach adds the belief that asserts a fact as a candidate, if it is in one of the spaces. It reports whether any belief asserts the fact.
func (g *beliefSource) reach(f *knowledge.Fact, hops int) bool {
	if !f.Held() {
		return false
	}
	address, ok := g.chains[f.Chain()]
	if !ok {
		return true
	}
	c := g.candidate(address)
	if !c.From[contexts.FromFacts] {
		c.From[contexts.FromFacts] = true
		g.reached++
	}
	c.Features[contexts.FeatureTask] = max(c.Features[contexts.FeatureTask], dag.One/dag.PPM(hops))
	return true
}

// candidate returns the candidate of the revision at an address, and adds it if necessary.
func (g *beliefSource) candidate(address string) *contexts.Candidate {
	if c := g.found[address]; c != nil {
		return c
	}
	r := g.of[address]
	c := &contexts.Candidate{Kind: contexts.KindBelief, ID: address, Leaf: r.Leaf(), Seq: r.Seq, Cost: contexts.Tokens(contexts.BeliefText(r))}
	c.Features[contexts.FeatureConfidence] = r.Confidence
	c.Features[contexts.FeatureEvidence] = dag.One / 2
	if len(r.RestsOn()) > 0 {
		c.Features[contexts.FeatureEvidence] = dag.One
	}
	if g.contested[r.Item] {
		c.Features[contexts.FeatureContested] = dag.One
	}
	g.found[address] = c
	return c
}

func (g *beliefSource) textCost(r *journal.Revision) int {
	return contexts.Tokens(contexts.BeliefText(r))
}

// blockCost returns the cost of a constraint in a prompt of gkc/2 in tokens. The first constraint also pays for the heading.
func (g *beliefSource) blockCost(l *contexts.Layout, r *journal.Revision) int {
	of, _ := g.course.OfBelief(r.Seq, r.By, r.Vouched())
	c := contexts.Candidate{Kind: contexts.KindBelief, ID: r.Address().String(), Standing: of.Standing}
	c.From[contexts.FromConstraints] = true
	p := &contexts.Piece{Candidate: &c, Belief: r}
	defer l.Add(p)
	return l.Block(p)
}

// share returns the share of the asked terms that are among terms, in ppm. terms are ascending.
func share(terms, asked []string) dag.PPM {
	has := 0
	for _, t := range asked {
		if _, there := slices.BinarySearch(terms, t); there {
			has++
		}
	}
	return dag.PPM(int64(has) * int64(dag.One) / int64(len(asked)))
}

// bound makes sure that the constraints fit into a context. If they do not, the newest constraints of overfull spaces are no longer mandatory and compete
// by their terms with other beliefs, as many as necessary. Constraints of other spaces stay mandatory. A context of one overfull space alone is refused.
func (g *beliefSource) bound() error {
	cost, frame := g.textCost, 0
	if g.asked.Counted() {
		layout := contexts.NewLayout(g.asked, g.policy)
		cost, frame = func(r *journal.Revision) int { return g.blockCost(layout, r) }, layout.Frame()
	}
	most := g.policy.Quotas[contexts.FromConstraints]
	if g.Reading < dag.ReadVouched || most == 0 || g.policy.Sections.Rules > 0 {
		return nil
	}
	total := frame
	var loose []*journal.Revision // constraints of overfull spaces
	for address := range g.always {
		r := g.of[address]
		total += cost(r)
		if g.loads[r.Item.Space()].Over() {
			loose = append(loose, r)
		}
	}
	fits := func() bool { return len(g.always) <= most && total <= g.asked.Budget }
	if fits() || len(loose) == 0 {
		return nil
	}
	if len(g.asked.Spaces) == 1 {
		space := loose[0].Item.Space()
		load := g.loads[space]
		return fmt.Errorf("%w: the space %s has %d constraints in %d bytes, at most %d in %d bytes, and they do not fit into this context; list them with graphkernel belief rules %s, and end some with graphkernel belief contract or belief deprecate",
			journal.ErrTooManyConstraints, space, load.Count, load.Bytes, journal.MaxConstraints, journal.MaxConstraintBytes, space)
	}
	slices.SortFunc(loose, func(a, b *journal.Revision) int {
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), strings.Compare(string(a.Item), string(b.Item)))
	})
	left := map[belief.Space]int{}
	for _, r := range loose {
		if fits() {
			break
		}
		delete(g.always, r.Address().String())
		total -= cost(r)
		left[r.Item.Space()]++
	}
	for _, space := range slices.Sorted(maps.Keys(left)) {
		g.overfull = append(g.overfull, api.OverfullSpace{Space: space, Count: g.loads[space].Count, Left: left[space]})
	}
	return nil
}
