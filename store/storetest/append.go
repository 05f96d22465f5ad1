package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
)

func mustAppend(t *testing.T, s store.Store, want store.Receipt, batches ...store.Batch) {
	t.Helper()
	got, err := s.Append(context.Background(), Tenant, batches)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	if got != want {
		t.Fatalf("Append gave %+v, want %+v", got, want)
	}
}

// refused expects Append to fail and to change nothing. It returns the error.
func refused(t *testing.T, s store.Store, batches ...store.Batch) error {
	t.Helper()
	before := mustHead(t, s)
	got, err := s.Append(context.Background(), Tenant, batches)
	if err == nil {
		t.Fatalf("Append was not refused: %+v", got)
	}
	if got != (store.Receipt{}) {
		t.Errorf("Append failed with the receipt %+v, want none", got)
	}
	if after := mustHead(t, s); after != before {
		t.Fatalf("head went from %d to %d although Append failed with %v", before, after, err)
	}
	return err
}

func mustHead(t *testing.T, s store.Store) dag.Seq {
	t.Helper()
	head, err := s.Head(context.Background(), Tenant)
	if err != nil {
		t.Fatalf("Head: %v", err)
	}
	return head
}

func mustTurn(t *testing.T, s store.Store, n int) store.Record {
	t.Helper()
	records, err := s.Turns(context.Background(), Tenant, store.IDs{TurnID(n)})
	if err != nil || len(records) != 1 {
		t.Fatalf("Turns(%d) gave %d records, %v", n, len(records), err)
	}
	return records[0]
}

func testAppend(t *testing.T, h Harness) {
	s := open(t, h)
	if head := mustHead(t, s); head != 0 {
		t.Fatalf("an empty store has head %d", head)
	}
	mustAppend(t, s, store.Receipt{})
	mustAppend(t, s, store.Receipt{}, store.Batch{}, nil)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, Chain(1, 3, 0))
	a := Named(Arrival(4, 1, "from two conversations", 2, 3), "row 4")
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 2, Head: 4}, store.Batch{a})
	r := mustTurn(t, s, 4)
	if r.Turn != a.Turn || string(r.Body) != string(a.Body) || r.Salt != a.Salt || r.External != "row 4" || r.Seq != 4 || r.Leaf != slice.TurnLeaf(&a.Turn) {
		t.Errorf("got %+v, want %+v", r, a)
	}
	for i, p := range r.Parents {
		if p.ID != a.Parents[i].ID || p.Kind != a.Parents[i].Kind || p.Conversation != ConversationID(0) {
			t.Errorf("parent %d is %+v, want %+v of conversation %s", i, p, a.Parents[i], ConversationID(0))
		}
	}
}

func testAppendAgain(t *testing.T, h Harness) {
	s := open(t, h)
	chain := Chain(1, 5, 0)
	mustAppend(t, s, store.Receipt{Admitted: 5, Edges: 4, Head: 5}, chain)
	mustAppend(t, s, store.Receipt{Existing: 5, Head: 5}, chain)
	// A batch that is partly known, and a turn that is in it twice.
	longer := append(Chain(1, 7, 0), Arrival(7, 0, "turn 7 of a chain", 6))
	mustAppend(t, s, store.Receipt{Admitted: 2, Existing: 5, Edges: 2, Head: 7}, longer)
	// Parents are a set.
	two := Arrival(8, 0, "two parents", 1, 2)
	mustAppend(t, s, store.Receipt{Admitted: 1, Edges: 2, Head: 8}, store.Batch{two})
	slices.Reverse(two.Parents)
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 8}, store.Batch{two})
}

func testConflict(t *testing.T, h Harness) {
	s := open(t, h)
	mustAppend(t, s, store.Receipt{Admitted: 3, Edges: 2, Head: 3}, Chain(1, 3, 0))
	was := Chain(1, 3, 0)[2]
	for _, c := range []struct {
		field  string
		change func(a *store.Arrival)
	}{
		{"body", func(a *store.Arrival) { *a = Arrival(3, 0, "something else", 2) }},
		{"parents", func(a *store.Arrival) { a.Parents = nil }},
		{"parents", func(a *store.Arrival) { a.Parents = []dag.Parent{{ID: TurnID(1), Kind: a.Parents[0].Kind}} }},
		{"parents", func(a *store.Arrival) { a.Parents = []dag.Parent{{ID: TurnID(2), Kind: a.Parents[0].Kind%4 + 1}} }},
		{"parents", func(a *store.Arrival) { a.Parents = append(a.Parents, dag.Parent{ID: TurnID(1), Kind: dag.Reply}) }},
		{"conversation", func(a *store.Arrival) { a.Turn.Conversation = ConversationID(9) }},
		{"role", func(a *store.Arrival) { a.Turn.Role = a.Turn.Role%4 + 1 }},
		{"phase", func(a *store.Arrival) { a.Turn.Phase = a.Turn.Phase%5 + 1 }},
		{"salience", func(a *store.Arrival) { a.Turn.Salience++ }},
		{"created_at", func(a *store.Arrival) { a.Turn.CreatedAt++ }},
	} {
		a := was
		a.Parents = slices.Clone(was.Parents)
		c.change(&a)
		// New turns of the same call, in this batch and another, must not be stored.
		err := refused(t, s, Chain(10, 2, 1), store.Batch{Arrival(12, 1, "new"), a})
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			t.Fatalf("another %s: got %v, want a ConflictError", c.field, err)
		}
		want := store.ConflictError{ID: TurnID(3), Place: "line 3", Field: c.field, Stored: was.Turn.BodyDigest, Arriving: a.Turn.BodyDigest}
		if *conflict != want {
			t.Errorf("got %+v, want %+v", *conflict, want)
		}
		for _, part := range []string{want.Stored.String(), want.Arriving.String(), "line 3", TurnID(3).String()} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not name %s", err, part)
			}
		}
	}
	// Within one batch, in either order.
	x, y := Arrival(20, 0, "x"), Arrival(20, 0, "y")
	for _, b := range []store.Batch{{x, y}, {y, x}} {
		var conflict *store.ConflictError
		if err := refused(t, s, b); !errors.As(err, &conflict) {
			t.Errorf("twice in a batch: got %v, want a ConflictError", err)
		}
	}
}

func testParent(t *testing.T, h Harness) {
	s := open(t, h)
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 1}, Chain(1, 1, 0))
	for _, batches := range [][]store.Batch{
		{{Arrival(2, 0, "an orphan", 1, 99)}},
		{Chain(5, 3, 1), {Arrival(2, 0, "an orphan", 99)}},
		{{Arrival(2, 0, "its parent comes later", 99)}, {Arrival(99, 0, "the parent")}},
	} {
		var unknown *store.ParentError
		if err := refused(t, s, batches...); !errors.As(err, &unknown) {
			t.Errorf("got %v, want a ParentError", err)
		} else if *unknown != (store.ParentError{Child: TurnID(2), Parent: TurnID(99), Place: "line 2"}) {
			t.Errorf("got %+v", *unknown)
		}
	}
}

func testCycle(t *testing.T, h Harness) {
	s := open(t, h)
	for _, c := range []struct {
		name  string
		batch store.Batch
		want  []int // on a cycle
	}{
		{"itself", store.Batch{Arrival(1, 0, "", 1)}, []int{1}},
		{"two", store.Batch{Arrival(1, 0, "", 2), Arrival(2, 0, "", 1)}, []int{1, 2}},
		{"a tail and a root", store.Batch{
			Arrival(1, 0, ""), Arrival(2, 0, "", 1, 5), Arrival(3, 0, "", 2), Arrival(4, 0, "", 3), Arrival(5, 0, "", 4), Arrival(6, 0, "", 5), Arrival(7, 0, "", 6),
		}, []int{2, 3, 4, 5}},
		{"a bridge between two", store.Batch{
			Arrival(1, 0, "", 2), Arrival(2, 0, "", 1), Arrival(3, 0, "", 2), Arrival(4, 0, "", 3, 5), Arrival(5, 0, "", 4),
		}, []int{1, 2, 4, 5}},
		{"a long tail", append(Chain(10, 20, 0), Arrival(1, 0, "", 2), Arrival(2, 0, "", 1), Arrival(30, 0, "", 1, 29), Arrival(31, 0, "", 30), Arrival(32, 0, "", 31)), []int{1, 2}},
	} {
		smallest := slices.MinFunc(c.want, func(a, b int) int { return TurnID(a).Compare(TurnID(b)) })
		var cycle *store.CycleError
		if err := refused(t, s, c.batch); !errors.As(err, &cycle) {
			t.Errorf("%s: got %v, want a CycleError", c.name, err)
		} else if *cycle != (store.CycleError{ID: TurnID(smallest), Place: fmt.Sprintf("line %d", smallest)}) {
			t.Errorf("%s: got %+v, want turn %d (%s)", c.name, *cycle, smallest, TurnID(smallest))
		}
	}
}

func testBatches(t *testing.T, h Harness) {
	s := open(t, h)
	// A later batch continues from an earlier one and repeats a turn of it.
	second := append(store.Batch{Chain(1, 3, 0)[1]}, Arrival(10, 1, "from the batch before", 3))
	mustAppend(t, s, store.Receipt{Admitted: 4, Existing: 1, Edges: 3, Head: 4}, Chain(1, 3, 0), second)
	if r := mustTurn(t, s, 10); r.Seq != 4 || r.Parents[0].Conversation != ConversationID(0) {
		t.Errorf("got %+v, want number 4 with a parent in %s", r, ConversationID(0))
	}
	// Batches are numbered one after the other, whatever the times say.
	early := Arrival(20, 2, "early")
	early.Turn.CreatedAt = 1
	mustAppend(t, s, store.Receipt{Admitted: 2, Head: 6}, store.Batch{Arrival(21, 2, "late")}, store.Batch{early})
	if first, second := mustTurn(t, s, 21).Seq, mustTurn(t, s, 20).Seq; first != 5 || second != 6 {
		t.Errorf("batches are numbered %d and %d, want 5 and 6", first, second)
	}
	// All of them or none.
	var conflict *store.ConflictError
	if err := refused(t, s, Chain(30, 3, 3), store.Batch{Arrival(1, 0, "other")}); !errors.As(err, &conflict) {
		t.Errorf("got %v, want a ConflictError", err)
	}
	if err := refused(t, s, Chain(30, 3, 3), store.Batch{Arrival(30, 3, "other")}); !errors.As(err, &conflict) {
		t.Errorf("between two batches: got %v, want a ConflictError", err)
	}
}

func testMalformed(t *testing.T, h Harness) {
	s := open(t, h)
	mustAppend(t, s, store.Receipt{Admitted: 2, Edges: 1, Head: 2}, Chain(1, 2, 0))
	many := Arrival(5, 0, "")
	for n := range dag.MaxParents + 1 {
		many.Parents = append(many.Parents, dag.Parent{ID: TurnID(100 + n), Kind: dag.Reply})
	}
	for _, c := range []struct {
		name   string
		change func(a *store.Arrival)
	}{
		{"no role", func(a *store.Arrival) { a.Turn.Role = 0 }},
		{"no phase", func(a *store.Arrival) { a.Turn.Phase = 9 }},
		{"no id", func(a *store.Arrival) { a.Turn.ID = dag.TurnID{} }},
		{"no conversation", func(a *store.Arrival) { a.Turn.Conversation = dag.ConversationID{} }},
		{"salience above 1", func(a *store.Arrival) { a.Turn.Salience = dag.One + 1 }},
		{"before 1970", func(a *store.Arrival) { a.Turn.CreatedAt = -1 }},
		{"edge of no kind", func(a *store.Arrival) { a.Parents[0].Kind = 0 }},
		{"parent twice", func(a *store.Arrival) { a.Parents = append(a.Parents, dag.Parent{ID: TurnID(1), Kind: dag.Reference}) }},
		{"one of many parents twice", func(a *store.Arrival) {
			a.Parents = append(slices.Clone(many.Parents[:100]), many.Parents[50])
		}},
		{"too many parents", func(a *store.Arrival) { a.Parents = many.Parents }},
		{"body of no length", func(a *store.Arrival) { a.Body = []byte{} }},
		{"body too long", func(a *store.Arrival) { a.Body = make([]byte, store.MaxBody+1) }},
		{"salt without body", func(a *store.Arrival) { a.Body = nil }},
		{"name without body", func(a *store.Arrival) { *a = Withheld(*a); a.External = "name" }},
	} {
		a := Arrival(5, 0, "malformed", 1)
		c.change(&a)
		if err := refused(t, s, store.Batch{Arrival(4, 0, "good"), a}); !errors.Is(err, dag.ErrForm) || !strings.Contains(err.Error(), "line 5") {
			t.Errorf("%s: got %v, want dag.ErrForm at line 5", c.name, err)
		}
	}
	if _, err := s.Append(context.Background(), "No Tenant", []store.Batch{Chain(1, 1, 0)}); !errors.Is(err, dag.ErrForm) {
		t.Errorf("malformed tenant: got %v, want dag.ErrForm", err)
	}
}

func testDrawnSalt(t *testing.T, h Harness) {
	s := open(t, h)
	plain := Arrival(1, 0, "a text")
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 1}, store.Batch{Drawn(plain, 100)})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 1}, store.Batch{Drawn(plain, 200)})
	if r := mustTurn(t, s, 1); r.Salt != SaltOf(100) {
		t.Errorf("the salt became %s, want the first one %s", r.Salt, SaltOf(100))
	}
	var conflict *store.ConflictError
	other := Drawn(Arrival(1, 0, "another text"), 100)
	if err := refused(t, s, store.Batch{other}); !errors.As(err, &conflict) || conflict.Field != "body" {
		t.Fatalf("another text: got %v, want a conflict of bodies", err)
	}
	if err := refused(t, s, store.Batch{Drawn(Arrival(1, 0, "another text"), 300)}); !errors.As(err, &conflict) {
		t.Fatalf("another text: got %v, want a ConflictError", err)
	}
	if want := slice.DigestBody(other.Body, SaltOf(100)); conflict.Arriving != want {
		t.Errorf("the arriving digest is %s, want %s, taken with the stored salt", conflict.Arriving, want)
	}
	// A salt that came with the turn counts: another salt is a conflict.
	if err := refused(t, s, store.Batch{plain}); !errors.As(err, &conflict) {
		t.Errorf("another given salt: got %v, want a ConflictError", err)
	}
	// Twice in one batch: the salt that came with the turn is kept.
	given := Arrival(2, 0, "twice")
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 2}, store.Batch{Drawn(given, 400), given, Drawn(given, 500)})
	if r := mustTurn(t, s, 2); r.Salt != given.Salt {
		t.Errorf("the salt is %s, want the given one %s", r.Salt, given.Salt)
	}
}

func testWithheld(t *testing.T, h Harness) {
	s := open(t, h)
	full := Arrival(1, 0, "withheld")
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 1}, store.Batch{Withheld(full)})
	if r := mustTurn(t, s, 1); r.Body != nil || r.Salt != (dag.Salt{}) || !r.Withheld || r.Turn != full.Turn {
		t.Errorf("got %+v, want a withheld record without a body", r)
	}
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 1}, store.Batch{Withheld(full)})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 1}, store.Batch{full})
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 1}, store.Batch{Drawn(full, 77)})
	if r := mustTurn(t, s, 1); r.Body != nil {
		t.Errorf("a withheld body was filled in")
	}
	var conflict *store.ConflictError
	if err := refused(t, s, store.Batch{Arrival(1, 0, "another")}); !errors.As(err, &conflict) {
		t.Errorf("another digest: got %v, want a ConflictError", err)
	}
	with := Arrival(2, 0, "with body")
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: 2}, store.Batch{Withheld(with), with})
	if r := mustTurn(t, s, 2); string(r.Body) != string(with.Body) {
		t.Errorf("of a turn with and without its body, the one without was kept")
	}
	mustAppend(t, s, store.Receipt{Existing: 1, Head: 2}, store.Batch{Withheld(with)})
	if err := refused(t, s, store.Batch{Withheld(Arrival(2, 0, "another"))}); !errors.As(err, &conflict) {
		t.Errorf("withheld with another digest: got %v, want a ConflictError", err)
	}
	if got, err := Erase(context.Background(), s, Tenant, Erasure(1)); err != nil || got != (erasures.Erasure{}) {
		t.Errorf("Erase of a withheld turn gave %+v, %v, want nothing", got, err)
	}
	if head := mustHead(t, s); head != 2 {
		t.Errorf("Erase of a withheld turn moved the head to %d", head)
	}
	if _, err := Erase(context.Background(), s, Tenant, Erasure(2)); err != nil {
		t.Fatal(err)
	}
	if r := mustTurn(t, s, 2); r.Body != nil || r.Withheld {
		t.Errorf("got %+v of an erased turn, which is not withheld", r)
	}
}

// testOrder admits one batch in many orders; the numbers are always the same.
func testOrder(t *testing.T, h Harness) {
	s := open(t, h)
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 8 {
		base := 1000 * (round + 1)
		var b store.Batch
		for n := range 40 {
			var parents []int
			for p := max(0, n-6); p < n; p++ {
				if (n*7+p)%3 == 0 {
					parents = append(parents, base+p)
				}
			}
			a := Arrival(base+n, n%3, "in any order", parents...)
			a.Turn.CreatedAt = dag.Time(n * 5 % 8) // many share a time
			b = append(b, a)
		}
		before := mustHead(t, s)
		want := expectedOrder(b)
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		edges := 0
		for _, a := range b {
			edges += len(a.Parents)
		}
		mustAppend(t, s, store.Receipt{Admitted: 40, Edges: edges, Head: before + 40}, b)
		at := 0
		err := s.Scan(context.Background(), Tenant, before, nil, func(r *store.Record) error {
			if r.Turn.ID != want[at] || r.Seq != before+dag.Seq(at)+1 {
				return fmt.Errorf("number %d is turn %s, want %s", r.Seq, r.Turn.ID, want[at])
			}
			at++
			return nil
		})
		if err != nil || at != len(want) {
			t.Fatalf("after %d turns: %v", at, err)
		}
	}
}

// expectedOrder follows the contract literally: again and again it takes the earliest of the turns whose parents all have a number.
func expectedOrder(b store.Batch) (order []dag.TurnID) {
	in := map[dag.TurnID]bool{}
	for _, a := range b {
		in[a.Turn.ID] = true
	}
	for len(in) > 0 {
		var best *store.Arrival
		for i := range b {
			a := &b[i]
			ready := in[a.Turn.ID] && !slices.ContainsFunc(a.Parents, func(p dag.Parent) bool { return in[p.ID] })
			if ready && (best == nil || a.Turn.CreatedAt < best.Turn.CreatedAt ||
				a.Turn.CreatedAt == best.Turn.CreatedAt && a.Turn.ID.Compare(best.Turn.ID) < 0) {
				best = a
			}
		}
		if best == nil {
			panic("storetest: a batch with a cycle")
		}
		order = append(order, best.Turn.ID)
		delete(in, best.Turn.ID)
	}
	return order
}

func testContent(t *testing.T, h Harness) {
	s := open(t, h)
	contents := []string{"", "\x00", "a\x00b", "\U0001f9ea astral \U0010ffff", "é and e\u0301 stay as they are", "\u2028 \x7f \\ \" /", strings.Repeat("\x00", 100_000)}
	for i, content := range contents {
		mustAppend(t, s, store.Receipt{Admitted: 1, Head: dag.Seq(i + 1)}, store.Batch{Arrival(i, 0, content)})
	}
	big := strings.Repeat("8 MiB of \U0001f40b and \x00. ", dag.MaxContent)[:dag.MaxContent-3] + "end"
	if !strings.HasSuffix(strings.ToValidUTF8(big, "?"), "end") {
		t.Fatal("the big content is not what it should be")
	}
	big = strings.ToValidUTF8(big, "?")
	contents = append(contents, big)
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: dag.Seq(len(contents))}, store.Batch{Arrival(len(contents)-1, 0, big)})
	for i, want := range contents {
		body, err := slice.ParseBody(mustTurn(t, s, i).Body)
		if err != nil {
			t.Fatal(err)
		}
		if body.Content != want {
			t.Errorf("content %d came back with %d bytes, want %d", i, len(body.Content), len(want))
		}
	}
	name := "\U0001f40b\x00/'\"%_"
	mustAppend(t, s, store.Receipt{Admitted: 1, Head: dag.Seq(len(contents) + 1)}, store.Batch{Named(Arrival(500, 0, "x"), "a'\"%_\U0001f40b")})
	for external, want := range map[string]int{"a'\"%_\U0001f40b": 1, "a'\"%_": 0, "%": 0, name: 0} {
		if ids, err := s.Find(context.Background(), Tenant, store.External(external), 9); err != nil || len(ids) != want {
			t.Errorf("External(%q) gave %v, %v, want %d", external, ids, err, want)
		}
	}
}

// testConcurrent runs writers and readers at once: numbers become visible in order and without gaps.
func testConcurrent(t *testing.T, h Harness) {
	s := open(t, h)
	const writers, calls, turns = 4, 10, 5
	ctx := context.Background()
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		writing.Go(func() {
			for c := range calls {
				first := 10_000*(w+1) + c*turns
				got, err := s.Append(ctx, Tenant, []store.Batch{Chain(first, turns, w)})
				if err != nil || got.Admitted != turns {
					t.Errorf("Append: %+v, %v", got, err)
					return
				}
				if head, err := s.Head(ctx, Tenant); err != nil || head < got.Head {
					t.Errorf("head %d, %v after an Append up to %d", head, err, got.Head)
				}
			}
		})
	}
	for range 2 {
		reading.Go(func() {
			for finished := false; !finished; {
				select {
				case <-done:
					finished = true
				default:
				}
				if err := seesNoGap(ctx, s); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	if head := mustHead(t, s); head != writers*calls*turns {
		t.Errorf("head is %d, want %d", head, writers*calls*turns)
	}
}

func seesNoGap(ctx context.Context, s store.Store) error {
	head, err := s.Head(ctx, Tenant)
	if err != nil {
		return err
	}
	last := dag.Seq(0)
	err = s.Scan(ctx, Tenant, 0, nil, func(r *store.Record) error {
		if r.Seq != last+1 {
			return fmt.Errorf("a reader saw number %d after %d", r.Seq, last)
		}
		last = r.Seq
		return nil
	})
	if err != nil {
		return err
	}
	if last < head {
		return fmt.Errorf("a reader saw numbers up to %d with head %d", last, head)
	}
	seg, err := s.Segment(ctx, Tenant, []store.Part{{Conversation: ConversationID(0)}, {Conversation: ConversationID(1), After: head}})
	if err != nil {
		return err
	}
	for _, sk := range seg.Turns {
		if sk.Seq > seg.Head || sk.Conversation == ConversationID(1) && sk.Seq <= head {
			return fmt.Errorf("a segment of head %d, read after %d, has number %d", seg.Head, head, sk.Seq)
		}
	}
	return nil
}
