package retrieval

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// TestStatistics takes the statistics of a query, lets the index grow and erases texts. With them a turn scores what it scored before, if
// no turn of its conversation was erased.
func TestStatistics(t *testing.T) {
	same, others := 0, 0
	for seed := range 40 {
		s := &scene{rand.New(rand.NewPCG(uint64(seed), 2))}
		p, dimensions := DefaultPolicy(), 0
		if seed%2 == 1 {
			p, dimensions = DensePolicy(), sceneDimensions
		}
		if seed%4 == 3 {
			p = FindPolicy()
		}
		x, r := New(analysis.English, dimensions), &reference{p: &p, erased: map[dag.TurnID]bool{}}
		add := func(n int) {
			turn := s.turn(n, 9)
			r.turns = append(r.turns, turn)
			if err := x.Add([]Turn{turn}, [][]int8{s.vector()}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 80 {
			add(n)
		}
		q := s.query(r, r.turns[79].Seq)
		q.Limit, q.Conversation, q.Role, q.Author, q.Attributes, q.Since, q.Until = LimitHits, nil, 0, "", nil, nil, nil
		if dimensions > 0 {
			q.Vector = s.vector()
		}
		found := x.SearchWith(&p, q, nil)
		before, st := found.Hits, found.Statistics
		if err := st.Check(); err != nil || !st.Fits(q.Text) {
			t.Fatalf("seed %d: they do not fit: %v", seed, err)
		}
		if len(before) > 0 && st.Best != before[0].Score {
			t.Fatalf("seed %d: the best has %d, and the statistics %d", seed, before[0].Score, st.Best)
		}
		for n := range 20 {
			add(80 + n)
		}
		touched := map[dag.ConversationID]bool{}
		for range 1 + s.IntN(4) {
			gone := &r.turns[s.IntN(len(r.turns))]
			x.Erase(gone.ID)
			touched[gone.Conversation] = true
		}
		after := map[dag.TurnID]Hit{}
		found = x.SearchWith(&p, q, &st)
		if (st.Likeness != nil) != (dimensions > 0) || !reflect.DeepEqual(found.Statistics, st) {
			t.Fatalf("seed %d: the statistics that were given came back as others", seed)
		}
		for _, h := range found.Hits {
			after[h.Turn.ID] = h
		}
		own := map[dag.TurnID]int64{}
		for _, h := range x.Search(&p, q) {
			own[h.Turn.ID] = h.Score
		}
		for _, h := range before {
			if touched[h.Turn.Conversation] {
				continue
			}
			if after[h.Turn.ID] != h {
				t.Fatalf("seed %d: %q: got %+v\nwant %+v", seed, q.Text, after[h.Turn.ID], h)
			}
			same++
			if own[h.Turn.ID] != h.Score {
				others++
			}
		}
	}
	if same < 500 || others < same/2 {
		t.Errorf("%d scores were the same, %d of which are others without the statistics: too few to say anything", same, others)
	}
}
