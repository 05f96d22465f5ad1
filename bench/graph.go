package main

import (
	"context"
	"fmt"
	"os"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store"
)

// A graph is what every database holds alike, with the turns that slices are asked
// for. Several graphs share a database as tenants.
type graph struct {
	name   string
	tenant dag.Tenant
	policy policy.Registered
	full   bool // only slices are asked for that have as many turns as the policy lets in

	// draw hands over all turns, parents before children, some at a time.
	draw func(take func([]dag.Draft) error) error

	// What draw found on its way, the conversations in turn.
	anchors []dag.TurnID // asked for again and again
	primers []dag.TurnID // one of each conversation, to have its skeleton loaded
	fresh   []dag.TurnID // others of the same conversations, asked for once
}

// loadedAtOnce is the turns of one round of loading.
const loadedAtOnce = 10_000

// Anchors of a graph.
const (
	anchored       = 50 // conversations
	anchorsOfOne   = 6  // in the middle of one; those with slices that are full, see prune
	freshSpread    = 5  // the middle three of five parts of a conversation hold the fresh ones
	mostAnchors    = 200
	mostFresh      = 6_000
	anchorsOfAHub  = 2
	anchorsOfCross = 20
)

// sized is a policy that lets in so many turns from as far as there are.
func sized(nodes int) (policy.Registered, error) {
	p := policy.DefaultV1()
	p.MaxNodes, p.MaxRadius = nodes, policy.LimitRadius
	return policy.Bind(policy.ID(fmt.Sprintf("bench-%d@1", nodes)), p)
}

// conversations is a graph without hubs and crossings, as most are.
func conversations(turns, length, nodes int) (*graph, error) {
	p, err := sized(nodes)
	if err != nil {
		return nil, err
	}
	g := &graph{name: fmt.Sprintf("%d turns in conversations of %d", turns, length), tenant: "conversations", policy: p, full: true}
	step := max(1, turns/length/anchored)
	of := map[int][]dag.TurnID{} // by conversation
	g.draw = func(take func([]dag.Draft) error) error {
		err := generate(newGenerator(shape{seed: 1, length: length}), turns, take, func(number int, d *dag.Draft) {
			conversation, at := number/length, number%length
			if conversation%step == 0 && conversation/step < anchored && at >= length/freshSpread && at < length-length/freshSpread {
				of[conversation/step] = append(of[conversation/step], d.ID)
			}
		})
		g.choose(of)
		return err
	}
	return g, nil
}

// generate hands over so many generated turns, and shows each.
func generate(from *generator, turns int, take func([]dag.Draft) error, show func(number int, d *dag.Draft)) error {
	for made := 0; made < turns; {
		drafts := from.drafts(min(loadedAtOnce, turns-made))
		for i := range drafts {
			show(made+i, &drafts[i])
		}
		if err := take(drafts); err != nil {
			return err
		}
		made += len(drafts)
	}
	return nil
}

// choose takes of each conversation's turns some in the middle as anchors, and all the
// others as fresh ones.
func (g *graph) choose(of map[int][]dag.TurnID) {
	most := 0
	for c := range of {
		most = max(most, len(of[c]))
	}
	middle := most/2 - anchorsOfOne/2
	for at := range most {
		for c := range len(of) {
			switch {
			case at >= len(of[c]):
			case at == middle-1:
				g.primers = append(g.primers, of[c][at])
			case at >= middle && at < middle+anchorsOfOne:
				g.anchors = append(g.anchors, of[c][at])
			default:
				g.fresh = append(g.fresh, of[c][at])
			}
		}
	}
}

// prune leaves the anchors that are wanted, by what a kernel of its own says of each.
func (g *graph) prune(ctx context.Context, s store.Store) error {
	if !g.full {
		return nil
	}
	g.full = false // pruned
	a, err := newAuthority()
	if err != nil {
		return err
	}
	k, err := newKernel(s, a, 0)
	if err != nil {
		return err
	}
	if err := k.Policies().Register(ctx, g.tenant, g.policy); err != nil {
		return err
	}
	params, err := g.policy.Slice()
	if err != nil {
		return err
	}
	full := func(ids []dag.TurnID, most int) ([]dag.TurnID, error) {
		var kept []dag.TurnID
		for _, id := range ids {
			preview, err := k.Slices().Preview(ctx, g.tenant, kernel.Request{Anchor: id, Policy: g.policy.ID()})
			if err != nil {
				return nil, err
			}
			if len(preview.Turns) == params.Walk().MaxNodes && len(kept) < most {
				kept = append(kept, id)
			}
		}
		return kept, nil
	}
	if g.anchors, err = full(g.anchors, mostAnchors); err != nil {
		return err
	}
	g.fresh, err = full(g.fresh[:min(len(g.fresh), mostFresh)], mostFresh)
	return err
}

// crossings is a graph of conversations that lead into each other. Its anchors have edges
// to other conversations.
func crossings(turns, length, nodes int) (*graph, error) {
	p, err := sized(nodes)
	if err != nil {
		return nil, err
	}
	g := &graph{name: fmt.Sprintf("%d turns, one in 40 with a parent in another conversation", turns), tenant: "crossings", policy: p}
	g.draw = func(take func([]dag.Draft) error) error {
		from := newGenerator(shape{seed: 2, length: length, crossing: 40})
		crossed := 0
		return generate(from, turns, take, func(_ int, d *dag.Draft) {
			if last := len(d.Parents) - 1; last > 0 && d.Parents[last].Kind == dag.Reference {
				if crossed++; crossed%7 == 0 && len(g.anchors) < anchorsOfCross {
					g.anchors = append(g.anchors, d.ID)
				}
			}
		})
	}
	return g, nil
}

// hubs is a graph with a turn of so many children. The anchors are that turn and one
// of the children, which has all the others as siblings.
func hubs(children, nodes int) (*graph, error) {
	p, err := sized(nodes)
	if err != nil {
		return nil, err
	}
	length := 2 * children
	g := &graph{name: fmt.Sprintf("a turn with %d children", children), tenant: "hubs", policy: p, full: true}
	g.draw = func(take func([]dag.Draft) error) error {
		from := newGenerator(shape{seed: 3, length: length, hub: children})
		return generate(from, length, take, func(number int, d *dag.Draft) {
			if number == length/10 || len(g.anchors) > 0 && len(g.anchors) < anchorsOfAHub && d.Parents[0].ID == g.anchors[0] {
				g.anchors = append(g.anchors, d.ID)
			}
		})
	}
	return g, nil
}

// channel is a graph that people have made, see readIRC. Its policy is the default.
func channel(path string) (*graph, error) {
	p, err := policy.Bind(policy.DefaultV1ID, policy.DefaultV1())
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	drafts, err := readIRC(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	g := &graph{name: fmt.Sprintf("%d messages of a channel", len(drafts)), tenant: "channel", policy: p}
	g.draw = func(take func([]dag.Draft) error) error {
		for i := range drafts {
			if len(drafts[i].Parents) > 0 && i%(len(drafts)/200+1) == 0 {
				g.anchors = append(g.anchors, drafts[i].ID)
			}
		}
		for len(drafts) > 0 {
			n := min(loadedAtOnce, len(drafts))
			if err := take(drafts[:n]); err != nil {
				return err
			}
			drafts = drafts[n:]
		}
		return nil
	}
	return g, nil
}
