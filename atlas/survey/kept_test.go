package survey_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestAtlasReadsOn adds a turn and a slice at a time. What is read on from what was kept is, byte for byte, what a kernel has that begins anew.
func TestAtlasReadsOn(t *testing.T) {
	defer survey.LookAt(40)() // so that older ones go
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	defer s.Close()
	a := token.NewAuthority(ring(t, "k1"))
	k := over(t, s, a)
	ids := chain(t, k, 30)
	for i := range 30 {
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[i]}))
	}
	seen(t, k, 0, 0)
	on := 0
	for i := range 40 {
		d := dag.Draft{
			ID: dag.ExternalTurnID("atlas", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("atlas", fmt.Sprint(i%3)),
			Role: dag.RoleUser, CreatedAt: dag.Time(1000 + i), Author: fmt.Sprint("human:", i%4), Content: "more", Parents: []dag.Parent{{ID: ids[i%len(ids)], Kind: dag.Reply}},
		}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
		ids = append(ids, d.ID)
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: d.ID}))
		v := must(k.Atlas().View(t.Context(), tenant, 0, 0))
		if survey.ReadsOn(t.Context(), v) {
			on++
		}
		now := shown(t, v)
		if again := must(k.Atlas().View(t.Context(), tenant, 0, 0)); again != v {
			t.Fatal("nothing changed, and the view is another one")
		}
		if i%4 > 0 {
			continue
		}
		if fresh := seen(t, over(t, s, a), 0, 0); fresh != now {
			t.Fatalf("after turn %d\n%s\na kernel that begins anew has\n%s", i, now, fresh)
		}
		seen(t, k, dag.Seq(10+i), 0) // an earlier one is asked for in between
	}
	if on < 30 {
		t.Errorf("%d rankings of 40 were read on", on)
	}
	if _, views := survey.KeptOf(k.Atlas(), tenant); views != 3 {
		t.Errorf("%d views are kept, want 3", views)
	}
}

func fact(subject, predicate, object string) knowledge.Act {
	return knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact(subject, predicate, object, "user"))}
}

// TestAtlasForgets erases a turn, by whose text an author and facts are known, and the task of a context. Of what two kernels keep of the atlas, and of what they answer, nothing has the names then: of the one that
// erased at once, of the other one when it is asked next.
func TestAtlasForgets(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			a := token.NewAuthority(ring(t, "k1"))
			k, other := over(t, s, a), over(t, s, a)
			ids := chain(t, k, 4)
			d := dag.Draft{
				ID: dag.ExternalTurnID("atlas", "named"), Conversation: dag.ExternalConversationID("test", "chain"), Role: dag.RoleUser, CreatedAt: 1000,
				Author: "human:quillon", Content: "more", Parents: []dag.Parent{{ID: ids[3], Kind: dag.Reply}},
			}
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
			of := fact("Quillon Okapi", "prefers", "Vermilion")
			of.Fact.Turn = d.ID
			must(k.Facts().Learn(t.Context(), tenant, []knowledge.Act{of, fact("team", "owns", "pump")}))
			task := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "ask Zebedee", Anchor: ids[3].String()}))
			follow := d
			follow.ID, follow.CreatedAt, follow.Author = dag.ExternalTurnID("atlas", "follows"), 1001, "human:user"
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{follow}))
			words := func(k *kernel.Kernel) (found []string) {
				texts, _ := survey.KeptOf(k.Atlas(), tenant)
				b := must(blame(k, t.Context(), follow.ID, "", 0, 0))
				for _, r := range b.For {
					texts = append(texts, r.Asked)
				}
				all := strings.ToLower(strings.Join(texts, "\n"))
				for _, word := range []string{"quillon", "vermilion", "zebedee", "human:user", "pump"} {
					if strings.Contains(all, word) {
						found = append(found, word)
					}
				}
				return found
			}
			for _, k := range []*kernel.Kernel{k, other} {
				if before := seen(t, k, 0, 0); !strings.Contains(before, "human:quillon") || !strings.Contains(strings.ToLower(before), "vermilion") {
					t.Fatalf("before the erasure: %s", before)
				}
				if got, want := words(k), []string{"quillon", "vermilion", "zebedee", "human:user", "pump"}; !slices.Equal(got, want) {
					t.Fatalf("before the erasure %q is found, want %q", got, want)
				}
			}
			head := must(k.Turns().Head(t.Context(), tenant))
			must(k.Contexts().EraseTask(t.Context(), tenant, task.Context.Provenance.SliceID, "asked for"))
			must(k.Turns().Erase(t.Context(), tenant, d.ID, "asked for"))
			if texts, _ := survey.KeptOf(k.Atlas(), tenant); strings.Contains(strings.ToLower(fmt.Sprint(texts)), "quillon") || strings.Contains(strings.ToLower(fmt.Sprint(texts)), "vermilion") {
				t.Error("the kernel that erased keeps names")
			}
			for _, k := range []*kernel.Kernel{k, other} {
				for _, asOf := range []dag.Seq{0, head} {
					if after := strings.ToLower(seen(t, k, asOf, 0)); strings.Contains(after, "quillon") || strings.Contains(after, "vermilion") {
						t.Errorf("as of %d after the erasure: %s", asOf, after)
					}
				}
				if got, want := words(k), []string{"human:user", "pump"}; !slices.Equal(got, want) {
					t.Errorf("after the erasure %q is found, want %q", got, want)
				}
				if got, want := seen(t, k, head, 0), seen(t, over(t, s, a), head, 0); got != want {
					t.Errorf("after the erasure\n%s\na kernel that begins anew has\n%s", got, want)
				}
			}
		})
	}
}

// TestAtlasEnds asks with a context that has ended, and then with another one.
func TestAtlasEnds(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 6)
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[5]}))
		v := must(k.Atlas().View(t.Context(), tenant, 0, 0))
		ended, end := context.WithCancel(t.Context())
		end()
		_, influence := v.Influence(ended)
		_, parted := v.Communities(ended)
		_, _, compared := v.Overlaps(ended, 5)
		_, facts := v.FactCommunities(ended)
		_, authors := v.Authors(ended)
		for name, err := range map[string]error{"influence": influence, "communities": parted, "overlap": compared, "facts": facts, "authors": authors} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, want := shown(t, v), seen(t, k, 0, 0); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
