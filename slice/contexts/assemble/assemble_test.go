package assemble_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/token"
)

const tenant = kerneltest.Tenant

var (
	ring, over, stores, talk = kerneltest.Ring, kerneltest.Over, kerneltest.Stores, kerneltest.Talk
	believing, asking        = kerneltest.Believing, kerneltest.Asking
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestContextRecent makes sure that the last turns up to the anchor come, the newest with the most, and what a person said last.
func TestContextRecent(t *testing.T) {
	ctx := t.Context()
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	ids := talk(t, k, "one")
	p := contexts.DefaultV1()
	p.Quotas = [contexts.Sources]int{contexts.FromRecent: 3, contexts.FromPrompts: 1}
	p.Weights[contexts.FeatureRecent] = dag.One
	must(0, k.Policies().Register(ctx, tenant, must(policy.Bind("recent@1", p))))
	b := must(k.Contexts().Preview(ctx, tenant, api.ContextRequest{Anchor: ids[5].String(), Policy: "recent@1"}))
	recent, prompted := map[string]dag.PPM{}, []string{}
	for i := range b.Candidates {
		c := &b.Candidates[i]
		if c.From[contexts.FromRecent] {
			recent[c.ID] = c.Features[contexts.FeatureRecent]
		}
		if c.From[contexts.FromPrompts] {
			prompted = append(prompted, c.ID)
		}
	}
	if len(recent) != 3 || recent[ids[3].String()] == 0 || recent[ids[3].String()] >= recent[ids[4].String()] || recent[ids[4].String()] >= recent[ids[5].String()] {
		t.Errorf("recent are %v, want %v, each with more than the one before", recent, ids[3:])
	}
	if !slices.Equal(prompted, []string{ids[4].String()}) {
		t.Errorf("prompts are %v, want %v", prompted, ids[4])
	}
}

// TestContextPast shows that nothing above the view is in a context, and that a context without an as-of ends at its anchor.
func TestContextPast(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	ids := talk(t, k, "one")
	talk(t, k, "two")
	anchor := must(k.Turns().Get(t.Context(), tenant, ids[3]))
	b := must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "staging check", Anchor: ids[3].String()})).Context
	if b.AsOf != anchor.Seq {
		t.Errorf("as of %d, want the anchor's number %d", b.AsOf, anchor.Seq)
	}
	if len(b.Candidates) < 3 {
		t.Errorf("%d candidates", len(b.Candidates))
	}
	for _, c := range b.Candidates {
		if c.Seq > anchor.Seq {
			t.Errorf("%s has number %d, above the anchor's %d", c.ID, c.Seq, anchor.Seq)
		}
	}
	if _, err := k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "x", Anchor: ids[3].String(), AsOf: 1}); err == nil {
		t.Error("an anchor above the view was taken")
	}
}

func TestContextRefuses(t *testing.T) {
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	talk(t, k, "one")
	unknown := dag.ExternalTurnID("context", "unknown")
	for what, q := range map[string]api.ContextRequest{
		"no task and no anchor":   {},
		"an unknown anchor":       {Task: "x", Anchor: unknown.String()},
		"a budget above":          {Task: "x", Budget: 8001},
		"an unknown policy":       {Task: "x", Policy: "nothing@1"},
		"a policy for slices":     {Task: "x", Policy: "default@1"},
		"a number above the head": {Task: "x", AsOf: 1000},
		"an unknown format":       {Task: "x", Format: "html"},
	} {
		if _, err := k.Contexts().Assemble(t.Context(), tenant, q); err == nil {
			t.Errorf("%s was taken", what)
		}
	}
	if n := must(k.Slices().Count(t.Context(), tenant)); n != 0 {
		t.Errorf("%d were recorded", n)
	}
	if _, err := k.Contexts().Assemble(t.Context(), "nobody", api.ContextRequest{Task: "x"}); err == nil {
		t.Error("a tenant without a history was answered")
	}
}

// TestFit holds that a prompt has at most the bytes that were asked for, that one record is written for it, and that what cannot fit is not recorded.
func TestFit(t *testing.T) {
	ctx := t.Context()
	k := over(t, stores["memory"](t), token.NewAuthority(ring(t, "k1")))
	for n := range 9 {
		talk(t, k, fmt.Sprint("fit ", n))
	}
	records := 0
	for fit := 200; fit < 9000; fit += 371 {
		for _, format := range contexts.Formats() {
			c, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "why did migration 042 delete the orders table", Fit: fit, Format: string(format), Recipient: &api.Recipient{Agent: "a", Session: "s", Event: "e"}})
			if err != nil {
				if !errors.Is(err, contexts.ErrRequest) || fit > 600 {
					t.Errorf("%d bytes, %s: %v", fit, format, err)
				}
			} else if records++; len(c.Prompt) > fit || fit > 1500 && len(c.Context.Turns) == 0 {
				t.Errorf("%s: a prompt of %d bytes and %d turns, at most %d bytes", format, len(c.Prompt), len(c.Context.Turns), fit)
			}
		}
	}
	if list := must(k.Slices().After(ctx, tenant, 0, 999)); len(list) != records || records == 0 {
		t.Errorf("%d records of %d contexts", len(list), records)
	}
	for _, fit := range []int{-1, assemble.MaxFit + 1} {
		if _, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "x", Fit: fit}); !errors.Is(err, contexts.ErrRequest) {
			t.Errorf("fit %d: %v", fit, err)
		}
	}
	if _, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "x", Budget: 8001, Fit: 4000}); !errors.Is(err, contexts.ErrRequest) {
		t.Errorf("a budget above the policy's: %v", err)
	}
	if _, err := k.Contexts().Assemble(ctx, tenant, api.ContextRequest{Task: "xylophone", NonEmpty: true}); !errors.Is(err, assemble.ErrNothing) {
		t.Errorf("nothing to choose from: %v", err)
	}
	if list := must(k.Slices().After(ctx, tenant, 0, 999)); len(list) != records {
		t.Errorf("%d records after refusals, %d before", len(list), records)
	}
}
