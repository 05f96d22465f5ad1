package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/kinds"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
)

// whole is a random history of every kind of change, and the numbers that the answers of its operations say they are whole as of.
type whole struct {
	honest
	s     store.Store
	ends  []dag.Seq
	items []belief.Address
	long  map[dag.TurnID]string // texts of turns by their ids
}

// ends notes an answer: it names the head, whatever of the change is seen.
func (w *whole) end(what string, seq dag.Seq) {
	w.t.Helper()
	head := must(w.s.Head(w.t.Context(), tenant))
	if seq == 0 { // nothing was recorded
		seq = w.ends[len(w.ends)-1]
	}
	if seq != head {
		w.t.Fatalf("%s answered that it is whole as of %d, and the head is %d", what, seq, head)
	}
	w.ends = append(w.ends, seq)
}

// admits admits turns, each of which is a change of its own.
func (w *whole) admits() {
	before := must(w.s.Head(w.t.Context(), tenant))
	w.admit()
	for n := before + 1; n < must(w.s.Head(w.t.Context(), tenant)); n++ {
		w.ends = append(w.ends, n)
	}
	w.end("an admission", must(w.s.Head(w.t.Context(), tenant)))
}

// again admits the text of an erased turn under another id, which is held back.
func (w *whole) again(n int) {
	if len(w.erased) == 0 {
		return
	}
	id := w.erased[0]
	d := dag.Draft{
		ID: dag.ExternalTurnID("again", fmt.Sprint(n)), Conversation: dag.ExternalConversationID("again", fmt.Sprint(n)), Role: dag.RoleAssistant, Author: "agent:a",
		Content: w.long[id], CreatedAt: dag.Time(1_790_000_000_000_000 + int64(n)),
	}
	before := must(w.s.Head(w.t.Context(), tenant))
	must(w.k.Turns().Admit(w.t.Context(), tenant, []dag.Draft{d}))
	for n := before + 1; n <= must(w.s.Head(w.t.Context(), tenant)); n++ { // what is recorded of the text comes before the turn
		w.ends = append(w.ends, n)
	}
	if held := must(w.k.Turns().HeldBack(w.t.Context(), tenant, 0, 100)); len(held) > 0 && w.IntN(2) == 0 {
		must(w.k.Turns().Release(w.t.Context(), tenant, []dag.TurnID{held[len(held)-1].Turn}))
		w.end("a release", must(w.s.Head(w.t.Context(), tenant)))
	}
}

func (w *whole) learns() {
	var acts []knowledge.Act
	for range 1 + w.IntN(4) {
		f := must(knowledge.NewFact(w.name(), []string{"is", "uses"}[w.IntN(2)], w.word(), "user"))
		f.Confidence = dag.PPM(w.IntN(5)+1) * dag.One / 5
		if turns := w.some(); len(turns) > 0 {
			f.Turn = turns[0]
		}
		switch acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f}); w.IntN(5) {
		case 0:
			acts = append(acts, knowledge.Act{Kind: knowledge.Retract, Statement: f.Chain()})
		case 1:
			acts = append(acts, knowledge.Act{Kind: knowledge.Alias, Alias: fmt.Sprint("other", w.IntN(2)), Canonical: w.name()})
		case 2:
			for alias, canonical := range must(w.k.Facts().Aliases(w.t.Context(), tenant, 0)).All() {
				acts = append(acts, knowledge.Act{Kind: knowledge.Unalias, Alias: alias, Canonical: canonical})
				break
			}
		}
	}
	outcomes, err := w.k.Facts().Learn(w.t.Context(), tenant, acts)
	if err != nil { // such as an alias of itself
		return
	}
	last := dag.Seq(0)
	for _, o := range outcomes {
		if o.Seq != 0 {
			w.end("learning", o.Seq)
			last = o.Seq
		}
	}
	w.end("learning", last)
}

// believes does one of the operations on beliefs.
func (w *whole) believes() {
	ctx, b := w.t.Context(), w.k.Beliefs()
	did := func(what string, seq dag.Seq, err error) {
		w.t.Helper()
		if err == nil {
			w.end(what, seq)
		} else if errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrDamaged) {
			w.t.Fatalf("%s: %v", what, err)
		}
	}
	of := func() belief.Address { return w.items[w.IntN(len(w.items))] }
	switch what := w.IntN(19); {
	case what < 6 || len(w.items) == 0:
		in := asking([]journal.Operator{journal.Revise, journal.Revise, journal.Revise, journal.Expand, journal.Contract}[w.IntN(5)], w.name(), "port", w.name())
		if in.Operator != journal.Contract {
			for range w.IntN(3) {
				l := belief.Literal{Subject: w.name(), Predicate: "port", Object: w.word()}
				if !slices.ContainsFunc(in.Statements, func(o belief.Literal) bool { return o.Subject == l.Subject }) {
					in.Statements = append(in.Statements, l)
				}
			}
			in.Turns = w.some()
			if w.IntN(3) == 0 {
				in.Tags, in.Links = []string{"kept"}, []api.BeliefLink{{Type: "created_from", To: "slice:1"}}
			}
			if w.IntN(4) == 0 {
				in.Premises = []belief.Literal{{Subject: w.name(), Predicate: "owner", Object: w.word()}}
				in.Statements = in.Statements[:1]
			}
			in.Confidence = new(dag.One / 2)
		}
		if in.Operator == journal.Revise && w.IntN(6) == 0 {
			in.Space, in.NewSpace = belief.Space(fmt.Sprint("acme/", w.name())), true
		}
		o, err := b.Operate(ctx, tenant, in)
		if err == nil && o.Item != "" && o.Revision > 0 && o.Item.Space() == beliefSpace {
			w.items = append(w.items, belief.Address{Item: o.Item, Revision: o.Revision})
		}
		if err == nil {
			w.end("an operation", o.Seq)
		}
	case what == 6 || what > 16: // by an agent, which is refused where it contradicts what a person believes
		in := asking(journal.Propose, w.name(), "port", w.word())
		before := must(w.s.Head(ctx, tenant))
		switch o, err := b.Operate(access.As(ctx, access.Identity{Role: access.Agent, Subject: access.Stdio}), tenant, in); {
		case err != nil:
		case o.Again: // which changes nothing and names the change that said it
			if head := must(w.s.Head(ctx, tenant)); head != before || !slices.Contains(w.ends, o.Seq) {
				w.t.Fatalf("a repeated proposal moved the head from %d to %d and named %d, of the ends %d", before, head, o.Seq, w.ends)
			}
		default:
			w.end("a proposal", o.Seq)
		}
	case what == 7 || what == 16:
		if waiting := must(b.Conflicts(ctx, tenant, api.ConflictsQuery{Space: beliefSpace})).Conflicts; len(waiting) > 0 {
			r, err := b.ResolveConflict(ctx, tenant, api.ConflictResolution{Space: beliefSpace, Conflict: waiting[0].Seq, How: []string{journal.Taken, "dropped"}[w.IntN(2)], Reason: "looked"})
			if err == nil {
				did("a resolution", r.Seq, nil)
			}
		}
	case what == 8:
		a, err := b.Act(ctx, tenant, journal.Act{Item: of().Item, Deprecates: w.IntN(2) == 0, Reason: "looked"})
		if err == nil {
			did("a deprecation", a.Seq, nil)
		}
	case what == 9:
		to := of()
		a, err := b.Act(ctx, tenant, journal.Act{Item: to.Item, Tag: []string{"kept", journal.Current}[w.IntN(2)], Number: to.Revision, Reason: "looked"})
		if err == nil {
			did("a tag", a.Seq, nil)
		}
	case what == 10:
		l, err := b.Link(ctx, tenant, api.NewLink{From: of().String(), Type: "depends_on", To: of().String()})
		if err == nil && l.Outcome == journal.Changed {
			did("a link", l.Seq, nil)
		}
	case what == 11:
		u, err := b.Used(ctx, tenant, api.BeliefUse{Ref: of().String(), Success: w.IntN(2) == 0})
		if err == nil {
			did("a use", u.Seq, nil)
		}
	case what == 12:
		d, err := b.Decay(ctx, tenant, api.DecayRequest{Space: beliefSpace, Least: new(dag.PPM(1))})
		if err == nil {
			did("a decay", d.Seq, nil)
		}
	case what == 13:
		c, err := b.Cascade(ctx, tenant, api.CascadeRequest{Space: beliefSpace})
		if err == nil {
			did("a cascade", c.Seq, nil)
		}
	case what == 14:
		stated := asking("", w.word(), "owner", w.word()).Statements
		a, err := b.Abstract(ctx, tenant, api.AbstractionRequest{Space: beliefSpace, Statements: stated, From: []string{string(of().Item)}, Specificity: dag.PPM(w.IntN(2)) * dag.One})
		if err == nil {
			did("an abstraction", a.Outcome.Seq, nil)
		}
	case what == 15:
		s, err := b.SetSpace(ctx, tenant, api.NewSpace{Space: belief.Space(fmt.Sprint("acme/", w.word())), Policy: "desk@1"})
		if err == nil && s.Seq > w.ends[len(w.ends)-1] {
			did("a space", s.Seq, nil)
		}
	}
}

// contexts assembles a context, which is not given or whose task is erased.
func (w *whole) contexts() {
	ctx := w.t.Context()
	i, err := w.k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "about the flange and " + fmt.Sprint(w.Uint32()), Budget: 2000, Recipient: &api.Recipient{Agent: "a", Session: "s", Event: "e"}})
	if err != nil {
		return
	}
	if w.IntN(2) == 0 {
		w.end("not given", must(w.k.Contexts().NotGiven(ctx, tenant, i.Context.Provenance.SliceID, i.Record.Bundle, "the stream was closed")).Seq)
	} else {
		w.end("an erasure of a task", must(w.k.Contexts().EraseTask(ctx, tenant, i.Context.Provenance.SliceID, "asked for")).Seq)
	}
}

func (w *whole) erases() {
	id := w.turns[w.IntN(len(w.turns))]
	if w.gone[id] {
		return
	}
	w.long[id] = w.text1(id)
	e := must(w.k.Turns().Erase(w.t.Context(), tenant, id, "asked for"))
	if len(e.Tasks) > 0 {
		w.t.Fatal("a task went with the turn, of which the answer says no number")
	}
	w.end("an erasure", e.AsOf)
	w.gone[id], w.erased = true, append(w.erased, id)
}

func (w *whole) text1(id dag.TurnID) string {
	r := must(w.k.Turns().Get(w.t.Context(), tenant, id))
	_, text, _ := strings.Cut(string(r.Body), `"content":"`)
	text, _, _ = strings.Cut(text, `"`)
	return text
}

// views lists what is answered as of a number, of everything that can be asked so, with the number that the answer names.
func (w *whole) views(n dag.Seq, anchor dag.TurnID) (list []string) {
	ctx, k := w.t.Context(), w.k
	say := func(what string, v any, err error) { list = append(list, fmt.Sprintf("%s: %+v %v", what, v, err)) }
	b, err := k.Beliefs().Held(ctx, tenant, beliefSpace, n, nil)
	if err == nil {
		ports := map[string]string{}
		for _, h := range b.Held {
			l := h.Stated().Literal
			list = append(list, fmt.Sprint("held ", h.Revision.Seq, h.At, l))
			if was, twice := ports[l.Subject]; l.Predicate == "port" && !l.Not && h.Stated().Premises == nil {
				if twice && was != l.Object {
					w.t.Errorf("as of %d %s has the ports %s and %s", n, l.Subject, was, l.Object)
				}
				ports[l.Subject] = l.Object
			}
		}
		list = append(list, fmt.Sprint("base ", b.AsOf, b.Policy, b.Follows))
	} else {
		say("base", nil, errors.Unwrap(err))
	}
	rules, err := k.Beliefs().Constraints(ctx, tenant, beliefSpace, n)
	if err == nil {
		say("rules", rules.AsOf, nil)
	}
	items, err := k.Beliefs().Items(ctx, tenant, api.ItemsQuery{Space: beliefSpace, AsOf: n, Deprecated: true})
	for _, i := range items.Items {
		say("item", fmt.Sprint(i.Item, i.Revision, i.Deprecated), nil)
	}
	say("items", fmt.Sprint(len(items.Items), err != nil), nil)
	for _, a := range w.items[:min(len(w.items), 3)] {
		a.Seq, a.Revision = n, 0
		if kref, err := k.Beliefs().Kref(ctx, tenant, a); err == nil {
			list = append(list, fmt.Sprint("kref ", kref.AsOf, kref.Record.Deprecated, len(kref.Record.Revisions), kref.Revision != nil))
		} else {
			say("kref", nil, errors.Unwrap(err))
		}
	}
	f := must(k.Facts().List(ctx, tenant, api.FactQuery{View: api.View{AsOf: n}, Paging: api.Paging{Limit: query.MaxFacts}}))
	for i := range f.Facts {
		list = append(list, fmt.Sprint("fact ", f.Facts[i].Statement, f.Facts[i].Since, len(f.Facts[i].Evidence)))
	}
	aliases := must(k.Facts().Aliases(ctx, tenant, n))
	say("facts", fmt.Sprint(f.AsOf, f.Total, maps.Collect(aliases.All()), must(k.Facts().Totals(ctx, tenant, n))), nil)
	t := must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{honestWords[0]}, AsOf: n}))
	for i := range t.Reached {
		list = append(list, fmt.Sprint("reached ", t.Reached[i].Entity, t.Reached[i].MinConfidence))
	}
	say("traversal", fmt.Sprint(t.AsOf, t.Cut), nil)
	say("paths", must(k.Facts().Paths(ctx, tenant, api.PathQuery{From: honestWords[0], To: honestWords[7], AsOf: n})).AsOf, nil)
	found := must(k.Turns().Search(ctx, tenant, find.Request{Query: retrieval.Query{Text: "orders table", AsOf: n, Limit: 9}}))
	for i := range found.Hits {
		list = append(list, fmt.Sprint("hit ", found.Hits[i].Turn.ID, found.Hits[i].Score))
	}
	enriched := must(k.Turns().Enrich(ctx, tenant, api.EnrichRequest{Query: "orders table", Hits: []api.HitScore{{Turn: anchor, Score: 1000}}, Facts: 5, AsOf: n}))
	say("search", fmt.Sprint(found.AsOf, enriched.AsOf, len(enriched.Hits)), nil)
	v := must(k.Atlas().View(ctx, tenant, n, 0))
	say("atlas", fmt.Sprint(v.AsOf, len(v.Graph.Turns)), nil)
	c, err := k.Contexts().Preview(ctx, tenant, api.ContextRequest{Task: "orders table coupon", Budget: 600, AsOf: n})
	if err == nil {
		say("context", fmt.Sprint(c.AsOf, len(c.Candidates), c.Beliefs, len(c.Facts), len(c.Turns)), nil)
	} else {
		say("context", nil, errors.Unwrap(err))
	}
	if s, err := k.Slices().Preview(ctx, tenant, kernel.Request{Anchor: anchor, Policy: policy.DefaultV1ID, AsOf: n}); err == nil {
		say("slice", fmt.Sprint(s.AsOf, len(s.Turns), s.Provenance.SliceID), nil)
	}
	slice, err := k.Facts().Slice(ctx, tenant, api.FactSliceRequest{Start: []string{honestWords[1]}, AsOf: n})
	say("slice of facts", string(slice.Bundle), err)
	if replay := must(k.Slices().Replay(ctx, tenant, slice.Bundle)); replay.Outcome != kernel.Identical {
		w.t.Errorf("a slice of facts as of %d replays as %s, %s", n, replay.Outcome, replay.Reason)
	}
	for _, l := range w.stated[max(0, len(w.stated)-2):] {
		if p, err := k.Beliefs().Prove(ctx, tenant, api.BeliefProofRequest{Space: beliefSpace, BeliefStatement: l, AsOf: n}); err == nil {
			say("evidence", string(p.Bundle), nil)
		}
	}
	return list
}

// governs puts a standing policy in force.
func (w *whole) governs() {
	set := must(w.k.Standings().Set(w.t.Context(), tenant, api.NewStanding{PolicyID: "standing-team@1", Retroactive: true}))
	w.end("a standing policy", set.Set.Seq)
}

// TestChangesAreWhole runs random histories of every kind of change, with readers of the present meanwhile. As of every number everything answers as it does as of
// the newest number up to it that an operation answered with, and names that number; what is believed never contradicts itself. The numbers are those
// of the answers: of how a store knows them the test knows nothing.
func TestChangesAreWhole(t *testing.T) {
	histories := map[string]int{"memory": 4, "sqlite": 1, "postgres": 1}
	steps := 90
	if testing.Short() {
		steps = 40
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	all := map[history.Kind]bool{}
	missing := func() (list []history.Kind) {
		for _, codec := range kinds.All() {
			for _, kind := range codec.Kinds() {
				if codec.Stream() == history.Known && !all[kind] {
					list = append(list, kind)
				}
			}
		}
		return list
	}
	inside := 0
	for _, name := range []string{"sqlite", "postgres", "memory"} {
		// Chance may leave out a kind for long, so histories in memory go on until there is each.
		for n := 0; n < histories[name] || name == "memory" && len(missing()) > 0 && n < 20; n++ {
			s := open(t, name)
			secret := &kerneltest.Secret{}
			w := &whole{s: s, long: map[dag.TurnID]string{}, honest: honest{
				Rand: rand.New(rand.NewPCG(seed, uint64(n))), t: t, k: guarded(t, s, secret), at: map[dag.TurnID]dag.Seq{}, gone: map[dag.TurnID]bool{},
			}}
			believing(t, w.k, "port")
			w.end("the space", must(s.Head(t.Context(), tenant)))
			for range 8 {
				w.admits()
			}
			seen, stop := w.reading(n)
			for step := range steps {
				switch w.IntN(10) {
				case 0:
					w.admits()
				case 1, 2, 3:
					w.learns()
				case 4, 5, 6, 7:
					w.believes()
				case 8:
					w.contexts()
					w.governs()
				case 9:
					w.erases()
					w.again(step)
				}
			}
			for must(s.Head(t.Context(), tenant)) < leastEntries { // chance may choose what records nothing for long
				w.admits()
			}
			stop()
			for _, at := range *seen {
				if !slices.Contains(w.ends, at) {
					t.Errorf("%s, history %d: a reader was answered as of %d, of which no operation says that it is whole", name, n, at)
				}
			}
			for _, e := range must(s.Entries(t.Context(), tenant, history.Page{Limit: 1 << 20})) {
				all[e.Kind] = true
			}
			inside += w.law(name)
			w.numbered()
			w.copies()
		}
	}
	if kinds := missing(); len(kinds) > 0 {
		t.Errorf("no history has an entry of the kinds %q", kinds)
	}
	if inside < 100 {
		t.Errorf("only %d numbers are inside of a change: this shows less than it should", inside)
	}
}

// leastEntries is how many entries every history has: its copies then take the 20 writes that copies demands.
const leastEntries = 100

// reading lets two readers ask for what is believed while the history goes on. It returns the numbers that they were answered as of.
func (w *whole) reading(n int) (seen *[]dag.Seq, stop func()) {
	done := make(chan struct{})
	var mu sync.Mutex
	var readers sync.WaitGroup
	seen = &[]dag.Seq{}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				head, err := w.k.Turns().Head(w.t.Context(), tenant)
				if err != nil {
					w.t.Error(err)
					return
				}
				for _, asOf := range []dag.Seq{0, head} {
					b, err := w.k.Beliefs().Held(w.t.Context(), tenant, beliefSpace, asOf, nil)
					if err != nil {
						w.t.Error(err)
						return
					}
					ports := map[string]string{}
					for _, h := range b.Held {
						l := h.Stated().Literal
						if was, twice := ports[l.Subject]; l.Predicate == "port" && !l.Not && h.Stated().Premises == nil {
							if twice && was != l.Object {
								w.t.Errorf("history %d, a reader as of %d: %s has the ports %s and %s", n, b.AsOf, l.Subject, was, l.Object)
							}
							ports[l.Subject] = l.Object
						}
					}
					mu.Lock()
					*seen = append(*seen, b.AsOf)
					mu.Unlock()
				}
			}
		})
	}
	return seen, func() {
		close(done)
		readers.Wait()
		if len(*seen) < 2 {
			w.t.Errorf("history %d: only %d reads meanwhile", n, len(*seen))
		}
	}
}

// law compares the views as of every number with those as of the newest end up to it. It returns how many numbers are no ends.
func (w *whole) law(name string) (inside int) {
	slices.Sort(w.ends)
	w.ends = slices.Compact(w.ends)
	var at dag.Seq
	var want []string
	for n := w.ends[8]; n <= w.ends[len(w.ends)-1]; n++ {
		got := w.views(n, w.turns[0])
		if slices.Contains(w.ends, n) {
			if at, want = n, got; must(w.k.Turns().AsOf(w.t.Context(), tenant, n)) != n {
				w.t.Errorf("%s: %d is an end, and resolved as %d", name, n, must(w.k.Turns().AsOf(w.t.Context(), tenant, n)))
			}
			continue
		}
		inside++
		if !slices.Equal(got, want) {
			for _, e := range must(w.s.Entries(w.t.Context(), tenant, history.Page{After: max(n, 4) - 4, Limit: 8})) {
				w.t.Logf("number %d is a %s, %d of %d", e.Seq, e.Kind, e.Part, e.Parts)
			}
			for i := range got {
				if i >= len(want) || got[i] != want[i] {
					w.t.Fatalf("%s: as of %d, in a change after %d:\n%s\nwant\n%s", name, n, at, got[i], want[min(i, len(want)-1)])
				}
			}
			w.t.Fatalf("%s: as of %d there are %d answers, and as of %d %d", name, n, len(got), at, len(want))
		}
		if again := must(w.k.Turns().AsOf(w.t.Context(), tenant, n)); again != at {
			w.t.Fatalf("%s: %d is the view %d, want %d", name, n, again, at)
		}
	}
	return inside
}

// numbered makes sure that a stream of events names ends for every number.
func (w *whole) numbered() {
	for _, e := range must(w.k.Turns().Numbered(w.t.Context(), tenant, 0, 1<<20)) {
		next, _ := slices.BinarySearch(w.ends, e.Seq)
		if w.ends[next] != e.Whole {
			w.t.Fatalf("number %d is whole as of %d, and the answers say %d", e.Seq, e.Whole, w.ends[next])
		}
	}
}

// copies copies the history, and cuts the copy short after each write. The head of the copy is always an end, its views are those of the source, and it is in order.
func (w *whole) copies() {
	ctx := w.t.Context()
	cuts := 0
	to := inmem.Open(&inmem.Disk{}, inmem.Options{Step: func(step string) error {
		if step == "committed" {
			cuts++
		}
		return nil
	}})
	for writes, done := 1, false; !done; writes++ {
		left := 1 + writes%3
		_, err := transfer.Copy(ctx, &stopping{Store: to, left: &left}, w.s, transfer.Options{Stretch: 3})
		if done = err == nil; !done && !errors.Is(err, errStopped) {
			w.t.Fatal(err)
		}
		if head := must(to.Head(ctx, tenant)); head != 0 && !slices.Contains(w.ends, head) {
			w.t.Fatalf("a copy that was cut short has the head %d, which is no end", head)
		}
		if writes > 10_000 {
			w.t.Fatal("the copy does not come to an end")
		}
	}
	if cuts < 20 {
		w.t.Errorf("only %d writes", cuts)
	}
	soundly(w.t, to)
	if r := must(fsck.Tenant(ctx, w.s, tenant, fsck.Options{Page: 3})); r.Err() != nil {
		w.t.Error(r.Err())
	}
	copied := over(w.t, to, token.NewAuthority(ring(w.t, "k1")))
	for n := w.ends[8]; n <= w.ends[len(w.ends)-1]; n++ {
		if got, want := stated(w.t, copied, n), stated(w.t, w.k, n); !slices.Equal(got, want) {
			w.t.Fatalf("as of %d the copy believes %q, want %q", n, got, want)
		}
	}
}

var errStopped = errors.New("stopped")

// A stopping store takes so many stretches, and no more.
type stopping struct {
	store.Store
	left *int
}

func (s *stopping) Adopt(ctx context.Context, name dag.Tenant, stretch store.Stretch) error {
	if *s.left--; *s.left < 0 {
		return errStopped
	}
	return s.Store.Adopt(ctx, name, stretch)
}
