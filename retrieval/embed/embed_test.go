package embed

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNormalize holds that the length is what it should be, whatever it was, and the direction what it was.
func TestNormalize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 2_000 {
		v := make([]int64, 64+r.IntN(400))
		size := 8 + r.IntN(35)
		for i := range v {
			v[i] = (r.Int64N(2<<size) - 1<<size)
		}
		v[0] = 1 << size // not zero
		got := Normalize(v)
		squares, across := int64(0), big.NewInt(0)
		long := big.NewInt(0)
		for i, x := range got {
			squares += int64(x) * int64(x)
			across.Add(across, new(big.Int).Mul(big.NewInt(int64(x)), big.NewInt(v[i])))
			long.Add(long, new(big.Int).Mul(big.NewInt(v[i]), big.NewInt(v[i])))
		}
		want := int64(RMS * RMS * len(v))
		if squares < want*98/100 || squares > want*102/100 {
			t.Fatalf("the squares of %d components add up to %d, want about %d", len(v), squares, want)
		}
		// cos² = across² / (long · squares), of which a hundredth may be missing
		across.Mul(across, across).Mul(across, big.NewInt(100))
		if across.Cmp(long.Mul(long, big.NewInt(99*squares))) < 0 {
			t.Fatalf("%v points elsewhere than %v", got, v)
		}
	}
}

// TestNormalizeCorners looks at vectors of one component, of none that is not zero, and of the largest magnitude.
func TestNormalizeCorners(t *testing.T) {
	for _, c := range []struct {
		v    []int64
		want []int8
	}{
		{nil, nil},
		{[]int64{0, 0}, nil},
		{[]int64{-1}, []int8{-16}},
		{[]int64{1 << 42}, []int8{16}},
		{[]int64{3, -4, 0, 0}, []int8{19, -26, 0, 0}},
		{append(make([]int64, 99), -5), append(make([]int8, 99), -127)}, // 160
		{[]int64{1<<43 - 1, -(1<<43 - 1)}, []int8{16, -16}},
	} {
		if got := Normalize(c.v); !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("Normalize(%v) is %v, want %v", c.v, got, c.want)
		}
	}
	for n := range uint64(70_000) {
		if r := isqrt(n); r*r > n || (r+1)*(r+1) <= n {
			t.Fatalf("the root of %d is not %d", n, r)
		}
	}
	if r := isqrt(1<<64 - 1); r != 1<<32-1 {
		t.Errorf("the root of 2^64-1 is not %d", r)
	}
}
