package bm25

import "math/bits"

// fraction is the number of fractional bits of a logarithm and of a score.
const fraction = 16

// ln2 is the natural logarithm of 2 in 2^-30.
const ln2 = 744261118

// ln returns the natural logarithm of num/den in 2^-16, rounded down; num is at least den, and both are below 2^62.
// It squares the mantissa once for each bit, so nothing depends on a processor's floating point.
func ln(num, den uint64) int64 {
	whole := bits.Len64(num) - bits.Len64(den)
	if whole > 0 && num>>whole < den || whole < 0 {
		whole--
	}
	whole = max(whole, 0)
	high, low := bits.Mul64(num, 1<<(31)) // num/den/2^whole in 2^-31, which is in [1, 2)
	low = low>>whole | high<<(64-whole)
	high >>= whole
	x, _ := bits.Div64(high, low, den)
	log := uint64(whole)
	for range 30 {
		square := x * x // in 2^-62
		log <<= 1
		if x = square >> 31; x >= 1<<32 {
			x >>= 1
			log |= 1
		}
	}
	hi, lo := bits.Mul64(log, ln2) // in 2^-60
	return int64(hi<<(64-44) | lo>>44)
}
