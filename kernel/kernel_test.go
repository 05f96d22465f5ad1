package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/golden"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

const tenant = kerneltest.Tenant

// What tests of rooms of the kernel share.
var (
	ring, noise, standing, over = kerneltest.Ring, kerneltest.Noise, kerneltest.Standing, kerneltest.Over
	stores, eachStore           = kerneltest.Stores, kerneltest.EachStore
	chain, talk                 = kerneltest.Chain, kerneltest.Talk
	fact, alias, entities       = kerneltest.Fact, kerneltest.Alias, kerneltest.Entities
	seeded, file                = kerneltest.Seeded, kerneltest.File
	named, somebody             = kerneltest.Named, kerneltest.Somebody
	signing, trusting           = kerneltest.Signing, kerneltest.Trusting
	guarded                     = kerneltest.Guarded
	readableStores, holds       = kerneltest.ReadableStores, kerneltest.Holds

	projected                          = kerneltest.Projected
	believing, asking, stated, soundly = kerneltest.Believing, kerneltest.Asking, kerneltest.Stated, kerneltest.Soundly
)

const beliefSpace = kerneltest.Space

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestSameBytesAsInMemory cuts seeded cases through the kernel, over each store,
// admitted in another order each time, and compares with the bundle that the pure
// core makes of the same graph. Conversations are crossed in most of them.
func TestSameBytesAsInMemory(t *testing.T) {
	cases := 60
	if race.Enabled {
		cases = 10 // one goroutine: little for the race detector
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			crossed := 0
			for seed := range uint64(cases) {
				c := golden.Random(40_000+seed, 120)
				c.Redacted = nil
				c.Tenant = "default"
				if len(c.Turns) == 1 {
					continue
				}
				want, _, _ := bundleOf(t, &c)
				a := must(c.Authority())
				inner := &scope{TB: t}
				k := over(t, open(inner), a)
				some := kerneltest.Golden(t, &c)
				r := rand.New(rand.NewPCG(seed, 9))
				r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
				if _, err := k.Turns().Admit(t.Context(), tenant, some); err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				p := must(c.Registered())
				if err := k.Policies().Register(t.Context(), tenant, p); err != nil {
					t.Fatal(err)
				}
				got, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: must(dag.ParseTurnID(c.Anchor)), Policy: p.ID()})
				if err != nil {
					t.Fatalf("%s: %v", c.Name, err)
				}
				if d := slice.Differ(want, got.Bundle); d != nil {
					t.Errorf("%s: byte %d at %s: %q, want %q", c.Name, d.Offset, d.Path, d.Found, d.Expected)
				}
				conversations := map[string]bool{}
				for i := range c.Turns {
					conversations[c.Turns[i].Conversation] = true
				}
				if len(conversations) > 1 {
					crossed++
				}
				inner.done()
			}
			if crossed < cases/4 {
				t.Errorf("only %d cases crossed conversations", crossed)
			}
		})
	}
}

func bundleOf(t testing.TB, c *golden.Case) ([]byte, *slice.Slice, error) {
	t.Helper()
	s, b, err := c.Bundle()
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return b, s, nil
}

func TestReplaySurvivesGrowthErasureAndRetirement(t *testing.T) {
	for name, open := range stores {
		for _, id := range defaults {
			t.Run(name+" "+string(id), func(t *testing.T) { replaySurvives(t, open(t), id) })
		}
	}
}

func replaySurvives(t *testing.T, s store.Store, id policy.ID) {
	authority := token.NewAuthority(ring(t, "k1"))
	k := over(t, s, authority)
	ids := chain(t, k, 30)
	issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[20], Policy: id}))
	outcome := func(bundle []byte, want kernel.ReplayOutcome) *kernel.Replay {
		t.Helper()
		r, err := k.Slices().Replay(t.Context(), tenant, bundle)
		if err != nil {
			t.Fatal(err)
		}
		if r.Outcome != want {
			t.Fatalf("replay: %s (%s), want %s", r.Outcome, r.Reason, want)
		}
		return r
	}
	outcome(issued.Bundle, kernel.Identical)
	withheld := must(slice.ParseBundle(issued.Bundle))
	withheld.Turns[2].Body = nil
	outcome(withheld.Append(nil), kernel.Identical)
	grow := []dag.Draft{{
		ID: dag.ExternalTurnID("test", "later"), Conversation: dag.ExternalConversationID("test", "elsewhere"),
		Parents: []dag.Parent{{ID: ids[20], Kind: dag.Spawn}}, Role: dag.RoleAssistant, CreatedAt: 1, Content: "later",
	}}
	if _, err := k.Turns().Admit(t.Context(), tenant, grow); err != nil {
		t.Fatal(err)
	}
	outcome(issued.Bundle, kernel.Identical)
	now := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[20], Policy: id}))
	if same := now.Slice.Provenance == issued.Slice.Provenance; same != (id == policy.DefaultV2ID) {
		t.Errorf("after a child in another conversation the slice is the same: %t", same)
	}

	// The key goes; the evidence still replays.
	rotated := must(ring(t, "k1", "k2").Retire("k1", 5))
	authority.Replace(rotated)
	r := outcome(issued.Bundle, kernel.Identical)
	if !errors.Is(r.Token, token.ErrKeyRetired) {
		t.Errorf("token: %v, want %v", r.Token, token.ErrKeyRetired)
	}
	if e, v := k.Slices().Verify(issued.Bundle); e.OK() || v.Outcome != token.KeyRetired {
		t.Errorf("verify: %s, want %s", v.Outcome, token.KeyRetired)
	}

	// Text goes; the selection stays.
	event := must(k.Turns().Erase(t.Context(), tenant, ids[18], "asked for"))
	again := must(k.Turns().Erase(t.Context(), tenant, ids[18], "asked again"))
	if event.Seq == 0 || again.Erasure != event.Erasure {
		t.Errorf("erasing twice: %+v, then %+v", event, again)
	}
	r = outcome(issued.Bundle, kernel.Erased)
	if len(r.Erased) != 1 || r.Erased[0] != ids[18] {
		t.Errorf("erased: %v, want %s", r.Erased, ids[18])
	}
	if r := must(k.Slices().ReplayIssued(t.Context(), tenant, issued.Slice.Provenance.SliceID)); r.Outcome != kernel.Erased {
		t.Errorf("replay by slice id: %s (%s)", r.Outcome, r.Reason)
	}
	forged := must(slice.ParseBundle(issued.Bundle))
	for i := range forged.Turns {
		if forged.Turns[i].ID == ids[18] {
			forged.Turns[i].Body.Content = "what was never said"
		}
	}
	outcome(forged.Append(nil), kernel.Different) // though the store cannot say any more what was
	short := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[20], Policy: id, AsOf: issued.Slice.AsOf}))
	if short.Slice.Provenance != issued.Slice.Provenance {
		t.Error("erasure changed the six fields")
	}
	if bytes.Contains(short.Bundle, []byte(`"turn 18"`)) {
		t.Error("the bundle shows erased text")
	}
	if e, v := k.Slices().Verify(short.Bundle); !e.OK() || len(v.Redacted) != 1 {
		t.Errorf("verify the redacted bundle: %s, %v", v.Outcome, v.Redacted)
	}
}

// TestReplayRefuses changes what the token does not cover, or covers by a key
// that is gone, and expects replay to say so.
func TestReplayRefuses(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 30)
		for _, id := range defaults {
			replayRefuses(t, k, must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[10], Policy: id, AsOf: 25})))
		}
	})
}

func replayRefuses(t *testing.T, k *kernel.Kernel, issued *kernel.Issued) {
	forge := func(name string, change func(*slice.Bundle)) {
		b := must(slice.ParseBundle(issued.Bundle))
		change(b)
		r, err := k.Slices().Replay(t.Context(), tenant, b.Append(nil))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if r.Outcome != kernel.Different || r.Reason == "" {
			t.Errorf("%s: %s (%s), want different", name, r.Outcome, r.Reason)
		}
	}
	forge("as_of to where the slice is the same", func(b *slice.Bundle) { b.AsOf = 24 })
	forge("as_of to where it is not", func(b *slice.Bundle) { b.AsOf = 15 })
	forge("as_of before the anchor", func(b *slice.Bundle) { b.AsOf = 3 })
	forge("as_of 0", func(b *slice.Bundle) { b.AsOf = 0 })
	forge("as_of beyond the head", func(b *slice.Bundle) { b.AsOf = 99 })
	forge("a body", func(b *slice.Bundle) { b.Turns[3].Body.Content += "!" })
	forge("an author", func(b *slice.Bundle) { b.Turns[3].Body.Author = "human:other" })
	forge("a reason", func(b *slice.Bundle) { b.Turns[3].Admission.Distance++ })
	forge("an unknown policy", func(b *slice.Bundle) { b.Provenance.PolicyID = "none@1" })
	forge("an unknown anchor", func(b *slice.Bundle) { b.Anchor[0] ^= 1; b.Provenance.Anchor = b.Anchor })

	b := must(slice.ParseBundle(issued.Bundle))
	b.Seal.Token = strings.Repeat("0", 32)
	r := must(k.Slices().Replay(t.Context(), tenant, b.Append(nil)))
	if !errors.Is(r.Token, token.ErrToken) {
		t.Errorf("a forged token: %v, want %v", r.Token, token.ErrToken)
	}
	if _, err := k.Slices().Replay(t.Context(), "other", issued.Bundle); !errors.Is(err, token.ErrTenant) {
		t.Errorf("another tenant: %v, want %v", err, token.ErrTenant)
	}
	if _, err := k.Slices().Replay(t.Context(), tenant, issued.Bundle[1:]); !errors.Is(err, slice.ErrMalformed) {
		t.Errorf("no bundle: %v, want %v", err, slice.ErrMalformed)
	}
}

// TestNeverStale lets two kernels work on one store, each with caches of its own.
func TestNeverStale(t *testing.T) {
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			a := token.NewAuthority(ring(t, "k1"))
			one, two := over(t, s, a), over(t, s, a)
			ids := chain(t, one, 12)
			request := growing(ids[11])
			for _, k := range []*kernel.Kernel{one, two} { // warm both
				must(k.Slices().Cut(t.Context(), tenant, request))
			}
			last := ids[11]
			for i := range 20 {
				next := dag.Draft{
					ID: dag.ExternalTurnID("test", fmt.Sprint("more/", i)), Conversation: dag.ExternalConversationID("test", "chain"),
					Parents: []dag.Parent{{ID: last, Kind: dag.Reply}}, Role: dag.RoleAssistant, CreatedAt: dag.Time(100 + i), Content: fmt.Sprint("more ", i),
				}
				if i%3 == 0 { // a conversation that neither has seen
					next.Conversation = dag.ExternalConversationID("test", fmt.Sprint("side/", i))
				}
				must(one.Turns().Admit(t.Context(), tenant, []dag.Draft{next}))
				x := must(one.Slices().Cut(t.Context(), tenant, request))
				y := must(two.Slices().Cut(t.Context(), tenant, request))
				if d := slice.Differ(x.Bundle, y.Bundle); d != nil {
					t.Fatalf("after %d turns: byte %d at %s", i+1, d.Offset, d.Path)
				}
				if want := dag.Seq(13 + i); y.Slice.AsOf != want {
					t.Fatalf("as of %d, want %d", y.Slice.AsOf, want)
				}
				last = next.ID
			}
			must(one.Turns().Erase(t.Context(), tenant, ids[10], "asked for"))
			if b := must(two.Slices().Cut(t.Context(), tenant, request)).Bundle; bytes.Contains(b, []byte(`"turn 10"`)) {
				t.Error("the other kernel still shows erased text")
			}
		})
	}
}

// TestTenantsShareNothing returns two tenants the same ids.
func TestTenantsShareNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 5)
		if _, err := k.Slices().Cut(t.Context(), "other", kernel.Request{Anchor: ids[0]}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another tenant's turn: %v, want %v", err, store.ErrNotFound)
		}
		other := []dag.Draft{{ID: ids[0], Conversation: dag.ExternalConversationID("test", "x"), Role: dag.RoleUser, CreatedAt: 1, Content: "mine"}}
		must(k.Turns().Admit(t.Context(), "other", other))
		mine := must(k.Slices().Cut(t.Context(), "other", kernel.Request{Anchor: ids[0]}))
		if len(mine.Slice.Turns) != 1 || !bytes.Contains(mine.Bundle, []byte(`"mine"`)) {
			t.Errorf("the other tenant's slice: %s", mine.Bundle)
		}
		b := must(slice.ParseBundle(mine.Bundle))
		b.Seal.Tenant = tenant
		if e, _ := k.Slices().Verify(b.Append(nil)); e.OK() {
			t.Error("one tenant's evidence verified as another's")
		}
	})
}

// TestAtOnce writes, slices, verifies and erases at the same time. Every bundle
// must verify, and replay to the same bytes or to erased ones.
func TestAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 40)
		ctx := t.Context()
		var all sync.WaitGroup
		fail := func(format string, args ...any) { t.Errorf(format, args...) }
		for writer := range 2 {
			all.Go(func() {
				last := ids[39]
				for i := range 25 {
					id := dag.ExternalTurnID("test", fmt.Sprintf("writer/%d/%d", writer, i))
					d := dag.Draft{ID: id, Conversation: dag.ExternalConversationID("test", fmt.Sprint(writer)), Parents: []dag.Parent{{ID: last, Kind: dag.Reply}},
						Role: dag.RoleTool, CreatedAt: dag.Time(1000 + i), Content: "x"}
					if _, err := k.Turns().Admit(ctx, tenant, []dag.Draft{d}); err != nil {
						fail("admit: %v", err)
					}
					last = id
				}
			})
		}
		all.Go(func() {
			for i := range 10 {
				if _, err := k.Turns().Erase(ctx, tenant, ids[i*3], "asked for"); err != nil {
					fail("erase: %v", err)
				}
			}
		})
		for reader := range 3 {
			all.Go(func() {
				for i := range 25 {
					issued, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[(reader*7+i)%40], Policy: defaults[i%2]})
					if err != nil {
						fail("slice: %v", err)
						continue
					}
					if e, v := k.Slices().Verify(issued.Bundle); !e.OK() {
						fail("verify: %s: %s", v.Outcome, v.Reason)
					}
					if r, err := k.Slices().Replay(ctx, tenant, issued.Bundle); err != nil || r.Outcome == kernel.Different {
						fail("replay: %+v, %v", r, err)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestRequestsThatCannotBeServed(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 3)
		for name, c := range map[string]struct {
			request kernel.Request
			want    error
		}{
			"unknown anchor":    {kernel.Request{Anchor: dag.ExternalTurnID("test", "nobody")}, store.ErrNotFound},
			"unknown policy":    {kernel.Request{Anchor: ids[0], Policy: "none@1"}, policy.ErrUnknown},
			"beyond the head":   {kernel.Request{Anchor: ids[0], AsOf: 4}, projection.ErrBeyondHead},
			"before the anchor": {kernel.Request{Anchor: ids[2], AsOf: 2}, slice.ErrAnchor},
		} {
			if _, err := k.Slices().Cut(t.Context(), tenant, c.request); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if _, err := k.Turns().Erase(t.Context(), tenant, ids[0], ""); !errors.Is(err, dag.ErrForm) {
			t.Errorf("erasure without a reason: %v", err)
		}
		if _, err := k.Turns().Admit(t.Context(), tenant, make([]dag.Draft, admission.MaxBatch+1)); !errors.Is(err, admission.ErrBatch) {
			t.Errorf("a batch that is too large: %v", err)
		}
	})
	unsigned := over(t, stores["memory"](t), token.NewAuthority(token.Keyring{}))
	ids := chain(t, unsigned, 2)
	if _, err := unsigned.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[0]}); !errors.Is(err, token.ErrNoKey) {
		t.Errorf("without a key: %v, want %v", err, token.ErrNoKey)
	}
}

func TestAdmitSaysWhatIsWrong(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 3)
		turn := func(change func(*dag.Draft)) []dag.Draft {
			d := dag.Draft{ID: ids[1], Conversation: dag.ExternalConversationID("test", "chain"), Parents: []dag.Parent{{ID: ids[0], Kind: dag.Reply}},
				Role: dag.RoleUser, CreatedAt: 1, Author: "human:user", Content: "turn 1", Attrs: map[string]string{dag.AttrExternalID: "chain/1"}}
			change(&d)
			return []dag.Draft{d}
		}
		r, err := k.Turns().Admit(t.Context(), tenant, turn(func(*dag.Draft) {}))
		if err != nil || r.Existing != 1 || r.Admitted != 0 {
			t.Errorf("the same turn again, with a salt drawn anew: %+v, %v", r, err)
		}
		_, err = k.Turns().Admit(t.Context(), tenant, turn(func(d *dag.Draft) { d.Content = "another" }))
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) || conflict.ID != ids[1] || conflict.Stored == conflict.Arriving ||
			!strings.Contains(err.Error(), conflict.Stored.String()) || !strings.Contains(err.Error(), conflict.Arriving.String()) {
			t.Errorf("other content: %v", err)
		}
		unknown := dag.ExternalTurnID("test", "nobody")
		_, err = k.Turns().Admit(t.Context(), tenant, turn(func(d *dag.Draft) {
			d.ID, d.Parents = dag.ExternalTurnID("test", "new"), []dag.Parent{{ID: unknown, Kind: dag.Reply}}
		}))
		var orphan *store.ParentError
		if !errors.As(err, &orphan) || orphan.Parent != unknown || !strings.Contains(err.Error(), unknown.String()) {
			t.Errorf("unknown parent: %v", err)
		}
		for name, change := range map[string]func(*dag.Draft){
			"author":   func(d *dag.Draft) { d.Author = "ä" },
			"content":  func(d *dag.Draft) { d.Content = "\xff" },
			"attr":     func(d *dag.Draft) { d.Attrs = map[string]string{"A": ""} },
			"salience": func(d *dag.Draft) { d.Salience, d.HasSalience = dag.One+1, true },
			"time":     func(d *dag.Draft) { d.CreatedAt = -1 },
		} {
			if _, err := k.Turns().Admit(t.Context(), tenant, turn(change)); !errors.Is(err, dag.ErrForm) {
				t.Errorf("bad %s: %v, want %v", name, err, dag.ErrForm)
			}
		}
		if head := must(k.Turns().Head(t.Context(), tenant)); head != 3 {
			t.Errorf("head %d after refusals, want 3", head)
		}
	})
}

func TestResolve(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 200)
		for _, name := range []string{ids[7].String(), ids[7].String()[:13], "chain/7", strings.ToUpper(ids[7].String()), strings.ToUpper(ids[7].String()[:13])} {
			if got, err := k.Turns().Resolve(t.Context(), tenant, name); err != nil || got != ids[7] {
				t.Errorf("%q: %s, %v, want %s", name, got, err, ids[7])
			}
		}
		for _, name := range []string{"zzzz", "abc", "", "chain/9999", dag.ExternalTurnID("test", "nobody").String()} {
			if _, err := k.Turns().Resolve(t.Context(), tenant, name); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%q: %v, want %v", name, err, store.ErrNotFound)
			}
		}
		elsewhere := dag.Draft{ID: dag.ExternalTurnID("test", "upper"), Conversation: dag.ExternalConversationID("test", "upper"), Role: dag.RoleUser, CreatedAt: 1, Content: "x",
			Attrs: map[string]string{dag.AttrExternalID: "F0000000-0000-4000-8000-00000000000A"}}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{elsewhere}))
		if got, err := k.Turns().Resolve(t.Context(), tenant, "F0000000-0000-4000-8000-00000000000A"); err != nil || got != elsewhere.ID {
			t.Errorf("an external id in capitals: %s, %v, want %s", got, err, elsewhere.ID)
		}
		var twins []dag.Draft
		for i := range 2 {
			id := dag.TurnID{0: 0xfe, 1: 0xdc, 2: 0xba, 15: byte(i)}
			twins = append(twins, dag.Draft{ID: id, Conversation: dag.ExternalConversationID("test", "twins"), Role: dag.RoleUser, CreatedAt: 1, Content: "x"})
		}
		must(k.Turns().Admit(t.Context(), tenant, twins))
		var ambiguous *kernel.AmbiguousError
		if _, err := k.Turns().Resolve(t.Context(), tenant, "fedcba"); !errors.As(err, &ambiguous) || len(ambiguous.Fits) != 2 {
			t.Errorf("a prefix of two: %v", err)
		}
	})
}

// TestExplainAgreesWithSlice explains every turn of a case.
func TestExplainAgreesWithSlice(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		c := golden.Random(7, 300)
		must(k.Turns().Admit(t.Context(), tenant, kerneltest.Golden(t, &c)))
		narrow := policy.DefaultV1()
		narrow.MaxNodes, narrow.MaxRadius, narrow.MaxSiblings = 12, 3, 1
		p := must(policy.Bind("narrow@1", narrow))
		if err := k.Policies().Register(t.Context(), tenant, p); err != nil {
			t.Fatal(err)
		}
		request := kernel.Request{Anchor: must(dag.ParseTurnID(c.Anchor)), Policy: p.ID()}
		issued := must(k.Slices().Cut(t.Context(), tenant, request))
		chosen := map[dag.TurnID]*slice.Selected{}
		for i := range issued.Slice.Turns {
			chosen[issued.Slice.Turns[i].ID] = &issued.Slice.Turns[i]
		}
		lone := dag.Draft{ID: dag.ExternalTurnID("test", "lone"), Conversation: dag.ExternalConversationID("test", "lone"), Role: dag.RoleUser, CreatedAt: 1, Content: "x"}
		must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{lone}))
		if e := must(k.Slices().Explain(t.Context(), tenant, request, lone.ID)); e.Outcome != slice.Apart {
			t.Errorf("a turn that nothing leads to is %s", e.Outcome)
		}
		if e := must(k.Slices().Explain(t.Context(), tenant, kernel.Request{Anchor: request.Anchor, Policy: p.ID(), AsOf: dag.Seq(len(c.Turns))}, lone.ID)); e.Outcome != slice.NotYet {
			t.Errorf("a turn that was not admitted yet is %s", e.Outcome)
		}
		outcomes := map[slice.Outcome]int{}
		for i := range c.Turns {
			id := must(dag.ParseTurnID(c.Turns[i].ID))
			e, err := k.Slices().Explain(t.Context(), tenant, request, id)
			if err != nil {
				t.Fatal(err)
			}
			outcomes[e.Outcome]++
			if in := chosen[id]; (in != nil) != (e.Outcome == slice.Chosen) || in != nil && !reflect.DeepEqual(in.Admission, e.Admission) {
				t.Errorf("turn %s: %+v, slice says %+v", id, e, in)
			}
		}
		if outcomes[slice.Chosen] != len(chosen) || len(outcomes) < 2 {
			t.Errorf("outcomes: %v, %d chosen", outcomes, len(chosen))
		}
	})
}

func TestCancelledContext(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 3)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[0]}); !errors.Is(err, context.Canceled) {
			t.Errorf("slice: %v, want %v", err, context.Canceled)
		}
		if _, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[0]}); err != nil {
			t.Errorf("slice after a cancelled one: %v", err)
		}
	})
}
