package knowledge_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/race"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/store/inmem"
)

const tenant dag.Tenant = "acme"

// randomActs makes acts about few statements, many of them with one of three turns as evidence.
func randomActs(t *testing.T, r *rand.Rand, n int) (acts []knowledge.Act) {
	t.Helper()
	var ids []knowledge.ID
	for i := range n {
		f, err := knowledge.NewFact(fmt.Sprint("s", r.IntN(3)), "p", fmt.Sprint("o", r.IntN(5)), "user")
		if err != nil {
			t.Fatal(err)
		}
		f.Confidence = dag.PPM(r.IntN(4)) * 300_000
		if n := r.IntN(5); n > 1 {
			f.Turn = dag.TurnID{byte(n)}
		}
		a := knowledge.Act{Kind: knowledge.Assert, Salt: dag.Salt{byte(i), byte(i >> 8), 1}, Fact: f}
		switch {
		case r.IntN(6) == 0 && len(ids) > 0:
			a = knowledge.Act{Kind: knowledge.Retract, Salt: a.Salt, Statement: ids[r.IntN(len(ids))]}
		case r.IntN(5) == 0 && len(ids) > 0:
			if old := ids[r.IntN(len(ids))]; old != f.ID() {
				a.Supersedes = []knowledge.ID{old}
			}
		}
		ids = append(ids, f.ID())
		acts = append(acts, a)
	}
	return acts
}

// all reads everything that a store has of what is known.
func all(t *testing.T, s *inmem.Store) ([]history.Entry, []history.Term) {
	t.Helper()
	entries, err := s.Entries(t.Context(), tenant, history.Page{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	var terms []history.Term
	for i := range history.FirstOfRecord {
		lists, err := s.Terms(t.Context(), tenant, []history.Range{{Index: i}})
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, lists[0]...)
	}
	return entries, terms
}

func sameTerm(a, b history.Term) bool {
	return a.Compare(&b) == 0 && a.Until == b.Until && bytes.Equal(a.Value, b.Value)
}

// believed returns the confidence of every statement that is believed as of a number, and the
// assertion that gave it.
func believed(t *testing.T, b knowledge.Base, asOf dag.Seq) map[knowledge.ID]knowledge.Recorded {
	t.Helper()
	list, _, err := b.Versions(t.Context(), tenant, knowledge.Find{Filter: knowledge.Filter{AsOf: asOf}, Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	of := map[knowledge.ID]knowledge.Recorded{}
	for _, r := range list {
		of[r.Act.Fact.ID()] = r
	}
	return of
}

// TestErasure erases turns of random histories. As of every number before, exactly the versions are
// gone that an erased assertion began; what was believed by one, and is supported by another, is
// believed again; nothing else is changed. The history that is left is adopted entry by entry, and all
// at once, by a store that never saw what was erased, and gives the same terms there.
func TestErasure(t *testing.T) {
	if race.Enabled {
		t.Skip("long, and on one goroutine: nothing for the race detector")
	}
	r := rand.New(rand.NewPCG(21, 22))
	gone, again, lost, adopted := 0, 0, 0, 0
	for range 150 {
		s := inmem.Open(&inmem.Disk{}, inmem.Options{})
		b := knowledge.Base{History: s}
		for range 2 {
			for _, a := range randomActs(t, r, 5+r.IntN(30)) {
				_, _ = b.Learn(t.Context(), tenant, []knowledge.Act{a}, 1) // that which supersedes what is not believed is refused
			}
			turn := dag.TurnID{byte(2 + r.IntN(3))}
			before, terms := all(t, s)
			head := dag.Seq(len(before))
			erased := map[dag.Seq]bool{}
			living := map[string]bool{}
			var names []string
			for i := range before {
				rec, err := knowledge.FromEntry(&before[i])
				if err != nil {
					t.Fatal(err)
				}
				if rec.Erased || rec.Act.Kind != knowledge.Assert {
					continue
				}
				f := &rec.Act.Fact
				if f.Turn == turn {
					erased[rec.Seq] = true
					names = append(names, f.Subject, f.Object)
				} else if rec.Did.Opened != 0 {
					living[f.Subject], living[f.Object] = true, true
				}
			}
			var seen []map[knowledge.ID]knowledge.Recorded
			for asOf := range head {
				seen = append(seen, believed(t, b, asOf+1))
			}
			erasure := &knowledge.Erasure{Turn: turn, At: 7}
			if err := s.Write(t.Context(), tenant, erasure); err != nil {
				t.Fatal(err)
			}
			after, left := all(t, s)
			for i := range before {
				want := before[i]
				if erased[want.Seq] {
					want.Private = nil
					gone++
				}
				if !after[i].Same(&want) {
					t.Fatalf("entry %+v is now %+v", before[i], after[i])
				}
			}
			stays := slices.DeleteFunc(slices.Clone(terms), func(t history.Term) bool { return erased[t.Since] })
			old := slices.DeleteFunc(slices.Clone(left), func(t history.Term) bool { return t.Since > head })
			if !slices.EqualFunc(old, stays, sameTerm) {
				t.Fatalf("terms %+v, want %+v", old, stays)
			}
			for asOf, was := range seen {
				is := believed(t, b, dag.Seq(asOf+1))
				for id, v := range was {
					if _, ok := is[id]; ok == erased[v.Seq] {
						t.Fatalf("as of %d statement %s, asserted by number %d, is there: %v", asOf+1, id, v.Seq, ok)
					}
				}
				if len(is) > len(was) {
					t.Fatalf("as of %d there is more than before", asOf+1)
				}
			}
			is := believed(t, b, head+100)
			for id, v := range seen[head-1] {
				want, supported := dag.PPM(0), false
				var surest knowledge.Act       // the first of the highest confidence
				for i := range before[:head] { // by hand: the assertions from elsewhere since it was believed
					rec, _ := knowledge.FromEntry(&before[i])
					if rec.Seq >= v.Opened && !rec.Erased && rec.Act.Kind == knowledge.Assert && rec.Act.Fact.ID() == id && !erased[rec.Seq] {
						if !supported || rec.Act.Fact.Confidence > want {
							surest = rec.Act
						}
						want, supported = max(want, rec.Act.Fact.Confidence), true
					}
				}
				if !erased[v.Seq] {
					want, supported = v.Act.Fact.Confidence, true
				}
				if got, ok := is[id]; ok != supported || ok && got.Act.Fact.Confidence != want {
					t.Fatalf("statement %s is believed: %v with %d, want %v with %d", id, ok, got.Act.Fact.Confidence, supported, want)
				}
				if erased[v.Seq] && supported {
					again++
					surest.Supersedes = nil
					if once := is[id].Act; once.Salt != surest.Salt || once.Leaf() != surest.Leaf() {
						t.Fatalf("statement %s is asserted once more as %+v, want %+v", id, once, surest)
					}
				}
			}
			for _, name := range names {
				if got := slices.Contains(erasure.Lost(), knowledge.KeyOf(name)); got == living[name] {
					t.Fatalf("%s is lost: %v", name, got)
				} else if got {
					lost++
				}
			}
			for _, portion := range []int{1, 7, 1 << 20} {
				copied := inmem.Open(&inmem.Disk{}, inmem.Options{})
				for some := range slices.Chunk(after, portion) {
					c, err := knowledge.Codec{}.Adopt(some)
					if err == nil {
						err = copied.Write(t.Context(), tenant, history.Exactly(c, history.Known, some))
					}
					if err != nil {
						t.Fatalf("in portions of %d, from number %d on: %v", portion, some[0].Seq, err)
					}
					adopted++
				}
				if entries, terms := all(t, copied); !slices.EqualFunc(terms, left, sameTerm) || len(entries) != len(after) {
					t.Fatalf("in portions of %d: terms %+v, want %+v", portion, terms, left)
				}
			}
		}
	}
	if gone < 500 || again < 50 || lost < 50 || adopted < 1000 {
		t.Errorf("%d assertions were erased, %d statements asserted again, %d names lost, %d portions adopted: this test shows less than it should", gone, again, lost, adopted)
	}
}

// A spoiled erasure reads an entry whose private half was damaged.
type spoiled struct {
	*knowledge.Erasure
	seq dag.Seq
}

func (c spoiled) spoil(k *history.State) *history.State {
	if e, ok := k.Entries[c.seq]; ok {
		e.Private = e.Private[:len(e.Private)/2]
		k.Entries[c.seq] = e
	}
	return k
}

func (c spoiled) Needs(k *history.State) history.Needs         { return c.Erasure.Needs(c.spoil(k)) }
func (c spoiled) Plan(k *history.State) (*history.Plan, error) { return c.Erasure.Plan(c.spoil(k)) }

// TestErasureOfDamaged erases a turn from which two facts were learned, one of whose entries is damaged: both lose their texts.
func TestErasureOfDamaged(t *testing.T) {
	t.Parallel()
	s := inmem.Open(&inmem.Disk{}, inmem.Options{})
	turn := dag.TurnID{2}
	for i, object := range []string{"one", "two"} {
		f, err := knowledge.NewFact("s", "p", object, "user")
		if err != nil {
			t.Fatal(err)
		}
		f.Turn = turn
		if _, err := (knowledge.Base{History: s}).Learn(t.Context(), tenant, []knowledge.Act{{Kind: knowledge.Assert, Salt: dag.Salt{byte(i + 1)}, Fact: f}}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), tenant, spoiled{&knowledge.Erasure{Turn: turn, At: 7}, 2}); err != nil {
		t.Fatal(err)
	}
	entries, _ := all(t, s)
	if len(entries) != 2 || entries[0].Private != nil || entries[1].Private != nil {
		t.Errorf("the entries are %+v", entries)
	}
}
