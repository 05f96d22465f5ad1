package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/kinds"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

func TestCopy(t *testing.T) {
	for name, stores := range map[string][2]func(*testing.T) store.Store{
		"memory to sqlite": {inMemory, inFile},
		"sqlite to memory": {inFile, inMemory},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := filled(t, stores[0](t)), stores[1](t)
			told := dag.Seq(0)
			o := transfer.Options{Progress: func(_ dag.Tenant, done, total dag.Seq) {
				if told = done; total != 65 {
					t.Errorf("progress of %d", total)
				}
			}}
			reports, err := transfer.Copy(t.Context(), to, from, o)
			if err != nil {
				t.Fatal(err)
			}
			want := []transfer.Tenant{
				{"a", 65, transfer.Count{40, 0}, transfer.Count{3, 0}, transfer.Count{22, 0}, recorded(transfer.Count{2, 0}, transfer.Count{3, 0}, transfer.Count{1, 0}, transfer.Count{3, 0}, transfer.Count{5, 0}), transfer.Count{14, 0}, transfer.Count{2, 0}},
				{"b", 65, transfer.Count{40, 0}, transfer.Count{3, 0}, transfer.Count{22, 0}, recorded(transfer.Count{2, 0}, transfer.Count{3, 0}, transfer.Count{1, 0}, transfer.Count{3, 0}, transfer.Count{5, 0}), transfer.Count{14, 0}, transfer.Count{2, 0}},
				{Name: "only-a-key", Record: recorded(transfer.Count{}, transfer.Count{1, 0}, transfer.Count{}, transfer.Count{}, transfer.Count{}), Leaves: transfer.Count{1, 0}},
			}
			if !reflect.DeepEqual(reports, want) || told != 65 {
				t.Errorf("got %+v, told %d, want %+v", reports, told, want)
			}
			sound(t, to)
			if got, want := contents(t, to, nil), contents(t, from, nil); !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}

			// Again, and after more was written: an erasure of what was copied among it, and acts
			// that end what is believed in the copy.
			ending := storetest.Assertion(1, 1, 9, 5, "user")
			ending.Supersedes = []knowledge.ID{idOf(storetest.Assertion(1, 1, 5, 0, "user"))}
			retraction := knowledge.Act{Kind: knowledge.Retract, Statement: idOf(storetest.Assertion(2, 3, 4, 0, "user"))}
			if _, err := storetest.Facts(from).Learn(t.Context(), "a", []knowledge.Act{ending, retraction}, 7); err != nil {
				t.Fatal(err)
			}
			if err := storetest.Issue(t.Context(), from, "a", storetest.TurnID(33), "wide@1"); err != nil {
				t.Fatal(err)
			}
			if _, err := storetest.Erase(t.Context(), from, "a", storetest.Erasure(8)); err != nil {
				t.Fatal(err)
			}
			if _, err := (apikeys.Base{History: from}).Revoke(t.Context(), "only-a-key", storetest.Key(1).ID, 9); err != nil {
				t.Fatal(err)
			}
			for i, head := range []transfer.Tenant{
				{"a", 68, transfer.Count{0, 40}, transfer.Count{1, 3}, transfer.Count{2, 22}, recorded(transfer.Count{0, 2}, transfer.Count{0, 3}, transfer.Count{0, 1}, transfer.Count{1, 3}, transfer.Count{1, 5}), transfer.Count{2, 14}, transfer.Count{0, 2}},
				{"a", 68, transfer.Count{0, 40}, transfer.Count{0, 4}, transfer.Count{0, 24}, recorded(transfer.Count{0, 2}, transfer.Count{0, 3}, transfer.Count{0, 1}, transfer.Count{0, 4}, transfer.Count{0, 6}), transfer.Count{0, 16}, transfer.Count{0, 2}},
			} {
				reports, err = transfer.Copy(t.Context(), to, from, transfer.Options{})
				if err != nil || !reflect.DeepEqual(reports[0], head) {
					t.Errorf("copy %d gave %+v, %v, want %+v", i+2, reports[0], err, head)
				}
			}
			sound(t, to)
			if got, want := contents(t, to, nil), contents(t, from, nil); !slices.Equal(got, want) {
				t.Errorf("after a second copy: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func idOf(a knowledge.Act) knowledge.ID { return a.Fact.ID() }

// TestOneTenant copies one tenant of several.
func TestOneTenant(t *testing.T) {
	from, to := filled(t, inMemory(t)), inMemory(t)
	if reports, err := transfer.Copy(t.Context(), to, from, transfer.Options{Tenants: []dag.Tenant{"b"}}); err != nil || len(reports) != 1 {
		t.Fatalf("%+v, %v", reports, err)
	}
	if names, err := transfer.Tenants(t.Context(), to); err != nil || !slices.Equal(names, []dag.Tenant{"b"}) {
		t.Errorf("the copy has %q, %v", names, err)
	}
}

// long fills a tenant with more than fits into a stretch, by number and by bytes, and
// with many events and many acts in a row.
func long(t *testing.T, s store.Store) {
	t.Helper()
	ctx := t.Context()
	var b store.Batch
	for n := range 2500 {
		a := storetest.Arrival(n, n%3, fmt.Sprint("turn ", n))
		if n > 3 {
			a = storetest.Arrival(n, n%3, fmt.Sprint("turn ", n), n-1, n-3)
		}
		b = append(b, a)
	}
	for n := range 5 {
		b = append(b, storetest.Arrival(3000+n, 1, strings.Repeat("long ", 600_000)))
	}
	stretch := storetest.Stretch{Records: storetest.Records(1, nil, b)}
	for n := range 2200 {
		stretch.Events = append(stretch.Events, storetest.Erased(dag.Seq(len(b)+n+1), n))
	}
	if err := storetest.Adopt(ctx, s, "long", stretch); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, "long", []store.Batch{storetest.Chain(5000, 3, 2)}); err != nil {
		t.Fatal(err)
	}
	var acts []knowledge.Act
	for n := range 700 {
		acts = append(acts, storetest.Assertion(n%70, 1, n, dag.PPM(n), "user"))
	}
	if _, err := storetest.Facts(s).Learn(ctx, "long", acts, 1); err != nil {
		t.Fatal(err)
	}
}

// counting notes what Adopt is given.
type counting struct {
	store.Store
	stretches, numbers, bytes, edges int
}

func (c *counting) Adopt(ctx context.Context, tenant dag.Tenant, s store.Stretch) error {
	c.stretches++
	c.numbers = max(c.numbers, len(s.Records)+len(s.Entries))
	bytes, edges := 0, 0
	for i := range s.Records {
		bytes += len(s.Records[i].Body)
		edges += len(s.Records[i].Parents)
	}
	c.edges = max(c.edges, edges)
	c.bytes = max(c.bytes, bytes)
	return c.Store.Adopt(ctx, tenant, s)
}

func TestStretches(t *testing.T) {
	from, to := inMemory(t), &counting{Store: inMemory(t)}
	long(t, from)
	if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if to.stretches < 4 || to.numbers > 2000 || to.bytes > 12<<20 || to.bytes < 8<<20 {
		t.Errorf("%d stretches, of %d numbers and %d bytes at most", to.stretches, to.numbers, to.bytes)
	}
	sound(t, to)
	if !slices.Equal(contents(t, to, nil), contents(t, from, nil)) {
		t.Errorf("the copy differs")
	}
}

// TestResume lets the target fail at each of its steps in turn, before and after the
// commit, and copies again: what is there then is what a copy gives that runs through.
func TestResume(t *testing.T) {
	from := filled(t, inMemory(t))
	want := contents(t, from, nil)
	fault := errors.New("fault")
	fired, resumed := 0, 0
	for at := 0; ; at++ {
		disk, step := &inmem.Disk{}, 0
		to := inmem.Open(disk, inmem.Options{Step: func(string) error {
			if step++; step == at+1 {
				return fault
			}
			return nil
		}})
		_, err := transfer.Copy(t.Context(), to, from, transfer.Options{Stretch: 7})
		if err == nil {
			break
		}
		if !errors.Is(err, fault) {
			t.Fatalf("fault %d: %v", at, err)
		}
		fired++
		again := inmem.Open(disk, inmem.Options{})
		soundSoFar(t, again, from)
		reports, err := transfer.Copy(t.Context(), again, from, transfer.Options{Stretch: 7})
		if err != nil {
			t.Fatalf("fault %d: the copy again: %v", at, err)
		}
		for _, r := range reports {
			if r.Turns.Existing > 0 && r.Turns.Copied > 0 {
				resumed++
			}
		}
		if at%10 == 0 {
			sound(t, again)
		}
		if got := contents(t, again, nil); !slices.Equal(got, want) {
			t.Fatalf("fault %d: the copy again differs", at)
		}
	}
	if fired < 50 || resumed < 5 {
		t.Errorf("%d faults fired, %d copies went on within a history", fired, resumed)
	}
}

// TestCancelled ends a copy's context at each stretch.
func TestCancelled(t *testing.T) {
	from := inMemory(t)
	long(t, from)
	for stop := 1; ; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		to, told := inMemory(t), 0
		_, err := transfer.Copy(ctx, to, from, transfer.Options{Progress: func(dag.Tenant, dag.Seq, dag.Seq) {
			if told++; told == stop {
				cancel()
			}
		}})
		cancel()
		if err == nil || told < stop {
			if stop < 3 {
				t.Errorf("only %d stretches", told)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at %d: %v", stop, err)
		}
		if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(contents(t, to, nil), contents(t, from, nil)) {
			t.Errorf("cancelled at %d: the copy again differs", stop)
		}
	}
}

// TestDiffers returns the target something that the source has not, or otherwise: the
// copy is refused before it writes anything, for any tenant.
func TestDiffers(t *testing.T) {
	ctx := t.Context()
	for name, spoil := range map[string]func(to store.Store) error{
		"ahead": func(to store.Store) error {
			if _, err := transfer.Copy(ctx, to, filled(t, inMemory(t)), transfer.Options{Tenants: []dag.Tenant{"b"}}); err != nil {
				return err
			}
			_, err := to.Append(ctx, "b", []store.Batch{{storetest.Arrival(90, 0, "ahead")}})
			return err
		},
		"another turn": func(to store.Store) error {
			_, err := to.Append(ctx, "b", []store.Batch{{storetest.Arrival(90, 0, "another")}})
			return err
		},
		"another text": func(to store.Store) error {
			_, err := to.Append(ctx, "b", []store.Batch{{storetest.Arrival(1, 1, "another")}})
			return err
		},
		"a turn that another key brought": func(to store.Store) error {
			a := storetest.Arrival(1, 1, "turn 1 of b")
			a.Key = storetest.Key(9).ID
			_, err := to.Append(ctx, "b", []store.Batch{{a}})
			return err
		},
		"a turn that no key brought": func(to store.Store) error {
			a := storetest.Arrival(1, 1, "turn 1 of b")
			a.Key = ""
			_, err := to.Append(ctx, "b", []store.Batch{{a}})
			return err
		},
		"a turn with another cost": func(to store.Store) error {
			a := storetest.Arrival(1, 1, "turn 1 of b")
			a.Marks.Cost++
			_, err := to.Append(ctx, "b", []store.Batch{{a}})
			return err
		},
		"a turn with another thing": func(to store.Store) error {
			a := storetest.Arrival(1, 1, "turn 1 of b")
			a.Marks.Things = []dag.Thing{{9}}
			_, err := to.Append(ctx, "b", []store.Batch{{a}})
			return err
		},
		"another key of marks": func(to store.Store) error {
			return to.Swap(ctx, "b", marks.Cell, nil, bytes.Repeat([]byte{1}, 32))
		},
		"another event": func(to store.Store) error {
			_, err := to.Append(ctx, "b", []store.Batch{{storetest.Arrival(1, 1, "turn 1 of b")}})
			if err == nil {
				_, err = storetest.Erase(ctx, to, "b", storetest.Erasure(1))
			}
			return err
		},
		"an event with another reason": func(to store.Store) error {
			return adopted(t, to, 20, func(s *storetest.Stretch) {
				e := storetest.Erased(21, 3)
				e.Reason = "another"
				s.Events = append(s.Events, e)
			})
		},
		"no event": func(to store.Store) error {
			return storetest.Adopt(ctx, to, "b", storetest.Stretch{Records: storetest.Records(1, nil, storetest.Chain(500, 22, 0))})
		},
		"another act": func(to store.Store) error {
			return adopted(t, to, 40, func(s *storetest.Stretch) {
				e := &s.Entries[2]
				r, err := knowledge.FromEntry(e)
				if err != nil {
					t.Fatal(err)
				}
				r.Act.Fact.Source = "another"
				again := r.Entry()
				again.Part, again.Parts = e.Part, e.Parts
				*e = again
			})
		},
		"an act of another change": func(to store.Store) error {
			return adopted(t, to, 40, func(s *storetest.Stretch) {
				s.Entries[0].Part, s.Entries[0].Parts = 0, 0
				for i := 1; i < 6; i++ {
					s.Entries[i].Part, s.Entries[i].Parts = uint32(i), 5
				}
			})
		},
		"an act of another time": func(to store.Store) error {
			return adopted(t, to, 40, func(s *storetest.Stretch) { s.Entries[2].At++ })
		},
		"an act where a turn is": func(to store.Store) error {
			err := adopted(t, to, 31, func(*storetest.Stretch) {})
			_, learned := storetest.Facts(to).Learn(ctx, "b", []knowledge.Act{storetest.Assertion(1, 1, 2, 5, "user")}, 1)
			return errors.Join(err, learned)
		},
		"a turn where an act is": func(to store.Store) error {
			err := adopted(t, to, 32, func(*storetest.Stretch) {})
			_, appended := to.Append(ctx, "b", []store.Batch{{storetest.Arrival(90, 0, "ahead")}})
			return errors.Join(err, appended)
		},
		"another policy": func(to store.Store) error {
			return registry.Base{History: to}.Put(ctx, "b", storetest.Policy("wide@1", 3))
		},
		"a policy more": func(to store.Store) error {
			return registry.Base{History: to}.Put(ctx, "b", storetest.Policy("more@1", 3))
		},
		"another issued slice": func(to store.Store) error {
			_, err := storetest.PutIssued(ctx, to, "b", storetest.Issued(1, 1))
			return err
		},
		"another witnessed root": func(to store.Store) error {
			return witness.Roots{Cells: to}.Replace(ctx, "b", "log1.example", ledger.Root{}, ledger.Root{Size: 8, Hash: ledger.Hash{9}})
		},
		"a later witnessed root": func(to store.Store) error {
			return witness.Roots{Cells: to}.Replace(ctx, "b", "log1.example", ledger.Root{}, ledger.Root{Size: 9, Hash: ledger.Hash{1}})
		},
		"another witnessed log": func(to store.Store) error {
			return witness.Roots{Cells: to}.Replace(ctx, "b", "log2.example", ledger.Root{}, ledger.Root{Size: 1})
		},
		"another key":              func(to store.Store) error { return apikeys.Base{History: to}.Put(ctx, keyOf(7)) },
		"a key with another field": func(to store.Store) error { k := keyOf(1); k.CreatedAt++; return apikeys.Base{History: to}.Put(ctx, k) },
		"a key that is revoked": func(to store.Store) error {
			if err := (apikeys.Base{History: to}).Put(ctx, keyOf(2)); err != nil {
				return err
			}
			_, err := apikeys.Base{History: to}.Revoke(ctx, "b", keyOf(2).ID, 5)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := filled(t, inMemory(t)), inMemory(t)
			if err := spoil(to); err != nil {
				t.Fatal(err)
			}
			before := contents(t, to, nil)
			if reports, err := transfer.Copy(ctx, to, from, transfer.Options{}); !errors.Is(err, transfer.ErrDiffers) || len(reports) > 0 {
				t.Errorf("got %v, %v, want ErrDiffers", reports, err)
			}
			if after := contents(t, to, nil); len(before) == 0 || !slices.Equal(before, after) {
				t.Errorf("the refused copy wrote:\n%s", strings.Join(after, "\n"))
			}
		})
	}
}

// adopted brings the history of tenant b up to a number into a store, once it was changed, and
// all of its ledger.
func adopted(t *testing.T, to store.Store, last dag.Seq, change func(*storetest.Stretch)) error {
	t.Helper()
	ctx, from := t.Context(), filled(t, inMemory(t))
	var stretch storetest.Stretch
	scanned := from.Scan(ctx, "b", 0, nil, func(r *store.Record) error {
		if r.Seq <= last {
			stretch.Records = append(stretch.Records, *r)
		}
		return nil
	})
	events, listed := storetest.Events(ctx, from, "b", 0, 1<<20)
	stretch.Events = slices.DeleteFunc(events, func(e erasures.Erasure) bool { return e.Seq > last })
	entries, learned := from.Entries(ctx, "b", history.Page{Limit: 1 << 20})
	stretch.Entries = slices.DeleteFunc(entries, func(e history.Entry) bool { return e.Seq > last || e.Kind == erasures.Kind })
	record, logged := from.Entries(ctx, "b", history.Page{Stream: history.Record, Limit: 1 << 20})
	leaves, planned := kinds.All().Adopt(history.Record, record)
	if err := errors.Join(scanned, listed, learned, logged, planned); err != nil {
		return err
	}
	change(&stretch)
	return errors.Join(to.Write(ctx, "b", leaves), to.Adopt(ctx, "b", stretch.Store()))
}

func keyOf(n int) (k access.Key) {
	k = storetest.Key(n)
	k.Tenant = "b"
	return k
}

// TestRevokedKeys ends the caller's context as soon as a part of the record is written: a revoked
// key is not live in the target.
func TestRevokedKeys(t *testing.T) {
	from, to := filled(t, inMemory(t)), inMemory(t)
	for cuts := 0; ; cuts++ {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := transfer.Copy(ctx, &cutting{to, cancel}, from, transfer.Options{Tenants: []dag.Tenant{"a"}})
		cancel()
		keys, listed := apikeys.Base{History: to}.All(t.Context(), "a")
		if listed != nil {
			t.Fatal(listed)
		}
		for _, k := range keys {
			want, err := apikeys.Base{History: from}.Get(t.Context(), "a", k.ID)
			if err != nil || k != want {
				t.Errorf("after %d cuts the target has %+v, the source %+v, %v", cuts+1, k, want, err)
			}
		}
		if err == nil {
			if cuts == 0 || len(keys) != 3 {
				t.Errorf("cut short %d times; %d keys, want 3", cuts, len(keys))
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}

	// What was revoked since is revoked before history is copied.
	ctx := t.Context()
	if _, err := (apikeys.Base{History: from}).Revoke(ctx, "a", storetest.Key(0).ID, 9); err != nil {
		t.Fatal(err)
	}
	if _, err := from.Append(ctx, "a", []store.Batch{{storetest.Arrival(900, 1, "new")}}); err != nil {
		t.Fatal(err)
	}
	fault := errors.New("fault")
	if _, err := transfer.Copy(ctx, &unwilling{to, fault}, from, transfer.Options{Tenants: []dag.Tenant{"a"}}); !errors.Is(err, fault) {
		t.Fatal(err)
	}
	if k, err := (apikeys.Base{History: to}).Get(ctx, "a", storetest.Key(0).ID); err != nil || k.RevokedAt != 9 {
		t.Errorf("got %+v, %v", k, err)
	}
}

// cutting ends a context when a part of the record was written.
type cutting struct {
	store.Store
	cut func()
}

func (c *cutting) Write(ctx context.Context, tenant dag.Tenant, change history.Change) error {
	err := c.Store.Write(ctx, tenant, change)
	c.cut()
	return err
}

// unwilling adopts nothing.
type unwilling struct {
	store.Store
	fault error
}

func (u *unwilling) Adopt(context.Context, dag.Tenant, store.Stretch) error { return u.fault }

// recorded is what is said of a ledger: of policies, of keys made and revoked, of erasures, and
// of issued slices.
func recorded(policies, made, revoked, rest, bundles transfer.Count) map[history.Kind]transfer.Count {
	counts := map[history.Kind]transfer.Count{registry.Kind: policies, apikeys.Created: made, apikeys.Revoked: revoked, erasures.Logged: rest, issued.Kind: bundles}
	maps.DeleteFunc(counts, func(_ history.Kind, c transfer.Count) bool { return c == transfer.Count{} })
	return counts
}
