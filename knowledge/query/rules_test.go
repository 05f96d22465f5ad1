package query_test

import (
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/token"
)

// TestWrittenOnPaths makes sure that each step of an answer can be shown as it was written.
func TestWrittenOnPaths(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			long := must(knowledge.NewText("Ada", "observed", string(make([]byte, knowledge.MaxText)), "user"))
			acts := []knowledge.Act{
				{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("Ada Lovelace", "Wrote", "Note G", "user"))},
				{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("Note G", "cites", "/src/A.go", "user"))},
				{Kind: knowledge.Assert, Fact: must(knowledge.NewFact("note-g", "about", "numbers", "user"))},
				{Kind: knowledge.Assert, Fact: must(knowledge.NewText("note-g", "says", "The limit is -5.", "user"))},
				{Kind: knowledge.Assert, Fact: long},
			}
			must(k.Facts().Learn(ctx, tenant, acts))
			for range 2 { // from the store, and from memory
				answer := must(k.Facts().Traverse(ctx, tenant, api.TraverseRequest{Start: []string{"ada lovelace", "ada"}}))
				if len(answer.Reached) != 5 {
					t.Fatalf("%d reached", len(answer.Reached))
				}
				for i := range answer.Reached {
					for _, e := range answer.Reached[i].Path {
						want := acts[e.Since-1].Fact
						if e.Since == 5 { // whose text is too long to be shown with a step
							want.Written.Object = ""
						}
						if e.Written != want.Written {
							t.Errorf("edge %d is written %+v, want %+v", e.Since, e.Written, want.Written)
						}
					}
				}
			}
		})
	}
}
