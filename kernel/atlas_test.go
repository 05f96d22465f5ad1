package kernel_test

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/token"
)

// TestAtlasSign signs before anything else was: the ledger knows the key then, and another history is refused.
func TestAtlasSign(t *testing.T) {
	id := must(identity.New(noise(5), "kernel.example", 0))
	path := filepath.Join(t.TempDir(), "identity.json.history")
	first := stores["memory"](t)
	k := signing(t, first, id, path, nil)
	chain(t, k, 2)
	statement := func(origin string) []byte {
		return (&attest.AtlasStatement{Tenant: tenant, AsOf: 2, Origin: origin}).Append(nil)
	}
	e := must(attest.ParseEnvelope(must(k.Atlas().Kernel.Seal(t.Context(), tenant, statement))))
	key := id.Attestations(tenant)[0].Key
	payload, _, err := e.Verify(func(string) (ledger.Key, bool) { return key, true })
	if s, failed := attest.ParseAtlasStatement(payload); err != nil || failed != nil || s.Origin != string(id.Origin(tenant)) {
		t.Errorf("%+v, %v, %v", s, err, failed)
	}
	known := false
	for i := range must(k.Ledger().Root(t.Context(), tenant)).Size {
		leaf := must(ledger.ParseLeaf(must(k.Ledger().Prove(t.Context(), tenant, i)).Leaf))
		if l, ok := leaf.(*ledger.KeyLeaf); ok && l.KeyID == key.HexID() {
			known = true
		}
	}
	if !known {
		t.Error("the ledger does not know the key that signed")
	}
	other := signing(t, stores["memory"](t), id, path, nil)
	chain(t, other, 3)
	if _, err := other.Atlas().Kernel.Seal(t.Context(), tenant, statement); !errors.Is(err, notary.ErrForked) {
		t.Errorf("of another history: %v, want ErrForked", err)
	}
	if _, err := over(t, first, token.NewAuthority(ring(t, "k1"))).Atlas().Kernel.Seal(t.Context(), tenant, statement); !errors.Is(err, identity.ErrNone) {
		t.Errorf("without an identity: %v", err)
	}
}

// TestBlameWaits occupies the turnstile that slices pass: blame waits for its turn, too.
func TestBlameWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		defer s.Close()
		k := over(t, s, token.NewAuthority(ring(t, "k1")))
		ids := chain(t, k, 8)
		must(k.Atlas().Blame(t.Context(), tenant, api.BlameQuery{ID: ids[6], Policy: policy.DefaultV1ID})) // the slice is kept, and needs no cut
		leave := k.Occupy()
		answered := false
		done := make(chan error)
		go func() {
			_, err := k.Atlas().Blame(t.Context(), tenant, api.BlameQuery{ID: ids[6], Policy: policy.DefaultV1ID})
			answered = true
			done <- err
		}()
		synctest.Wait()
		if answered {
			t.Error("blame did not wait")
		}
		leave()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
