package storetest

import (
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// testTasks erases the tasks of contexts: of every record of a context, of no other context and no other tenant. Erasing
// again changes nothing. A context that is handed out again after an erasure has its task until it is erased again.
func testTasks(t *testing.T, h Harness) {
	s, ctx := open(t, h), t.Context()
	list := []issued.Record{IssuedContext(1, 1), IssuedContext(2, 2), IssuedContext(3, 1), IssuedFacts(4, 1)}
	list[3].Provenance.SliceID = Issued(1, 3).Provenance.SliceID
	for _, tenant := range []dag.Tenant{Tenant, "other"} {
		if _, err := Bundles(s).Put(ctx, tenant, list); err != nil {
			t.Fatal(err)
		}
	}
	asked := func(tenant dag.Tenant) (with []uint64) {
		t.Helper()
		records, err := Bundles(s).After(ctx, tenant, 0, 9)
		if err != nil {
			t.Fatal(err)
		}
		for i := range records {
			if records[i].Question != "" {
				with = append(with, records[i].Number)
			}
		}
		return with
	}
	first, err := Bundles(s).EraseTask(ctx, Tenant, TaskErasure(1))
	want := TaskErasure(1)
	want.Seq, want.Size = 1, 4
	if err != nil || first != want {
		t.Fatalf("got %+v, %v, want %+v", first, err, want)
	}
	if got := asked(Tenant); !slices.Equal(got, []uint64{2, 4}) {
		t.Errorf("records %v have what was asked, want 2 and 4", got)
	}
	if got := asked("other"); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
		t.Errorf("records %v of another tenant have what was asked", got)
	}
	later := TaskErasure(1)
	later.Reason, later.At = "again", later.At+1
	if again, err := Bundles(s).EraseTask(ctx, Tenant, later); err != nil || again != first {
		t.Errorf("erased again: %+v, %v, want the first", again, err)
	}
	if _, err := Bundles(s).Put(ctx, Tenant, []issued.Record{IssuedContext(1, 1), IssuedContext(5, 1)}); err != nil {
		t.Fatal(err)
	}
	if got := asked(Tenant); !slices.Equal(got, []uint64{2, 4, 5}) {
		t.Errorf("records %v have what was asked after the context was handed out anew, want 2, 4 and 5", got)
	}
	second, err := Bundles(s).EraseTask(ctx, Tenant, later)
	later.Seq, later.Size = 2, 5
	if err != nil || second != later {
		t.Errorf("got %+v, %v, want %+v", second, err, later)
	}
	of, err := Bundles(s).TaskErasuresOf(ctx, Tenant, want.Context)
	after, listed := Bundles(s).TaskErasures(ctx, Tenant, 1, 9)
	if err != nil || listed != nil || !slices.Equal(of, []issued.TaskErasure{first, second}) || !slices.Equal(after, []issued.TaskErasure{second}) {
		t.Errorf("got %+v and %+v, %v, %v", of, after, err, listed)
	}
	if _, err := Bundles(s).EraseTask(ctx, Tenant, TaskErasure(3)); err == nil {
		t.Error("the task of a slice of facts was erased")
	}
	if none, err := Bundles(s).EraseTask(ctx, Tenant, TaskErasure(7)); err != nil || none != (issued.TaskErasure{}) {
		t.Errorf("of an id that was never issued: %+v, %v", none, err)
	}
	if got := asked(Tenant); !slices.Equal(got, []uint64{2, 4}) {
		t.Errorf("records %v have what was asked at the end, want 2 and 4", got)
	}
}
