package main

import (
	"crypto/sha256"
	"fmt"
	"io"
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
	g := newGenerator(1, turns)
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

func sized(nodes int) (policy.Registered, error) {
	p := policy.Default()
	p.MaxNodes, p.MaxRadius = nodes, policy.LimitRadius
	return policy.Bind(policy.ID(fmt.Sprintf("bench-%d@1", nodes)), p)
}

// inMemory measures slices of 256 and 41 turns from the skeleton in memory.
func inMemory(out io.Writer, rounds int) error {
	w, err := newWorld(20_000)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "skeleton: %d bytes a turn\n", w.skeleton)
	secret, err := token.ParseSecret(fmt.Sprintf("%x", sha256.Sum256([]byte("bench"))))
	if err != nil {
		return err
	}
	ring, err := token.Keyring{}.Import("k1", secret, 0)
	if err != nil {
		return err
	}
	a := token.NewAuthority(ring)
	for _, c := range []struct {
		nodes         int
		signed, bytes time.Duration // bounds
	}{{256, 150 * time.Microsecond, 280 * time.Microsecond}, {41, 35 * time.Microsecond, 0}} {
		p, err := sized(c.nodes)
		if err != nil {
			return err
		}
		if err := w.measure(out, rounds, a, p, c.nodes, c.signed, c.bytes); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) measure(out io.Writer, rounds int, a *token.Authority, p policy.Registered, nodes int, signedBound, bytesBound time.Duration) error {
	var failed error
	must := func(err error) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	params := p.Params()
	buf := make([]byte, 0, 1<<20)
	var bundle []byte
	sign := func() (*slice.Slice, slice.Seal) {
		s, err := slice.Cut(w.view, w.anchor, p)
		if err != nil {
			must(err)
			return nil, slice.Seal{}
		}
		seal, err := a.Seal(dag.DefaultTenant, s)
		must(err)
		return s, seal
	}
	verifier := token.NewVerifier(a)
	selects := func() { _, err := slice.Select(w.view, w.anchor, params); must(err) }
	signs := func() { sign() }
	bundles := func() {
		s, seal := sign()
		bundle = slice.AppendBundle(buf[:0], s, seal, func(i int) slice.EncodedTurn { return w.encoded[s.Turns[i].ID] })
	}
	// What is saved by keeping leaves and encoded turns: the same slice, hashing
	// and encoding all text each time.
	hashes := func() {
		s, seal := sign()
		encoded := make([]slice.EncodedTurn, len(s.Turns))
		for i := range s.Turns {
			id := s.Turns[i].ID
			t := *w.turns[id]
			t.BodyDigest = slice.DigestBody(w.bodies[id], w.salts[id])
			_ = slice.TurnLeaf(&t)
			e, err := slice.EncodeTurn(&t, w.bodies[id], w.salts[id])
			must(err)
			encoded[i] = e
		}
		slice.AppendBundle(buf[:0], s, seal, func(i int) slice.EncodedTurn { return encoded[i] })
	}
	bundles()
	kept := append([]byte(nil), bundle...)
	verifies := func() {
		if _, v := verifier.Verify(kept); v.Outcome != token.Verified {
			must(fmt.Errorf("verify: %s: %s", v.Outcome, v.Reason))
		}
	}
	s := interleaved(rounds, selects, signs, bundles, hashes)
	v := interleaved(rounds/10+1, verifies)
	if failed != nil {
		return failed
	}
	got, err := slice.Select(w.view, w.anchor, params)
	if err != nil || len(got) != nodes {
		return fmt.Errorf("the slice has %d turns, want %d: %w", len(got), nodes, err)
	}
	held := func(name string, s sample, base sample, bound time.Duration) row {
		r := row{name: name, p50: s.p50(), p99: s.p99(), ratio: float64(s.p50()) / float64(base.p50()), to: "selection"}
		if bound > 0 {
			r.bound, r.within = "≤ "+bound.String(), s.p50() <= bound
		}
		return r
	}
	rows := []row{
		held("selection alone", s[0], s[0], 0),
		held("signed slice", s[1], s[0], signedBound),
		held("signed slice with the bundle's bytes", s[2], s[0], bytesBound),
		held("the same, hashing and encoding all text", s[3], s[0], 0),
	}
	if bytesBound > 0 {
		rows = append(rows, held("verify the bundle", v[0], s[0], 2*time.Millisecond))
	}
	printRows(out, fmt.Sprintf("Slice of %d turns from memory, %d-byte bundle", nodes, len(kept)), rows)
	return nil
}
