package turns

import (
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/api"
)

// TestNotes holds that an answer that is less than what the policy asks for says so below the hits, and no other.
func TestNotes(t *testing.T) {
	for want, found := range map[string]api.Found{
		"no turn has any of these words\n": {},
		"no turn has any of these words\n--policy find@1 also finds what is said in other words\n":                                 {Policy: "recall@1"},
		"no turn has any of these words\napproximate: a graph of vectors was walked, which may miss turns; --as-of compares all\n": {Approximate: true},
		"no turn has any of these words\nnot reranked: it is gone\n":                                                               {NotReranked: "it is gone"},
	} {
		var b strings.Builder
		if printHits(&b, &found, "q", false); b.String() != want {
			t.Errorf("%+v prints %q, want %q", found, b.String(), want)
		}
	}
}
