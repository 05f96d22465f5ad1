package fsck

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// checkIssued cuts each issued slice again. The slice's record was checked with the entries and their terms.
func checkIssued(c *checker) error {
	registry, err := policyBase(c).All(c.ctx, c.tenant)
	if err != nil {
		registry = policy.Registry{} // checkPolicies has reported it
	}
	readable := err == nil
	bundles := map[[16]byte]struct{}{} // half of a SHA-256 distinguishes bundles
	for last := uint64(0); ; {
		page, err := issued.Base{History: c.s}.After(c.ctx, c.tenant, last, c.o.Page)
		if err != nil {
			return c.unreadable(issuedName(last+1)+" and on", err)
		}
		for n := range page {
			i := &page[n]
			if i.Number <= last {
				c.find(issuedName(i.Number), "number", "it is listed after number %d", last)
				return nil
			}
			last = i.Number
			half := [16]byte(i.Bundle[:16])
			if _, twice := bundles[half]; twice {
				c.find(issuedName(i.Number), "bundle", "%s is recorded already", i.Bundle)
			}
			bundles[half] = struct{}{}
			c.counts.Issued++
		}
		if err := checkTasks(c, page); err != nil {
			return err
		}
		if c.whole && readable && !c.o.Uncut {
			if registry, err = registeredFor(c, page, registry); err != nil {
				return err
			}
			if err := recut(c, page, registry); err != nil {
				return err
			}
		}
		c.progress("issued slices", int(last), int(last))
		if len(page) < c.o.Page {
			return nil
		}
	}
}

// checkTasks checks that erased tasks are gone.
func checkTasks(c *checker, page []issued.Record) error {
	for n := range page {
		i := &page[n]
		if !i.OfContext() || i.Question == "" {
			continue
		}
		list, err := issued.Base{History: c.s}.TaskErasuresOf(c.ctx, c.tenant, i.Provenance.SliceID)
		if err != nil {
			return c.unreadable(issuedName(i.Number)+", erasures of its task", err)
		}
		for e := range list {
			if list[e].Covers(i) && list[e].Seq <= c.head {
				c.find(issuedName(i.Number), "task", "number %d erased the task of context %s, but the task is still stored", list[e].Seq, i.Provenance.SliceID)
			}
		}
	}
	return nil
}

func issuedName(number uint64) string { return fmt.Sprintf("issued %d", number) }

// registeredFor returns a registry with the policies of the given slices. A policy that was registered
// during the check is missing from a registry that was read earlier; then the registry is read again.
func registeredFor(c *checker, page []issued.Record, registry policy.Registry) (policy.Registry, error) {
	unknown := func(i issued.Record) bool {
		_, err := registry.Get(i.Provenance.PolicyID)
		return err != nil
	}
	if !slices.ContainsFunc(page, unknown) {
		return registry, nil
	}
	again, err := policyBase(c).All(c.ctx, c.tenant)
	if err != nil {
		return registry, c.unreadable("policies", err)
	}
	return again, nil
}

// checkShown checks that the turns exist that a context showed or that a belief rests on. The context or belief
// is not made again: that takes an index of all texts, or the closure of a space, and is left to replay.
func checkShown(c *checker, where string, i *issued.Record) {
	for _, id := range i.Shown.Unpack() {
		if at, ok := c.lookup(id); !ok || c.turn(at).seq > i.AsOf {
			c.find(where, "shown", "turn %s does not exist at number %d", id, i.AsOf)
		}
	}
}

// recut cuts slices again, those around one conversation together.
func recut(c *checker, page []issued.Record, registry policy.Registry) error {
	var byConv []placed
	for n := range page {
		i := &page[n]
		where := issuedName(i.Number)
		if i.AsOf > c.head {
			c.saw(i.AsOf, where)
			continue
		}
		if i.OfContext() || i.OfBelief() {
			checkShown(c, where, i)
			continue
		}
		if i.OfFacts() {
			if err := recutFacts(c, where, i, registry); err != nil {
				return err
			}
			continue
		}
		at, ok := c.lookup(i.Provenance.Anchor)
		if !ok || c.turn(at).seq > i.AsOf {
			c.find(where, "anchor", "turn %s does not exist at number %d", i.Provenance.Anchor, i.AsOf)
			continue
		}
		p, err := registry.Get(i.Provenance.PolicyID)
		if err != nil {
			c.find(where, "policy", "%s is not registered", i.Provenance.PolicyID)
			continue
		}
		byConv = append(byConv, placed{i, p, c.turn(at).conv})
	}
	slices.SortStableFunc(byConv, func(a, b placed) int { return cmp.Compare(a.conv, b.conv) })
	for _, p := range byConv {
		if c.graph == nil || c.graph.dag.Size() > graphSize {
			c.graph = newGraph(c)
		}
		cut, err := c.graph.cut(p)
		if err != nil {
			c.graph = nil // part of it may be loaded
			if err := c.cannot(issuedName(p.Number), "slice", err); err != nil {
				return err
			}
			continue
		}
		c.counts.Recut++
		if compare(c, issuedName(p.Number), &p.Provenance, &cut.Provenance) {
			if err := rebundle(c, p.Record, cut); err != nil {
				return err
			}
		}
	}
	return nil
}

// A placed is an issued slice that can be cut again, with its policy.
type placed struct {
	*issued.Record
	policy policy.Registered
	conv   uint32 // of the anchor
}

// compare reports each field that differs, and returns whether all are the same.
func compare(c *checker, where string, stored, cut *slice.Provenance) bool {
	same := true
	for _, f := range []struct{ name, stored, cut string }{
		{"slice_id", string(stored.SliceID), string(cut.SliceID)},
		{"anchor_turn_id", stored.Anchor.String(), cut.Anchor.String()},
		{"policy_id", string(stored.PolicyID), string(cut.PolicyID)},
		{"policy_params_hash", stored.PolicyParamsHash.String(), cut.PolicyParamsHash.String()},
		{"graph_snapshot_hash", stored.GraphSnapshotHash.String(), cut.GraphSnapshotHash.String()},
		{"schema_version", stored.SchemaVersion, cut.SchemaVersion},
	} {
		if f.stored != f.cut {
			c.find(where, f.name, "the record has %s, but cutting again makes %s", f.stored, f.cut)
			same = false
		}
	}
	return same
}

// graphSize is the number of bytes of skeletons above which a new graph is begun.
const graphSize = 128 << 20

// A graph contains the skeletons of some conversations, up to the checker's head.
type graph struct {
	c     *checker
	dag   *dag.Graph
	holds map[dag.ConversationID]bool
}

func newGraph(c *checker) *graph {
	return &graph{c: c, dag: dag.NewGraph(), holds: map[dag.ConversationID]bool{}}
}

func (g *graph) cut(p placed) (*slice.Slice, error) {
	missing := []dag.ConversationID{g.c.conversations[p.conv].ID}
	for {
		if err := g.load(missing); err != nil {
			return nil, err
		}
		v := g.dag.At(p.AsOf).Under(p.Reading)
		words, err := wordsOf(g.c, v, p.policy)
		if err != nil {
			return nil, err
		}
		s, err := slice.Cut(v, p.Provenance.Anchor, p.policy, words)
		if err == nil {
			return s, nil
		}
		var lacks *slice.MissingError
		if !errors.As(err, &lacks) {
			return nil, err
		}
		missing = lacks.Conversations
		if slices.ContainsFunc(missing, func(c dag.ConversationID) bool { return g.holds[c] }) {
			return nil, fmt.Errorf("edges lead to turns that their conversations do not hold: %w", err)
		}
	}
}

// load adds conversations, without turns and links that were added meanwhile.
func (g *graph) load(conversations []dag.ConversationID) error {
	var parts []store.Part
	for _, id := range conversations {
		if !g.holds[id] {
			parts = append(parts, store.Part{Conversation: id})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	seg, err := g.c.s.Segment(g.c.ctx, g.c.tenant, parts)
	if err != nil {
		return err
	}
	for i := range seg.Turns {
		if seg.Turns[i].Seq <= g.c.head {
			if err := g.dag.Add(&seg.Turns[i]); err != nil {
				return err
			}
		}
	}
	for _, l := range seg.Links {
		if l.Seq <= g.c.head {
			if err := g.dag.AddLink(l); err != nil {
				return err
			}
		}
	}
	for _, p := range parts {
		g.holds[p.Conversation] = true
	}
	return nil
}
