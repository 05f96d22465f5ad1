package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ledger"
)

// rawTenant has entries of a kind that no codec knows; back ends ignore kinds.
const rawTenant dag.Tenant = "raw"

// A rawChange is a change that calls two functions.
type rawChange struct {
	needs func(k *history.State) history.Needs
	plan  func(k *history.State) (*history.Plan, error)
}

func (c rawChange) Needs(k *history.State) history.Needs {
	if c.needs == nil {
		return history.Needs{}
	}
	return c.needs(k)
}

func (c rawChange) Plan(k *history.State) (*history.Plan, error) { return c.plan(k) }

// rawHistory is the model: all entries of both streams, and all terms in their order.
type rawHistory struct {
	entries []history.Entry
	records []history.Entry
	terms   []history.Term
}

// rawKey returns a short key of few different bytes, among them the smallest and the greatest.
func rawKey(r *rand.Rand) []byte {
	key := make([]byte, r.IntN(4))
	for i := range key {
		key[i] = []byte{0, 'a', 'b', 0xff}[r.IntN(4)]
	}
	return key
}

const (
	rawIndexes               = 3
	rawRecords history.Index = 200
)

// plan returns a random plan that follows on the model, and the model after the plan.
func (h *rawHistory) plan(r *rand.Rand) (*history.Plan, *rawHistory) {
	next := &rawHistory{slices.Clone(h.entries), slices.Clone(h.records), slices.Clone(h.terms)}
	p := &history.Plan{}
	for range 1 + r.IntN(3) {
		e := history.Entry{Seq: dag.Seq(len(next.entries) + 1), Kind: "raw/1", At: dag.Time(r.IntN(9)), Public: []byte(fmt.Sprintf("%d\x00\xff%d", r.IntN(99), len(next.entries)))}
		e.Detail, e.Private = rawHalf(r), rawHalf(r)
		p.Entries, next.entries = append(p.Entries, e), append(next.entries, e)
		for range r.IntN(4) {
			t := history.Term{Index: history.Index(100 + r.IntN(rawIndexes)), Key: rawKey(r), Since: e.Seq, Until: history.Forever, Value: rawKey(r)}
			if !slices.ContainsFunc(next.terms, func(o history.Term) bool { return o.Compare(&t) == 0 }) {
				p.Begin, next.terms = append(p.Begin, t), append(next.terms, t)
			}
		}
	}
	for range r.IntN(4) {
		if len(h.terms) == 0 {
			break
		}
		t := &h.terms[r.IntN(len(h.terms))] // as it was stored
		at := slices.IndexFunc(next.terms, func(o history.Term) bool { return o.Compare(t) == 0 })
		if next.terms[at].Until != history.Forever {
			continue
		}
		next.terms[at].Until = p.Entries[0].Seq
		p.End = append(p.End, history.Ending{Index: t.Index, Key: t.Key, Since: t.Since, Until: p.Entries[0].Seq})
	}
	if len(h.terms) > 0 && r.IntN(3) == 0 { // one term is removed, ended or not
		t := &h.terms[r.IntN(len(h.terms))]
		e := history.Ending{Index: t.Index, Key: t.Key, Since: t.Since}
		if !slices.ContainsFunc(p.End, func(o history.Ending) bool {
			return o.Index == e.Index && o.Since == e.Since && bytes.Equal(o.Key, e.Key)
		}) {
			p.End = append(p.End, e)
			next.terms = slices.DeleteFunc(next.terms, func(o history.Term) bool { return o.Compare(t) == 0 })
		}
	}
	p.Forget, p.ForgetRecords = forgotten(r, next.entries[:len(h.entries)]), forgotten(r, next.records)
	p.Erases = len(p.Forget) > 0
	for range r.IntN(3) {
		e := history.Entry{Seq: dag.Seq(len(next.records) + 1), Kind: history.Kind(fmt.Sprintf("did/%d", r.IntN(3))), Public: fmt.Appendf(nil, "leaf %d", len(next.records))}
		e.Detail, e.Private = rawHalf(r), rawHalf(r)
		p.Records, next.records = append(p.Records, e), append(next.records, e)
		t := history.Term{Index: rawRecords, Key: fmt.Appendf(nil, "%d", r.IntN(30)), Since: e.Seq, Until: history.Forever, Value: rawKey(r)}
		p.Begin, next.terms = append(p.Begin, t), append(next.terms, t)
	}
	if r.IntN(3) == 0 && len(p.Records) > 0 && len(p.End) == 0 { // the record alone
		p.Entries, next.entries = nil, next.entries[:len(h.entries)]
		keep := func(t history.Term) bool { return t.Index != rawRecords }
		p.Begin = slices.DeleteFunc(p.Begin, keep)
		next.terms = append(slices.Clone(h.terms), p.Begin...)
	}
	slices.SortFunc(next.terms, func(a, b history.Term) int { return a.Compare(&b) })
	if n := len(p.Entries); n > 1 { // the store sets the parts
		for i := range n {
			e := &next.entries[len(h.entries)+i]
			e.Part, e.Parts = uint32(i+1), uint32(n)
		}
	}
	return p, next
}

// rawHalf returns a detail or a private half, or nil.
func rawHalf(r *rand.Rand) []byte {
	if r.IntN(2) == 0 {
		return nil
	}
	return []byte{0, byte(r.IntN(256)), 0xff}
}

// forgotten removes the private half of one of the entries, or of none, and returns the entry's number.
func forgotten(r *rand.Rand, list []history.Entry) []dag.Seq {
	if len(list) == 0 || r.IntN(2) == 0 {
		return nil
	}
	e := &list[r.IntN(len(list))]
	e.Private = nil
	return []dag.Seq{e.Seq}
}

// randomRange returns a random range of the model's terms.
func (h *rawHistory) randomRange(r *rand.Rand) history.Range {
	q := history.Range{Index: history.Index(100 + r.IntN(rawIndexes+1)), Prefix: rawKey(r), Limit: r.IntN(5)}
	if r.IntN(4) == 0 {
		q.Index, q.Prefix = rawRecords, fmt.Append(nil, r.IntN(4))
	}
	if r.IntN(2) == 0 {
		q.Prefix = q.Prefix[:min(len(q.Prefix), 1)]
	}
	if r.IntN(2) == 0 {
		q.AsOf = dag.Seq(r.IntN(len(h.entries) + 2))
	}
	if r.IntN(2) == 0 {
		q.After = &history.Place{Key: append(slices.Clone(q.Prefix), rawKey(r)...), Since: dag.Seq(r.IntN(len(h.entries) + 1))}
	}
	return q
}

// randomRanges returns random ranges. One time in four they select the last terms
// of each; if entries are allowed, one time in two they ask for the entries.
func (h *rawHistory) randomRanges(r *rand.Rand, n int, entries bool) []history.Range {
	last := r.IntN(4) == 0
	entries = entries && !last && r.IntN(2) == 0
	ranges := make([]history.Range, 0, n)
	for range n {
		q := h.randomRange(r)
		if last {
			q.Last, q.After = true, nil
		}
		if q.Entries = entries; entries && q.Index.Stream() != history.Known {
			continue
		}
		ranges = append(ranges, q)
	}
	return ranges
}

// in returns the terms that a range selects.
func (h *rawHistory) in(q *history.Range) (list []history.Term) {
	terms := h.terms
	if q.Last {
		terms = slices.Clone(terms)
		slices.Reverse(terms)
	}
	for i := range terms {
		if t := terms[i]; q.Holds(&t) && (q.Limit == 0 || len(list) < q.Limit) {
			if q.Entries {
				t.Entry = &h.entries[t.Since-1]
			}
			list = append(list, t)
		}
	}
	return list
}

func (h *rawHistory) newest(k history.Key) (newest history.Term, ok bool) {
	for _, t := range h.terms {
		if t.Index == k.Index && string(t.Key) == k.Key && t.Since >= newest.Since {
			newest, ok = t, true
		}
	}
	return newest, ok
}

func sameTerms(a, b []history.Term) bool {
	return slices.EqualFunc(a, b, func(x, y history.Term) bool {
		return x.Compare(&y) == 0 && x.Until == y.Until && bytes.Equal(x.Value, y.Value) && (x.Entry == nil) == (y.Entry == nil) &&
			(x.Entry == nil || x.Entry.Same(y.Entry))
	})
}

func sameEntries(a, b []history.Entry) bool {
	return slices.EqualFunc(a, b, func(x, y history.Entry) bool {
		return x.Same(&y)
	})
}

// testHistory writes random entries and terms to the store and to a model of it, and
// compares the state that a change gets, and the answers of the store, with the model.
func testHistory(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	r := rand.New(rand.NewPCG(11, 12))
	model := &rawHistory{}
	found, with, newest, ended := 0, 0, 0, 0
	for n := range 60 {
		plan, next := model.plan(r)
		var keys []history.Key
		var ranges []history.Range
		var seqs []dag.Seq
		for range r.IntN(6) {
			keys = append(keys, history.Key{Index: history.Index(100 + r.IntN(rawIndexes+1)), Key: string(rawKey(r))})
			seqs = append(seqs, dag.Seq(r.IntN(len(model.entries)+2)))
		}
		ranges = model.randomRanges(r, len(keys), false)
		rounds := 0
		err := s.Write(ctx, rawTenant, rawChange{
			needs: func(k *history.State) history.Needs {
				rounds = max(rounds, k.Round)
				switch k.Round {
				case 0:
					return history.Needs{Newest: keys, Ranges: ranges, Size: true}
				case 1:
					return history.Needs{Ranges: ranges[:len(ranges)/2], Entries: seqs, Records: seqs}
				}
				return history.Needs{}
			},
			plan: func(k *history.State) (*history.Plan, error) {
				if k.Head != dag.Seq(len(model.entries)) || k.Size != dag.Seq(len(model.records)) || k.Tenant != rawTenant || len(k.Ranges) != len(ranges)+len(ranges)/2 {
					t.Errorf("change %d of %s knows the head %d, %d records and %d ranges", n, k.Tenant, k.Head, k.Size, len(k.Ranges))
				}
				for i := range k.Ranges {
					q := &ranges[i%max(len(ranges), 1)]
					if !sameTerms(k.Ranges[i], model.in(q)) {
						t.Errorf("change %d, %+v: knows %+v, want %+v", n, q, k.Ranges[i], model.in(q))
					}
				}
				for _, key := range keys {
					want, there := model.newest(key)
					got, ok := k.Newest[key]
					if ok != there || ok && !sameTerms([]history.Term{got}, []history.Term{want}) {
						t.Errorf("change %d, newest of %q: %+v, %t, want %+v, %t", n, key, got, ok, want, there)
					}
					if there {
						newest++
					}
				}
				for _, seq := range seqs {
					e, ok := k.Entries[seq]
					if there := seq > 0 && int(seq) <= len(model.entries); ok != there || ok && !sameEntries([]history.Entry{e}, model.entries[seq-1:seq]) {
						t.Errorf("change %d, entry %d: %+v, %t", n, seq, e, ok)
					}
					e, ok = k.Records[seq]
					if there := seq > 0 && int(seq) <= len(model.records); ok != there || ok && !sameEntries([]history.Entry{e}, model.records[seq-1:seq]) {
						t.Errorf("change %d, entry %d of the record: %+v, %t", n, seq, e, ok)
					}
				}
				ended += len(plan.End)
				own := *plan
				own.Entries, own.Records, own.Begin, own.End = slices.Clone(plan.Entries), slices.Clone(plan.Records), slices.Clone(plan.Begin), slices.Clone(plan.End)
				return &own, nil
			},
		})
		if err != nil {
			t.Fatalf("change %d: %v", n, err)
		}
		model = next
		asked := model.randomRanges(r, r.IntN(12), true)
		lists, err := s.Terms(ctx, rawTenant, asked)
		if err != nil || len(lists) != len(asked) {
			t.Fatalf("%d lists of %d ranges, %v", len(lists), len(asked), err)
		}
		for i := range asked {
			want := model.in(&asked[i])
			if !sameTerms(lists[i], want) {
				t.Fatalf("%+v, after %+v: %+v, want %+v", asked[i], asked[i].After, lists[i], want)
			}
			if found += len(want); asked[i].Entries {
				with += len(want)
			}
		}
		for stream, entries := range map[history.Stream][]history.Entry{history.Known: model.entries, history.Record: model.records} {
			page := history.Page{Stream: stream, After: dag.Seq(r.IntN(len(entries) + 1)), Limit: r.IntN(5)}
			want := entries[page.After:]
			if got, err := s.Entries(ctx, rawTenant, page); err != nil || !sameEntries(got, want[:min(len(want), page.Limit)]) {
				t.Fatalf("%+v: %+v, %v", page, got, err)
			}
		}
		var tree ledger.Tree
		for i := range model.records {
			if _, err := tree.Append(ledger.LeafHash(model.records[i].Public), nil); err != nil {
				t.Fatal(err)
			}
		}
		if got := mustLog(t, s, rawTenant); got.Size != tree.Size() || got.Hash != tree.Root() {
			t.Fatalf("the ledger has %d leaves and the root %s, want %d and %s", got.Size, got.Hash, tree.Size(), tree.Root())
		}
		if head, err := s.Head(ctx, rawTenant); err != nil || head != dag.Seq(len(model.entries)) {
			t.Fatalf("the head is %d, %v, want %d", head, err, len(model.entries))
		}
	}
	if found < 300 || with < 100 || newest < 30 || ended < 20 {
		t.Errorf("%d terms were found, %d of them with their entries, %d were the newest, %d ended: this test shows less than it should", found, with, newest, ended)
	}
	refusesHistory(t, func(c history.Change) error { return s.Write(ctx, rawTenant, c) }, model)
	lists, err := s.Terms(ctx, rawTenant, []history.Range{{Index: 100}, {Index: 101}, {Index: 102}, {Index: rawRecords}})
	if err != nil || !sameTerms(slices.Concat(lists...), model.terms) {
		t.Errorf("after changes that were refused: %+v, %v, want %+v", lists, err, model.terms)
	}
	if got, err := s.Entries(ctx, rawTenant, history.Page{Stream: history.Record, Limit: 1 << 20}); err != nil || !sameEntries(got, model.records) {
		t.Errorf("after changes that were refused the record has %d entries, %v, want %d", len(got), err, len(model.records))
	}
	if got, err := s.Entries(ctx, rawTenant, history.Page{Limit: 1 << 20}); err != nil || !sameEntries(got, model.entries) {
		t.Errorf("after changes that were refused there are %d entries, %v, want %d", len(got), err, len(model.entries))
	}
	if lists, err := s.Terms(ctx, "another", []history.Range{{Index: 100}}); err != nil || len(lists) != 1 || len(lists[0]) > 0 {
		t.Errorf("another tenant: %+v, %v", lists, err)
	}
	for name, ranges := range map[string][]history.Range{
		"too many":                 make([]history.Range, history.MaxRanges+1),
		"below no terms":           {{Index: 100, Limit: -1}},
		"outside the prefix":       {{Index: 100, Prefix: []byte("b"), After: &history.Place{Key: []byte("a")}}},
		"last after a place":       {{Index: 100, Last: true, After: &history.Place{}}},
		"last and first":           {{Index: 100, Last: true}, {Index: 100}},
		"the last, with entries":   {{Index: 100, Last: true, Entries: true}},
		"with entries and without": {{Index: 100, Entries: true}, {Index: 100}},
		"with those of the record": {{Index: rawRecords, Entries: true}},
		"a long prefix":            {{Index: 100, Prefix: make([]byte, history.MaxKey+1)}},
	} {
		if _, err := s.Terms(ctx, rawTenant, ranges); !errors.Is(err, dag.ErrForm) {
			t.Errorf("%s: %v, want dag.ErrForm", name, err)
		}
	}
}

// refusesHistory writes plans that no store may accept. Nothing of them may be stored.
func refusesHistory(t *testing.T, write func(history.Change) error, model *rawHistory) {
	t.Helper()
	next := dag.Seq(len(model.entries) + 1)
	entry := history.Entry{Seq: next, Kind: "raw/1", Public: []byte("x")}
	term := history.Term{Index: 100, Key: []byte("a"), Since: next, Until: history.Forever}
	live, over := -1, -1
	for i := range model.terms {
		if model.terms[i].Until == history.Forever {
			live = i
		} else {
			over = i
		}
	}
	ending := func(t history.Term, until dag.Seq) history.Ending {
		return history.Ending{Index: t.Index, Key: t.Key, Since: t.Since, Until: until}
	}
	missing := model.terms[live]
	missing.Key = []byte("no such key")
	refusal := errors.New("refused")
	for name, c := range map[string]struct {
		plan *history.Plan
		want error // nil: any
	}{
		"an error of the change":     {nil, refusal},
		"a number that is taken":     {&history.Plan{Entries: []history.Entry{{Seq: next - 1, Kind: "raw/1", Public: []byte("x")}}}, dag.ErrForm},
		"numbers in disorder":        {&history.Plan{Entries: []history.Entry{{Seq: next + 1, Kind: "raw/1", Public: []byte("x")}, entry}}, dag.ErrForm},
		"no kind":                    {&history.Plan{Entries: []history.Entry{{Seq: next, Public: []byte("x")}}}, dag.ErrForm},
		"no bytes":                   {&history.Plan{Entries: []history.Entry{{Seq: next, Kind: "raw/1"}}}, dag.ErrForm},
		"no time":                    {&history.Plan{Entries: []history.Entry{{Seq: next, Kind: "raw/1", At: -1, Public: []byte("x")}}}, dag.ErrForm},
		"an empty private half":      {&history.Plan{Entries: []history.Entry{{Seq: next, Kind: "raw/1", Public: []byte("x"), Private: []byte{}}}}, dag.ErrForm},
		"a gap in the record":        {&history.Plan{Records: []history.Entry{{Seq: dag.Seq(len(model.records) + 2), Kind: "raw/1", Public: []byte("x")}}}, dag.ErrForm},
		"a record that is taken":     {&history.Plan{Records: []history.Entry{{Seq: dag.Seq(len(model.records)), Kind: "raw/1", Public: []byte("x")}}}, dag.ErrForm},
		"a record with a time":       {&history.Plan{Records: []history.Entry{{Seq: dag.Seq(len(model.records) + 1), At: 1, Kind: "raw/1", Public: []byte("x")}}}, dag.ErrForm},
		"a term that began at 0":     {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{{Index: 100, Until: 1}}}, dag.ErrForm},
		"a term that ended before":   {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{{Index: 100, Since: next, Until: next}}}, dag.ErrForm},
		"a long key":                 {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{{Index: 100, Key: make([]byte, history.MaxKey+1), Since: next, Until: history.Forever}}}, dag.ErrForm},
		"a key above all":            {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{{Index: 100, Key: bytes.Repeat([]byte{0xff}, 64), Since: next, Until: history.Forever}}}, dag.ErrForm},
		"an end of what is not":      {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{term}, End: []history.Ending{ending(missing, next)}}, nil},
		"an end later than it ended": {&history.Plan{Entries: []history.Entry{entry}, Begin: []history.Term{term}, End: []history.Ending{ending(model.terms[over], next)}}, nil},
	} {
		needs := func(k *history.State) history.Needs { return history.Needs{Size: k.Round == 0} }
		err := write(rawChange{needs: needs, plan: func(*history.State) (*history.Plan, error) {
			if c.plan == nil {
				return nil, refusal
			}
			return c.plan, nil
		}})
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := write(rawChange{plan: func(*history.State) (*history.Plan, error) { return &history.Plan{}, nil }}); err != nil {
		t.Errorf("a change that plans nothing: %v", err)
	}
}

// testHistoryArguments checks that arguments and results belong to the caller.
func testHistoryArguments(t *testing.T, h Harness) {
	s := open(t, h)
	ctx := context.Background()
	plan := &history.Plan{
		Entries: []history.Entry{{Seq: 1, Kind: "raw/1", Public: []byte("public"), Detail: []byte("beside"), Private: []byte("private")}},
		Records: []history.Entry{{Seq: 1, Kind: "did/1", Public: []byte("leaf"), Detail: []byte("detail"), Private: []byte("secret")}},
		Begin:   []history.Term{{Index: 100, Key: []byte("key"), Since: 1, Until: history.Forever, Value: []byte("value")}},
	}
	needs := func(k *history.State) history.Needs { return history.Needs{Size: k.Round == 0} }
	if err := s.Write(ctx, rawTenant, rawChange{needs: needs, plan: func(*history.State) (*history.Plan, error) { return plan, nil }}); err != nil {
		t.Fatal(err)
	}
	read := func() ([]history.Entry, [][]history.Term) {
		t.Helper()
		entries, err := s.Entries(ctx, rawTenant, history.Page{Limit: 9})
		records, readRecords := s.Entries(ctx, rawTenant, history.Page{Stream: history.Record, Limit: 9})
		entries, err = append(entries, records...), errors.Join(err, readRecords)
		lists, read := s.Terms(ctx, rawTenant, []history.Range{{Index: 100}})
		if err := errors.Join(err, read); err != nil || len(entries) != 2 || len(lists[0]) != 1 {
			t.Fatalf("%+v, %+v, %v", entries, lists, err)
		}
		return entries, lists
	}
	entries, lists := read()
	halves := func(list []history.Entry) (all [][]byte) {
		for _, e := range list {
			all = append(all, e.Public, e.Detail, e.Private)
		}
		return all
	}
	term := &lists[0][0]
	for _, b := range slices.Concat(halves(entries), halves(plan.Entries), halves(plan.Records), [][]byte{plan.Begin[0].Key, plan.Begin[0].Value, term.Key, term.Value}) {
		clear(b)
	}
	entries, lists = read()
	term = &lists[0][0]
	if got := bytes.Join(append(halves(entries), term.Key, term.Value), []byte(" ")); string(got) != "public beside private leaf detail secret key value" {
		t.Errorf("spoiled from outside: %q", got)
	}
}
