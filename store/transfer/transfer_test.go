package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/kinds"
	"github.com/graphkernel/graphkernel/store/sqlite"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// contents writes down all that a store has, up to some heads and numbers of issued
// slices if they are given.
func contents(t *testing.T, s store.Store, reports []transfer.Tenant) (lines []string) {
	t.Helper()
	ctx := t.Context()
	did := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	names, err := transfer.Tenants(ctx, s)
	did(err)
	for _, name := range names {
		head, issuedUpTo := dag.MaxSeq, 1<<20
		if at := slices.IndexFunc(reports, func(r transfer.Tenant) bool { return r.Name == name }); at >= 0 {
			head, issuedUpTo = reports[at].Head, reports[at].Record[issued.Kind].Copied+reports[at].Record[issued.Kind].Existing
		}
		write := func(format string, args ...any) {
			lines = append(lines, string(name)+": "+fmt.Sprintf(format, args...))
		}
		did(s.Scan(ctx, name, 0, nil, func(r *store.Record) error {
			if r.Seq <= head {
				write("%d %+v %s %+v %q %s %q", r.Seq, r.Turn, r.Leaf, append([]dag.SkeletonParent{}, r.Parents...), r.Body, r.Salt, r.External)
			}
			return nil
		}))
		events, err := storetest.Events(ctx, s, name, 0, 1<<20)
		did(err)
		for _, e := range events {
			if e.Seq <= head {
				write("%+v", e)
			}
		}
		acts, err := storetest.Acts(ctx, s, name, 0, 1<<20)
		did(err)
		for _, a := range acts {
			if a.Until > head {
				a.Until = dag.MaxSeq
			}
			if a.Seq <= head {
				write("%+v", a)
			}
		}
		registry, err := registry.Base{History: s}.All(ctx, name)
		did(err)
		for _, p := range registry.All() {
			write("%+v", p)
		}
		bundles, err := storetest.Bundles(s).After(ctx, name, 0, issuedUpTo)
		did(err)
		for _, i := range bundles {
			write("%+v", i)
		}
		keys, err := apikeys.Base{History: s}.All(ctx, name)
		did(err)
		for _, k := range keys {
			write("%+v", k)
		}
		cells, err := s.Cells(ctx, name, "")
		did(err)
		for _, c := range cells {
			write("%q %x", c.Name, c.Value)
		}
		if reports != nil {
			continue // the ledger may hold leaves of later acts, and somebody may write
		}
		did(storetest.SameKnowledge(ctx, s, name))
		leaves, err := history.Leaves(ctx, s, name, 0, 1<<20)
		did(err)
		for _, leaf := range leaves {
			write("%s", leaf)
		}
		write("%s", logOf(t, s, name).Hash)
	}
	return lines
}

func logOf(t *testing.T, s store.Store, tenant dag.Tenant) ledger.Root {
	t.Helper()
	tree, err := s.Log(t.Context(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return ledger.Root{Size: tree.Size(), Hash: tree.Root()}
}

func sound(t *testing.T, s store.Store) {
	t.Helper()
	if report, err := fsck.Store(t.Context(), s, fsck.Options{}); err != nil || !report.OK() {
		t.Fatalf("the copy is not sound: %v, %v", report.Findings, err)
	}
}

// soundSoFar is sound for a copy that was cut short: a text that the source has erased may lack the
// erasure, which has a later number, and nothing else is amiss.
func soundSoFar(t *testing.T, s, from store.Store) {
	t.Helper()
	report, err := fsck.Store(t.Context(), s, fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		events, err := storetest.Events(t.Context(), from, f.Tenant, 0, 1000)
		erased := func(e erasures.Erasure) bool { return f.Where == "turn "+e.Turn.String() }
		if err != nil || f.Rule != "body" || !strings.Contains(f.Detail, "no erasure is on record") || !slices.ContainsFunc(events, erased) {
			t.Fatalf("the copy is not sound: %v", f)
		}
	}
}

func filled(t *testing.T, s store.Store) store.Store {
	t.Helper()
	for _, tenant := range []dag.Tenant{"a", "b"} {
		if err := storetest.Fill(t.Context(), s, tenant); err != nil {
			t.Fatal(err)
		}
	}
	k := storetest.Key(1)
	k.Tenant = "only-a-key"
	if err := (apikeys.Base{History: s}).Put(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return s
}

func inMemory(t *testing.T) store.Store {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 3})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func inFile(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Create(t.Context(), filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

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
				*e = r.Entry()
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

// TestWhileWriting copies again and again while others append, erase, learn and issue. Each
// copy is sound, and what the source had at its heads.
func TestWhileWriting(t *testing.T) {
	ctx := t.Context()
	from := filled(t, inMemory(t))
	done := make(chan error)
	go func() {
		var err error
		random := rand.New(rand.NewPCG(1, 2))
		for n := 1000; n < 1150 && err == nil; n++ {
			_, _ = storetest.Facts(from).Learn(ctx, "a", []knowledge.Act{storetest.RandomAct(random)}, dag.Time(n)) // an alias may be refused
			_, err = from.Append(ctx, "a", []store.Batch{{storetest.Arrival(n, n%5, "more", n%40+1)}})
			if n%3 == 0 && err == nil {
				_, err = storetest.Erase(ctx, from, "a", storetest.Erasure(n))
			}
			if n%4 == 0 && err == nil {
				err = storetest.Issue(ctx, from, "a", storetest.TurnID(n), "wide@1")
			}
			time.Sleep(time.Millisecond)
		}
		done <- err
	}()
	copies := 0
	for {
		select {
		case err := <-done:
			if err != nil || copies < 3 {
				t.Errorf("writing: %v; %d copies", err, copies)
			}
			return
		default:
		}
		to := inMemory(t)
		reports, err := transfer.Copy(ctx, to, from, transfer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sound(t, to)
		if err := storetest.SameKnowledge(ctx, to, "a"); err != nil {
			t.Fatal(err)
		}
		got, want := contents(t, to, reports), contents(t, from, reports)
		if len(got) != len(want) {
			t.Fatalf("the copy has %d things, the source had %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] && !strings.Contains(want[i], `"" 00000000000000000000000000000000 ""`) { // erased since
				t.Fatalf("got %s, want %s", got[i], want[i])
			}
		}
		copies++
	}
}

// TestDamagedSource makes sure that a history with holes is not copied as one without.
func TestDamagedSource(t *testing.T) {
	for hole, want := range map[dag.Seq]string{9: "must have 9", 21: "must have 21", 34: "must have 34", 55: "must have 55", 65: "no number 65"} {
		from := &holed{filled(t, inMemory(t)), hole}
		if _, err := transfer.Copy(t.Context(), inMemory(t), from, transfer.Options{}); !errors.Is(err, transfer.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("without number %d: got %v", hole, err)
		}
	}
}

// holed leaves out a number.
type holed struct {
	store.Store
	hole dag.Seq
}

func (h *holed) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	return h.Store.Scan(ctx, tenant, after, c, func(r *store.Record) error {
		if r.Seq == h.hole {
			return nil
		}
		return fn(r)
	})
}

func (h *holed) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := h.Store.Entries(ctx, tenant, p)
	return slices.DeleteFunc(list, func(e history.Entry) bool { return p.Stream == history.Known && e.Seq == h.hole }), err
}

// TestGrowing copies from a source that gets a turn, an act and an erasure just before it is
// read. The copy ends where the head was, unless a text that belongs to it was erased:
// then the erasure is in it.
func TestGrowing(t *testing.T) {
	for _, c := range []struct {
		erases []int // turns, one at each scan; 0 is the new one
		want   dag.Seq
	}{
		{[]int{0}, 65},
		{[]int{8}, 68},
		{[]int{8, 9}, 71},
		{[]int{40, 0}, 68},
	} {
		from, to := &growing{Store: filled(t, inMemory(t)), erases: c.erases}, inMemory(t)
		reports, err := transfer.Copy(t.Context(), to, from, transfer.Options{Tenants: []dag.Tenant{"a"}})
		if err != nil || reports[0].Head != c.want {
			t.Errorf("erasing %v: %+v, %v, want head %d", c.erases, reports, err, c.want)
		}
		sound(t, to)
		if c.erases[0] == 0 {
			continue
		}
		if events, err := storetest.Events(t.Context(), to, "a", 65, 1); err != nil || len(events) != 1 || events[0].Turn != storetest.TurnID(c.erases[0]) {
			t.Errorf("erasing %v: %v, %v", c.erases, events, err)
		}
	}
}

type growing struct {
	store.Store
	n      int
	erases []int
}

func (g *growing) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	if g.n < len(g.erases) {
		g.n++
		erase := g.erases[g.n-1]
		if erase == 0 {
			erase = 900 + g.n
		}
		if _, err := g.Append(ctx, tenant, []store.Batch{{storetest.Arrival(900+g.n, 1, "new")}}); err != nil {
			return err
		}
		ending := storetest.Assertion(8, 1, g.n, 5, "user")
		if g.n == 1 {
			ending.Supersedes = []knowledge.ID{idOf(storetest.Assertion(1, 1, 5, 0, "user"))}
		}
		if _, err := storetest.Facts(g).Learn(ctx, tenant, []knowledge.Act{ending}, 1); err != nil {
			return err
		}
		if _, err := storetest.Erase(ctx, g, tenant, storetest.Erasure(erase)); err != nil {
			return err
		}
	}
	return g.Store.Scan(ctx, tenant, after, c, fn)
}

// TestLastTurnDiffers makes sure of the turn that history goes on from, however long
// the history is, and with events after it.
func TestLastTurnDiffers(t *testing.T) {
	for _, events := range []int{0, 40, 300} {
		stores := [2]store.Store{inMemory(t), inMemory(t)}
		for i, s := range stores {
			b := append(storetest.Chain(1, 999, 0), storetest.Arrival(1000, 0, fmt.Sprint("last of ", i)))
			stretch := storetest.Stretch{Records: storetest.Records(1, nil, b)}
			for n := range events {
				stretch.Events = append(stretch.Events, storetest.Erased(dag.Seq(1001+n), n+1))
			}
			if err := storetest.Adopt(t.Context(), s, "a", stretch); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := transfer.Copy(t.Context(), stores[1], stores[0], transfer.Options{}); !errors.Is(err, transfer.ErrDiffers) {
			t.Errorf("with %d events behind: got %v, want ErrDiffers", events, err)
		}
	}
}

// TestOneTurnDiffers returns the target a history that differs from the source's in one
// turn, wherever it is, or in one text that is missing: nothing is written.
func TestOneTurnDiffers(t *testing.T) {
	const turns = 700
	fill := func(t *testing.T, turns int, spoil func(store.Batch)) store.Store {
		t.Helper()
		b := storetest.Chain(1, turns, 0)
		spoil(b)
		s := inMemory(t)
		if err := storetest.Adopt(t.Context(), s, "a", storetest.Stretch{Records: storetest.Records(1, nil, b)}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for n := 0; n < turns; n += 41 {
		for name, c := range map[string]struct {
			source, target func(store.Batch)
			want           string
		}{
			"a turn": {
				target: func(b store.Batch) {
					parents := b[n].Parents
					b[n] = storetest.Arrival(1+n, 0, "another text")
					b[n].Parents = parents
				},
				want: fmt.Sprintf("number %d of the target is turn %s", n+1, storetest.TurnID(n+1)),
			},
			"no text here": {
				target: func(b store.Batch) { b[n] = storetest.Withheld(b[n]) },
				want:   fmt.Sprintf("number %d, turn %s, has a text in the source, and none in the target", n+1, storetest.TurnID(n+1)),
			},
			"no text there": {
				source: func(b store.Batch) { b[n] = storetest.Withheld(b[n]) },
				want:   fmt.Sprintf("number %d, turn %s, has a text in the target, and in the source none", n+1, storetest.TurnID(n+1)),
			},
		} {
			as := func(spoil func(store.Batch)) func(store.Batch) {
				if spoil == nil {
					return func(store.Batch) {}
				}
				return spoil
			}
			from, to := fill(t, turns+5, as(c.source)), fill(t, turns, as(c.target))
			_, err := transfer.Copy(t.Context(), to, from, transfer.Options{})
			if !errors.Is(err, transfer.ErrDiffers) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s at %d: got %v, want %q", name, n, err, c.want)
			}
			if head, err := to.Head(t.Context(), "a"); err != nil || head != turns {
				t.Errorf("%s at %d: the head is %d, %v", name, n, head, err)
			}
		}
	}
}

// TestErasedBetween erases texts in the source that the target has: the copy brings the
// erasures, whether they come before it or while it compares.
func TestErasedBetween(t *testing.T) {
	ctx := t.Context()
	from, to := filled(t, inMemory(t)), inMemory(t)
	if _, err := transfer.Copy(ctx, to, from, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{9, 30} {
		if _, err := storetest.Erase(ctx, from, "a", storetest.Erasure(n)); err != nil {
			t.Fatal(err)
		}
	}
	compared := dag.Seq(0)
	o := transfer.Options{Tenants: []dag.Tenant{"a"}, Compared: func(_ dag.Tenant, done, total dag.Seq) { compared = total }}
	reports, err := transfer.Copy(ctx, to, &growing{Store: from, erases: []int{16, 33}}, o)
	if err != nil || reports[0].Events.Existing != 3 || reports[0].Turns.Existing != 40 {
		t.Fatalf("%+v, %v", reports, err)
	}
	sound(t, to)
	for _, n := range []int{9, 30, 16, 33} {
		r, err := to.Turns(ctx, "a", store.IDs{storetest.TurnID(n)})
		if err != nil || len(r) != 1 || r[0].Body != nil {
			t.Errorf("turn %d: %v, %v", n, r, err)
		}
	}
	if compared != 0 {
		t.Errorf("progress to %d of so short a history", compared)
	}

	long(t, from)
	o = transfer.Options{Tenants: []dag.Tenant{"long"}, Stretch: 700, Compared: func(_ dag.Tenant, done, total dag.Seq) { compared = done }}
	for range 2 {
		if reports, err = transfer.Copy(ctx, to, from, o); err != nil {
			t.Fatal(err)
		}
	}
	if compared != 2500 || reports[0].Turns.Copied != 0 {
		t.Errorf("compared up to %d, want 2500; %+v", compared, reports)
	}
}

// TestCompareFails lets one of both stores fail in the middle of the comparison: that is
// no difference, and nothing is written.
func TestCompareFails(t *testing.T) {
	ctx := t.Context()
	fault := errors.New("fault")
	for name, spoil := range map[string]func(from, to *store.Store){
		"source": func(from, _ *store.Store) { *from = &failing{*from, 20, fault} },
		"target": func(_, to *store.Store) { *to = &failing{*to, 20, fault} },
	} {
		from, to := filled(t, inMemory(t)), inMemory(t)
		if _, err := transfer.Copy(ctx, to, from, transfer.Options{}); err != nil {
			t.Fatal(err)
		}
		if _, err := from.Append(ctx, "a", []store.Batch{{storetest.Arrival(900, 1, "new")}}); err != nil {
			t.Fatal(err)
		}
		spoil(&from, &to)
		if reports, err := transfer.Copy(ctx, to, from, transfer.Options{}); !errors.Is(err, fault) || errors.Is(err, transfer.ErrDiffers) || reports != nil {
			t.Errorf("%s: %+v, %v", name, reports, err)
		}
	}
}

// failing fails to read on at a number.
type failing struct {
	store.Store
	at    dag.Seq
	fault error
}

func (f *failing) Scan(ctx context.Context, tenant dag.Tenant, after dag.Seq, c *dag.ConversationID, fn func(*store.Record) error) error {
	return f.Store.Scan(ctx, tenant, after, c, func(r *store.Record) error {
		if r.Seq >= f.at {
			return f.fault
		}
		return fn(r)
	})
}

// TestManyParents makes sure that edges count for the size of a stretch.
func TestManyParents(t *testing.T) {
	const parents, children = 5000, 40
	b := storetest.Chain(1, parents, 0)
	all := make([]int, parents)
	for i := range all {
		all[i] = i + 1
	}
	for n := range children {
		b = append(b, storetest.Arrival(parents+1+n, 0, "x", all...))
	}
	from, to := inMemory(t), &counting{Store: inMemory(t)}
	if err := storetest.Adopt(t.Context(), from, "a", storetest.Stretch{Records: storetest.Records(1, nil, b)}); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if most := 65 * to.edges; most > 9<<20 || most < 8<<20 {
		t.Errorf("a stretch has %d bytes of edges", most)
	}
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
