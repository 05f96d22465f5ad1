package storetest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// Flips damages copies of the file of a SQLite store: it flips a bit anywhere, two of three times in the inner pages of its trees.
type Flips struct {
	whole  []byte
	inner  []int
	random *rand.Rand
	made   int
}

// NewFlips returns Flips for a file, and logs the seed. The trees of the file must have inner pages.
func NewFlips(t testing.TB, whole []byte) *Flips {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := &Flips{whole: whole, inner: innerBytes(whole), random: rand.New(rand.NewPCG(seed, 0))}
	if len(f.inner) < 1000 {
		t.Fatalf("%d bytes are in inner pages: this shows nothing", len(f.inner))
	}
	return f
}

// Next returns a copy of the file with one bit flipped, and the position of its byte.
func (f *Flips) Next() (damaged []byte, at int) {
	at = f.random.IntN(len(f.whole))
	if f.made%3 > 0 {
		at = f.inner[f.random.IntN(len(f.inner))]
	}
	f.made++
	damaged = bytes.Clone(f.whole)
	damaged[at] ^= 1 << f.random.IntN(8)
	return damaged, at
}

// innerBytes returns the positions in a SQLite file that are in inner pages of its trees (database file format, section 1.6).
func innerBytes(data []byte) (at []int) {
	size := int(binary.BigEndian.Uint16(data[16:]))
	if size == 1 {
		size = 65536
	}
	for page := 0; page*size < len(data); page++ {
		head := page * size
		if page == 0 {
			head += 100
		}
		if kind := data[head]; kind == 2 || kind == 5 {
			for i := head; i < (page+1)*size; i++ {
				at = append(at, i)
			}
		}
	}
	return at
}
