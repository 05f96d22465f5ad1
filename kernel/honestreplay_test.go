package kernel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestBeyondTheCut erases a turn whose fact lay beyond the cut of a slice: the slice has nothing of it, and is the same except for the cut.
func TestBeyondTheCut(t *testing.T) {
	ctx := t.Context()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	k := over(t, s, token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 2)
	one := facts.DefaultPolicy()
	one.MaxResults = 1
	if err := k.Policies().Register(ctx, tenant, must(policy.Bind("one@1", one))); err != nil {
		t.Fatal(err)
	}
	fact := func(object string, turn dag.TurnID) knowledge.Act {
		f := must(knowledge.NewFact("a", "p", object, "user"))
		f.Turn = turn
		return knowledge.Act{Kind: knowledge.Assert, Fact: f}
	}
	// Of two equal facts the one of the smaller statement is reached first.
	shown, beyond := "b", "c"
	if x, y := fact(shown, turns[0]), fact(beyond, turns[0]); strings.Compare(x.Fact.ID().String(), y.Fact.ID().String()) > 0 {
		shown, beyond = beyond, shown
	}
	must(k.Facts().Learn(ctx, tenant, []knowledge.Act{fact(shown, turns[0]), fact(beyond, turns[1])}))
	issued := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"a"}, Policy: "one@1"}))
	if issued.Facts.Cut != knowledge.CutResults || issued.Facts.Reached[0].Entity != shown {
		t.Fatalf("%+v", issued.Facts)
	}
	id := issued.Facts.Provenance.SliceID
	outcome := func(want kernel.ReplayOutcome) {
		t.Helper()
		for _, r := range []*kernel.Replay{must(k.Slices().Replay(ctx, tenant, issued.Bundle)), must(k.Slices().ReplayIssued(ctx, tenant, id))} {
			if r.Outcome != want {
				t.Errorf("%s, %s, want %s", r.Outcome, r.Reason, want)
			}
		}
	}
	outcome(kernel.Identical)
	must(k.Turns().Erase(ctx, tenant, turns[1], "asked for"))
	outcome(kernel.Erased)
	if again := must(k.Slices().Bundle(ctx, tenant, id, nil)); string(again) != string(issued.Bundle) {
		t.Errorf("the bundle made again is %s, want %s", again, issued.Bundle)
	}
	for from, to := range map[string]string{`"cut":"results"`: `"cut":"work"`, `"as_of":4`: `"as_of":3`, `"` + shown + `"`: `"x"`} {
		forged := strings.Replace(string(issued.Bundle), from, to, 1)
		if forged == string(issued.Bundle) {
			t.Fatalf("the bundle has no %s: %s", from, issued.Bundle)
		}
		if r, err := k.Slices().Replay(ctx, tenant, []byte(forged)); err == nil && r.Outcome != kernel.Different {
			t.Errorf("%s for %s: %s, %s", to, from, r.Outcome, r.Reason)
		}
	}
	must(k.Turns().Erase(ctx, tenant, turns[0], "asked for"))
	outcome(kernel.Erased)
}

// TestBeyondTheWork erases a turn whose facts lay beyond the work of a slice: there were more edges than a traversal looks at, and no longer are.
func TestBeyondTheWork(t *testing.T) {
	if testing.Short() {
		t.Skip("100 000 facts")
	}
	ctx := t.Context()
	k := over(t, inmem.Open(&inmem.Disk{}, inmem.Options{}), token.NewAuthority(ring(t, "k1")))
	turns := chain(t, k, 2)
	var acts []knowledge.Act
	for n := range knowledge.MaxWork/2 + 1 { // each is looked at from both of its ends
		f := must(knowledge.NewFact("hub", fmt.Sprint("p", n), "other", "user"))
		if n < 10 {
			f.Turn = turns[1]
		}
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
	}
	for part := range slices.Chunk(acts, knowledge.MaxActs) {
		must(k.Facts().Learn(ctx, tenant, part))
	}
	issued := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"hub"}}))
	if b := issued.Facts; b.Cut != knowledge.CutWork || len(b.Reached) != 1 || b.Reached[0].Entity != "other" {
		t.Fatalf("cut by %s after %d entities", b.Cut, len(b.Reached))
	}
	must(k.Turns().Erase(ctx, tenant, turns[1], "asked for"))
	if now := must(k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{"hub"}, AsOf: issued.Facts.AsOf})); now.Facts.Cut == knowledge.CutWork {
		t.Fatal("the work is cut as before, and nothing is compared")
	}
	if r := must(k.Slices().Replay(ctx, tenant, issued.Bundle)); r.Outcome != kernel.Erased {
		t.Errorf("%s, %s", r.Outcome, r.Reason)
	}
	if again := must(k.Slices().Bundle(ctx, tenant, issued.Facts.Provenance.SliceID, &issued.Record.Bundle)); string(again) != string(issued.Bundle) {
		t.Error("the bundle made again is another one")
	}
}

// handed is evidence that was handed out in a random history.
type handed struct {
	kind   string
	bundle []byte
	id     slice.SliceID
	asOf   dag.Seq
	erased int // erasures before it
}

// honest is a random history with evidence of every kind, and erasures between it.
type honest struct {
	*rand.Rand
	t       *testing.T
	k       *kernel.Kernel
	turns   []dag.TurnID
	at      map[dag.TurnID]dag.Seq
	stated  []belief.Literal
	handed  []handed
	erased  []dag.TurnID // in their order
	gone    map[dag.TurnID]bool
	refused int
}

var honestWords = strings.Fields("orders table coupon rate migration staging index queue replica deploy branch canary")

func (h *honest) word() string { return honestWords[h.IntN(len(honestWords))] }

// name is one of few, so that facts meet.
func (h *honest) name() string { return honestWords[h.IntN(6)] }

func (h *honest) text() string {
	words := make([]string, 4+h.IntN(12))
	for i := range words {
		words[i] = h.word()
	}
	return strings.Join(words, " ")
}

// some returns turns that have their texts; none in a third of the calls.
func (h *honest) some() (list []dag.TurnID) {
	for range h.IntN(3) {
		if id := h.turns[h.IntN(len(h.turns))]; !h.gone[id] && (len(list) == 0 || list[0] != id) {
			list = append(list, id)
		}
	}
	return list
}

func (h *honest) admit() {
	n := len(h.turns)
	d := dag.Draft{
		ID: dag.ExternalTurnID("honest", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("honest", fmt.Sprint(n%3)), Role: []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool}[h.IntN(3)],
		Content: h.text(), CreatedAt: dag.Time(1_780_000_000_000_000 + int64(n)*60_000_000),
	}
	d.Author = map[dag.Role]string{dag.RoleUser: "human:user", dag.RoleAssistant: "agent:a", dag.RoleTool: "tool:t"}[d.Role]
	if n >= 3 {
		d.Parents = []dag.Parent{{ID: h.turns[n-3], Kind: dag.Reply}}
	}
	h.turns, h.at[d.ID] = append(h.turns, d.ID), must(h.k.Turns().Admit(h.t.Context(), tenant, []dag.Draft{d})).Head
}

func (h *honest) learn() {
	var acts []knowledge.Act
	for range 1 + h.IntN(3) {
		f := must(knowledge.NewFact(h.name(), []string{"is", "uses"}[h.IntN(2)], h.word(), "user"))
		f.Confidence = dag.PPM(h.IntN(5)+1) * dag.One / 5
		if turns := h.some(); len(turns) > 0 {
			f.Turn = turns[0]
		}
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
		if h.IntN(4) == 0 {
			acts = append(acts, knowledge.Act{Kind: knowledge.Retract, Statement: f.Chain()})
		}
	}
	if _, err := h.k.Facts().Learn(h.t.Context(), tenant, acts); err != nil {
		h.t.Fatal(err)
	}
}

func (h *honest) believe() {
	op := []journal.Operator{journal.Revise, journal.Revise, journal.Propose, journal.Contract}[h.IntN(4)]
	in := asking(op, h.word(), []string{"port", "owner"}[h.IntN(2)], h.word())
	if op != journal.Contract {
		in.Turns = h.some()
		if h.IntN(3) == 0 {
			in.Premises = []belief.Literal{{Subject: h.word(), Predicate: "port", Object: h.word()}}
		}
	}
	o, err := h.k.Beliefs().Operate(h.t.Context(), tenant, in)
	if errors.Is(err, belief.ErrInput) {
		return
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if o.Result == journal.Changed {
		h.stated = append(h.stated, in.Statements...)
	}
}

func (h *honest) keep(kind string, bundle []byte, id slice.SliceID, asOf dag.Seq, err error) {
	switch {
	case errors.Is(err, kernel.ErrNotBelieved), errors.Is(err, slice.ErrAnchor):
		h.refused++
	case err != nil:
		h.t.Fatalf("%s: %v", kind, err)
	default:
		h.handed = append(h.handed, handed{kind, bundle, id, asOf, len(h.erased)})
	}
}

// past is 0, or a number of the past.
func (h *honest) past() dag.Seq {
	if h.IntN(3) > 0 {
		return 0
	}
	return 1 + dag.Seq(h.IntN(int(must(h.k.Turns().Head(h.t.Context(), tenant)))))
}

func (h *honest) issue() {
	ctx := h.t.Context()
	switch anchor := h.turns[h.IntN(len(h.turns))]; h.IntN(4) {
	case 0:
		i, err := h.k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: anchor, Policy: []policy.ID{policy.DefaultV1ID, policy.DefaultV2ID, "few@1"}[h.IntN(3)], AsOf: h.past()})
		if err != nil {
			i = &kernel.Issued{Slice: &slice.Slice{}}
		}
		h.keep("turns", i.Bundle, i.Slice.Provenance.SliceID, i.Slice.AsOf, err)
	case 1:
		i, err := h.k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{h.name()}, Policy: []policy.ID{facts.PolicyID, "one@1", "one@1", "three@1"}[h.IntN(4)], AsOf: h.past()})
		if err != nil {
			i = &kernel.IssuedFacts{Facts: &facts.Bundle{}}
		}
		h.keep("facts", i.Bundle, i.Facts.Provenance.SliceID, i.Facts.AsOf, err)
	case 2:
		r := api.ContextRequest{Task: h.text(), Budget: 100 + h.IntN(800), AsOf: h.past()}
		if h.IntN(2) == 0 {
			r.Anchor, r.AsOf = anchor.String(), 0
		}
		i, err := h.k.Contexts().Assemble(ctx, tenant, r)
		if err != nil {
			h.keep("context", nil, "", 0, err)
			return
		}
		h.keep("context", i.Bundle, i.Context.Provenance.SliceID, i.Context.AsOf, nil)
	case 3:
		if len(h.stated) == 0 {
			return
		}
		i, err := h.k.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: h.stated[h.IntN(len(h.stated))], AsOf: 0})
		if err != nil {
			h.keep("belief", nil, "", 0, err)
			return
		}
		h.keep("belief", i.Bundle, i.Belief.Provenance.SliceID, i.Belief.AsOf, nil)
	}
}

// cut hands out a slice of one fact of two, and erases the turn of the other one.
func (h *honest) cut() {
	id := h.turns[h.IntN(len(h.turns))]
	first, second := must(knowledge.NewFact("a", "p", "c", "user")), must(knowledge.NewFact("a", "p", "b", "user")) // in the order in which they are reached
	second.Turn = id
	must(h.k.Facts().Learn(h.t.Context(), tenant, []knowledge.Act{{Kind: knowledge.Assert, Fact: first}, {Kind: knowledge.Assert, Fact: second}}))
	i, err := h.k.Facts().Slice(h.t.Context(), tenant, api.FactSliceRequest{Start: []string{"a"}, Policy: "one@1"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.keep("facts", i.Bundle, i.Facts.Provenance.SliceID, i.Facts.AsOf, nil)
	h.eraseTurn(id)
}

func (h *honest) erase() { h.eraseTurn(h.turns[h.IntN(len(h.turns))]) }

func (h *honest) eraseTurn(id dag.TurnID) {
	if h.gone[id] {
		return
	}
	must(h.k.Turns().Erase(h.t.Context(), tenant, id, "asked for"))
	h.gone[id], h.erased = true, append(h.erased, id)
}

// TestHonestReplays hands out evidence of every kind in random histories, and erases turns that it shows and others. What was handed out is never called
// different, and is identical unless a turn of its view was erased after it; what was changed by one byte is never called erased.
func TestHonestReplays(t *testing.T) {
	histories := 300
	if testing.Short() {
		histories = 40
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	outcomes, beyond, forgeries := map[string]int{}, 0, 0
	for n := range histories {
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		k := over(t, inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 3}), token.NewAuthority(ring(t, "k1")))
		h := &honest{Rand: r, t: t, k: k, at: map[dag.TurnID]dag.Seq{}, gone: map[dag.TurnID]bool{}}
		believing(t, k, "port")
		for id, most := range map[policy.ID]int{"one@1": 1, "three@1": 3} {
			p := facts.DefaultPolicy()
			p.MaxResults = most
			if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind(id, p))); err != nil {
				t.Fatal(err)
			}
		}
		few := policy.DefaultV1()
		few.MaxNodes = 3
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("few@1", few))); err != nil {
			t.Fatal(err)
		}
		for range 6 {
			h.admit()
		}
		if n%4 == 0 {
			h.cut()
		}
		for range 70 {
			switch h.IntN(10) {
			case 0, 1:
				h.admit()
			case 2, 3:
				h.learn()
			case 4:
				h.believe()
			case 5:
				h.erase()
			default:
				h.issue()
			}
		}
		for i := range h.handed {
			was := &h.handed[i]
			since, last := 0, was.asOf // erasures of turns of the view after it, and of turns on which beliefs of the present may rest
			if b, err := contexts.Parse(was.bundle); err == nil {
				last = b.Request.RulesAsOf
			}
			for _, id := range h.erased[was.erased:] {
				if h.at[id] <= last {
					since++
				}
			}
			for _, how := range []string{"bundle", "record"} {
				var again *kernel.Replay
				if how == "bundle" {
					again = must(k.Slices().Replay(t.Context(), tenant, was.bundle))
				} else {
					again = must(k.Slices().ReplayIssued(t.Context(), tenant, was.id))
				}
				if again.Outcome != kernel.Identical && again.Outcome != kernel.Erased || again.Outcome == kernel.Erased && since == 0 && how == "bundle" {
					t.Fatalf("history %d: %s as of %d replays by its %s as %s, %s, with %d erasures since\n%s", n, was.kind, was.asOf, how, again.Outcome, again.Reason, since, was.bundle)
				}
				outcomes[was.kind+" "+string(again.Outcome)]++
				if strings.Contains(again.Reason, "beyond") {
					beyond++
				}
			}
			for range 4 {
				forged := []byte(string(was.bundle))
				at := r.IntN(len(forged))
				to := "0123456789abcdef"[r.IntN(16)]
				if forged[at] == to {
					continue
				}
				forged[at] = to
				again, err := k.Slices().Replay(t.Context(), tenant, forged)
				if err != nil || slices.ContainsFunc(h.handed, func(o handed) bool { return string(o.bundle) == string(forged) }) {
					continue // it is none: the same answer was handed out as of that number, too
				}
				forgeries++
				if again.Outcome != kernel.Different && again.Token == nil {
					t.Fatalf("history %d: %s with another byte %d replays as %s, %s\n%s", n, was.kind, at, again.Outcome, again.Reason, forged)
				}
			}
		}
	}
	t.Logf("%v, %d beyond a cut, %d forgeries", outcomes, beyond, forgeries)
	for _, kind := range []string{"turns", "facts", "context", "belief"} {
		if outcomes[kind+" identical"] == 0 || outcomes[kind+" erased"] == 0 {
			t.Errorf("%s: %v: this shows less than it should", kind, outcomes)
		}
	}
	if beyond < histories/4 || forgeries < 10*histories {
		t.Errorf("%d beyond a cut, %d forgeries: this shows less than it should", beyond, forgeries)
	}
}
