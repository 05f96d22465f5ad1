package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// ErrNoWords is wrapped when a search asks for nothing. It wraps dag.ErrForm.
var ErrNoWords = fmt.Errorf("%w: a search needs words", dag.ErrForm)

// A SearchRequest asks for turns by words.
type SearchRequest struct {
	retrieval.Query
	Space  belief.Space    // only turns on which something rests that is believed in this space; "": any
	Policy policy.ID       // "" is recall@1
	Within *token.Boundary // nil: all turns. The view is that of the evidence unless another is asked for
}

// A Found is what a search found.
type Found struct {
	AsOf   dag.Seq
	Policy policy.ID
	Hits   []FoundTurn // the best first

	// NotReranked is why the hits are not in the order of the policy's cross-encoder, but in that before it; nil if they are, or if it has none.
	NotReranked error

	// Approximate says that a graph of vectors was walked, which may miss turns: see Config.GraphOver.
	Approximate bool

	// NotIndexed is how many numbers above AsOf the search did not look at, though they were asked for, since the index of their texts is still being made; see
	// Config.IndexTexts. What was found is what a search as of AsOf finds.
	NotIndexed dag.Seq

	// Damaged counts the turns that were left out because the store does not have their texts as they were admitted. It is of all
	// turns that were read for the index, and of the hits; 0 for an index that was opened from its segments, until a hit shows one.
	Damaged int
}

// A FoundTurn is a hit with the text that was found.
type FoundTurn struct {
	retrieval.Hit
	Content string
}

// Search finds turns by words, and changes no history. What it finds follows from the query, from the policy and from the
// turns that are numbered up to AsOf, 0 for all, without the texts that were erased since. The first search of a tenant
// reads the segments of the index that the store keeps, and the turns of which it keeps none; later ones read the turns that are new. What fills a segment
// keeps it. With Config.IndexTexts a search reads no more texts than that, keeps nothing, and may end at an earlier number: see Found.NotIndexed.
func (k Turns) Search(ctx context.Context, tenant dag.Tenant, r SearchRequest) (Found, error) {
	switch {
	case r.Limit < 1 || r.Limit > retrieval.LimitHits:
		return Found{}, fmt.Errorf("%w: %d hits, want 1 to %d", dag.ErrForm, r.Limit, retrieval.LimitHits)
	case !retrieval.AreLabelKeys(r.Attributes):
		return Found{}, fmt.Errorf("%w: attributes %q, and turns are filtered by those of %q", dag.ErrForm, slices.Sorted(maps.Keys(r.Attributes)), retrieval.LabelKeys)
	case len(analysis.None.Terms(nil, r.Text)) == 0:
		return Found{}, fmt.Errorf("%w, and %.80q has none", ErrNoWords, r.Text)
	}
	ctx, observed := k.observe(ctx, "search")
	f, err := steady(k.engine, func(c *cache) (Found, error) { return c.search(ctx, tenant, r) })
	observed(err)
	return f, err
}

func (c *cache) search(ctx context.Context, tenant dag.Tenant, r SearchRequest) (f Found, err error) {
	r.Approximate = r.AsOf == 0 && r.Within == nil
	var head dag.Seq
	if r.AsOf, err = held(tenant, r.Within, r.AsOf); err == nil {
		r.AsOf, head, err = c.asOf(ctx, tenant, r.AsOf)
	}
	if err != nil {
		return f, err
	}
	if r.Space != "" {
		if r.Among, err = space.RestsOn(ctx, c.beliefs.Journal(), tenant, r.Space, r.AsOf); err != nil {
			return f, err
		}
	}
	f.AsOf, f.Policy = r.AsOf, cmp.Or(r.Policy, retrieval.PolicyID)
	p, err := c.policies.get(ctx, tenant, f.Policy)
	if err != nil {
		return f, err
	}
	params, err := retrieval.PolicyOf(p)
	if err != nil {
		return f, err
	}
	reranker, err := c.rerankerOf(&params)
	if err != nil {
		return f, err
	}
	limit := r.Limit
	if reranker != nil {
		r.Limit = params.MaxHits // of which it chooses
	}
	var hits []retrieval.Hit
	if r.Within != nil {
		hits, err = c.hitsWithin(ctx, r.Within, &params, &r.Query)
	} else {
		var results retrieval.Results
		results, err = c.hits(ctx, tenant, head, &params, &r.Query)
		hits, f.Approximate = results.Hits, results.Approximate
		f.AsOf, f.NotIndexed = r.AsOf, f.AsOf-r.AsOf // hits may go by an earlier view
		if w, err := c.tenants.of(tenant).words.of(&params); err == nil {
			f.Damaged = w.damagedUpTo(r.AsOf)
		}
	}
	if err != nil {
		return f, err
	}
	texts, damaged, err := c.tenants.of(tenant).texts.OfHits(ctx, head, hits)
	if err != nil {
		return f, err
	}
	f.Hits = make([]FoundTurn, 0, len(hits))
	for i, t := range texts {
		if t != nil {
			f.Hits = append(f.Hits, FoundTurn{hits[i], t.Body.Content})
		}
	}
	for _, err := range damaged {
		_, observed := c.k.observe(ctx, "read text")
		observed(fmt.Errorf("tenant %s: %w; it is left out", tenant, err))
	}
	f.Damaged += len(damaged)
	if reranker != nil {
		err = c.judged(ctx, reranker, &params, r.Text, &f)
	}
	f.Hits = f.Hits[:min(len(f.Hits), limit)]
	return f, err
}

// hits searches the index of a tenant's texts as of a head or later. If the index does not reach the query's number, and must not be filled by a request, the query
// gets the number that it reaches.
func (c *cache) hits(ctx context.Context, tenant dag.Tenant, head dag.Seq, p *retrieval.Policy, q *retrieval.Query) (found retrieval.Results, err error) {
	w, err := c.tenants.of(tenant).words.of(p)
	if err != nil {
		return found, err
	}
	seen := func(reached dag.Seq) {
		if q.AsOf > reached {
			q.AsOf, q.Approximate = reached, false
		}
	}
	if p.Dense.Embedder == retrieval.NoEmbedder {
		err := w.readReached(ctx, head, func(x *retrieval.Index, reached dag.Seq) {
			seen(reached)
			found = x.SearchWith(p, q, nil)
		})
		return found, err
	}
	for { // an embedder may take long, so the index may change meanwhile
		var bare string
		if err := w.readReached(ctx, head, func(x *retrieval.Index, reached dag.Seq) {
			head = reached // one request fills the index once
			seen(reached)
			bare = x.Bare(q)
		}); err != nil {
			return found, err
		}
		if q.Vector, err = vectorOf(ctx, w.embedder, bare); err != nil {
			return found, err
		}
		same := false
		err = w.readReached(ctx, head, func(x *retrieval.Index, reached dag.Seq) {
			seen(reached)
			if same = x.Bare(q) == bare; same {
				found = x.SearchWith(p, q, nil)
			}
		})
		if err != nil || same {
			return found, err
		}
	}
}

// tenantWords is the projection of one tenant's texts by which they are found.
type tenantWords struct {
	store    projection.Store
	tenant   dag.Tenant
	analyzer analysis.Analyzer
	model    string         // of the vectors; retrieval.NoEmbedder: there are none
	embedder embed.Embedder // nil: none
	followed *follow.Member
	filling  turnstile.Turnstile // of one: inside it the store is read
	held     *heldWords

	graphOver int  // see Config.GraphOver
	texts     int  // see Config.IndexTexts; 0: a request reads them all
	spared    int  // texts that the filling under way may still read; used inside filling
	ended     bool // the last filling ended because it had read as many as it may; used inside filling
	wanted    func(check bool)

	mu     sync.RWMutex            // guards everything below, and is not held while the store is read
	index  *retrieval.Index        // of the turns up to filled
	filled dag.Seq                 // 0: of none
	gone   map[dag.TurnID]bool     // turns that were erased before they came into the index
	kept   map[segments.Range]bool // that are in the store, as far as is known
	again  dag.Seq                 // keeping segments failed: it is tried again when the index is filled so far

	damaged map[dag.Seq]bool // numbers of turns that are not in the index, since they could not be read
}

// heldWords bounds the bytes of all indexes. The one that was asked last stays, whatever its size.
type heldWords struct {
	most      int
	graphOver int // see Config.GraphOver
	texts     int // see Config.IndexTexts
	observe   func(context.Context, string) (context.Context, func(error))

	mu    sync.Mutex
	items *simplelru.LRU[*tenantWords, int]
	bytes int
}

func newHeldWords(most int) (*heldWords, error) {
	h := &heldWords{most: most, observe: unobserved}
	items, err := simplelru.NewLRU[*tenantWords, int](1<<31-1, func(w *tenantWords, size int) {
		h.bytes -= size
		w.clear() // it is filled again when it is asked
	})
	if err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	h.items = items
	return h, nil
}

// used notes that an index was asked, and drops those that were not asked for longest while there are too many bytes.
func (h *heldWords) used(w *tenantWords, size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before, _ := h.items.Peek(w)
	h.items.Add(w, size)
	h.bytes += size - before
	for h.bytes > h.most && h.items.Len() > 1 {
		h.items.RemoveOldest()
	}
}

// drop drops an index.
func (h *heldWords) drop(w *tenantWords) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.items.Remove(w)
}

// allWords are the projections of one tenant's texts. One is made when it is asked for.
type allWords struct {
	store     projection.Store
	tenant    dag.Tenant
	source    follow.Source
	held      *heldWords
	embedders embedders
	wanted    func(check bool) // called where the store lacks a segment, or has one that cannot be used

	mu   sync.Mutex
	made []*tenantWords
}

// of returns the projection that a policy needs. One with vectors of the table that ships serves searches by words as well, so beside it there
// is none without. One whose vectors come from elsewhere does not, since they may fail to come.
func (a *allWords) of(p *retrieval.Policy) (*tenantWords, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	embedder, err := a.embedders.of(p)
	if err != nil {
		return nil, err
	}
	const without, shipped = retrieval.NoEmbedder, embed.StaticID
	for _, w := range a.made {
		if w.analyzer.String() == p.Analyzer && (w.model == p.Dense.Embedder || p.Dense.Embedder == without && w.model == shipped) {
			return w, nil
		}
	}
	w := a.fresh(p, embedder)
	if w.filledAhead() {
		w.texts, w.wanted = a.held.texts, a.wanted
	}
	w.followed = follow.New(a.source).Add(w) // of its own, since it may come when the others are read already
	if w.model == shipped {
		a.made = slices.DeleteFunc(a.made, func(o *tenantWords) bool {
			beside := o.analyzer.String() == p.Analyzer && o.model == without
			if beside {
				a.held.drop(o)
			}
			return beside
		})
	}
	a.made = append(a.made, w)
	return w, nil
}

// fresh returns an empty projection.
func (a *allWords) fresh(p *retrieval.Policy, embedder embed.Embedder) *tenantWords {
	w := &tenantWords{
		store: a.store, tenant: a.tenant, analyzer: analysis.Of(p.Analyzer), model: p.Dense.Embedder, embedder: embedder, filling: make(turnstile.Turnstile, 1), held: a.held,
		graphOver: a.held.graphOver,
	}
	w.clear()
	return w
}

func (w *tenantWords) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.empty()
}

// empty is clear with the lock held.
func (w *tenantWords) empty() {
	w.index, w.filled, w.gone = newIndex(w.analyzer, w.embedder), 0, map[dag.TurnID]bool{}
	w.index.GraphOver(w.graphOver)
	w.kept, w.again, w.damaged = map[segments.Range]bool{}, 0, map[dag.Seq]bool{}
}

// Begin drops the index, which is filled again when it is asked.
func (w *tenantWords) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	w.clear()
	return to, nil
}

// Apply takes the text of an erased turn out.
func (w *tenantWords) Apply(e *history.Entry) error {
	if e.Kind != erasures.Kind {
		return nil
	}
	erasure, err := erasures.Read(e)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.erase(erasure.Turn) {
		if len(w.damaged) > 0 { // it may be one of them, which is no longer damaged then
			w.empty()
		}
		w.gone[erasure.Turn] = true
	}
	return nil
}

// read calls fn with an index that has every turn up to the number that is asked about, and no text that was erased up to a head that was just read: an
// erasure has a number above the turn's. If a request must not read as many texts as that takes, ErrIndexing is wrapped.
func (w *tenantWords) read(ctx context.Context, asOf, head dag.Seq, fn func(*retrieval.Index)) error {
	var behind error
	err := w.readReached(ctx, head, func(x *retrieval.Index, reached dag.Seq) {
		if reached < asOf {
			behind = &IndexingError{reached, asOf}
			return
		}
		fn(x)
	})
	return cmp.Or(err, behind)
}

// readReached is read for the present, but where a request must not read all texts that are lacking, fn gets an index of the turns up to the number that it
// reaches. Otherwise that is the head.
func (w *tenantWords) readReached(ctx context.Context, head dag.Seq, fn func(x *retrieval.Index, reached dag.Seq)) error {
	most, hurried := ctx.Value(hurry{}).(int)
	for enough := false; ; {
		if err := w.followed.Reach(ctx, head); err != nil {
			return err
		}
		w.mu.RLock()
		filled := w.filled
		if filled >= head || enough {
			fn(w.index, min(filled, head))
			size, links := w.index.Size(), w.index.WantsLinks()
			w.mu.RUnlock()
			w.held.used(w, size)
			if links {
				w.link(ctx)
			}
			return nil
		}
		w.mu.RUnlock()
		if hurried && (head-filled > dag.Seq(max(most, 0)) || len(w.filling) > 0) {
			w.wanted(false)
			enough = true
			continue
		}
		if err := w.filling.Pass(ctx, func() (err error) {
			if w.ended && w.reached() > filled { // another request has just read as many texts as it may
				enough = true
				return nil
			}
			enough, err = w.fill(ctx, head)
			w.ended = enough
			return err
		}); err != nil {
			return err
		}
	}
}

// reached returns the number up to which the index has every turn.
func (w *tenantWords) reached() dag.Seq {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.filled
}

// fill adds the turns that are new up to head. It reports whether it ended before, since a request must not read more texts.
func (w *tenantWords) fill(ctx context.Context, head dag.Seq) (enough bool, err error) {
	w.mu.RLock()
	into, filled := w.index, w.filled
	w.mu.RUnlock()
	w.spared = w.texts
	if w.keeps() && (filled == 0 || head-filled > segments.Least) {
		err = w.open(ctx, into, filled, head)
	}
	if err == nil {
		err = w.readTexts(ctx, into, head)
	}
	switch {
	case errors.Is(err, errDropped):
		return false, nil // it is filled again
	case errors.Is(err, errSpared):
		w.wanted(false)
		return true, nil
	case err == nil && w.texts == 0 && w.keeps():
		w.keep(ctx, into)
	}
	return false, err
}

// errSpared says that a request must not read more texts.
var errSpared = errors.New("the request has read as many texts as it may")

// readTexts adds the turns that are new up to a number, in batches.
func (w *tenantWords) readTexts(ctx context.Context, into *retrieval.Index, upTo dag.Seq) error {
	w.mu.RLock()
	after := w.filled
	w.mu.RUnlock()
	if after >= upTo {
		return nil
	}
	var batch []retrieval.Turn
	add := func(filled dag.Seq) error {
		vectors, err := vectorsOf(ctx, w.embedder, batch)
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.index != into {
			return errDropped
		}
		for i := range batch {
			t := &batch[i]
			if w.gone[t.ID] {
				delete(w.gone, t.ID)
				t.Author, t.Labels, t.Content, t.Withheld = "", "", "", true
			}
		}
		if err := w.index.Add(batch, vectors); err != nil {
			return err
		}
		batch, w.filled = batch[:0], filled
		return nil
	}
	const most = 256
	var damaged []dag.Seq
	read := func(r *store.Record) error {
		if r.Seq > upTo {
			return errEnough
		}
		if w.texts > 0 {
			if w.spared == 0 {
				return errSpared
			}
			w.spared--
		}
		after = r.Seq
		t, err := segments.TurnOf(r)
		if err != nil {
			damaged = append(damaged, r.Seq)
			w.unusable(ctx, fmt.Sprintf("turn %s", r.Turn.ID), "it is left out", err)
			return nil
		}
		if batch = append(batch, t); len(batch) == most {
			return add(r.Seq)
		}
		return nil
	}
	for {
		err := w.store.Scan(ctx, w.tenant, after, read)
		if errors.Is(err, errSpared) {
			return cmp.Or(add(after), w.leaveOut(ctx, into, damaged), err)
		}
		if err == nil || errors.Is(err, errEnough) {
			break
		}
		if !errors.Is(err, store.ErrDamaged) || after >= upTo || len(damaged) == mostDamaged {
			return err
		}
		after++ // a turn after the last one that was read: this one, or if this is not a turn's number, one after it
		damaged = append(damaged, after)
		w.unusable(ctx, fmt.Sprintf("the turn of number %d", after), "it is left out", err)
	}
	return cmp.Or(add(upTo), w.leaveOut(ctx, into, damaged))
}

// mostDamaged bounds the turns that an index leaves out. A store in which more cannot be read answers with an error.
const mostDamaged = 10_000

// leaveOut notes the numbers of turns that could not be read. Those of entries are among the numbers that were tried, and are none.
func (w *tenantWords) leaveOut(ctx context.Context, into *retrieval.Index, damaged []dag.Seq) error {
	if len(damaged) == 0 {
		return nil
	}
	entries, err := w.store.Entries(ctx, w.tenant, history.Page{Stream: history.Known, At: damaged})
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != into {
		return errDropped
	}
	for _, n := range damaged {
		w.damaged[n] = true
	}
	for i := range entries {
		delete(w.damaged, entries[i].Seq)
	}
	return nil
}

// damagedUpTo counts the turns up to a number that could not be read.
func (w *tenantWords) damagedUpTo(asOf dag.Seq) (n int) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	for seq := range w.damaged {
		if seq <= asOf {
			n++
		}
	}
	return n
}
