package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// TestDamagedActs makes sure that acts of which the history cannot be are not copied: with
// another leaf than theirs, or one that changes nothing.
func TestDamagedActs(t *testing.T) {
	for name, change := range map[string]func(list []knowledge.Recorded){
		"leaf":    func(list []knowledge.Recorded) { list[2].Leaf[1] ^= 1 },
		"time":    func(list []knowledge.Recorded) { list[2].At = -1 },
		"nothing": func(list []knowledge.Recorded) { list[2].Act, list[2].Leaf = list[1].Act, list[1].Leaf },
		"nothing that was believed": func(list []knowledge.Recorded) {
			list[2].Act.Supersedes = []knowledge.ID{{1}}
			list[2].Leaf = list[2].Act.Leaf()
		},
	} {
		from, to := &relearning{Store: filled(t, inMemory(t)), change: change}, inMemory(t)
		if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{}); !errors.Is(err, transfer.ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
		if acts, err := to.Acts(t.Context(), "a", 0, 9); err != nil || len(acts) > 0 {
			t.Errorf("%s: %d acts were copied, %v", name, len(acts), err)
		}
	}
}

// TestUntilDiffers copies again when the target says of a version that it ended otherwise, or
// that it did not. What ended since the last copy is no difference.
func TestUntilDiffers(t *testing.T) {
	from, to := filled(t, inMemory(t)), inMemory(t)
	if err := adopted(t, to, 50, func(*store.Stretch) {}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(list []knowledge.Recorded)
		want   error
	}{
		"another end": {func(list []knowledge.Recorded) { list[0].Until++ }, transfer.ErrDiffers},
		"an end":      {func(list []knowledge.Recorded) { list[2].Until = 45 }, transfer.ErrDiffers},
		"no end":      {func(list []knowledge.Recorded) { list[0].Until = dag.MaxSeq }, transfer.ErrDiffers},
		"the same":    {func([]knowledge.Recorded) {}, nil},
	} {
		if acts, err := to.Acts(t.Context(), "b", 0, 9); err != nil || acts[0].Until != 38 || acts[3].Until != dag.MaxSeq {
			t.Fatalf("%+v, %v", acts, err)
		}
		_, err := transfer.Copy(t.Context(), &unwilling{&relearning{Store: to, change: c.change}, errUnwilling}, from, transfer.Options{Tenants: []dag.Tenant{"b"}})
		if c.want == nil {
			c.want = errUnwilling
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

var errUnwilling = errors.New("unwilling")

// relearning changes what a store says of its first acts.
type relearning struct {
	store.Store
	change func(list []knowledge.Recorded)
}

func (r *relearning) Acts(ctx context.Context, tenant dag.Tenant, after dag.Seq, limit int) ([]knowledge.Recorded, error) {
	list, err := r.Store.Acts(ctx, tenant, after, limit)
	if len(list) > 0 && after < list[0].Seq && list[0].Seq == 33 {
		r.change(list)
	}
	return list, err
}

// TestManyActs makes sure that acts count for the number and the size of a stretch.
func TestManyActs(t *testing.T) {
	from := inMemory(t)
	var acts []knowledge.Act
	for n := range 1600 {
		f, err := knowledge.NewFact(fmt.Sprint(strings.Repeat("Long ", 400), n), "of", fmt.Sprint(strings.Repeat("LONG ", 400), n), "user")
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, knowledge.Act{Kind: knowledge.Assert, Fact: f})
	}
	if _, err := from.PutActs(t.Context(), "a", acts, 1); err != nil {
		t.Fatal(err)
	}
	for numbers, want := range map[int]int{0: 2, 300: 6} { // of 8 kB each
		to := &counting{Store: inMemory(t)}
		if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{Stretch: numbers}); err != nil {
			t.Fatal(err)
		}
		if to.stretches != want || numbers > 0 && to.numbers > numbers {
			t.Errorf("%d stretches of up to %d numbers, want %d", to.stretches, to.numbers, want)
		}
		sound(t, to)
	}
}
