package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/follow"
	"github.com/graphkernel/graphkernel/internal/turnstile"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

// ErrIndexing is wrapped when an answer needs the whole index of a tenant's texts, and the index lacks more than one request may add. A later retry
// succeeds, see [IndexQueue.Keep].
var ErrIndexing = errors.New("the index of the texts is still being made")

// An IndexingError says how far the index of a tenant's texts reaches. It wraps ErrIndexing. The same request as of Reached is answered at once.
type IndexingError struct{ Reached, Wanted dag.Seq }

func (e *IndexingError) Error() string {
	return fmt.Sprintf("%v: it has numbers up to %d of %d", ErrIndexing, e.Reached, e.Wanted)
}

// Unwrap returns ErrIndexing.
func (e *IndexingError) Unwrap() error { return ErrIndexing }

type hurry struct{}

// Hurried returns a context for requests that do not wait for an index: they fill the index only if it lacks at most texts numbers and no other request is
// filling it. Otherwise they are answered as if they had read as many texts as a request may, see [IndexOptions].
func Hurried(ctx context.Context, texts int) context.Context {
	return context.WithValue(ctx, hurry{}, texts)
}

// An Index is the projection that searches one tenant's texts. Requests fill it from the segments in the store, and from the texts of the turns between and
// after these segments. A request that fills a segment stores it, unless requests are bounded or the store does not keep such segments.
type Index struct {
	shelf    shelf
	held     held
	words    *Words
	followed *follow.Member
	filling  turnstile.Turnstile // capacity 1: a request passes it to read texts and segments from the store

	most   int  // texts that a request may read; 0: all
	spared int  // the number of texts that the present fill may still read; used inside filling
	ended  bool // the last fill ended because it had read as many texts as it may; used inside filling
}

// Begin drops the index; the next request fills it again.
func (x *Index) Begin(_ context.Context, to dag.Seq) (dag.Seq, error) {
	x.held.clear()
	return to, nil
}

// Apply removes the text of an erased turn from the index.
func (x *Index) Apply(e *history.Entry) error {
	if e.Kind != erasures.Kind {
		return nil
	}
	erasure, err := erasures.Read(e)
	if err == nil {
		x.held.forget(erasure.Turn)
	}
	return err
}

// Vector returns the vector of a query without names, see [retrieval.Index.Bare]; nil if the index has no vectors. An error of the model wraps ErrModel.
func (x *Index) Vector(ctx context.Context, bare string) ([]int8, error) {
	return x.shelf.vector(ctx, bare)
}

// LeftOut counts the turns up to a number that are not in the index, because their texts in the store are damaged.
func (x *Index) LeftOut(asOf dag.Seq) int { return x.held.leftOut(asOf) }

// Search answers a query with an index that reaches head. If the index does not reach q.AsOf, because one request may not read so many texts, Search sets
// q.AsOf to the number that the index reaches, and q.Approximate to false.
func (x *Index) Search(ctx context.Context, head dag.Seq, p *retrieval.Policy, q *retrieval.Query) (found retrieval.Results, err error) {
	seen := func(reached dag.Seq) {
		if q.AsOf > reached {
			q.AsOf, q.Approximate = reached, false
		}
	}
	if p.Dense.Embedder == retrieval.NoEmbedder {
		err := x.ReadReached(ctx, head, func(i *retrieval.Index, reached dag.Seq) {
			seen(reached)
			found = i.SearchWith(p, q, nil)
		})
		return found, err
	}
	for { // an embedder may take long, so the index may change meanwhile
		var bare string
		if err := x.ReadReached(ctx, head, func(i *retrieval.Index, reached dag.Seq) {
			head = reached // a request fills the index only once
			seen(reached)
			bare = i.Bare(p, q)
		}); err != nil {
			return found, err
		}
		if q.Vector, err = x.Vector(ctx, bare); err != nil {
			return found, err
		}
		same := false
		err = x.ReadReached(ctx, head, func(i *retrieval.Index, reached dag.Seq) {
			seen(reached)
			if same = i.Bare(p, q) == bare; same {
				found = i.SearchWith(p, q, nil)
			}
		})
		if err != nil || same {
			return found, err
		}
	}
}

// Read calls fn with an index that has every turn up to asOf, and no text that was erased up to head, which was just read: the number of an
// erasure is above the turn's. If one request may not read so many texts, the error is an [IndexingError].
func (x *Index) Read(ctx context.Context, asOf, head dag.Seq, fn func(*retrieval.Index)) error {
	var behind error
	err := x.ReadReached(ctx, head, func(i *retrieval.Index, reached dag.Seq) {
		if reached < asOf {
			behind = &IndexingError{reached, asOf}
			return
		}
		fn(i)
	})
	return cmp.Or(err, behind)
}

// ReadReached is like Read as of head, but if one request may not read all missing texts, it calls fn with an index of the turns up to a smaller number.
// reached is that number, or else head.
func (x *Index) ReadReached(ctx context.Context, head dag.Seq, fn func(i *retrieval.Index, reached dag.Seq)) error {
	most, hurried := ctx.Value(hurry{}).(int)
	for enough := false; ; {
		if err := x.followed.Reach(ctx, head); err != nil {
			return err
		}
		seen := x.held.read(head, enough, fn)
		if seen.read {
			x.words.kept.Put(x, struct{}{}, seen.size)
			if seen.links {
				x.held.link(ctx, x.shelf.observe)
			}
			return nil
		}
		if hurried && (head-seen.filled > dag.Seq(max(most, 0)) || len(x.filling) > 0) {
			x.shelf.want(false)
			enough = true
			continue
		}
		if err := x.filling.Pass(ctx, func() (err error) {
			if _, filled := x.held.now(); x.ended && filled > seen.filled { // another request has just read as many texts as it may
				enough = true
				return nil
			}
			enough, err = x.fill(ctx, head)
			x.ended = enough
			return err
		}); err != nil {
			return err
		}
	}
}

// fill adds the new turns up to head. It reports whether it ended early, because one request may not read more texts.
func (x *Index) fill(ctx context.Context, head dag.Seq) (enough bool, err error) {
	into, filled := x.held.now()
	x.spared = x.most
	keeps := x.held.stored()
	if keeps && (filled == 0 || head-filled > segments.Least) {
		err = x.open(ctx, into, filled, head)
	}
	if err == nil {
		err = x.readTexts(ctx, into, head)
	}
	switch {
	case errors.Is(err, errDropped):
		return false, nil // the caller fills it again
	case errors.Is(err, errSpared):
		x.shelf.want(false)
		return true, nil
	case err == nil && x.most == 0 && keeps:
		x.keep(ctx, into)
	}
	return false, err
}

// open adds the stored segments of the turns above filled and up to head, and the texts of the turns between these segments.
func (x *Index) open(ctx context.Context, into *retrieval.Index, filled, head dag.Seq) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan segmentsPage, 1) // so that one page is read while another is added
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	reading.Go(func() { x.shelf.pages(ctx, filled, pages) })
	var last []*retrieval.Segment // of the page before, since the next page may begin with a larger one
	for page := range pages {
		if page.err != nil {
			return page.err
		}
		list := largest(append(last, page.segments...), head)
		n := max(len(list)-1, 0)
		if err := x.load(ctx, into, list[:n], head); err != nil {
			return err
		}
		last = list[n:]
	}
	return x.load(ctx, into, last, head)
}

// largest returns segments up to head, ascending, without those after which a larger one with the same beginning comes. Two processes that make segments at
// once can leave parts of a segment beside it.
func largest(list []*retrieval.Segment, head dag.Seq) (kept []*retrieval.Segment) {
	for _, s := range list {
		after, upTo := s.Covers()
		if upTo > head {
			continue
		}
		if n := len(kept); n > 0 {
			if before, _ := kept[n-1].Covers(); before == after {
				kept = kept[:n-1]
			}
		}
		kept = append(kept, s)
	}
	return kept
}

// load adds segments, which reach up to head at most, and the texts of the turns between them.
func (x *Index) load(ctx context.Context, into *retrieval.Index, list []*retrieval.Segment, head dag.Seq) error {
	_, filled := x.held.now()
	var pending []*retrieval.Segment
	for _, s := range list {
		after, upTo := s.Covers()
		if after < filled {
			continue
		}
		if after > filled {
			if err := x.held.load(into, pending, head); err != nil {
				return err
			}
			pending = nil
			if err := x.readTexts(ctx, into, after); err != nil {
				return err
			}
		}
		pending, filled = append(pending, s), upTo
	}
	return x.held.load(into, pending, head)
}

var (
	errSpared = errors.New("the request has read as many texts as it may")
	errEnough = errors.New("enough") // ends a scan that has passed its last turn
)

const (
	indexedAtOnce = 256    // texts that are added to an index at once
	mostDamaged   = 10_000 // the number of unreadable turns after which readTexts returns the next error of the store
)

// readTexts adds the new turns up to a number, in batches.
func (x *Index) readTexts(ctx context.Context, into *retrieval.Index, upTo dag.Seq) error {
	_, after := x.held.now()
	if after >= upTo {
		return nil
	}
	var batch []retrieval.Turn
	add := func(filled dag.Seq) error {
		vectors, err := x.held.vectors(ctx, batch)
		if err == nil {
			err = x.held.add(into, batch, vectors, filled)
		}
		if err == nil {
			batch = batch[:0]
		}
		return err
	}
	var damaged []dag.Seq
	skip := func(seq dag.Seq, name string, err error) {
		damaged = append(damaged, seq)
		x.shelf.record(ctx, name, "it is left out", err)
	}
	read := func(r *store.Record) error {
		if r.Seq > upTo {
			return errEnough
		}
		if x.most > 0 {
			if x.spared == 0 {
				return errSpared
			}
			x.spared--
		}
		after = r.Seq
		t, err := segments.TurnOf(r)
		if err != nil {
			skip(r.Seq, fmt.Sprintf("turn %s", r.Turn.ID), err)
			return nil
		}
		if batch = append(batch, t); len(batch) == indexedAtOnce {
			return add(r.Seq)
		}
		return nil
	}
	for {
		err := x.shelf.store.Scan(ctx, x.shelf.tenant, after, read)
		if errors.Is(err, errSpared) {
			return cmp.Or(add(after), x.leaveOut(ctx, into, damaged), err)
		}
		if err == nil || errors.Is(err, errEnough) {
			break
		}
		if !errors.Is(err, store.ErrDamaged) || after >= upTo || len(damaged) >= mostDamaged {
			return err
		}
		after++ // the damaged turn is the first turn after the last one read; if this is the number of an entry, a later scan finds the turn
		skip(after, fmt.Sprintf("the turn of number %d", after), err)
	}
	return cmp.Or(add(upTo), x.leaveOut(ctx, into, damaged))
}

// leaveOut records the numbers of turns that could not be read. damaged also has numbers of entries, which it looks up and ignores.
func (x *Index) leaveOut(ctx context.Context, into *retrieval.Index, damaged []dag.Seq) error {
	if len(damaged) == 0 {
		return nil
	}
	entries, err := x.shelf.store.Entries(ctx, x.shelf.tenant, history.Page{Stream: history.Known, At: damaged})
	if err != nil {
		return err
	}
	return x.held.leaveOut(into, damaged, entries)
}

// keep writes the segments of the index that the store lacks. An error is observed, and keep tries again after some more turns; no search fails because of it.
func (x *Index) keep(ctx context.Context, into *retrieval.Index) {
	missing := x.held.missing()
	if len(missing) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepingTakes)
	defer cancel()
	ctx, observed := x.shelf.observe(ctx, "keep segments")
	var err error
	for _, r := range missing {
		if err = x.keepOne(ctx, into, r); err != nil {
			x.held.keepLater()
			break
		}
	}
	observed(err)
}

// keepOne writes a segment in each series in which the store lacks it. If a text is erased meanwhile, it writes nothing, and a later fill writes
// the segment.
func (x *Index) keepOne(ctx context.Context, into *retrieval.Index, r segments.Range) error {
	lacking, err := x.shelf.lacking(ctx, r)
	if err != nil {
		return err
	}
	if len(lacking) > 0 {
		kept, err := x.shelf.write(ctx, &x.held, into, r, lacking, x.followed.UpTo()) // UpTo is called before the segment's bytes are made
		if err != nil || !kept {
			return err
		}
	}
	x.held.isKept(into, r)
	return nil
}
