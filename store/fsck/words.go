package fsck

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/analysis"
	"github.com/graphkernel/graphkernel/retrieval/embed/static"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/store"
)

// checkWords makes each segment of words and of vectors again from the texts, and compares.
func checkWords(c *checker) error {
	if err := c.segments(segments.AllVectors); err != nil {
		return err
	}
	return c.segments(segments.AllWords)
}

// segments checks the segments whose names begin with a prefix.
func (c *checker) segments(prefix string) error {
	page := history.SnapshotPage{Prefix: prefix, Limit: 1}
	for last := ""; ; {
		list, err := c.s.Snapshots(c.ctx, c.tenant, page)
		if err != nil {
			return c.unreadable("snapshots", err)
		}
		if len(list) == 0 {
			return nil
		}
		where := fmt.Sprintf("snapshot %q", list[0].Name)
		if list[0].Name <= last {
			c.find(where, "order", "it is listed after %q", last)
			return nil
		}
		last, page.After = list[0].Name, list[0].Name
		if err := c.segment(where, &list[0]); err != nil {
			return err
		}
	}
}

// segment compares a segment with one made from the texts. An erasure between
// the two reads drops the segment, so a segment that differs is read once more.
func (c *checker) segment(where string, s *history.Snapshot) error {
	of, r, ok := segments.Parse(s.Name)
	if !ok {
		c.find(where, "form", "it is not the name of a segment of words or vectors")
		return nil
	}
	for range 2 {
		want, err := c.segmentOf(of, r)
		if errors.Is(err, errNoBody) {
			return nil // the scan has reported the turn
		}
		if err != nil {
			return c.unreadable(where, err)
		}
		if bytes.Equal(want, s.Value) {
			return nil
		}
		again, err := c.s.Snapshots(c.ctx, c.tenant, history.SnapshotPage{Prefix: s.Name, Limit: 1})
		if err != nil {
			return c.unreadable(where, err)
		}
		if len(again) == 0 {
			return nil
		}
		s = &again[0]
	}
	rule := "words"
	if of.Model != "" {
		rule = "vectors"
	}
	c.find(where, rule, "it differs from the segment computed from the texts of numbers %d to %d", r.After+1, r.UpTo)
	return nil
}

var (
	errSegmentRead = errors.New("the segment is read")
	errNoBody      = errors.New("a body is malformed")
)

// segmentOf makes a segment from the stored texts.
func (c *checker) segmentOf(of segments.Series, r segments.Range) ([]byte, error) {
	var turns []retrieval.Turn
	err := c.s.Scan(c.ctx, c.tenant, r.After, nil, func(record *store.Record) error {
		if record.Seq > r.UpTo {
			return errSegmentRead
		}
		t, err := segments.TurnOf(record)
		if err != nil {
			return errNoBody
		}
		turns = append(turns, t)
		return nil
	})
	if err != nil && !errors.Is(err, errSegmentRead) {
		return nil, err
	}
	if of.Model == "" {
		x := retrieval.New(analysis.Of(of.Analyzer), 0)
		if err := x.Add(turns, nil); err != nil {
			return nil, err
		}
		return x.AppendSegment(nil, r.After, r.UpTo), nil
	}
	texts := make([]string, len(turns))
	for i := range turns {
		texts[i] = turns[i].Content
	}
	vectors, err := static.Load().Embed(c.ctx, texts)
	if err != nil {
		return nil, err
	}
	x := retrieval.New(analysis.None, static.Load().Model().Dimensions)
	if err := x.Add(turns, vectors); err != nil {
		return nil, err
	}
	return x.AppendVectors(nil, of.Model, r.After, r.UpTo), nil
}
