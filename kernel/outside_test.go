package kernel

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
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
	if _, text := of.(store.Places); text {
		s.meanwhile()
	}
	return records, err
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
