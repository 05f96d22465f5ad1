// Package kerneltest opens kernels for tests: over every back end, with a fixed clock and repeatable randomness.
package kerneltest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/internal/pgstore"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// Tenant is the tenant whose history the tests write.
const Tenant = dag.DefaultTenant

// Ring returns a keyring with known secrets.
func Ring(t testing.TB, ids ...string) token.Keyring {
	t.Helper()
	var r token.Keyring
	for _, id := range ids {
		sum := sha256.Sum256([]byte(id))
		secret, err := token.NewSecret(sum[:])
		if err != nil {
			t.Fatal(err)
		}
		if r, err = r.Rotate(token.KeyID(id), secret, 0); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Noise returns randomness that a test can repeat.
func Noise(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

// Standing is a clock that always returns the same time.
func Standing() time.Time { return time.Unix(1_780_000_000, 0) }

// Over opens a kernel over a store, with a fixed clock and repeatable randomness.
func Over(t testing.TB, s store.Store, a *token.Authority) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(kernel.Config{
		Store: s, Authority: a, Rand: Noise(1),
		Clock: Standing,
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Somebody returns an identity that a test can repeat.
func Somebody(t testing.TB) identity.Identity {
	t.Helper()
	return must(identity.New(Noise(9), "kernel.example", 0))
}

// Named opens a kernel with an identity.
func Named(t testing.TB, s store.Store, a *token.Authority, id identity.Identity) *kernel.Kernel {
	t.Helper()
	return must(kernel.Open(kernel.Config{Store: s, Authority: a, Rand: Noise(1), Clock: Standing, Identity: id}))
}

// Signing opens a kernel that signs with an identity, and remembers it in a file.
func Signing(t *testing.T, s store.Store, id identity.Identity, path string, asker *witness.Asker) *kernel.Kernel {
	t.Helper()
	return must(kernel.Open(kernel.Config{
		Store: s, Authority: token.NewAuthority(Ring(t, "k1")), Rand: Noise(1), Clock: Standing,
		Identity: id, History: identity.HistoryAt(path), Witnesses: asker,
	}))
}

// Trusting returns a judge who trusts an identity.
func Trusting(t testing.TB, id identity.Identity) evidence.Judge {
	t.Helper()
	return evidence.Judge{Trust: must(ledger.ParseTrust(must(id.Trust(Tenant, ""))))}
}

// Stores opens a store of every back end that tests run on.
var Stores = map[string]func(t testing.TB) store.Store{
	"memory": func(t testing.TB) store.Store {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		t.Cleanup(func() { _ = s.Close() })
		return s
	},
	"sqlite": func(t testing.TB) store.Store {
		s, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	},
	"postgres": func(t testing.TB) store.Store { return pgstore.Open(t) },
}

// EachStore runs a test on a kernel over each back end.
func EachStore(t *testing.T, fn func(t *testing.T, k *kernel.Kernel)) {
	for name, open := range Stores {
		t.Run(name, func(t *testing.T) { fn(t, Over(t, open(t), token.NewAuthority(Ring(t, "k1")))) })
	}
}

// A Racing store lets somebody else act before its next admission.
type Racing struct {
	store.Store
	Before func() // is called once
}

// Append implements [store.Store].
func (s *Racing) Append(ctx context.Context, tenant dag.Tenant, b []store.Batch) (store.Receipt, error) {
	if act := s.Before; act != nil {
		s.Before = nil
		act()
	}
	return s.Store.Append(ctx, tenant, b)
}

// Chain admits n turns of one conversation, each a reply to the turn before.
func Chain(t testing.TB, k *kernel.Kernel, n int) []dag.TurnID {
	t.Helper()
	ids := make([]dag.TurnID, n)
	some := make([]dag.Draft, n)
	for i := range n {
		ids[i] = dag.ExternalTurnID("test", fmt.Sprint("chain/", i))
		some[i] = dag.Draft{
			ID: ids[i], Conversation: dag.ExternalConversationID("test", "chain"), Role: dag.RoleUser, CreatedAt: dag.Time(i),
			Author: "human:user", Content: fmt.Sprintf("turn %d", i), Attrs: map[string]string{dag.AttrExternalID: fmt.Sprint("chain/", i)},
		}
		if i > 0 {
			some[i].Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
		}
	}
	if _, err := k.Turns().Admit(t.Context(), Tenant, some); err != nil {
		t.Fatal(err)
	}
	return ids
}

// Talk admits a conversation about an outage, and returns its turns in order.
func Talk(t testing.TB, k *kernel.Kernel, conversation string) (ids []dag.TurnID) {
	t.Helper()
	said := []struct{ role, author, content string }{
		{"user", "human:anna", "The migration deleted the orders table last night. What happened?"},
		{"assistant", "model:agent", "I will read the migration and the logs of the deploy."},
		{"tool", "tool:shell", "migration 042: DROP TABLE orders; -- cleanup"},
		{"assistant", "model:agent", "Migration 042 drops the orders table. It was meant for staging alone."},
		{"user", "human:anna", "Write a check that refuses DROP TABLE outside of staging."},
		{"assistant", "model:agent", "The check is in store/migrations/check.go, with a test."},
	}
	var drafts []dag.Draft
	for i, s := range said {
		role := must(dag.ParseRole(s.role))
		d := dag.Draft{
			ID: dag.ExternalTurnID("context", fmt.Sprint(conversation, i)), Conversation: dag.ExternalConversationID("context", conversation), Role: role, Author: s.author,
			CreatedAt: dag.Time(1_780_000_000_000_000 + int64(i)*60_000_000), Content: s.content,
		}
		if i > 0 {
			d.Parents = []dag.Parent{{ID: ids[i-1], Kind: dag.Reply}}
		}
		drafts, ids = append(drafts, d), append(ids, d.ID)
	}
	must(k.Turns().Admit(t.Context(), Tenant, drafts))
	return ids
}
