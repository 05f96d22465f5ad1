package journal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const (
	tenant dag.Tenant   = "acme"
	space  belief.Space = "acme/support"
	kindsV              = "kinds@1"
)

var constraints = &belief.Constraints{
	Functional: []string{"p0"},
	Exclusive:  []belief.Exclusion{{Predicate: "p1", Objects: []string{"o0", "o1", "o2"}}},
}

func literal(slot, object int, not bool) belief.Literal {
	return belief.Literal{Subject: "s", Predicate: fmt.Sprint("p", slot), Object: fmt.Sprint("o", object), Not: not}
}

// A desk is a base with what tests need around it.
type desk struct {
	journal.Base
	t     testing.TB
	store *inmem.Store
	made  int
}

func newDesk(t testing.TB) *desk {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	d := &desk{Base: journal.Of(s, nil), t: t, store: s}
	if _, err := d.SetSpace(t.Context(), tenant, journal.SpacePolicy{Space: space, Policy: kindsV, At: 1}, func([]journal.Believed) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return d
}

// request makes a request of a human, about literals.
func (d *desk) request(op journal.Operator, of ...belief.Literal) journal.Request {
	d.made++
	r := journal.Request{
		Operator: op, Space: space, Kind: "fact", Statements: of, Span: belief.Always, Rank: journal.Rank{Class: belief.Human}, At: dag.Time(1000 + d.made),
		Salt: dag.Salt{byte(d.made), byte(d.made >> 8)}, Policy: kindsV, Constraints: constraints,
	}
	r.Revision.Source, r.Revision.Confidence = "manual", dag.One
	return r
}

func (d *desk) do(r journal.Request) *journal.Outcome {
	d.t.Helper()
	o, err := d.Operate(d.t.Context(), tenant, r)
	if err != nil {
		d.t.Fatal(err)
	}
	return o
}

// base lists what is stated as of a number, with what owns it.
func (d *desk) base(asOf dag.Seq) (list []string) {
	d.t.Helper()
	held, err := d.Believed(d.t.Context(), tenant, space, asOf)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, b := range held {
		s := b.Stated()
		list = append(list, fmt.Sprintf("%v %v %v [%d,%d) %v %s r%d", s.Literal, s.Premises, s.Turns, s.Span.From, s.Span.Until, b.Element().Rank, b.Revision.Item, b.Revision.Number))
	}
	return list
}

func (d *desk) elements() belief.Base {
	held, err := d.Believed(d.t.Context(), tenant, space, d.head())
	if err != nil {
		d.t.Fatal(err)
	}
	var b belief.Base
	for i := range held {
		b = append(b, held[i].Element())
	}
	return b
}

func (d *desk) head() dag.Seq {
	head, err := d.store.Head(d.t.Context(), tenant)
	if err != nil {
		d.t.Fatal(err)
	}
	return head
}

func (d *desk) believes(l belief.Literal) bool {
	return slices.ContainsFunc(d.elements(), func(e belief.Element) bool { return e.Literal == l && e.Premises == nil })
}

func (d *desk) item(item belief.Item) *journal.ItemRecord {
	d.t.Helper()
	r, err := d.Item(d.t.Context(), tenant, item, d.head())
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

func (d *desk) fsck() {
	d.t.Helper()
	r, err := fsck.Tenant(d.t.Context(), d.store, tenant, fsck.Options{Page: 7})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		d.t.Fatal(err)
	}
	if r.Counts.Entries == 0 {
		d.t.Fatal("no entry was checked")
	}
	d.projects()
}

// TestOnePath goes from a statement to another that takes its place, and on.
func TestOnePath(t *testing.T) {
	d := newDesk(t)
	blue, red := literal(0, 0, false), literal(0, 1, false)
	first := d.do(d.request(journal.Revise, blue))
	if first.Result != journal.Changed || first.Revision != 1 || first.Seq != d.head() {
		t.Fatalf("%+v", first)
	}
	second := d.do(d.request(journal.Revise, red))
	if second.Item != first.Item || second.Revision != 2 || len(second.GaveWay) != 1 || second.GaveWay[0].Stated().Literal != blue || len(second.GaveWay[0].Conflict) != 2 {
		t.Fatalf("%+v", second)
	}
	if d.believes(blue) || !d.believes(red) {
		t.Error(d.base(d.head()))
	}
	if was := d.base(first.Seq); len(was) != 1 {
		t.Errorf("as of %d: %q", first.Seq, was)
	}
	third := d.do(d.request(journal.Contract, red))
	if third.Result != journal.Changed || third.Item != first.Item || len(d.elements()) != 0 {
		t.Errorf("%+v, %q", third, d.base(d.head()))
	}
	if again := d.do(d.request(journal.Contract, red)); again.Result != journal.Unchanged || again.Seq != 0 {
		t.Errorf("%+v", again)
	}
	back, err := d.Do(t.Context(), tenant, journal.Act{Item: first.Item, Tag: journal.Current, Number: 1, At: 9999, Policy: kindsV, Constraints: constraints})
	if err != nil || back.Result != journal.Changed || !d.believes(blue) {
		t.Errorf("%+v, %v", back, err)
	}
	d.fsck()
}

// TestGivesUpOne takes one statement out of a revision that has two.
func TestGivesUpOne(t *testing.T) {
	d := newDesk(t)
	r := d.request(journal.Revise, literal(0, 0, false), literal(2, 1, false))
	r.Revision.Title = "what was said"
	made := d.do(r)
	gone := d.do(d.request(journal.Revise, literal(0, 1, false)))
	if gone.Item != made.Item || gone.Revision != 2 {
		t.Fatalf("%+v", gone)
	}
	if !d.believes(literal(2, 1, false)) || d.believes(literal(0, 0, false)) {
		t.Error(d.base(d.head()))
	}
	other := d.do(d.request(journal.Contract, literal(0, 1, false)))
	item := d.item(made.Item)
	last := item.Revisions[2]
	if other.Revision != 3 || !last.Withheld || last.Supersedes != 2 || item.Tagged(journal.Current) != last || !d.believes(literal(2, 1, false)) {
		t.Errorf("%+v, %+v", other, last)
	}
	d.fsck()
}

// TestEndsEarlier ends a statement where a later one begins.
func TestEndsEarlier(t *testing.T) {
	d := newDesk(t)
	d.do(d.request(journal.Revise, literal(0, 0, false)))
	later := d.request(journal.Revise, literal(0, 1, false))
	later.Span = belief.Span{From: 5000, Until: dag.MaxTime}
	o := d.do(later)
	if len(o.GaveWay) != 1 || o.GaveWay[0].Until != 5000 {
		t.Fatalf("%+v", o)
	}
	at := map[belief.Literal]belief.Span{}
	for _, e := range d.elements() {
		at[e.Literal] = e.Span
	}
	if at[literal(0, 0, false)] != (belief.Span{From: 0, Until: 5000}) || at[literal(0, 1, false)] != later.Span {
		t.Error(at)
	}
	d.fsck()
}

// TestProposals records what was not taken.
func TestProposals(t *testing.T) {
	d := newDesk(t)
	d.do(d.request(journal.Revise, literal(0, 0, false)))
	agent := d.request(journal.Propose, literal(0, 1, false))
	agent.Rank.Class = belief.Inferred
	o := d.do(agent)
	if o.Result != journal.Refused || len(o.GaveWay) != 1 || d.believes(literal(0, 1, false)) {
		t.Fatalf("%+v", o)
	}
	list, err := d.Conflicts(t.Context(), tenant, space, d.head())
	if err != nil || len(list) != 1 || list[0].Statements[0] != literal(0, 1, false) || len(list[0].With) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	d.fsck()
}

// TestProtects makes sure that nothing takes the place of what is published.
func TestProtects(t *testing.T) {
	d := newDesk(t)
	made := d.do(d.request(journal.Revise, literal(0, 0, false)))
	act := journal.Act{Item: made.Item, Tag: journal.Published, Number: 1, At: 9999, Policy: kindsV, Constraints: constraints}
	if a, err := d.Do(t.Context(), tenant, act); err != nil || a.Result != journal.Changed {
		t.Fatal(a, err)
	}
	for _, op := range []journal.Operator{journal.Revise, journal.Contract, journal.Propose} {
		of := literal(0, 1, false)
		if op == journal.Contract {
			of = literal(0, 0, false)
		}
		if o := d.do(d.request(op, of)); o.Result != journal.Refused || !o.Protects {
			t.Errorf("%s: %+v", op, o)
		}
	}
	act.Tag, act.Number = journal.Current, 0
	if _, err := d.Do(t.Context(), tenant, act); !errors.Is(err, belief.ErrProtected) {
		t.Errorf("untagging: %v", err)
	}
	act.Tag = journal.Published
	if _, err := d.Do(t.Context(), tenant, act); err != nil {
		t.Fatal(err)
	}
	if o := d.do(d.request(journal.Revise, literal(0, 1, false))); o.Result != journal.Changed {
		t.Errorf("%+v", o)
	}
	d.fsck()
}

// TestAgain answers a request with the same key from the record.
func TestAgain(t *testing.T) {
	d := newDesk(t)
	r := d.request(journal.Revise, literal(0, 0, false))
	r.Key = dag.Digest{1}
	first, head := d.do(r), d.head()
	r.Salt = dag.Salt{77}
	second := d.do(r)
	if !second.Again || second.Seq != first.Seq || second.Item != first.Item || second.Revision != 1 || d.head() != head {
		t.Errorf("%+v, then %+v", first, second)
	}
	d.fsck()
}

// TestDry records nothing, and says so.
func TestDry(t *testing.T) {
	d := newDesk(t)
	before := d.head()
	r := d.request(journal.Revise, literal(0, 0, false))
	r.Dry = true
	if o := d.do(r); o.Result != journal.Changed || o.Seq != 0 || d.head() != before {
		t.Errorf("%+v, and the head moved from %d to %d", o, before, d.head())
	}
}

// TestOwnWords holds that what a plan refuses is told without the words of the store.
func TestOwnWords(t *testing.T) {
	d := newDesk(t)
	act := journal.Act{Item: "kref://acme/support/none.fact", Tag: "seen", Number: 1, At: 9999, Policy: kindsV, Constraints: constraints}
	want := "no such item or revision: kref://acme/support/none.fact?r=1"
	if _, err := d.Do(t.Context(), tenant, act); !errors.Is(err, journal.ErrNoItem) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRules believes what follows, as long as its premises are.
func TestRules(t *testing.T) {
	d := newDesk(t)
	d.do(d.request(journal.Revise, literal(2, 0, false)))
	rule := d.request(journal.Revise, literal(2, 1, false))
	rule.Premises = []belief.Literal{literal(2, 0, false)}
	made := d.do(rule)
	follows := func() bool {
		return belief.Support(constraints, d.elements(), literal(2, 1, false), belief.Always) != nil
	}
	if !follows() || d.believes(literal(2, 1, false)) {
		t.Fatal(d.base(d.head()))
	}
	o := d.do(d.request(journal.Contract, literal(2, 0, false)))
	if follows() || len(o.Fell) != 1 || o.Fell[0].Literal != literal(2, 1, false) {
		t.Errorf("%+v", o)
	}
	d.do(d.request(journal.Revise, literal(2, 0, false)))
	if !follows() {
		t.Error("it does not follow again")
	}
	if no := d.do(d.request(journal.Revise, literal(2, 1, true))); len(no.GaveWay) != 1 {
		t.Errorf("%+v of %v", no, made)
	}
	d.fsck()
}

// TestRandom does random operations and acts, and looks at each moment again afterwards.
func TestRandom(t *testing.T) {
	results := map[string]int{}
	for n := range 40 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 3))
		d := newDesk(t)
		moments := map[dag.Seq][]string{}
		var items []belief.Item
		for range 40 {
			if len(items) > 0 && r.IntN(4) == 0 {
				act := journal.Act{Item: items[r.IntN(len(items))], At: 9999, Policy: kindsV, Constraints: constraints}
				switch r.IntN(4) {
				case 0, 1:
					act.Tag, act.Number = []string{journal.Current, journal.Published, "mine"}[r.IntN(3)], r.IntN(3)
				case 2:
					act.Deprecates = true
				}
				switch a, err := d.Do(t.Context(), tenant, act); {
				case errors.Is(err, journal.ErrNoItem), errors.Is(err, belief.ErrProtected):
				case err != nil:
					t.Fatalf("seed %d: %v", seed, err)
				default:
					results["act "+a.Result]++
				}
			} else {
				op := []journal.Operator{journal.Revise, journal.Revise, journal.Propose, journal.Contract, journal.Expand}[r.IntN(5)]
				q := d.request(op, literal(r.IntN(3), r.IntN(4), r.IntN(4) == 0))
				q.Rank.Class, q.Revision.Confidence = belief.Class(1+r.IntN(4)), dag.One-dag.PPM(r.IntN(2))
				if r.IntN(3) == 0 {
					q.Span.From = dag.Time(1000 * r.IntN(4))
					q.Span.Until = q.Span.From + dag.Time(1000*(1+r.IntN(3)))
				}
				if more := literal(r.IntN(3), r.IntN(4), false); r.IntN(4) == 0 && !slices.Contains(q.Statements, more) && !constraints.Conflict(more, q.Statements[0]) {
					q.Statements = append(q.Statements, more)
				}
				if op != journal.Contract && r.IntN(5) == 0 {
					q.Premises = []belief.Literal{literal(r.IntN(3), r.IntN(4), r.IntN(3) == 0)}
				}
				if len(items) > 0 && op != journal.Contract && r.IntN(3) == 0 {
					q.Item = items[r.IntN(len(items))]
				}
				o, err := d.Operate(t.Context(), tenant, q)
				switch {
				case errors.Is(err, belief.ErrInput), errors.Is(err, journal.ErrDeprecated):
				case err != nil:
					t.Fatalf("seed %d: %s: %v", seed, op, err)
				default:
					results[string(op)+" "+o.Result]++
					if o.Item != "" && !slices.Contains(items, o.Item) {
						items = append(items, o.Item)
					}
				}
			}
			if conflict, ok := belief.Consistent(constraints, d.elements()); !ok {
				t.Fatalf("seed %d: the base contradicts itself: %v", seed, conflict)
			}
			results["projected"] += d.projects()
			moments[d.head()] = d.base(d.head())
		}
		for asOf, want := range moments {
			if got := d.base(asOf); !slices.Equal(got, want) {
				t.Fatalf("seed %d: as of %d\n%q, and it was\n%q", seed, asOf, got, want)
			}
		}
		if n%8 == 0 {
			d.fsck()
		}
	}
	for _, want := range []string{"revise changed", "propose changed", "propose refused", "contract changed", "contract unchanged", "expand changed", "expand refused", "act changed", "act refused", "act unchanged"} {
		if results[want] == 0 {
			t.Errorf("nothing was %s: %v", want, results)
		}
	}
}

var _ history.Codec = journal.Codec{}

// projects makes sure that the facts which beliefs assert are what is stated and believed, and no more, and returns how many there are.
func (d *desk) projects() int {
	d.t.Helper()
	spaces, err := d.Spaces(d.t.Context(), tenant, d.head())
	if err != nil {
		d.t.Fatal(err)
	}
	var held []journal.Believed
	for s := range spaces {
		of, err := d.Believed(d.t.Context(), tenant, s, d.head())
		if err != nil {
			d.t.Fatal(err)
		}
		held = append(held, of...)
	}
	var want, got []string
	for i := range held {
		if s := held[i].Stated(); !s.Not && s.Premises == nil {
			id := (&knowledge.Statement{Subject: s.Subject, Predicate: s.Predicate, Object: s.Object, From: s.Span.From, Until: s.Span.Until}).ID()
			want = append(want, fmt.Sprint(held[i].Revision.Item.Path(), id, held[i].Revision.Confidence))
		}
	}
	list, _, err := knowledge.Base{History: d.store}.Versions(d.t.Context(), tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: d.head()}, Limit: 1 << 20})
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range list {
		if f := &list[i].Act.Fact; f.Held() {
			item, _, _ := strings.Cut(strings.TrimPrefix(f.Source, "belief:"), "?")
			got = append(got, fmt.Sprint(item, f.ID(), f.Confidence))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		d.t.Fatalf("as of %d the facts %q, believed %q", d.head(), got, want)
	}
	return len(got)
}

// TestHeldApart keeps what a belief asserts apart from what others assert: neither ends the other.
func TestHeldApart(t *testing.T) {
	d := newDesk(t)
	facts := knowledge.Base{History: d.store}
	own, err := knowledge.NewFact("s", "p0", "o0", "user")
	if err != nil {
		t.Fatal(err)
	}
	count := func() int {
		t.Helper()
		list, _, err := facts.Versions(t.Context(), tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: d.head()}, Subjects: []string{"s"}, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	learn := func(a knowledge.Act) error {
		_, err := facts.Learn(t.Context(), tenant, []knowledge.Act{a}, 500)
		return err
	}
	blue := literal(0, 0, false)
	d.do(d.request(journal.Revise, blue))
	if err := learn(knowledge.Act{Kind: knowledge.Assert, Salt: dag.Salt{1}, Fact: own}); err != nil || count() != 2 {
		t.Fatal(err, count())
	}
	if err := learn(knowledge.Act{Kind: knowledge.Retract, Salt: dag.Salt{2}, Statement: own.ID()}); err != nil || count() != 1 || d.projects() != 1 {
		t.Fatal(err, count())
	}
	if err := learn(knowledge.Act{Kind: knowledge.Assert, Salt: dag.Salt{3}, Fact: own}); err != nil {
		t.Fatal(err)
	}
	held := own
	held.Source = knowledge.HeldSource(d.item(d.itemOf(blue)).Item.Path(), 1)
	for _, a := range []knowledge.Act{
		{Kind: knowledge.Assert, Salt: dag.Salt{4}, Fact: held},
		{Kind: knowledge.Retract, Salt: dag.Salt{5}, Statement: held.Chain()},
		{Kind: knowledge.Assert, Salt: dag.Salt{6}, Fact: knowledge.Fact{Statement: knowledge.Statement{Subject: "x", Predicate: "y", Object: "z", Until: knowledge.Forever}, Rule: own.Rule, Source: "user"}, Supersedes: []knowledge.ID{held.Chain()}},
	} {
		if err := learn(a); !errors.Is(err, knowledge.ErrHeld) || count() != 2 {
			t.Errorf("%+v: %v, %d facts", a, err, count())
		}
	}
	d.do(d.request(journal.Contract, blue))
	if count() != 1 || d.projects() != 0 {
		t.Errorf("%d facts after the belief gave way", count())
	}
	d.fsck()
}

// itemOf returns the item that states a literal.
func (d *desk) itemOf(l belief.Literal) belief.Item {
	d.t.Helper()
	held, err := d.Believed(d.t.Context(), tenant, space, d.head())
	if err != nil {
		d.t.Fatal(err)
	}
	for i := range held {
		if held[i].Stated().Literal == l {
			return held[i].Revision.Item
		}
	}
	d.t.Fatalf("%q is not believed", l)
	return ""
}

// TestNoText refuses statements that are to rest on a turn without a text, whatever the caller saw before.
func TestNoText(t *testing.T) {
	d := newDesk(t)
	before := d.head()
	r := d.request(journal.Revise, literal(0, 0, false))
	r.Turns = []dag.TurnID{{7}}
	if o, err := d.Operate(t.Context(), tenant, r); !errors.Is(err, journal.ErrNoText) || d.head() != before {
		t.Errorf("%+v, %v, head %d after %d", o, err, d.head(), before)
	}
}
