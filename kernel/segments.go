package kernel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

const (
	segmentPage  = 16               // segments that are read from the store at once
	mostKept     = 256              // segments that one filling writes
	keepingTakes = 10 * time.Second // at most: a search waits for it
)

// errDropped says that an index was dropped while it was filled.
var errDropped = errors.New("the index was dropped meanwhile")

// A segmentsPage is what a page of snapshots holds.
type segmentsPage struct {
	segments []*retrieval.Segment // ascending; those that cannot be used are left out
	err      error
}

// words is the series of the index's words.
func (w *tenantWords) words() segments.Series { return segments.Series{Analyzer: w.analyzer.String()} }

// series are those that the index is kept in: words, and vectors if it has any.
func (w *tenantWords) series() []segments.Series {
	if w.embedder == nil {
		return []segments.Series{w.words()}
	}
	return []segments.Series{w.words(), {Model: w.model}}
}

// keeps reports whether the store keeps the index.
func (w *tenantWords) keeps() bool {
	kept := segments.Kept()
	return !slices.ContainsFunc(w.series(), func(s segments.Series) bool { return !slices.Contains(kept, s) })
}

// filledAhead reports whether the segments of the index are made before anybody asks for them.
func (w *tenantWords) filledAhead() bool {
	ahead := segments.Filled()
	return !slices.ContainsFunc(w.series(), func(s segments.Series) bool { return !slices.Contains(ahead, s) })
}

// open adds what the store keeps of the turns up to head that the index does not have, and reads the texts of those in between.
func (w *tenantWords) open(ctx context.Context, into *retrieval.Index, filled, head dag.Seq) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages := make(chan segmentsPage, 1) // so that one is read while another is added
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	reading.Go(func() { w.pages(ctx, filled, pages) })
	for page := range pages {
		if page.err != nil {
			return page.err
		}
		if err := w.load(ctx, into, page.segments, head); err != nil {
			return err
		}
	}
	return nil
}

// pages reads the segments that begin at a number or above it.
func (w *tenantWords) pages(ctx context.Context, after dag.Seq, into chan<- segmentsPage) {
	defer close(into)
	at := history.SnapshotPage{Prefix: w.words().Prefix(), After: segments.From(w.words(), after), Limit: segmentPage}
	for {
		list, err := w.store.Snapshots(ctx, w.tenant, at)
		select {
		case into <- segmentsPage{w.parse(ctx, list), err}:
		case <-ctx.Done():
			return
		}
		if err != nil || len(list) < at.Limit {
			return
		}
		at.After = list[len(list)-1].Name
	}
}

// parse reads segments on every processor. One that is damaged, or of another version, is as one that is not there, and is observed.
func (w *tenantWords) parse(ctx context.Context, list []history.Snapshot) (all []*retrieval.Segment) {
	parsed := make([]*retrieval.Segment, len(list))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		wg.Go(func() {
			for i := first; i < len(list); i += workers {
				parsed[i] = w.parseOne(ctx, &list[i])
			}
		})
	}
	wg.Wait()
	for _, s := range parsed {
		if s != nil {
			all = append(all, s)
		}
	}
	return all
}

// parseOne reads a segment of words, and its vectors from the store if the index has any. It returns nil for one that cannot be used.
func (w *tenantWords) parseOne(ctx context.Context, s *history.Snapshot) *retrieval.Segment {
	_, r, ok := segments.Parse(s.Name)
	if !ok {
		return nil
	}
	words, _, ok := w.parseAny(ctx, w.words(), r, s)
	if !ok || w.embedder == nil {
		return words
	}
	of := segments.Series{Model: w.model}
	list, err := w.store.Snapshots(ctx, w.tenant, history.SnapshotPage{Prefix: r.Name(of), Limit: 1})
	if err != nil || len(list) == 0 {
		return nil // a store that fails fails the next question too
	}
	_, vectors, ok := w.parseAny(ctx, of, r, &list[0])
	if !ok {
		return nil
	}
	if err := words.Attach(vectors); err != nil {
		w.unusable(ctx, "segment "+list[0].Name, derived, err)
		return nil
	}
	return words
}

// parseAny reads a segment of either series, and reports whether it can be used.
func (w *tenantWords) parseAny(ctx context.Context, of segments.Series, r segments.Range, s *history.Snapshot) (words *retrieval.Segment, vectors *retrieval.Vectors, ok bool) {
	var err error
	if of == w.words() {
		words, err = retrieval.ParseSegment(s.Value, w.analyzer, r.After, r.UpTo)
	} else {
		vectors, err = retrieval.ParseVectors(s.Value, w.model, w.embedder.Model().Dimensions, r.After, r.UpTo)
	}
	if err != nil {
		w.unusable(ctx, "segment "+s.Name, derived, err)
	}
	return words, vectors, err == nil
}

// derived is said of a segment that cannot be used: it is as if the store did not have it.
const derived = "it is derived anew"

// unusable records that a segment or a text cannot be used, and what follows.
func (w *tenantWords) unusable(ctx context.Context, name, therefore string, err error) {
	if w.wanted != nil && therefore == derived {
		w.wanted(true)
	}
	_, observed := w.held.observe(ctx, "read segment")
	observed(fmt.Errorf("%s of tenant %s: %w; %s", name, w.tenant, err, therefore))
}

// load adds segments up to head, and the texts of the turns between them.
func (w *tenantWords) load(ctx context.Context, into *retrieval.Index, list []*retrieval.Segment, head dag.Seq) error {
	w.mu.RLock()
	filled := w.filled
	w.mu.RUnlock()
	var pending []*retrieval.Segment
	for _, s := range list {
		after, upTo := s.Covers()
		if after < filled || upTo > head {
			continue
		}
		if after > filled {
			if err := w.add(into, pending, head); err != nil {
				return err
			}
			pending = nil
			if err := w.readTexts(ctx, into, after); err != nil {
				return err
			}
		}
		pending, filled = append(pending, s), upTo
	}
	return w.add(into, pending, head)
}

// add adds segments of those up to head to the index, without the texts that were erased after they were read.
func (w *tenantWords) add(into *retrieval.Index, list []*retrieval.Segment, head dag.Seq) error {
	if len(list) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != into {
		return errDropped
	}
	if err := into.Load(list, head); err != nil {
		return fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	for _, s := range list {
		after, upTo := s.Covers()
		w.kept[segments.Range{After: after, UpTo: upTo}], w.filled = true, upTo
	}
	for id := range w.gone {
		if w.erase(id) {
			delete(w.gone, id)
		}
	}
	return nil
}

// erase takes a turn's text out of the index, and reports whether it has the turn. The store has no segment with it any more. It is called with the lock held.
func (w *tenantWords) erase(id dag.TurnID) bool {
	t, ok := w.index.Turn(id)
	if !ok {
		return false
	}
	for _, r := range segments.Of(t.Seq) {
		delete(w.kept, r)
	}
	return w.index.Erase(id)
}

// keep writes the segments of the index that the store does not have. What fails is observed, and tried again after some more turns: no search fails for it.
func (w *tenantWords) keep(ctx context.Context, into *retrieval.Index) {
	missing := w.missing()
	if len(missing) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepingTakes)
	defer cancel()
	ctx, observed := w.held.observe(ctx, "keep segments")
	var err error
	for _, r := range missing {
		if err = w.keepOne(ctx, into, r); err != nil {
			w.mu.Lock()
			w.again = w.filled + segments.Most
			w.mu.Unlock()
			break
		}
	}
	observed(err)
}

// missing lists segments that are not known to be kept.
func (w *tenantWords) missing() (list []segments.Range) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.filled < w.again {
		return nil
	}
	for _, r := range segments.Within(w.filled) {
		if !w.kept[r] && len(list) < mostKept && !w.lacks(r) {
			list = append(list, r)
		}
	}
	return list
}

// lacks reports whether a turn of a segment could not be read. Such a segment is not kept: it would lack the turn where the store is mended. It
// is called with the lock held.
func (w *tenantWords) lacks(r segments.Range) bool {
	for n := range w.damaged {
		if n > r.After && n <= r.UpTo {
			return true
		}
	}
	return false
}

// keepOne writes a segment in each series in which the store does not have it yet. If a text is erased meanwhile it writes nothing, and the segment is written with
// a later filling.
func (w *tenantWords) keepOne(ctx context.Context, into *retrieval.Index, r segments.Range) error {
	var lacking []segments.Series
	for _, of := range w.series() {
		there, err := w.store.Snapshots(ctx, w.tenant, history.SnapshotPage{Prefix: r.Name(of), Limit: 1})
		if err != nil {
			return err
		}
		usable := false
		if len(there) > 0 {
			_, _, usable = w.parseAny(ctx, of, r, &there[0])
		}
		if !usable {
			lacking = append(lacking, of)
		}
	}
	if len(lacking) > 0 {
		kept, err := w.write(ctx, into, r, lacking, w.followed.UpTo()) // the number before the segment
		if err != nil || !kept {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index == into {
		w.kept[r] = true
	}
	return nil
}

// write writes a segment in some series, and drops the smaller ones that it takes the place of. It reports whether they are kept: they are not if
// a text was erased under a number above known, up to which the index has nothing of erased texts. Of a segment that is larger than a snapshot may be,
// the smaller ones are written.
func (w *tenantWords) write(ctx context.Context, into *retrieval.Index, r segments.Range, lacking []segments.Series, known dag.Seq) (kept bool, err error) {
	c := &erasures.Keeping{Known: known, Still: w.store.Still}
	for _, of := range lacking {
		value, ok := w.segment(into, of, r)
		if !ok {
			return false, nil
		}
		if len(value) > history.MaxSnapshot {
			for _, part := range r.Parts() {
				if _, err := w.write(ctx, into, part, lacking, known); err != nil {
					return false, err
				}
			}
			return false, nil
		}
		c.Snapshots = append(c.Snapshots, history.Snapshot{Name: r.Name(of), Value: value})
		for _, part := range r.Parts() {
			c.Snapshots = append(c.Snapshots, history.Snapshot{Name: part.Name(of)})
		}
	}
	err = w.store.Write(ctx, w.tenant, c)
	return err == nil && c.Kept, err
}

// segment returns the bytes of a segment of a series, unless the index was dropped.
func (w *tenantWords) segment(of *retrieval.Index, series segments.Series, r segments.Range) ([]byte, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.index != of {
		return nil, false
	}
	if series == w.words() {
		return of.AppendSegment(nil, r.After, r.UpTo), true
	}
	return of.AppendVectors(nil, w.model, r.After, r.UpTo), true
}
