package retrieval

import (
	"cmp"
	"iter"
	"runtime"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
	"github.com/graphkernel/graphkernel/retrieval/vector"
)

// A Turn is a turn in an index, or one to be added.
type Turn struct {
	ID           dag.TurnID
	Conversation dag.ConversationID
	Seq          dag.Seq
	Role         dag.Role
	Salience     dag.PPM
	CreatedAt    dag.Time
	Leaf         dag.Digest
	Withheld     bool // its text is withheld or erased: it has no Author and no Content
	Author       string
	Labels       Labels // "" if it is withheld
	Content      string
	Size         int  // bytes of Content
	Silent       bool // Content has no words
	Says         bool // its text has words beside calls, results and reasoning
	Writes       bool // it calls tools that write files, and no others
	Fails        bool // it is a result that says that its call failed
}

// person reports whether a person wrote the turn.
func (t *Turn) person() bool { return t.Role == dag.RoleUser }

// An Index finds a tenant's turns by words and vectors. It must not be changed while it is read.
type Index struct {
	analyzer analysis.Analyzer
	readers  readers
	words    *bm25.Index
	dates    *bm25.Index
	dense
	turns   turnTable
	silent  silent
	places  places
	room    int               // number of turns that have room
	labels  map[Labels]Labels // all different labels, so that turns share them in memory
	authors authors
	size    int
}

// indexed is a turn without its content.
type indexed struct {
	Turn
	when bool // its content has an expression of time
}

// New returns an empty index. It has no vectors if dimensions is 0.
func New(a analysis.Analyzer, dimensions int) *Index {
	x := &Index{analyzer: a, words: bm25.New(DefaultPolicy().Reach), dates: bm25.New(0), places: newPlaces(), labels: map[Labels]Labels{}, authors: authors{}}
	for range runtime.GOMAXPROCS(0) {
		x.readers = append(x.readers, newReader(a))
	}
	if dimensions > 0 {
		x.vectors = vector.NewFlat(dimensions)
	}
	return x
}

// ReadAlone limits the index to one processor for reading texts.
func (x *Index) ReadAlone() { x.readers = x.readers[:1] }

// Size returns the approximate number of bytes that the index takes in memory.
func (x *Index) Size() int { return x.size + x.dense.size + x.words.Unpacked() + x.dates.Unpacked() }

// Last returns the number of the last turn, or 0 if there is none.
func (x *Index) Last() dag.Seq {
	if x.turns.n == 0 {
		return 0
	}
	return x.turns.at(int32(x.turns.n - 1)).Seq
}

// Bytes of an index for each turn, for each term or date word of a turn, for each term or date word that is stored packed, and for a
// turn's vector in addition to its components.
const each, ofTerm, ofStored, ofVector = 320, 16, 4, 32

// Add adds turns after all others, in their order. For an index with vectors, vectors contains the vector of each turn's Content, nil
// for a turn without one; otherwise it may be nil. Texts are read on all processors. The result does not depend on the number of
// processors, nor on how turns are divided among calls.
func (x *Index) Add(turns []Turn, vectors [][]int8) error {
	parsed := x.readers.read(turns)
	for i := range turns {
		var v []int8
		if vectors != nil {
			v = vectors[i]
		}
		if err := x.add(turns[i], v, &parsed[i]); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) add(t Turn, v []int8, p *parsed) error {
	if t.Withheld {
		v = nil
	}
	if x.vectors != nil {
		if _, err := x.vectors.Add(t.ID, t.Seq, v); err != nil {
			return err
		}
		x.size += ofVector + len(v)
	}
	n, err := x.words.Add(t.Seq, t.Conversation, t.person(), p.terms)
	if err != nil {
		return err
	}
	if _, err := x.dates.Add(t.Seq, t.Conversation, t.person(), p.dates); err != nil {
		return err
	}
	if known, ok := x.labels[t.Labels]; ok {
		t.Labels = known
	} else {
		x.labels[t.Labels] = t.Labels
		x.size += len(t.Labels)
	}
	x.authors.add(int32(n), nameWords(t.Author))
	t.Size, t.Silent, t.Content = len(t.Content), p.silent, ""
	x.turns.add(indexed{t, p.when})
	x.places.add(&x.turns, n)
	x.silent.add(n, p.silent)
	x.size += each + ofTerm*(len(p.terms)+len(p.dates))
	return nil
}

// silent has one bit for each turn: whether it is Silent.
type silent []uint64

// add records whether the next turn, at the place n, is silent.
func (s *silent) add(n int, is bool) {
	if n>>6 == len(*s) {
		*s = append(*s, 0)
	}
	if is {
		s.set(int32(n))
	}
}

func (s silent) set(n int32) { s[n>>6] |= 1 << (n & 63) }

func (s silent) has(n int32) bool { return s[n>>6]>>(n&63)&1 != 0 }

// Erase removes everything that was derived from a turn's text, and reports whether the turn is in the index.
func (x *Index) Erase(id dag.TurnID) bool {
	n, ok := x.places.find(&x.turns, id)
	if !ok {
		return false
	}
	t := x.turns.at(n)
	for i := range x.readers {
		x.readers[i].forget()
	}
	x.authors.erase(n, nameWords(t.Author))
	x.words.Erase(int(n))
	x.dates.Erase(int(n))
	x.dense.erase(int(n))
	t.Author, t.Labels, t.when, t.Size, t.Silent, t.Withheld = "", "", false, 0, true, true
	t.Says, t.Writes, t.Fails = false, false, false
	x.silent.set(n)
	return true
}

// Turn returns a turn without its content; false if the index does not contain it.
func (x *Index) Turn(id dag.TurnID) (Turn, bool) {
	n, ok := x.places.find(&x.turns, id)
	if !ok {
		return Turn{}, false
	}
	return x.turns.at(n).Turn, true
}

// Terms returns the distinct terms of a turn as numbers of this index, ascending; nil if the index does not contain the turn. The result
// must not be changed.
func (x *Index) Terms(id dag.TurnID) []int32 {
	n, ok := x.places.find(&x.turns, id)
	if !ok {
		return nil
	}
	return x.words.Terms(n)
}

// HasTerm reports whether the index has a turn with a term.
func (x *Index) HasTerm(id dag.TurnID, term string) bool {
	n, ok := x.places.find(&x.turns, id)
	return ok && x.words.HasTerm(n, term)
}

// Conversation yields the turns of a conversation up to a number, without their content, the newest first. They must not be changed or kept.
func (x *Index) Conversation(id dag.ConversationID, asOf dag.Seq) iter.Seq[*Turn] {
	return func(yield func(*Turn) bool) {
		for _, n := range slices.Backward(x.words.Turns(id)) {
			if t := &x.turns.at(n).Turn; t.Seq <= asOf && !yield(t) {
				return
			}
		}
	}
}

// A Conversation describes a conversation by its first and last turns.
type Conversation struct {
	ID     dag.ConversationID
	First  Labels     // the labels of its first turn
	Last   dag.TurnID // the turn that was admitted last
	LastAt dag.Time   // the latest time of its turns
}

// EachConversation calls fn with each conversation. It visits every turn of the index once.
func (x *Index) EachConversation(fn func(*Conversation)) {
	type bounds struct {
		first, last int32 // places of turns plus one; 0: none
		at          dag.Time
	}
	var all []bounds
	for n := range int32(x.turns.before(dag.MaxSeq)) {
		c := int(x.words.Conversation(n))
		if c >= len(all) {
			all = append(all, make([]bounds, c+1-len(all))...)
		}
		at := x.turns.at(n).CreatedAt
		if all[c].first == 0 {
			all[c] = bounds{first: n + 1, at: at}
		}
		all[c].last, all[c].at = n+1, max(all[c].at, at)
	}
	for _, b := range all {
		if b.first > 0 {
			first := x.turns.at(b.first - 1)
			fn(&Conversation{first.Conversation, first.Labels, x.turns.at(b.last - 1).ID, b.at})
		}
	}
}

// Conversations returns the conversations for whose first turn's labels wanted returns true.
func (x *Index) Conversations(wanted func(Labels) bool) map[dag.ConversationID]bool {
	found := map[dag.ConversationID]bool{}
	x.EachConversation(func(c *Conversation) {
		if wanted(c.First) {
			found[c.ID] = true
		}
	})
	return found
}

// Newest returns the newest turn up to a number, without its content.
func (x *Index) Newest(asOf dag.Seq) (Turn, bool) {
	n := x.turns.before(asOf)
	if n == 0 {
		return Turn{}, false
	}
	return x.turns.at(int32(n - 1)).Turn, true
}

// A Query asks for turns. Turns that the filters leave out still count in the statistics.
type Query struct {
	Text   string
	Vector []int8 // the vector of the text that Bare returns, if the policy uses vectors; nil: no turn has a likeness
	AsOf   dag.Seq
	Limit  int
	Also   []dag.TurnID // distinct turns whose scores are wanted in any case

	// Approximate allows a search of the whole present to use the graph of vectors, if there is one, which may miss turns.
	Approximate bool

	Conversation *dag.ConversationID         // nil: any
	Within       map[dag.ConversationID]bool // nil: any
	Except       map[dag.ConversationID]bool
	Role         dag.Role            // 0: any
	Author       string              // "": any
	Attributes   map[string]string   // by keys of LabelKeys; a turn must have all of them, except that its cwd may be a folder below
	Since, Until *dag.Time           // created at Since or later, and before Until; nil: any time
	Among        map[dag.TurnID]bool // nil: any
}

// filters reports whether the query has a filter.
func (q *Query) filters() bool {
	return q.Conversation != nil || q.Within != nil || len(q.Except) > 0 || q.Role != 0 || q.Author != "" || len(q.Attributes) > 0 || q.Since != nil || q.Until != nil || q.Among != nil
}

func (q *Query) lets(t *Turn) bool {
	return (q.Conversation == nil || t.Conversation == *q.Conversation) && (q.Within == nil || q.Within[t.Conversation]) && !q.Except[t.Conversation] && (q.Role == 0 || t.Role == q.Role) && (q.Author == "" || t.Author == q.Author) &&
		(q.Since == nil || t.CreatedAt >= *q.Since) && (q.Until == nil || t.CreatedAt < *q.Until) && t.Labels.match(q.Attributes) && (q.Among == nil || q.Among[t.ID])
}

// A Hit is a turn that was found. Under the fusion FusionSum, its parts add up to Score. They are in ppm of the score of the turn that
// is best by words, at weight 1.
type Hit struct {
	Turn  Turn   // without Content
	Title string // the title of the conversation, from the labels of its first turn; "" if it has none or it was erased
	Score int64
	Words int64 // by the words of the turn and its neighbours
	Whole int64 // by the words of the conversation
	Dates int64
	When  int64 // the query asks when, and the turn has an expression of time
	Like  int64 // by the likeness of the turn's vector
	Named int64 // the query names the turn's author and no other

	Judged int64 // by a cross-encoder, in ppm, from the least (0) to the greatest of the hits

	// The parts do not add up to Score under another fusion or after a reranker. Under another fusion, these are the turn's ranks in the
	// lists by words and by likeness, from 1 on; 0 if it is not in the list.
	WordRank, LikeRank int
}

// Results are the results of a search.
type Results struct {
	Hits        []Hit   // the best first; equal scores by ascending id
	Approximate bool    // the search may have missed turns with similar vectors
	Also        []int64 // the scores of the turns in Query.Also, parallel to it; 0 for a turn that is filtered out or would not be found
	Statistics  Statistics
}

// Search returns the best hits under a policy, the best first and equal scores by ascending id. The policy's
// analyzer must be that of the index.
func (x *Index) Search(p *Policy, q *Query) []Hit { return x.SearchWith(p, q, nil).Hits }

// SearchWith is like Search, but also returns the statistics on which the scores depend. If given is not nil, it is used instead of the
// index's own statistics: then a turn has the score that it had when they were recorded, unless a turn of its conversation was erased
// since.
//
// Under a policy with NamesByUse, a word names an author only if at least as many turns in the view are by a person or an agent of that name as have the
// word, and if the query has other words; the query's vector is that of its whole text. Under a policy with Floor, a turn is a hit only if its support is
// not below the floor of the view. Support is the share of the query's words and dates, weighed by how rare they are, that the turn has with
// its neighbours, plus the cosine of its vector with the query's if that is above 0.
func (x *Index) SearchWith(p *Policy, q *Query, given *Statistics) Results {
	view := x.words.At(q.AsOf)
	own := given == nil
	if own {
		given = &Statistics{}
		given.Terms, given.Named = x.termsOf(p, q.Text, view)
	}
	words := plainWords(q.Text)
	s := search{x: x, p: p, q: q, when: asksWhen(words), named: x.authors[given.Named], filters: q.filters(), of: -1}
	s.dates = x.dates.At(q.AsOf).Score(dateWords(nil, words), p.Dates.params(), bm25.Need{}, given.Dates)
	s.whole = view.ScoreConversations(given.Terms, p.Conversation.params(), given.Conversations)
	limit := min(q.Limit, p.MaxHits)
	need := bm25.Need{Best: limit, Most: s.highest, Rank: s.rank}
	for _, id := range q.Also {
		if n, ok := x.places.find(&x.turns, id); ok {
			need.Also = append(need.Also, n)
		}
	}
	if p.Dense.on() {
		if x.mayWalk(q, x.Last()) && own {
			s.like = x.walked(q, p, limit)
		} else {
			s.like = x.likeness(q, x.turns.n, p.Dense.Weight, given.Likeness)
		}
	}
	if len(s.dates.Places) > 0 || s.like != nil || p.Floor > 0 || p.Rerank.here() { // any turn may be among the best hits, or the best turns may be no hits
		need.Best = 0
	}
	s.words = view.Score(given.Terms, p.neighbours(), need, given.Words)
	s.support = s.supportOf()
	r := Results{Statistics: *given, Approximate: s.like != nil && s.like.flat != nil}
	r.Hits, r.Also = s.fused(limit)
	if own {
		r.Statistics.Words, r.Statistics.Conversations, r.Statistics.Dates = &s.words.Statistics, &s.whole.Statistics, &s.dates.Statistics
		if s.like != nil && len(s.like.places) > 0 {
			r.Statistics.Likeness = &s.like.Likenesses
		}
		if len(r.Hits) > 0 {
			r.Statistics.Best = r.Hits[0].Score
		}
	}
	return r
}

// A search is a search in progress, with the scores of the query's channels.
type search struct {
	x                   *Index
	p                   *Policy
	q                   *Query
	words, whole, dates *bm25.Scores
	like                *likeness // nil: the policy uses no vectors
	when                bool
	named               []int32 // the turns by the author whom the query names
	filters             bool    // the query has a filter
	support             support

	of, share int64 // the conversation of the turn that was scored last, and its score
}

// A ranked is a turn, by its place in the index, with its score.
type ranked struct {
	score int64
	place int32
}

// lets reports whether a turn may be a hit: it is not silent and passes the filters.
func (s *search) lets(n int32) bool {
	return !s.x.silent.has(n) && (!s.filters || s.q.lets(&s.x.turns.at(n).Turn))
}

// best returns the best hits by the score that by returns, and sets their Score to it.
func (s *search) best(limit int, by func(*Hit) int64) []Hit {
	var best []ranked
	compare := func(a, b ranked) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return s.x.turns.at(a.place).ID.Compare(s.x.turns.at(b.place).ID)
	}
	at := 0
	floor := int64(1)
	var h Hit // one variable for all, because by may make it escape to the heap
	for _, n := range s.found() {
		words, having := int64(0), int64(0)
		if at < len(s.words.Places) && s.words.Places[at] == n {
			words, having = s.words.Of[at], s.words.Having[at]
			at++
		}
		if !s.supports(n, having) || !s.lets(n) {
			continue
		}
		h = s.hit(n, words, s.words.Most)
		score := by(&h)
		if score < floor {
			continue
		}
		if best = append(best, ranked{score, n}); len(best) >= 2*limit+64 {
			slices.SortFunc(best, compare)
			best, floor = best[:limit], best[limit-1].score
		}
	}
	slices.SortFunc(best, compare)
	hits := make([]Hit, min(len(best), limit))
	for i := range hits {
		n := best[i].place
		hits[i] = s.hit(n, s.words.At(n), s.words.Most)
		hits[i].Turn, hits[i].Score = s.x.turns.at(n).Turn, best[i].score
		hits[i].Title = s.x.turns.at(s.x.words.Turns(hits[i].Turn.Conversation)[0]).Labels.Title()
	}
	return hits
}

// found returns the turns that have a score in any channel, ascending.
func (s *search) found() []int32 {
	if s.like == nil {
		return merged(s.words.Places, s.dates.Places)
	}
	return merged(s.words.Places, merged(s.dates.Places, s.like.places))
}

// finds reports whether a turn has a score in any channel, and enough support.
func (s *search) finds(n int32) bool {
	if !s.supports(n, s.words.HavingAt(n)) {
		return false
	}
	if s.words.At(n) > 0 || s.dates.At(n) > 0 {
		return true
	}
	if s.like == nil {
		return false
	}
	_, has := slices.BinarySearch(s.like.places, n)
	return has
}

// rank returns the score of a turn, given its score by words and the greatest one; -1 if it may not be a hit.
func (s *search) rank(n int32, words, most int64) int64 {
	if !s.lets(n) {
		return -1
	}
	p := s.parts(n, words, most)
	return p.sum()
}

// highest returns the highest score that a turn without a date can have, given its score by words and the greatest one.
func (s *search) highest(words, most int64) int64 {
	score := part(words, most, s.p.Words.Weight)
	if s.whole.Most > 0 {
		score += int64(s.p.Conversation.Weight)
	}
	if s.when {
		score += int64(s.p.When)
	}
	if len(s.named) > 0 {
		score += s.author(score)
	}
	return score
}

// hit returns the hit of a turn, given its score by words and the greatest one, without its Turn.
func (s *search) hit(n int32, words, most int64) Hit {
	p := s.parts(n, words, most)
	return Hit{Score: p.sum(), Words: p.words, Whole: p.whole, Dates: p.dates, When: p.when, Like: p.like, Named: p.named}
}

// parts are the parts of a hit's score. A search also computes them for many turns that do not become hits.
type parts struct{ words, whole, dates, when, like, named int64 }

func (p *parts) sum() int64 { return p.words + p.whole + p.dates + p.when + p.like + p.named }

// parts returns the parts of a turn's score, given its score by words and the greatest one.
func (s *search) parts(n int32, words, most int64) (p parts) {
	p.words = part(words, most, s.p.Words.Weight)
	p.whole = s.conversation(n)
	if len(s.dates.Places) > 0 {
		p.dates = part(s.dates.At(n), s.dates.Most, s.p.Dates.Weight)
	}
	if s.when && s.x.turns.at(n).when {
		p.when = int64(s.p.When)
	}
	if s.like != nil {
		p.like = s.like.at(n)
	}
	if len(s.named) > 0 {
		if _, ok := slices.BinarySearch(s.named, n); ok {
			p.named = s.author(p.sum())
		}
	}
	return p
}

// conversation returns the score of a turn's conversation.
func (s *search) conversation(n int32) int64 {
	if of := s.x.words.Conversation(n); int64(of) != s.of {
		s.of, s.share = int64(of), part(s.whole.At(of), s.whole.Most, s.p.Conversation.Weight)
	}
	return s.share
}

// author returns the gain of a turn with a score if its author is the only one that the query names.
func (s *search) author(score int64) int64 { return score * int64(s.p.Author) / int64(dag.One) }

// merged returns the numbers of two ascending lists, ascending, each once.
func merged(a, b []int32) []int32 {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	all := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		next := min(a[0], b[0])
		if a[0] == next {
			a = a[1:]
		}
		if b[0] == next {
			b = b[1:]
		}
		all = append(all, next)
	}
	return append(append(all, a...), b...)
}

// part returns weight · score/most; 0 if most is 0.
func part(score, most int64, weight dag.PPM) int64 {
	if most == 0 {
		return 0
	}
	return int64(weight) * score / most
}

// termsOf returns the terms of a query without authors' names, and the name if it has exactly one.
func (x *Index) termsOf(p *Policy, query string, view bm25.View) (terms []string, named string) {
	rest, named := x.nameless(p, query, view)
	terms = x.analyzer.Terms(nil, rest)
	if p.NearTerms {
		for i, term := range terms {
			if !analysis.NearWords.Possible(term) || view.Having(term) > 0 {
				continue
			}
			if near := view.Commonest(func(other string) bool { return analysis.NearWords.Near(term, other) }); near != "" {
				terms[i] = near
			}
		}
	}
	slices.Sort(terms)
	return slices.Compact(terms), named
}

// Bare returns the text from which a query's vector is made: without authors' names, unless the policy has NamesByUse.
func (x *Index) Bare(p *Policy, q *Query) string {
	if p.NamesByUse {
		return q.Text
	}
	rest, _ := x.nameless(p, q.Text, x.words.At(q.AsOf))
	return rest
}
