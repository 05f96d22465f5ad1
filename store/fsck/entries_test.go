package fsck_test

import (
	"bytes"
	"context"
	value "database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	driver "modernc.org/sqlite"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
	"github.com/graphkernel/graphkernel/store/inmem"
	"github.com/graphkernel/graphkernel/store/storetest"
)

// entries changes columns of the entry of a number, see storetest.Fill.
func entries(seq int, set string) string {
	return fmt.Sprintf(`UPDATE entries SET %s WHERE tenant = 1 AND seq = %d`, set, seq)
}

// replaced replaces something in what an entry says, in all that follows from it within the row.
func replaced(seq int, from, to string) string {
	half := func(n int) string {
		return fmt.Sprintf(`replaced(%d, kind, public, detail, private, '%s', '%s')`, n, from, to)
	}
	return entries(seq, fmt.Sprintf(`public = %s, private = %s, leaf = %s`, half(0), half(1), half(2)))
}

func init() {
	driver.MustRegisterDeterministicScalarFunction("replaced", 7, func(_ *driver.FunctionContext, args []value.Value) (value.Value, error) {
		bytesOf := func(n int) []byte { b, _ := args[n].([]byte); return b }
		r, err := knowledge.FromEntry(&history.Entry{Seq: 1, Kind: history.Kind(args[1].(string)), Public: bytesOf(2), Detail: bytesOf(3), Private: bytesOf(4)})
		if err != nil {
			return nil, err
		}
		if r.Act, err = knowledge.Parse([]byte(strings.Replace(string(r.Act.Append(nil)), args[5].(string), args[6].(string), 1))); err != nil {
			return nil, err
		}
		e := r.Entry()
		leaf := e.Leaf()
		return []value.Value{e.Public, e.Private, int64(binary.BigEndian.Uint64(leaf[:]))}[args[0].(int64)], nil
	})
}

func turnID(n int) string { return storetest.TurnID(n).String() }

// entryDamages are those of entries and terms in a file. TestDamagedHistory has many more.
var entryDamages = []damage{
	{"entry gone", `DELETE FROM entries WHERE tenant = 1 AND seq = 50`, "number 50", "number"},
	{"entries gone", `DELETE FROM entries WHERE tenant = 1 AND seq BETWEEN 33 AND 38`, "numbers 33 to 38", "number"},
	{"last entry gone", `DELETE FROM entries WHERE tenant = 1 AND seq = 65`, "number 65", "number"},
	{"entry of another number", entries(65, `seq = 99`), "number 65", "number"},
	{"entry of another number, above the head", entries(65, `seq = 99`), "number 99", "head"},
	{"entry of another tenant", entries(50, `tenant = 7`), "number 50", "number"},
	{"entry of a turn's number", entries(50, `seq = 7`), "number 7", "number"},
	{"turn of an entry's number", `UPDATE turns SET seq = 50 WHERE tenant = 1 AND seq = 48`, "number 50", "number"},
	{"entry's bytes", entries(50, `public = CAST(public || ' ' AS BLOB)`), "number 1 and on", "readable"},
	{"entry's leaf", entries(37, `leaf = leaf + 1`), "number 1 and on", "readable"},
	{"entry, a fact's source", replaced(37, `user`, `another`), "number 37", "term"},
	{"entry, evidence that is not there", replaced(33, turnID(7), turnID(99)), "number 33", "evidence"},
	{"entry, evidence that came later", replaced(33, turnID(7), turnID(40)), "number 33", "evidence"},
	{"evidence gone", `DELETE FROM turns WHERE tenant = 1 AND substr(kept, 49, 16) = ` + id(7), "number 33", "evidence"},
	{"entry, supersedes what was not believed", replaced(53, `"supersedes":["1b`, `"supersedes":["0b`), "number 53", "entry"},
	{"entry, of a kind that nobody knows", entries(50, `kind = 'other/1'`), "number 50", "entry"},
	{"entry, at another time", entries(50, `at = at + 1`), "", ""}, // nothing else tells of it
	{"entry, at no time", entries(50, `at = -1`), "number 50", "entry"},
	{"entry, another part of its change", entries(35, `part = 5`), "number 34", "part"},
	{"entry, of a change of more parts", entries(38, `parts = 7`), "number 37", "part"},
	{"entry, of another change than the part before", entries(38, `part = 0, parts = 0`), "number 37", "part"},
	{"entry, of another change than the part after", entries(33, `part = 0, parts = 0`), "number 34", "part"},
	{"entry, of a change that ends beyond the head", entries(65, `part = part + 1, parts = parts + 3`), "number 65", "part"},
	{"entry, more than its parts", entries(65, `part = 3, parts = 2`), "number 65", "entry"},
	{"term gone", `DELETE FROM terms WHERE tenant = 1 AND since = 37 AND indx = 3`, "number 37", "term"},
	{"terms gone of what is believed no longer", `DELETE FROM terms WHERE tenant = 1 AND since = 57`, "number 57", "term"},
	{"term of a number above the head", `UPDATE terms SET since = 99, until = 9007199254740991 WHERE tenant = 1 AND since = 65 AND indx = 3`, "number 99", "head"},
	{"term that ends above the head", `UPDATE terms SET until = 4000 WHERE tenant = 1 AND since = 37 AND indx = 3`, "number 37", "head"},
}

// A damaged store answers from a copy of another store's entries and terms, one of which was changed.
type damaged struct {
	store.Store
	entries []history.Entry
	terms   []history.Term // in their order
}

func (d *damaged) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) (list []history.Entry, _ error) {
	if p.Stream == history.Record {
		return d.Store.Entries(ctx, tenant, p)
	}
	for i := range d.entries {
		e := &d.entries[i]
		if p.At != nil && slices.Contains(p.At, e.Seq) || p.At == nil && e.Seq > p.After && len(list) < p.Limit {
			list = append(list, *e)
		}
	}
	return list, nil
}

func (d *damaged) Terms(_ context.Context, _ dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists := make([][]history.Term, len(ranges))
	for i := range ranges {
		r := &ranges[i]
		for k := range d.terms {
			if r.Last {
				k = len(d.terms) - 1 - k
			}
			if r.Holds(&d.terms[k]) && (r.Limit == 0 || len(lists[i]) < r.Limit) {
				lists[i] = append(lists[i], d.terms[k])
			}
		}
	}
	return lists, nil
}

// undamaged reads all entries and terms of a store that storetest.Fill filled.
func undamaged(t *testing.T) *damaged {
	t.Helper()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	if err := storetest.Fill(t.Context(), s, tenant); err != nil {
		t.Fatal(err)
	}
	d := &damaged{Store: s}
	var err error
	if d.entries, err = s.Entries(t.Context(), tenant, history.Page{Limit: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	for index := range 256 {
		lists, err := s.Terms(t.Context(), tenant, []history.Range{{Index: history.Index(index)}})
		if err != nil {
			t.Fatal(err)
		}
		d.terms = append(d.terms, lists[0]...)
	}
	if len(d.entries) < 20 || len(d.terms) < 48 {
		t.Fatalf("only %d entries and %d terms", len(d.entries), len(d.terms))
	}
	return d
}

func (d *damaged) check(t *testing.T, page int) fsck.Report {
	t.Helper()
	slices.SortFunc(d.terms, func(a, b history.Term) int { return a.Compare(&b) })
	slices.SortFunc(d.entries, func(a, b history.Entry) int { return int(a.Seq) - int(b.Seq) })
	report, err := fsck.Tenant(t.Context(), d, tenant, fsck.Options{Page: page, Uncut: true})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestDamagedHistory changes each term and each entry in every way, one at a time. Each is found.
func TestDamagedHistory(t *testing.T) {
	whole := undamaged(t)
	if report := whole.check(t, 0); !report.OK() {
		t.Fatalf("undamaged: %v", report.Findings)
	}
	terms := map[string]func(d *damaged, i int){
		"gone":          func(d *damaged, i int) { d.terms = slices.Delete(d.terms, i, i+1) },
		"another index": func(d *damaged, i int) { d.terms[i].Index ^= 1 },
		"unknown index": func(d *damaged, i int) { d.terms[i].Index = 200 },
		"a byte of key": func(d *damaged, i int) {
			if d.terms[i].Key = flipped(d.terms[i].Key, 7*i); len(d.terms[i].Key) == 0 {
				d.terms[i].Key = []byte{1}
			}
		},
		"a longer key":   func(d *damaged, i int) { d.terms[i].Key = append(slices.Clone(d.terms[i].Key), 1) },
		"a byte of more": func(d *damaged, i int) { d.terms[i].Value = append(slices.Clone(d.terms[i].Value), 0) },
		"a byte of value": func(d *damaged, i int) {
			if d.terms[i].Value = flipped(d.terms[i].Value, 5*i); len(d.terms[i].Value) == 0 {
				d.terms[i].Value = []byte{1}
			}
		},
		"earlier": func(d *damaged, i int) { d.terms[i].Since-- },
		"later":   func(d *damaged, i int) { d.terms[i].Since++ },
		"another end": func(d *damaged, i int) {
			if d.terms[i].Until--; d.terms[i].Until > 65 {
				d.terms[i].Until = 65
			}
		},
		"no end, or one": func(d *damaged, i int) {
			if d.terms[i].Until == history.Forever {
				d.terms[i].Until = d.terms[i].Since + 1
			} else {
				d.terms[i].Until = history.Forever
			}
		},
		"doubled": func(d *damaged, i int) {
			twin := d.terms[i]
			twin.Key = append(slices.Clone(twin.Key), 'x')
			d.terms = append(d.terms, twin)
		},
	}
	tried := 0
	for name, change := range terms {
		for _, i := range storetest.Sampled(t, len(whole.terms)) {
			d := &damaged{whole.Store, slices.Clone(whole.entries), slices.Clone(whole.terms)}
			change(d, i)
			if report := d.check(t, []int{0, 3, 17}[i%3]); report.OK() {
				t.Errorf("%s: term %d, %+v, is now %+v, and nothing was found", name, i, whole.terms[i], d.terms[min(i, len(d.terms)-1)])
			}
			tried++
		}
	}
	spell := func(e *history.Entry, how func(a *knowledge.Act)) {
		r, err := knowledge.FromEntry(e)
		if err != nil {
			t.Fatal(err)
		}
		how(&r.Act)
		*e = r.Entry()
	}
	changes := map[string]func(e *history.Entry){
		"another number": func(e *history.Entry) { e.Seq = 7 },
		"unknown kind":   func(e *history.Entry) { e.Kind = "other/1" },
		"no time":        func(e *history.Entry) { e.At = -1 },
		"empty":          func(e *history.Entry) { e.Public = nil },
		"private gone":   func(e *history.Entry) { e.Private = nil },
		"a byte": func(e *history.Entry) {
			at := bytes.IndexByte(e.Public, ':') + 2
			e.Public = slices.Clone(e.Public)
			e.Public[at] ^= 1
		},
		"another act": func(e *history.Entry) {
			if e.Kind == erasures.Kind {
				erasure, err := erasures.Read(e)
				if err != nil {
					t.Fatal(err)
				}
				erasure.At++
				*e = erasure.Entry()
				return
			}
			spell(e, func(a *knowledge.Act) {
				switch a.Kind {
				case knowledge.Assert:
					a.Fact.Source += "x"
				case knowledge.Retract:
					a.Statement[3] ^= 1
				default:
					a.Alias += "x"
				}
			})
		},
	}
	for name, change := range changes {
		for _, i := range storetest.Sampled(t, len(whole.entries)) {
			d := &damaged{whole.Store, slices.Clone(whole.entries), slices.Clone(whole.terms)}
			change(&d.entries[i])
			other := strings.HasPrefix(string(whole.entries[i].Kind), "alias") && name == "another act" // an alias of another name can be, too
			other = other || name == "private gone" && whole.entries[i].Private == nil
			if report := d.check(t, []int{0, 3, 17}[i%3]); report.OK() && !other {
				t.Errorf("%s: entry %+v, and nothing was found", name, whole.entries[i])
			}
			tried++
		}
	}
	if tried < 700 && !testing.Short() || tried < 100 {
		t.Errorf("only %d damages were tried", tried)
	}
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	if len(b) > 0 {
		b[at%len(b)] ^= 1
	}
	return b
}

// An untrue store changes what another says, by the number of the call.
type untrue struct {
	store.Store
	calls   int
	entries func(call int, p history.Page, list []history.Entry) ([]history.Entry, error)
	terms   func(ranges []history.Range, lists [][]history.Term) ([][]history.Term, error)
}

func (u *untrue) Entries(ctx context.Context, tenant dag.Tenant, p history.Page) ([]history.Entry, error) {
	list, err := u.Store.Entries(ctx, tenant, p)
	if err == nil && u.entries != nil && p.Stream == history.Known {
		u.calls++
		list, err = u.entries(u.calls, p, list)
	}
	return list, err
}

func (u *untrue) Terms(ctx context.Context, tenant dag.Tenant, ranges []history.Range) ([][]history.Term, error) {
	lists, err := u.Store.Terms(ctx, tenant, ranges)
	if err == nil && u.terms != nil {
		u.calls++
		lists, err = u.terms(ranges, lists)
	}
	return lists, err
}

// TestUntrue finds what no damage of a file can make a store say.
func TestUntrue(t *testing.T) {
	s := undamaged(t).Store
	fault := errors.New("fault")
	type list = []history.Entry
	for _, c := range []struct {
		name        string
		untrue      untrue
		where, rule string
		page        int
	}{
		{"out of order", untrue{entries: func(_ int, _ history.Page, l list) (list, error) { slices.Reverse(l); return l, nil }}, "number 64", "number", 0},
		{"a page that cannot be read", untrue{entries: func(int, history.Page, list) (list, error) { return nil, fault }}, "number 1 and on", "readable", 0},
		{"a page in the middle that cannot be read", untrue{entries: func(n int, _ history.Page, l list) (list, error) {
			if n > 5 {
				return nil, fault
			}
			return l, nil
		}}, "number 53 and on", "readable", 4},
		{"by number, one left out", untrue{entries: func(_ int, p history.Page, l list) (list, error) {
			if p.At != nil {
				l = slices.DeleteFunc(l, func(e history.Entry) bool { return e.Seq == 38 })
			}
			return l, nil
		}}, "number 38", "found by number", 0},
		{"by number, one more", untrue{entries: func(_ int, p history.Page, l list) (list, error) {
			if p.At != nil && len(l) > 0 {
				l = slices.Insert(l, 0, history.Entry{Seq: 1, Kind: "fact/2"})
			}
			return l, nil
		}}, "number 1", "found by number", 0},
		{"by number, another time", untrue{entries: func(_ int, p history.Page, l list) (list, error) {
			for i := range l {
				if p.At != nil && l[i].Seq == 38 {
					l[i].At++
				}
			}
			return l, nil
		}}, "number 38", "found by number", 0},
		{"terms out of order", untrue{terms: func(_ []history.Range, l [][]history.Term) ([][]history.Term, error) {
			for i := range l {
				slices.Reverse(l[i])
			}
			return l, nil
		}}, "number ", "order", 0},
		{"terms twice", untrue{terms: func(r []history.Range, l [][]history.Term) ([][]history.Term, error) {
			if len(r) == 1 && len(l[0]) > 1 {
				l[0] = slices.Insert(l[0], 0, l[0][0])
			}
			return l, nil
		}}, "number ", "order", 0},
		{"fewer answers", untrue{terms: func(r []history.Range, l [][]history.Term) ([][]history.Term, error) {
			if len(r) < 100 {
				l = l[1:]
			}
			return l, nil
		}}, "number ", "entry", 0},
		{"terms that cannot be read", untrue{terms: func([]history.Range, [][]history.Term) ([][]history.Term, error) { return nil, fault }}, "terms", "readable", 0},
		{"an index that cannot be read", untrue{terms: func(r []history.Range, l [][]history.Term) ([][]history.Term, error) {
			if len(r) == 1 && r[0].Index == 3 && len(r[0].Prefix) == 0 {
				return nil, fault
			}
			return l, nil
		}}, "index 3", "readable", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := c.untrue
			u.Store = s
			report, err := fsck.Tenant(t.Context(), &u, tenant, fsck.Options{Page: c.page, Uncut: true})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(report.Findings, func(f fsck.Finding) bool { return strings.HasPrefix(f.Where, c.where) && f.Rule == c.rule }) {
				t.Errorf("found %v, want %q of %s", report.Findings, c.rule, c.where)
			}
		})
	}
}

// TestHistoryCannotBeAsked makes sure that a store that is away is no finding.
func TestHistoryCannotBeAsked(t *testing.T) {
	s := undamaged(t).Store
	for _, u := range []*untrue{
		{Store: s, terms: func([]history.Range, [][]history.Term) ([][]history.Term, error) { return nil, store.ErrBusy }},
		{Store: s, entries: func(int, history.Page, []history.Entry) ([]history.Entry, error) { return nil, store.ErrBusy }},
	} {
		if report, err := fsck.Tenant(t.Context(), u, tenant, fsck.Options{}); !errors.Is(err, store.ErrBusy) || !report.OK() {
			t.Errorf("%v, %v", report.Findings, err)
		}
	}
}

// TestManyTerms returns a name more edges than are asked for at once, in both directions, and a
// statement more acts, versions of one statement and of one belief among them.
func TestManyTerms(t *testing.T) {
	ctx := t.Context()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	for n := range 150 {
		list := []knowledge.Act{
			storetest.Assertion(1, 1, 1000+n, dag.PPM(n%7), "user"), storetest.Assertion(1000+n, 1, 1, dag.PPM(n%5), "user"),
			storetest.Assertion(1, 2, 1, dag.PPM(n), fmt.Sprint("source-", n)),
		}
		if _, err := storetest.Facts(s).Learn(ctx, tenant, list, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, page := range []int{1, 4, 30, 500} {
		report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{Page: page})
		if err != nil || !report.OK() || report.Counts.Terms != 3*450 {
			t.Errorf("pages of %d: %+v, %v", page, report, err)
		}
	}
}
