package retrieval

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// Statistics are what the scores of a query rest on beside the turns themselves.
type Statistics struct {
	Terms                       []string // of the query, ascending, without authors' names
	Named                       string   // the author whom it names, in lower case; "" if there is not exactly one
	Words, Conversations, Dates *bm25.Statistics
	Best                        int64       // the highest score
	Likeness                    *Likenesses // of the vectors of the view to the query's; nil: there were none to compare
}

// Likenesses are the least and the most that vectors are like a query's. A likeness is their dot product, of components between -127 and 127.
type Likenesses struct{ Least, Most int64 }

// MostLikeness bounds a likeness, below and above.
const MostLikeness = 1 << 31

// Fits reports whether statistics are of the form that those of a query have.
func (s *Statistics) Fits(query string) bool {
	dates := slices.Compact(slices.Sorted(slices.Values(dateWords(nil, plainWords(query)))))
	return s.Check() == nil && len(s.Dates.With) == len(dates)
}

// Check reports statistics that no index has.
func (s *Statistics) Check() error {
	for i := 1; i < len(s.Terms); i++ {
		if s.Terms[i-1] >= s.Terms[i] {
			return fmt.Errorf("terms[%d]: %.40q does not come after %.40q", i, s.Terms[i], s.Terms[i-1])
		}
	}
	if n := len(s.Terms); len(s.Words.With) != n || len(s.Conversations.With) != n {
		return fmt.Errorf("%d terms, and counts of %d and %d", n, len(s.Words.With), len(s.Conversations.With))
	}
	if l := s.Likeness; l != nil && (l.Least > l.Most || l.Least < -MostLikeness || l.Most > MostLikeness) {
		return fmt.Errorf("likeness: from %d to %d", l.Least, l.Most)
	}
	return cmp.Or(s.Words.Check(), s.Conversations.Check(), s.Dates.Check())
}
