package history_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
)

const tenant dag.Tenant = "acme"

// words is a codec of entries that are words: each word is there once, and begins with a letter.
type words struct{ of history.Stream }

func (words) Kinds() []history.Kind             { return []history.Kind{"word/1"} }
func (w words) Stream() history.Stream          { return w.of }
func (words) Turns(*history.Entry) []dag.TurnID { return nil }

func (w words) Adopt(entries []history.Entry) (history.Change, error) {
	return history.Adopting(w, entries), nil
}

func (w words) Fold(tx *history.Tx, e *history.Entry) error {
	if !strings.ContainsAny(string(e.Public[:1]), "abc") {
		return fmt.Errorf("%w: %s is no word", dag.ErrForm, e.Public)
	}
	if err := history.First(tx, e, "", word(string(e.Public))); err != nil {
		return err
	}
	tx.Begin(e, history.Term{Index: 200, Key: e.Public})
	return nil
}

func word(text string) history.Key { return history.Key{Index: 200, Key: text} }

// A shelf is a store of words. It answers the rounds of a change, and does what the change plans.
type shelf struct {
	of      history.Stream
	entries []history.Entry
	terms   map[history.Key]history.Term
	rounds  int
}

func (s *shelf) write(c history.Change) error {
	last := dag.Seq(len(s.entries))
	s.rounds = 0
	known, err := history.Know(c, tenant, last, func(n *history.Needs, k *history.State) error {
		s.rounds++
		k.Size = last
		for _, key := range n.Newest {
			if t, ok := s.terms[key]; ok {
				k.AddNewest(t)
			}
		}
		for _, r := range n.Ranges {
			var found []history.Term
			for _, t := range s.terms {
				if r.Holds(&t) {
					found = append(found, t)
				}
			}
			slices.SortFunc(found, func(a, b history.Term) int { return a.Compare(&b) })
			k.Ranges = append(k.Ranges, found)
		}
		for _, seq := range slices.Concat(n.Entries, n.Records) {
			if seq >= 1 && int(seq) <= len(s.entries) {
				k.AddEntries(s.of, s.entries[seq-1:seq])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p, err := history.PlanOf(c, known)
	if err != nil {
		return err
	}
	if err := p.Check(last, last); err != nil {
		return err
	}
	s.entries = slices.Concat(s.entries, p.Entries, p.Records)
	for _, t := range p.Begin {
		s.terms[history.Key{Index: t.Index, Key: string(t.Key)}] = t
	}
	return nil
}

func newShelf(of history.Stream) *shelf {
	return &shelf{of: of, terms: map[history.Key]history.Term{}}
}

// put adds the words that are not there, and returns the numbers of all.
func put(s *shelf, list []string) (numbers []dag.Seq, err error) {
	err = s.write(history.Deciding(words{s.of}, func(tx *history.Tx) error {
		numbers = nil
		for _, text := range list {
			t, there, err := tx.Newest(word(text))
			if err == nil && !there {
				t.Since, err = tx.Add(history.Entry{Kind: "word/1", Public: []byte(text)})
			}
			if err != nil {
				return err
			}
			numbers = append(numbers, t.Since)
		}
		return nil
	}))
	return numbers, err
}

// TestDeciding compares decisions with a list of words, in both streams: what is there is not added, a word that is refused leaves nothing of its change.
func TestDeciding(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		of := rapid.SampledFrom([]history.Stream{history.Known, history.Record}).Draw(rt, "stream")
		s, want := newShelf(of), []string{}
		for range rapid.IntRange(1, 5).Draw(rt, "changes") {
			list := rapid.SliceOfN(rapid.StringMatching("[abcd][xy]?"), 1, 6).Draw(rt, "words")
			before := slices.Clone(want)
			bad := slices.ContainsFunc(list, func(text string) bool { return text[0] == 'd' })
			for _, text := range list {
				if !bad && !slices.Contains(want, text) {
					want = append(want, text)
				}
			}
			numbers, err := put(s, list)
			if bad {
				if want = before; !errors.Is(err, dag.ErrForm) {
					rt.Fatalf("%v: %v", list, err)
				}
				continue
			}
			if err != nil {
				rt.Fatal(err)
			}
			for i, text := range list {
				if int(numbers[i]) != slices.Index(want, text)+1 {
					rt.Fatalf("%q is number %d of %v", text, numbers[i], want)
				}
			}
			got := []string{}
			for _, e := range s.entries {
				got = append(got, string(e.Public))
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("there are %v, want %v", got, want)
			}
		}
		// Another store takes all of them over, in one round, and none of them twice.
		other := newShelf(of)
		adopt := func(entries []history.Entry) error {
			c, err := words{of}.Adopt(entries)
			if err != nil {
				return err
			}
			return other.write(c)
		}
		if err := adopt(s.entries); err != nil || other.rounds > 1 {
			rt.Fatalf("adopting %d words: %v, in %d rounds", len(s.entries), err, other.rounds)
		}
		if !maps.EqualFunc(other.terms, s.terms, func(a, b history.Term) bool { return a.Compare(&b) == 0 && a.Until == b.Until }) {
			rt.Fatalf("adopted %v, want %v", other.terms, s.terms)
		}
		if len(s.entries) > 0 {
			again := slices.Clone(s.entries[:1])
			again[0].Seq = dag.Seq(len(s.entries) + 1)
			if err := adopt(again); !errors.Is(err, dag.ErrForm) {
				rt.Fatalf("%s again: %v", again[0].Public, err)
			}
		}
	})
}

// TestDecidingReads reads a range and an entry, and asks for several terms at once.
func TestDecidingReads(t *testing.T) {
	for _, of := range []history.Stream{history.Known, history.Record} {
		s := newShelf(of)
		if _, err := put(s, []string{"a", "ab", "b"}); err != nil {
			t.Fatal(err)
		}
		reading := func(tx *history.Tx, fetch bool) error {
			all := history.Range{Index: 200, Prefix: []byte("a")}
			first := history.Range{Index: 200, Prefix: []byte("a"), AsOf: 1}
			if fetch {
				tx.Fetch([]history.Key{word("b"), word("c")}, all, first)
			}
			_, b, err := tx.Newest(word("b"))
			if err != nil {
				return err
			}
			_, c, err := tx.Newest(word("c"))
			if err != nil {
				return err
			}
			terms, err := tx.Terms(all)
			if err != nil {
				return err
			}
			early, err := tx.Terms(first)
			if err != nil {
				return err
			}
			two, err := tx.Entries(of, 2, 1)
			if err != nil {
				return err
			}
			size, err := tx.Size()
			if err != nil {
				return err
			}
			if !b || c || len(terms) != 2 || len(early) != 1 || string(two[0].Public)+string(two[1].Public) != "aba" || size != 3 || tx.Tenant() != tenant {
				return fmt.Errorf("read %t %t %v %v %d", b, c, terms, two, size)
			}
			if _, err = tx.Entries(of, 4); errors.Is(err, history.ErrDamaged) {
				return nil
			}
			return err
		}
		rounds := map[bool]int{false: 6, true: 3}
		if of == history.Known { // whose change does not ask for the size of the record by itself
			rounds = map[bool]int{false: 7, true: 4}
		}
		for fetch, rounds := range rounds {
			if err := s.write(history.Deciding(words{of}, func(tx *history.Tx) error { return reading(tx, fetch) })); err != nil || s.rounds != rounds {
				t.Errorf("stream %d, fetched %t: %v in %d rounds, want %d", of, fetch, err, s.rounds, rounds)
			}
		}
		// What is decided with another after it counts on the head that the other leaves.
		deciding := func(text string) history.Change {
			return history.Deciding(words{of}, func(tx *history.Tx) error {
				_, err := tx.Add(history.Entry{Kind: "word/1", Public: []byte(text)})
				return err
			})
		}
		if of == history.Known {
			if err := s.write(history.With(deciding("c"), deciding("cx"))); err != nil || len(s.entries) != 5 || s.entries[4].Seq != 5 {
				t.Errorf("one after the other: %v, %v", s.entries, err)
			}
		}
	}
}

// TestDecidingErases takes private halves away, each once and in order.
func TestDecidingErases(t *testing.T) {
	c := history.Deciding(words{history.Known}, func(tx *history.Tx) error {
		tx.Erase(3, 1)
		tx.Erase(3)
		return nil
	})
	if p, err := planned(t, c); err != nil || !p.Erases || !slices.Equal(p.ForgetRecords, []dag.Seq{1, 3}) {
		t.Errorf("planned %+v, %v", p, err)
	}
}

// TestDecidingEnds ends where a decision hides that it lacks an answer, and where numbers end.
func TestDecidingEnds(t *testing.T) {
	runs := 0
	hiding := history.Deciding(words{history.Known}, func(tx *history.Tx) error {
		runs++
		_, _, err := tx.Newest(word(fmt.Sprint(runs))) // another one at each run
		return err
	})
	rounds := 0
	_, err := history.Know(hiding, tenant, 1, func(*history.Needs, *history.State) error {
		if rounds++; rounds > 3 {
			return errors.New("it does not end")
		}
		return nil
	})
	if err == nil {
		t.Error("a decision that is not pure ends")
	}
	last := history.Deciding(words{history.Known}, func(tx *history.Tx) error {
		_, err := tx.Add(history.Entry{Kind: "word/1", Public: []byte("a")})
		return err
	})
	if _, err := history.Know(last, tenant, dag.MaxSeq, func(*history.Needs, *history.State) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if p, err := last.Plan(&history.State{Tenant: tenant, Head: dag.MaxSeq}); err == nil {
		t.Errorf("after the last number: %+v", p)
	}
}
