package policy_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/policy"
)

func bound(t interface{ Fatal(...any) }, id policy.ID, nodes int) policy.Registered {
	p := policy.DefaultV1()
	p.MaxNodes = nodes
	r, err := policy.Bind(id, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFingerprintPinned(t *testing.T) {
	var r policy.Registry
	if got, want := r.Fingerprint(), "ef46db3751d8e999"; got != want {
		t.Errorf("empty: got %s, want %s", got, want)
	}
	first, err := policy.Bind(policy.DefaultV1ID, policy.DefaultV1())
	if err != nil {
		t.Fatal(err)
	}
	second, err := policy.Bind("meeting@1", meeting())
	if err != nil {
		t.Fatal(err)
	}
	add := func(to policy.Registry, p policy.Registered) policy.Registry {
		next, err := to.With(p)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	if got, want := add(r, first).Fingerprint(), "53b7972e2b1880e0"; got != want {
		t.Errorf("default@1: got %s, want %s", got, want)
	}
	if got, want := add(r, second).Fingerprint(), "f674ff90960c7df5"; got != want {
		t.Errorf("meeting@1: got %s, want %s", got, want)
	}
	if got, want := add(add(r, second), first).Fingerprint(), "cb3e64c1fa419bbc"; got != want {
		t.Errorf("both: got %s, want %s", got, want)
	}
	if got := r.Fingerprint(); got != "ef46db3751d8e999" {
		t.Errorf("With changed the registry it was called on: %s", got)
	}
}

// TestRegistryAgainstMap registers few ids again and again and compares with a
// map. Older registries stay what they were.
func TestRegistryAgainstMap(t *testing.T) {
	conflicts, repeats := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var r policy.Registry
		model := map[policy.ID]policy.Registered{}
		type kept struct {
			registry    policy.Registry
			fingerprint string
		}
		var history []kept
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			history = append(history, kept{r, r.Fingerprint()})
			id := policy.ID(rapid.SampledFrom([]string{"a@1", "a@2", "a@10", "a-b@1", "b@1", "0@1", "a.c@3"}).Draw(t, "id"))
			p := bound(t, id, rapid.IntRange(1, 2).Draw(t, "nodes"))
			next, err := r.With(p)
			old, known := model[id]
			switch {
			case known && old != p:
				conflicts++
				if !errors.Is(err, policy.ErrConflict) || next.Fingerprint() != r.Fingerprint() {
					t.Fatalf("%s again with others: got %v, want ErrConflict and no change", id, err)
				}
			case err != nil:
				t.Fatalf("%s: %v", id, err)
			default:
				if known {
					repeats++
				}
				model[id] = p
			}
			r = next
			compare(t, r, model)
		}
		for _, h := range history {
			if got := h.registry.Fingerprint(); got != h.fingerprint {
				t.Fatalf("an older registry changed from %s to %s", h.fingerprint, got)
			}
		}
	})
	if conflicts == 0 || repeats == 0 {
		t.Errorf("%d conflicts, %d repeats", conflicts, repeats)
	}
}

func compare(t *rapid.T, r policy.Registry, model map[policy.ID]policy.Registered) {
	lines := ""
	ids := slices.Sorted(maps.Keys(model))
	all := r.All()
	if len(all) != len(ids) {
		t.Fatalf("%d policies, want %d", len(all), len(ids))
	}
	for i, id := range ids {
		got, err := r.Get(id)
		if err != nil || got != model[id] || all[i] != got {
			t.Fatalf("%s: got %+v, %v, and %+v in All", id, got, err, all[i])
		}
		lines += string(id) + " " + got.Hash().String() + "\n"
	}
	if got, want := r.Fingerprint(), fmt.Sprintf("%016x", xxhash.Sum64String(lines)); got != want {
		t.Fatalf("fingerprint: got %s, want %s", got, want)
	}
	clear(all) // a copy
	if _, err := r.Get("unknown@1"); !errors.Is(err, policy.ErrUnknown) {
		t.Fatalf("got %v, want ErrUnknown", err)
	}
	if len(ids) > 0 {
		if got := r.All()[0]; got != model[ids[0]] {
			t.Fatalf("clearing what All gave changed the registry: %+v", got)
		}
	}
}

// TestRegistryOrder holds that the order of registering does not matter.
func TestRegistryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := []policy.Registered{}
		for i, id := range []policy.ID{"a@1", "b@1", "a@2", "z@9", "m@1"} {
			policies = append(policies, bound(t, id, i+1))
		}
		fingerprints := map[string]bool{}
		for range 3 {
			var r policy.Registry
			for _, p := range rapid.Permutation(policies).Draw(t, "order") {
				next, err := r.With(p)
				if err != nil {
					t.Fatal(err)
				}
				r = next
			}
			fingerprints[r.Fingerprint()] = true
		}
		if len(fingerprints) != 1 {
			t.Errorf("%d fingerprints", len(fingerprints))
		}
	})
}
