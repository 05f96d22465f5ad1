package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/storetest"
	"github.com/graphkernel/graphkernel/store/transfer"
)

// TestDamagedEntries makes sure that entries of which the history cannot be are not copied: which
// are of another form, or change nothing.
func TestDamagedEntries(t *testing.T) {
	for name, change := range map[string]func(list []history.Entry){
		"kind":    func(list []history.Entry) { list[2].Kind = "other/1" },
		"form":    func(list []history.Entry) { list[2].Public = append(slices.Clone(list[2].Public), ' ') },
		"time":    func(list []history.Entry) { list[2].At = -1 },
		"nothing": func(list []history.Entry) { list[2].Kind, list[2].Public = list[1].Kind, list[1].Public },
		"nothing that was believed": func(list []history.Entry) {
			r, err := knowledge.FromEntry(&list[2])
			if err != nil {
				t.Fatal(err)
			}
			r.Act.Supersedes = []knowledge.ID{{1}}
			list[2].Public = r.Act.Append(nil)
		},
	} {
		from, to := &relearning{Store: filled(t, inMemory(t)), change: change}, inMemory(t)
		if _, err := transfer.Copy(t.Context(), to, from, transfer.Options{}); !errors.Is(err, transfer.ErrDamaged) {
			t.Errorf("%s: got %v", name, err)
		}
		if acts, err := storetest.Acts(t.Context(), to, "a", 0, 9); err != nil || len(acts) > 0 {
			t.Errorf("%s: %d acts were copied, %v", name, len(acts), err)
		}
	}
}

// relearning changes what a store says of its first entries.
type relearning struct {
	store.Store
	change func(list []history.Entry)
}

func (r *relearning) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := r.Store.Entries(ctx, tenant, p)
	if at := slices.IndexFunc(list, func(e history.Entry) bool { return e.Seq == 33 }); at >= 0 && p.Stream == history.Known && p.At == nil {
		r.change(list[at:])
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
	for some := range slices.Chunk(acts, 100) { // a change is copied whole
		if _, err := storetest.Facts(from).Learn(t.Context(), "a", some, 1); err != nil {
			t.Fatal(err)
		}
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
