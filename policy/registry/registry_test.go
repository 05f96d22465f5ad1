package registry_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const tenant dag.Tenant = "acme"

func fresh() registry.Base {
	return registry.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{})}
}

// recorded registers a policy of each type, and returns the record.
func recorded(t *testing.T) (registry.Base, []history.Entry) {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	b := registry.Base{History: s}
	for id, params := range map[policy.ID]policy.Parameters{"narrow@1": policy.DefaultV1(), "owners@1": facts.DefaultPolicy()} {
		p, err := policy.Bind(id, params)
		if err := errors.Join(err, b.Put(t.Context(), tenant, p), b.Put(t.Context(), tenant, p)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := s.Entries(t.Context(), tenant, history.Page{Stream: history.Record, Limit: 9})
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	return b, entries
}

// TestAdopt takes the record over into another store, and refuses what was not registered so.
func TestAdopt(t *testing.T) {
	from, entries := recorded(t)
	adoptFor := func(of dag.Tenant, b registry.Base, list []history.Entry) error {
		c, err := registry.Codec{}.Adopt(list)
		if err != nil {
			return err
		}
		return b.Write(t.Context(), of, history.Exactly(c, history.Record, list))
	}
	adopt := func(b registry.Base, list []history.Entry) error { return adoptFor(tenant, b, list) }
	if err := adoptFor("other", fresh(), entries); !errors.Is(err, dag.ErrForm) {
		t.Errorf("of another tenant: %v, want an error of form", err)
	}
	to := fresh()
	if err := errors.Join(adopt(to, entries[:1]), adopt(to, entries[1:])); err != nil {
		t.Fatal(err)
	}
	want, err := from.All(t.Context(), tenant)
	got, read := to.All(t.Context(), tenant)
	if err := errors.Join(err, read); err != nil || len(got.All()) != 2 || got.Fingerprint() != want.Fingerprint() {
		t.Errorf("%v, %v, want %v", got.All(), err, want.All())
	}
	changed := func(change func(*history.Entry)) []history.Entry {
		list := slices.Clone(entries)
		change(&list[0])
		return list
	}
	for name, list := range map[string][]history.Entry{
		"no leaf":              changed(func(e *history.Entry) { e.Public = []byte("{}") }),
		"no parameters":        changed(func(e *history.Entry) { e.Detail = nil }),
		"another's parameters": changed(func(e *history.Entry) { e.Detail = entries[1].Detail }),
		"spelled otherwise":    changed(func(e *history.Entry) { e.Detail = append([]byte(" "), e.Detail...) }),
		"registered twice":     {entries[0], {Seq: 2, Kind: registry.Kind, Public: entries[0].Public, Detail: entries[0].Detail}},
	} {
		if err := adopt(fresh(), list); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want an error of form", name, err)
		}
	}
}

// A damaged history answers with other terms than are there.
type damaged struct {
	history.History
	change func(*history.Term)
}

func (d damaged) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := d.History.Terms(ctx, tenant, ranges)
	for _, list := range lists {
		for i := range list {
			d.change(&list[i])
		}
	}
	return lists, err
}

// TestDamagedDecidesNothing makes sure that a registry whose policies are not what was registered
// is refused as a whole.
func TestDamagedDecidesNothing(t *testing.T) {
	b, _ := recorded(t)
	for name, change := range map[string]func(*history.Term){
		"another hash":      func(t *history.Term) { t.Value[0] ^= 1 },
		"cut short":         func(t *history.Term) { t.Value = t.Value[:20] },
		"no parameters":     func(t *history.Term) { t.Value = t.Value[:32] },
		"other parameters":  func(t *history.Term) { t.Value[len(t.Value)-3] ^= 1 },
		"an id of no form":  func(t *history.Term) { t.Key = []byte("Narrow") },
		"not hashed at all": func(t *history.Term) { t.Value = t.Value[32:] },
	} {
		if r, err := (registry.Base{History: damaged{b.History, change}}).All(t.Context(), tenant); err == nil || len(r.All()) != 0 {
			t.Errorf("%s: %v, %v", name, r.All(), err)
		}
	}
	if r, err := (registry.Base{History: damaged{b.History, func(*history.Term) {}}}).All(t.Context(), tenant); err != nil || len(r.All()) != 2 {
		t.Errorf("undamaged: %v, %v", r.All(), err)
	}
}
