package vector

import (
	"encoding/binary"
	"unsafe"
)

// A query is a vector in the form in which it is compared with many others: each word has two components, and one multiplication
// makes two products. Of eight components in turn, word k has the components k and k+4.
//
// The components of the other vector are read eight at once, as bytes that 128 was added to. With u for these and q for the query's, the high half of
//
//	(u[k] + u[k+4]·2^32) · (q[k+4] + q[k]·2^32)
//
// is u[k]·q[k] + u[k+4]·q[k+4], after the low half, u[k]·q[k+4], is taken off. The sums of both halves fit into 32 bits for up to MaxDimensions components.
type query struct {
	words [][4]uint64
	rest  []int8 // the last components, fewer than eight
	added int64  // the dot product with a vector of 128s
}

func newQuery(v []int8) *query {
	q := &query{}
	for ; len(v) >= 8; v = v[8:] {
		var w [4]uint64
		for k := range w {
			w[k] = uint64(int64(v[k+4]) + int64(v[k])<<32)
		}
		q.words = append(q.words, w)
		for _, c := range v[:8] {
			q.added += 128 * int64(c)
		}
	}
	q.rest = v
	return q
}

// dot returns the dot product with a vector of the same length.
func (q *query) dot(v []int8) int64 {
	const pair, bias = 0x000000ff_000000ff, 0x80808080_80808080
	whole := len(v) &^ 7
	rest := Dot(q.rest, v[whole:])
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), whole) // the same memory, read as bytes
	var x, y uint64
	for i := range q.words {
		w := &q.words[i]
		u := binary.LittleEndian.Uint64(b[8*i:]) ^ bias // in two's complement this adds 128 to each byte
		x += (u & pair) * w[0]
		u >>= 8
		y += (u & pair) * w[1]
		u >>= 8
		x += (u & pair) * w[2]
		u >>= 8
		y += (u & pair) * w[3]
	}
	return high(x) + high(y) - q.added + rest
}

// high returns the high half of a sum of two halves, of which the low one may be negative.
func high(sum uint64) int64 {
	return (int64(sum) - int64(int32(sum))) >> 32
}
