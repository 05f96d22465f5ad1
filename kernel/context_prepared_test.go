package kernel_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/token"
)

// TestPrepared prepares contexts and hands them out: none is on record before, each is once, for its recipient, and replays as itself. What was erased since is not recorded.
func TestPrepared(t *testing.T) {
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			k := over(t, open(t, name), token.NewAuthority(ring(t, "k1")))
			ids := talk(t, k, "one")
			r := api.ContextRequest{Task: "why did migration 042 delete the orders table", Anchor: ids[5].String(), NonEmpty: true, TaskOf: ids[:1]}
			var prepared [3]*assemble.Prepared
			for i := range prepared {
				prepared[i] = must(k.Contexts().Prepare(ctx, tenant, r))
			}
			if bytes.Equal(prepared[0].Bundle, prepared[1].Bundle) {
				t.Error("two recipients would get one bundle")
			}
			if list := must(k.Slices().After(ctx, tenant, 0, 9)); len(list) != 0 {
				t.Fatalf("%d records before anything was handed out", len(list))
			}
			to := issued.Recipient{Agent: "claude-code", Session: "5e55", Event: "SessionStart"}
			first := must(k.Contexts().HandOut(ctx, tenant, prepared[0], to))
			again := must(k.Contexts().HandOut(ctx, tenant, prepared[0], to))
			if list := must(k.Slices().After(ctx, tenant, 0, 9)); len(list) != 1 || first.Number != again.Number || list[0].Delivery.Recipient != to || list[0].Delivery.TaskOf != issued.PackTurns(r.TaskOf) {
				t.Errorf("records %+v", list)
			}
			if replay := must(k.Slices().Replay(ctx, tenant, prepared[0].Bundle)); replay.Outcome != kernel.Identical {
				t.Errorf("the bundle replays as %s", replay.Outcome)
			}

			other := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k2")))
			talk(t, other, "one")
			if _, err := other.Contexts().HandOut(ctx, tenant, prepared[1], to); !errors.Is(err, token.ErrKeyUnknown) {
				t.Errorf("a bundle of another kernel: %v", err)
			}
			for _, bad := range []issued.Recipient{{}, {Agent: "a", Session: "s"}, {Agent: "a", Session: "\x00", Event: "e"}} {
				if _, err := k.Contexts().HandOut(ctx, tenant, prepared[1], bad); !errors.Is(err, contexts.ErrRequest) {
					t.Errorf("to %+v: %v", bad, err)
				}
			}
			named := r
			named.Recipient = &to
			if _, err := k.Contexts().Prepare(ctx, tenant, named); !errors.Is(err, contexts.ErrRequest) {
				t.Errorf("for a recipient: %v", err)
			}

			if _, err := k.Turns().Erase(ctx, tenant, ids[2], "asked"); err != nil {
				t.Fatal(err)
			}
			if _, err := k.Contexts().HandOut(ctx, tenant, prepared[1], to); !errors.Is(err, issued.ErrErasedSince) {
				t.Errorf("after an erasure: %v", err)
			}
			if list := must(k.Slices().After(ctx, tenant, 0, 9)); len(list) != 1 {
				t.Errorf("%d records", len(list))
			}
			if p := must(k.Contexts().Prepare(ctx, tenant, r)); bytes.Contains(p.Bundle, []byte("DROP TABLE orders; --")) {
				t.Error("what was erased is in a context")
			}
		})
	}
}
