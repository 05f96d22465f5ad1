package kernel_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/token"
)

// TestTenantsDoNotMove returns two tenants the same texts: both are answered alike, with the same scores. Then one of them grows, forgets,
// learns, asks and registers policies as it likes. No score of the other moves, and no byte of its contexts, whether its kernel has seen
// all of it, or the other one wrote through a kernel of its own, or the question is asked of a kernel that was opened later.
func TestTenantsDoNotMove(t *testing.T) {
	const quiet, busy dag.Tenant = "quiet", "busy"
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			r := seeded(t)
			a := token.NewAuthority(ring(t, "k1"))
			s := open(t, name)
			k, beside := over(t, s, a), over(t, s, a)
			drafts := chat(r, 60)
			for i := range drafts {
				salt := dag.Salt{byte(i)}
				drafts[i].Salt = &salt // so that both have the same leaves
			}
			for _, of := range []dag.Tenant{quiet, busy} {
				must(k.Turns().Admit(t.Context(), of, drafts))
			}
			var searches []find.Request
			var asked []api.ContextRequest
			for range 8 {
				searches = append(searches, question(r, 0))
				anchor := drafts[r.IntN(len(drafts))].ID
				asked = append(asked, api.ContextRequest{Task: question(r, 0).Text, Anchor: anchor.String(), Budget: 80 + r.IntN(150), Policy: eitherContext(r)})
			}
			type answers struct {
				found   [][]find.FoundTurn
				bundles [][]byte
				chosen  [][]any
			}
			answer := func(k *kernel.Kernel, of dag.Tenant) (all answers) {
				for _, q := range searches {
					all.found = append(all.found, must(k.Turns().Search(t.Context(), of, q)).Hits)
				}
				for _, q := range asked {
					issued := must(k.Contexts().Assemble(t.Context(), of, q))
					all.bundles, all.chosen = append(all.bundles, issued.Bundle), append(all.chosen, bare(issued.Context))
				}
				return all
			}
			want, same := answer(k, quiet), answer(k, busy)
			hits := 0
			for i := range searches {
				if hits += len(want.found[i]); !reflect.DeepEqual(want.found[i], same.found[i]) {
					t.Fatalf("%q: one tenant has\n%+v\nand one with the same texts\n%+v", searches[i].Text, want.found[i], same.found[i])
				}
			}
			if !reflect.DeepEqual(want.chosen, same.chosen) {
				t.Fatalf("two tenants with the same texts have other contexts:\n%+v\n%+v", want.chosen, same.chosen)
			}
			chosen := 0
			for _, list := range want.chosen {
				chosen += len(list)
			}
			if hits < 20 || chosen < 20 {
				t.Errorf("%d hits, and %d candidates and turns of contexts: too few to say anything", hits, chosen)
			}
			for round := range 4 {
				stir(t, r, []*kernel.Kernel{k, beside}[r.IntN(2)], busy, drafts, round)
				for who, asker := range map[string]*kernel.Kernel{"the kernel": k, "one beside it": beside, "one opened later": over(t, s, a)} {
					got := answer(asker, quiet)
					if !reflect.DeepEqual(got.found, want.found) {
						t.Fatalf("%s, after round %d of the other tenant: a search finds\n%+v\nwant\n%+v", who, round, got.found, want.found)
					}
					for i := range asked {
						if !bytes.Equal(got.bundles[i], want.bundles[i]) {
							t.Fatalf("%s, after round %d of the other tenant: the context of %q is\n%s\nwant\n%s", who, round, asked[i].Task, got.bundles[i], want.bundles[i])
						}
					}
				}
			}
			if after := answer(k, busy); reflect.DeepEqual(after.found, same.found) {
				t.Error("nothing moved for the tenant that did all of this")
			}
		})
	}
}

// stir has a tenant do a little of everything that could reach an index, a score or a context.
func stir(t *testing.T, r *rand.Rand, k *kernel.Kernel, of dag.Tenant, drafts []dag.Draft, round int) {
	t.Helper()
	for range 5 {
		d := spoken(r, 100)
		d.Conversation = drafts[r.IntN(len(drafts))].Conversation
		must(k.Turns().Admit(t.Context(), of, []dag.Draft{d}))
		_, err := k.Turns().Erase(t.Context(), of, drafts[r.IntN(len(drafts))].ID, "asked to")
		if err != nil {
			t.Fatal(err)
		}
		must(k.Turns().Search(t.Context(), of, question(r, 0)))
	}
	f := must(knowledge.NewFact("anna", fmt.Sprint("said ", round), "report", "test"))
	must(k.Facts().Learn(t.Context(), of, []knowledge.Act{{Kind: knowledge.Assert, Fact: f}}))
	search, context := retrieval.DefaultPolicy(), contexts.Default()
	search.MaxHits, context.Rules = 1+round, fmt.Sprint("Rule ", round)
	few, ruled := policy.ID(fmt.Sprintf("few@%d", round+1)), policy.ID(fmt.Sprintf("ruled@%d", round+1))
	for _, p := range []policy.Registered{must(policy.Bind(few, search)), must(policy.Bind(ruled, context))} {
		if err := k.Policies().Register(t.Context(), of, p); err != nil {
			t.Fatal(err)
		}
	}
	must(k.Contexts().Assemble(t.Context(), of, api.ContextRequest{Task: "anna report", Policy: ruled}))
}
