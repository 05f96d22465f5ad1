package kernel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// A slowStore lets something happen between the reading of text and its return.
type slowStore struct {
	store.Store
	meanwhile func()
}

func (s *slowStore) Turns(ctx context.Context, tenant dag.Tenant, of store.Selection) ([]store.Record, error) {
	records, err := s.Store.Turns(ctx, tenant, of)
	if _, text := of.(store.Places); text && s.meanwhile != nil {
		s.meanwhile()
	}
	return records, err
}

// TestTextErasedInMidFetch erases a turn after its text was read and before it is
// kept, by another kernel, of which a request learns, or by this one. The text must
// not stay.
func TestTextErasedInMidFetch(t *testing.T) {
	for name, ask := range textAsks(t) {
		t.Run("elsewhere/"+name, func(t *testing.T) {
			erasedInMidFetch(t, ask, func(x *tenantTexts, _ dag.TurnID) error {
				_, err := x.sync(t.Context(), 2)
				return err
			})
		})
		t.Run("here/"+name, func(t *testing.T) {
			erasedInMidFetch(t, ask, func(x *tenantTexts, turn dag.TurnID) error {
				x.forget(turn)
				return nil
			})
		})
	}
}

// textAsks are the ways to ask for the text of a turn, as of number 1.
func textAsks(t *testing.T) map[string]func(*tenantTexts, *cutting) error {
	return map[string]func(*tenantTexts, *cutting) error{
		"for a slice": func(x *tenantTexts, c *cutting) error {
			_, err := x.encoded(t.Context(), 1, c)
			return err
		},
		"for a context": func(x *tenantTexts, c *cutting) error {
			chosen, err := x.chosen(t.Context(), 1, []dag.TurnID{c.slice.Turns[0].ID}, c.places)
			if len(chosen) != 1 || chosen[0] == nil || chosen[0].Body.Content != "secret" {
				t.Errorf("as of before the erasure: %+v", chosen)
			}
			return err
		},
	}
}

// TestErasedTextLeaves erases a turn whose text is kept, in each form.
func TestErasedTextLeaves(t *testing.T) {
	for name, ask := range textAsks(t) {
		t.Run(name, func(t *testing.T) {
			s, x, want := oneText(t)
			if err := ask(x, want); err != nil {
				t.Fatal(err)
			}
			if n := x.kept.Stats().Entries; n != 1 {
				t.Fatalf("%d texts are kept, want 1", n)
			}
			turn := want.slice.Turns[0].ID
			if _, err := (erasures.Base{History: s}).Erase(t.Context(), dag.DefaultTenant, erasures.Erasure{Turn: turn, Reason: "asked for"}); err != nil {
				t.Fatal(err)
			}
			if _, err := x.sync(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			if n := x.kept.Stats().Entries; n != 0 {
				t.Error("the erased text is kept")
			}
			if chosen, err := x.chosen(t.Context(), 2, []dag.TurnID{turn}, want.places); err != nil || len(chosen) != 1 || chosen[0] != nil {
				t.Errorf("after the erasure: %+v, %v", chosen, err)
			}
		})
	}
}

// TestErasedTextIsFreed keeps two texts of one answer and erases one. The one that stays must not hold the other in memory.
func TestErasedTextIsFreed(t *testing.T) {
	s, x, _ := oneText(t)
	appendText(t, s, "2")
	ids, places := []dag.TurnID{textTurn("1"), textTurn("2")}, store.Places{textPlace("1", 1), textPlace("2", 2)}
	kept := func() []weak.Pointer[contexts.ChosenTurn] {
		chosen, err := x.chosen(t.Context(), 2, ids, places)
		if err != nil || chosen[0] == nil || chosen[1] == nil {
			t.Fatalf("%+v, %v", chosen, err)
		}
		return []weak.Pointer[contexts.ChosenTurn]{weak.Make(chosen[0]), weak.Make(chosen[1])}
	}()
	x.forget(ids[0])
	runtime.GC()
	if kept[0].Value() != nil {
		t.Error("the erased text is in memory")
	}
	if kept[1].Value() == nil {
		t.Error("the other text is not kept: this test cannot find anything")
	}
	runtime.KeepAlive(x)
}

// TestChosenMisplaced asks for a turn where another one is, and where none is.
func TestChosenMisplaced(t *testing.T) {
	s, x, _ := oneText(t)
	appendText(t, s, "2")
	for name, place := range map[string]store.Place{"another one": textPlace("2", 2), "none": textPlace("1", 7)} {
		chosen, err := x.chosen(t.Context(), 2, []dag.TurnID{textTurn("1")}, store.Places{place})
		if !errors.Is(err, store.ErrDamaged) || chosen != nil {
			t.Errorf("%s: %+v, %v", name, chosen, err)
		}
	}
}

func textTurn(name string) dag.TurnID { return dag.ExternalTurnID("test", name) }

func textPlace(name string, seq dag.Seq) store.Place {
	return store.Place{Conversation: dag.ExternalConversationID("test", name), Seq: seq}
}

// appendText appends a turn that is alone in its conversation.
func appendText(t *testing.T, s store.Store, name string) dag.Turn {
	t.Helper()
	body := slice.AppendBody(nil, &dag.Body{Content: "secret"})
	turn := dag.Turn{
		ID: textTurn(name), Conversation: dag.ExternalConversationID("test", name),
		Role: dag.RoleUser, Phase: dag.Planning, BodyDigest: slice.DigestBody(body, dag.Salt{1}),
	}
	if _, err := s.Append(t.Context(), dag.DefaultTenant, []store.Batch{{{Turn: turn, Body: body, Salt: dag.Salt{1}, Marks: dag.Marks{Rules: dag.Marks1, Voice: dag.VoicePerson}}}}); err != nil {
		t.Fatal(err)
	}
	return turn
}

// oneText returns a store with one turn, the texts of its tenant, and the cut that has the turn.
func oneText(t *testing.T) (*slowStore, *tenantTexts, *cutting) {
	t.Helper()
	ctx := t.Context()
	disk := inmem.Open(&inmem.Disk{}, inmem.Options{})
	t.Cleanup(func() { _ = disk.Close() })
	s := &slowStore{Store: disk}
	turn := appendText(t, s, "1")
	steady := projection.NewStore(s)
	tenants, err := newFollowers(steady, newFactCache(steady, 1), space.NewKept(steady, steady.Still), newTexts(steady, make(turnstile.Turnstile, 1), 1<<20), &Config{WordBytes: 1 << 20}, unobserved, func(dag.Tenant, bool) {})
	if err != nil {
		t.Fatal(err)
	}
	x := tenants.of(dag.DefaultTenant).texts
	record, err := s.Turns(ctx, dag.DefaultTenant, store.IDs{turn.ID})
	if err != nil {
		t.Fatal(err)
	}
	want := &cutting{
		slice: &slice.Slice{Turns: []slice.Selected{{ID: turn.ID}}}, places: []store.Place{{Conversation: turn.Conversation, Seq: 1}},
		prints: []uint64{x.recordPrint(&record[0])},
	}
	return s, x, want
}

func erasedInMidFetch(t *testing.T, ask func(*tenantTexts, *cutting) error, learn func(*tenantTexts, dag.TurnID) error) {
	ctx := t.Context()
	s, x, want := oneText(t)
	turn := want.slice.Turns[0]
	s.meanwhile = func() {
		s.meanwhile = nil
		if _, err := (erasures.Base{History: s}).Erase(ctx, dag.DefaultTenant, erasures.Erasure{Turn: turn.ID, Reason: "asked for"}); err != nil {
			t.Fatal(err)
		}
		if err := learn(x, turn.ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(x, want); err != nil {
		t.Fatal(err)
	}
	if s.meanwhile != nil {
		t.Fatal("nothing happened meanwhile")
	}
	if n := x.kept.Stats().Entries; n != 0 {
		t.Error("the erased text is kept")
	}
}

// TestStoreIsAskedOutside lets one kernel compute one slice at a time, and the store
// never answer the first. The second must not wait for it.
func TestStoreIsAskedOutside(t *testing.T) {
	disk := inmem.Open(&inmem.Disk{}, inmem.Options{})
	defer disk.Close()
	s := &slowStore{Store: disk}
	secret, err := token.DrawSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := token.Keyring{}.Import("k1", secret, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := Open(Config{Store: s, Authority: token.NewAuthority(ring), Clock: func() time.Time { return time.Unix(1, 0) }, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	var some []dag.Draft
	for i := range 2 {
		some = append(some, dag.Draft{
			ID: dag.ExternalTurnID("test", fmt.Sprint(i)), Conversation: dag.ExternalConversationID("test", fmt.Sprint(i)),
			Role: dag.RoleUser, CreatedAt: dag.Time(i), Content: "text",
		})
	}
	if _, err := k.turns().Admit(t.Context(), dag.DefaultTenant, some); err != nil {
		t.Fatal(err)
	}
	asked := false
	s.meanwhile = func() { // while the first text is read
		if asked {
			return
		}
		asked = true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := k.slices().Cut(ctx, dag.DefaultTenant, Request{Anchor: some[1].ID}); err != nil {
			t.Errorf("the second slice waited for the first one's store: %v", err)
		}
	}
	if _, err := k.slices().Cut(t.Context(), dag.DefaultTenant, Request{Anchor: some[0].ID}); err != nil {
		t.Fatal(err)
	}
	if !asked {
		t.Fatal("the store was not asked")
	}
}

// TestTurnstile counts who is inside.
func TestTurnstile(t *testing.T) {
	inside, most, passed := make(turnstile.Turnstile, 3), 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			err := inside.Pass(t.Context(), func() error {
				mu.Lock()
				most = max(most, len(inside))
				passed++
				mu.Unlock()
				runtime.Gosched()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most > 3 || passed != 100 {
		t.Errorf("%d passed, %d at once", passed, most)
	}
	full := make(turnstile.Turnstile)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := full.Pass(ctx, func() error { t.Error("passed"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting in vain gave %v", err)
	}
}

// TestTurnstileEach counts every number once, anyone who else is inside, and stops at a fault.
func TestTurnstileEach(t *testing.T) {
	for _, room := range []int{1, 2, 5} {
		for _, n := range []int{0, 1, 31, 32, 33, 64, 65, 1000} {
			for _, others := range []int{0, room - 1} {
				inside := make(turnstile.Turnstile, room)
				for range others {
					inside <- struct{}{}
				}
				seen := make([]atomic.Int32, n)
				var at, most atomic.Int32
				err := inside.Each(t.Context(), n, func(i int) error {
					now := at.Add(1)
					for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
					}
					runtime.Gosched()
					seen[i].Add(1)
					at.Add(-1)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range seen {
					if seen[i].Load() != 1 {
						t.Fatalf("room for %d, %d numbers: %d was seen %d times", room, n, i, seen[i].Load())
					}
				}
				if int(most.Load()) > room-others || len(inside) != others {
					t.Errorf("room for %d beside %d: %d at once, %d stayed", room, others, most.Load(), len(inside))
				}
				fault := errors.New("fault")
				calls := atomic.Int32{}
				err = inside.Each(t.Context(), n, func(i int) error {
					calls.Add(1)
					if i == n/2 {
						return fault
					}
					return nil
				})
				if n > 0 && !errors.Is(err, fault) || len(inside) != others {
					t.Errorf("room for %d, %d numbers: a fault gave %v, %d stayed", room, n, err, len(inside))
				}
			}
		}
	}
}

// TestTurnstilePanic makes sure that a panic of a helper is the caller's.
func TestTurnstilePanic(t *testing.T) {
	inside, caller := make(turnstile.Turnstile, 2), make(chan struct{})
	helped := false
	for range 100 {
		func() {
			defer func() {
				if p := recover(); p != nil {
					helped = true
				}
			}()
			var once sync.Once
			_ = inside.Each(t.Context(), 64, func(i int) error {
				if i >= 32 {
					once.Do(func() { close(caller) })
					panic("one too many")
				}
				<-caller // so that somebody else takes the second half
				return nil
			})
		}()
		if len(inside) != 0 {
			t.Fatalf("%d stayed", len(inside))
		}
		caller = make(chan struct{})
	}
	if !helped {
		t.Error("nobody panicked")
	}
}
