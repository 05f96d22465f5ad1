package normalize

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// MaxEntries bounds the entries of a list.
const MaxEntries = 1_000_000

// A List is what [ReadAliases] made of a list of aliases. An entry says that one name
// stands for another. Every entry is in exactly one place:
//
//	Entries = len(Changes) + Same + Repeated + the claims of Ambiguous +
//	          the entries of Collided + len(Chained) + len(Skipped)
//
// The names are in the form of [Name] where nothing else is said.
type List struct {
	Format  Format
	Entries int

	// Changes add the aliases that one canonical name claims; ascending by alias. An
	// empty table takes all of them.
	Changes []Change

	Same      int         // alias and canonical name have the same form
	Repeated  int         // the same entry, after normalizing, came before
	Ambiguous []Ambiguity // ascending by name
	Collided  []Collision // ascending by name
	Chained   []Change    // alias or canonical name is both, in this list; ascending
	Skipped   []Skip      // in the order of the list
}

// An Ambiguity is an alias that more than one canonical name claims. Each claim is an
// entry. A name that claims itself, so that its entry would be Same, is among them.
type Ambiguity struct {
	Name   string   `json:"name"`
	Claims []string `json:"claims"` // ascending
}

// A Collision is a canonical name that is that of several ids of a Wikidata list, such
// as /m/01n4w and /m/01n4w_. They name different things, so none of their entries is
// used.
type Collision struct {
	Name    string   `json:"name"`
	IDs     []string `json:"ids"` // as they are written, ascending
	Entries int      `json:"entries"`
}

// A Skip is an entry with a side that has no name. Err wraps ErrEmpty or ErrForm.
type Skip struct {
	Place string // such as: line 12
	Err   error
}

// Accounted sums up the places that entries are in; it is Entries.
func (l *List) Accounted() int {
	n := len(l.Changes) + l.Same + l.Repeated + len(l.Chained) + len(l.Skipped)
	for _, a := range l.Ambiguous {
		n += len(a.Claims)
	}
	for _, c := range l.Collided {
		n += c.Entries
	}
	return n
}

// A place is where an entry is: a line of a file, an item of an array, a member of
// an object.
type place struct {
	word string // line, item, member, label, alternative
	n    int    // from 1, or 0 if there is but one
	of   string // the member's key
}

func (p place) String() string {
	s := p.word
	if p.n > 0 {
		s += " " + strconv.Itoa(p.n)
	}
	if p.of != "" {
		s += fmt.Sprintf(" of %.80q", p.of)
	}
	return s
}

// A lister gathers the entries of a list.
type lister struct {
	list  *List
	pairs []pair
}

// A pair is an entry, both names normalized.
type pair struct{ alias, canonical string }

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.alias, b.alias), cmp.Compare(a.canonical, b.canonical))
}

// count counts one more entry, or fails if there are too many.
func (l *lister) count() error {
	if l.list.Entries++; l.list.Entries > MaxEntries {
		return fmt.Errorf("%w: more than %d entries; cut the list", ErrForm, MaxEntries)
	}
	return nil
}

// add takes an entry as it is written.
func (l *lister) add(at place, alias, canonical string) error {
	name, err := Name(canonical)
	if err != nil {
		err = fmt.Errorf("canonical name: %w", err)
	}
	return l.addTo(at, alias, name, err)
}

// addTo takes an entry whose canonical name is normalized already, or has no name.
func (l *lister) addTo(at place, alias, canonical string, err error) error {
	if err := l.count(); err != nil {
		return err
	}
	name, wrong := Name(alias)
	if wrong != nil {
		err = fmt.Errorf("alias: %w", wrong)
	}
	if err != nil {
		l.list.Skipped = append(l.list.Skipped, Skip{at.String(), err})
		return nil
	}
	l.pairs = append(l.pairs, pair{name, canonical})
	return nil
}

// finish sorts out what was gathered.
func (l *lister) finish() *List {
	slices.SortFunc(l.pairs, comparePairs)
	all := len(l.pairs)
	l.pairs = slices.Compact(l.pairs)
	l.list.Repeated = all - len(l.pairs)
	l.unchain(l.claims())
	return l.list
}

// claims returns the pairs whose alias is claimed once, and reports the others.
func (l *lister) claims() []pair {
	single := l.pairs[:0]
	for rest := l.pairs; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].alias == rest[0].alias {
			n++
		}
		same := rest[:n]
		rest = rest[n:]
		switch {
		case n > 1:
			a := Ambiguity{Name: same[0].alias}
			for _, p := range same {
				a.Claims = append(a.Claims, p.canonical)
			}
			l.list.Ambiguous = append(l.list.Ambiguous, a)
		case same[0].alias == same[0].canonical:
			l.list.Same++
		default:
			single = append(single, same[0])
		}
	}
	return single
}

// unchain makes changes of pairs, except for those with a name that is alias and
// canonical at once: which of them is meant cannot be known.
func (l *lister) unchain(pairs []pair) {
	canonical := make(map[string]bool, len(pairs)) // whether it is an alias too
	for _, p := range pairs {
		canonical[p.canonical] = false
	}
	for _, p := range pairs {
		if _, is := canonical[p.alias]; is {
			canonical[p.alias] = true
		}
	}
	for _, p := range pairs {
		c := Change{Alias: p.alias, Canonical: p.canonical}
		if canonical[p.alias] || canonical[p.canonical] {
			l.list.Chained = append(l.list.Chained, c)
		} else {
			l.list.Changes = append(l.list.Changes, c)
		}
	}
}

func newCollision(name string, ids []string) *Collision {
	return &Collision{Name: name, IDs: slices.Sorted(slices.Values(ids))}
}

func sortedCollisions(m map[string]*Collision) []Collision {
	var sorted []Collision
	for _, name := range slices.Sorted(maps.Keys(m)) {
		sorted = append(sorted, *m[name])
	}
	return sorted
}
