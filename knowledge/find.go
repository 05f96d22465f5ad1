package knowledge

import (
	"slices"

	"github.com/graphkernel/graphkernel/dag"
)

// A Find says which versions a listing is of. Names are as they were asserted: whoever asks
// for an entity names all that stands for it.
type Find struct {
	Filter
	Subjects, Objects []string    // one of them; empty: any
	Either            []string    // the subject or the object is one of them; empty: any
	Source            string      // of the version; "": any
	Turn              *dag.TurnID // of the version; nil: any
	Statement         *ID         // nil: any
	After             dag.Seq     // versions that began later
	Limit             int         // at most so many are given; all are counted
}

// A Span is the acts about a statement that are numbered above After and up to UpTo.
type Span struct {
	Statement   ID
	After, UpTo dag.Seq
}

// Matches reports whether a version is one that is looked for, wherever After is.
func (f *Find) Matches(v *Version) bool {
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return f.Admits(v) && in(f.Subjects, v.Subject) && in(f.Objects, v.Object) &&
		(len(f.Either) == 0 || slices.Contains(f.Either, v.Subject) || slices.Contains(f.Either, v.Object)) &&
		(f.Source == "" || f.Source == v.Source) &&
		(f.Turn == nil || *f.Turn == v.Turn) &&
		(f.Statement == nil || *f.Statement == v.ID)
}
