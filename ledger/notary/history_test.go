package notary_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/ledger/witness"
)

// TestHistoryIsBound signs for one store, and then opens others with the same identity: one that
// continues the history goes on, and one that does not is refused, whatever it is asked to issue or
// to sign, until the history is adopted.
func TestHistoryIsBound(t *testing.T) {
	id := must(identity.New(noise(5), "kernel.example", 0))
	path := filepath.Join(t.TempDir(), "identity.json.history")
	first := stores["memory"](t)
	k := signing(t, first, id, path, nil)
	ids := chain(t, k, 4)
	issued := must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[3]}))
	must(k.Ledger().Attest(t.Context(), tenant, issued.Bundle))
	before := must(k.Ledger().Root(t.Context(), tenant))

	again := signing(t, first, id, path, nil)
	must(again.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[2]}))
	must(again.Ledger().Checkpoint(t.Context(), tenant))

	second := stores["memory"](t)
	other := signing(t, second, id, path, nil)
	chain(t, other, 3)
	refused := func(k *kernel.Kernel) {
		t.Helper()
		_, slicing := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[2]})
		_, signs := k.Ledger().Checkpoint(t.Context(), tenant)
		for what, err := range map[string]error{"slice": slicing, "checkpoint": signs} {
			if !errors.Is(err, notary.ErrForked) || !strings.Contains(err.Error(), "identity adopt") {
				t.Errorf("%s: got %v, want ErrForked that says what to do", what, err)
			}
		}
	}
	refused(other)
	if r := must(other.Ledger().Root(t.Context(), tenant)); r.Size != 0 {
		t.Errorf("the refused kernel wrote %d leaves", r.Size)
	}

	was, now, err := notary.AdoptHistory(t.Context(), second, identity.HistoryAt(path), id, tenant)
	if err != nil || was == nil || was.Root.Size < before.Size || now.Size != 0 {
		t.Fatalf("adopting gave %+v, %+v, %v", was, now, err)
	}
	other = signing(t, second, id, path, nil)
	must(other.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[2]}))
	must(other.Ledger().Checkpoint(t.Context(), tenant))
	refused(signing(t, first, id, path, nil))
}

// TestWitnessedFork has a witness that has cosigned another history: from its answer on nothing is
// issued, by this process and by the next, and the check of the store says so.
func TestWitnessedFork(t *testing.T) {
	id := must(identity.New(noise(5), "kernel.example", 0))
	path := filepath.Join(t.TempDir(), "identity.json.history")
	status := http.StatusServiceUnavailable
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	asker := witness.NewAsker(server.Client(), []ledger.TrustedWitness{{Name: "w", Key: must(id.Witness()).Key(), URL: server.URL}})
	s := stores["memory"](t)
	open := func() *kernel.Kernel { return signing(t, s, id, path, asker) }
	k := open()
	ids := chain(t, k, 4)
	must(k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[3]}))
	must(k.Ledger().Checkpoint(t.Context(), tenant)) // a witness that is out of reach stops nothing
	status = http.StatusUnprocessableEntity
	k = open()
	if _, err := k.Ledger().Checkpoint(t.Context(), tenant); !errors.Is(err, notary.ErrForked) || !strings.Contains(err.Error(), "w: ") {
		t.Errorf("got %v, want ErrForked that names the witness", err)
	}
	status = http.StatusServiceUnavailable
	for _, k := range []*kernel.Kernel{k, open()} {
		if _, err := k.Slices().Cut(t.Context(), tenant, kernel.Request{Anchor: ids[1]}); !errors.Is(err, notary.ErrForked) {
			t.Errorf("a slice after that gave %v", err)
		}
	}
	last, ok, err := identity.HistoryAt(path).Last(id.Origin(tenant))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := notary.Continues(context.Background(), s, tenant, last); !errors.Is(err, notary.ErrForked) {
		t.Errorf("the check of the store gave %v", err)
	}
}
