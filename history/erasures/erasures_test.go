package erasures_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

const tenant = storetest.Tenant

// filled returns a store with five turns.
func filled(t *testing.T) (store.Store, erasures.Base) {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 4})
	if _, err := s.Append(t.Context(), tenant, []store.Batch{storetest.Chain(1, 5, 0)}); err != nil {
		t.Fatal(err)
	}
	return s, erasures.Base{History: s}
}

// TestForms writes both entries out, since they are for ever.
func TestForms(t *testing.T) {
	ctx := t.Context()
	s, b := filled(t)
	if _, err := b.Erase(ctx, tenant, erasures.Erasure{Turn: storetest.TurnID(2), Reason: "asked \x00 for", At: 7}); err != nil {
		t.Fatal(err)
	}
	turn := storetest.TurnID(2).String()
	known, err := s.Entries(ctx, tenant, history.Page{Limit: 9})
	record, listed := s.Entries(ctx, tenant, history.Page{Stream: history.Record, Limit: 9})
	if err := errors.Join(err, listed); err != nil || len(known) != 1 || len(record) != 1 {
		t.Fatal(known, record, err)
	}
	if e := &known[0]; e.Seq != 6 || e.Kind != "erasure/1" || e.At != 7 ||
		string(e.Public) != `{"at":"1970-01-01T00:00:00.000007Z","reason":"asked \u0000 for","turn":"`+turn+`"}` || e.Detail != nil || e.Private != nil {
		t.Errorf("what is known: %+v, %q", e, e.Public)
	}
	if e := &record[0]; e.Kind != "erased/1" || string(e.Public) != `{"at":"1970-01-01T00:00:00.000007Z","seq":6,"tenant":"storetest","turn":"`+turn+`","type":"erasure","version":"gkl/1"}` {
		t.Errorf("the record: %+v, %q", e, e.Public)
	}
}

// TestAskedBy writes who asked. An erasure without it is read as one whose caller was not recorded.
func TestAskedBy(t *testing.T) {
	for n, by := range []string{"", "0123456789abcdef", "jwt:Anna", "local", "stdio"} {
		_, b := filled(t)
		want := erasures.Erasure{Turn: storetest.TurnID(2), Reason: "asked for", At: 7, By: by}
		if _, err := b.Erase(t.Context(), tenant, want); err != nil {
			t.Fatal(err)
		}
		want.Seq = 6
		if got, err := b.After(t.Context(), tenant, 0, 2); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%d: got %+v, %v, want %+v", n, got, err, want)
		}
	}
	e := erasures.Erasure{Seq: 6, Turn: storetest.TurnID(2), By: "local"}
	entry := e.Entry()
	if want := `{"at":"1970-01-01T00:00:00.000000Z","by":"local","reason":"","turn":"` + e.Turn.String() + `"}`; string(entry.Public) != want {
		t.Errorf("got %s, want %s", entry.Public, want)
	}
	for _, by := range []string{"", "nobody", "0123456789abcdeF"} {
		bad := entry
		bad.Public = bytes.Replace(entry.Public, []byte("local"), []byte(by), 1)
		if got, err := erasures.Read(&bad); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s was read as %+v, %v", bad.Public, got, err)
		}
	}
}

// acting is a change that acts with an erasure: it writes an entry above the head and one of the
// record, and keeps what it knew.
type acting struct {
	head, size dag.Seq
	ranges     int
}

func (a *acting) Needs(k *history.State) (n history.Needs) {
	if k.Round == 0 {
		n.Ranges = []history.Range{{Index: 1}, {Index: 2}}
	}
	return n
}

func (a *acting) Plan(k *history.State) (*history.Plan, error) {
	a.head, a.size, a.ranges = k.Head, k.Size, len(k.Ranges)
	return &history.Plan{
		Entries: []history.Entry{{Seq: k.Head + 1, Kind: "acted/1", Public: []byte("x")}},
		Records: []history.Entry{{Seq: k.Size + 1, Kind: "acted/1", Public: []byte("{}")}},
	}, nil
}

// TestWith lets changes act with an erasure. With one that is there already they do nothing.
func TestWith(t *testing.T) {
	ctx := t.Context()
	s, b := filled(t)
	e := storetest.Erasure(2)
	first, second := &acting{}, &acting{}
	got, err := b.Erase(ctx, tenant, e, first, second)
	if e.Seq = 6; err != nil || got != e {
		t.Fatalf("got %+v, %v, want %+v", got, err, e)
	}
	if *first != (acting{6, 1, 2}) || *second != (acting{7, 2, 2}) {
		t.Errorf("they knew %+v and %+v", first, second)
	}
	for range 2 {
		if got, err := b.Erase(ctx, tenant, storetest.Erasure(2), first); err != nil || got != e {
			t.Errorf("again: got %+v, %v, want %+v", got, err, e)
		}
		if head, err := s.Head(ctx, tenant); err != nil || head != 8 {
			t.Errorf("the head is %d, %v, want 8", head, err)
		}
	}
	refusal := errors.New("refused")
	if _, err := b.Erase(ctx, tenant, storetest.Erasure(3), refusing{refusal}); !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if r, err := s.Turns(ctx, tenant, store.IDs{storetest.TurnID(3)}); err != nil || len(r) != 1 || r[0].Body == nil {
		t.Errorf("a refused erasure took the body: %+v, %v", r, err)
	}
}

type refusing struct{ err error }

func (refusing) Needs(*history.State) history.Needs { return history.Needs{} }

func (r refusing) Plan(*history.State) (*history.Plan, error) { return nil, r.err }

// TestLookUps asks for erasures by number and by turn.
func TestLookUps(t *testing.T) {
	ctx := t.Context()
	s, b := filled(t)
	var want []erasures.Erasure
	for _, n := range []int{4, 1} {
		e, err := b.Erase(ctx, tenant, storetest.Erasure(n))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	if got, err := b.After(ctx, tenant, 6, 9); err != nil || !slices.Equal(got, want[1:]) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := b.After(ctx, tenant, 0, 9); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	ids := []dag.TurnID{storetest.TurnID(1), storetest.TurnID(2), storetest.TurnID(4)}
	for _, c := range []struct {
		among func(context.Context, dag.Tenant, []dag.TurnID) (map[dag.TurnID]dag.Seq, error)
		want  [2]dag.Seq
	}{{b.Among, [2]dag.Seq{7, 6}}, {b.LoggedAmong, [2]dag.Seq{2, 1}}} {
		if got, err := c.among(ctx, tenant, ids); err != nil || len(got) != 2 || got[ids[0]] != c.want[0] || got[ids[2]] != c.want[1] {
			t.Errorf("got %v, %v, want %d", got, err, c.want)
		}
	}
	lying := erasures.Base{History: lied{s}}
	if got, err := lying.After(ctx, tenant, 0, 9); err == nil || got != nil {
		t.Errorf("with an entry less: %+v, %v", got, err)
	}
	other := erasures.Base{History: liedTerms{s}}
	if got, err := other.After(ctx, tenant, 0, 9); err == nil || got != nil {
		t.Errorf("with a term of another turn: %+v, %v", got, err)
	}
}

// liedTerms has terms of other turns.
type liedTerms struct{ store.Store }

func (l liedTerms) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := l.Store.Terms(ctx, tenant, ranges)
	lists[0][0].Value = lists[0][1].Value
	return lists, err
}

// lied lacks the first entry of each answer.
type lied struct{ store.Store }

func (l lied) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := l.Store.Entries(ctx, tenant, p)
	return list[1:], err
}

// TestRefused erases what cannot be, and adopts what no erasure is.
func TestRefused(t *testing.T) {
	ctx := t.Context()
	s, b := filled(t)
	for _, e := range []erasures.Erasure{{Turn: storetest.TurnID(1), At: -1}, {Turn: storetest.TurnID(1), Reason: "\xff"}} {
		if _, err := b.Erase(ctx, tenant, e); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%+v: %v, want dag.ErrForm", e, err)
		}
	}
	if _, err := b.Erase(ctx, tenant, storetest.Erasure(9)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown turn: %v, want ErrNotFound", err)
	}
	good := storetest.Erased(7, 2)
	for name, change := range map[string]func(e *history.Entry){
		"no JSON":            func(e *history.Entry) { e.Public = []byte("x") },
		"a field less":       func(e *history.Entry) { e.Public = []byte(`{"at":"1970-01-01T00:00:00.000007Z"}`) },
		"another spelling":   func(e *history.Entry) { e.Public = append([]byte(" "), e.Public...) },
		"another time":       func(e *history.Entry) { e.At++ },
		"a detail":           func(e *history.Entry) { e.Detail = []byte("x") },
		"of an unknown turn": func(e *history.Entry) { other := storetest.Erased(7, 9); *e = other.Entry() },
		"of an erased turn":  func(e *history.Entry) { other := storetest.Erased(7, 3); *e = other.Entry() },
	} {
		s, b := filled(t)
		if _, err := b.Erase(ctx, tenant, storetest.Erasure(3)); err != nil {
			t.Fatal(err)
		}
		e := good.Entry()
		change(&e)
		c, err := (&erasures.Codec{}).Adopt([]history.Entry{e})
		if err == nil {
			err = s.Write(ctx, tenant, c)
		}
		if !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
	leaf := history.Entry{Seq: 1, Kind: erasures.Logged, Public: good.Leaf(tenant)}
	for name, change := range map[string]func(e *history.Entry){
		"no leaf":           func(e *history.Entry) { e.Public = []byte("x") },
		"a leaf of a key":   func(e *history.Entry) { e.Public = storetest.Leaves(0, 1)[0] },
		"with a detail":     func(e *history.Entry) { e.Detail = []byte("x") },
		"of another tenant": func(e *history.Entry) { e.Public = good.Leaf("other") },
	} {
		e := leaf
		change(&e)
		c, err := erasures.LoggedCodec{}.Adopt([]history.Entry{e})
		if err == nil {
			err = s.Write(ctx, tenant, c)
		}
		if !errors.Is(err, dag.ErrForm) {
			t.Errorf("a leaf, %s: %v, want dag.ErrForm", name, err)
		}
	}
}

// TestAdoptWith lets a change act with each erasure that is adopted.
func TestAdoptWith(t *testing.T) {
	ctx := t.Context()
	s, _ := filled(t)
	var seen []dag.Seq
	codec := &erasures.Codec{With: func(e *erasures.Erasure) []history.Change {
		seen = append(seen, e.Seq)
		return []history.Change{taking{}}
	}}
	first, second := storetest.Erased(6, 2), storetest.Erased(7, 4)
	entries := []history.Entry{first.Entry(), second.Entry()}
	c, err := codec.Adopt(entries)
	if err == nil {
		err = s.Adopt(ctx, tenant, store.Stretch{Entries: entries, Change: c})
	}
	if err != nil || !slices.Equal(seen, []dag.Seq{6, 7}) {
		t.Errorf("saw %d, %v", seen, err)
	}
	for _, n := range []int{2, 4} {
		if r, err := s.Turns(ctx, tenant, store.IDs{storetest.TurnID(n)}); err != nil || len(r) != 1 || r[0].Body != nil {
			t.Errorf("turn %d: %+v, %v", n, r, err)
		}
	}
}

// taking writes nothing.
type taking struct{}

func (taking) Needs(k *history.State) (n history.Needs) {
	if k.Round < 2 {
		n.Ranges = []history.Range{{Index: history.Index(k.Round)}}
	}
	return n
}

func (taking) Plan(k *history.State) (*history.Plan, error) {
	if len(k.Ranges) != 2 {
		return nil, errors.New("it knows ranges of others")
	}
	return &history.Plan{Erases: true}, nil
}
