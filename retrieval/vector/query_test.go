package vector

import (
	"math/rand/v2"
	"testing"
)

// TestQuery compares the product of a prepared query with that of its components, for all small lengths and for extreme components.
func TestQuery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	draw := []func() int8{
		func() int8 { return int8(r.IntN(256) - 128) },
		func() int8 { return -128 },
		func() int8 { return 127 },
		func() int8 { return int8(127 - 255*r.IntN(2)) },
		func() int8 { return 0 },
	}
	compare := func(length, a, b int) {
		v, w := make([]int8, length), make([]int8, length)
		want := int64(0)
		for i := range v {
			v[i], w[i] = draw[a](), draw[b]()
			want += int64(v[i]) * int64(w[i])
		}
		if got := newQuery(v).dot(w); got != want {
			t.Fatalf("%d components of kinds %d and %d: got %d, want %d", length, a, b, got, want)
		}
	}
	for a := range draw {
		for b := range draw {
			for length := range 40 {
				compare(length, a, b)
			}
			for _, length := range []int{128, 384, 1_000, 4_096, MaxDimensions - 3, MaxDimensions} {
				compare(length, a, b)
			}
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	v, w := make([]int8, 128), make([]int8, 128)
	for i := range v {
		v[i], w[i] = int8(i-60), int8(3*i)
	}
	q := newQuery(v)
	sum := int64(0)
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			sum += q.dot(w)
		}
	})
	b.Run("components", func(b *testing.B) {
		for b.Loop() {
			sum += Dot(v, w)
		}
	})
}
