package projection

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
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
			erasedInMidFetch(t, ask, func(x *TenantTexts, _ dag.TurnID) error {
				_, err := x.sync(t.Context(), 2)
				return err
			})
		})
		t.Run("here/"+name, func(t *testing.T) {
			erasedInMidFetch(t, ask, func(x *TenantTexts, turn dag.TurnID) error {
				x.Forget(turn)
				return nil
			})
		})
	}
}

// textAsks are the ways to ask for the text of a turn, as of number 1.
func textAsks(t *testing.T) map[string]func(*TenantTexts, *Cut) error {
	return map[string]func(*TenantTexts, *Cut) error{
		"for a slice": func(x *TenantTexts, c *Cut) error {
			_, err := x.OfCut(t.Context(), 1, c)
			return err
		},
		"for a context": func(x *TenantTexts, c *Cut) error {
			chosen, err := x.Chosen(t.Context(), 1, []dag.TurnID{c.slice.Turns[0].ID}, c.places)
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
			if n := x.all.kept.Stats().Entries; n != 1 {
				t.Fatalf("%d texts are kept, want 1", n)
			}
			turn := want.slice.Turns[0].ID
			if _, err := (erasures.Base{History: s}).Erase(t.Context(), dag.DefaultTenant, erasures.Erasure{Turn: turn, Reason: "asked for"}); err != nil {
				t.Fatal(err)
			}
			if _, err := x.sync(t.Context(), 2); err != nil {
				t.Fatal(err)
			}
			if n := x.all.kept.Stats().Entries; n != 0 {
				t.Error("the erased text is kept")
			}
			if chosen, err := x.Chosen(t.Context(), 2, []dag.TurnID{turn}, want.places); err != nil || len(chosen) != 1 || chosen[0] != nil {
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
		chosen, err := x.Chosen(t.Context(), 2, ids, places)
		if err != nil || chosen[0] == nil || chosen[1] == nil {
			t.Fatalf("%+v, %v", chosen, err)
		}
		return []weak.Pointer[contexts.ChosenTurn]{weak.Make(chosen[0]), weak.Make(chosen[1])}
	}()
	x.Forget(ids[0])
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
		chosen, err := x.Chosen(t.Context(), 2, []dag.TurnID{textTurn("1")}, store.Places{place})
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
	if _, err := s.Append(t.Context(), dag.DefaultTenant, []store.Batch{{{Turn: turn, Body: body, Salt: dag.Salt{1}, Marks: dag.Marks{Rules: dag.Marks1, Voice: dag.VoicePerson, Origin: dag.Origin{Channel: dag.ChannelProgram}}}}}); err != nil {
		t.Fatal(err)
	}
	return turn
}

// oneText returns a store with one turn, the texts of its tenant, and the cut that has the turn.
func oneText(t *testing.T) (*slowStore, *TenantTexts, *Cut) {
	t.Helper()
	ctx := t.Context()
	disk := inmem.Open(&inmem.Disk{}, inmem.Options{})
	t.Cleanup(func() { _ = disk.Close() })
	s := &slowStore{Store: disk}
	turn := appendText(t, s, "1")
	x := NewTexts(NewStore(s), make(turnstile.Turnstile, 1), 1<<20).of(dag.DefaultTenant, follow.New(func(ctx context.Context, after dag.Seq, limit int) ([]history.Entry, error) {
		return s.Entries(ctx, dag.DefaultTenant, history.Page{After: after, Limit: limit})
	}))
	record, err := s.Turns(ctx, dag.DefaultTenant, store.IDs{turn.ID})
	if err != nil {
		t.Fatal(err)
	}
	want := &Cut{
		slice: &slice.Slice{Turns: []slice.Selected{{ID: turn.ID}}}, places: []store.Place{{Conversation: turn.Conversation, Seq: 1}},
		prints: []uint64{x.all.recordPrint(&record[0])},
	}
	return s, x, want
}

func erasedInMidFetch(t *testing.T, ask func(*TenantTexts, *Cut) error, learn func(*TenantTexts, dag.TurnID) error) {
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
	if n := x.all.kept.Stats().Entries; n != 0 {
		t.Error("the erased text is kept")
	}
}
