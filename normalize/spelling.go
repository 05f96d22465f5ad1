package normalize

import (
	"math/bits"
	"slices"
)

// The lengths, in characters, of names whose spelling is compared. Names above mostTwice
// have too many variants with two characters left out.
const (
	leastOnce  = 5
	leastTwice = 10
	mostTwice  = 40
)

// edits returns the number of edits that two names may be apart. n is the length of the
// shorter name, at least leastOnce, and m that of the longer one.
func edits(n, m int) int {
	if n < leastTwice || m > mostTwice {
		return 1
	}
	return 2
}

// spelling compares names that are equal after one or two characters are left out of
// each. These include all names within that distance, because every edit can be undone by
// leaving out at most one character on either side. Names of a length are compared with
// names that are up to two characters shorter, so three lengths are in memory at a time.
func (s *search) spelling() {
	lengths := map[int][]int{} // indices in names, by length
	longest := 0
	chars := make([][]rune, len(s.names))
	for i, name := range s.names {
		chars[i] = []rune(name)
		n := len(chars[i])
		longest = max(longest, n)
		if n >= leastOnce {
			lengths[n] = append(lengths[n], i)
		}
	}
	b := &blocks{chars: chars, shift: bits.Len(uint(len(chars))), seen: map[[2]int]bool{}}
	for n := leastOnce; n <= longest; n++ {
		if len(lengths[n]) > 0 {
			b.compare(n, lengths)
		}
	}
	s.add(Spelling, b.pairs)
}

// blocks finds the names that are worth comparing.
type blocks struct {
	chars [][]rune
	shift int // number of low bits of a key that contain the index of a name

	// A key represents a name without some of its characters: the higher bits of a
	// hash, then the index of the name. Names that share a hash by chance are compared in vain.
	keys  []uint64
	sums  []uint64 // the hash of the name up to each character
	seen  map[[2]int]bool
	rows  [3][]int
	pairs [][2]int // the pairs found
}

// powers returns the powers of the base of the hash, up to most.
func powers(most int) []uint64 {
	const base = 0x9E3779B97F4A7C15
	p := make([]uint64, most+1)
	p[0] = 1
	for i := 1; i <= most; i++ {
		p[i] = p[i-1] * base
	}
	return p
}

// compare finds the pairs whose longer name has n characters.
func (b *blocks) compare(n int, lengths map[int][]int) {
	power := powers(n)
	b.keys = b.keys[:0]
	for m := max(leastOnce, n-2); m <= n; m++ {
		if n-m > edits(m, n) {
			continue
		}
		for _, i := range lengths[m] {
			b.write(i, edits(m, n), power)
		}
	}
	slices.Sort(b.keys)
	clear(b.seen)
	for rest := slices.Compact(b.keys); len(rest) > 0; {
		same := 1
		for same < len(rest) && rest[same]>>b.shift == rest[0]>>b.shift {
			same++
		}
		b.block(n, rest[:same])
		rest = rest[same:]
	}
}

// write adds the keys of a name: one of the whole name, and one for each way to leave out
// one, or up to two, characters that are not digits.
func (b *blocks) write(name, edits int, power []uint64) {
	chars := b.chars[name]
	n := len(chars)
	b.sums = append(b.sums[:0], 0)
	for i, c := range chars {
		b.sums = append(b.sums, b.sums[i]*power[1]+uint64(c)+1)
	}
	// then appends the characters from i to j to a hash.
	then := func(hash uint64, i, j int) uint64 {
		return hash*power[j-i] + b.sums[j] - b.sums[i]*power[j-i]
	}
	b.put(b.sums[n], name)
	for i := range n {
		if isDigit(chars[i]) {
			continue
		}
		b.put(then(b.sums[i], i+1, n), name)
		for j := i + 1; j < n && edits > 1; j++ {
			if !isDigit(chars[j]) {
				b.put(then(then(b.sums[i], i+1, j), j+1, n), name)
			}
		}
	}
}

func (b *blocks) put(hash uint64, name int) {
	hash ^= hash >> 29
	hash *= 0xBF58476D1CE4E5B9
	b.keys = append(b.keys, hash>>b.shift<<b.shift|uint64(name))
}

// block compares the names that share a hash.
func (b *blocks) block(n int, keys []uint64) {
	mask := uint64(1)<<b.shift - 1
	for x, one := range keys {
		for _, other := range keys[x+1:] {
			p := [2]int{int(one & mask), int(other & mask)} // the keys ascend
			a, c := b.chars[p[0]], b.chars[p[1]]
			if len(a) != n && len(c) != n || b.seen[p] {
				continue
			}
			b.seen[p] = true
			if near(a, c, edits(min(len(a), len(c)), n), &b.rows) && sameNumbers(a, c) {
				b.pairs = append(b.pairs, p)
			}
		}
	}
}

// sameNumbers reports whether two names contain the same groups of digits.
func sameNumbers(a, b []rune) bool {
	for {
		var x, y []rune
		x, a = number(a)
		y, b = number(b)
		if !slices.Equal(x, y) {
			return false
		}
		if len(x) == 0 {
			return true
		}
	}
}

// number returns the first group of digits, and the rest after it.
func number(s []rune) (digits, rest []rune) {
	from := slices.IndexFunc(s, isDigit)
	if from < 0 {
		return nil, nil
	}
	to := from
	for to < len(s) && isDigit(s[to]) {
		to++
	}
	return s[from:to], s[to:]
}
