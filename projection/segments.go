package projection

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/segments"
)

const (
	segmentPage  = 16               // the number of segments that one query reads from the store
	mostKept     = 256              // the most segments that one fill writes
	keepingTakes = 10 * time.Second // the most time for writing segments, since a search waits for it
)

// A shelf reads and writes the segments of a tenant's index in the store.
type shelf struct {
	form
	store   Store
	tenant  dag.Tenant
	observe Observe
	wanted  func(check bool) // called when the store lacks a segment; check: a stored segment is unusable; nil: segments are not made in advance
}

// want reports to wanted that the store lacks a segment, or, with check, that a stored segment is unusable.
func (s *shelf) want(check bool) {
	if s.wanted != nil {
		s.wanted(check)
	}
}

// derived is the end of the error about an unusable segment, which is treated like a missing one.
const derived = "it is derived anew"

// unusable observes that a segment cannot be used, and why, and has the stored segments checked.
func (s *shelf) unusable(ctx context.Context, name string, err error) {
	s.want(true)
	s.record(ctx, "segment "+name, derived, err)
}

// record observes the error of a segment or a text that cannot be used, with the consequence.
func (s *shelf) record(ctx context.Context, name, therefore string, err error) {
	_, observed := s.observe(ctx, "read segment")
	observed(fmt.Errorf("%s of tenant %s: %w; %s", name, s.tenant, err, therefore))
}

// A segmentsPage is one page of segments from the store.
type segmentsPage struct {
	segments []*retrieval.Segment // ascending, without unusable segments
	err      error
}

// pages reads the segments that begin at a number or above it, and sends them page by page. It closes into at the end.
func (s *shelf) pages(ctx context.Context, after dag.Seq, into chan<- segmentsPage) {
	defer close(into)
	at := history.SnapshotPage{Prefix: s.words().Prefix(), After: segments.From(s.words(), after), Limit: segmentPage}
	for {
		list, err := s.store.Snapshots(ctx, s.tenant, at)
		select {
		case into <- segmentsPage{s.parse(ctx, list), err}:
		case <-ctx.Done():
			return
		}
		if err != nil || len(list) < at.Limit {
			return
		}
		at.After = list[len(list)-1].Name
	}
}

// parse reads segments on every processor. It leaves out damaged segments and segments of another version, and observes them.
func (s *shelf) parse(ctx context.Context, list []history.Snapshot) (all []*retrieval.Segment) {
	parsed := make([]*retrieval.Segment, len(list))
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for first := range workers {
		wg.Go(func() {
			for i := first; i < len(list); i += workers {
				parsed[i] = s.parseOne(ctx, &list[i])
			}
		})
	}
	wg.Wait()
	for _, one := range parsed {
		if one != nil {
			all = append(all, one)
		}
	}
	return all
}

// parseOne reads a segment of words, and its vectors from the store if the index has any. It returns nil if the segment cannot be used.
func (s *shelf) parseOne(ctx context.Context, kept *history.Snapshot) *retrieval.Segment {
	_, r, ok := segments.Parse(kept.Name)
	if !ok {
		return nil
	}
	words, _, ok := s.parseAny(ctx, s.words(), r, kept)
	if !ok || s.embedder == nil {
		return words
	}
	of := segments.Series{Model: s.model}
	list, err := s.store.Snapshots(ctx, s.tenant, history.SnapshotPage{Prefix: r.Name(of), Limit: 1})
	if err != nil || len(list) == 0 {
		return nil // if the store has failed, the next call returns its error
	}
	_, vectors, ok := s.parseAny(ctx, of, r, &list[0])
	if !ok {
		return nil
	}
	if err := words.Attach(vectors); err != nil {
		s.unusable(ctx, list[0].Name, err)
		return nil
	}
	return words
}

// parseAny reads a segment of either series, and reports whether it can be used.
func (s *shelf) parseAny(ctx context.Context, of segments.Series, r segments.Range, kept *history.Snapshot) (words *retrieval.Segment, vectors *retrieval.Vectors, ok bool) {
	var err error
	if of == s.words() {
		words, err = retrieval.ParseSegment(kept.Value, s.analyzer, r.After, r.UpTo)
	} else {
		vectors, err = retrieval.ParseVectors(kept.Value, s.model, s.embedder.Model().Dimensions, r.After, r.UpTo)
	}
	if err != nil {
		s.unusable(ctx, kept.Name, err)
	}
	return words, vectors, err == nil
}

// lacking lists the series in which the store has no usable segment of a range.
func (s *shelf) lacking(ctx context.Context, r segments.Range) (list []segments.Series, err error) {
	for _, of := range s.series() {
		there, err := s.store.Snapshots(ctx, s.tenant, history.SnapshotPage{Prefix: r.Name(of), Limit: 1})
		if err != nil {
			return nil, err
		}
		usable := false
		if len(there) > 0 {
			_, _, usable = s.parseAny(ctx, of, r, &there[0])
		}
		if !usable {
			list = append(list, of)
		}
	}
	return list, nil
}

// write writes a segment of an index in some series, and deletes the smaller segments that it replaces. The index contains nothing of the texts that were erased
// up to known. write reports whether the store has the segment: it writes nothing if a text was erased under a number above known. If the segment is larger
// than a snapshot may be, write writes the smaller segments instead and reports false.
func (s *shelf) write(ctx context.Context, from *held, index *retrieval.Index, r segments.Range, lacking []segments.Series, known dag.Seq) (kept bool, err error) {
	c := &erasures.Keeping{Known: known, Still: s.store.Still}
	for _, of := range lacking {
		value, ok := from.segment(index, of, r)
		if !ok {
			return false, nil
		}
		if len(value) > history.MaxSnapshot {
			for _, part := range r.Parts() {
				if _, err := s.write(ctx, from, index, part, lacking, known); err != nil {
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
	err = s.store.Write(ctx, s.tenant, c)
	return err == nil && c.Kept, err
}
