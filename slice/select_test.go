package slice_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// A slowPick is a candidate of the reference.
type slowPick struct {
	ID       dag.TurnID
	Score    uint64
	Distance int
	Via      slice.Via
	From     dag.TurnID
	Thing    dag.Thing
}

// walkOf returns the parameters of any type as those of the second, and the weights of standings of the third.
func walkOf(p policy.SlicePolicy) (policy.SlicePolicyV2, *policy.StandingTable) {
	v1, first := p.(policy.SlicePolicyV1)
	if v3, third := p.(policy.SlicePolicyV3); third {
		return v3.Base, &v3.Standings
	}
	if !first {
		return p.(policy.SlicePolicyV2), nil
	}
	const one = 1_000_000
	w := policy.SlicePolicyV2{
		MaxNodes: v1.MaxNodes, MaxRadius: v1.MaxRadius, MaxSiblings: v1.MaxSiblings, Direction: policy.Both, Weights: v1.Weights,
		Voices: policy.VoiceTable{one, one, one, one, one}, SalienceWeight: v1.SalienceWeight, DistanceDecay: v1.DistanceDecay,
	}
	if !v1.IncludeSiblings {
		w.MaxSiblings = 0
	}
	return w, nil
}

// slowScore is section 4 of GKP/1 (docs/protocol.md) with the factor of sections 19 and 20.
func slowScore(t *dag.Turn, factor dag.PPM, distance int, p *policy.SlicePolicyV2) uint64 {
	alpha, beta, s, weight := uint64(p.SalienceWeight), uint64(p.DistanceDecay), uint64(t.Salience), uint64(p.Weights[t.Phase])*uint64(factor)/1_000_000
	f := (1_000_000_000_000 - alpha*1_000_000 + alpha*s) / 1000
	d := uint64(1_000_000_000)
	for range distance {
		d = d * beta / 1_000_000
	}
	return weight * f / 1_000_000 * d / 1_000_000_000
}

func slowCompare(a, b slowPick) int {
	switch {
	case a.Score != b.Score && a.Score > b.Score, a.Score == b.Score && a.Distance < b.Distance:
		return -1
	case a.Score != b.Score, a.Distance != b.Distance:
		return 1
	}
	return a.ID.Compare(b.ID)
}

// slowSelect is section 5 of GKP/1, and what GKP/2 and GKP/3 add to it, line by line, with maps, and with a frontier
// that is sorted anew each time. It also gives what was left in the frontier, and what did not fit.
func slowSelect(w *world, anchor dag.TurnID, params policy.SlicePolicy) (selected, frontier, skipped []slowPick) {
	p, weights := walkOf(params)
	counts := w.slowCounts()
	guest := func(id dag.TurnID) bool { return weights != nil && counts[id].Standing == dag.StandingGuest }
	elsewhere := func(child, parent dag.TurnID) bool { // a guest's turn leads to no other conversation
		return guest(child) && w.turns[w.find(child)].Conversation != w.turns[w.find(parent)].Conversation
	}
	if p.Direction == policy.Past {
		w = w.until(w.find(anchor) + 1)
	}
	at := map[dag.TurnID]int{}
	parents, children := map[dag.TurnID][]dag.TurnID{}, map[dag.TurnID][]dag.TurnID{}
	for i := range w.turns {
		at[w.turns[i].ID] = i
	}
	for _, e := range w.edges {
		parents[e.Child] = append(parents[e.Child], e.Parent)
		children[e.Parent] = append(children[e.Parent], e.Child)
	}
	score := func(id dag.TurnID, distance int) uint64 {
		factor := p.Voices[w.marks[at[id]].Voice]
		if weights != nil {
			factor = weights[counts[id].Standing]
		}
		return slowScore(&w.turns[at[id]], factor, distance, &p)
	}
	visited := map[dag.TurnID]bool{}
	push := func(id dag.TurnID, distance int, via slice.Via, from dag.TurnID, thing dag.Thing) {
		if !visited[id] {
			visited[id] = true
			frontier = append(frontier, slowPick{id, score(id, distance), distance, via, from, thing})
		}
	}
	cost := 0
	push(anchor, 0, slice.ViaAnchor, dag.TurnID{}, dag.Thing{})
	for len(frontier) > 0 && len(selected) < p.MaxNodes {
		slices.SortFunc(frontier, slowCompare)
		c := frontier[0]
		frontier = frontier[1:]
		own := int(w.marks[at[c.ID]].Cost)
		if p.MaxCost > 0 && cost+own > p.MaxCost {
			skipped = append(skipped, c)
			continue
		}
		cost += own
		selected = append(selected, c)
		if c.Distance < p.MaxRadius {
			near := map[dag.TurnID]slice.Via{}
			for _, n := range children[c.ID] {
				if p.Direction == policy.Both && !(guest(c.ID) && c.Via != slice.ViaAnchor) {
					near[n] = slice.ViaChild
				}
			}
			for _, n := range parents[c.ID] {
				if !elsewhere(c.ID, n) {
					near[n] = slice.ViaParent
				}
			}
			for _, n := range sortedIDs(near) {
				push(n, c.Distance+1, near[n], c.ID, dag.Thing{})
			}
			if guest(c.ID) && c.Via != slice.ViaAnchor {
				continue
			}
			if prompt := w.slowPrompt(c.ID, func(id dag.TurnID) bool { return weights == nil || counts[id].Standing.Orders() }, elsewhere); p.Spine && prompt >= 0 {
				push(w.turns[prompt].ID, c.Distance+1, slice.ViaPrompt, c.ID, dag.Thing{})
			}
			for _, thing := range w.marks[at[c.ID]].Things {
				found := 0
				for j := at[c.ID] - 1; j >= 0 && found < p.MaxTouching; j-- {
					if w.turns[j].Conversation == w.turns[at[c.ID]].Conversation && slices.Contains(w.marks[j].Things, thing) {
						push(w.turns[j].ID, c.Distance+1, slice.ViaTouch, c.ID, thing)
						found++
					}
				}
			}
		}
		if p.MaxSiblings > 0 && !(guest(c.ID) && c.Via != slice.ViaAnchor) {
			siblings := map[dag.TurnID]slice.Via{}
			for _, parent := range parents[c.ID] {
				if elsewhere(c.ID, parent) {
					continue
				}
				for _, n := range children[parent] {
					siblings[n] = slice.ViaSibling
				}
			}
			delete(siblings, c.ID)
			ranked := sortedIDs(siblings)
			slices.SortStableFunc(ranked, func(a, b dag.TurnID) int {
				x, y := score(a, c.Distance), score(b, c.Distance)
				if x != y {
					return map[bool]int{true: -1, false: 1}[x > y]
				}
				return 0
			})
			for _, n := range ranked[:min(len(ranked), p.MaxSiblings)] {
				push(n, c.Distance, slice.ViaSibling, c.ID, dag.Thing{})
			}
		}
	}
	return selected, frontier, skipped
}

// slowPrompt looks at all ancestors of a turn for the last that a person said and that orders, or gives -1.
func (w *world) slowPrompt(of dag.TurnID, orders func(dag.TurnID) bool, elsewhere func(child, parent dag.TurnID) bool) int {
	last, ancestors := -1, map[dag.TurnID]bool{of: true}
	for i := len(w.turns) - 1; i >= 0; i-- { // children come after their parents
		if !ancestors[w.turns[i].ID] {
			continue
		}
		if w.turns[i].ID != of && w.marks[i].Voice == dag.VoicePerson && orders(w.turns[i].ID) {
			last = max(last, i)
		}
		for _, p := range w.parents(w.turns[i].ID) {
			ancestors[p] = ancestors[p] || !elsewhere(w.turns[i].ID, p)
		}
	}
	return last
}

func sortedIDs(set map[dag.TurnID]slice.Via) []dag.TurnID {
	ids := make([]dag.TurnID, 0, len(set))
	for id := range set {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, dag.TurnID.Compare)
	return ids
}

func picksOf(v dag.View, picks []slice.Pick) []slowPick {
	var got []slowPick
	for _, p := range picks {
		g := slowPick{ID: v.ID(p.Node), Score: uint64(p.Score), Distance: p.Distance, Via: p.Via}
		if p.Via != slice.ViaAnchor {
			g.From = v.ID(p.From)
		}
		if p.Via == slice.ViaTouch {
			g.Thing = v.Thing(p.From, int(p.Thing))
		}
		got = append(got, g)
	}
	return got
}

// TestSelectAgainstReference compares with the reference on random graphs, for
// views of the past too.
func TestSelectAgainstReference(t *testing.T) {
	ways, full, cut, hubbed, skipped := map[slice.Via]int{}, 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		g := w.load(t, func(dag.ConversationID) bool { return true })
		for range 4 {
			n := rapid.IntRange(1, len(w.turns)).Draw(t, "seq")
			if rapid.Bool().Draw(t, "now") {
				n = len(w.turns)
			}
			past := w.until(n)
			first := rapid.IntRange(0, n-1).Draw(t, "anchor")
			anchor := w.turns[first].ID
			p := drawEither(t, past, first, policy.LimitNodes)
			v := g.At(dag.Seq(n))
			picks, err := slice.Select(v, anchor, p, w.words(v))
			if err != nil {
				t.Fatal(err)
			}
			want, left, tooCostly := slowSelect(past, anchor, p)
			if len(tooCostly) > 0 {
				skipped++
			}
			if got := picksOf(v, picks); !slices.Equal(got, want) {
				t.Fatalf("%d turns, policy %+v: -want +got:\n%s", n, p, cmp.Diff(want, got))
			}
			for _, pick := range want {
				ways[pick.Via]++
				if pick.Via == slice.ViaSibling && slices.ContainsFunc(past.parents(pick.ID), func(id dag.TurnID) bool { return len(past.children(id)) > 64 }) {
					hubbed++
				}
			}
			if len(left) > 0 {
				cut++
			} else {
				full++
			}
		}
	})
	if !testing.Short() && (len(ways) != 6 || skipped == 0 || full == 0 || cut == 0 || hubbed == 0) { // the short form draws too few for all of them
		t.Errorf("ways %v, %d selections took everything, %d did not, %d siblings by a hub", ways, full, cut, hubbed)
	}
}

// TestSelectInAnyOrder holds that the order of admission, of parents and of
// loading makes no difference to a bundle.
func TestSelectInAnyOrder(t *testing.T) {
	a := authority(t)
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		anchor := w.turns[rapid.IntRange(0, len(w.turns)-1).Draw(t, "anchor")].ID
		p := bind(t, "p@1", drawParams(t, len(w.turns)))
		_, want := w.bundle(t, anchor, p, a)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 2))
		if _, got := w.shuffled(r).bundle(t, anchor, p, a); string(got) != string(want) {
			t.Fatalf("differs at %+v", slice.Differ(want, got))
		}
	})
}

// TestSelectLoadsWhatItNeeds begins with the anchor's conversation only and adds
// what is said to be missing. It ends with the same selection.
func TestSelectLoadsWhatItNeeds(t *testing.T) {
	asked, partial := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		at := rapid.IntRange(0, len(w.turns)-1).Draw(t, "anchor")
		anchor := w.turns[at].ID
		p := drawEither(t, w, at, policy.LimitNodes)
		held := map[dag.ConversationID]bool{w.turns[at].Conversation: true}
		for {
			v := w.load(t, func(c dag.ConversationID) bool { return held[c] }).At(dag.Seq(len(w.turns)))
			picks, err := slice.Select(v, anchor, p, w.words(v))
			var missing *slice.MissingError
			if errors.As(err, &missing) {
				asked++
				if picks != nil || len(missing.Conversations) == 0 {
					t.Fatalf("%d picks, and %d conversations are missing", len(picks), len(missing.Conversations))
				}
				for _, c := range missing.Conversations {
					if held[c] {
						t.Fatalf("conversation %s is held, or missing twice", c)
					}
					held[c] = true
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := slowSelect(w, anchor, p)
			if got := picksOf(v, picks); !slices.Equal(got, want) {
				t.Fatalf("-want +got:\n%s", cmp.Diff(want, got))
			}
			if slices.ContainsFunc(w.turns, func(t dag.Turn) bool { return !held[t.Conversation] }) {
				partial++
			}
			return
		}
	})
	if !testing.Short() && (asked == 0 || partial == 0) { // the short form draws too few for all of them
		t.Errorf("asked for more %d times, ended with part of the graph %d times", asked, partial)
	}
}

func TestSelectRefuses(t *testing.T) {
	w, anchor, p := rigged()
	v := w.view(t)
	if _, err := slice.Select(v, dag.TurnID{0: 0xee}, p, nil); !errors.Is(err, slice.ErrAnchor) {
		t.Errorf("an anchor that nobody knows: got %v, want ErrAnchor", err)
	}
	early := w.load(t, func(dag.ConversationID) bool { return true }).At(3)
	if _, err := slice.Select(early, anchor, p, nil); !errors.Is(err, slice.ErrAnchor) {
		t.Errorf("an anchor not admitted yet: got %v, want ErrAnchor", err)
	}
	if _, err := slice.Cut(early, anchor, bind(t, "p@1", p), nil); !errors.Is(err, slice.ErrAnchor) {
		t.Errorf("Cut: got %v, want ErrAnchor", err)
	}
	if _, err := slice.Select(dag.View{}, anchor, p, nil); !errors.Is(err, slice.ErrAnchor) {
		t.Errorf("the zero View: got %v, want ErrAnchor", err)
	}
	if _, err := slice.Select(v, anchor, policy.SlicePolicyV1{}, nil); !errors.Is(err, policy.ErrRange) {
		t.Errorf("the zero policy: got %v, want ErrRange", err)
	}
	if _, err := slice.Cut(v, anchor, policy.Registered{}, nil); !errors.Is(err, policy.ErrUnknown) {
		t.Errorf("Cut with the zero policy: got %v, want ErrUnknown", err)
	}
	if _, err := slice.Explain(v, anchor, policy.SlicePolicyV1{}, nil, anchor); !errors.Is(err, policy.ErrRange) {
		t.Errorf("Explain with the zero policy: got %v, want ErrRange", err)
	}
}

// between counts the fewest edges between two turns, or gives -1.
func (w *world) between(from, to dag.TurnID) int {
	distance := map[dag.TurnID]int{from: 0}
	for ring, n := []dag.TurnID{from}, 1; len(ring) > 0; n++ {
		var next []dag.TurnID
		for _, id := range ring {
			for _, near := range append(w.parents(id), w.children(id)...) {
				if _, seen := distance[near]; !seen {
					distance[near] = n
					next = append(next, near)
				}
			}
		}
		ring = next
	}
	if n, ok := distance[to]; ok && n <= policy.LimitRadius {
		return n
	}
	return -1
}

// TestExplain compares every turn's outcome with the reference's.
func TestExplain(t *testing.T) {
	outcomes := map[slice.Outcome]int{}
	explain := func(t *rapid.T) {
		w := drawWorld(t)
		n := rapid.IntRange(1, len(w.turns)).Draw(t, "seq")
		past := w.until(n)
		v := w.load(t, func(dag.ConversationID) bool { return true }).At(dag.Seq(n))
		first := rapid.IntRange(0, n-1).Draw(t, "anchor")
		anchor := w.turns[first].ID
		p := drawEither(t, past, first, policy.LimitNodes)
		walk, _ := walkOf(p)
		last, seen := n, past
		if walk.Direction == policy.Past {
			last, seen = first+1, w.until(first+1)
		}
		picks, left, skipped := slowSelect(past, anchor, p)
		worst := picks[len(picks)-1]
		for i := range w.turns {
			id := w.turns[i].ID
			got, err := slice.Explain(v, anchor, p, w.words(v), id)
			if err != nil {
				t.Fatal(err)
			}
			outcomes[got.Outcome]++
			want := slice.Explanation{Edges: -1, Selected: len(picks)}
			if i < last {
				want.Edges = seen.between(anchor, id)
			}
			same := func(p slowPick) bool { return p.ID == id }
			switch {
			case i >= n:
				want.Outcome = slice.NotYet
			case i >= last:
				want.Outcome = slice.Later
			case slices.ContainsFunc(skipped, same):
				want.Outcome, want.Admission = slice.TooCostly, past.admission(skipped[slices.IndexFunc(skipped, same)], p, nil)
			case slices.ContainsFunc(picks, same):
				at := slices.IndexFunc(picks, same)
				want.Outcome, want.Rank, want.Admission = slice.Chosen, at+1, past.admission(picks[at], p, nil)
			case slices.ContainsFunc(left, same):
				c := left[slices.IndexFunc(left, same)]
				want.Outcome, want.Admission = slice.Beaten, past.admission(c, p, nil)
				want.BeatenBy = &slice.Rival{ID: worst.ID, Admission: past.admission(worst, p, nil)}
				// What the last pick itself brought in may be better than it.
				if slowCompare(worst, c) > 0 && c.From != worst.ID {
					t.Fatalf("%+v was beaten by %+v", c, worst)
				}
			case want.Edges < 0:
				want.Outcome = slice.Apart
			case want.Edges > walk.MaxRadius:
				want.Outcome = slice.TooFar
			default:
				want.Outcome = slice.Unreached
			}
			if want.Admission.Standing != 0 {
				set := past.setting(past.slowCounts()[id].at)
				want.Setting = &slice.Setting{After: set.After, Policy: set.Policy.ID(), Hash: set.Policy.Hash()}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("turn %d of %d: -want +got:\n%s", i, n, diff)
			}
		}
	}
	// The rarest outcomes are TestExplainEach's: a run of a hundred worlds may lack one. For the others a short run
	// may need to be repeated.
	missing := func() (m []slice.Outcome) {
		for _, s := range []slice.Outcome{slice.Chosen, slice.Beaten, slice.TooCostly, slice.TooFar, slice.Later, slice.NotYet} {
			if outcomes[s] == 0 {
				m = append(m, s)
			}
		}
		return m
	}
	rapid.Check(t, explain)
	for round := 0; round < 20 && len(missing()) > 0 && !t.Failed(); round++ {
		rapid.Check(t, explain)
	}
	for _, s := range missing() {
		t.Errorf("nothing stood %s", s)
	}
}

// admission returns the reason of a pick. settings are those of the slice; nil leaves the setting out, as an explanation does.
func (w *world) admission(p slowPick, params policy.SlicePolicy, settings []int) slice.Admission {
	a := slice.Admission{Score: policy.Score(p.Score), Distance: p.Distance, Via: p.Via, From: p.From, Thing: p.Thing}
	if params.Type() == policy.TypeV3 {
		c := w.slowCounts()[p.ID]
		a.Standing, a.Rule, a.Setting = c.Standing, uint16(c.Rule), uint16(max(slices.Index(settings, c.at), 0))
	}
	if params.Type() != policy.Type {
		at := w.find(p.ID)
		m := &w.marks[at]
		a.Number, a.Voice, a.Cost, a.Things = dag.Seq(at+1), m.Voice, int(m.Cost), m.Things
	}
	return a
}

// TestExplainEach builds each outcome once.
func TestExplainEach(t *testing.T) {
	id := func(n int) dag.TurnID { return dag.TurnID{0: 1, 14: byte(n >> 8), 15: byte(n)} }
	turn := func(n int) dag.Turn {
		return dag.Turn{ID: id(n), Conversation: dag.ConversationID{1}, Role: dag.RoleUser, Phase: dag.Planning, CreatedAt: dag.Time(n)}
	}
	w := &world{}
	w.add(turn(0), dag.Body{})
	for n := 1; n <= 66; n++ { // a chain, longer than any radius
		w.add(turn(n), dag.Body{}, dag.Parent{ID: id(n - 1), Kind: dag.Reply})
	}
	w.add(turn(100), dag.Body{}, dag.Parent{ID: id(0), Kind: dag.Reply}) // a second child of turn 0
	w.add(turn(101), dag.Body{}, dag.Parent{ID: id(0), Kind: dag.Reply})
	w.add(turn(200), dag.Body{}) // nobody's
	w.add(turn(300), dag.Body{}, dag.Parent{ID: id(0), Kind: dag.Reply})
	v := w.load(t, func(dag.ConversationID) bool { return true }).At(dag.Seq(len(w.turns) - 1))
	p := policy.DefaultV1()
	p.MaxNodes, p.MaxRadius, p.MaxSiblings = 2, 3, 0
	for _, tc := range []struct {
		turn    dag.TurnID
		outcome slice.Outcome
		rank    int
		edges   int
	}{
		{id(0), slice.Chosen, 1, 0},
		{id(1), slice.Chosen, 2, 1},
		{id(100), slice.Beaten, 0, 1},
		{id(2), slice.Beaten, 0, 2}, // offered by the last pick
		{id(3), slice.Unreached, 0, 3},
		{id(4), slice.TooFar, 0, 4},
		{id(64), slice.TooFar, 0, 64},
		{id(65), slice.Apart, 0, -1},
		{id(200), slice.Apart, 0, -1},
		{id(300), slice.NotYet, 0, -1},
		{id(999), slice.NotYet, 0, -1},
	} {
		e, err := slice.Explain(v, id(0), p, nil, tc.turn)
		if err != nil {
			t.Fatal(err)
		}
		if e.Outcome != tc.outcome || e.Rank != tc.rank || e.Edges != tc.edges || e.Selected != 2 || (e.BeatenBy != nil) != (tc.outcome == slice.Beaten) {
			t.Errorf("%s: got %+v, want %s, rank %d, %d edges", tc.turn, e, tc.outcome, tc.rank, tc.edges)
		}
		// The last pick's own offer: it was not there to be compared when the pick was made.
		if tc.turn == id(2) && (e.Admission.From != id(1) || e.BeatenBy.ID != id(1)) {
			t.Errorf("%s: got %+v, want it offered and beaten by %s", tc.turn, e, id(1))
		}
	}
}

// TestExplainLoads holds that a way through a conversation which is not held is
// asked for, and only if the answer depends on it.
func TestExplainLoads(t *testing.T) {
	w, anchor, p := rigged()
	p.MaxNodes, p.MaxRadius, p.IncludeSiblings = 1, 0, false
	two := w.turns[2].Conversation
	v := w.load(t, func(c dag.ConversationID) bool { return c != two }).At(dag.Seq(len(w.turns)))
	if e, err := slice.Explain(v, anchor, p, nil, w.turns[5].ID); err != nil || e.Outcome != slice.TooFar || e.Edges != 1 {
		t.Errorf("got %+v, %v", e, err)
	}
	// Turn 9 can only be reached through what is not held.
	id := dag.TurnID{0: 0xf0, 15: 9}
	w.add(dag.Turn{ID: id, Conversation: w.turns[0].Conversation, Role: dag.RoleUser, Phase: dag.Planning}, dag.Body{}, dag.Parent{ID: w.turns[2].ID, Kind: dag.Reply})
	v = w.load(t, func(c dag.ConversationID) bool { return c != two }).At(dag.Seq(len(w.turns)))
	var missing *slice.MissingError
	if _, err := slice.Explain(v, anchor, p, w.words(v), id); !errors.As(err, &missing) || !slices.Equal(missing.Conversations, []dag.ConversationID{two}) {
		t.Errorf("got %v, want conversation %s to be missing", err, two)
	}
}
