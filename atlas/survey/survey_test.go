package survey_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/atlas/survey"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

const tenant = kerneltest.Tenant

var ring, over, stores, eachStore, chain = kerneltest.Ring, kerneltest.Over, kerneltest.Stores, kerneltest.EachStore, kerneltest.Chain

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A swapped store is now this one and now that, of another epoch each time it is told so.
type swapped struct {
	store.Store
	epoch uint64
}

func (s *swapped) Epoch() uint64 { return s.epoch }

// blame asks for what may have led to a turn.
func blame(k *kernel.Kernel, ctx context.Context, turn dag.TurnID, id policy.ID, asOf dag.Seq, issued uint64) (api.Blame, error) {
	return k.Atlas().Blame(ctx, tenant, api.BlameQuery{AtlasView: api.AtlasView{AsOf: asOf, Issued: issued}, ID: turn, Policy: id})
}

// seen writes what an atlas shows.
func seen(t *testing.T, k *kernel.Kernel, asOf dag.Seq, issued uint64) string {
	t.Helper()
	v := must(k.Atlas().View(t.Context(), tenant, asOf, issued))
	return shown(t, v)
}

func shown(t *testing.T, v *survey.View) string {
	t.Helper()
	pairs, sampled, err := v.Overlaps(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v.AsOf, v.Issued, v.Older, v.Sets, *must(v.Influence(t.Context())), must(v.Communities(t.Context())), must(v.Snapshot(t.Context())), pairs, sampled,
		must(v.Authors(t.Context())), *must(v.FactCommunities(t.Context())))
}

// TestAtlas grows a store while its atlas is looked at. At every number it is what it is in a kernel that begins anew, and later what it was then.
func TestAtlas(t *testing.T) {
	defer survey.LookAt(5)() // records, so that older ones are left
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			a := token.NewAuthority(ring(t, "k1"))
			k := over(t, s, a)
			ids := chain(t, k, 6)
			then := map[[2]uint64]string{}
			for i := range 12 {
				parent := ids[i/2]
				d := dag.Draft{
					ID: dag.ExternalTurnID("atlas", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("atlas", fmt.Sprint(i%3)),
					Role: dag.RoleUser, CreatedAt: dag.Time(1000 + i), Content: "more", Parents: []dag.Parent{{ID: parent, Kind: dag.Reply}},
				}
				must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
				if i%2 == 0 {
					must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: d.ID}))
					must(k.Contexts().Assemble(t.Context(), tenant, api.ContextRequest{Task: "more", Anchor: d.ID.String()}))
				}
				now := seen(t, k, 0, 0)
				if fresh := seen(t, over(t, s, a), 0, 0); fresh != now {
					t.Fatalf("after turn %d\n%s\na kernel that begins anew has\n%s", i, now, fresh)
				}
				v := must(k.Atlas().View(t.Context(), tenant, 0, 0))
				then[[2]uint64{uint64(v.AsOf), v.Issued}] = now
			}
			if len(then) != 12 {
				t.Fatalf("%d views", len(then))
			}
			for at, was := range then {
				if is := seen(t, k, dag.Seq(at[0]), at[1]); is != was {
					t.Errorf("as of %d\n%s\nit was\n%s", at, is, was)
				}
			}
			if _, err := k.Atlas().View(t.Context(), tenant, 9999, 0); err == nil {
				t.Error("a number beyond the head is taken")
			}
		})
	}
}

// TestBlame knows what was handed out for a turn, and what the choice of the others hung on.
func TestBlame(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 8)
		issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[5]}))
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[2]})) // for another turn
		b := must(blame(k, t.Context(), ids[6], policy.DefaultV1ID, 0, 0))
		if len(b.For) != 1 || b.For[0].SliceID != issued.Slice.Provenance.SliceID {
			t.Errorf("%d things were handed out for the turn", len(b.For))
		}
		if len(b.InAll) != len(issued.Slice.Turns) {
			t.Errorf("%d turns were held, want %d", len(b.InAll), len(issued.Slice.Turns))
		}
		// Without a turn of a chain, those before it are not reached: the nearer it is, the more.
		lost := map[dag.TurnID]int{}
		for _, p := range b.Pivots {
			lost[p.Turn] = p.Dropped
		}
		for i := 1; i < 5; i++ {
			if lost[ids[i]] <= lost[ids[i-1]] {
				t.Errorf("without turn %d %d others are lost, without the one before it %d", i, lost[ids[i]], lost[ids[i-1]])
			}
		}
		if len(b.Minimal) != 1 || b.Minimal[0] != b.Pivots[0].Turn || b.Tried < 5 || slices.ContainsFunc(b.Pivots, func(p api.Pivot) bool { return p.Turn == ids[5] }) {
			t.Errorf("minimal %v of %v, in %d cuts", b.Minimal, b.Pivots, b.Tried)
		}
	})
}

// TestAtlasNewEpoch lets another server take over that lacks some of the history and has gone on without it. The atlas is that of what the server has.
func TestAtlasNewEpoch(t *testing.T) {
	a := token.NewAuthority(ring(t, "k1"))
	early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
	defer early.Close()
	defer late.Close()
	other := over(t, early, a)
	ids := chain(t, other, 8)
	s := &swapped{Store: late}
	k := over(t, s, a)
	chain(t, k, 12)
	must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[7]}))
	lost := seen(t, k, 0, 0)
	var others []dag.Draft // as many as were lost
	for i := range 4 {
		others = append(others, dag.Draft{
			ID: dag.ExternalTurnID("atlas", fmt.Sprint("other/", i)), Conversation: dag.ExternalConversationID("atlas", "other"),
			Role: dag.RoleUser, CreatedAt: dag.Time(2000 + i), Content: "other",
		})
	}
	must(other.Turns().Admit(t.Context(), tenant, others))
	must(other.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: others[0].ID}))
	s.Store, s.epoch = early, 1
	want := seen(t, over(t, early, a), 0, 0)
	if want == lost {
		t.Fatal("nothing was lost")
	}
	if got := seen(t, k, 0, 0); got != want {
		t.Errorf("after another server took over\n%s\nit has\n%s", got, want)
	}
}

// TestAtlasWentBack puts the store back to an earlier state.
func TestAtlasWentBack(t *testing.T) {
	a := token.NewAuthority(ring(t, "k1"))
	early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
	defer early.Close()
	defer late.Close()
	chain(t, over(t, early, a), 8)
	s := &swapped{Store: late}
	k := over(t, s, a)
	chain(t, k, 12)
	seen(t, k, 0, 0)
	s.Store = early
	if _, err := k.Atlas().View(t.Context(), tenant, 0, 0); !errors.Is(err, projection.ErrWentBack) {
		t.Errorf("got %v, want ErrWentBack", err)
	}
}

// TestBlameAfter cuts a slice for the turn before another from a graph that has the other one already: it was not handed out before it.
func TestBlameAfter(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 8)
		early := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[5], Policy: policy.DefaultV1ID, AsOf: 6}))
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[5], Policy: policy.DefaultV1ID})) // as of 8
		b := must(blame(k, t.Context(), ids[6], policy.DefaultV1ID, 0, 0))
		if len(b.For) != 1 || b.For[0].Number != early.Record.Number {
			t.Errorf("%d things were handed out for the turn, want the one that was cut as of 6", len(b.For))
		}
	})
}

// TestWithoutTurn cuts a chain without each of its turns: those before it are lost, and without the anchor all are. It agrees with what Blame counts.
func TestWithoutTurn(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 8)
		count := map[dag.TurnID]int{}
		for _, p := range must(blame(k, t.Context(), ids[6], policy.DefaultV1ID, 0, 0)).Pivots {
			count[p.Turn] = p.Dropped
		}
		for i := range 6 {
			lost, instead, err := k.Atlas().WithoutTurn(t.Context(), tenant, ids[5], policy.DefaultV1ID, 6, ids[i])
			if err != nil || len(instead) != 0 || i < 5 && len(lost) != count[ids[i]] || i == 5 && len(lost) != 5 {
				t.Errorf("without turn %d: %v, %d instead, %d lost, want %d", i, err, len(instead), len(lost), count[ids[i]])
			}
			for _, id := range lost {
				if at := slices.Index(ids[:], id); at < 0 || at >= i {
					t.Errorf("without turn %d, turn %d is lost", i, at)
				}
			}
		}
	})
}

// TestBlameThen asks as of earlier numbers, and up to earlier records: the answer is the one of then, whatever came later.
func TestBlameThen(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 8)
		then := map[[2]uint64]string{}
		said := func(asOf dag.Seq, issued uint64) (string, [2]uint64) {
			text, at := "", [2]uint64{}
			for _, id := range []policy.ID{policy.DefaultV1ID, policy.DefaultID} {
				b := must(blame(k, t.Context(), ids[6], id, asOf, issued))
				text += fmt.Sprint(b.For, b.InAll, b.Selected, b.Pivots, b.Minimal, b.Tried)
				at = [2]uint64{uint64(b.AsOf), b.UpTo}
			}
			return text, at
		}
		for i := range 4 {
			must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[6], Policy: policy.DefaultV1ID}))
			was, at := said(0, 0)
			then[at] = was
			must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[6], Policy: policy.DefaultV1ID, AsOf: 7})) // a later record of an earlier number
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{{
				ID: dag.ExternalTurnID("atlas", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("test", "chain"), Role: dag.RoleUser, CreatedAt: dag.Time(1000 + i),
				Content: "more", Parents: []dag.Parent{{ID: ids[5], Kind: dag.Reply}},
			}}))
		}
		if len(then) != 4 {
			t.Fatalf("asked at %d moments", len(then))
		}
		for at, was := range then {
			if is, _ := said(dag.Seq(at[0]), at[1]); is != was {
				t.Errorf("as of %d\n%s\nit was\n%s", at, is, was)
			}
		}
		if _, err := blame(k, t.Context(), ids[6], policy.DefaultV1ID, 6, 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("before there was the turn: %v", err)
		}
	})
}
