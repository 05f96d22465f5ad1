package issued_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

const tenant = storetest.Tenant

// recorded returns a store with four records, of turns and of facts, and its entries.
func recorded(t *testing.T) (issued.Base, []history.Entry) {
	t.Helper()
	b := issued.Base{History: inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 2})}
	list := []issued.Record{storetest.Issued(1, 1), storetest.IssuedFacts(2, 1), storetest.Issued(3, 2), storetest.IssuedFacts(4, 2)}
	if _, err := b.Put(t.Context(), tenant, list); err != nil {
		t.Fatal(err)
	}
	entries, err := b.Entries(t.Context(), tenant, history.Page{Stream: history.Record, Limit: 9})
	if err != nil || len(entries) != len(list) {
		t.Fatal(entries, err)
	}
	return b, entries
}

func adopt(s store.Store, of dag.Tenant, entries []history.Entry) error {
	c, err := issued.Codec{}.Adopt(entries)
	if err != nil {
		return err
	}
	return s.Write(context.Background(), of, history.Exactly(c, history.Record, entries))
}

func fresh() store.Store { return inmem.Open(&inmem.Disk{}, inmem.Options{Seed: 3}) }

// TestForms writes the details out, since they are for ever.
func TestForms(t *testing.T) {
	_, entries := recorded(t)
	for i, want := range []struct{ detail, private string }{
		{"\x00\x00\x00\x00\x00\x00\x00\x01" + "00000000000000000000000000000001" + "\x00" + storetest.AskedBy(1), ""},
		{"\x00\x00\x00\x00\x00\x00\x00\x02" + "\x9e\x37\x79\xb9\x7f\x4a\x7c\x15" +
			"\xda\xa6\x6d\x2c\x7d\xdf\x74\x3f\x00\x00\x00\x00\x00\x00\x00\x03" + "\x02\x01" + string(make([]byte, 30)) + "\x00" + "00000000000000000000000000000002" + "\x00" + storetest.AskedBy(2), "entity 1, \U0001f464?"},
	} {
		if e := &entries[i]; e.Kind != "issued/1" || string(e.Detail) != want.detail || string(e.Private) != want.private {
			t.Errorf("entry %d is of kind %s with the detail %q and the private half %q", i, e.Kind, e.Detail, e.Private)
		}
	}
}

// TestAskedBy writes records of callers of each kind. One without a caller is read as one whose caller was not recorded, and names that
// are no caller's are refused, written or read.
func TestAskedBy(t *testing.T) {
	const id = "0123456789abcdef"
	for _, make := range []func(int, int) issued.Record{storetest.Issued, storetest.IssuedFacts} {
		for n, by := range []string{"", id, "jwt:Anna \U0001f464", "local", "stdio"} {
			b := issued.Base{History: fresh()}
			r := make(1, 1)
			r.By = by
			if _, err := b.Put(t.Context(), tenant, []issued.Record{r}); err != nil {
				t.Fatal(err)
			}
			r.Number = 1
			if got, err := b.After(t.Context(), tenant, 0, 2); err != nil || len(got) != 1 || got[0] != r {
				t.Errorf("%d: got %+v, %v, want %+v", n, got, err, r)
			}
			entries, err := b.Entries(t.Context(), tenant, history.Page{Stream: history.Record, Limit: 9})
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			if named := bytes.Contains(entries[0].Detail, []byte(r.Token+"\x00")); named != (by != "") {
				t.Errorf("the detail of a record by %q is %q", by, entries[0].Detail)
			}
		}
		for _, by := range []string{" ", "LOCAL", "jwt:", "0123456789abcde", id + "0", "a\x00b", "\xff"} {
			r := make(1, 1)
			if r.By = by; r.Check() == nil {
				t.Errorf("a record by %q was taken", by)
			}
		}
	}
	_, entries := recorded(t)
	for _, rest := range []string{"\x00", "\x00nobody", "\x00local\x00"} {
		e := entries[0]
		e.Detail = append(bytes.Clone(e.Detail[:8+32]), rest...)
		if r, _, err := issued.Read(&e); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%q was read as a record by %q, %v", rest, r.By, err)
		}
	}
}

// TestErasedQuestion takes a question away: everything else of the record stays, and it can be copied.
func TestErasedQuestion(t *testing.T) {
	b, entries := recorded(t)
	if err := b.Write(t.Context(), tenant, forgetting{2}); err != nil {
		t.Fatal(err)
	}
	want := storetest.IssuedFacts(2, 1)
	want.Question, want.Number, want.Leaf = "", 2, 1
	if got, err := b.After(t.Context(), tenant, 1, 1); err != nil || len(got) != 1 || got[0] != want || !got[0].OfFacts() {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	entries[1].Private = nil
	if err := adopt(fresh(), tenant, entries); err != nil {
		t.Error(err)
	}
}

// forgetting takes away the private half of an entry of the record.
type forgetting struct{ seq dag.Seq }

func (forgetting) Needs(*history.State) history.Needs { return history.Needs{} }

func (f forgetting) Plan(*history.State) (*history.Plan, error) {
	return &history.Plan{ForgetRecords: []dag.Seq{f.seq}}, nil
}

// TestLookUps asks for records by slice and by number.
func TestLookUps(t *testing.T) {
	ctx := t.Context()
	b, _ := recorded(t)
	later := storetest.Issued(0, 1) // of an earlier view than the first one
	if _, err := b.Put(ctx, tenant, []issued.Record{later}); err != nil {
		t.Fatal(err)
	}
	numbers := func(list []issued.Record, err error) (n []uint64) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		for i := range list {
			n = append(n, list[i].Number)
		}
		return n
	}
	for _, c := range []struct{ got, want []uint64 }{
		{numbers(b.ByID(ctx, tenant, later.Provenance.SliceID)), []uint64{1, 2, 5}},
		{numbers(b.ByID(ctx, tenant, "0123456789abcdef")), nil},
		{numbers(b.ByID(ctx, tenant, "no id")), nil},
		{numbers(b.ByID(ctx, "other", later.Provenance.SliceID)), nil},
		{numbers(b.After(ctx, tenant, 1, 2)), []uint64{2, 3}},
		{numbers(b.After(ctx, tenant, 5, 2)), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got the numbers %d, want %d", c.got, c.want)
		}
	}
	for of, want := range map[dag.Tenant]uint64{tenant: 5, "other": 0} {
		if n, err := b.Last(ctx, of); err != nil || n != want {
			t.Errorf("the last of %s is %d, %v, want %d", of, n, err, want)
		}
	}
}

// TestCheck refuses records that are not in form.
func TestCheck(t *testing.T) {
	for name, change := range map[string]func(r *issued.Record){
		"no slice":            func(r *issued.Record) { r.Provenance.SliceID = "x" },
		"no anchor":           func(r *issued.Record) { r.Provenance.Anchor = dag.TurnID{} },
		"no hash":             func(r *issued.Record) { r.Provenance.PolicyParamsHash = dag.Digest{} },
		"another version":     func(r *issued.Record) { r.Provenance.SchemaVersion = "other" },
		"a later version":     func(r *issued.Record) { r.Provenance.SchemaVersion = "gkp/9" },
		"no key":              func(r *issued.Record) { r.KeyID = "" },
		"a token of no text":  func(r *issued.Record) { r.Token = "\xff" },
		"turns with question": func(r *issued.Record) { r.Question = "q" },
		"facts without one":   func(r *issued.Record) { r.Provenance.SchemaVersion = slice.FactsVersion },
		"question of no text": func(r *issued.Record) { *r = storetest.IssuedFacts(1, 1); r.Question = "\x00" },
		"gkc/2, read as before": func(r *issued.Record) {
			*r = storetest.IssuedContext(1, 1)
			r.Provenance.SchemaVersion, r.Reading = slice.ContextVersionV2, dag.ReadVouched
		},
		"gkc/1, read as now": func(r *issued.Record) {
			*r = storetest.IssuedContext(1, 1)
			r.Reading = dag.ReadStandings
		},
		"a view of no number":   func(r *issued.Record) { r.AsOf = dag.MaxSeq + 1 },
		"handed out at no time": func(r *issued.Record) { r.At = -1 },
	} {
		r := storetest.Issued(9, 1)
		change(&r)
		if _, err := (issued.Base{History: fresh()}).Put(t.Context(), tenant, []issued.Record{storetest.Issued(1, 1), r}); !errors.Is(err, dag.ErrForm) && !errors.Is(err, slice.ErrVersion) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
}

// TestAdopt takes entries over, whole and in parts, and refuses those that cannot follow.
func TestAdopt(t *testing.T) {
	b, entries := recorded(t)
	want, err := b.After(t.Context(), tenant, 0, 9)
	if err != nil {
		t.Fatal(err)
	}
	for n := range entries {
		s := fresh()
		if err := errors.Join(adopt(s, tenant, entries[:n]), adopt(s, tenant, entries[n:])); err != nil {
			t.Errorf("after %d: %v", n, err)
		}
		if got, err := (issued.Base{History: s}).After(t.Context(), tenant, 0, 9); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d: got %+v, %v, want %+v", n, got, err, want)
		}
	}
	changed := func(n int, change func(e *history.Entry)) []history.Entry {
		list := slices.Clone(entries)
		list[n].Detail, list[n].Public = bytes.Clone(list[n].Detail), bytes.Clone(list[n].Public)
		change(&list[n])
		return list
	}
	again := slices.Clone(entries[:1])
	again[0].Seq = 5
	for name, list := range map[string][]history.Entry{
		"without the first":     entries[1:],
		"without the second":    {entries[0], entries[2]},
		"in another order":      {entries[1], entries[0]},
		"a bundle twice":        append(slices.Clone(entries), changed(0, func(e *history.Entry) { e.Seq, e.Detail[7] = 5, 5 })[0]),
		"a number twice":        changed(1, func(e *history.Entry) { e.Detail[7] = 1 }),
		"a number left out":     changed(1, func(e *history.Entry) { e.Detail[7] = 3 }),
		"number 0":              changed(0, func(e *history.Entry) { e.Detail[7] = 0 }),
		"without a detail":      changed(0, func(e *history.Entry) { e.Detail = nil }),
		"a detail cut short":    changed(1, func(e *history.Entry) { e.Detail = e.Detail[:63] }),
		"a question of turns":   changed(0, func(e *history.Entry) { e.Private = []byte("q") }),
		"a question of no text": changed(1, func(e *history.Entry) { e.Private = []byte{0xff} }),
		"a token of no text":    changed(0, func(e *history.Entry) { e.Detail[8] = 0 }),
		"no leaf":               changed(0, func(e *history.Entry) { e.Public = []byte("{}") }),
		"a leaf of another act": changed(0, func(e *history.Entry) { e.Public = storetest.Leaves(0, 1)[0] }),
		"a bent leaf":           changed(0, func(e *history.Entry) { e.Public[2] ^= 1 }),
	} {
		if err := adopt(fresh(), tenant, list); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
	if err := adopt(fresh(), "other", entries); !errors.Is(err, dag.ErrForm) {
		t.Errorf("another tenant: %v, want dag.ErrForm", err)
	}
	s := fresh()
	if err := adopt(s, tenant, entries); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string][]history.Entry{
		"a bundle that is there": changed(0, func(e *history.Entry) { e.Seq, e.Detail[7] = 5, 5 })[:1],
		"a number that is there": again,
	} {
		if err := adopt(s, tenant, list); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
	for _, number := range []byte{1, 2, 4} {
		s, list := fresh(), changed(2, func(e *history.Entry) { e.Detail[7] = number })
		if err := adopt(s, tenant, list[:2]); err != nil {
			t.Fatal(err)
		}
		if err := adopt(s, tenant, list[2:3]); !errors.Is(err, dag.ErrForm) {
			t.Errorf("number %d after two: %v, want dag.ErrForm", number, err)
		}
	}
	if got := (issued.Codec{}).AsOf(&entries[3]); got != 4 {
		t.Errorf("it is as of %d, want 4", got)
	}
}

// TestAdoptTasks takes erasures of tasks over into a store that has the records with their tasks: one at a time, and two at once. A record that was made after an erasure keeps its task.
func TestAdoptTasks(t *testing.T) {
	ctx := t.Context()
	records := []issued.Record{storetest.IssuedContext(1, 1), storetest.IssuedContext(2, 2), storetest.IssuedContext(3, 1)}
	later := storetest.IssuedContext(5, 1)
	source := issued.Base{History: fresh()}
	put := func(b issued.Base, list ...issued.Record) {
		t.Helper()
		if _, err := b.Put(ctx, tenant, list); err != nil {
			t.Fatal(err)
		}
	}
	erase := func() {
		t.Helper()
		if e, err := source.EraseTask(ctx, tenant, storetest.TaskErasure(1)); err != nil || e.Seq == 0 {
			t.Fatal(e, err)
		}
	}
	put(source, records...)
	erase()
	put(source, later)
	erase()
	entries, err := source.Entries(ctx, tenant, history.Page{Limit: 9})
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	for n, want := range [][]uint64{{1, 2, 3, 4}, {2, 4}, {2}} {
		s := fresh()
		b := issued.Base{History: s}
		put(b, append(slices.Clone(records), later)...)
		c, err := issued.TaskCodec{}.Adopt(entries[:n])
		if err == nil {
			err = s.Write(ctx, tenant, history.Exactly(c, history.Known, entries[:n]))
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := b.After(ctx, tenant, 0, 9)
		if err != nil {
			t.Fatal(err)
		}
		var with []uint64
		for i := range list {
			if list[i].Question != "" {
				with = append(with, list[i].Number)
			}
		}
		if !slices.Equal(with, want) {
			t.Errorf("after %d erasures records %d have their tasks, want %d", n, with, want)
		}
	}
	of := issued.TaskCodec{}
	entries[1].Public = entries[1].Public[1:]
	if c, err := of.Adopt(entries[1:]); err == nil {
		if err := fresh().Write(ctx, tenant, c); !errors.Is(err, dag.ErrForm) {
			t.Errorf("an erasure that is none: %v, want dag.ErrForm", err)
		}
	}
}

// TestAdoptUndelivered takes over that a context was not given, once.
func TestAdoptUndelivered(t *testing.T) {
	ctx, source := t.Context(), issued.Base{History: fresh()}
	u := issued.Undelivered{Context: storetest.Issued(1, 1).Provenance.SliceID, Bundle: dag.Digest{1}, Reason: "the pipe was closed", At: 1_800_000_000_000_000}
	first, err := source.PutUndelivered(ctx, tenant, u)
	if err != nil || first.Seq != 1 {
		t.Fatal(first, err)
	}
	if again, err := source.PutUndelivered(ctx, tenant, u); err != nil || again != first {
		t.Errorf("again: %+v, %v", again, err)
	}
	entries, err := source.Entries(ctx, tenant, history.Page{Limit: 9})
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	twice := append(slices.Clone(entries), entries[0])
	twice[1].Seq = 2
	for n, want := range []error{1: nil, 2: dag.ErrForm} {
		s := fresh()
		c, err := issued.UndeliveredCodec{}.Adopt(twice[:n])
		if err == nil {
			err = s.Write(ctx, tenant, history.Exactly(c, history.Known, twice[:n]))
		}
		if !errors.Is(err, want) {
			t.Errorf("%d entries: %v, want %v", n, err, want)
		}
		if of, err := (issued.Base{History: s}).Undelivered(ctx, tenant); err != nil || n == 1 && of[u.Bundle] != 1 {
			t.Errorf("%d entries: %v, %v", n, of, err)
		}
	}
}

// TestDamaged reads what terms lead to that is no record, or that is missing.
func TestDamaged(t *testing.T) {
	b, _ := recorded(t)
	for name, change := range map[string]func([]history.Entry) []history.Entry{
		"an entry less":       func(list []history.Entry) []history.Entry { return list[1:] },
		"another leaf":        func(list []history.Entry) []history.Entry { list[0].Public = storetest.Leaves(0, 1)[0]; return list },
		"without the details": func(list []history.Entry) []history.Entry { list[0].Detail = nil; return list },
	} {
		lying := issued.Base{History: lied{b.History, change}}
		if list, err := lying.After(t.Context(), tenant, 0, 9); !errors.Is(err, issued.ErrDamaged) || list != nil {
			t.Errorf("%s: %+v, %v, want ErrDamaged", name, list, err)
		}
	}
}

type lied struct {
	history.History
	change func([]history.Entry) []history.Entry
}

func (l lied) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := l.History.Entries(ctx, tenant, p)
	return l.change(list), err
}
