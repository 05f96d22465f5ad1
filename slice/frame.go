package slice

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A Frame is the part of a bundle that depends on the cut alone: everything except the number of the view, the seal and
// the texts. The bundles of one cut are made by copying it. A Frame never changes, so it may be shared.
type Frame struct {
	bytes []byte // the bytes that every bundle contains, one piece after the other
	gaps  []int  // where each piece ends: before as_of, key_id, tenant, token, and each turn's text
	turns int
}

// sealed is the number of gaps before the gaps of the texts.
const sealed = 4

// NewFrame returns the frame of a slice.
func NewFrame(s *Slice) *Frame {
	f := &Frame{turns: len(s.Turns), gaps: make([]int, 0, sealed+len(s.Turns))}
	w := s.wire()
	w.gap = func(at int) { f.gaps = append(f.gaps, at) }
	w.turn = func(i int) (*Admission, EncodedTurn) { return &s.Turns[i].Admission, nil }
	f.bytes = appendWire(make([]byte, 0, s.FrameSize()), w)
	return f
}

// FrameSize estimates the size of a slice's frame, in bytes.
func (s *Slice) FrameSize() int {
	size := 1024 + len(s.Turns)*(160+39+8) + len(s.Edges)*120
	if schema := schemaNamed(s.Provenance.SchemaVersion); schema.Marked {
		each := 130
		if schema.Counted {
			each += 60
		}
		size += 512 + 208*len(s.Settings)
		for i := range s.Turns {
			size += each + 35*len(s.Turns[i].Admission.Things)
		}
	}
	return size
}

// AppendBundle appends the same bytes as the function AppendBundle for the slice, cut at asOf.
func (f *Frame) AppendBundle(dst []byte, asOf dag.Seq, seal Seal, encoded func(i int) EncodedTurn) []byte {
	from := 0
	piece := func(gap int) {
		dst = append(dst, f.bytes[from:f.gaps[gap]]...)
		from = f.gaps[gap]
	}
	w := canon.NewWriter(nil)
	value := func(gap int, write func()) {
		piece(gap)
		w.Reset(dst)
		write()
		dst = w.Bytes
	}
	value(0, func() { w.Uint(uint64(asOf)) })
	value(1, func() { w.String(seal.KeyID) })
	value(2, func() { w.String(string(seal.Tenant)) })
	value(3, func() { w.String(seal.Token) })
	for i := range f.turns {
		piece(sealed + i)
		dst = append(dst, encoded(i)...)
	}
	return append(dst, f.bytes[from:]...)
}

// Size returns the size of a bundle without its texts, in bytes; it may be some hundred bytes too low.
func (f *Frame) Size() int { return len(f.bytes) }
