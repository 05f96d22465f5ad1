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

// recorded are entries of the record of another store.
func recorded(from dag.Seq, list ...string) (entries []history.Entry) {
	for i, text := range list {
		entries = append(entries, history.Entry{Seq: from + dag.Seq(i), Kind: "word/1", Public: []byte(text)})
	}
	return entries
}

// planned plans a change of the record of a store that has nine entries, and some of those that the change asks for.
func planned(t *testing.T, c history.Change, there ...history.Entry) (*history.Plan, error) {
	t.Helper()
	k, err := history.Know(c, tenant, 3, func(n *history.Needs, k *history.State) error {
		k.Size = 9
		for _, e := range there {
			if slices.Contains(n.Records, e.Seq) {
				k.AddEntries(history.Record, []history.Entry{e})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c.Plan(k)
}

func adopting(t *testing.T, entries []history.Entry) history.Change {
	t.Helper()
	c, err := words{history.Record}.Adopt(entries)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExactly plans what another store has, and what it has not.
func TestExactly(t *testing.T) {
	list := recorded(10, "a")
	if _, err := planned(t, history.Exactly(adopting(t, list), history.Record, list)); err != nil {
		t.Error(err)
	}
	detailed := slices.Clone(list)
	detailed[0].Detail = []byte("x")
	for name, other := range map[string][]history.Entry{"a detail": detailed, "none": nil} {
		if _, err := planned(t, history.Exactly(adopting(t, list), history.Record, other)); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := planned(t, history.Exactly(adopting(t, list), history.Known, list)); !errors.Is(err, dag.ErrForm) {
		t.Errorf("of the other stream: %v", err)
	}
	gap := slices.Concat(recorded(10, "a"), recorded(12, "c"))
	if p, err := planned(t, adopting(t, gap)); err != nil || len(p.Records) != 2 || p.Check(3, 9) == nil { // which leaves 11 out
		t.Errorf("with a gap: %+v, %v", p, err)
	}
}

// TestOnce plans nothing where all entries are already, and plans as before where one is not or is another.
func TestOnce(t *testing.T) {
	list := recorded(10, "a", "c")
	another := list[1]
	another.Detail = []byte("x")
	for name, c := range map[string]struct {
		there []history.Entry
		plans int
	}{"none": {nil, 2}, "one": {list[:1], 2}, "another": {[]history.Entry{list[0], another}, 2}, "all": {list, 0}} {
		once := history.Once(history.Exactly(adopting(t, list), history.Record, list), list)
		if p, err := planned(t, once, c.there...); err != nil || len(p.Records) != c.plans {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	once := history.Once(history.Exactly(adopting(t, list), history.Record, list), list)
	if n := once.Needs(&history.State{}); !slices.Equal(n.Records, []dag.Seq{10, 11}) || !n.Size {
		t.Errorf("it needs %+v", n)
	}
}

type gapped []history.Entry

func (g gapped) Entries(context.Context, dag.Tenant, history.Page) ([]history.Entry, error) {
	return g, nil
}

// TestLeaves makes sure that a gap among the leaves is an error.
func TestLeaves(t *testing.T) {
	got, err := history.Leaves(t.Context(), gapped(recorded(3, "a", "b")), tenant, 2, 9)
	if err != nil || len(got) != 2 || string(got[1]) != "b" {
		t.Errorf("%q, %v", got, err)
	}
	gap := slices.Concat(recorded(3, "a"), recorded(5, "b"))
	if _, err := history.Leaves(t.Context(), gapped(gap), tenant, 2, 9); err == nil || !strings.Contains(err.Error(), "leaf 3") {
		t.Error(err)
	}
}
