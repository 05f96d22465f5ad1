package survey

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/graphkernel/graphkernel/dag"
)

// LookAt has an atlas look at so many records, until what it returns is called.
func LookAt(n uint64) func() {
	before := mostHanded
	mostHanded = n
	return func() { mostHanded = before }
}

// ReadsOn reports whether the ranking of a view, which nobody has asked for, would be read on from the one before.
func ReadsOn(ctx context.Context, v *View) bool {
	before := v.of.ranking
	r, err := v.rank(ctx)
	v.of.ranking = before
	if before == nil || err != nil {
		return false
	}
	names := make([]uint64, len(v.Handed))
	for i := range v.Handed {
		names[i] = v.Handed[i].Number
	}
	on, err := before.On(ctx, names, v.Sets)
	return on != nil && err == nil && r != nil
}

// KeptOf lists every text that is kept of a tenant's atlas, and counts its views.
func KeptOf(a Atlas, tenant dag.Tenant) (texts []string, views int) {
	var g *gathered
	_ = a.Kernel.Surveying(func(kept *Kept) error {
		g = kept.kept[tenant]
		return nil
	})
	if g == nil {
		return nil, 0
	}
	seen := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			texts = append(texts, v.String())
		case reflect.Pointer:
			if v.IsNil() || seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
			walk(v.Elem())
		case reflect.Interface:
			if v.Type() != reflect.TypeFor[Epoch]() {
				walk(v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				walk(key)
				walk(v.MapIndex(key))
			}
		}
	}
	walk(reflect.ValueOf(g))
	return texts, len(g.views)
}

// TestMade has one compute for all, and the next one begin again when the context of the first ends.
func TestMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade[int]()
		computed := 0
		finish := make(chan struct{})
		compute := func(ctx context.Context) func() (int, error) {
			return func() (int, error) {
				computed++
				select {
				case <-finish:
					return 7, nil
				case <-ctx.Done():
					return 0, ctx.Err()
				}
			}
		}
		first, end := context.WithCancel(t.Context())
		impatient, leave := context.WithCancel(t.Context())
		errs := make(chan error, 2)
		values := make(chan int, 3)
		go func() {
			_, err := m.get(first, compute(first))
			errs <- err
		}()
		synctest.Wait()
		go func() {
			_, err := m.get(impatient, compute(impatient))
			errs <- err
		}()
		synctest.Wait()
		if leave(); !errors.Is(<-errs, context.Canceled) || computed != 1 {
			t.Errorf("who left while another computed: %d computations", computed)
		}
		for range 3 {
			go func() {
				v, _ := m.get(t.Context(), compute(t.Context()))
				values <- v
			}()
		}
		synctest.Wait()
		if computed != 1 {
			t.Errorf("%d compute at once", computed)
		}
		if end(); !errors.Is(<-errs, context.Canceled) {
			t.Error("the first one's context ended, and it did not")
		}
		synctest.Wait()
		if computed != 2 {
			t.Errorf("%d computations after the first one ended, want another one", computed)
		}
		close(finish)
		for range 3 {
			if v := <-values; v != 7 {
				t.Errorf("got %d", v)
			}
		}
		if v, err := m.get(t.Context(), compute(t.Context())); v != 7 || err != nil || computed != 2 {
			t.Errorf("got %d, %v after %d computations", v, err, computed)
		}
	})
}
