package query_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A farStore is a store to which questions go a long way: while one for the head is under way,
// something happens there. Nobody may ask it anything else meanwhile.
type farStore struct {
	store.Store
	t         *testing.T
	meanwhile func()
	working   bool

	asked, askedWhile, edges int
}

func (s *farStore) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	s.asked++
	return s.Store.Head(ctx, tenant)
}

func (s *farStore) HeadWhile(ctx context.Context, tenant dag.Tenant, work func()) (dag.Seq, error) {
	s.askedWhile++
	s.working = true
	work()
	s.working = false
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return s.Store.Head(ctx, tenant)
}

func (s *farStore) idle() {
	if s.working {
		s.t.Error("the store was asked while it was asked for the head")
	}
}

func (s *farStore) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	s.idle()
	if ranges[0].Limit > 0 { // those for aliases have none
		s.edges++
	}
	return s.Store.Terms(ctx, tenant, ranges)
}

func (s *farStore) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	s.idle()
	return s.Store.Entries(ctx, tenant, p)
}

// TestWalksEarly asks a kernel that walks while the head is asked for. What is learned on the
// way of that question is in the answer, what is kept is not asked for, and a head that moves
// all the time is not guessed.
func TestWalksEarly(t *testing.T) {
	ctx := t.Context()
	a := token.NewAuthority(ring(t, "k1"))
	inner := inmem.Open(&inmem.Disk{}, inmem.Options{})
	far := &farStore{Store: inner, t: t}
	k, other := over(t, far, a), over(t, inner, a)
	learn := func(acts ...knowledge.Act) func() { return func() { must(other.Facts().Learn(ctx, tenant, acts)) } }
	learn(fact(t, "a", "p", "b"), fact(t, "b", "p", "c"), fact(t, "x", "p", "y"))()

	ask := func(what, start string, asked, askedWhile, edges int, want ...string) {
		t.Helper()
		far.asked, far.askedWhile, far.edges = 0, 0, 0
		got := must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{start}}))
		if head := must(inner.Head(ctx, tenant)); !reflect.DeepEqual(entities(got.Reached), want) || got.AsOf != head {
			t.Errorf("%s: %q as of %d, want %q as of %d", what, entities(got.Reached), got.AsOf, want, head)
		}
		if far.asked != asked || far.askedWhile != askedWhile || far.edges != edges {
			t.Errorf("%s: asked for the head %d times, and %d times while it walked, for edges %d times; want %d, %d, %d",
				what, far.asked, far.askedWhile, far.edges, asked, askedWhile, edges)
		}
		far.meanwhile = nil
	}
	ask("the first time", "a", 1, 0, 3, "b", "c")
	ask("what was asked before", "a", 1, 0, 0, "b", "c")
	ask("the head stood", "a", 0, 1, 0, "b", "c")
	ask("what is not kept", "x", 0, 1, 2, "y")
	ask("kept, and not asked before", "b", 0, 1, 0, "a", "c")
	far.meanwhile = learn(fact(t, "a", "p", "d"))
	ask("learned on the way", "a", 0, 1, 2, "b", "c", "d")
	ask("the head has moved", "a", 1, 0, 0, "b", "c", "d")
	far.meanwhile = learn(alias("e", "b"), fact(t, "e", "p", "f"))
	ask("an alias learned on the way", "a", 0, 1, 2, "b", "c", "d", "f")
	ask("the head has moved again", "a", 1, 0, 0, "b", "c", "d", "f")
	gone := fact(t, "b", "p", "c")
	far.meanwhile = learn(knowledge.Act{Kind: knowledge.Retract, Statement: gone.Fact.ID()})
	ask("retracted on the way", "a", 0, 1, 3, "b", "d", "f")
	if got, err := k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"a"}, AsOf: 3}); err != nil || !reflect.DeepEqual(entities(got.Reached), []string{"b", "c"}) {
		t.Errorf("as of 3: %v, %v", got, err)
	}
}
