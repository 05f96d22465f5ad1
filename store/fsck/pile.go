package fsck

// A pile is a list that only grows. It is kept in chunks, since a growing slice exists twice while it is copied.
type pile[T any] struct{ chunks [][]T }

const chunk = 1 << 12

func (p *pile[T]) len() int {
	if len(p.chunks) == 0 {
		return 0
	}
	return (len(p.chunks)-1)*chunk + len(p.chunks[len(p.chunks)-1])
}

func (p *pile[T]) at(i uint32) *T { return &p.chunks[i/chunk][i%chunk] }

func (p *pile[T]) add(v T) uint32 {
	if n := len(p.chunks); n == 0 || len(p.chunks[n-1]) == chunk {
		p.chunks = append(p.chunks, make([]T, 0, chunk))
	}
	last := &p.chunks[len(p.chunks)-1]
	*last = append(*last, v)
	return uint32(p.len() - 1)
}
