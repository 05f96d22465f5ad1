package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

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
				want: fmt.Sprintf("number %d is turn %s with the leaf … in the target, but turn %[2]s with the leaf … in the source", n+1, storetest.TurnID(n+1)),
			},
			"no text here": {
				target: func(b store.Batch) { b[n] = storetest.Withheld(b[n]) },
				want:   fmt.Sprintf("number %d, turn %s, has a text in the source, but none in the target", n+1, storetest.TurnID(n+1)),
			},
			"no text there": {
				source: func(b store.Batch) { b[n] = storetest.Withheld(b[n]) },
				want:   fmt.Sprintf("number %d, turn %s, has a text in the target, but in the source it has neither a text nor an erasure", n+1, storetest.TurnID(n+1)),
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
			if !errors.Is(err, transfer.ErrDiffers) || !matches(c.want, err.Error()) {
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

// TestTaskErased erases the task of a context that was copied before, and of one that was not: a copy takes both, and no word of them is in the target.
func TestTaskErased(t *testing.T) {
	ctx := t.Context()
	for name, target := range map[string]func(*testing.T) store.Store{"memory": inMemory, "sqlite": inFile} {
		t.Run(name, func(t *testing.T) {
			from, to := inMemory(t), target(t)
			if _, err := from.Append(ctx, "a", []store.Batch{storetest.Chain(1, 9, 0)}); err != nil {
				t.Fatal(err)
			}
			put := func(n, number int) {
				t.Helper()
				if _, err := storetest.PutIssued(ctx, from, "a", storetest.IssuedContext(n, number)); err != nil {
					t.Fatal(err)
				}
			}
			copied := func() {
				t.Helper()
				if _, err := transfer.Copy(ctx, to, from, transfer.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			put(2, 1)
			put(3, 2)
			copied()
			put(4, 3)
			for _, number := range []int{1, 3} {
				if _, err := storetest.Bundles(from).EraseTask(ctx, "a", storetest.TaskErasure(number)); err != nil {
					t.Fatal(err)
				}
			}
			copied()
			list, err := storetest.Bundles(to).After(ctx, "a", 0, 9)
			want, listed := storetest.Bundles(from).After(ctx, "a", 0, 9)
			if err := errors.Join(err, listed); err != nil || !slices.Equal(list, want) || list[0].Question != "" || list[1].Question == "" || list[2].Question != "" {
				t.Errorf("got %+v, %v, want %+v", list, err, want)
			}
			erased, err := storetest.Bundles(to).TaskErasures(ctx, "a", 0, 9)
			if err != nil || len(erased) != 2 || erased[0].By != storetest.AskedBy(1) {
				t.Errorf("erasures %+v, %v", erased, err)
			}
			for _, f := range must(fsck.Store(ctx, to, fsck.Options{})).Findings {
				if f.Rule == "task" {
					t.Error(f)
				}
			}
			for _, f := range must(fsck.Store(ctx, worded{to}, fsck.Options{})).Findings {
				if f.Rule == "task" && f.Where == "issued 1" {
					return
				}
			}
			t.Error("fsck does not find a task that is there after its erasure")
		})
	}
}

// worded is a store in which the requests of contexts are there, whatever was erased.
type worded struct{ store.Store }

func (w worded) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := w.Store.Entries(ctx, tenant, p)
	for i := range list {
		if list[i].Kind == issued.Kind && list[i].Private == nil {
			list[i].Private = []byte("words")
		}
	}
	return list, err
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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

// matches reports whether a message has a text, in which "…" stands for one word.
func matches(text, message string) bool {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(text), "…", `\S+`)).MatchString(message)
}
