package kernel_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/token"
)

// A gated store blocks the first transaction of issuing until the gate opens, and counts the transactions.
type gated struct {
	store.Store
	gate chan struct{}
	mu   sync.Mutex
	lens []int
}

func (g *gated) Write(ctx context.Context, tenant dag.Tenant, c history.Change) error {
	needs := c.Needs(&history.State{})
	if len(needs.Ranges) == 0 { // it is not issuing
		return g.Store.Write(ctx, tenant, c)
	}
	g.mu.Lock()
	g.lens = append(g.lens, len(needs.Newest))
	first := len(g.lens) == 1
	g.mu.Unlock()
	if first {
		<-g.gate
	}
	return g.Store.Write(ctx, tenant, c)
}

// TestIssuedTogether blocks one commit and makes sure that all slices issued meanwhile share the
// next one.
func TestIssuedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 16
		g := &gated{Store: inmem.Open(&inmem.Disk{}, inmem.Options{}), gate: make(chan struct{})}
		k := must(kernel.Open(kernel.Config{Store: g, Authority: token.NewAuthority(ring(t, "k1")), Rand: noise(1), Clock: standing, Parallel: n}))
		ids := chain(t, k, n)
		var wg sync.WaitGroup
		records := make([]issued.Record, n)
		ask := func(i int) {
			wg.Go(func() {
				issued := must(k.Slices().Cut(context.Background(), tenant, kernel.Request{Anchor: ids[i]}))
				records[i] = issued.Record
			})
		}
		ask(0)
		synctest.Wait()
		for i := 1; i < n; i++ {
			ask(i)
		}
		synctest.Wait() // all of them are in line
		if records[0].Number != 0 || !slices.Equal(g.lens, []int{1}) {
			t.Fatalf("before the first commit ended: record %d, transactions %v", records[0].Number, g.lens)
		}
		close(g.gate)
		wg.Wait()
		if !slices.Equal(g.lens, []int{1, n - 1}) {
			t.Errorf("transactions of %v records", g.lens)
		}
		for i, r := range records {
			if want := must(issued.Base{History: g}.ByID(context.Background(), tenant, r.Provenance.SliceID)); len(want) != 1 || want[0] != r || r.Provenance.Anchor != ids[i] {
				t.Errorf("slice %d got the record of %s", i, r.Provenance.Anchor)
			}
		}
	})
}

// TestIssuingFaults breaks each write step of issuing: lost, or kept and reported failed, and
// then opens the store again. In each case every acknowledged slice is in the ledger, the
// ledger is a continuation of every checkpoint that was signed, and issuing again works.
func TestIssuingFaults(t *testing.T) {
	type opening func(t *testing.T, step func(string) error) store.Store
	kinds := map[string]func(t *testing.T) opening{
		"memory": func(*testing.T) opening {
			disk := &inmem.Disk{}
			return func(_ *testing.T, step func(string) error) store.Store {
				return inmem.Open(disk, inmem.Options{Step: step})
			}
		},
		"memory that heals": func(*testing.T) opening {
			disk := &inmem.Disk{}
			return func(_ *testing.T, step func(string) error) store.Store {
				return inmem.Open(disk, inmem.Options{Step: step, Heals: true})
			}
		},
		"sqlite": func(t *testing.T) opening {
			path := filepath.Join(t.TempDir(), "test.db")
			s, err := sqlite.Create(t.Context(), path, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return func(t *testing.T, step func(string) error) store.Store {
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{Step: step})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
		},
	}
	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			fired := map[string]int{}
			for at, missed := 1, 0; missed < 5; at++ { // how many steps there are depends on who shares a commit
				if !issueWithFault(t, kind(t), at, fired) {
					missed++
				}
			}
			if len(fired) < 6 || fired["committed"] == 0 || fired["log edge"] == 0 && name == "sqlite" {
				t.Errorf("faults at %v", fired)
			}
		})
	}
}

// issueWithFault issues slices by several clients while the at-th write step fails, opens
// the store again and looks at it. It reports whether there was an at-th step.
func issueWithFault(t *testing.T, open func(*testing.T, func(string) error) store.Store, at int, fired map[string]int) bool {
	t.Helper()
	ctx := t.Context()
	id := somebody(t)
	authority := token.NewAuthority(ring(t, "k1"))
	var mu sync.Mutex
	steps, armed := 0, false
	fault := errors.New("a fault")
	s := open(t, func(step string) error {
		mu.Lock()
		defer mu.Unlock()
		if !armed {
			return nil
		}
		if steps++; steps == at {
			fired[step]++
			return fault
		}
		return nil
	})
	k := named(t, s, authority, id)
	ids := chain(t, k, 6)
	must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: ids[0]}))
	before := must(k.Ledger().Checkpoint(ctx, tenant))
	mu.Lock()
	armed = true
	mu.Unlock()
	var acknowledged []*kernel.Issued
	var signed []notary.Checkpoint
	var wg sync.WaitGroup
	for _, anchor := range ids[1:5] {
		wg.Go(func() {
			issued, err := k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: anchor})
			now, cerr := k.Ledger().Checkpoint(ctx, tenant)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				acknowledged = append(acknowledged, issued)
			} else if !errors.Is(err, fault) && !errors.Is(err, store.ErrBroken) {
				t.Errorf("fault %d: %v", at, err)
			}
			if cerr == nil {
				signed = append(signed, now)
			}
		})
	}
	wg.Wait()
	_, _ = k.Turns().Erase(ctx, tenant, ids[0], "asked for")
	hit := steps >= at
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, func(string) error { return nil })
	defer func() { _ = s.Close() }()
	k = named(t, s, authority, id)
	after := must(k.Ledger().Checkpoint(ctx, tenant))
	for _, c := range append(signed, before) {
		proof, err := k.Ledger().ProveConsistency(ctx, tenant, c.Size, after.Root)
		if err == nil {
			err = after.CheckConsistency(c.Root, proof)
		}
		if err != nil {
			t.Fatalf("fault %d: the ledger forked: %v", at, err)
		}
	}
	judge := trusting(t, id)
	for _, i := range acknowledged {
		e, err := k.Ledger().Attest(ctx, tenant, i.Bundle)
		if err != nil {
			t.Fatalf("fault %d: an acknowledged slice is not there: %v", at, err)
		}
		if v := judge.Judge(evidence.Files{Bundle: i.Bundle, Attestation: e.Envelope, Proof: e.Proof}); v.Outcome != evidence.Verified {
			t.Fatalf("fault %d: an acknowledged slice: %s: %s", at, v.Outcome, v.Reason)
		}
	}
	for _, anchor := range ids {
		must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: anchor}))
	}
	report, err := fsck.Store(ctx, s, fsck.Options{})
	if err != nil || !report.OK() {
		t.Fatalf("fault %d: %v, %+v", at, err, report)
	}
	return hit
}
