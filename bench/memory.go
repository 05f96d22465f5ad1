package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// A world is a graph in memory, with the text of its turns.
type world struct {
	view    dag.View
	anchor  dag.TurnID
	turns   map[dag.TurnID]*dag.Turn
	bodies  map[dag.TurnID][]byte
	salts   map[dag.TurnID]dag.Salt
	encoded map[dag.TurnID]slice.EncodedTurn

	skeleton int // bytes a turn in the graph
}

func newWorld(turns int) (*world, error) {
	w := &world{turns: map[dag.TurnID]*dag.Turn{}, bodies: map[dag.TurnID][]byte{}, salts: map[dag.TurnID]dag.Salt{}, encoded: map[dag.TurnID]slice.EncodedTurn{}}
	g := newGenerator(shape{seed: 1, length: turns})
	graph := dag.NewGraph()
	for i := range turns {
		d := g.next()
		body := slice.AppendBody(nil, &dag.Body{Author: d.Author, Content: d.Content, Attrs: d.Attrs})
		t := &dag.Turn{
			ID: d.ID, Conversation: d.Conversation, Role: d.Role, Phase: d.Phase, Salience: d.Salience, CreatedAt: d.CreatedAt,
			BodyDigest: slice.DigestBody(body, *d.Salt),
		}
		var parents []dag.SkeletonParent
		for _, p := range d.Parents {
			edge := dag.Edge{Parent: p.ID, Child: d.ID, Kind: p.Kind}
			parents = append(parents, dag.SkeletonParent{ID: p.ID, Conversation: d.Conversation, Kind: p.Kind, Leaf: slice.EdgeLeaf(edge)})
		}
		if err := graph.Add(&dag.Skeleton{
			Seq: dag.Seq(i + 1), ID: t.ID, Conversation: t.Conversation, CreatedAt: t.CreatedAt, Salience: t.Salience,
			Role: t.Role, Phase: t.Phase, Leaf: slice.TurnLeaf(t), Parents: parents,
		}); err != nil {
			return nil, err
		}
		e, err := slice.EncodeTurn(t, body, *d.Salt)
		if err != nil {
			return nil, err
		}
		w.turns[t.ID], w.bodies[t.ID], w.salts[t.ID], w.encoded[t.ID] = t, body, *d.Salt, e
		if i == turns/2 {
			w.anchor = t.ID
		}
	}
	w.view = graph.At(dag.Seq(turns))
	w.skeleton = graph.Size() / turns
	return w, nil
}

// inMemory measures slices of 256 and 41 turns from the skeleton in memory.
func inMemory(ctx context.Context, r *report, turns, rounds int) error {
	w, err := newWorld(turns)
	if err != nil {
		return err
	}
	r.table("The graph in memory", []row{{
		name: fmt.Sprintf("skeleton: %d bytes a turn", w.skeleton), bounds: []bound{{fmt.Sprintf("≤ %d bytes", boundSkeleton), w.skeleton <= boundSkeleton}},
	}})
	a, err := newAuthority()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		nodes         int
		signed, bytes time.Duration // bounds
	}{{256, 150 * time.Microsecond, 280 * time.Microsecond}, {41, 35 * time.Microsecond, 0}} {
		p, err := sized(c.nodes)
		if err != nil {
			return err
		}
		if err := w.measure(ctx, r, rounds, a, p, c.signed, c.bytes); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) measure(ctx context.Context, r *report, rounds int, a *token.Authority, p policy.Registered, signedBound, bytesBound time.Duration) error {
	params, err := p.Slice()
	if err != nil {
		return err
	}
	picks, err := slice.Select(w.view, w.anchor, params, nil)
	if err != nil || len(picks) != params.Walk().MaxNodes {
		return fmt.Errorf("the slice has %d turns, want %d: %w", len(picks), params.Walk().MaxNodes, err)
	}
	buf := make([]byte, 0, 1<<20)
	sign := func() (*slice.Slice, slice.Seal, error) {
		s, err := slice.Cut(w.view, w.anchor, p, nil)
		if err != nil {
			return nil, slice.Seal{}, err
		}
		seal, err := a.Seal(dag.DefaultTenant, s)
		return s, seal, err
	}
	bundle := func() ([]byte, error) {
		s, seal, err := sign()
		if err != nil {
			return nil, err
		}
		return slice.AppendBundle(buf[:0], s, seal, func(i int) slice.EncodedTurn { return w.encoded[s.Turns[i].ID] }), nil
	}
	kept, err := bundle()
	if err != nil {
		return err
	}
	kept = bytes.Clone(kept)
	verifier := token.NewVerifier(a)
	selects := &candidate{name: "selection alone", burst: 3, run: func(context.Context, int) error {
		_, err := slice.Select(w.view, w.anchor, params, nil)
		return err
	}}
	signs := &candidate{name: "signed slice", burst: 3, run: func(context.Context, int) error {
		_, _, err := sign()
		return err
	}}
	bundles := &candidate{name: "signed slice with the bundle's bytes", burst: 3, run: func(context.Context, int) error {
		_, err := bundle()
		return err
	}}
	// What is saved by keeping leaves and encoded turns.
	hashes := &candidate{name: "the same, hashing and encoding all text", run: func(context.Context, int) error {
		s, seal, err := sign()
		if err != nil {
			return err
		}
		encoded, err := w.encode(s)
		if err != nil {
			return err
		}
		slice.AppendBundle(buf[:0], s, seal, func(i int) slice.EncodedTurn { return encoded[i] })
		return nil
	}}
	verifies := &candidate{name: "verify the bundle", run: func(context.Context, int) error {
		if _, v := verifier.Verify(kept); v.Outcome != token.Verified {
			return fmt.Errorf("verify: %s: %s", v.Outcome, v.Reason)
		}
		return nil
	}}
	all := []*candidate{selects, signs, bundles, hashes, verifies}
	if err := inTurn(ctx, rounds, all); err != nil {
		return err
	}
	bounds := map[*candidate]time.Duration{signs: signedBound, bundles: bytesBound}
	if bytesBound > 0 {
		bounds[verifies] = 2 * time.Millisecond
	}
	var rows []row
	for _, c := range all {
		row := rowOf(c, selects)
		row.to = "selection"
		if most := bounds[c]; most > 0 {
			row.bounds = []bound{atMost(row.p50, most)}
		}
		rows = append(rows, row)
	}
	r.table(fmt.Sprintf("Slice of %d turns from memory, %d-byte bundle", len(picks), len(kept)), rows)
	return nil
}

// encode hashes and encodes the text of a slice.
func (w *world) encode(s *slice.Slice) ([]slice.EncodedTurn, error) {
	encoded := make([]slice.EncodedTurn, len(s.Turns))
	for i := range s.Turns {
		id := s.Turns[i].ID
		t := *w.turns[id]
		t.BodyDigest = slice.DigestBody(w.bodies[id], w.salts[id])
		_ = slice.TurnLeaf(&t)
		var err error
		if encoded[i], err = slice.EncodeTurn(&t, w.bodies[id], w.salts[id]); err != nil {
			return nil, err
		}
	}
	return encoded, nil
}
