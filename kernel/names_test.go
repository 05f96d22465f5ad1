package kernel_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestResolveCommit names commits as git does: in whole, by a beginning, in upper case. A beginning that a turn's id shares fits both turns.
func TestResolveCommit(t *testing.T) {
	ctx := t.Context()
	k := over(t, open(t, "sqlite"), token.NewAuthority(ring(t, "k1")))
	commit := func(hash string) dag.Draft {
		return dag.Draft{ID: dag.ExternalTurnID("git", hash), Conversation: dag.ExternalConversationID("git", "root"), Role: dag.RoleUser, Author: "human:owner", CreatedAt: 1, Content: hash,
			Attrs: map[string]string{dag.AttrExternalID: hash, "commit": "true"}}
	}
	hash, twin, long := "3f2a91c8d0e15b7764a0c2f9b81e4d3377aa0042", "3f2a91c7d0e15b7764a0c2f9b81e4d3377aa0042", "b4210c77d0e15b7764a0c2f9b81e4d3377aa0042b4210c77d0e15b7764a0c2f9"
	drafts := []dag.Draft{commit(hash), commit(twin), commit(long), commit("b4210c77: no digest")}
	shares := commit("another")
	shares.ID = must(dag.ParseTurnID("b4210000-0000-4000-8000-000000000001"))
	must(k.Turns().Admit(ctx, tenant, append(drafts, shares)))
	for name, want := range map[string]dag.TurnID{
		hash: drafts[0].ID, hash[:8]: drafts[0].ID, "3F2A91C8": drafts[0].ID, hash[:39]: drafts[0].ID, twin[:8]: drafts[1].ID,
		long: drafts[2].ID, long[:63]: drafts[2].ID, "b4210000": shares.ID,
	} {
		if got, err := k.Turns().Resolve(ctx, tenant, name); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	for name, want := range map[string][]dag.TurnID{"3f2a91c": {drafts[0].ID, drafts[1].ID}, "b4210c": {drafts[2].ID}, "b421": {shares.ID, drafts[2].ID}} {
		got, err := k.Turns().Resolve(ctx, tenant, name)
		var several *kernel.AmbiguousError
		if len(want) == 1 && (err != nil || got != want[0]) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if len(want) == 2 && (!errors.As(err, &several) || len(several.Fits) != 2 || !slices.Contains(several.Fits, want[0]) || !slices.Contains(several.Fits, want[1])) {
			t.Errorf("%s: %s, %v, want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"3f2", "3f2a91c9", hash + "0", "b4210c77:", ""} {
		if got, err := k.Turns().Resolve(ctx, tenant, name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: %s, %v", name, got, err)
		}
	}
}
