package retrieval

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/cursor"
)

// vectorsForm is the beginning of a segment's vectors. Its number changes with the form.
const vectorsForm = "graphkernel vectors 1\n"

// Vectors are the vectors of a segment's turns. They are stored separately from the segment.
type Vectors struct{ of [][]int8 }

// AppendVectors appends the vectors of the turns with numbers above after and up to upTo: the id of the model, both numbers, the number of turns, and
// for each turn 0, or 1 and its vector. The bytes depend only on the model and on the texts of these turns.
func (x *Index) AppendVectors(dst []byte, model string, after, upTo dag.Seq) []byte {
	from, to := x.turns.before(after), x.turns.before(upTo)
	begin := len(dst)
	dst = append(dst, vectorsForm...)
	dst = binary.AppendUvarint(dst, uint64(len(model)))
	dst = append(dst, model...)
	for _, n := range []uint64{uint64(after), uint64(upTo), uint64(to - from)} {
		dst = binary.AppendUvarint(dst, n)
	}
	for n := from; n < to; n++ {
		if !x.vectors.Has(n) {
			dst = append(dst, 0)
			continue
		}
		dst = append(dst, 1)
		for _, c := range x.vectors.At(n) {
			dst = append(dst, byte(c))
		}
	}
	digest := sha256.Sum256(dst[begin:])
	return append(dst, digest[:]...)
}

// ParseVectors reads the output of AppendVectors for the same model and numbers, and refuses anything else with ErrSegment. Its memory use is proportional
// to len(b).
func ParseVectors(b []byte, model string, dimensions int, after, upTo dag.Seq) (*Vectors, error) {
	if len(b) < sha256.Size || !bytes.HasPrefix(b, []byte(vectorsForm)) {
		return nil, fmt.Errorf("%w: its %d bytes do not begin like vectors of a segment", ErrSegment, len(b))
	}
	body := b[:len(b)-sha256.Size]
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], b[len(body):]) {
		return nil, fmt.Errorf("%w: its digest does not match", ErrSegment)
	}
	c := cursor.New(body[len(vectorsForm):])
	if name := c.Bytes(c.Int(math.MaxInt32)); string(name) != model {
		return nil, fmt.Errorf("%w: its model is %.40q, want %s", ErrSegment, name, model)
	}
	if c.Uint(math.MaxUint64) != uint64(after) || c.Uint(math.MaxUint64) != uint64(upTo) {
		return nil, fmt.Errorf("%w: its numbers differ from %d to %d", ErrSegment, after+1, upTo)
	}
	v := &Vectors{of: make([][]int8, c.Int(c.Left()))}
	room := make([]int8, 0, c.Left())
	for i := range v.of {
		if c.Int(1) == 1 {
			from := len(room)
			for _, component := range c.Bytes(dimensions) {
				room = append(room, int8(component))
			}
			v.of[i] = room[from:len(room):len(room)]
		}
	}
	if c.Err() != nil || c.Left() > 0 {
		return nil, fmt.Errorf("%w: %w", ErrSegment, cmp.Or(c.Err(), cursor.ErrForm))
	}
	return v, nil
}

// Attach sets the vectors of the segment's turns. An index with vectors loads only segments that have them.
func (s *Segment) Attach(v *Vectors) error {
	if len(v.of) != len(s.turns) {
		return fmt.Errorf("%w: %d vectors of %d turns", ErrSegment, len(v.of), len(s.turns))
	}
	for i := range s.turns {
		if s.turns[i].Withheld && v.of[i] != nil {
			return fmt.Errorf("%w: turn %d is withheld but has a vector", ErrSegment, s.turns[i].Seq)
		}
	}
	s.vectors = v
	return nil
}
