package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// defaults are the policies for slices that every tenant begins with.
var defaults = []policy.ID{policy.DefaultV1ID, policy.DefaultV2ID}

// growing asks for a slice that changes when its anchor is answered, for tests of what a kernel remembers. Under
// default@2 nothing numbered above the anchor enters.
func growing(anchor dag.TurnID) kernel.Request {
	return kernel.Request{Anchor: anchor, Policy: policy.DefaultV1ID}
}

// A step is one operation on a kernel. It returns all that a caller sees of it, as bytes.
type step func(t *rapid.T, k *kernel.Kernel) []byte

// drawStep draws an operation on few turns of few conversations, so that things meet.
func drawStep(t *rapid.T, number int, admitted *[]dag.TurnID) step {
	anchor := func() dag.TurnID {
		if len(*admitted) == 0 {
			return dag.ExternalTurnID("test", "none")
		}
		return rapid.SampledFrom(*admitted).Draw(t, "turn")
	}
	switch rapid.SampledFrom([]string{"admit", "admit", "admit", "slice", "slice", "slice", "erase", "policy", "replay", "past", "list"}).Draw(t, "operation") {
	case "admit":
		d := dag.Draft{
			ID: dag.ExternalTurnID("test", fmt.Sprint(number)), Conversation: dag.ExternalConversationID("test", fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "conversation"))),
			Role: dag.RoleAssistant, CreatedAt: dag.Time(rapid.IntRange(0, 50).Draw(t, "time")), Content: fmt.Sprint("text ", number),
			Phase: rapid.SampledFrom(dag.Phases[:]).Draw(t, "phase"), Salience: dag.PPM(rapid.IntRange(0, 1_000_000).Draw(t, "salience")), HasSalience: true,
			Attrs: map[string]string{dag.AttrExternalID: fmt.Sprint("name-", number%5)},
		}
		for range rapid.IntRange(0, 2).Draw(t, "parents") {
			if p := anchor(); len(*admitted) > 0 && (len(d.Parents) == 0 || d.Parents[0].ID != p) {
				d.Parents = append(d.Parents, dag.Parent{ID: p, Kind: dag.Reply})
			}
		}
		salt := dag.Salt(d.ID)
		d.Salt = &salt
		*admitted = append(*admitted, d.ID)
		return func(t *rapid.T, k *kernel.Kernel) []byte {
			r, err := k.Turns().Admit(t.Context(), tenant, []dag.Draft{d})
			return fmt.Appendf(nil, "%+v %v", r, err)
		}
	case "slice":
		r := kernel.Request{Anchor: anchor(), Policy: rapid.SampledFrom([]policy.ID{"", policy.DefaultV1ID, "narrow@1"}).Draw(t, "policy")}
		return func(t *rapid.T, k *kernel.Kernel) []byte { return sliced(t, k, r) }
	case "past":
		r := kernel.Request{Anchor: anchor(), Policy: rapid.SampledFrom(defaults).Draw(t, "policy"), AsOf: dag.Seq(rapid.IntRange(1, 40).Draw(t, "as of"))}
		return func(t *rapid.T, k *kernel.Kernel) []byte { return sliced(t, k, r) }
	case "erase":
		id := anchor()
		return func(t *rapid.T, k *kernel.Kernel) []byte {
			e, err := k.Turns().Erase(t.Context(), tenant, id, "asked for")
			return fmt.Appendf(nil, "%+v %v", e, errors.Is(err, store.ErrNotFound))
		}
	case "policy":
		p := policy.DefaultV1()
		p.MaxNodes = 3
		return func(t *rapid.T, k *kernel.Kernel) []byte {
			err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("narrow@1", p)))
			return fmt.Appendf(nil, "%v", err)
		}
	case "replay":
		r := kernel.Request{Anchor: anchor(), Policy: rapid.SampledFrom(defaults).Draw(t, "policy")}
		return func(t *rapid.T, k *kernel.Kernel) []byte {
			issued, err := k.Slices().Cut(t.Context(), tenant, r)
			if err != nil {
				return fmt.Appendf(nil, "%v", errors.Is(err, store.ErrNotFound))
			}
			again := must(k.Slices().Replay(t.Context(), tenant, issued.Bundle))
			byID := must(k.Slices().ReplayIssued(t.Context(), tenant, issued.Slice.Provenance.SliceID))
			if again.Outcome != kernel.Identical {
				t.Fatalf("a bundle just issued replays as %s: %s", again.Outcome, again.Reason)
			}
			return fmt.Appendf(nil, "%+v %+v", again, byID)
		}
	default:
		return func(t *rapid.T, k *kernel.Kernel) []byte {
			return fmt.Appendf(nil, "%+v %+v %+v", must(k.Turns().Conversations(t.Context(), tenant, dag.ConversationID{}, 10)),
				must(k.Turns().Events(t.Context(), tenant, 0, 100)), must(k.Slices().After(t.Context(), tenant, 0, 100)))
		}
	}
}

func sliced(t *rapid.T, k *kernel.Kernel, r kernel.Request) []byte {
	issued, err := k.Slices().Cut(t.Context(), tenant, r)
	if err != nil {
		for i, known := range []error{store.ErrNotFound, policy.ErrUnknown, projection.ErrBeyondHead, slice.ErrAnchor} {
			if errors.Is(err, known) {
				return fmt.Append(nil, "refused ", i)
			}
		}
		t.Fatal(err)
	}
	return fmt.Appendf(issued.Bundle, " %+v", issued.Record)
}

// TestStoresAgree does the same random operations on every store. Each must give the
// same bytes; so must a kernel that keeps nothing, and one that is opened for each
// operation.
func TestStoresAgree(t *testing.T) {
	slices := 0
	rapid.Check(t, func(rt *rapid.T) {
		t := &scope{TB: t}
		defer t.done()
		a := token.NewAuthority(ring(t, "k1"))
		kernels := map[string]func() *kernel.Kernel{}
		var first *kernel.Kernel
		for name, open := range stores {
			k := over(t, open(t), a)
			kernels[name] = func() *kernel.Kernel { return k }
			if name == "memory" {
				first = k
			}
		}
		forgetful := open(t, "memory")
		kernels["kept nothing"] = func() *kernel.Kernel {
			return must(kernel.Open(kernel.Config{Store: forgetful, Authority: a, Clock: standing, Rand: noise(1), SkeletonBytes: 1, TextBytes: 1, CutBytes: 1}))
		}
		var admitted []dag.TurnID
		for number := range rapid.IntRange(5, 30).Draw(rt, "operations") {
			do := drawStep(rt, number, &admitted)
			want := do(rt, first)
			if bytes.HasPrefix(want, []byte("{")) {
				slices++
			}
			for name, k := range kernels {
				if name == "memory" {
					continue
				}
				if got := do(rt, k()); !bytes.Equal(got, want) {
					rt.Fatalf("operation %d on %s gave\n%s\nin memory\n%s", number, name, got, want)
				}
			}
		}
	})
	if slices < 20 {
		t.Errorf("only %d slices were cut", slices)
	}
}

func open(t testing.TB, name string) store.Store { return stores[name](t) }

// TestCutsAreKept counts what a kernel remembers: the same request again cuts nothing, also
// after another conversation has grown, and cuts anew after its own has, unless the policy looks at the past alone.
func TestCutsAreKept(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ids := chain(t, k, 12)
		request := growing(ids[11])
		grow := func(i int, parent dag.TurnID, conversation string) dag.TurnID {
			d := dag.Draft{
				ID: dag.ExternalTurnID("test", fmt.Sprint("more/", i)), Conversation: dag.ExternalConversationID("test", conversation),
				Role: dag.RoleUser, CreatedAt: dag.Time(100 + i), Content: "more",
			}
			if parent != (dag.TurnID{}) {
				d.Parents = []dag.Parent{{ID: parent, Kind: dag.Reply}}
			}
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
			return d.ID
		}
		misses := func(what string, want uint64) {
			t.Helper()
			before := k.Stats().Cuts
			must(k.Slices().Cut(t.Context(), tenant, request))
			after := k.Stats().Cuts
			if after.Misses-before.Misses != want || after.Hits-before.Hits != 1-want {
				t.Errorf("%s: %d cuts, %d found, want %d", what, after.Misses-before.Misses, after.Hits-before.Hits, want)
			}
		}
		misses("at first", 1)
		misses("again", 0)
		grow(0, dag.TurnID{}, "elsewhere")
		misses("another conversation grew", 0)
		if asOf := must(k.Slices().Cut(t.Context(), tenant, request)).Slice.AsOf; asOf != 13 {
			t.Errorf("as of %d, want 13", asOf)
		}
		grow(1, ids[11], "chain")
		misses("its own conversation grew", 1)
		must(k.Turns().Erase(t.Context(), tenant, ids[10], "asked for"))
		misses("a turn was erased", 0)
		if b := must(k.Slices().Cut(t.Context(), tenant, request)).Bundle; bytes.Contains(b, []byte(`"turn 10"`)) {
			t.Error("erased text is shown")
		}
		if s := k.Stats().Cuts; s.Entries != 2 || s.Bytes < 1_000 {
			t.Errorf("%+v kept, want two cuts", s)
		}
		request.Policy = policy.DefaultV2ID
		misses("of the past, at first", 1)
		grow(2, ids[11], "chain")
		misses("of the past, its own conversation grew", 0)
		if asOf := must(k.Slices().Cut(t.Context(), tenant, request)).Slice.AsOf; asOf != 12 {
			t.Errorf("of the past: as of %d, want 12", asOf)
		}
	})
}

// A swapped store is now this one and now that, of another epoch each time it is told so.
type swapped struct {
	store.Store
	epoch uint64
}

func (s *swapped) Epoch() uint64 { return s.epoch }

// TestWentBack puts a store back to an earlier state below a kernel. Nothing of the lost
// history may be served, and that something was lost does not stop being true when the
// store has grown again.
func TestWentBack(t *testing.T) {
	for _, epoch := range []uint64{0, 1} {
		a := token.NewAuthority(ring(t, "k1"))
		early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
		ids := chain(t, over(t, early, a), 8)
		s := &swapped{Store: late}
		k := over(t, s, a)
		chain(t, k, 12)
		must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[7]}))
		s.Store, s.epoch = early, epoch
		for round := range 3 {
			if _, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[7]}); !errors.Is(err, projection.ErrWentBack) {
				t.Errorf("epoch %d, round %d: got %v, want ErrWentBack", epoch, round, err)
			}
			if round == 1 {
				chain(t, over(t, early, a), 20)
			}
		}
		must(over(t, s, a).Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[7]}))
		_, _ = early.Close(), late.Close()
	}
}

// TestNewEpoch lets another server take over that lacks some of the history, and has
// gone on without it. What the kernel then serves is what that server has: turns, text,
// policies and the record.
func TestNewEpoch(t *testing.T) {
	for _, grown := range []int{12, 15} {
		a := token.NewAuthority(ring(t, "k1"))
		early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
		other := over(t, early, a)
		ids := chain(t, other, 8)
		s := &swapped{Store: late}
		k := over(t, s, a)
		lost := chain(t, k, 12)
		narrow := policy.DefaultV1()
		narrow.MaxNodes = 3
		if err := k.Policies().Register(t.Context(), tenant, must(policy.Bind("p@1", narrow))); err != nil {
			t.Fatal(err)
		}
		requests := []kernel.Request{growing(ids[7]), {Anchor: ids[7]}, {Anchor: ids[7], Policy: "p@1"}, {Anchor: lost[11]}}
		for _, r := range requests {
			must(k.Slices().Cut(t.Context(), tenant, r))
		}
		for i := 8; i < grown; i++ { // another history, as long as the first or longer
			must(other.Turns().Admit(t.Context(), tenant, []dag.Draft{{
				ID: dag.ExternalTurnID("test", fmt.Sprint("another/", i)), Conversation: dag.ExternalConversationID("test", "chain"),
				Parents: []dag.Parent{{ID: ids[7], Kind: dag.Reply}}, Role: dag.RoleUser, CreatedAt: dag.Time(i), Content: "another",
			}}))
		}
		narrow.MaxNodes = 5
		if err := other.Policies().Register(t.Context(), tenant, must(policy.Bind("p@1", narrow))); err != nil {
			t.Fatal(err)
		}
		s.Store, s.epoch = early, 1
		for i, r := range requests {
			got, err := k.Slices().Cut(t.Context(), tenant, r)
			want, wantErr := over(t, early, a).Slices().Cut(t.Context(), tenant, r)
			if (err == nil) != (wantErr == nil) || !errors.Is(err, store.ErrNotFound) != !errors.Is(wantErr, store.ErrNotFound) {
				t.Fatalf("request %d: %v, want %v", i, err, wantErr)
			}
			if err == nil && (!bytes.Equal(got.Bundle, want.Bundle) || got.Record != want.Record) {
				t.Errorf("request %d gives the bundle of another history, or a record that is not there", i)
			}
		}
		_, _ = early.Close(), late.Close()
	}
}

// TestEpochEndsMeanwhile lets another server take over in the midst of each question that a
// slice puts. The slice is of one of the two, and not of both.
func TestEpochEndsMeanwhile(t *testing.T) {
	a := token.NewAuthority(ring(t, "k1"))
	for question := 1; ; question++ {
		early, late := inmem.Open(&inmem.Disk{}, inmem.Options{}), inmem.Open(&inmem.Disk{}, inmem.Options{})
		chain(t, over(t, late, a), 8)
		ids := chain(t, over(t, early, a), 12) // so that nothing went back
		s := &turning{swapped: swapped{Store: late}, next: early, at: question}
		got := must(over(t, s, a).Slices().Cut(t.Context(), tenant, growing(ids[7])))
		want := must(over(t, early, a).Slices().Cut(t.Context(), tenant, growing(ids[7])))
		if s.at > 0 {
			if question < 4 {
				t.Errorf("a slice put %d questions", question-1)
			}
			return
		}
		if !bytes.Equal(got.Bundle, want.Bundle) {
			t.Errorf("question %d: the slice is not of the server that took over", question)
		}
	}
}

// A turning store changes servers before it answers a certain question.
type turning struct {
	swapped
	next store.Store
	at   int
}

func (s *turning) turn() store.Store {
	if s.at--; s.at == 0 {
		s.Store, s.epoch = s.next, s.epoch+1
	}
	return s.Store
}

func (s *turning) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	return s.turn().Turns(ctx, tenant, of)
}

func (s *turning) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	return s.turn().Segment(ctx, tenant, parts)
}

func (s *turning) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	return s.turn().Write(ctx, tenant, c)
}

// TestOneQuestionForMany lets many ask for slices of one conversation while the store is
// slow. Those who wait share an answer, but never one to a question that was put before
// they came.
func TestOneQuestionForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := inmem.Open(&inmem.Disk{}, inmem.Options{})
		defer disk.Close()
		s := &countedStore{Store: disk}
		k := over(t, s, token.NewAuthority(ring(t, "k1")))
		ids := chain(t, k, 12)
		request := growing(ids[11])
		must(k.Slices().Cut(t.Context(), tenant, request))
		for round := range 20 {
			asked := s.asked.Load()
			answer := make(chan struct{})
			s.wait = answer
			var all sync.WaitGroup
			slice := func(least dag.Seq) {
				all.Go(func() {
					if asOf := must(k.Slices().Cut(t.Context(), tenant, request)).Slice.AsOf; asOf < least {
						t.Errorf("a slice as of %d, asked for when the head was %d", asOf, least)
					}
				})
			}
			slice(0)
			synctest.Wait() // it has read the head as it was, and waits for the answer
			d := dag.Draft{
				ID: dag.ExternalTurnID("test", fmt.Sprint("late/", round)), Conversation: dag.ExternalConversationID("test", "chain"),
				Role: dag.RoleUser, CreatedAt: dag.Time(100 + round), Content: "late",
			}
			must(k.Turns().Admit(t.Context(), tenant, []dag.Draft{d}))
			for range 50 {
				slice(dag.Seq(13 + round))
			}
			synctest.Wait() // they follow it
			close(answer)
			all.Wait()
			if n := s.asked.Load() - asked; n != 2 {
				t.Errorf("51 slices put %d questions, want 2", n)
			}
		}
	})
}

// A countedStore counts the questions for news, and answers when it is let.
type countedStore struct {
	store.Store
	asked atomic.Int64
	wait  chan struct{}
}

func (s *countedStore) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	news, err := s.Store.Segment(ctx, tenant, parts)
	s.asked.Add(1)
	if s.wait != nil {
		<-s.wait
	}
	return news, err
}
