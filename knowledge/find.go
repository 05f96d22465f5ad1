package knowledge

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Find says which versions a listing is of. Names are as they were asserted: anyone who asks
// for an entity gives every name that stands for it.
type Find struct {
	Filter
	Subjects, Objects []string                 // one of them; empty: any
	Either            []string                 // the subject or the object is one of them; empty: any
	Earlier           FindEarlier              // names of earlier rules
	Source            string                   // of the version; "": any
	Turn              *dag.TurnID              // of the version; nil: any
	Statement         *ID                      // nil: any
	Shows             func(source string) bool // whether versions of a source are looked for; nil: those of any
	After             dag.Seq                  // versions that began later
	Limit             int                      // at most so many are listed; all are counted
}

// FindEarlier has names to be found beside those of a Find, in facts alone whose names an earlier
// rule than normalize.Newest formed. A list counts only if the Find has one of its kind.
type FindEarlier struct{ Subjects, Predicates, Objects, Either []string }

// Any reports whether there are such names.
func (e *FindEarlier) Any() bool {
	return len(e.Subjects)+len(e.Predicates)+len(e.Objects)+len(e.Either) > 0
}

// bare reports whether nothing is looked for but versions that count, with some confidence.
func (f *Find) bare() bool {
	return f.ValidAt == nil && len(f.Predicates)+len(f.Subjects)+len(f.Objects)+len(f.Either) == 0 && f.Source == "" && f.Turn == nil && f.Statement == nil && f.Shows == nil
}

// Matches reports whether a version, whose names a rule formed, is one that is looked for,
// wherever After is.
func (f *Find) Matches(v *Version, rule normalize.Rule) bool {
	in := func(list, earlier []string, names ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(list, name) || rule != normalize.Newest && slices.Contains(earlier, name)
		})
	}
	filter := f.Filter
	filter.Predicates = nil
	return filter.Admits(v) && in(f.Predicates, f.Earlier.Predicates, v.Predicate) &&
		in(f.Subjects, f.Earlier.Subjects, v.Subject) && in(f.Objects, f.Earlier.Objects, v.Object) &&
		in(f.Either, f.Earlier.Either, v.Subject, v.Object) &&
		(f.Source == "" || f.Source == v.Source) &&
		(f.Turn == nil || *f.Turn == v.Turn) &&
		(f.Statement == nil || *f.Statement == v.ID) &&
		(f.Shows == nil || f.Shows(v.Source))
}
