package kernel_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/token"
)

// TestSearchByGraph holds that a tenant with many vectors gets a graph of them, that the search of the present walks it and says so, that one as of a
// number does not, and that erasures and new turns show in the next answer.
func TestSearchByGraph(t *testing.T) {
	linked := make(chan struct{}, 8)
	s := open(t, "memory")
	k := must(kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing, GraphOver: 300,
		Observe: func(ctx context.Context, operation string) (context.Context, func(error)) {
			return ctx, func(error) {
				if operation == "link" {
					linked <- struct{}{}
				}
			}
		},
	}))
	r := rand.New(rand.NewPCG(4, 4))
	draft := func(i int, text string) dag.Draft {
		return dag.Draft{ID: dag.ExternalTurnID("graph", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("graph", fmt.Sprint(i/10)), Role: dag.RoleUser, Content: text}
	}
	words := strings.Fields("dog puppy horse garden river mountain engine database index ledger violin concert kitchen bread soup lantern harbour ship storm winter")
	var drafts []dag.Draft
	for i := range 700 {
		var text []string
		for range 3 + r.IntN(5) {
			text = append(text, words[r.IntN(len(words))])
		}
		drafts = append(drafts, draft(i, strings.Join(text, " ")))
	}
	last := must(k.Turns().Admit(t.Context(), tenant, drafts)).Head
	search := func(asOf dag.Seq) find.Found {
		t.Helper()
		return must(k.Turns().Search(t.Context(), tenant, find.Request{Policy: retrieval.DensePolicyID, Query: retrieval.Query{Text: "a hound plays music", AsOf: asOf, Limit: 10}}))
	}
	ids := func(f find.Found) (all []dag.TurnID) {
		for _, h := range f.Hits {
			all = append(all, h.Turn.ID)
		}
		return all
	}
	first := search(0)
	if first.Approximate || len(first.Hits) != 10 {
		t.Errorf("before there is a graph: %d hits, approximate: %t", len(first.Hits), first.Approximate)
	}
	<-linked
	walked := search(0)
	if !walked.Approximate || !slices.Equal(ids(walked), ids(first)) {
		t.Errorf("by the graph: approximate: %t, %v; exactly %v", walked.Approximate, ids(walked), ids(first))
	}
	if f := search(last); f.Approximate || !slices.Equal(ids(f), ids(first)) {
		t.Errorf("as of a number: approximate: %t, %v", f.Approximate, ids(f))
	}
	if f := must(k.Turns().Search(t.Context(), tenant, find.Request{Policy: retrieval.PolicyID, Query: retrieval.Query{Text: "puppy", Limit: 10}})); f.Approximate || len(f.Hits) != 10 {
		t.Errorf("by words: %d hits, approximate: %t", len(f.Hits), f.Approximate)
	}
	gone := ids(walked)[0]
	must(k.Turns().Erase(t.Context(), tenant, gone, "asked to"))
	if f := search(0); !f.Approximate || slices.Contains(ids(f), gone) {
		t.Errorf("after an erasure: approximate: %t, %v", f.Approximate, ids(f))
	}
	must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{draft(700, "a hound plays music")}))
	if f := search(0); !f.Approximate || len(f.Hits) == 0 || f.Hits[0].Turn.ID != dag.ExternalTurnID("graph", "700") {
		t.Errorf("after a new turn: approximate: %t, %v", f.Approximate, ids(f))
	}
	var more []dag.Draft
	for i := range 256 {
		more = append(more, draft(701+i, words[i%len(words)]))
	}
	must(k.Turns().Admit(t.Context(), tenant, more))
	search(0)
	<-linked // the graph has the new ones, too
	if f := search(0); !f.Approximate {
		t.Error("after the graph was extended it is not walked")
	}
	bundle := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: drafts[3].ID})).Bundle
	within := must(k.Slices().Boundary(tenant, bundle))
	if f := must(k.Turns().Search(t.Context(), tenant, find.Request{Within: within, Policy: retrieval.DensePolicyID, Query: retrieval.Query{Text: drafts[3].Content, Limit: 10}})); f.Approximate || len(f.Hits) == 0 {
		t.Errorf("within evidence: %d hits, approximate: %t", len(f.Hits), f.Approximate)
	}
	context := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "a hound plays music", Policy: "context@2"}))
	if replay := must(k.Slices().Replay(t.Context(), tenant, context.Bundle)); replay.Outcome != kernel.Identical {
		t.Errorf("a context by vectors replays as %s: %s", replay.Outcome, replay.Reason)
	}
}
