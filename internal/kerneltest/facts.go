package kerneltest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/knowledge"
)

// Fact makes an assertion of names as they are written.
func Fact(t testing.TB, subject, predicate, object string) knowledge.Act {
	t.Helper()
	return knowledge.Act{Kind: knowledge.Assert, Fact: must(knowledge.NewFact(subject, predicate, object, "user"))}
}

// Alias makes an alias of a canonical name.
func Alias(name, canonical string) knowledge.Act {
	return knowledge.Act{Kind: knowledge.Alias, Alias: name, Canonical: canonical}
}

// Entities returns the entities that were reached, in order.
func Entities(list []api.Reached) (names []string) {
	for _, r := range list {
		names = append(names, r.Entity)
	}
	slices.Sort(names)
	return names
}

// Seeded returns a source of random numbers with a seed of its own, which the log names.
func Seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
