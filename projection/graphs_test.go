package projection

import (
	"context"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
)

// A watchedStore tells when conversations are asked for.
type watchedStore struct {
	store.Store
	asked func(parts []store.Part)
}

func (s watchedStore) Segment(ctx context.Context, tenant dag.Tenant, parts []store.Part) (store.Segment, error) {
	s.asked(parts)
	return s.Store.Segment(ctx, tenant, parts)
}

// TestGraphTogether misses a conversation while another reader of the same graph adds it: that is no damage.
func TestGraphTogether(t *testing.T) {
	inner := inmem.Open(&inmem.Disk{}, inmem.Options{})
	defer inner.Close()
	one, two := dag.ExternalConversationID("test", "one"), dag.ExternalConversationID("test", "two")
	asked := make(chan struct{})
	s := watchedStore{inner, func(parts []store.Part) {
		if slices.ContainsFunc(parts, func(p store.Part) bool { return p.Conversation == two }) {
			close(asked)
		}
	}}
	gs := NewGraphs(NewStore(s), NewEnds(NewStore(s)), &Heads{}, 1<<20)
	other := make(chan error, 1)
	calls := 0
	_, err := gs.View(t.Context(), dag.DefaultTenant, one, 0, nil, func(dag.View, dag.Seq) error {
		if calls++; calls > 1 {
			return nil
		}
		go func() {
			_, err := gs.View(t.Context(), dag.DefaultTenant, one, 0, []dag.ConversationID{two}, func(dag.View, dag.Seq) error { return nil })
			other <- err
		}()
		<-asked // it adds the conversation, before anybody else can ask what is held
		return &slice.MissingError{Conversations: []dag.ConversationID{two}}
	})
	if err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := <-other; err != nil {
		t.Error(err)
	}
	// What is missed although it is held is damage.
	_, err = gs.View(t.Context(), dag.DefaultTenant, one, 0, nil, func(dag.View, dag.Seq) error {
		return &slice.MissingError{Conversations: []dag.ConversationID{two}}
	})
	if err == nil {
		t.Error("a graph that lacks what it holds is taken")
	}
}
