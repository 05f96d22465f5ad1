package retrieval

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/retrieval/bm25"
)

// Statistics are the numbers, in addition to the turns themselves, on which the scores of a query depend.
type Statistics struct {
	Terms                       []string // of the query, ascending, without authors' names
	Named                       string   // the author whom the query names, in lower case; "" if it does not name exactly one
	Words, Conversations, Dates *bm25.Statistics
	Best                        int64       // the highest score
	Likeness                    *Likenesses // range of the likenesses of the view's vectors to the query's; nil: there were none to compare
}

// Likenesses are the least and the greatest likeness of vectors to a query's. A likeness is a dot product; components are between -127 and 127.
type Likenesses struct{ Least, Most int64 }

// MostLikeness bounds the magnitude of a likeness.
const MostLikeness = 1 << 31

// Fits reports whether statistics can be those of a query.
func (s *Statistics) Fits(query string) bool {
	dates := slices.Compact(slices.Sorted(slices.Values(dateWords(nil, plainWords(query)))))
	return s.Check() == nil && len(s.Dates.With) == len(dates)
}

// Check refuses statistics that no index can have.
func (s *Statistics) Check() error {
	for i := 1; i < len(s.Terms); i++ {
		if s.Terms[i-1] >= s.Terms[i] {
			return fmt.Errorf("terms[%d]: %.40q does not come after %.40q", i, s.Terms[i], s.Terms[i-1])
		}
	}
	if n := len(s.Terms); len(s.Words.With) != n || len(s.Conversations.With) != n {
		return fmt.Errorf("there are %d terms, but %d counts of words and %d of conversations", n, len(s.Words.With), len(s.Conversations.With))
	}
	if l := s.Likeness; l != nil && (l.Least > l.Most || l.Least < -MostLikeness || l.Most > MostLikeness) {
		return fmt.Errorf("likeness: the range from %d to %d is out of bounds or upside down", l.Least, l.Most)
	}
	return cmp.Or(s.Words.Check(), s.Conversations.Check(), s.Dates.Check())
}
