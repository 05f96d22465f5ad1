package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

// ErrIndexing is wrapped when an answer needs the whole index of a tenant's texts, and more of it is still to be made than one request may wait for. Asking again
// later succeeds: see [Turns.KeepIndex].
var ErrIndexing = errors.New("the index of the texts is still being made")

// An IndexingError says how far the index of a tenant's texts reaches. It wraps ErrIndexing. As of Reached, the same request is answered at once.
type IndexingError struct{ Reached, Wanted dag.Seq }

func (e *IndexingError) Error() string {
	return fmt.Sprintf("%v: it has numbers up to %d of %d", ErrIndexing, e.Reached, e.Wanted)
}

// Unwrap returns ErrIndexing.
func (e *IndexingError) Unwrap() error { return ErrIndexing }

type hurry struct{}

// Hurried returns a context for requests that wait for no index: they read at most so many texts that the index lacks, and none while others read some. Then they are answered as if
// they had read as many as Config.IndexTexts allows.
func Hurried(ctx context.Context, texts int) context.Context {
	return context.WithValue(ctx, hurry{}, texts)
}

// TextsOfRequest is what a service sets Config.IndexTexts to: the texts of a segment that an erasure dropped, and of those after the last segment. They take
// some 0.3 s.
const TextsOfRequest = segments.Most + segments.Least

// An Indexing says how the index of a tenant's texts is made.
type Indexing struct {
	Check    bool                      // segments that the store has are read, and those that cannot be used are made again
	Alone    bool                      // texts are read on one processor, for the sake of others
	Progress func(reached, of dag.Seq) // called after each segment; nil: nobody looks
}

// An Indexed says what is there of the index of a tenant's texts.
type Indexed struct {
	Made    int // segments
	Lacking int // segments that could not be made: a text of them cannot be read, or was erased at that very time
	UpTo    dag.Seq
}

// MakeIndex makes the segments that the store does not have yet of the index of a tenant's texts, as [segments.Filled] lists them, and keeps them: of words,
// and of the vectors of the table that ships. It reads the texts of one segment after the other, and no request waits for it. What is made stays, whatever ends it:
// called again, it goes on. Several processes may do it at once.
func (k Turns) MakeIndex(ctx context.Context, tenant dag.Tenant, how Indexing) (Indexed, error) {
	ctx, observed := k.observe(ctx, "make index")
	out, err := steady(k.engine, func(c *cache) (Indexed, error) { return c.makeIndex(ctx, tenant, how) })
	observed(err)
	return out, err
}

func (c *cache) makeIndex(ctx context.Context, tenant dag.Tenant, how Indexing) (out Indexed, err error) {
	failed := map[segments.Range]bool{}
	for {
		head, err := c.store.Head(ctx, tenant)
		if err != nil {
			return out, err
		}
		lacking, err := c.lacking(ctx, tenant, head, how.Check)
		if err != nil {
			return out, err
		}
		lacking = slices.DeleteFunc(lacking, func(l lack) bool { return failed[l.of] })
		out.UpTo, out.Lacking = head/segments.Least*segments.Least, len(failed)
		if len(lacking) == 0 {
			return out, nil
		}
		how.Check = false
		for _, l := range lacking {
			if err := ctx.Err(); err != nil {
				return out, err
			}
			made, err := c.makeSegment(ctx, tenant, l, how.Alone)
			switch {
			case err != nil && !errors.Is(err, store.ErrDamaged):
				return out, err
			case made:
				out.Made++
			default:
				failed[l.of] = true
			}
			if how.Progress != nil {
				how.Progress(l.of.UpTo, head)
			}
		}
	}
}

// A lack is a segment that the store does not have in some series.
type lack struct {
	of     segments.Range
	series []segments.Series
}

// lacking lists the segments of numbers up to head that the store does not have, ascending.
func (c *cache) lacking(ctx context.Context, tenant dag.Tenant, head dag.Seq, check bool) (list []lack, err error) {
	series := segments.Filled()
	there := map[string]bool{}
	w := c.tenants.of(tenant).words.maker(0)
	for _, of := range series {
		page := history.SnapshotPage{Prefix: of.Prefix(), Limit: 1_000, Names: true}
		if check {
			page.Limit, page.Names = segmentPage, false
		}
		for {
			kept, err := c.store.Snapshots(ctx, tenant, page)
			if err != nil {
				return nil, err
			}
			for i := range kept {
				_, r, ok := segments.Parse(kept[i].Name)
				if ok && check {
					_, _, ok = w.parseAny(ctx, of, r, &kept[i])
				}
				there[kept[i].Name] = ok
			}
			if len(kept) < page.Limit {
				break
			}
			page.After = kept[len(kept)-1].Name
		}
	}
	for _, r := range segments.Within(head) {
		l := lack{of: r}
		for _, of := range series {
			if !there[r.Name(of)] {
				l.series = append(l.series, of)
			}
		}
		if l.series != nil {
			list = append(list, l)
		}
	}
	return list, nil
}

// makeSegment makes a segment of smaller ones, and of the texts of which there are none, and reports whether the store keeps it.
func (c *cache) makeSegment(ctx context.Context, tenant dag.Tenant, l lack, alone bool) (bool, error) {
	known, err := c.store.Head(ctx, tenant) // before the texts are read
	if err != nil {
		return false, err
	}
	w := c.tenants.of(tenant).words.maker(l.of.After)
	if alone {
		w.index.ReadAlone()
	}
	var parts []*retrieval.Segment
	for _, part := range l.of.Parts() {
		of, err := c.store.Snapshots(ctx, tenant, history.SnapshotPage{Prefix: part.Name(w.words()), Limit: 1})
		if err != nil {
			return false, err
		}
		parts = append(parts, w.parse(ctx, of)...)
	}
	if err := w.load(ctx, w.index, parts, l.of.UpTo); err != nil {
		return false, err
	}
	if err := w.readTexts(ctx, w.index, l.of.UpTo); err != nil {
		return false, err
	}
	if len(w.damaged) > 0 {
		return false, fmt.Errorf("%w: %d texts of numbers %d to %d", store.ErrDamaged, len(w.damaged), l.of.After+1, l.of.UpTo)
	}
	return w.write(ctx, w.index, l.of, l.series, known)
}

// maker returns an index of its own, with vectors of the table that ships, that begins after a number. Nothing is kept of it, and it follows no erasures.
func (a *allWords) maker(after dag.Seq) *tenantWords {
	p := retrieval.DefaultPolicy()
	for _, of := range segments.Filled() {
		if of.Model != "" {
			p.Dense.Embedder = of.Model
		}
	}
	w := a.fresh(&p, a.embedders[p.Dense.Embedder])
	w.filled = after
	return w
}

// indexing says of which tenants the index may lack segments.
type indexing struct {
	mu      sync.Mutex
	waiting map[dag.Tenant]bool    // guarded by mu; true: each segment is to be looked at
	whole   map[dag.Tenant]dag.Seq // guarded by mu; the store has every segment up to this number, as far as is known
	wake    chan struct{}          // has room for one; nil while nobody makes indexes
}

// grew notes that a tenant has new turns up to a head.
func (x *indexing) grew(tenant dag.Tenant, head dag.Seq) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if head >= x.whole[tenant]+segments.Least {
		x.want(tenant, false)
	}
}

// dropped notes that the store may have dropped segments of a tenant, or has some that cannot be used.
func (x *indexing) dropped(tenant dag.Tenant, check bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.whole, tenant)
	x.want(tenant, check)
}

// want is called with the lock held.
func (x *indexing) want(tenant dag.Tenant, check bool) {
	if x.wake == nil {
		return
	}
	x.waiting[tenant] = x.waiting[tenant] || check
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// next takes a tenant that waits.
func (x *indexing) next() (tenant dag.Tenant, check, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for tenant, check = range x.waiting {
		delete(x.waiting, tenant)
		return tenant, check, true
	}
	return "", false, false
}

// KeepIndex makes the segments of the index of texts beside whatever else is asked, on one processor, until ctx ends: of the tenants that are named, whose kept segments
// it looks at first if check, and then of each one that this kernel admits turns of, or erases some of, or whose index a search finds lacking. failed is called with
// each error; the segments are tried again when the tenant has grown. It is called once for a kernel.
func (k Turns) KeepIndex(ctx context.Context, tenants []dag.Tenant, check bool, failed func(dag.Tenant, error)) {
	x := &k.indexing
	x.mu.Lock()
	x.wake, x.waiting, x.whole = make(chan struct{}, 1), map[dag.Tenant]bool{}, map[dag.Tenant]dag.Seq{}
	for _, tenant := range tenants {
		x.want(tenant, check)
	}
	wake := x.wake
	x.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		for {
			tenant, check, ok := x.next()
			if !ok || ctx.Err() != nil {
				break
			}
			done, err := k.MakeIndex(ctx, tenant, Indexing{Check: check, Alone: true})
			if err != nil {
				if ctx.Err() == nil {
					failed(tenant, err)
				}
				continue
			}
			x.mu.Lock()
			x.whole[tenant] = done.UpTo
			x.mu.Unlock()
		}
	}
}
