package knowledge

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Find selects the versions of a listing. Names are compared as they were asserted,
// so a caller that looks for an entity lists every name that stands for it.
type Find struct {
	Filter
	Subjects, Objects []string                 // the subject, or the object, is one of them; empty: any
	Either            []string                 // the subject or the object is one of them; empty: any
	Source            string                   // of the version; "": any
	Turn              *dag.TurnID              // of the version; nil: any
	Statement         *ID                      // nil: any
	Shows             func(source string) bool // whether versions of a source are selected; nil: those of every source
	After             dag.Seq                  // only versions that began after this number
	Limit             int                      // at most so many versions are listed; all are counted
}

// bare reports whether AsOf and MinConfidence are the only conditions.
func (f *Find) bare() bool {
	return f.ValidAt == nil && len(f.Predicates)+len(f.Subjects)+len(f.Objects)+len(f.Either) == 0 && f.Source == "" && f.Turn == nil && f.Statement == nil && f.Shows == nil
}

// Matches reports whether a version is selected, regardless of After.
func (f *Find) Matches(v *Version) bool {
	in := func(list []string, names ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(list, name) })
	}
	return f.Admits(v) && in(f.Subjects, v.Subject) && in(f.Objects, v.Object) && in(f.Either, v.Subject, v.Object) &&
		(f.Source == "" || f.Source == v.Source) &&
		(f.Turn == nil || *f.Turn == v.Turn) &&
		(f.Statement == nil || *f.Statement == v.ID) &&
		(f.Shows == nil || f.Shows(v.Source))
}
