package kernel_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// past is a session of edits under default@2, by the numbers of its turns: a person asks, an agent edits /a and /b in
// turn, and a sub-agent that the fourth turn starts edits /c.
func past() []dag.Draft {
	drafts := kerneltest.Touching("", "/a", "/b", "/a", "", "/b", "/a", "", "", "")
	for i := range drafts {
		drafts[i].Author = "human:ada"
		if drafts[i].Role == dag.RoleAssistant {
			drafts[i].Author = "agent:a"
		}
	}
	agent := kerneltest.Touching("/c")[0]
	agent.ID, agent.Conversation, agent.Author = dag.ExternalTurnID("brought", "agent"), dag.ExternalConversationID("brought", "agent"), "agent:b"
	agent.Parents = []dag.Parent{{ID: drafts[3].ID, Kind: dag.Spawn}}
	agent.CreatedAt = drafts[len(drafts)-1].CreatedAt + 1
	return append(drafts, agent)
}

func ids(s *slice.Slice) (all []dag.TurnID) {
	for i := range s.Turns {
		all = append(all, s.Turns[i].ID)
	}
	return all
}

// TestPast cuts under default@2: whatever comes later, and after an erasure, the slice of an anchor is the same; nothing
// above the anchor is in it, what is as of another number says so, and all of it replays.
func TestPast(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx, drafts := t.Context(), past()
		must(k.Turns().Admit(ctx, tenant, drafts[:7]))
		r := kernel.Request{Anchor: drafts[6].ID, Policy: policy.DefaultV2ID}
		first := must(k.Slices().Cut(ctx, tenant, r))
		must(k.Turns().Admit(ctx, tenant, drafts[7:]))
		again := must(k.Slices().Cut(ctx, tenant, r))
		if !bytes.Equal(first.Bundle, again.Bundle) || first.Slice.AsOf != 7 || first.Slice.Provenance.SchemaVersion != "gkp/2" || len(first.Slice.Turns) != 7 {
			t.Fatalf("later as of %d: %s\nfirst %s", again.Slice.AsOf, again.Bundle, first.Bundle)
		}
		vias := map[slice.Via]int{}
		for i := range first.Slice.Turns {
			a := &first.Slice.Turns[i].Admission
			vias[a.Via]++
			if a.Number > 7 || a.Voice == 0 || (a.Cost == 0) {
				t.Errorf("%+v", a)
			}
		}
		if vias[slice.ViaPrompt] == 0 || vias[slice.ViaTouch] == 0 || vias[slice.ViaParent] == 0 || vias[slice.ViaChild] != 0 {
			t.Errorf("ways %v", vias)
		}
		r.AsOf = 9
		late := must(k.Slices().Cut(ctx, tenant, r))
		if late.Slice.AsOf != 9 || !slices.Equal(ids(late.Slice), ids(first.Slice)) || late.Seal.Token == first.Seal.Token {
			t.Errorf("as of 9: %+v", late.Slice.Provenance)
		}
		for _, issued := range []*kernel.Issued{first, late} {
			if _, v := k.Slices().Verify(issued.Bundle); v.Outcome != token.Verified {
				t.Errorf("verified: %+v", v)
			}
			if replay := must(k.Slices().Replay(ctx, tenant, issued.Bundle)); replay.Outcome != kernel.Identical {
				t.Errorf("replay: %s, %s", replay.Outcome, replay.Reason)
			}
		}
		must(k.Turns().Erase(ctx, tenant, drafts[3].ID, "asked for"))
		r.AsOf = 0
		erased := must(k.Slices().Cut(ctx, tenant, r))
		if erased.Seal.Token != first.Seal.Token || erased.Slice.Provenance != first.Slice.Provenance {
			t.Errorf("an erasure changes the slice: %+v, was %+v", erased.Slice.Provenance, first.Slice.Provenance)
		}
		for _, r.AsOf = range []dag.Seq{11, 12} { // between which the graph did not change
			if issued := must(k.Slices().Cut(ctx, tenant, r)); issued.Slice.AsOf != r.AsOf || must(k.Slices().Replay(ctx, tenant, issued.Bundle)).Outcome != kernel.Identical {
				t.Errorf("as of %d: %+v", r.AsOf, issued.Slice)
			} else if _, v := k.Slices().Verify(issued.Bundle); v.Outcome != token.Verified {
				t.Errorf("as of %d: %+v", r.AsOf, v)
			}
		}
		if replay := must(k.Slices().Replay(ctx, tenant, first.Bundle)); replay.Outcome != kernel.Erased {
			t.Errorf("replay after an erasure: %s, %s", replay.Outcome, replay.Reason)
		}
		forged := bytes.Replace(first.Bundle, []byte(`"as_of":7`), []byte(`"as_of":8`), 1)
		if replay := must(k.Slices().Replay(ctx, tenant, forged)); replay.Outcome != kernel.Different {
			t.Errorf("replay as of another number: %s, %s", replay.Outcome, replay.Reason)
		}
	})
}

// TestPastExplained asks for the reasons under default@2.
func TestPastExplained(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx, drafts := t.Context(), past()
		must(k.Turns().Admit(ctx, tenant, drafts))
		r := kernel.Request{Anchor: drafts[6].ID, Policy: policy.DefaultV2ID}
		cut := must(k.Slices().Cut(ctx, tenant, r)).Slice
		for i := range drafts {
			e := must(k.Slices().Explain(ctx, tenant, r, drafts[i].ID))
			want := slice.Later
			if i < 7 {
				want = slice.Chosen
			}
			if e.Outcome != want || (i < 7) != slices.Contains(ids(cut), drafts[i].ID) {
				t.Errorf("turn %d: %+v", i, e)
			}
		}
		// The sub-agent's prompt is what the person said before the turn that started it.
		cut = must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: drafts[10].ID, Policy: policy.DefaultV2ID})).Slice
		at := slices.IndexFunc(cut.Turns, func(t slice.Selected) bool { return t.Admission.Via == slice.ViaPrompt })
		if at < 0 || cut.Turns[at].ID != drafts[0].ID || cut.AsOf != 11 {
			t.Errorf("the sub-agent's slice is %+v", cut.Turns)
		}
		small := policy.DefaultV2()
		small.MaxCost = 1
		must(struct{}{}, k.Policies().Register(ctx, tenant, must(policy.Bind("small@2", small))))
		if _, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: drafts[6].ID, Policy: "small@2"}); !errors.Is(err, slice.ErrCost) {
			t.Errorf("an anchor that does not fit: %v", err)
		}
	})
}
