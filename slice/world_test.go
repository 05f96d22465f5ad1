package slice_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/token"
)

// A world is a graph as one would write it on a page: turns in the order of
// admission, and edges.
type world struct {
	turns  []dag.Turn
	bodies []dag.Body
	marks  []dag.Marks
	edges  []dag.Edge
	course standing.Course // under gkp/3
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func (w *world) add(t dag.Turn, b dag.Body, parents ...dag.Parent) {
	t.BodyDigest = slice.DigestBody(slice.AppendBody(nil, &b), b.Salt)
	w.turns, w.bodies = append(w.turns, t), append(w.bodies, b)
	w.marks = append(w.marks, dag.Marks{Rules: dag.Marks1, Voice: dag.VoiceAgent, Cost: uint32(len(b.Content)+3) / 4, Origin: dag.Origin{Channel: dag.ChannelLines}})
	for _, p := range parents {
		w.edges = append(w.edges, dag.Edge{Parent: p.ID, Child: t.ID, Kind: p.Kind})
	}
}

func (w *world) find(id dag.TurnID) int {
	return slices.IndexFunc(w.turns, func(t dag.Turn) bool { return t.ID == id })
}

// until is the world as it was when its first n turns had been admitted.
func (w *world) until(n int) *world {
	past := &world{turns: w.turns[:n], bodies: w.bodies[:n], marks: w.marks[:n], course: w.course}
	for _, e := range w.edges {
		if w.find(e.Child) < n {
			past.edges = append(past.edges, e)
		}
	}
	return past
}

func (w *world) parents(id dag.TurnID) []dag.TurnID {
	var ids []dag.TurnID
	for _, e := range w.edges {
		if e.Child == id {
			ids = append(ids, e.Parent)
		}
	}
	return ids
}

func (w *world) children(id dag.TurnID) []dag.TurnID {
	var ids []dag.TurnID
	for _, e := range w.edges {
		if e.Parent == id {
			ids = append(ids, e.Child)
		}
	}
	return ids
}

func (w *world) skeleton(i int) dag.Skeleton {
	t := &w.turns[i]
	s := dag.Skeleton{
		Seq: dag.Seq(i + 1), ID: t.ID, Conversation: t.Conversation, CreatedAt: t.CreatedAt, Salience: t.Salience, Role: t.Role, Phase: t.Phase, Leaf: slice.TurnLeaf(t), Marks: w.marks[i],
	}
	for _, e := range w.edges {
		if e.Child == t.ID {
			s.Parents = append(s.Parents, dag.SkeletonParent{ID: e.Parent, Conversation: w.turns[w.find(e.Parent)].Conversation, Kind: e.Kind, Leaf: slice.EdgeLeaf(e)})
		}
	}
	return s
}

// view is of all turns, added in the order of admission.
func (w *world) view(t fataler) dag.View {
	t.Helper()
	return w.load(t, func(dag.ConversationID) bool { return true }).At(dag.Seq(len(w.turns)))
}

// words says what the turns of a view count for.
func (w *world) words(v dag.View) *standing.Words { return standing.WordsOf(v, w.course) }

// load returns a graph that holds some conversations, and the links out of them.
func (w *world) load(t fataler, held func(dag.ConversationID) bool) *dag.Graph {
	t.Helper()
	g := dag.NewGraph()
	for i := range w.turns {
		if !held(w.turns[i].Conversation) {
			continue
		}
		s := w.skeleton(i)
		if err := g.Add(&s); err != nil {
			t.Fatalf("%v", err)
		}
	}
	for _, e := range w.edges {
		parent, child := &w.turns[w.find(e.Parent)], w.find(e.Child)
		if c := w.turns[child].Conversation; held(parent.Conversation) && !held(c) {
			if err := g.AddLink(dag.Link{Parent: e.Parent, Child: e.Child, ChildConversation: c, Seq: dag.Seq(child + 1)}); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	return g
}

// shuffled is the same world admitted in another order, with each turn's parents
// in another order.
func (w *world) shuffled(r *rand.Rand) *world {
	edges := slices.Clone(w.edges)
	r.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
	pairs := make([][2]int32, len(edges))
	for i, e := range edges {
		pairs[i] = [2]int32{int32(w.find(e.Parent)), int32(w.find(e.Child))}
	}
	rank := r.Perm(len(w.turns))
	other := &world{edges: edges}
	for _, i := range dag.Topological(len(w.turns), pairs, func(a, b int32) bool { return rank[a] < rank[b] }) {
		other.turns, other.bodies, other.marks = append(other.turns, w.turns[i]), append(other.bodies, w.bodies[i]), append(other.marks, w.marks[i])
	}
	return other
}

// bundle cuts, seals and encodes. The turns in redacted are given without their text. A
// frame of the cut must give the same bytes, after others and for another view.
func (w *world) bundle(t fataler, anchor dag.TurnID, p policy.Registered, a *token.Authority, redacted ...dag.TurnID) (*slice.Slice, []byte) {
	t.Helper()
	s, err := slice.Cut(w.view(t), anchor, p, w.words(w.view(t)))
	if err != nil {
		t.Fatalf("%v", err)
	}
	seal, err := a.Seal(dag.DefaultTenant, s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	encoded := func(i int) slice.EncodedTurn {
		at := w.find(s.Turns[i].ID)
		body := slice.AppendBody(nil, &w.bodies[at])
		if slices.Contains(redacted, s.Turns[i].ID) {
			body = nil
		}
		encoded, err := slice.EncodeTurn(&w.turns[at], body, w.bodies[at].Salt)
		if err != nil {
			t.Fatalf("%v", err)
		}
		return encoded
	}
	bundle := slice.AppendBundle(nil, s, seal, encoded)
	frame, later := slice.NewFrame(s), *s
	later.AsOf = 9_007_199_254_740_991 // a frame leaves it open; from gkp/2 on the kernel makes another one
	for _, s := range []*slice.Slice{s, &later} {
		want := slice.AppendBundle([]byte("front"), s, seal, encoded)
		if got := frame.AppendBundle([]byte("front"), s.AsOf, seal, encoded); string(got) != string(want) {
			t.Fatalf("a frame gives\n%s\nwant\n%s", got, want)
		}
	}
	if size := s.FrameSize(); frame.Size() > size {
		t.Fatalf("a frame of %d turns and %d edges has %d bytes, estimated are %d", len(s.Turns), len(s.Edges), frame.Size(), size)
	}
	return s, bundle
}

// testSecret is the one of GKP/1, appendix A.7.
const testSecret = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func authority(t fataler) *token.Authority {
	t.Helper()
	secret, err := token.ParseSecret(testSecret)
	if err != nil {
		t.Fatalf("%v", err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return token.NewAuthority(ring)
}

func bind(t fataler, id policy.ID, p policy.SlicePolicy) policy.Registered {
	t.Helper()
	r, err := policy.Bind(id, p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

func mustTurnID(t fataler, s string) dag.TurnID {
	t.Helper()
	id, err := dag.ParseTurnID(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return id
}

// The shapes of random worlds.
const (
	sparse  = "sparse"  // several parents, several components
	hubs    = "hubs"    // two turns with more than 64 children each, many shared
	chains  = "chains"  // long and thin
	crowded = "crowded" // everybody is everybody's child
)

// drawWorld draws a graph. Ids often agree in their first eight bytes, times and
// scores often agree altogether, so that every tie has to be broken.
func drawWorld(t *rapid.T) *world {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	shape := rapid.SampledFrom([]string{sparse, sparse, hubs, chains, crowded}).Draw(t, "shape")
	size := map[string]int{sparse: 24, hubs: 160, chains: 40, crowded: 12}[shape]
	n := rapid.IntRange(1, size).Draw(t, "n")
	if shape == hubs {
		n = 140 + n%20
	}
	conversations := rapid.IntRange(1, 4).Draw(t, "conversations")
	plain := rapid.Bool().Draw(t, "plain")
	names := r.Perm(256)
	w := &world{}
	for i := range n {
		turn := dag.Turn{
			ID: dag.TurnID{0: 1, 5: byte(r.IntN(2)), 8: byte(r.IntN(2)), 15: byte(names[i])}, Conversation: dag.ConversationID{0: byte(1 + r.IntN(conversations))},
			Role: dag.Role(1 + r.IntN(4)), Phase: dag.Phase(1 + r.IntN(5)), Salience: dag.PPM(r.IntN(3) * 500_000), CreatedAt: dag.Time(r.IntN(4)),
		}
		if plain {
			turn.Phase, turn.Salience = dag.Planning, 500_000
		}
		var parents []dag.Parent
		for _, p := range r.Perm(i) {
			var joined bool
			switch shape {
			case sparse:
				joined = len(parents) < 3 && r.IntN(max(4, i)) < 2
			case hubs:
				joined = p < 2 && r.IntN(5) > 0 || len(parents) < 3 && r.IntN(i) == 0
			case chains:
				joined = p == i-1 && r.IntN(20) > 0 || r.IntN(60) == 0
			case crowded:
				joined = r.IntN(4) > 0
			}
			if joined {
				parents = append(parents, dag.Parent{ID: w.turns[p].ID, Kind: dag.EdgeKind(1 + r.IntN(4))})
			}
		}
		w.add(turn, dag.Body{Content: strings.Repeat(string(rune('a'+i%26)), 1+r.IntN(24)), Salt: dag.Salt{15: byte(i)}}, parents...)
		m := &w.marks[i]
		m.Voice = dag.Voices[r.IntN(len(dag.Voices))]
		for thing := range byte(4) {
			if r.IntN(4) == 0 {
				m.Things = append(m.Things, dag.Thing{thing, 15: 9})
			}
		}
		drawOrigin(r, m)
	}
	w.course = drawCourse(r, n)
	return w
}

// drawParams draws policies that are at their edges.
func drawParams(t *rapid.T, n int) policy.SlicePolicyV1 {
	fraction := func(name string) dag.PPM {
		return dag.PPM(rapid.SampledFrom([]uint32{0, 1, 300_000, 500_000, 900_000, 999_999, 1_000_000}).Draw(t, name))
	}
	p := policy.SlicePolicyV1{
		MaxNodes:        rapid.SampledFrom([]int{1, 2, 3, max(1, n/2), max(1, n-1), n, n + 1, policy.LimitNodes}).Draw(t, "max_nodes"),
		MaxRadius:       rapid.SampledFrom([]int{0, 1, 2, 3, policy.LimitRadius}).Draw(t, "max_radius"),
		MaxSiblings:     rapid.SampledFrom([]int{0, 1, 2, 5, policy.LimitSiblings}).Draw(t, "max_siblings"),
		IncludeSiblings: rapid.IntRange(0, 3).Draw(t, "include_siblings") > 0,
		SalienceWeight:  fraction("alpha"), DistanceDecay: fraction("beta"),
	}
	for _, ph := range dag.Phases {
		p.Weights[ph] = fraction(ph.String())
	}
	return p
}

// rigged is a small world in which every way occurs and whose bundle has every
// field: used where single fields are changed.
//
//	1 ── 2 ── 4 (anchor) ── 6
//	 \    \─ 5          \
//	  3 ────────────────── 7 (merge)     8 child of 6, beaten
func rigged() (*world, dag.TurnID, policy.SlicePolicyV1) {
	w := &world{}
	id := func(n int) dag.TurnID { return dag.TurnID{0: byte(0x90 - 0x10*n%0x90), 6: 0x40, 8: 0x80, 15: byte(n)} }
	turn := func(n int, role dag.Role, phase dag.Phase, salience dag.PPM, conversation byte) dag.Turn {
		return dag.Turn{ID: id(n), Conversation: dag.ConversationID{0: conversation, 8: 0x80}, Role: role, Phase: phase, Salience: salience, CreatedAt: dag.Time(1_772_614_800_000_000 + int64(n)*1_000_000)}
	}
	body := func(n byte, author, content string, attrs map[string]string) dag.Body {
		return dag.Body{Author: author, Content: content, Attrs: attrs, Salt: dag.Salt{0: n, 15: 0xff}}
	}
	from := func(n int, kind dag.EdgeKind) dag.Parent { return dag.Parent{ID: id(n), Kind: kind} }
	w.add(turn(1, dag.RoleUser, dag.Planning, 800_000, 1), body(1, "human:user", "Begin.\n\x00\u2028\"☕\"", nil))
	w.add(turn(2, dag.RoleAssistant, dag.Synthesis, 650_000, 1), body(2, "agent:guide", "", map[string]string{"model": "m-7", "lang": "en"}), from(1, dag.Reply))
	w.add(turn(3, dag.RoleAssistant, dag.Consolidation, 500_000, 2), body(3, "agent:scout", "a", nil), from(1, dag.Spawn))
	w.add(turn(4, dag.RoleTool, dag.Debugging, 123_457, 1), body(4, "tool:maps", "no route", map[string]string{"k": "v"}), from(2, dag.Reply))
	w.add(turn(5, dag.RoleAssistant, dag.Exploration, 900_000, 1), body(5, "agent:guide", "other", nil), from(2, dag.Reply))
	w.add(turn(6, dag.RoleSystem, dag.Planning, 700_000, 1), body(6, "", "six", nil), from(4, dag.Reference))
	w.add(turn(7, dag.RoleUser, dag.Synthesis, 1_000_000, 1), body(7, "human:user", "seven", nil), from(4, dag.Reply), from(3, dag.Merge))
	w.add(turn(8, dag.RoleUser, dag.Exploration, 0, 1), body(8, "human:user", "eight", nil), from(6, dag.Reply))
	p := policy.DefaultV1()
	p.MaxNodes, p.MaxRadius, p.MaxSiblings, p.DistanceDecay = 7, 3, 2, 870_000
	return w, id(4), p
}

func TestRigged(t *testing.T) {
	w, anchor, p := rigged()
	s, _ := w.bundle(t, anchor, bind(t, "rigged@1", p), authority(t))
	ways := map[slice.Via]int{}
	for _, turn := range s.Turns {
		ways[turn.Admission.Via]++
	}
	if len(s.Turns) != 7 || len(s.Edges) != 7 || ways[slice.ViaAnchor] != 1 || ways[slice.ViaParent] == 0 || ways[slice.ViaChild] == 0 || ways[slice.ViaSibling] == 0 {
		t.Errorf("%d turns, %d edges, %v", len(s.Turns), len(s.Edges), ways)
	}
}

// drawEither draws a policy of one of the types, of at most so many nodes, under which the turn with an index can be the anchor.
func drawEither(t *rapid.T, w *world, anchor, nodes int) policy.SlicePolicy {
	v1 := drawParams(t, len(w.turns))
	v1.MaxNodes = min(v1.MaxNodes, nodes)
	version := rapid.IntRange(1, 3).Draw(t, "version")
	if version == 1 {
		return v1
	}
	p := policy.SlicePolicyV2{
		MaxNodes: v1.MaxNodes, MaxRadius: v1.MaxRadius, MaxSiblings: v1.MaxSiblings, Weights: v1.Weights,
		SalienceWeight: v1.SalienceWeight, DistanceDecay: v1.DistanceDecay,
		Direction:   rapid.SampledFrom([]policy.Direction{policy.Past, policy.Past, policy.Both}).Draw(t, "direction"),
		Spine:       rapid.IntRange(0, 3).Draw(t, "spine") > 0,
		MaxTouching: rapid.SampledFrom([]int{0, 1, 2, policy.LimitTouching}).Draw(t, "max_touching"),
		MaxCost:     rapid.SampledFrom([]int{0, 1, 10, 30, 100, policy.LimitCost}).Draw(t, "max_cost"),
	}
	if p.MaxCost > 0 {
		p.MaxCost = max(p.MaxCost, int(w.marks[anchor].Cost))
	}
	weight := func(name string) dag.PPM {
		return dag.PPM(rapid.SampledFrom([]uint32{0, 1, 333_333, 1_000_000, 1_000_000}).Draw(t, name))
	}
	if version == 3 {
		counted := policy.SlicePolicyV3{Base: p}
		for _, s := range dag.Standings {
			counted.Standings[s] = weight(s.String())
		}
		return counted
	}
	for _, v := range dag.Voices {
		p.Voices[v] = weight(v.String())
	}
	return p
}
