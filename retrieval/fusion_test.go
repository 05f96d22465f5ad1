package retrieval

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

const sceneDimensions = 6

// vector draws few different components, so that turns are often equally like a query.
func (s *scene) vector() []int8 {
	v := make([]int8, sceneDimensions)
	for i := range v {
		v[i] = int8(12 * (s.IntN(5) - 2))
	}
	return v
}

func dot(a, b []int8) (sum int64) {
	for i := range a {
		sum += int64(a[i]) * int64(b[i])
	}
	return sum
}

// like counts what each turn's vector is worth.
func (r *reference) like(past []Turn, q *Query) []int64 {
	worth := make([]int64, len(past))
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range past {
		if v := r.vectors[past[i].ID]; v != nil && q.Vector != nil && !r.erased[past[i].ID] {
			least, most = min(least, dot(v, q.Vector)), max(most, dot(v, q.Vector))
		}
	}
	for i := range past {
		if v := r.vectors[past[i].ID]; v != nil && most > least && !r.erased[past[i].ID] {
			worth[i] = int64(r.p.Dense.Weight) * (dot(v, q.Vector) - least) / (most - least)
		}
	}
	return worth
}

// sorted puts hits into order by a score of them, leaves out those without one, and cuts the rest.
func sorted(hits []Hit, most int, by func(*Hit) int64) (list []Hit) {
	for _, h := range hits {
		if h.Score = by(&h); h.Score > 0 {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.Turn.ID.Compare(b.Turn.ID)) })
	return list[:min(most, len(list))]
}

// fuse joins the lists by words and by likeness.
func (r *reference) fuse(hits []Hit, method string) []Hit {
	gained := func(h *Hit, score int64) int64 {
		if h.Named > 0 {
			score += score * int64(r.p.Author) / 1_000_000
		}
		return score
	}
	if method == FusionSum {
		return sorted(hits, r.p.MaxHits, func(h *Hit) int64 { return h.Score })
	}
	l := sorted(hits, r.p.MaxHits, func(h *Hit) int64 {
		if h.Words+h.Dates == 0 {
			return 0
		}
		return gained(h, h.Words+h.Whole+h.Dates+h.When)
	})
	d := sorted(hits, r.p.MaxHits, func(h *Hit) int64 { return gained(h, h.Like) })
	in := func(list []Hit, h *Hit) (rank int, share int64) {
		at := slices.IndexFunc(list, func(o Hit) bool { return o.Turn.ID == h.Turn.ID })
		if at < 0 {
			return 0, 0
		}
		return at + 1, list[at].Score * 1_000_000 / list[0].Score
	}
	order := map[dag.TurnID]int64{} // of interleaving
	for i := range max(len(l), len(d)) {
		for k, list := range [][]Hit{l, d} {
			if i < len(list) {
				if _, ok := order[list[i].Turn.ID]; !ok {
					order[list[i].Turn.ID] = int64(2*i + k)
				}
			}
		}
	}
	var all []Hit
	for _, h := range hits {
		rank, share := in(l, &h)
		likeRank, likeShare := in(d, &h)
		if rank+likeRank == 0 {
			continue
		}
		w := int64(r.p.Dense.Weight)
		likeShare = likeShare * w / 1_000_000
		h.WordRank, h.LikeRank = rank, likeRank
		switch method {
		case FusionRRF:
			h.Score = 0
			if rank > 0 {
				h.Score += 1_000_000 * 61 / int64(60+rank)
			}
			if likeRank > 0 {
				h.Score += w * 61 / int64(60+likeRank)
			}
		case FusionCombSum:
			h.Score = share + likeShare
		case FusionCombMNZ:
			h.Score = share + likeShare
			if rank > 0 && likeRank > 0 {
				h.Score *= 2
			}
		case FusionCombMax:
			h.Score = max(share, likeShare)
		case FusionInterleave:
			h.Score = 1_000_000 - order[h.Turn.ID]
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), a.Turn.ID.Compare(b.Turn.ID)) })
	return all[:min(len(all), r.p.MaxHits)]
}

// beside returns the turns just before and just after one in its conversation.
func (r *reference) beside(id dag.TurnID) (ids []dag.TurnID) {
	at := slices.IndexFunc(r.turns, func(t Turn) bool { return t.ID == id })
	for _, step := range []int{-1, 1} {
		for i := at + step; i >= 0 && i < len(r.turns); i += step {
			if r.turns[i].Conversation == r.turns[at].Conversation {
				ids = append(ids, r.turns[i].ID)
				break
			}
		}
	}
	return ids
}

// rerank puts hits into the order of the reranker.
func (r *reference) rerank(hits []Hit, newest dag.Time) []Hit {
	if r.p.Rerank.Method == RerankNone || r.p.Rerank.Method == RerankCrossEncoder || len(hits) == 0 {
		return hits
	}
	w := int64(r.p.Rerank.Weight)
	best := hits[0].Score
	ranks := map[dag.TurnID]int{}
	for i := range hits {
		ranks[hits[i].Turn.ID] = i
	}
	for i := range hits {
		h := &hits[i]
		whole := 1_000_000 * h.Score / best
		h.Score = (1_000_000 - w) * h.Score / best
		half := int64(r.p.Rerank.HalfLife) * 3_600_000_000
		age, recent := int64(newest-h.Turn.CreatedAt), int64(1_000_000)
		halvings := 0
		for ; age >= half; age -= half {
			recent /= 2
			halvings++
		}
		if age > 0 {
			recent -= recent / 2 * (age / 1_000_000) / (half / 1_000_000)
		}
		if halvings > 20 {
			recent = 0
		}
		switch r.p.Rerank.Method {
		case RerankRecency:
			h.Score += w * recent / 1_000_000
		case RerankComposite:
			h.Score += w * (recent + int64(h.Turn.Salience)) / 2_000_000
		case RerankSpread:
			if beside := r.beside(h.Turn.ID); !slices.ContainsFunc(beside, func(id dag.TurnID) bool { at, found := ranks[id]; return found && at < i }) {
				h.Score = whole
			}
		}
	}
	var order []Hit
	for len(hits) > 0 {
		at, most := 0, int64(math.MinInt64)
		for i, h := range hits {
			score := h.Score
			if r.p.Rerank.Method == RerankMMR {
				loses := int64(0)
				for _, o := range order {
					if a, b := r.vectors[h.Turn.ID], r.vectors[o.Turn.ID]; a != nil && b != nil {
						loses = min(w, max(loses, w*dot(a, b)/(16*16*sceneDimensions)))
					}
				}
				score += w - loses
			}
			if score > most || score == most && h.Turn.ID.Compare(hits[at].Turn.ID) < 0 {
				at, most = i, score
			}
		}
		h := hits[at]
		h.Score = most
		order, hits = append(order, h), slices.Delete(hits, at, at+1)
	}
	return order
}

// TestFusion compares the answers of an index with vectors with those of the reference, under every fusion and every reranker, while the index grows
// and texts are erased.
func TestFusion(t *testing.T) {
	rounds := 4
	if testing.Short() {
		rounds = 1
	}
	interleaved, liked := 0, 0
	for seed := range rounds * len(fusions) * len(rerankers) {
		s := &scene{rand.New(rand.NewPCG(uint64(seed), 3))}
		p := DensePolicy()
		p.Dense.Weight = dag.PPM(100_000 * (1 + s.IntN(15)))
		p.Fusion.Method, p.Rerank.Method = fusions[seed%len(fusions)], rerankers[seed/len(fusions)%len(rerankers)]
		p.Rerank.Weight, p.Rerank.HalfLife = dag.PPM(100_000*s.IntN(11)), 24*(1+s.IntN(40))
		p.MaxHits = []int{1_000, 7, 40}[s.IntN(3)]
		if p.Rerank.Method == RerankCrossEncoder {
			p.Rerank.Model, p.MaxHits = "judge", min(p.MaxHits, limitJudged)
		}
		if s.IntN(3) == 0 {
			p.Fusion.InterleaveBelow = dag.PPM(100_000 * (1 + s.IntN(6)))
		}
		if s.IntN(2) == 0 {
			p.People, p.NamesByUse, p.NearTerms, p.Floor = true, true, true, dag.PPM(s.IntN(2_000_000))
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		x, r := New(analysis.English, sceneDimensions), &reference{p: &p, erased: map[dag.TurnID]bool{}, vectors: map[dag.TurnID][]int8{}}
		for n := range 30 + s.IntN(60) {
			turn := s.turn(n, 4)
			turn.Salience = dag.PPM(s.IntN(1_000_001))
			v := s.vector()
			if s.IntN(8) == 0 {
				v = nil
			}
			if turn.Withheld = s.IntN(15) == 0; turn.Withheld {
				turn.Author, turn.Labels, turn.Content = "", "", ""
				r.erased[turn.ID] = true
			}
			if err := x.Add([]Turn{turn}, [][]int8{v}); err != nil {
				t.Fatal(err)
			}
			r.turns, r.vectors[turn.ID] = append(r.turns, turn), v
			if s.IntN(10) == 0 {
				gone := r.turns[s.IntN(len(r.turns))].ID
				x.Erase(gone)
				r.erased[gone] = true
			}
			q := s.query(r, turn.Seq)
			if s.IntN(12) > 0 {
				q.Vector = s.vector()
			}
			got, want := x.Search(&p, q), r.search(q)
			if want = want[:min(len(want), q.Limit)]; !slices.Equal(got, want) {
				t.Fatalf("seed %d, %s, %s, %d turns, %q as of %d, limit %d: got %d hits, want %d\n%s", seed, p.Fusion.Method, p.Rerank.Method, n+1, q.Text, q.AsOf, q.Limit, len(got), len(want), difference(got, want))
			}
			for _, h := range want {
				if h.LikeRank > 0 && p.Fusion.Method == FusionSum {
					interleaved++
				}
				liked += int(min(h.Like, 1))
			}
		}
	}
	if interleaved == 0 || liked == 0 {
		t.Errorf("%d interleaved below a score, %d with a part of likeness: too few to say anything", interleaved, liked)
	}
}

// TestApart holds that what needs vectors is refused without them.
func TestApart(t *testing.T) {
	for name, change := range map[string]func(*Policy){
		"fusion.method: rrf":     func(p *Policy) { p.Fusion.Method = FusionRRF },
		"fusion.method":          func(p *Policy) { p.Fusion.Method = "borda" },
		"rerank.method: mmr":     func(p *Policy) { p.Rerank.Method = RerankMMR },
		"rerank.method":          func(p *Policy) { p.Rerank.Method = "outcome" },
		"rerank.half_life_hours": func(p *Policy) { p.Rerank.HalfLife = 0 },
		"needs max_hits of at most 1000": func(p *Policy) {
			*p = DensePolicy()
			p.Rerank.Method, p.MaxHits = RerankMMR, 1_001
		},
		"needs max_hits of at most 200":     func(p *Policy) { p.Rerank.Method, p.Rerank.Model = RerankCrossEncoder, "judge" },
		"cross_encoder has a model":         func(p *Policy) { p.Rerank.Method, p.MaxHits = RerankCrossEncoder, 200 },
		"\"judge\" with the method recency": func(p *Policy) { p.Rerank.Method, p.Rerank.Model = RerankRecency, "judge" },
		"rerank.model":                      func(p *Policy) { p.Rerank.Method, p.Rerank.Model, p.MaxHits = RerankCrossEncoder, "two words", 200 },
		"dense.embedder":                    func(p *Policy) { p.Dense.Embedder = "two words" },
	} {
		p := DefaultPolicy()
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, p := range []Policy{DefaultPolicy(), DensePolicy()} {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestJudged holds the order and the scores that a cross-encoder makes, between none of its weight and all of it.
func TestJudged(t *testing.T) {
	s := &scene{rand.New(rand.NewPCG(5, 5))}
	hits := []Hit{{Turn: s.turn(0, 1), Score: 800_000}, {Turn: s.turn(1, 1), Score: 400_000}, {Turn: s.turn(2, 1), Score: 200_000}, {Turn: s.turn(3, 1), Score: 100_000}}
	given := slices.Clone(hits)
	for _, c := range []struct {
		weight dag.PPM
		scores []int64
		order  []int // 4: the lower id first
		best   int64
	}{
		{0, []int64{-5, 5, 0, 5}, []int{0, 1, 2, 3}, 1_000_000},
		{1_000_000, []int64{-5, 5, 0, 1}, []int{1, 3, 2, 0}, 1_000_000},
		{500_000, []int64{-5, 5, 0, 1}, []int{1, 0, 2, 3}, 750_000},
		{1_000_000, []int64{3, 3, 3, 3}, nil, 0},
	} {
		p := Policy{Rerank: Rerank{Method: RerankCrossEncoder, Weight: c.weight}}
		got := p.Judged(hits, c.scores)
		if !slices.Equal(hits, given) {
			t.Fatal("the hits that were given have changed")
		}
		if c.order == nil {
			if !slices.IsSortedFunc(got, func(a, b Hit) int { return a.Turn.ID.Compare(b.Turn.ID) }) {
				t.Errorf("of equal scores: %+v", got)
			}
			continue
		}
		for i, n := range c.order {
			if got[i].Turn.ID != hits[n].Turn.ID {
				t.Errorf("weight %d: place %d is %+v, want %+v", c.weight, i, got[i], hits[n])
			}
		}
		if got[0].Score != c.best {
			t.Errorf("weight %d: the best has %d, want %d", c.weight, got[0].Score, c.best)
		}
	}
	if got := (&Policy{}).Judged(nil, nil); len(got) != 0 {
		t.Errorf("no hits become %v", got)
	}
}

// TestModelInForm holds that the id of a cross-encoder is in the canonical form where there is one, that no other policy's bytes have it, and that
// an empty one is refused where it would not be written.
func TestModelInForm(t *testing.T) {
	p := DefaultPolicy()
	if text := string(p.Canonical()); strings.Contains(text, "model") || p.Hash().String()[:16] != "dce32d3a443010c0" {
		t.Errorf("recall@1 is %s %s", p.Hash(), text)
	}
	p.Rerank.Method, p.Rerank.Model, p.MaxHits = RerankCrossEncoder, "judge@1", 50
	text := p.Canonical()
	if !strings.Contains(string(text), `"method":"cross_encoder","model":"judge@1",`) {
		t.Errorf("the canonical form is %s", text)
	}
	read := func(text []byte) (Policy, error) {
		v, err := canon.Parse(text)
		if err != nil {
			return Policy{}, err
		}
		c := canon.Open(v)
		got := PolicyForm.Read(c, policy.Canonical)
		if c.Err() != nil {
			return Policy{}, c.Err()
		}
		return got.(Policy), nil
	}
	if got, err := read(text); err != nil || got != p {
		t.Errorf("read as %+v, %v", got, err)
	}
	plain := DefaultPolicy()
	empty := bytes.Replace(plain.Canonical(), []byte(`"method":"none",`), []byte(`"method":"none","model":"",`), 1)
	if _, err := read(empty); err == nil || !strings.Contains(err.Error(), "is present but empty") {
		t.Errorf("%s: %v", empty, err)
	}
}

// TestErasedVector holds that nothing of the vector of an erased text is in the index.
func TestErasedVector(t *testing.T) {
	x := New(analysis.English, 2)
	s := &scene{rand.New(rand.NewPCG(1, 1))}
	secret := s.turn(0, 1)
	secret.Content = "one"
	if err := x.Add([]Turn{secret}, [][]int8{{113, 101}}); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", x.vectors); !strings.Contains(text, "113 101") {
		t.Fatalf("the vector is not in %s", text)
	}
	x.Erase(secret.ID)
	if text := fmt.Sprintf("%+v", x.vectors); strings.Contains(text, "113") {
		t.Errorf("the vectors are %s", text)
	}
	withheld := s.turn(1, 1)
	withheld.Withheld, withheld.Content, withheld.Author, withheld.Labels = true, "", "", ""
	if err := x.Add([]Turn{withheld}, [][]int8{{113, 101}}); err != nil {
		t.Fatal(err)
	}
	p := DensePolicy()
	if hits := x.Search(&p, &Query{Text: "one", Vector: []int8{1, 1}, AsOf: x.Last(), Limit: 5}); len(hits) > 0 {
		t.Errorf("found %v", hits)
	}
}
