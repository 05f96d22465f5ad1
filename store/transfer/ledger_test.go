package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/kinds"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// A busy store does something before and after each question to it, of the kind that is
// asked for and behind another leaf: nothing that a copy reads is what the source has when
// the copy writes, and leaves that the copy appends itself come in another order.
type busy struct {
	store.Store
	t      *testing.T
	acts   int // that are left
	done   int
	random *rand.Rand
}

func (b *busy) act(kind string) {
	b.t.Helper()
	if b.acts == 0 {
		return
	}
	b.acts--
	b.done++
	ctx, n := b.t.Context(), 2000+b.done
	_, err := storetest.PutLeaves(ctx, b, "a", storetest.LeavesOf("a", n, 1))
	did := func(then error) { err = errors.Join(err, then) }
	switch kind {
	case "turn", "event":
		_, appended := b.Append(ctx, "a", []store.Batch{{storetest.Arrival(n, n%5, "new", n%40+1)}})
		_, erased := storetest.Erase(ctx, b, "a", storetest.Erasure(b.done%40+1))
		did(errors.Join(appended, erased))
	case "act":
		a := storetest.RandomAct(b.random)
		if a.Kind == knowledge.Alias || a.Kind == knowledge.Unalias {
			return // it may be refused
		}
		_, learned := storetest.Facts(b).Learn(ctx, "a", []knowledge.Act{a}, dag.Time(n))
		did(learned)
	case "policy":
		if b.done < 1000 {
			did(registry.Base{History: b}.Put(ctx, "a", storetest.Policy(policy.ID(fmt.Sprintf("new@%d", b.done)), 3)))
		}
	case "issued":
		did(storetest.Issue(ctx, b.Store, "a", storetest.TurnID(b.done%40+1), "wide@1"))
	case "key":
		k := storetest.Key(n)
		k.Tenant = "a"
		did(apikeys.Base{History: b}.Put(ctx, k))
		list, listed := apikeys.Base{History: b.Store}.All(ctx, "a")
		did(listed)
		list = slices.DeleteFunc(list, func(k access.Key) bool { return k.RevokedAt != 0 })
		if len(list) > 5 { // so that some are live in the copy, too
			_, revoked := apikeys.Base{History: b}.Revoke(ctx, "a", list[n%len(list)].ID, storetest.RevokedAt(n))
			did(revoked)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// asked answers a question between two acts.
func asked[T any](b *busy, kind string, question func() (T, error)) (T, error) {
	b.act(kind)
	v, err := question()
	b.act(kind)
	return v, err
}

func (b *busy) Head(ctx context.Context, tenant dag.Tenant) (dag.Seq, error) {
	return asked(b, "turn", func() (dag.Seq, error) { return b.Store.Head(ctx, tenant) })
}

func (b *busy) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	b.act("turn")
	return b.Store.Scan(ctx, tenant, after, c, func(r *store.Record) error {
		switch r.Seq % 10 {
		case 0:
			b.act("event")
		case 5:
			b.act("act")
		}
		return fn(r)
	})
}

func (b *busy) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	return asked(b, "event", func() ([][]history.Term, error) { return b.Store.Terms(ctx, tenant, ranges) })
}

func (b *busy) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	kind := "act"
	if p.Stream == history.Record {
		kind = []string{"policy", "key", "issued"}[b.done%3]
	}
	return asked(b, kind, func() ([]history.Entry, error) { return b.Store.Entries(ctx, tenant, p) })
}

func (b *busy) Log(ctx context.Context, tenant dag.Tenant) (ledger.Tree, error) {
	return asked(b, "", func() (ledger.Tree, error) { return b.Store.Log(ctx, tenant) })
}

// TestLedgerGrowing copies from a source that is written to at each question of the copy,
// more and more of them: its ledger is always what the source's begins with, with the
// leaf of each act, and never forks.
func TestLedgerGrowing(t *testing.T) {
	grew := 0
	for acts := 0; acts < 1200; acts += 13 + acts/8 {
		quiet := filled(t, inMemory(t))
		from, to := &busy{Store: quiet, t: t, acts: acts, random: rand.New(rand.NewPCG(3, 4))}, inMemory(t)
		for copies := range 3 { // the later ones take up what came meanwhile
			reports, err := transfer.Copy(t.Context(), to, from, transfer.Options{Tenants: []dag.Tenant{"a"}, Stretch: 5})
			if err != nil {
				t.Fatalf("%d acts, copy %d: %v", acts, copies, err)
			}
			sound(t, to)
			got := logOf(t, to, "a")
			if counted := reports[0].Leaves; counted.Copied+counted.Existing != int(got.Size) {
				t.Errorf("%d acts, copy %d: %+v leaves of %d", acts, copies, counted, got.Size)
			}
			if err := storetest.Extends(t.Context(), quiet, "a", got); err != nil {
				t.Fatalf("%d acts, copy %d: the ledgers forked: %v", acts, copies, err)
			}
			if got.Size < logOf(t, quiet, "a").Size {
				grew++
			}
		}
		from.acts = 0
		if _, err := transfer.Copy(t.Context(), to, quiet, transfer.Options{Tenants: []dag.Tenant{"a"}}); err != nil {
			t.Fatalf("%d acts: %v", acts, err)
		}
		if got, want := logOf(t, to, "a"), logOf(t, quiet, "a"); got != want {
			t.Errorf("%d acts: the copy's ledger is %+v, the source's %+v", acts, got, want)
		}
		got, copied := storetest.Acts(t.Context(), to, "a", 0, 1<<20)
		want, listed := storetest.Acts(t.Context(), quiet, "a", 0, 1<<20)
		if err := errors.Join(copied, listed, storetest.SameKnowledge(t.Context(), to, "a")); err != nil || !reflect.DeepEqual(got, want) || len(got) < 22 {
			t.Errorf("%d acts: the copy has %d of knowledge, %v, the source %d, the same", acts, len(got), err, len(want))
		}
	}
	if grew < 10 {
		t.Errorf("%d copies ended while the source's ledger grew", grew)
	}
}

// TestLedgerLong copies a ledger of several pages and tiles, in parts.
func TestLedgerLong(t *testing.T) {
	ctx := t.Context()
	from, to := inFile(t), inMemory(t)
	for first, n := range map[int]int{0: 700} {
		if _, err := storetest.PutLeaves(ctx, from, "a", storetest.LeavesOf("a", first, n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []int{700, 701, 1700, 1700} {
		if _, err := storetest.PutLeaves(ctx, from, "a", storetest.LeavesOf("a", 0, size)); err != nil {
			t.Fatal(err)
		}
		reports, err := transfer.Copy(ctx, to, from, transfer.Options{})
		if err != nil || len(reports) != 1 || reports[0].Leaves.Copied+reports[0].Leaves.Existing != size {
			t.Fatalf("%d leaves: %+v, %v", size, reports, err)
		}
		if got, want := logOf(t, to, "a"), logOf(t, from, "a"); got != want || got.Size != uint64(size) {
			t.Errorf("%d leaves: %+v, want %+v", size, got, want)
		}
	}
}

// TestLedgerDiffers returns the target a ledger with which the source's does not begin:
// nothing is written, for any tenant.
func TestLedgerDiffers(t *testing.T) {
	ctx := t.Context()
	leaves := func(s store.Store) []history.Entry {
		list, err := s.Entries(ctx, "b", history.Page{Stream: history.Record, Limit: 99})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	put := func(s store.Store, list []history.Entry) {
		t.Helper()
		for i := range list {
			e := list[i : i+1]
			e[0].Seq = dag.Seq(i + 1)
			c, err := kinds.All().Adopt(history.Record, e)
			if err == nil {
				err = s.Write(ctx, "b", c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	l := ledger.KeyLeaf{Tenant: "b", Purpose: ledger.PurposeToken, Event: ledger.KeyCreated, KeyID: "other"}
	other := history.Entry{Kind: identity.Announced().Kind, Public: l.Append(nil)}
	for name, spoil := range map[string]func([]history.Entry) []history.Entry{
		"one more":      func(list []history.Entry) []history.Entry { return append(list, other) },
		"another":       func([]history.Entry) []history.Entry { return []history.Entry{other} },
		"another order": func(list []history.Entry) []history.Entry { slices.Reverse(list[3:5]); return list[:5] },
		"one left out":  func(list []history.Entry) []history.Entry { return slices.Delete(list, 8, 9) },
		"the last":      func(list []history.Entry) []history.Entry { return append(list[:13], other) },
	} {
		from, to := filled(t, inMemory(t)), inMemory(t)
		put(to, spoil(leaves(from)))
		before := contents(t, to, nil)
		reports, err := transfer.Copy(ctx, to, from, transfer.Options{})
		if !errors.Is(err, transfer.ErrDiffers) || reports != nil || !strings.Contains(err.Error(), "ledger") {
			t.Errorf("%s: %+v, %v, want ErrDiffers", name, reports, err)
		}
		if after := contents(t, to, nil); !slices.Equal(before, after) {
			t.Errorf("%s: the refused copy wrote %q", name, after)
		}
	}
	for n := range 15 { // what is the beginning is no difference, of any length
		from, to := filled(t, inMemory(t)), inMemory(t)
		put(to, leaves(from)[:n])
		if reports, err := transfer.Copy(ctx, to, from, transfer.Options{}); err != nil || reports[1].Leaves != (transfer.Count{Copied: 14 - n, Existing: n}) {
			t.Errorf("the first %d leaves: %+v, %v", n, reports, err)
		}
		if got, want := logOf(t, to, "b"), logOf(t, from, "b"); got != want {
			t.Errorf("the first %d leaves: %+v, want %+v", n, got, want)
		}
	}
}

// misled changes what a source says.
type misled struct {
	store.Store
	leaves func(list []history.Entry) []history.Entry
}

func (m *misled) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	if m.leaves == nil || p.Stream != history.Record {
		return m.Store.Entries(ctx, tenant, p)
	}
	list, err := m.Store.Entries(ctx, tenant, history.Page{Stream: p.Stream, Limit: 99})
	list = m.leaves(list)
	list = list[min(len(list), int(p.After)):]
	return list[:min(len(list), p.Limit)], err
}

// changed makes a lie of a leaf, which becomes that of a key.
func changed(n int, leaf []byte) func([]history.Entry) []history.Entry {
	return func(list []history.Entry) []history.Entry {
		list = slices.Clone(list)
		list[n].Kind, list[n].Public, list[n].Detail = identity.Announced().Kind, leaf, nil
		return list
	}
}

// TestLedgerDamaged copies from a source whose ledger does not fit itself or its acts.
func TestLedgerDamaged(t *testing.T) {
	for name, c := range map[string]struct {
		misled
		want string
	}{
		"a leaf is another": {misled{leaves: changed(3, storetest.LeavesOf("a", 0, 1)[0])}, "the root computed from its"},
		"a leaf is none":    {misled{leaves: changed(3, []byte("no leaf"))}, "leaf 3"},
		"a leaf is there twice": {misled{leaves: func(list []history.Entry) []history.Entry {
			list = slices.Clone(list)
			list[5].Kind, list[5].Public, list[5].Detail = list[3].Kind, list[3].Public, nil
			return list
		}}, "repeats number 4"},
		"two changed places": {misled{leaves: func(list []history.Entry) []history.Entry {
			list = slices.Clone(list)
			list[3].Public, list[4].Public = list[4].Public, list[3].Public
			return list
		}}, "the root computed from its"},
		"another order":      {misled{leaves: func(list []history.Entry) []history.Entry { slices.Reverse(list[3:5]); return list }}, "it must have 3"},
		"leaves are missing": {misled{leaves: func(list []history.Entry) []history.Entry { return list[:6] }}, "no leaf 6"},
	} {
		from := c.misled
		from.Store = filled(t, inMemory(t))
		if _, err := transfer.Copy(t.Context(), inMemory(t), &from, transfer.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to say %q", name, err, c.want)
		}
	}
}
