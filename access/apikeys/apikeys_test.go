package apikeys_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const tenant dag.Tenant = "acme"

// recorded makes two keys and revokes the first, and returns the record.
func recorded(t *testing.T) (apikeys.Base, []history.Entry) {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	b := apikeys.Base{History: s}
	one := access.Key{Tenant: tenant, ID: "00112233445566aa", Role: access.Admin, Note: "\x00 \u2603", Hash: [32]byte{1}, CreatedAt: 5}
	two := access.Key{Tenant: tenant, ID: "00112233445566bb", Role: access.Agent, Hash: [32]byte{2}, CreatedAt: 4, Admits: access.Scope{Roles: "user", Authors: "a*"}}
	var err error
	for _, k := range []access.Key{one, two} {
		err = errors.Join(err, b.Put(t.Context(), k))
	}
	_, revoked := b.Revoke(t.Context(), tenant, one.ID, 9)
	entries, read := s.Entries(t.Context(), tenant, history.Page{Stream: history.Record, Limit: 9})
	if err := errors.Join(err, revoked, read); err != nil || len(entries) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	one.RevokedAt = 9
	if all, err := b.All(t.Context(), tenant); err != nil || !slices.Equal(all, []access.Key{two, one}) {
		t.Fatalf("%+v, %v", all, err)
	}
	return b, entries
}

// TestAdopt takes the record over into another store, and refuses what cannot follow.
func TestAdopt(t *testing.T) {
	from, entries := recorded(t)
	adopt := func(b apikeys.Base, tenant dag.Tenant, list []history.Entry) error {
		c, err := apikeys.Codec{}.Adopt(list)
		if err != nil {
			return err
		}
		return b.Write(t.Context(), tenant, history.Exactly(c, history.Record, list))
	}
	fresh := func() apikeys.Base { return apikeys.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{})} }
	to := fresh()
	if err := errors.Join(adopt(to, tenant, entries[:1]), adopt(to, tenant, entries[1:])); err != nil {
		t.Fatal(err)
	}
	if err := adopt(fresh(), tenant, entries); err != nil {
		t.Errorf("all at once: %v", err)
	}
	want, err := from.All(t.Context(), tenant)
	got, read := to.All(t.Context(), tenant)
	if err := errors.Join(err, read); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	changed := func(n int, change func(*history.Entry)) []history.Entry {
		list := slices.Clone(entries)
		change(&list[n])
		return list
	}
	for name, list := range map[string][]history.Entry{
		"revoked before it was made": {entries[2]},
		"made twice":                 changed(1, func(e *history.Entry) { e.Public, e.Detail = entries[0].Public, entries[0].Detail }),
		"revoked twice":              append(slices.Clone(entries), func() history.Entry { e := entries[2]; e.Seq = 4; return e }()),
		"another kind":               changed(0, func(e *history.Entry) { e.Kind = apikeys.Revoked }),
		"no leaf":                    changed(0, func(e *history.Entry) { e.Public = []byte("{}") }),
		"no detail":                  changed(0, func(e *history.Entry) { e.Detail = nil }),
		"a detail cut short":         changed(0, func(e *history.Entry) { e.Detail = e.Detail[:9] }),
		"spelled otherwise":          changed(0, func(e *history.Entry) { e.Detail = append([]byte(" "), e.Detail...) }),
		"a detail of a revocation":   changed(2, func(e *history.Entry) { e.Detail = []byte("{}") }),
	} {
		if err := adopt(fresh(), tenant, list); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
	if err := adopt(fresh(), "other", entries); !errors.Is(err, dag.ErrForm) {
		t.Errorf("another tenant: %v, want dag.ErrForm", err)
	}
}

// TestUnknown asks for and revokes what is no key.
func TestUnknown(t *testing.T) {
	b, _ := recorded(t)
	for _, id := range []string{"", "0011", "00112233445566cc", "\x00"} {
		if _, err := b.Get(t.Context(), tenant, id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Get of %q: %v", id, err)
		}
		if _, err := b.Revoke(t.Context(), tenant, id, 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Revoke of %q: %v", id, err)
		}
	}
}
