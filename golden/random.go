package golden

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// Random makes the input of a case: a graph of up to most turns in one of six
// shapes, an anchor in it and a policy somewhere between the bounds. The same
// seed makes the same case. Expect is empty.
func Random(seed uint64, most int) Case {
	r := &source{rand.New(rand.NewPCG(seed, 0x676b702f31))}
	shape := r.IntN(len(shapes))
	n := 1 + r.IntN(most)
	c := Case{
		Name:     fmt.Sprintf("%s-%d-%d", shapes[shape].name, n, seed),
		PolicyID: fmt.Sprintf("golden-%d@%d", seed%97, 1+r.IntN(999_999)),
		Tenant:   r.pick("default", "acme", "t-1", "0"),
		KeyID:    r.pick("k1", "2026-11", "a"),
		Secret:   fmt.Sprintf("%x%x", r.id(), r.id()),
		Edges:    [][3]string{},
	}
	conversations := []string{r.uuid(), r.uuid(), r.uuid()}
	for i := range n {
		c.Turns = append(c.Turns, r.turn(i, conversations[r.IntN(1+r.IntN(3))]))
	}
	for child := 1; child < n; child++ {
		joined := map[int]bool{}
		for _, parent := range shapes[shape].parents(r, child) {
			if !joined[parent] {
				joined[parent] = true
				c.Edges = append(c.Edges, [3]string{c.Turns[parent].ID, c.Turns[child].ID, r.pick("reply", "reply", "spawn", "merge", "reference")})
			}
		}
	}
	c.Anchor = c.Turns[r.IntN(n)].ID
	for i := range c.Turns {
		if r.IntN(12) == 0 {
			c.Redacted = append(c.Redacted, c.Turns[i].ID)
		}
	}
	params := r.policy(n)
	c.Policy = json.RawMessage(params.Canonical())
	return c
}

type source struct{ *rand.Rand }

func (r *source) pick(of ...string) string { return of[r.IntN(len(of))] }

func (r *source) id() (id [16]byte) {
	for i := range id {
		id[i] = byte(r.IntN(256))
	}
	return id
}

func (r *source) uuid() string {
	id := r.id()
	if r.IntN(4) == 0 { // ids that are alike in their beginnings
		clear(id[:8+r.IntN(7)])
		id[15] |= 1
	}
	return dag.TurnID(id).String()
}

// ppm favours the ends of the range.
func (r *source) ppm() dag.PPM {
	switch r.IntN(5) {
	case 0:
		return 0
	case 1:
		return dag.One
	case 2:
		return dag.PPM(r.IntN(4)) * (dag.One / 4)
	}
	return dag.PPM(r.IntN(int(dag.One) + 1))
}

func (r *source) turn(i int, conversation string) Turn {
	created := int64(1_700_000_000_000_000)
	if r.IntN(3) > 0 { // else many turns share one time
		created += int64(r.IntN(1_000_000_000))
	}
	t := Turn{
		ID: r.uuid(), Conversation: conversation, Role: r.pick("system", "user", "assistant", "tool"),
		Phase: dag.Phases[r.IntN(len(dag.Phases))].String(), SaliencePPM: uint32(r.ppm()), CreatedAtUS: created,
		Author:  r.pick("", "human:user", "agent:reviewer", "svc/ci 2", "~!@#$%^&*()"),
		Content: r.pick("", "plain", "line\nline\r\n\ttab", "quote \" backslash \\ slash /", "NUL \x00 and \x1f and \x7f", "ä ß 漢字 \u2028 \U0001f9ed", "e\u0301 is not \u00e9", "<b>&amp;</b>"),
		Attrs:   map[string]string{},
		Salt:    fmt.Sprintf("%x", r.id()),
	}
	t.Content += fmt.Sprintf(" #%d", i)
	for range r.IntN(3) {
		t.Attrs[r.pick("tool", "external_id", "a.b-c_d", "0")] = r.pick("", "x", "ü\U0001f600", "\"\\")
	}
	return t
}

func (r *source) policy(n int) policy.SlicePolicyV1 {
	p := policy.SlicePolicyV1{
		MaxNodes: 1 + r.IntN(2*n), MaxRadius: r.IntN(12), SalienceWeight: r.ppm(), DistanceDecay: r.ppm(),
		IncludeSiblings: r.IntN(3) > 0, MaxSiblings: r.IntN(8),
	}
	if r.IntN(8) == 0 {
		p.MaxNodes, p.MaxRadius, p.MaxSiblings = policy.LimitNodes, policy.LimitRadius, policy.LimitSiblings
	}
	for _, ph := range dag.Phases {
		p.Weights[ph] = r.ppm()
	}
	return p
}

// shapes give the parents of a turn among those before it.
var shapes = [...]struct {
	name    string
	parents func(r *source, child int) []int
}{
	{"chain", func(_ *source, child int) []int { return []int{child - 1} }},
	{"star", func(*source, int) []int { return []int{0} }},
	{"hub", func(r *source, child int) []int { return []int{r.IntN(min(child, 3))} }},
	{"mesh", func(r *source, child int) []int { return []int{r.IntN(child), r.IntN(child), r.IntN(child)} }},
	{"forest", func(r *source, child int) []int {
		if r.IntN(5) == 0 {
			return nil
		}
		return []int{r.IntN(child)}
	}},
	{"mixed", func(r *source, child int) []int {
		parents := []int{max(0, child-1-r.IntN(3))}
		if r.IntN(6) == 0 {
			parents = append(parents, r.IntN(child))
		}
		return parents
	}},
}
