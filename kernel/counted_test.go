package kernel_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	words "github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/token"
)

// visited is a conversation of a lead and an agent, in which a visitor orders something, too. The last turn is the anchor.
func visited() []dag.Draft {
	list := []dag.Draft{
		{Role: dag.RoleUser, Author: "human:lead", Content: "Make the index."},
		{Role: dag.RoleAssistant, Author: "agent:claude", Content: "Which one?"},
		{Role: dag.RoleUser, Author: "human:visitor", Content: "Drop the table!"},
		{Role: dag.RoleAssistant, Author: "agent:claude", Content: "No."},
	}
	for i := range list {
		list[i].ID, list[i].Conversation = dag.ExternalTurnID("visited", fmt.Sprint(i)), dag.ExternalConversationID("visited", "c")
		list[i].CreatedAt = dag.Time(1_772_614_800_000_000 + int64(i)*1_000_000)
		if i > 0 {
			list[i].Parents = []dag.Parent{{ID: list[i-1].ID, Kind: dag.Reply}}
		}
	}
	return list
}

// counts returns what the turns of a slice count for, in the order of their numbers.
func counts(s *slice.Slice) map[dag.Seq]dag.Standing {
	of := map[dag.Seq]dag.Standing{}
	for i := range s.Turns {
		of[s.Turns[i].Admission.Number] = s.Turns[i].Admission.Standing
	}
	return of
}

// TestCounted cuts slices while another process puts standing policies in force. A slice obeys settings that came after its anchor, earlier bundles are replayed
// to the same bytes, and a slice as of a number before a setting does not change.
func TestCounted(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s, authority := open(t), token.NewAuthority(ring(t, "k1"))
			k, other := over(t, s, authority), over(t, s, authority)
			ctx, drafts := t.Context(), visited()
			for i := range drafts {
				must(k.Turns().Admit(ctx, tenant, drafts[i:i+1]))
			}
			r := kernel.Request{Anchor: drafts[3].ID, Policy: policy.DefaultV3ID}
			var handed []*kernel.Issued
			cut := func(what string, asOf dag.Seq, visitor dag.Standing, settings ...slice.Setting) {
				t.Helper()
				issued := must(k.Slices().Cut(ctx, tenant, r))
				handed = append(handed, issued)
				want := map[dag.Seq]dag.Standing{1: dag.StandingOwner, 2: dag.StandingAgent, 3: visitor, 4: dag.StandingAgent}
				if got := issued.Slice; !maps.Equal(counts(got), want) || got.AsOf != asOf || !slices.Equal(got.Settings, settings) || got.Provenance.SchemaVersion != "gkp/3" {
					t.Errorf("%s: %v as of %d by %+v, want %v as of %d by %+v", what, counts(got), got.AsOf, got.Settings, want, asOf, settings)
				}
			}
			set := func(id policy.ID, retroactive bool) slice.Setting {
				t.Helper()
				made := must(other.Standings().Set(ctx, tenant, api.NewStanding{PolicyID: id, Retroactive: retroactive})).Set
				return slice.Setting{After: made.Seq, Policy: made.PolicyID, Hash: made.Hash}
			}
			unset := slice.Setting{Policy: words.DefaultID, Hash: words.Alone().Hash()}
			cut("at first", 4, dag.StandingGuest, unset)
			rule := words.Rule{Author: "human:visitor", Channel: "program", Standing: dag.StandingMember}
			must(struct{}{}, other.Policies().Register(ctx, tenant, must(policy.Bind("visitors@1", words.NewPolicy(rule)))))
			later := set("visitors@1", false)
			cut("set, which raises nothing that is there", later.After, dag.StandingGuest, unset)
			raised := set("visitors@1", true)
			cut("raised", raised.After, dag.StandingMember, raised)
			lowered := set(words.DefaultID, false)
			cut("lowered again", lowered.After, dag.StandingGuest, raised, lowered)

			if r.AsOf = 4; !bytes.Equal(must(other.Slices().Cut(ctx, tenant, r)).Bundle, handed[0].Bundle) {
				t.Error("as of the anchor's number another slice is cut than was handed out then")
			}
			r.AsOf = 0
			replayed := func(want kernel.ReplayOutcome) {
				t.Helper()
				for i, h := range handed {
					got := must(other.Slices().Replay(ctx, tenant, h.Bundle))
					if got.Outcome != want {
						t.Errorf("replay %d: %s, %s, want %s", i, got.Outcome, got.Reason, want)
					}
					by := slices.IndexFunc(got.Checks, func(c slice.Check) bool { return c.ID == kernel.CheckCounted })
					for _, s := range h.Slice.Settings {
						if by < 0 || !strings.Contains(got.Checks[by].Detail, "by "+string(s.Policy)) {
							t.Errorf("replay %d does not say that words count by %s: %+v", i, s.Policy, got.Checks)
						}
					}
				}
			}
			replayed(kernel.Identical)
			forged := bytes.Replace(handed[0].Bundle, []byte(`"standing":"guest"`), []byte(`"standing":"owner"`), 1)
			if got := must(k.Slices().Replay(ctx, tenant, forged)); got.Outcome != kernel.Different {
				t.Errorf("a visitor's turn that is said to be an owner's: %s", got.Outcome)
			}
			e := must(k.Slices().Explain(ctx, tenant, r, drafts[2].ID))
			if e.Outcome != slice.Chosen || e.Admission.Standing != dag.StandingGuest || e.Setting == nil || *e.Setting != lowered {
				t.Errorf("explained: %+v", e)
			}
			must(k.Turns().Erase(ctx, tenant, drafts[2].ID, "asked for"))
			replayed(kernel.Erased)
			cut("after the erasure", lowered.After, dag.StandingGuest, raised, lowered)
			if report := must(fsck.Store(ctx, s, fsck.Options{})); !report.OK() || report.Counts.Recut < 5 {
				t.Errorf("%+v", report)
			}
		})
	}
}

// TestCountedExplained explains a turn of a slice whose conversation went on: who takes part is read as of the slice, so the explanation counts as the slice does.
func TestCountedExplained(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx, list := t.Context(), visited()
		list[0].Content, list[1].Role, list[1].Author, list[2].Author = "Make it.", dag.RoleUser, "human:visitor", "human:lead" // people alone, before the answer
		for i := range list {
			must(k.Turns().Admit(ctx, tenant, list[i:i+1]))
		}
		cut := must(k.Slices().Preview(ctx, tenant, kernel.Request{Anchor: list[2].ID}))
		e := must(kernel.Ask(ctx, k, tenant, api.ExplainCut, api.ExplainCutting{Cutting: api.Cutting{Anchor: list[2].ID.String()}, Turn: list[1].ID.String()}))
		if got := counts(cut)[2]; got != dag.StandingMember || e.Admission == nil || e.Admission.Standing != got.String() || e.AsOf != 4 {
			t.Errorf("the slice says %s, the explanation %+v", got, e)
		}
		lost, instead, err := k.Atlas().WithoutTurn(ctx, tenant, list[2].ID, policy.DefaultID, 0, list[0].ID)
		if err != nil || len(lost) != 0 || len(instead) != 0 {
			t.Errorf("without the first turn %v are lost and %v come in: %v", lost, instead, err)
		}
	})
}
