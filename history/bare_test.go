package history_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

// bareLeaves are of a tenant that the first letter names.
var bareLeaves = &history.Bare{Kind: "bare/1", Index: 202, Check: func(leaf []byte) (dag.Tenant, error) {
	switch leaf[0] {
	case 'a':
		return "acme", nil
	case 'o':
		return "other", nil
	case 'n':
		return "", nil
	}
	return "", errors.New("no leaf")
}}

// A written record has the entry of one leaf, under number 4, and remembers what is planned.
type written struct {
	of   history.Entry
	plan *history.Plan
}

func (w *written) Write(_ context.Context, _ dag.Tenant, c history.Change) (err error) {
	leaf := w.of.Leaf()
	known, err := history.Know(c, tenant, 7, func(n *history.Needs, k *history.State) error {
		for _, key := range n.Newest {
			if key == (history.Key{Index: 202, Key: string(leaf[:])}) {
				k.AddNewest(history.Term{Index: 202, Key: leaf[:], Since: 4, Until: history.Forever})
			}
		}
		k.Size = 9
		return nil
	})
	if err == nil {
		w.plan, err = c.Plan(known)
	}
	return err
}

// TestBare puts leaves of which one is there and one comes twice, and adopts and refuses others.
func TestBare(t *testing.T) {
	ctx := t.Context()
	w := &written{of: history.Entry{Public: []byte("a there")}}
	at, err := bareLeaves.Put(ctx, w, tenant, [][]byte{[]byte("a new"), []byte("a there"), []byte("n new"), []byte("a new")})
	if err != nil || !slices.Equal(at, []uint64{9, 3, 10, 9}) || len(w.plan.Records) != 2 || len(w.plan.Begin) != 2 {
		t.Errorf("at %d, %v, planned %+v", at, err, w.plan)
	}
	if e := &w.plan.Records[1]; e.Kind != "bare/1" || e.Seq != 11 || string(e.Public) != "n new" {
		t.Errorf("planned %+v", e)
	}
	if at, err := bareLeaves.Put(ctx, nil, tenant, nil); err != nil || at != nil {
		t.Errorf("none: %d, %v", at, err)
	}
	adopt := func(e history.Entry) error {
		c, err := bareLeaves.Adopt([]history.Entry{e})
		if err != nil {
			return err
		}
		return w.Write(ctx, tenant, history.Exactly(c, history.Record, []history.Entry{e}))
	}
	good := history.Entry{Seq: 10, Kind: "bare/1", Public: []byte("a new")}
	if err := adopt(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(e *history.Entry){
		"one that is there":   func(e *history.Entry) { e.Public = []byte("a there") },
		"of another tenant":   func(e *history.Entry) { e.Public = []byte("o new") },
		"no leaf":             func(e *history.Entry) { e.Public = []byte("x") },
		"with a detail":       func(e *history.Entry) { e.Detail = []byte("x") },
		"with a private half": func(e *history.Entry) { e.Private = []byte("x") },
	} {
		e := good
		change(&e)
		if err := adopt(e); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
}
