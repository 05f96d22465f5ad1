package space_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// readImpact is Resolve and Impact by what the store says alone: all of the item, each link by the index, and what follows from the whole space.
func readImpact(t testing.TB, s store.Store, a belief.Address, depth int) (*journal.ItemRecord, []string, []journal.Dependent) {
	t.Helper()
	b := journal.Of(s, nil)
	record, err := b.Item(t.Context(), tenant, a.Item, a.Seq)
	if err != nil {
		return nil, nil, nil
	}
	r := record.Numbered(a.Revision)
	if r == nil {
		return nil, nil, nil
	}
	var all, without belief.Base
	for _, h := range must(b.Believed(t.Context(), tenant, beliefSpace, a.Seq)) {
		if all = append(all, h.Element()); h.Revision.Seq != r.Seq {
			without = append(without, h.Element())
		}
	}
	links := must(b.Dependents(t.Context(), tenant, belief.Address{Item: a.Item, Revision: a.Revision}, depth, a.Seq))
	return record, conclusions(belief.Fallen(&belief.Constraints{Functional: []string{"is"}}, all, without)), links
}

func conclusions(list []belief.Conclusion) (text []string) {
	for _, c := range list {
		text = append(text, fmt.Sprint(c.Literal, c.Spans))
	}
	return text
}

// sameImpact asks a kernel for an impact as of a number, and compares it with what the store says.
func sameImpact(t *testing.T, k *kernel.Kernel, s store.Store, a belief.Address, depth int) (falls, links int) {
	t.Helper()
	view := a
	view.Seq = must(k.Turns().AsOf(t.Context(), tenant, a.Seq))
	record, fallen, dependents := readImpact(t, s, view, depth)
	got, err := k.Beliefs().ImpactOf(t.Context(), tenant, a, depth)
	switch {
	case record == nil && err == nil:
		t.Fatalf("%s: there is none, and the kernel has %+v", a, got)
	case record == nil:
		return 0, 0
	case err != nil:
		t.Fatalf("%s: %v", a, err)
	case !reflect.DeepEqual(got.Record, record):
		t.Fatalf("%s: the item is %+v, want %+v", a, got.Record, record)
	case !slices.Equal(conclusions(got.Falls), fallen):
		t.Fatalf("%s: %q falls, want %q", a, conclusions(got.Falls), fallen)
	case !reflect.DeepEqual(got.Links, dependents):
		t.Fatalf("%s: the links are %+v, want %+v", a, got.Links, dependents)
	}
	return len(fallen), len(dependents)
}

// A randomDesk does things at random by either of two kernels.
type randomDesk struct {
	*rand.Rand
	turns     []dag.TurnID
	revisions []belief.Address
}

func (d *randomDesk) any() belief.Address { return d.revisions[d.IntN(len(d.revisions))] }

func (d *randomDesk) literal() belief.Literal {
	return belief.Literal{Subject: fmt.Sprint("s", d.IntN(5)), Predicate: []string{"is", "has"}[d.IntN(2)], Object: fmt.Sprint("o", d.IntN(3))}
}

func (d *randomDesk) act(t *testing.T, k *kernel.Kernel) {
	ctx := t.Context()
	switch what := d.IntN(12); {
	case what < 5 || len(d.revisions) < 2:
		in := space.Operation{Operator: journal.Revise, BeliefRequest: api.BeliefRequest{Space: beliefSpace, Item: belief.Item(fmt.Sprintf("kref://%s/i%d.fact", beliefSpace, d.IntN(8))), Statements: []belief.Literal{d.literal()}}}
		if d.IntN(2) == 0 {
			in.Premises = []belief.Literal{d.literal()}
		}
		if d.IntN(3) == 0 && len(d.turns) > 0 {
			in.Turns = d.turns[:1]
		}
		if o, err := k.Beliefs().Operate(ctx, tenant, in); err == nil && o.Revision != 0 {
			d.revisions = append(d.revisions, belief.Address{Item: o.Item, Revision: o.Revision})
		}
	case what < 9:
		_, _ = k.Beliefs().Link(ctx, tenant, api.NewLink{From: d.any().String(), Type: "depends_on", To: d.any().String()})
	case what == 9:
		a := d.any()
		_, _ = k.Beliefs().Act(ctx, tenant, journal.Act{Item: a.Item, Tag: []string{"current", "mine"}[d.IntN(2)], Number: a.Revision})
	case what == 10:
		_, _ = k.Beliefs().Act(ctx, tenant, journal.Act{Item: d.any().Item, Deprecates: d.IntN(2) == 0})
	case len(d.turns) > 0 && d.IntN(2) == 0:
		must(k.Turns().Erase(ctx, tenant, d.turns[0], "asked for"))
		d.turns = d.turns[1:]
	}
}

// TestKeptImpact lets two kernels on one store do things at random, and asks either for impacts as of any number. The answers are those of the store,
// whether links are kept or are too many.
func TestKeptImpact(t *testing.T) {
	seeds := uint64(6)
	if race.Enabled {
		seeds = 1 // one question after the other: little for the race detector
	}
	for _, bound := range []int{1 << 20, 4000, 0} {
		falls, links := 0, 0
		for seed := range seeds {
			s := inmem.Open(&inmem.Disk{}, inmem.Options{})
			a := token.NewAuthority(ring(t, "k1"))
			kernels := []*kernel.Kernel{over(t, s, a), over(t, s, a)}
			d := &randomDesk{Rand: rand.New(rand.NewPCG(seed, 1)), turns: chain(t, kernels[0], 4)}
			believing(t, kernels[0], "is")
			for _, k := range kernels {
				space.KeepLinks(k.Beliefs().Beliefs, bound)
			}
			for range 80 {
				d.act(t, kernels[d.IntN(2)])
				head := must(s.Head(t.Context(), tenant))
				for range 3 {
					of := d.any()
					of.Seq = head
					if d.IntN(2) == 0 {
						of.Seq = 6 + dag.Seq(d.IntN(int(head)-5))
					}
					f, l := sameImpact(t, kernels[d.IntN(2)], s, of, 1+d.IntN(4))
					falls, links = falls+f, links+l
				}
			}
			head := must(s.Head(t.Context(), tenant))
			for _, of := range d.revisions { // by kernels that know it all, and by one that has read nothing
				for of.Seq = 6; of.Seq <= head; of.Seq += 11 {
					sameImpact(t, kernels[0], s, of, 10)
				}
				fresh := over(t, s, a)
				for _, of.Seq = range []dag.Seq{head, 6 + dag.Seq(d.IntN(int(head)-5))} {
					sameImpact(t, fresh, s, of, 10)
				}
			}
		}
		if seeds == 6 && (falls < 20 || links < 500) {
			t.Errorf("%d falls and %d links: the histories say little", falls, links)
		}
	}
}

// An interrupted store lets something happen once, after it has read terms and before it answers.
type interrupted struct {
	store.Store
	then func()
}

func (s *interrupted) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := s.Store.Terms(ctx, tenant, ranges)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return lists, err
}

// TestKeptItemOvertaken changes an item while a kernel reads it, and lets the kernel read on before it has the answer. What was read is not kept.
func TestKeptItemOvertaken(t *testing.T) {
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	a := token.NewAuthority(ring(t, "k1"))
	other, between := over(t, s, a), &interrupted{Store: s}
	k := over(t, between, a)
	ctx := t.Context()
	believing(t, other)
	in := asking(journal.Revise, "pump", "is", "old")
	in.Item = "kref://acme/desk/a.fact"
	must(other.Beliefs().Operate(ctx, tenant, in))
	if _, err := k.Beliefs().Kref(ctx, tenant, belief.Address{Item: "kref://acme/desk/none.fact"}); !errors.Is(err, journal.ErrNoItem) {
		t.Fatal(err) // the kernel has read up to here
	}
	happened := false
	between.then = func() {
		happened = true
		in := in
		in.Statements = []belief.Literal{{Subject: "pump", Predicate: "is", Object: "new"}}
		must(other.Beliefs().Operate(ctx, tenant, in))
		if _, err := k.Beliefs().Kref(ctx, tenant, belief.Address{Item: "kref://acme/desk/none.fact"}); !errors.Is(err, journal.ErrNoItem) {
			t.Error(err)
		}
	}
	must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: in.Item}))
	if got := must(k.Beliefs().Kref(ctx, tenant, belief.Address{Item: in.Item})); !happened || got.Revision.Number != 2 {
		t.Errorf("revision %d, want 2; it was overtaken: %t", got.Revision.Number, happened)
	}
}

// A turning store changes servers after a certain question: the answer to that one is of the server that went.
type turning struct {
	store.Store
	next  store.Store
	at    int
	epoch uint64
}

func (s *turning) Epoch() uint64 { return s.epoch }

func (s *turning) turn() {
	if s.at--; s.at == 0 {
		s.Store, s.epoch = s.next, s.epoch+1
	}
}

func (s *turning) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	defer s.turn()
	return s.Store.Head(ctx, tenant)
}

func (s *turning) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	defer s.turn()
	return s.Store.Terms(ctx, tenant, ranges)
}

func (s *turning) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	defer s.turn()
	return s.Store.Entries(ctx, tenant, p)
}

// TestImpactEpochEnds lets another server take over in the midst of each question that an impact puts. The answer is of the server that took over.
func TestImpactEpochEnds(t *testing.T) {
	a := token.NewAuthority(ring(t, "k1"))
	made := func(seed uint64) store.Store {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		k := over(t, s, a)
		believing(t, k, "is")
		d := &randomDesk{Rand: rand.New(rand.NewPCG(seed, 2))}
		for range 60 {
			d.act(t, k)
		}
		return s
	}
	early, late := made(1), made(2)
	var of belief.Address
	ask := func(k *kernel.Kernel) *space.BeliefImpact {
		return must(k.Beliefs().ImpactOf(t.Context(), tenant, of, 5))
	}
	var want *space.BeliefImpact
	for i := range 8 { // one that both have
		of = belief.Address{Item: belief.Item(fmt.Sprintf("kref://%s/i%d.fact", beliefSpace, i)), Revision: 1}
		if _, err := over(t, late, a).Beliefs().ImpactOf(t.Context(), tenant, of, 5); err != nil {
			continue
		}
		if other, err := over(t, early, a).Beliefs().ImpactOf(t.Context(), tenant, of, 5); err == nil && len(other.Links) > 0 {
			want = other
			break
		}
	}
	if want == nil || reflect.DeepEqual(want.Links, ask(over(t, late, a)).Links) {
		t.Fatal("the two histories say the same: this test cannot fail")
	}
	for _, before := range []bool{false, true} { // whether the kernel has answered from the server that goes
		for question := 1; ; question++ {
			s := &turning{Store: late, next: early}
			k := over(t, s, a)
			if before {
				ask(k)
			}
			s.at = question
			got := ask(k)
			if s.at > 0 {
				if question < 2 {
					t.Error("it put no question")
				}
				break
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("question %d: got %+v, want %+v", question, got, want)
			}
		}
	}
}
