package settings_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/standing"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const tenant = dag.DefaultTenant

func fresh() settings.Base {
	return settings.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{})}
}

func team(retroactive bool) settings.Setting {
	return settings.Setting{Policy: standing.TeamID, Hash: standing.Team().Hash(), Retroactive: retroactive, At: 1_800_000_000_000_000, By: "local"}
}

func alone() settings.Setting {
	return settings.Setting{Policy: standing.AloneID, Hash: standing.Alone().Hash(), At: 1_800_000_000_000_001}
}

// TestPut records settings and lists them. Setting what is in force changes nothing, unless it is to raise turns.
func TestPut(t *testing.T) {
	ctx, b := t.Context(), fresh()
	if all, err := b.All(ctx, tenant); err != nil || all != nil {
		t.Fatalf("at first: %+v, %v", all, err)
	}
	if newest, err := b.Newest(ctx, tenant); err != nil || newest != (settings.Setting{}) {
		t.Fatalf("the newest at first: %+v, %v", newest, err)
	}
	var want []settings.Setting
	for i, s := range []settings.Setting{team(false), team(false), alone(), team(true), team(true), team(false)} {
		got, err := b.Put(ctx, tenant, dag.Seq(len(want)), s)
		if err != nil {
			t.Fatal(err)
		}
		if repeats := i == 1 || i == 5; repeats {
			if got != want[len(want)-1] {
				t.Errorf("setting %d: got %+v, want the one in force", i, got)
			}
			continue
		}
		s.Seq = dag.Seq(len(want) + 1)
		if want = append(want, s); got != s {
			t.Errorf("setting %d: got %+v, want %+v", i, got, s)
		}
		if newest, err := b.Newest(ctx, tenant); err != nil || newest != s {
			t.Errorf("the newest is %+v, %v, want %+v", newest, err, s)
		}
	}
	all, err := b.All(ctx, tenant)
	if err != nil || !slices.Equal(all, want) || len(all) != 4 {
		t.Errorf("got %+v, %v, want %+v", all, err, want)
	}
	if other, err := b.All(ctx, "another"); err != nil || other != nil {
		t.Errorf("another tenant has %+v, %v", other, err)
	}
}

// TestPutFollows records settings by callers who saw another state than the one there is.
func TestPutFollows(t *testing.T) {
	ctx, b := t.Context(), fresh()
	refused := func(seen dag.Seq, s settings.Setting, says string) {
		t.Helper()
		if _, err := b.Put(ctx, tenant, seen, s); !errors.Is(err, settings.ErrChanged) || !strings.Contains(err.Error(), says) {
			t.Errorf("a setting that follows %d: %v, want ErrChanged, which says %q", seen, err, says)
		}
	}
	refused(1, team(false), "standing-alone@1 is in force")
	if _, err := b.Put(ctx, tenant, 0, team(false)); err != nil {
		t.Fatal(err)
	}
	refused(0, alone(), "standing-team@1 is in force since setting 1, by local")
	refused(0, team(false), "setting 1")
	refused(2, alone(), "setting 1")
	if all, err := b.All(ctx, tenant); err != nil || len(all) != 1 {
		t.Errorf("stored: %+v, %v", all, err)
	}
	if _, err := b.Put(ctx, tenant, 1, alone()); err != nil {
		t.Error(err)
	}
}

// A spoilt history returns entries of which a byte was changed.
type spoilt struct{ history.History }

func (s spoilt) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	entries, err := s.History.Entries(ctx, tenant, p)
	for i := range entries {
		entries[i].Public = append(bytes.Clone(entries[i].Public), ' ')
	}
	return entries, err
}

// TestDamaged reads a setting that is not as it was written: it is damage, and no fault of a request.
func TestDamaged(t *testing.T) {
	b := fresh()
	if _, err := b.Put(t.Context(), tenant, 0, team(false)); err != nil {
		t.Fatal(err)
	}
	if all, err := (settings.Base{History: spoilt{b.History}}).All(t.Context(), tenant); !errors.Is(err, history.ErrDamaged) {
		t.Errorf("%+v, %v, want ErrDamaged", all, err)
	}
	if newest, err := (settings.Base{History: spoilt{b.History}}).Newest(t.Context(), tenant); !errors.Is(err, history.ErrDamaged) {
		t.Errorf("the newest: %+v, %v, want ErrDamaged", newest, err)
	}
}

func TestPutRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*settings.Setting){
		"policy": func(s *settings.Setting) { s.Policy = "Team" },
		"time":   func(s *settings.Setting) { s.At = -1 },
		"caller": func(s *settings.Setting) { s.By = "somebody" },
	} {
		b, s := fresh(), team(false)
		spoil(&s)
		if _, err := b.Put(t.Context(), tenant, 0, s); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
		if all, err := b.All(t.Context(), tenant); err != nil || all != nil {
			t.Errorf("%s: %+v, %v is stored", name, all, err)
		}
	}
}

// TestMost records as many settings as a tenant may have, and one more.
func TestMost(t *testing.T) {
	b := fresh()
	for n := range settings.Max {
		if _, err := b.Put(t.Context(), tenant, dag.Seq(n), team(true)); err != nil {
			t.Fatalf("setting %d: %v", n, err)
		}
	}
	if _, err := b.Put(t.Context(), tenant, settings.Max, team(true)); !errors.Is(err, settings.ErrTooMany) || !strings.Contains(err.Error(), fmt.Sprint(settings.Max)) || !strings.Contains(err.Error(), string(standing.DefaultID)) {
		t.Errorf("one more: %v, want ErrTooMany, which says what is still possible", err)
	}
	if got, err := b.Put(t.Context(), tenant, settings.Max, team(false)); err != nil || got.Seq != settings.Max {
		t.Errorf("the policy in force: %+v, %v", got, err)
	}
	raises := alone()
	raises.Retroactive = true
	if _, err := b.Put(t.Context(), tenant, settings.Max, raises); !errors.Is(err, settings.ErrTooMany) {
		t.Errorf("the default, for turns that are there, too: %v, want ErrTooMany", err)
	}
	for n := range dag.Seq(2) { // going back is possible, and adds one setting
		if got, err := b.Put(t.Context(), tenant, settings.Max+n, alone()); err != nil || got.Seq != settings.Max+1 {
			t.Errorf("the default: %+v, %v", got, err)
		}
	}
	if _, err := b.Put(t.Context(), tenant, settings.Max+1, team(false)); !errors.Is(err, settings.ErrTooMany) {
		t.Errorf("forward again: %v, want ErrTooMany", err)
	}
}

// TestAdopt copies settings, and refuses entries of which any byte was changed or taken away.
func TestAdopt(t *testing.T) {
	ctx, source := t.Context(), fresh()
	for n, s := range []settings.Setting{team(true), alone()} {
		if _, err := source.Put(ctx, tenant, dag.Seq(n), s); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := source.Entries(ctx, tenant, history.Page{Limit: 9})
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	adopt := func(list []history.Entry) ([]settings.Setting, error) {
		b := fresh()
		c, err := settings.Codec{}.Adopt(list)
		if err != nil {
			return nil, err
		}
		if err := b.Write(ctx, tenant, history.Exactly(c, history.Known, list)); err != nil {
			return nil, err
		}
		return b.All(ctx, tenant)
	}
	want, err := source.All(ctx, tenant)
	if got, adopted := adopt(entries); err != nil || adopted != nil || !slices.Equal(got, want) {
		t.Errorf("adopted: %+v, %v, want %+v, %v", got, adopted, want, err)
	}
	refused, other := 0, 0
	for at := range entries[0].Public {
		for _, mangle := range []func(b []byte) []byte{
			func(b []byte) []byte { return slices.Delete(b, at, at+1) },
			func(b []byte) []byte { return slices.Insert(b, at, ' ') },
			func(b []byte) []byte { b[at] ^= 1; return b },
		} {
			e := entries[0]
			e.Public = mangle(bytes.Clone(e.Public))
			if got, err := adopt([]history.Entry{e}); err == nil {
				other++ // another time, policy, digest or caller
				if len(got) != 1 || got[0] == want[0] {
					t.Errorf("%s is read as %+v", e.Public, got)
				}
			} else if refused++; !errors.Is(err, dag.ErrForm) {
				t.Errorf("%s: %v, want dag.ErrForm", e.Public, err)
			}
		}
	}
	if refused < 400 || other == 0 {
		t.Errorf("%d refused, %d read as others", refused, other)
	}
}
