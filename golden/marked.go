package golden

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// Marks are what a turn of a vector of GKP/2 was marked with at admission.
type Marks struct {
	Voice  string   `json:"voice"`
	Cost   uint32   `json:"cost"`
	Things []string `json:"things"` // hex, ascending
	Origin *Origin  `json:"origin,omitempty"`
}

// MarkedCases returns the vectors of GKP/2 that ship with the project.
func MarkedCases() ([]Case, error) { return readCases("testdata/gkp-2.jsonl") }

// RandomMarked makes the input of a case of GKP/2: the graph of Random with marks, and a policy that
// selects by them. The same seed makes the same case. Expect is empty.
func RandomMarked(seed uint64, most int) Case {
	c := Random(seed, most)
	c.Name = "marked-" + c.Name
	r := &source{rand.New(rand.NewPCG(seed, 0x676b702f32))}
	things := make([]dag.Thing, 1+len(c.Turns)/4)
	for i := range things {
		things[i] = r.id()
	}
	dear := uint32(0) // what the anchor costs
	for i := range c.Turns {
		m := &Marks{Voice: dag.Voices[r.IntN(len(dag.Voices))].String(), Cost: uint32(len(c.Turns[i].Content)+3) / 4, Things: []string{}}
		for range r.IntN(4) {
			m.Things = append(m.Things, things[r.IntN(len(things))].String())
		}
		slices.Sort(m.Things)
		m.Things = slices.Compact(m.Things)
		c.Turns[i].Marks = m
		if c.Turns[i].ID == c.Anchor {
			dear = m.Cost
		}
	}
	params := r.marked(len(c.Turns), int(dear))
	c.Policy = json.RawMessage(params.Canonical())
	return c
}

// marked draws a policy under which an anchor of a cost can be cut.
func (r *source) marked(n, anchor int) policy.SlicePolicyV2 {
	v1 := r.policy(n)
	p := policy.SlicePolicyV2{
		MaxNodes: v1.MaxNodes, MaxRadius: v1.MaxRadius, MaxSiblings: v1.MaxSiblings, Weights: v1.Weights,
		SalienceWeight: v1.SalienceWeight, DistanceDecay: v1.DistanceDecay,
		Spine: r.IntN(4) > 0, MaxTouching: r.IntN(4),
	}
	if r.IntN(3) > 0 {
		p.Direction = policy.Past
	} else {
		p.Direction = policy.Both
	}
	if r.IntN(3) > 0 {
		p.MaxCost = max(1, anchor) + r.IntN(4*n)
	}
	for _, v := range dag.Voices {
		p.Voices[v] = r.ppm()
	}
	return p
}

// parse returns the marks as the store keeps them; a turn of GKP/1 has none.
func (m *Marks) parse() (dag.Marks, error) {
	if m == nil {
		return dag.Marks{}, nil
	}
	voice, err := dag.ParseVoice(m.Voice)
	if err != nil {
		return dag.Marks{}, err
	}
	marks := dag.Marks{Rules: dag.Marks1, Voice: voice, Cost: m.Cost}
	if marks.Origin, err = m.Origin.parse(); err != nil {
		return dag.Marks{}, err
	}
	for _, hex := range m.Things {
		thing, err := dag.ParseThing(hex)
		if err != nil {
			return dag.Marks{}, fmt.Errorf("thing %q: %w", hex, err)
		}
		marks.Things = append(marks.Things, thing)
	}
	return marks, marks.Check()
}
