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

// A List is the result of [ReadAliases]. An entry of the list that was read says that a name
// is an alias of another. Every entry is in exactly one place:
//
//	Entries = len(Changes) + Same + Repeated + the claims of Ambiguous +
//	          the entries of Collided + len(Chained) + len(Skipped)
//
// Names are as [Name] returns them, unless a comment says otherwise.
type List struct {
	Format  Format
	Entries int

	// Changes add the aliases that exactly one canonical name claims, ascending by alias.
	// An empty table accepts all of them.
	Changes []Change

	Same      int         // alias and canonical name have the same form
	Repeated  int         // the same entry, after normalizing, came before
	Ambiguous []Ambiguity // ascending by name
	Collided  []Collision // ascending by name
	Chained   []Change    // the alias is also a canonical name in this list, or the canonical name also an alias; ascending
	Skipped   []Skip      // in the order of the list
}

// An Ambiguity is an alias that more than one canonical name claims. Each claim is an
// entry. The claims may include the alias itself, whose entry would otherwise count as Same.
type Ambiguity struct {
	Name   string   `json:"name"`
	Claims []string `json:"claims"` // ascending
}

// A Collision is a canonical name that several ids of a Wikidata list share, such as those
// of /m/01n4w and /m/01n4w_. The ids name different things, so none of their entries are
// used.
type Collision struct {
	Name    string   `json:"name"`
	IDs     []string `json:"ids"` // as they are written, ascending
	Entries int      `json:"entries"`
}

// A Skip is an entry whose alias or canonical name is invalid. Err wraps ErrEmpty or ErrForm.
type Skip struct {
	Place string // such as: line 12
	Err   error
}

// Accounted returns the sum of the entries in all places, which equals Entries.
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

// A place says where an entry is in its list: a line of a file, an item of an array, a
// member of an object.
type place struct {
	word string // line, item, member, label, alternative
	n    int    // from 1, or 0 if there is only one
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

// A lister collects the entries of a list.
type lister struct {
	list  *List
	pairs []pair
}

// A pair is an entry with both names normalized.
type pair struct{ alias, canonical string }

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.alias, b.alias), cmp.Compare(a.canonical, b.canonical))
}

// count counts one more entry, or fails if there are too many.
func (l *lister) count() error {
	if l.list.Entries++; l.list.Entries > MaxEntries {
		return fmt.Errorf("%w: there are more than %d entries; split the list", ErrForm, MaxEntries)
	}
	return nil
}

// add adds an entry as it was written.
func (l *lister) add(at place, alias, canonical string) error {
	name, err := Name(canonical)
	if err != nil {
		err = fmt.Errorf("canonical name: %w", err)
	}
	return l.addTo(at, alias, name, err)
}

// addTo adds an entry whose canonical name is normalized already. err is the error of normalizing the canonical name.
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

// finish sorts the collected entries into the places of the list.
func (l *lister) finish() *List {
	slices.SortFunc(l.pairs, comparePairs)
	all := len(l.pairs)
	l.pairs = slices.Compact(l.pairs)
	l.list.Repeated = all - len(l.pairs)
	l.unchain(l.claims())
	return l.list
}

// claims returns the pairs whose alias is claimed once, and puts the others into the list.
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

// unchain makes changes from pairs, except from pairs with a name that is both an alias
// and canonical, because the list does not say which of them is meant.
func (l *lister) unchain(pairs []pair) {
	canonical := make(map[string]bool, len(pairs)) // value: the name is an alias, too
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
