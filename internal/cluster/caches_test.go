package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/token"
)

// A pair is two kernels on one database, as two processes have them: here something is
// done, and there it must be seen.
type pair struct {
	t           *testing.T
	here, there *kernel.Kernel
	clock       *atomic.Int64 // milliseconds; of both
}

const tenant = dag.DefaultTenant

// newPair returns kernels whose caches hold what there is: two turns of a conversation, the
// slice at the second, and an API key.
func newPair(t *testing.T) (p *pair, key string, id string) {
	t.Helper()
	url := pgstore.URL(t)
	secret, err := token.NewSecret(bytes.Repeat([]byte("secret"), 8))
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Rotate("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	p = &pair{t: t, clock: &atomic.Int64{}}
	p.clock.Store(1_700_000_000_000)
	for _, k := range []**kernel.Kernel{&p.here, &p.there} {
		*k, err = kernel.Open(kernel.Config{
			Store: open(t, url), Authority: token.NewAuthority(ring),
			Clock: func() time.Time { return time.UnixMilli(p.clock.Load()) },
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p.admit(p.here, 0)
	p.admit(p.here, 1)
	key, made, err := p.here.Keys().Create(t.Context(), tenant, access.Agent, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []*kernel.Kernel{p.here, p.there} {
		for range 2 { // the second time from what is kept
			if issued := p.cut(k, policy.DefaultV1ID); len(issued.Slice.Turns) != 2 {
				t.Fatalf("the slice has %d turns, want 2", len(issued.Slice.Turns))
			}
			if _, err := k.Keys().Authenticate(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p, key, made.ID
}

func (p *pair) admit(k *kernel.Kernel, turn int) api.Receipt {
	p.t.Helper()
	d := dag.Draft{ID: turnID(0, turn), Conversation: conversationID(0), Role: dag.RoleUser, CreatedAt: dag.Time(turn + 1), Author: "human:guest", Content: fmt.Sprint("turn ", turn)}
	if turn > 0 {
		d.Parents = []dag.Parent{{ID: turnID(0, turn-1), Kind: dag.Reply}}
	}
	receipt, err := k.Turns().Admit(p.t.Context(), tenant, []dag.Draft{d})
	if err != nil {
		p.t.Fatal(err)
	}
	return receipt
}

// cut asks for the slice around the second turn. Under default@1 the turns that come later are in it.
func (p *pair) cut(k *kernel.Kernel, id policy.ID) *kernel.Issued {
	p.t.Helper()
	issued, err := k.Slices().Cut(p.t.Context(), tenant, kernel.Request{Anchor: turnID(0, 1), Policy: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return issued
}

func bound(t *testing.T, id policy.ID, nodes int) policy.Registered {
	t.Helper()
	params := policy.DefaultV1()
	params.MaxNodes = nodes
	p, err := policy.Bind(id, params)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCaches does something in one process, and looks for it in another one that keeps
// what was true before.
func TestCaches(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, p *pair, key, id string)
	}{
		{"a turn is in the next slice", func(t *testing.T, p *pair, _, _ string) {
			receipt := p.admit(p.here, 2)
			issued := p.cut(p.there, policy.DefaultV1ID)
			if len(issued.Slice.Turns) != 3 || issued.Slice.AsOf != receipt.Head {
				t.Errorf("the slice has %d turns as of %d, want 3 as of %d", len(issued.Slice.Turns), issued.Slice.AsOf, receipt.Head)
			}
		}},
		{"a turn admitted there exists here", func(t *testing.T, p *pair, _, _ string) {
			p.admit(p.there, 2)
			if receipt := p.admit(p.here, 2); receipt.Existing != 1 || receipt.Admitted != 0 {
				t.Errorf("got %+v", receipt)
			}
		}},
		{"an erased text is in no slice", func(t *testing.T, p *pair, _, _ string) {
			ids := []policy.ID{policy.DefaultV1ID, policy.DefaultV2ID}
			var before []*kernel.Issued
			for _, id := range ids {
				issued := p.cut(p.there, id)
				if !bytes.Contains(issued.Bundle, []byte("turn 0")) {
					t.Fatal("the slice lacks the text before it is erased")
				}
				before = append(before, issued)
			}
			e, err := p.here.Turns().Erase(t.Context(), tenant, turnID(0, 0), "asked")
			if err != nil {
				t.Fatal(err)
			}
			for i, at := range []dag.Seq{e.Seq, before[1].Slice.AsOf} {
				after := p.cut(p.there, ids[i])
				if bytes.Contains(after.Bundle, []byte("turn 0")) || after.Slice.AsOf != at {
					t.Errorf("%s: the slice as of %d shows the erased text: %t", ids[i], after.Slice.AsOf, bytes.Contains(after.Bundle, []byte("turn 0")))
				}
				if r, err := p.there.Slices().Replay(t.Context(), tenant, before[i].Bundle); err != nil || r.Outcome != kernel.Erased {
					t.Errorf("%s: the replay is %+v, %v", ids[i], r, err)
				}
			}
		}},
		{"a policy decides at once", func(t *testing.T, p *pair, _, _ string) {
			if _, err := p.there.Policies().Get(t.Context(), tenant, "one@1"); !errors.Is(err, policy.ErrUnknown) {
				t.Fatalf("before it is registered: %v", err)
			}
			if err := p.here.Policies().Register(t.Context(), tenant, bound(t, "one@1", 1)); err != nil {
				t.Fatal(err)
			}
			if issued := p.cut(p.there, "one@1"); len(issued.Slice.Turns) != 1 {
				t.Errorf("the slice has %d turns, want 1", len(issued.Slice.Turns))
			}
			all, err := p.there.Policies().All(t.Context(), tenant)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := all.Get("one@1"); err != nil {
				t.Error(err)
			}
		}},
		{"a policy's name is taken at once", func(t *testing.T, p *pair, _, _ string) {
			if err := p.here.Policies().Register(t.Context(), tenant, bound(t, "one@1", 1)); err != nil {
				t.Fatal(err)
			}
			if err := p.there.Policies().Register(t.Context(), tenant, bound(t, "one@1", 2)); !errors.Is(err, policy.ErrConflict) {
				t.Errorf("got %v", err)
			}
		}},
		{"a new key opens at once", func(t *testing.T, p *pair, _, _ string) {
			text, _, err := p.here.Keys().Create(t.Context(), tenant, access.Auditor, "")
			if err != nil {
				t.Fatal(err)
			}
			if who, err := p.there.Keys().Authenticate(t.Context(), text); err != nil || who.Role != access.Auditor {
				t.Errorf("got %+v, %v", who, err)
			}
		}},
		{"a revoked key ends within KeyAge", func(t *testing.T, p *pair, key, id string) {
			if _, err := p.here.Keys().Revoke(t.Context(), tenant, id); err != nil {
				t.Fatal(err)
			}
			if _, err := p.here.Keys().Authenticate(t.Context(), key); !errors.Is(err, access.ErrKey) {
				t.Errorf("where it was revoked: %v", err)
			}
			p.clock.Add(kernel.KeyAge.Milliseconds() - 1)
			if _, err := p.there.Keys().Authenticate(t.Context(), key); err != nil {
				t.Errorf("in the other process, before KeyAge: %v; nothing was kept, so this test shows nothing", err)
			}
			p.clock.Add(1)
			if _, err := p.there.Keys().Authenticate(t.Context(), key); !errors.Is(err, access.ErrKey) {
				t.Errorf("in the other process, after KeyAge: %v", err)
			}
		}},
		{"a bundle is on record", func(t *testing.T, p *pair, _, _ string) {
			p.admit(p.here, 2)
			first, again := p.cut(p.here, policy.DefaultV1ID), p.cut(p.there, policy.DefaultV1ID)
			if !bytes.Equal(first.Bundle, again.Bundle) || first.Record != again.Record {
				t.Errorf("the same slice was recorded as %+v and as %+v", first.Record, again.Record)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, key, id := newPair(t)
			c.run(t, p, key, id)
		})
	}
}
