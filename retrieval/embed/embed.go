// Package embed owns the vectors of texts: the interface of their makers, and their form.
//
// A vector has int8 components, which integer arithmetic scales so that their root mean square is 16; see [Normalize]. So all vectors of
// a model have the same length, and dot products rank them by angle. The magnitude of a component is at most 127.
//
// Package static contains the built-in table; package remote asks an endpoint.
package embed

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/graphkernel/graphkernel/dag"
)

// RMS is the root mean square of a vector's components.
const RMS = 16

// StaticID is the id of the built-in table.
const StaticID = "minilm-static@2"

// A Model describes the maker of vectors. Vectors of different models are never compared.
type Model struct {
	ID         string
	Dimensions int
	Digest     dag.Digest // of everything except the text that determines the vectors; zero if not known
}

// An Embedder makes vectors from texts. It is safe for use by many goroutines.
type Embedder interface {
	Model() Model

	// Embed returns a vector for each text, nil for a text without anything to embed. The vector of a text does not depend on
	// the other texts. Either all texts have been embedded by the model, or there is an error.
	Embed(ctx context.Context, texts []string) ([][]int8, error)
}

// All calls Embed and checks the number and the dimensions of the vectors.
func All(ctx context.Context, e Embedder, texts []string) ([][]int8, error) {
	vectors, err := e.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	m := e.Model()
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%s: got %d vectors for %d texts", m.ID, len(vectors), len(texts))
	}
	for _, v := range vectors {
		if v != nil && len(v) != m.Dimensions {
			return nil, fmt.Errorf("%s: a vector has %d components, want %d", m.ID, len(v), m.Dimensions)
		}
	}
	return vectors, nil
}

// Normalize returns a vector in the direction of v, or nil for the zero vector. The magnitudes of components must be below 2^43.
func Normalize(v []int64) []int8 {
	const precise = 20 // bits of the largest component
	largest := uint64(0)
	for _, x := range v {
		largest |= magnitude(x)
	}
	if largest == 0 {
		return nil
	}
	shift := bits.Len64(largest)
	squares := uint64(0)
	for _, x := range v {
		m := magnitude(x) << precise >> shift
		squares += m * m
	}
	length, scale := isqrt(squares), RMS*isqrt(uint64(len(v))<<32)
	unit := make([]int8, len(v))
	for i, x := range v {
		m := magnitude(x) << precise >> shift
		n := int8(min(127, (m*scale+length<<15)/(length<<16)))
		if x < 0 {
			n = -n
		}
		unit[i] = n
	}
	return unit
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}

// isqrt returns the root of n, rounded down, by Newton's method.
func isqrt(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	for x := uint64(1) << ((bits.Len64(n) + 1) / 2); ; {
		y := (x + n/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}
