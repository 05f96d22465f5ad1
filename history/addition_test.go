package history_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

const tenant dag.Tenant = "acme"

func addition(key string, seq dag.Seq) history.Addition {
	return history.Addition{
		Entry:  history.Entry{Seq: seq, Kind: "did/1", Public: []byte("leaf of " + key)},
		Tenant: tenant, Key: history.Key{Index: 200, Key: key}, Value: []byte("value of " + key),
		More: []history.Term{{Index: 201, Key: []byte("more " + key)}},
	}
}

// TestAdditions adds entries of which one is there already and one comes twice.
func TestAdditions(t *testing.T) {
	refused := errors.New("refused")
	there := history.Term{Index: 200, Key: []byte("b"), Since: 4, Until: history.Forever, Value: []byte("other")}
	state := func() *history.State {
		return &history.State{Tenant: tenant, Size: 9, Newest: map[history.Key]history.Term{{Index: 200, Key: "b"}: there}}
	}
	a := &history.Additions{List: []history.Addition{addition("a", 0), addition("b", 0), addition("c", 0), addition("a", 0)}}
	if n := a.Needs(&history.State{}); !n.Size || len(n.Newest) != 4 || n.Newest[1] != (history.Key{Index: 200, Key: "b"}) {
		t.Errorf("it needs %+v", n)
	}
	if n := a.Needs(&history.State{Round: 1}); !n.None() {
		t.Errorf("then it needs %+v", n)
	}
	p, err := a.Plan(state())
	if err != nil || !slices.Equal(a.Numbers, []dag.Seq{10, 4, 11, 10}) {
		t.Fatalf("numbers %d, %v", a.Numbers, err)
	}
	if err := p.Check(3, 9); err != nil || len(p.Records) != 2 || len(p.Begin) != 4 || p.Records[1].Seq != 11 {
		t.Errorf("planned %+v, %v", p, err)
	}
	for i, want := range []history.Term{
		{Index: 200, Key: []byte("a"), Since: 10}, {Index: 201, Key: []byte("more a"), Since: 10},
		{Index: 200, Key: []byte("c"), Since: 11}, {Index: 201, Key: []byte("more c"), Since: 11},
	} {
		if got := &p.Begin[i]; got.Compare(&want) != 0 || got.Until != history.Forever {
			t.Errorf("term %d is %+v", i, got)
		}
	}
	for name, c := range map[string]struct {
		a    *history.Additions
		want error
	}{
		"a repetition that is refused": {&history.Additions{List: []history.Addition{func() history.Addition {
			b := addition("b", 0)
			b.Again = func(t *history.Term) error {
				if string(t.Value) != "other" {
					return nil
				}
				return refused
			}
			return b
		}()}}, refused},
		"an adopted one that is there": {&history.Additions{Adopting: true, List: []history.Addition{addition("b", 10)}}, dag.ErrForm},
		"another tenant": {&history.Additions{List: []history.Addition{func() history.Addition {
			a := addition("a", 0)
			a.Tenant = "other"
			return a
		}()}}, dag.ErrForm},
	} {
		if p, err := c.a.Plan(state()); !errors.Is(err, c.want) || p != nil {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	adopted := &history.Additions{Adopting: true, List: []history.Addition{addition("a", 10), addition("c", 12)}}
	if p, err := adopted.Plan(state()); err != nil || p.Records[1].Seq != 12 || p.Check(3, 9) == nil { // which leaves 11 out
		t.Errorf("adopted: %+v, %v", p, err)
	}
}

// TestExactly plans what another store has, and what it has not.
func TestExactly(t *testing.T) {
	state := &history.State{Tenant: tenant, Size: 9}
	list := []history.Entry{addition("a", 10).Entry}
	a := &history.Additions{Adopting: true, List: []history.Addition{addition("a", 10)}}
	if _, err := history.Exactly(a, history.Record, list).Plan(state); err != nil {
		t.Error(err)
	}
	detailed := slices.Clone(list)
	detailed[0].Detail = []byte("x")
	for name, other := range map[string][]history.Entry{"a detail": detailed, "none": nil} {
		if _, err := history.Exactly(a, history.Record, other).Plan(state); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := history.Exactly(a, history.Known, list).Plan(state); !errors.Is(err, dag.ErrForm) {
		t.Errorf("of the other stream: %v", err)
	}
}

// TestOnce plans nothing where all entries are already, and plans as before where one is not or is another.
func TestOnce(t *testing.T) {
	list := []history.Entry{addition("a", 10).Entry, addition("c", 11).Entry}
	a := &history.Additions{Adopting: true, List: []history.Addition{addition("a", 10), addition("c", 11)}}
	once := history.Once(history.Exactly(a, history.Record, list), list)
	if n := once.Needs(&history.State{}); !slices.Equal(n.Records, []dag.Seq{10, 11}) || !n.Size {
		t.Errorf("it needs %+v", n)
	}
	another := list[1]
	another.Detail = []byte("x")
	for name, c := range map[string]struct {
		there []history.Entry
		plans int
	}{"none": {nil, 2}, "one": {list[:1], 2}, "another": {[]history.Entry{list[0], another}, 2}, "all": {list, 0}} {
		state := &history.State{Tenant: tenant, Size: 9, Records: map[dag.Seq]history.Entry{}}
		state.AddEntries(history.Record, c.there)
		if p, err := once.Plan(state); err != nil || len(p.Records) != c.plans {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

type gapped []history.Entry

func (g gapped) Entries(context.Context, dag.Tenant, history.Page) ([]history.Entry, error) {
	return g, nil
}

// TestLeaves makes sure that a gap among the leaves is an error.
func TestLeaves(t *testing.T) {
	got, err := history.Leaves(t.Context(), gapped{addition("a", 3).Entry, addition("b", 4).Entry}, tenant, 2, 9)
	if err != nil || len(got) != 2 || string(got[1]) != "leaf of b" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := history.Leaves(t.Context(), gapped{addition("a", 3).Entry, addition("b", 5).Entry}, tenant, 2, 9); err == nil || !strings.Contains(err.Error(), "leaf 3") {
		t.Error(err)
	}
}
