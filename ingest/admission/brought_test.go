package admission_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/kerneltest"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// TestBroughtIsNoEvidence admits the same turns with keys and without: the leaves, the bundle, the
// statement, the proof, the ledger and the export are the same bytes.
func TestBroughtIsNoEvidence(t *testing.T) {
	const key = "0123456789abcdef"
	eachOf := func(t *testing.T, s store.Store, credential string) map[string][]byte {
		k := named(t, s, token.NewAuthority(ring(t, "k1")), somebody(t))
		ctx := t.Context()
		drafts := kerneltest.Drafts(9)
		must(k.Turns().AdmitWith(ctx, tenant, credential, drafts))
		must(k.Turns().Erase(ctx, tenant, drafts[4].ID, "asked for"))
		issued := must(k.Slices().Cut(ctx, tenant, kernel.Request{Anchor: drafts[8].ID}))
		e := must(k.Ledger().Attest(ctx, tenant, issued.Bundle))
		got := map[string][]byte{"bundle": issued.Bundle, "envelope": e.Envelope, "proof": []byte(e.Proof)}
		err := s.Scan(ctx, tenant, 0, nil, func(r *store.Record) error {
			if r.Key != credential {
				t.Errorf("turn %s was brought by %q, want %q", r.Turn.ID, r.Key, credential)
			}
			got["leaves"] = append(got["leaves"], r.Leaf[:]...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range must(history.Leaves(ctx, s, tenant, 0, 100)) {
			got["ledger"] = append(append(got["ledger"], leaf...), '\n')
		}
		var out bytes.Buffer
		must(k.Turns().Export(ctx, tenant, nil, &out))
		got["export"] = out.Bytes()
		return got
	}
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			without, with := eachOf(t, open(t, name), ""), eachOf(t, open(t, name), key)
			for what, want := range without {
				if !bytes.Equal(with[what], want) || len(want) == 0 {
					t.Errorf("%s: with a key\n%s\nwithout\n%s", what, with[what], want)
				}
				if bytes.Contains(with[what], []byte(key)) {
					t.Errorf("%s: the key's id is in it", what)
				}
			}
		})
	}
}

// TestTurnsBy pages through the turns of each key, of each role and of both, with every size of
// page, and compares with a listing that is filtered by the test.
func TestTurnsBy(t *testing.T) {
	eachStore(t, func(t *testing.T, k *kernel.Kernel) {
		ctx := t.Context()
		keys := []string{"0123456789abcdef", "jwt:ci", "fedcba9876543210"}
		roles := []dag.Role{dag.RoleUser, dag.RoleAssistant, dag.RoleTool, dag.RoleSystem}
		want := map[kernel.TurnFilter][]dag.TurnID{}
		for _, key := range append(keys, "") {
			for _, role := range append(roles, 0) {
				want[kernel.TurnFilter{Credential: key, Role: role}] = nil
			}
		}
		for i, d := range kerneltest.Drafts(20) {
			key := keys[i*i%len(keys)]         // the last brings none
			d.Role = roles[i/2%(len(roles)-1)] // and of the last there is none
			must(k.Turns().AdmitWith(ctx, tenant, key, []dag.Draft{d}))
			for only := range want {
				if (only.Credential == "" || only.Credential == key) && (only.Role == 0 || only.Role == d.Role) {
					want[only] = append(want[only], d.ID)
				}
			}
		}
		conversation := dag.ExternalConversationID("brought", "c")
		for only := range want {
			for limit := 1; limit < 22; limit++ {
				var got []dag.TurnID
				for after, more := dag.Seq(0), true; more; {
					records, last, goesOn, err := k.Turns().By(ctx, tenant, only, after, &conversation, limit, 1<<20)
					if err != nil || len(records) > limit || goesOn && last <= after {
						t.Fatalf("after %d: %d turns, up to %d, %v", after, len(records), last, err)
					}
					for i := range records {
						got = append(got, records[i].Turn.ID)
					}
					after, more = last, goesOn
				}
				if !slices.Equal(got, want[only]) {
					t.Errorf("%+v, %d a page: got %v, want %v", only, limit, got, want[only])
				}
			}
		}
		of := func(key string, role dag.Role) int { return len(want[kernel.TurnFilter{Credential: key, Role: role}]) }
		if of(keys[0], 0) == 0 || of(keys[1], 0) == 0 || of(keys[2], 0) != 0 || of("", dag.RoleTool) == 0 || of("", dag.RoleSystem) != 0 || of("", 0) != 20 ||
			of(keys[0], dag.RoleUser) == 0 || of(keys[0], dag.RoleUser) == of("", dag.RoleUser) {
			t.Errorf("this test shows nothing: %v", want)
		}
	})
}

// TestTurnsByLooksAtSoMany asks a long conversation for what is not in it: an answer comes after
// 10 000 turns, and says where to go on.
func TestTurnsByLooksAtSoMany(t *testing.T) {
	k := over(t, open(t, "memory"), token.NewAuthority(ring(t, "k1")))
	ctx := t.Context()
	const amount = 10_001
	must(k.Turns().Admit(ctx, tenant, kerneltest.Drafts(amount)))
	only := kernel.TurnFilter{Role: dag.RoleTool}
	for _, c := range []struct {
		after, last dag.Seq
		more        bool
	}{{0, amount - 1, true}, {amount - 1, amount, false}} {
		records, last, more, err := k.Turns().By(ctx, tenant, only, c.after, nil, 10, 1<<20)
		if err != nil || len(records) != 0 || last != c.last || more != c.more {
			t.Errorf("after %d: %d turns, up to %d, more %v, %v", c.after, len(records), last, more, err)
		}
	}
}
