package retrieval

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
)

// A reference searches as the package says, turn by turn: each score is counted from the texts, and nothing is kept.
type reference struct {
	p       *Policy
	turns   []Turn
	erased  map[dag.TurnID]bool
	vectors map[dag.TurnID][]int8
}

// A text is a turn of the reference, or a conversation, with what is counted of it.
type text struct {
	words  map[string]int64 // in units
	length int64            // in units
}

const refUnit = 8 << 8

// refLn is ln(num/den) in 2^-16, rounded down, by squaring the mantissa for each of 30 bits.
func refLn(num, den int64) int64 {
	whole := int64(0)
	for num>>(whole+1) >= den {
		whole++
	}
	x := new(big.Int).Lsh(big.NewInt(num), 31)
	x.Quo(x, big.NewInt(den)).Rsh(x, uint(whole))
	log := big.NewInt(whole)
	for range 30 {
		x.Mul(x, x).Rsh(x, 31)
		log.Lsh(log, 1)
		if x.BitLen() > 32 {
			x.Rsh(x, 1)
			log.Add(log, big.NewInt(1))
		}
	}
	return log.Mul(log, big.NewInt(744261118)).Rsh(log, 44).Int64()
}

// score is BM25 of texts by distinct terms; with a term are the texts of bare that have it.
func (r *reference) score(terms []string, bare, counted []text, k1, b int64) []int64 {
	const one = 1_000_000
	n, total := int64(0), big.NewInt(0)
	for _, t := range counted {
		if t.words != nil {
			n++
			total.Add(total, big.NewInt(t.length))
		}
	}
	scores := make([]int64, len(counted))
	slices.Sort(terms)
	for _, term := range slices.Compact(terms) {
		with := int64(0)
		for _, t := range bare {
			if t.words[term] > 0 {
				with++
			}
		}
		if with == 0 {
			continue
		}
		weight := refLn(2*n+2, 2*with+1)
		for i, t := range counted {
			count := t.words[term]
			if count == 0 {
				continue
			}
			relative := int64(one)
			if total.Sign() > 0 {
				q := new(big.Int).Mul(big.NewInt(t.length), big.NewInt(n*one))
				relative = min(q.Quo(q, total).Int64(), 1000*one)
			}
			norm := k1 * (one - b + b*relative/one) / one
			scores[i] += weight * count / refUnit * (k1 + one) / (count*one/refUnit + norm)
		}
	}
	return scores
}

// texts counts each turn's terms.
func (r *reference) texts(turns []Turn, terms func(*Turn) []string) (all []text) {
	for i := range turns {
		t := text{}
		if !r.erased[turns[i].ID] {
			t.words = map[string]int64{}
			for _, w := range terms(&turns[i]) {
				t.words[w] += refUnit
				t.length += refUnit
			}
		}
		all = append(all, t)
	}
	return all
}

// windowed adds to each turn what counts of its neighbours in the conversation.
func windowed(turns []Turn, bare []text, reach int, people bool) (all []text) {
	of := map[dag.ConversationID][]int{}
	for i := range turns {
		of[turns[i].Conversation] = append(of[turns[i].Conversation], i)
	}
	for i := range turns {
		t := text{length: bare[i].length}
		if bare[i].words != nil {
			t.words = map[string]int64{}
			for w, n := range bare[i].words {
				t.words[w] = n
			}
		}
		list := of[turns[i].Conversation]
		place := slices.Index(list, i)
		for k := 1; k <= reach; k++ {
			for _, near := range [...]struct{ at, num int64 }{{int64(place - k), 4}, {int64(place + k), 3}} {
				if near.at < 0 || near.at >= int64(len(list)) {
					continue
				}
				if people && (turns[i].Role != dag.RoleUser || turns[list[near.at]].Role != dag.RoleUser) {
					continue
				}
				other := bare[list[near.at]]
				t.length += other.length * near.num >> (k + 2)
				for w, n := range other.words {
					if t.words != nil {
						t.words[w] += n * near.num >> (k + 2)
					}
				}
			}
		}
		all = append(all, t)
	}
	return all
}

// search returns all that Search could return, by the rules of the package.
func (r *reference) search(q *Query) (hits []Hit) {
	const one = 1_000_000
	var past []Turn
	for _, t := range r.turns {
		if t.Seq <= q.AsOf {
			if r.erased[t.ID] {
				t.Author, t.Labels, t.Content, t.Withheld, t.Says, t.Writes, t.Fails = "", "", "", true, false, false, false
			}
			t.Size, t.Silent = len(t.Content), len(analysis.Words(t.Content)) == 0
			past = append(past, t)
		}
	}
	bare := r.texts(past, func(t *Turn) []string { return analysis.English.Terms(nil, t.Content) })
	dated := r.texts(past, func(t *Turn) []string { return ownDate(dateWords(nil, plainWords(t.Content)), t.CreatedAt) })
	place := map[dag.ConversationID]int{}
	var whole []text
	for i := range past {
		c, ok := place[past[i].Conversation]
		if !ok {
			c = len(whole)
			place[past[i].Conversation] = c
			whole = append(whole, text{})
		}
		whole[c].length += bare[i].length
		for w, n := range bare[i].words {
			if whole[c].words == nil {
				whole[c].words = map[string]int64{}
			}
			whole[c].words[w] += n
		}
	}
	terms, name := r.terms(q.Text, past, bare)
	b := r.score(slices.Clone(terms), bare, windowed(past, bare, r.p.Reach, r.p.People), int64(r.p.Words.K1), int64(r.p.Words.B))
	z := r.score(slices.Clone(terms), whole, whole, int64(r.p.Conversation.K1), int64(r.p.Conversation.B))
	d := r.score(dateWords(nil, plainWords(q.Text)), dated, dated, int64(r.p.Dates.K1), int64(r.p.Dates.B))
	like := r.like(past, q)
	floor, support := r.floor(past, bare, dated, q, terms)
	for i := range past {
		if support[i] < floor {
			continue
		}
		if past[i].Silent || b[i] == 0 && d[i] == 0 && (q.Vector == nil || r.vectors[past[i].ID] == nil) || !q.lets(&past[i]) {
			continue
		}
		h := Hit{Turn: past[i], Words: part(b[i], most(b), r.p.Words.Weight), Whole: part(z[place[past[i].Conversation]], most(z), r.p.Conversation.Weight), Dates: part(d[i], most(d), r.p.Dates.Weight)}
		if words := plainWords(past[i].Content); asksWhen(plainWords(q.Text)) && saysWhen(words, dateWords(nil, words)) {
			h.When = int64(r.p.When)
		}
		h.Like = like[i]
		h.Score = h.Words + h.Whole + h.Dates + h.When + h.Like
		if name != "" && slices.Contains(nameWords(past[i].Author), name) {
			h.Named = h.Score * int64(r.p.Author) / one
			h.Score += h.Named
		}
		h.Turn.Content = ""
		hits = append(hits, h)
	}
	method := r.p.Fusion.Method
	if r.p.Fusion.InterleaveBelow > 0 {
		highest := int64(0)
		for _, term := range slices.Compact(slices.Sorted(slices.Values(terms))) {
			n, with := int64(0), int64(0)
			for _, t := range bare {
				if t.words != nil {
					n++
				}
				if t.words[term] > 0 {
					with++
				}
			}
			highest += refLn(2*n+2, 2*with+1) * (int64(r.p.Words.K1) + one) / one
		}
		if highest == 0 || one*most(b)/highest < int64(r.p.Fusion.InterleaveBelow) {
			method = FusionInterleave
		}
	}
	newest := dag.Time(0)
	if len(past) > 0 {
		newest = past[len(past)-1].CreatedAt
	}
	return r.rerank(r.fuse(hits, method), newest)
}

func most(scores []int64) int64 {
	if len(scores) == 0 {
		return 0
	}
	return slices.Max(scores)
}

// floor returns the floor of a view, and the support of each turn, both in ppm.
func (r *reference) floor(past []Turn, bare, dated []text, q *Query, terms []string) (floor int64, support []int64) {
	support = make([]int64, len(past))
	if r.p.Floor == 0 {
		return 0, support
	}
	const one = 1_000_000
	turns, none := int64(0), true
	for _, t := range bare {
		if t.words != nil {
			turns++
		}
	}
	power := int64(1)
	doublings := int64(0)
	for 2*power <= turns {
		power, doublings = 2*power, doublings+1
	}
	if doublings >= 10 {
		log := new(big.Rat).Add(big.NewRat(doublings-10, 1), big.NewRat(turns-power, power))
		if log.Cmp(big.NewRat(6, 1)) > 0 {
			log.SetInt64(6)
		}
		log.Mul(log, big.NewRat(int64(r.p.Floor), 6))
		floor = new(big.Int).Quo(log.Num(), log.Denom()).Int64()
	}
	mass, has := int64(0), make([]int64, len(past))
	near := windowed(past, bare, r.p.Reach, r.p.People)
	count := func(terms []string, bare, counted []text) {
		n := int64(0)
		for _, t := range bare {
			if t.words != nil {
				n++
			}
		}
		slices.Sort(terms)
		for _, term := range slices.Compact(terms) {
			with := int64(0)
			for _, t := range bare {
				if t.words[term] > 0 {
					with++
				}
			}
			weight := refLn(2*n+2, 2*with+1)
			mass += weight
			for i := range counted {
				if counted[i].words[term] > 0 {
					has[i], none = has[i]+weight, false
				}
			}
		}
	}
	count(slices.Clone(terms), bare, near)
	count(dateWords(nil, plainWords(q.Text)), dated, dated)
	if none {
		floor = max(floor, int64(r.p.Floor)/2)
	}
	for i := range past {
		support[i] = one * has[i] / max(mass, 1)
		if v := r.vectors[past[i].ID]; v != nil && q.Vector != nil && !r.erased[past[i].ID] {
			support[i] += max(0, one*dot(v, q.Vector)/(256*int64(len(v))))
		}
	}
	return floor, support
}

// isOneLetterOff reports whether a word becomes another by exchanging two adjacent letters, or, if other is allowed, by adding, dropping or changing one.
func isOneLetterOff(word, other string, may bool) bool {
	for i := range len(word) - 1 {
		if word[i] != word[i+1] && word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:] == other {
			return true
		}
	}
	for i := range word {
		if may && (word[:i]+word[i+1:] == other || len(word) == len(other) && word != other && word[:i]+other[i:i+1]+word[i+1:] == other) {
			return true
		}
	}
	for i := range other {
		if may && other[:i]+other[i+1:] == word {
			return true
		}
	}
	return false
}

// commonest returns the candidate with the highest count, of several the first.
func commonest(counts map[string]int, is func(string) bool) (best string) {
	for w, n := range counts {
		if is(w) && (n > counts[best] || n == counts[best] && w < best) {
			best = w
		}
	}
	return best
}

// terms returns those of a query without authors' names, and the name if there is one alone.
func (r *reference) terms(query string, past []Turn, bare []text) ([]string, string) {
	having := map[string]int{}
	for _, t := range bare {
		for w := range t.words {
			having[w]++
		}
	}
	terms, name := r.nameless(query, past, having)
	for i, term := range terms {
		if !r.p.NearTerms || len(term) < 5 || having[term] > 0 {
			continue
		}
		if near := commonest(having, func(w string) bool { return isOneLetterOff(term, w, len(term) >= 7) }); near != "" {
			terms[i] = near
		}
	}
	return terms, name
}

// nameless returns the terms of a query without authors' names, not yet replaced by near ones, and the name if there is one alone.
func (r *reference) nameless(query string, past []Turn, having map[string]int) ([]string, string) {
	if r.p.NamesByUse {
		all, by := map[string]int{}, map[string]int{}
		for i := range past {
			for _, w := range slices.Compact(slices.Sorted(slices.Values(nameWords(past[i].Author)))) {
				all[w]++
				if past[i].Role == dag.RoleUser || past[i].Role == dag.RoleAssistant {
					by[w]++
				}
			}
		}
		names := map[string]bool{}
		var rest []string
		for _, w := range strings.Fields(query) {
			name := strings.ToLower(strings.Trim(w, "?,.'s"))
			most := 0
			for _, term := range analysis.English.Terms(nil, name) {
				most = max(most, having[term])
			}
			if r.p.NearTerms && len(name) >= 5 && all[name] == 0 && most == 0 {
				name = commonest(all, func(other string) bool { return isOneLetterOff(name, other, true) })
			}
			if by[name] > 0 && by[name] >= most {
				names[name] = true
			} else {
				rest = append(rest, w)
			}
		}
		if len(rest) == 0 {
			rest = []string{query}
		}
		name := ""
		for n := range names {
			name = n
		}
		if len(names) != 1 {
			name = ""
		}
		return analysis.English.Terms(nil, strings.Join(rest, " ")), name
	}
	authors := map[string]bool{}
	for i := range past {
		for _, w := range nameWords(past[i].Author) {
			authors[w] = true
		}
	}
	var rest, names []string
	for _, w := range strings.Fields(query) {
		if bare := strings.ToLower(strings.Trim(w, "?,.'s")); authors[bare] {
			names = append(names, bare)
		} else {
			rest = append(rest, w)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		names = []string{""}
	}
	return analysis.English.Terms(nil, strings.Join(rest, " ")), names[0]
}

// A scene draws turns and queries in which words, dates, names and conversations meet often.
type scene struct{ *rand.Rand }

var (
	sceneWords   = strings.Fields("cache table query index merge branch ledger proof slice budget store write read error retry deploy agent tool file test rain garden violin bread marathon kiln harbour lantern willow compass")
	sceneAttrs   = []map[string]string{nil, {"cwd": "/src/a", "model": "m"}, {"cwd": "/src/ab"}, {"git_branch": "main"}}
	sceneAuthors = []string{"human:Anna", "human:Ben", "agent:claude", "tool:Bash", ""}
	sceneDates   = []string{"in May 2023", "on 7 June", "yesterday", "last week", "2022", "next month"}
)

// word draws the earlier words more often than the later ones.
func (s *scene) word() string {
	return sceneWords[min(s.IntN(len(sceneWords)), s.IntN(len(sceneWords)))]
}

func (s *scene) text(words int) string {
	var all []string
	for range words {
		all = append(all, s.word())
	}
	if s.IntN(4) == 0 {
		all = append(all, sceneDates[s.IntN(len(sceneDates))])
	}
	return strings.Join(all, " ")
}

func (s *scene) turn(n int, conversations int) Turn {
	id := dag.ExternalTurnID("scene", fmt.Sprint(s.Uint64()))
	return Turn{
		ID: id, Conversation: dag.ExternalConversationID("scene", fmt.Sprint(s.IntN(conversations))), Seq: dag.Seq(1 + 2*n),
		Role: dag.Role(1 + s.IntN(4)), CreatedAt: dag.Time(1_670_000_000_000_000 + int64(n)*86_400_000_000), Author: sceneAuthors[s.IntN(len(sceneAuthors))],
		Labels: LabelsOf(sceneAttrs[s.IntN(len(sceneAttrs))]), Content: s.text(s.IntN(12)),
		Says: n%5 == 0, Writes: n%3 == 0, Fails: n%4 == 0,
	}
}

func (s *scene) query(r *reference, last dag.Seq) *Query {
	q := &Query{Text: s.text(1 + s.IntN(6)), AsOf: last, Limit: []int{1, 3, 10, 1000}[s.IntN(4)]}
	if s.IntN(4) == 0 {
		q.Text = "When did " + []string{"Anna", "Ben", "Anna and Ben"}[s.IntN(3)] + " " + q.Text + "?"
	}
	if s.IntN(4) == 0 { // one letter wrong in a word or a name, only a name, or words that nobody uses
		q.Text = []string{q.Text + " marathn", "violni " + q.Text, "lanterm harbuor", "claude", "Claud " + q.Text, "what did cluade say", "ledgers zebra", "zebra quagga"}[s.IntN(8)]
	}
	if s.IntN(2) == 0 {
		q.AsOf = dag.Seq(1 + s.IntN(int(last)))
	}
	some := r.turns[s.IntN(len(r.turns))]
	switch s.IntN(7) {
	case 6:
		q.Attributes = sceneAttrs[1+s.IntN(len(sceneAttrs)-1)]
	case 0:
		q.Conversation = &some.Conversation
	case 1:
		q.Role = some.Role
	case 2:
		q.Author = some.Author
	case 3:
		q.Since = &some.CreatedAt
	case 4:
		q.Until = &some.CreatedAt
	}
	return q
}

// TestSearch compares the answers of the index with those of the reference, while it grows and texts are erased.
func TestSearch(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 15
	}
	found, whens, named, dated, filtered := 0, 0, 0, 0, 0
	for seed := range seeds {
		policy := DefaultPolicy()
		if seed%3 == 2 { // another one, and another reach than the index is made for
			policy.Reach, policy.Words, policy.Author, policy.When = 1+seed%8, Channel{600_000, 2_000_000, 900_000}, 300_000, 100_000
		}
		if seed%5 > 1 {
			policy.People, policy.NamesByUse, policy.NearTerms = seed%5 != 2, seed%5 != 3, seed%5 != 4 || seed%2 == 0
		}
		s := &scene{rand.New(rand.NewPCG(uint64(seed), 1))}
		x, r := New(analysis.English, 0), &reference{p: &policy, erased: map[dag.TurnID]bool{}}
		conversations := 1 + s.IntN(9)
		for n := range 40 + s.IntN(160) {
			turn := s.turn(n, conversations)
			switch { // conversations one after the other, or at the same time
			case seed%2 == 0:
				turn.Conversation = dag.ExternalConversationID("scene", fmt.Sprint(n/(5*conversations)))
			case n > 0 && s.IntN(3) > 0:
				turn.Conversation = r.turns[n-1].Conversation
			}
			if turn.Withheld = s.IntN(15) == 0; turn.Withheld {
				turn.Author, turn.Labels, turn.Content = "", "", ""
				r.erased[turn.ID] = true
			}
			if err := x.Add([]Turn{turn}, nil); err != nil {
				t.Fatal(err)
			}
			r.turns = append(r.turns, turn)
			if s.IntN(15) == 0 {
				gone := r.turns[s.IntN(len(r.turns))].ID
				x.Erase(gone)
				r.erased[gone] = true
			}
			if s.IntN(10) > 0 {
				continue
			}
			q := s.query(r, turn.Seq)
			want := r.search(q)
			if len(want) > q.Limit {
				want = want[:q.Limit]
			}
			got := x.Search(&policy, q)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, %d turns, %q as of %d, limit %d: got %d hits, want %d\n%s", seed, n+1, q.Text, q.AsOf, q.Limit, len(got), len(want), difference(got, want))
			}
			if len(want) > 0 {
				found++
			}
			for _, h := range want {
				whens, named, dated = whens+int(min(h.When, 1)), named+int(min(h.Named, 1)), dated+int(min(h.Dates, 1))
			}
			if q.Role != 0 || q.Conversation != nil || q.Since != nil {
				filtered++
			}
		}
	}
	if found < 2*seeds || whens == 0 || named == 0 || dated == 0 || filtered == 0 {
		t.Errorf("%d answers, %d with a time, %d with a name, %d with a date, %d filtered: too few to say anything", found, whens, named, dated, filtered)
	}
}

func difference(got, want []Hit) string {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return fmt.Sprintf("from hit %d on: got %+v\nwant %+v", i, got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
		}
	}
	return ""
}
