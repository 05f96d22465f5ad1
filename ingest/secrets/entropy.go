package secrets

import "math/bits"

// fraction is the number of fractional bits of logarithms. They are integers, because floating point differs between
// processors, and the digest of a turn depends on what is redacted.
const fraction = 20

// exceeds reports whether a text has more bits of entropy per byte than thousandths/1000 (Shannon, by the frequencies of its
// characters).
func exceeds(text string, thousandths int64) bool {
	if text == "" {
		return false
	}
	counts := map[rune]int64{}
	for _, c := range text {
		counts[c]++
	}
	n := int64(len(text))
	total := int64(0) // an integer sum does not depend on the map's order
	for _, c := range counts {
		total += c * (log2(uint64(n)) - log2(uint64(c)))
	}
	return total*1000 > thousandths*n<<fraction
}

// log2 returns the binary logarithm of n ≥ 1, rounded down to fraction bits, by squaring.
func log2(n uint64) int64 {
	whole := bits.Len64(n) - 1
	x := n << (63 - whole) // 1 ≤ x < 2, with 63 bits after the point
	out := int64(whole)
	for range fraction {
		hi, lo := bits.Mul64(x, x) // 1 ≤ x² < 4
		out <<= 1
		if hi>>63 == 1 {
			out |= 1
			x = hi
		} else {
			x = hi<<1 | lo>>63
		}
	}
	return out
}
