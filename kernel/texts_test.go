package kernel

import (
	"context"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/memory"
)

// A slowStore lets something happen between the reading of text and its return.
type slowStore struct {
	store.Store
	meanwhile func()
}

func (s *slowStore) Placed(ctx context.Context, tenant dag.Tenant, places []store.Place) ([]store.Record, error) {
	records, err := s.Store.Placed(ctx, tenant, places)
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return records, err
}

// TestTextErasedInMidFetch erases a turn after its text was read and before it is
// kept, by another kernel, of which a request learns, or by this one. The text must
// not stay.
func TestTextErasedInMidFetch(t *testing.T) {
	t.Run("elsewhere", func(t *testing.T) {
		erasedInMidFetch(t, func(x *texts, _ dag.TurnID) error {
			_, err := x.sync(t.Context(), dag.DefaultTenant, 2)
			return err
		})
	})
	t.Run("here", func(t *testing.T) {
		erasedInMidFetch(t, func(x *texts, turn dag.TurnID) error {
			x.forget(dag.DefaultTenant, turn)
			return nil
		})
	})
}

func erasedInMidFetch(t *testing.T, learn func(*texts, dag.TurnID) error) {
	ctx := t.Context()
	disk := memory.Open(&memory.Disk{}, memory.Options{})
	defer disk.Close()
	s := &slowStore{Store: disk}
	body := slice.AppendBody(nil, &dag.Body{Content: "secret"})
	turn := dag.Turn{
		ID: dag.ExternalTurnID("test", "1"), Conversation: dag.ExternalConversationID("test", "1"),
		Role: dag.RoleUser, Phase: dag.Planning, BodyDigest: slice.DigestBody(body, dag.Salt{1}),
	}
	if _, err := s.Append(ctx, dag.DefaultTenant, []store.Batch{{{Turn: turn, Body: body, Salt: dag.Salt{1}}}}); err != nil {
		t.Fatal(err)
	}
	x := newTexts(s, 1<<20)
	want := []slice.Selected{{ID: turn.ID}}
	s.meanwhile = func() {
		s.meanwhile = nil
		if _, err := s.Erase(ctx, dag.DefaultTenant, store.Event{Kind: store.Erasure, Turn: turn.ID, Reason: "asked for"}); err != nil {
			t.Fatal(err)
		}
		if err := learn(x, turn.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.encoded(ctx, dag.DefaultTenant, 1, want, []store.Place{{Conversation: turn.Conversation, Seq: 1}}); err != nil {
		t.Fatal(err)
	}
	if s.meanwhile != nil {
		t.Fatal("nothing happened meanwhile")
	}
	if _, kept := x.kept.get(turnKey{dag.DefaultTenant, turn.ID}); kept {
		t.Error("the erased text is kept")
	}
}
