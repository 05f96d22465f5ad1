package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// model is the store in its simplest form: what was admitted, in order, and what happened to it.
type model struct {
	turns  map[dag.TurnID]store.Arrival // as first admitted
	seqs   map[dag.TurnID]dag.Seq
	order  []dag.TurnID
	erased map[dag.TurnID]erasures.Erasure
	head   dag.Seq
	pols   map[policy.ID]policy.Registered
	issued []issued.Record
	keys   map[string]access.Key

	leaves [][]byte
	logged map[string]uint64 // the index of each leaf
	cells  map[string][]byte
}

// log appends leaves that are not in the model yet, and returns the index of each.
func (m *model) log(leaves ...[]byte) (at []uint64) {
	for _, leaf := range leaves {
		n, known := m.logged[string(leaf)]
		if !known {
			n = uint64(len(m.leaves))
			m.logged[string(leaf)] = n
			m.leaves = append(m.leaves, leaf)
		}
		at = append(at, n)
	}
	return at
}

// The model draws from few numbers, so that operations affect the same things.
const (
	modelTurns         = 40
	modelConversations = 4
)

// modelRounds bounds the rounds of the model, each of which has as many cases as rapid wants.
const modelRounds = 20

// testModel does random operations on a store and on the model at once.
func testModel(t *testing.T, fresh func(t *testing.T) Harness) {
	ctx := context.Background()
	admitted, erased, refusals, reopened, revoked, adopted, spoiled, again, moved := 0, 0, 0, 0, 0, 0, 0, 0, 0
	check := func(rt *rapid.T) {
		h := fresh(t)
		s, err := h.Open(nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		m := &model{
			turns: map[dag.TurnID]store.Arrival{}, seqs: map[dag.TurnID]dag.Seq{}, erased: map[dag.TurnID]erasures.Erasure{},
			pols: map[policy.ID]policy.Registered{}, keys: map[string]access.Key{},
			logged: map[string]uint64{}, cells: map[string][]byte{},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append": func(rt *rapid.T) {
				batches := drawBatches(rt)
				want, ok := m.append(batches)
				got, err := s.Append(ctx, Tenant, batches)
				if (err == nil) != ok || got != want {
					rt.Fatalf("Append gave %+v, %v, want %+v, accepted %v", got, err, want, ok)
				}
				admitted += got.Admitted
				if !ok {
					refusals++
				}
			},
			"adopt": func(rt *rapid.T) {
				stretch := drawStretch(rt, m.head)
				ok := m.adopt(stretch)
				put := s.Adopt(ctx, Tenant, stretch.Store())
				if ok {
					put = errors.Join(put, PutErased(ctx, s, Tenant, stretch.Events))
				}
				if err := put; (err == nil) != ok {
					rt.Fatalf("Adopt gave %v, want accepted %v", err, ok)
				}
				if ok {
					adopted += len(stretch.Records)
				} else {
					spoiled++
				}
			},
			"erase": func(rt *rapid.T) {
				e := Erasure(rapid.IntRange(0, modelTurns).Draw(rt, "turn"))
				e.At += dag.Time(rapid.IntRange(0, 3).Draw(rt, "at"))
				want, wantErr := m.erase(e)
				got, err := Erase(ctx, s, Tenant, e)
				if got != want || !errors.Is(err, wantErr) {
					rt.Fatalf("Erase gave %+v, %v, want %+v, %v", got, err, want, wantErr)
				}
				if e.Seq = got.Seq; err == nil && got == e {
					erased++
				}
			},
			"policy": func(rt *rapid.T) {
				id := policy.ID(fmt.Sprintf("p@%d", rapid.IntRange(1, 3).Draw(rt, "version")))
				p := Policy(id, rapid.IntRange(0, 1).Draw(rt, "params"))
				old, known := m.pols[id]
				err := registry.Base{History: s}.Put(ctx, Tenant, p)
				if (err == nil) != (!known || old == p) {
					rt.Fatalf("PutPolicy(%s) gave %v, registered before: %v", id, err, known)
				}
				if !known {
					m.pols[id] = p
					m.log(policyLeaf(Tenant, p))
				}
			},
			"issue": func(rt *rapid.T) {
				list := rapid.SliceOfN(rapid.Custom(drawIssued), 0, 4).Draw(rt, "list")
				var want []issued.Record
				for _, i := range list {
					known := len(m.issued)
					if want = append(want, m.issue(i)); len(m.issued) == known {
						again++
					}
				}
				if got, err := Bundles(s).Put(ctx, Tenant, list); err != nil || !sameList(got, want) {
					rt.Fatalf("PutIssued gave %+v, %v, want %+v", got, err, want)
				}
			},
			"leaves": func(rt *rapid.T) {
				list := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) []byte { return Leaves(rapid.IntRange(0, 50).Draw(rt, "leaf"), 1)[0] }), 0, 5).Draw(rt, "leaves")
				want := m.log(list...)
				if got, err := PutLeaves(ctx, s, Tenant, list); err != nil || !sameList(got, want) {
					rt.Fatalf("PutLeaves gave %v, %v, want %v", got, err, want)
				}
			},
			"swap": func(rt *rapid.T) {
				name := fmt.Sprint(cellName, rapid.IntRange(0, 1).Draw(rt, "name"))
				value := func(what string) []byte { return cellRoot(uint64(rapid.IntRange(1, 3).Draw(rt, what))) }
				old, next := value("old"), value("next")
				now, some := m.cells[name]
				if !some && bytes.Equal(old, cellRoot(1)) {
					old = nil
				}
				err := s.Swap(ctx, Tenant, name, old, next)
				if bytes.Equal(old, now) {
					m.cells[name] = next
				} else {
					moved++
				}
				if (err == nil) != bytes.Equal(old, now) || err != nil && !errors.Is(err, store.ErrMoved) {
					rt.Fatalf("Swap(%x, %x) gave %v, and %x was there", old, next, err, now)
				}
			},
			"key": func(rt *rapid.T) {
				k := Key(rapid.IntRange(0, 5).Draw(rt, "key"))
				if seldom(rt, "other") {
					k.Note = "another note"
				}
				wantErr := m.putKey(k)
				if err := (apikeys.Base{History: s}).Put(ctx, k); !errors.Is(err, wantErr) {
					rt.Fatalf("PutKey gave %v, want %v", err, wantErr)
				}
			},
			"revoke": func(rt *rapid.T) {
				id := Key(rapid.IntRange(0, 6).Draw(rt, "key")).ID
				at := RevokedAt(rapid.IntRange(0, 3).Draw(rt, "at"))
				want, wantErr := m.revokeKey(id, at)
				if got, err := (apikeys.Base{History: s}).Revoke(ctx, Tenant, id, at); got != want || !errors.Is(err, wantErr) {
					rt.Fatalf("RevokeKey gave %+v, %v, want %+v, %v", got, err, want, wantErr)
				}
				if wantErr == nil && want.RevokedAt == at {
					revoked++
				}
			},
			"reopen": func(rt *rapid.T) {
				if rapid.IntRange(0, 3).Draw(rt, "really") != 2 {
					return // it is the most expensive operation, and not the most useful
				}
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = h.Open(nil); err != nil {
					rt.Fatal(err)
				}
				reopened++
			},
			"": func(rt *rapid.T) {
				if err := m.compare(ctx, s); err != nil {
					rt.Fatal(err)
				}
			},
		})
		if err := Check(ctx, s, Tenant); err != nil {
			rt.Fatal(err)
		}
	}
	every := func() bool {
		return !slices.Contains([]int{admitted, erased, refusals, reopened, revoked, adopted, spoiled, again, moved}, 0)
	}
	// Few cases may miss the rarest operation, so rounds are repeated until everything has happened.
	for rounds := 0; rounds == 0 || !every() && rounds < modelRounds && !t.Failed(); rounds++ {
		rapid.Check(t, check)
	}
	if !every() && !t.Failed() {
		t.Errorf("the model admitted %d turns, erased %d, refused %d batches, reopened %d times, revoked %d keys, adopted %d turns, refused %d stretches, issued %d slices again, refused %d cells; want some of each",
			admitted, erased, refusals, reopened, revoked, adopted, spoiled, again, moved)
	}
}

func drawIssued(rt *rapid.T) issued.Record {
	make := rapid.SampledFrom([]func(int, int) issued.Record{Issued, IssuedFacts}).Draw(rt, "kind")
	i := make(rapid.IntRange(0, 6).Draw(rt, "as of"), rapid.IntRange(0, 2).Draw(rt, "slice"))
	i.At += dag.Time(rapid.IntRange(0, 2).Draw(rt, "later"))
	return i
}

// drawBatches draws arrivals that are mostly good. Turns come in threes, each continuing
// from the turns before it in its three; sometimes the first one is left out.
func drawBatches(rt *rapid.T) []store.Batch {
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) store.Batch {
		var b store.Batch
		for range rapid.IntRange(0, 3).Draw(rt, "threes") {
			first := 3 * rapid.IntRange(0, modelTurns/3-1).Draw(rt, "first")
			from := 0
			if seldom(rt, "headless") {
				from = 1
			}
			for i := from; i < rapid.IntRange(1, 3).Draw(rt, "length"); i++ {
				b = append(b, drawArrival(rt, first+i))
			}
		}
		if len(b) == 0 {
			return nil
		}
		return rapid.Permutation(b).Draw(rt, "order")
	}), 1, 3).Draw(rt, "batches")
}

// seldom draws true once in thirty times. The number is not at an end of the range, since rapid prefers those.
func seldom(rt *rapid.T, what string) bool { return rapid.IntRange(0, 29).Draw(rt, what) == 17 }

func drawArrival(rt *rapid.T, n int) store.Arrival {
	// Which parents a turn has depends on its number alone, or its second
	// arrival would nearly always be a conflict.
	var parents []int
	for p := n - 1; p >= n-n%3; p-- {
		parents = append(parents, p)
	}
	slices.Reverse(parents)
	content := "text"
	if seldom(rt, "other") {
		content = "another text"
	}
	a := Arrival(n, n%modelConversations, content, parents...)
	for i := range a.Parents {
		a.Parents[i].Kind = dag.Reply
	}
	a.Turn.CreatedAt = dag.Time(n * 7 % 5)
	if n%2 == 0 {
		a = Named(a, fmt.Sprintf("name %d", n%4))
	}
	if seldom(rt, "withheld") {
		a = Withheld(a)
	}
	return a
}

// drawStretch draws a stretch after a head, with turns as drawBatches draws them and erasures of any turns. Often enough it is good.
func drawStretch(rt *rapid.T, head dag.Seq) Stretch {
	next := head + 1
	if seldom(rt, "gap") {
		next++
	}
	var every store.Batch
	for n := range modelTurns {
		every = append(every, Arrival(n, n%modelConversations, ""))
	}
	var s Stretch
	for range rapid.IntRange(0, 2).Draw(rt, "parts") {
		if rapid.Bool().Draw(rt, "erasure") {
			s.Events = append(s.Events, Erased(next, rapid.IntRange(0, modelTurns-1).Draw(rt, "turn")))
			next++
			continue
		}
		first := 3 * rapid.IntRange(0, modelTurns/3-1).Draw(rt, "first")
		for n := first; n < first+rapid.IntRange(1, 3).Draw(rt, "length"); n++ {
			s.Records = append(s.Records, Records(next, every, store.Batch{drawArrival(rt, n)})...)
			next++
		}
	}
	return s
}

// adopt is Adopt for the model. It reports whether the stretch is accepted.
func (m *model) adopt(s Stretch) bool {
	added := map[dag.TurnID]store.Arrival{}
	erased := map[dag.TurnID]erasures.Erasure{}
	known := func(id dag.TurnID) bool {
		_, stored := m.turns[id]
		_, before := added[id]
		return stored || before
	}
	var order []dag.TurnID
	records, events := s.Records, s.Events
	next := m.head
	for len(records)+len(events) > 0 {
		next++
		if len(events) == 0 || len(records) > 0 && records[0].Seq < events[0].Seq {
			r := records[0]
			records = records[1:]
			a := store.Arrival{Turn: r.Turn, Body: r.Body, Salt: r.Salt, External: r.External, Key: r.Key, Marks: r.Marks}
			for _, p := range r.Parents {
				if !known(p.ID) {
					return false
				}
				a.Parents = append(a.Parents, dag.Parent{ID: p.ID, Kind: p.Kind})
			}
			if r.Seq != next || known(r.Turn.ID) {
				return false
			}
			added[r.Turn.ID] = a
			order = append(order, r.Turn.ID)
			continue
		}
		e := events[0]
		events = events[1:]
		_, before := m.erased[e.Turn]
		_, twice := erased[e.Turn]
		if e.Seq != next || !known(e.Turn) || before || twice {
			return false
		}
		erased[e.Turn] = e
	}
	for i := range s.Events {
		m.log(s.Events[i].Leaf(Tenant))
	}
	for i, id := range order {
		m.turns[id], m.seqs[id] = added[id], s.Records[i].Seq
	}
	for id, e := range erased {
		m.turns[id], m.erased[id] = Withheld(m.turns[id]), e
	}
	m.order = append(m.order, order...)
	m.head = next
	return true
}

// append is Append for the model. It reports whether all batches are accepted.
func (m *model) append(batches []store.Batch) (store.Receipt, bool) {
	receipt := store.Receipt{Head: m.head}
	added := map[dag.TurnID]store.Arrival{}
	var order []dag.TurnID
	for _, b := range batches {
		fresh := map[dag.TurnID]store.Arrival{}
		existing := map[dag.TurnID]bool{}
		for _, a := range b {
			old, known := m.turns[a.Turn.ID]
			if was, ok := added[a.Turn.ID]; ok {
				old, known = was, true
			}
			existing[a.Turn.ID] = known
			twin, repeated := fresh[a.Turn.ID]
			if !known && repeated {
				old, known = twin, true
				if a.Body == nil {
					a.Body, a.Salt, a.External = twin.Body, twin.Salt, twin.External
				}
			}
			if known && (a.Turn != old.Turn || !slices.Equal(a.Parents, old.Parents)) {
				return store.Receipt{}, false
			}
			if !existing[a.Turn.ID] {
				fresh[a.Turn.ID] = a
			}
		}
		var batch store.Batch
		for _, a := range fresh {
			for _, p := range a.Parents {
				_, stored := m.turns[p.ID]
				_, before := added[p.ID]
				_, beside := fresh[p.ID]
				if !stored && !before && !beside {
					return store.Receipt{}, false
				}
			}
			receipt.Edges += len(a.Parents)
			batch = append(batch, a)
		}
		for id, known := range existing {
			if known {
				receipt.Existing++
			} else {
				added[id] = fresh[id]
			}
		}
		order = append(order, expectedOrder(batch)...)
	}
	for _, id := range order {
		m.head++
		m.turns[id], m.seqs[id] = added[id], m.head
		m.order = append(m.order, id)
	}
	receipt.Admitted, receipt.Head = len(order), m.head
	return receipt, true
}

func (m *model) erase(e erasures.Erasure) (erasures.Erasure, error) {
	a, known := m.turns[e.Turn]
	if !known {
		return erasures.Erasure{}, store.ErrNotFound
	}
	if old, ok := m.erased[e.Turn]; ok {
		return old, nil
	}
	if a.Body == nil {
		return erasures.Erasure{}, nil
	}
	m.head++
	e.Seq = m.head
	m.erased[e.Turn] = e
	m.turns[e.Turn] = Withheld(a)
	m.log(e.Leaf(Tenant))
	return e, nil
}

func (m *model) issue(i issued.Record) issued.Record {
	for _, old := range m.issued {
		if old.Bundle == i.Bundle {
			return old
		}
	}
	i.Number = uint64(len(m.issued) + 1)
	i.Leaf = m.log(issued.Leaf(Tenant, &i))[0]
	m.issued = append(m.issued, i)
	return i
}

func (m *model) putKey(k access.Key) error {
	old, known := m.keys[k.ID]
	old.RevokedAt = 0
	switch {
	case !known:
		m.keys[k.ID] = k
		m.log(apikeys.Leaves(&k)...)
	case old != k:
		return apikeys.ErrExists
	}
	return nil
}

func (m *model) revokeKey(id string, at dag.Time) (access.Key, error) {
	k, known := m.keys[id]
	if !known {
		return access.Key{}, store.ErrNotFound
	}
	if k.RevokedAt == 0 {
		k.RevokedAt = at
		m.keys[id] = k
		m.log(apikeys.Leaves(&k)...)
	}
	return k, nil
}

// compare compares everything in the model with the store. Data that can be derived from it is left to Check.
func (m *model) compare(ctx context.Context, s store.Store) error {
	head, err := s.Head(ctx, Tenant)
	if err != nil || head != m.head {
		return fmt.Errorf("head is %d, %v, want %d", head, err, m.head)
	}
	at := 0
	err = s.Scan(ctx, Tenant, 0, nil, func(r *store.Record) error {
		if at == len(m.order) || r.Turn.ID != m.order[at] {
			return fmt.Errorf("record %d is turn %s", at, r.Turn.ID)
		}
		want := m.turns[m.order[at]]
		at++
		parents := make([]dag.Parent, len(r.Parents))
		for i, p := range r.Parents {
			parents[i] = dag.Parent{ID: p.ID, Kind: p.Kind}
		}
		if r.Seq != m.seqs[r.Turn.ID] || r.Turn != want.Turn || string(r.Body) != string(want.Body) || r.Salt != want.Salt || r.External != want.External || r.Key != want.Key || !r.Marks.Equal(&want.Marks) || !slices.Equal(parents, want.Parents) {
			return fmt.Errorf("got %+v, want %+v with number %d", r, want, m.seqs[r.Turn.ID])
		}
		return nil
	})
	if err != nil || at != len(m.order) {
		return fmt.Errorf("after %d of %d records: %w", at, len(m.order), err)
	}
	registry, err := registry.Base{History: s}.All(ctx, Tenant)
	if err != nil || len(registry.All()) != len(m.pols) {
		return fmt.Errorf("%d policies, %v, want %d", len(registry.All()), err, len(m.pols))
	}
	for _, p := range registry.All() {
		if p != m.pols[p.ID()] {
			return fmt.Errorf("policy %s has other parameters", p.ID())
		}
	}
	bundles, err := Bundles(s).After(ctx, Tenant, 0, len(m.issued)+1)
	if err != nil || !sameList(bundles, m.issued) {
		return fmt.Errorf("%d issued, %v, want %d", len(bundles), err, len(m.issued))
	}
	keys, err := apikeys.Base{History: s}.All(ctx, Tenant)
	if err != nil || len(keys) != len(m.keys) {
		return fmt.Errorf("%d keys, %v, want %d", len(keys), err, len(m.keys))
	}
	for _, k := range keys {
		if k != m.keys[k.ID] {
			return fmt.Errorf("got key %+v, want %+v", k, m.keys[k.ID])
		}
	}
	tree, err := s.Log(ctx, Tenant)
	if err != nil || tree.Size() != uint64(len(m.leaves)) {
		return fmt.Errorf("the ledger has %d leaves, %v, want %d", tree.Size(), err, len(m.leaves))
	}
	leaves, err := history.Leaves(ctx, s, Tenant, 0, len(m.leaves)+1)
	if err != nil || !slices.EqualFunc(leaves, m.leaves, bytes.Equal) {
		return fmt.Errorf("the ledger is %q, %v, want %q", leaves, err, m.leaves)
	}
	var want []history.Cell
	for _, name := range slices.Sorted(maps.Keys(m.cells)) {
		want = append(want, history.Cell{Name: name, Value: m.cells[name]})
	}
	if cells, err := s.Cells(ctx, Tenant, ""); err != nil || !slices.EqualFunc(cells, want, sameCell) {
		return fmt.Errorf("the cells are %x, %v, want %x", cells, err, want)
	}
	return nil
}
