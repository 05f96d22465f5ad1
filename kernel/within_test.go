package kernel_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/token"
)

// TestWithin holds searches and traversals within slices and contexts: what is found is what a store finds that has their turns, and what
// was learned from them, alone.
func TestWithin(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx, r := t.Context(), seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			k := over(t, open(t, name), a)
			drafts := chat(r, 60)
			must(k.Turns().Admit(ctx, tenant, drafts))
			var acts []knowledge.Act
			for n := range 60 {
				fact := must(knowledge.NewFact(fmt.Sprint("thing ", r.IntN(8)), "leads to", fmt.Sprint("thing ", r.IntN(8)), "user"))
				if fact.Turn = drafts[n].ID; n%10 == 0 {
					fact.Turn = dag.TurnID{} // rests on nothing
				}
				acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: fact})
			}
			must(k.Facts().Learn(ctx, tenant, acts))
			found, walked, outside := 0, 0, 0
			for i := range 8 {
				anchor := drafts[r.IntN(60)].ID
				var bundle []byte
				switch i % 2 {
				case 0:
					bundle = must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: anchor})).Bundle
				case 1:
					head := must(k.Turns().Head(ctx, tenant))
					bundle = must(k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: question(r, 0).Text, Anchor: anchor.String(), Budget: 140, AsOf: head})).Bundle
				}
				b := must(k.Slices().Boundary(tenant, bundle))
				in := map[dag.TurnID]bool{}
				for _, id := range b.Turns() {
					in[id] = true
				}
				small := over(t, open(t, "memory"), a)
				var few []dag.Draft
				var rest []knowledge.Act
				for _, d := range drafts {
					if in[d.ID] {
						d.Parents = nil
						few = append(few, d)
					}
				}
				must(small.Turns().Admit(ctx, tenant, few))
				for _, act := range acts {
					if in[act.Fact.Turn] {
						rest = append(rest, act)
					}
				}
				if len(rest) > 0 {
					must(small.Facts().Learn(ctx, tenant, rest))
				}
				outside += len(drafts) - len(few)
				for range 6 {
					q := question(r, 0)
					want := must(small.Turns().Search(ctx, tenant, q))
					q.Within = b
					got := must(k.Turns().Search(ctx, tenant, q))
					if !reflect.DeepEqual(heard(got), heard(want)) {
						t.Fatalf("%q within %d turns:\ngot  %v\nwant %v", q.Text, len(few), heard(got), heard(want))
					}
					found += len(got.Hits)
					walk := api.TraverseRequest{Start: []string{fmt.Sprint("thing ", r.IntN(8))}, AsOf: must(k.Turns().Head(ctx, tenant))}
					small := must(small.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: walk.Start}))
					walk.Within = bundle
					large := must(k.Facts().Traverse(ctx, tenant, walk))
					if got, want := reached(large), reached(small); !reflect.DeepEqual(got, want) {
						t.Fatalf("from %s within %d turns: got %v, want %v", walk.Start, len(few), got, want)
					}
					walked += len(small.Reached)
				}
			}
			if found < 50 || walked < 50 || outside < 50 {
				t.Errorf("%d hits, %d entities reached, %d turns outside: too few to say anything", found, walked, outside)
			}
		})
	}
}

func heard(f find.Found) (all []any) {
	for _, h := range f.Hits {
		all = append(all, h.Turn.ID, h.Score, h.Content)
	}
	return all
}

func reached(t api.Traversal) (all []any) {
	for _, r := range t.Reached {
		all = append(all, r.Entity, len(r.Path))
	}
	return all
}

// TestWithinRefuses holds questions within what is no evidence: none is answered.
func TestWithinRefuses(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	ids := talk(t, k, "one")
	bundle := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[2]})).Bundle
	bundle[len(bundle)/2] ^= 1
	if _, err := k.Slices().Boundary(tenant, bundle); !errors.Is(err, token.ErrNotAdmissible) {
		t.Errorf("a bundle that was changed: %v", err)
	}
	q := question(seeded(t), 0)
	q.Within = &token.Boundary{}
	if f, err := k.Turns().Search(ctx, tenant, q); !errors.Is(err, token.ErrNotAdmissible) {
		t.Errorf("a boundary of nothing: %+v, %v", f, err)
	}
	for _, of := range []dag.Tenant{tenant, "other"} {
		if f, err := k.Facts().Traverse(ctx, of, api.TraverseRequest{Start: []string{"x"}, Within: bundle}); !errors.Is(err, token.ErrNotAdmissible) {
			t.Errorf("a traversal of tenant %s within a bundle that was changed: %+v, %v", of, f, err)
		}
	}
	if f, err := k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"x"}, Within: []byte{}}); !errors.Is(err, token.ErrNotAdmissible) {
		t.Errorf("a traversal within no bytes: %+v, %v", f, err)
	}
	bundle[len(bundle)/2] ^= 1
	if q.Within = must(k.Slices().Boundary(tenant, bundle)); true {
		if _, err := k.Turns().Search(ctx, "other", q); !errors.Is(err, token.ErrTenant) {
			t.Errorf("a question of another tenant: %v", err)
		}
	}
	if _, err := k.Facts().Traverse(ctx, "other", api.TraverseRequest{Start: []string{"x"}, Within: bundle}); !errors.Is(err, token.ErrNotAdmissible) {
		t.Errorf("a traversal within evidence of another tenant: %v", err)
	}
	if _, err := k.Slices().Boundary("other", bundle); !errors.Is(err, token.ErrNotAdmissible) {
		t.Errorf("evidence of another tenant: %v", err)
	}
}
