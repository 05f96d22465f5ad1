package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

// An Indexing has the options of [TenantWords.Make].
type Indexing struct {
	Check    bool                      // also read the stored segments, and make unusable ones again
	Alone    bool                      // read texts on one processor, to leave the others free
	Progress func(reached, of dag.Seq) // called after each segment; may be nil
}

// An Indexed is the result of [TenantWords.Make].
type Indexed struct {
	Made    int // the number of segments that were made
	Lacking int // the number of segments that could not be made: a text could not be read or was erased meanwhile, or a segment is too large for a snapshot
	UpTo    dag.Seq
}

// Make makes and stores the segments of the series of [segments.Filled] that the store lacks. It reads the texts of one segment after the other. If Make ends early,
// the segments made so far stay in the store, and the next call continues.
func (w *TenantWords) Make(ctx context.Context, how Indexing) (out Indexed, err error) {
	failed := map[segments.Range]bool{}
	for {
		head, err := w.all.store.Head(ctx, w.tenant)
		if err != nil {
			return out, err
		}
		lacking, parts, err := w.lacking(ctx, head, how.Check)
		if err == nil && len(parts) > 0 {
			err = w.all.store.Write(ctx, w.tenant, &erasures.Keeping{Snapshots: parts, Known: head})
		}
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
			made, err := w.makeSegment(ctx, l, how.Alone)
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

// A lack is a segment that the store lacks in some series.
type lack struct {
	of     segments.Range
	series []segments.Series
}

// lacking lists the segments up to head that the store lacks, ascending. With check, unusable segments count as missing. parts deletes the smaller segments that
// another process wrote after the segment that replaces them.
func (w *TenantWords) lacking(ctx context.Context, head dag.Seq, check bool) (list []lack, parts []history.Snapshot, err error) {
	series := segments.Filled()
	there := map[string]bool{}
	x := w.maker(0)
	for _, of := range series {
		page := history.SnapshotPage{Prefix: of.Prefix(), Limit: 1_000, Names: true}
		if check {
			page.Limit, page.Names = segmentPage, false
		}
		for {
			kept, err := w.all.store.Snapshots(ctx, w.tenant, page)
			if err != nil {
				return nil, nil, err
			}
			for i := range kept {
				_, r, ok := segments.Parse(kept[i].Name)
				if ok && check {
					_, _, ok = x.shelf.parseAny(ctx, of, r, &kept[i])
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
				continue
			}
			for _, part := range r.Parts() {
				if _, left := there[part.Name(of)]; left {
					parts = append(parts, history.Snapshot{Name: part.Name(of)})
				}
			}
		}
		if l.series != nil {
			list = append(list, l)
		}
	}
	return list, parts, nil
}

// makeSegment makes a segment from the smaller segments in the store and from the texts that these lack. It reports whether the store has the segment.
func (w *TenantWords) makeSegment(ctx context.Context, l lack, alone bool) (bool, error) {
	known, err := w.all.store.Head(ctx, w.tenant) // before the texts are read
	if err != nil {
		return false, err
	}
	x := w.maker(l.of.After)
	into, _ := x.held.now()
	if alone {
		into.ReadAlone()
	}
	var parts []*retrieval.Segment
	for _, part := range l.of.Parts() {
		of, err := w.all.store.Snapshots(ctx, w.tenant, history.SnapshotPage{Prefix: part.Name(x.shelf.words()), Limit: 1})
		if err != nil {
			return false, err
		}
		parts = append(parts, x.shelf.parse(ctx, of)...)
	}
	if err := x.load(ctx, into, parts, l.of.UpTo); err != nil {
		return false, err
	}
	if err := x.readTexts(ctx, into, l.of.UpTo); err != nil {
		return false, err
	}
	if n := x.LeftOut(l.of.UpTo); n > 0 {
		return false, fmt.Errorf("%w: %d texts of numbers %d to %d", store.ErrDamaged, n, l.of.After+1, l.of.UpTo)
	}
	return x.shelf.write(ctx, &x.held, into, l.of, l.series, known)
}

// maker returns a new index that begins after a number, with the vectors of the table that ships. The index is not cached, and does not follow erasures.
func (w *TenantWords) maker(after dag.Seq) *Index {
	p := retrieval.DefaultPolicy()
	for _, of := range segments.Filled() {
		if of.Model != "" {
			p.Dense.Embedder = of.Model
		}
	}
	f, err := w.all.options.Embedders.formOf(&p)
	if err != nil {
		panic("projection: " + err.Error()) // the table that ships is always there
	}
	x := w.fresh(f)
	x.held.filled = after
	return x
}

// An IndexQueue is the queue of the tenants whose index may lack segments. It stays empty until [IndexQueue.Keep] is called. The zero value is empty.
type IndexQueue struct {
	mu      sync.Mutex
	waiting map[dag.Tenant]bool    // guarded by mu; true: check the stored segments, too
	whole   map[dag.Tenant]dag.Seq // guarded by mu; the number up to which the last call of make has filled the index
	wake    chan struct{}          // has capacity 1; nil before Keep is called
}

// Grew enqueues a tenant that has new turns up to head, if they may fill a segment.
func (q *IndexQueue) Grew(tenant dag.Tenant, head dag.Seq) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if head >= q.whole[tenant]+segments.Least {
		q.want(tenant, false)
	}
}

// Dropped enqueues a tenant whose store may lack segments or, with check, has unusable segments.
func (q *IndexQueue) Dropped(tenant dag.Tenant, check bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.whole, tenant)
	q.want(tenant, check)
}

// want enqueues a tenant. The caller holds mu.
func (q *IndexQueue) want(tenant dag.Tenant, check bool) {
	if q.wake == nil {
		return
	}
	q.waiting[tenant] = q.waiting[tenant] || check
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next removes a tenant from the queue; ok is false if the queue is empty.
func (q *IndexQueue) next() (tenant dag.Tenant, check, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for tenant, check = range q.waiting {
		delete(q.waiting, tenant)
		return tenant, check, true
	}
	return "", false, false
}

// Keep calls make for the given tenants, with check as given, and then for each tenant in the queue, until ctx ends. failed is called with
// each error; a tenant that failed is enqueued again when it has grown. Keep is called once.
func (q *IndexQueue) Keep(ctx context.Context, tenants []dag.Tenant, check bool, make func(dag.Tenant, Indexing) (Indexed, error), failed func(dag.Tenant, error)) {
	wake := q.begin(tenants, check)
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		for {
			tenant, check, ok := q.next()
			if !ok || ctx.Err() != nil {
				break
			}
			done, err := make(tenant, Indexing{Check: check, Alone: true})
			if err != nil {
				if ctx.Err() == nil {
					failed(tenant, err)
				}
				continue
			}
			q.mu.Lock()
			q.whole[tenant] = done.UpTo
			q.mu.Unlock()
		}
	}
}

// begin sets the queue to the given tenants.
func (q *IndexQueue) begin(tenants []dag.Tenant, check bool) (wake chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake, q.waiting, q.whole = make(chan struct{}, 1), map[dag.Tenant]bool{}, map[dag.Tenant]dag.Seq{}
	for _, tenant := range tenants {
		q.want(tenant, check)
	}
	return q.wake
}
