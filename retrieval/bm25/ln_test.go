package bm25

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLn compares with the floating point of package math, which is exact to far more than 16 bits.
func TestLn(t *testing.T) {
	for _, c := range [][2]uint64{{1, 1}, {2, 1}, {3, 2}, {4, 1}, {1 << 40, 1}, {1<<61 + 1, 3}, {7, 7}, {8, 7}} {
		checkLn(t, c[0], c[1])
	}
	for range 100_000 {
		den := 1 + rand.Uint64N(1<<rand.IntN(40))
		checkLn(t, den+rand.Uint64N(1<<rand.IntN(50)), den)
	}
}

func checkLn(t *testing.T, num, den uint64) {
	t.Helper()
	want := (math.Log(float64(num)) - math.Log(float64(den))) * (1 << fraction)
	if got := ln(num, den); math.Abs(float64(got)-want) > 1.01 {
		t.Fatalf("ln(%d/%d) is %d, want %f", num, den, got, want)
	}
}
