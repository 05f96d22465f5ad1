package contexts

import (
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// The upper bounds of counts, and of lengths and scores.
const (
	mostCount = 1 << 40
	mostSum   = 1 << 52
)

// writeStatistics writes the statistics on which the scores of the search depend.
func writeStatistics(w *canon.Writer, s *retrieval.Statistics) {
	w.BeginObject()
	w.Key("best")
	w.Uint(uint64(s.Best))
	w.Key("conversations")
	writeCounts(w, s.Conversations)
	w.Key("dates")
	writeCounts(w, s.Dates)
	if l := s.Likeness; l != nil {
		w.Key("likeness")
		w.BeginObject()
		w.Key("least")
		w.Uint(uint64(l.Least + retrieval.MostLikeness))
		w.Key("most")
		w.Uint(uint64(l.Most + retrieval.MostLikeness))
		w.EndObject()
	}
	if s.Named != "" {
		w.Key("named")
		w.String(s.Named)
	}
	w.Key("terms")
	w.BeginArray()
	for _, term := range s.Terms {
		w.String(term)
	}
	w.EndArray()
	w.Key("words")
	writeCounts(w, s.Words)
	w.EndObject()
}

func writeCounts(w *canon.Writer, s *bm25.Statistics) {
	w.BeginObject()
	w.Key("length")
	w.Uint(uint64(s.Length))
	w.Key("most")
	w.Uint(uint64(s.Most))
	w.Key("turns")
	w.Uint(uint64(s.Turns))
	w.Key("with")
	w.BeginArray()
	for _, n := range s.With {
		w.Uint(uint64(n))
	}
	w.EndArray()
	w.EndObject()
}

// writeStatisticsLeaf writes the leaf of the statistics. Once the salt is erased, the leaf reveals nothing about them,
// not even whether there are any.
func (b *Bundle) writeStatisticsLeaf(w *canon.Writer) {
	text := canon.NewWriter(nil)
	if b.Statistics != nil {
		writeStatistics(text, b.Statistics)
	}
	digest := b.Request.digest("statistics", text.Bytes)
	w.BeginObject()
	w.Key("hmac")
	w.Hex(digest[:])
	w.Key("type")
	w.String("statistics")
	w.EndObject()
}

func readStatistics(c *canon.Cursor) *retrieval.Statistics {
	s := &retrieval.Statistics{
		Best: int64(c.Field("best").Uint(mostSum)), Words: readCounts(c.Field("words")), Conversations: readCounts(c.Field("conversations")), Dates: readCounts(c.Field("dates")),
	}
	if f := c.Optional("named"); f != nil {
		if s.Named = f.String(); s.Named == "" {
			f.Failf("the name is empty")
		}
	}
	if f := c.Optional("likeness"); f != nil {
		s.Likeness = &retrieval.Likenesses{Least: readLikeness(f.Field("least")), Most: readLikeness(f.Field("most"))}
		f.Close()
	}
	for _, f := range c.Field("terms").Items() {
		s.Terms = append(s.Terms, f.String())
	}
	c.Close()
	if c.Err() == nil {
		if err := s.Check(); err != nil {
			c.Fail(err)
		}
	}
	return s
}

// readLikeness reads a likeness, which is written with an offset so that it is never negative.
func readLikeness(c *canon.Cursor) int64 {
	return int64(c.Uint(2*retrieval.MostLikeness)) - retrieval.MostLikeness
}

func readCounts(c *canon.Cursor) *bm25.Statistics {
	s := &bm25.Statistics{
		Length: int64(c.Field("length").Uint(mostSum)), Most: int64(c.Field("most").Uint(mostSum)), Turns: int64(c.Field("turns").Uint(mostCount)),
	}
	for _, f := range c.Field("with").Items() {
		s.With = append(s.With, int64(f.Uint(mostCount)))
	}
	c.Close()
	return s
}
