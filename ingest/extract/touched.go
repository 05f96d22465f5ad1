package extract

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// touchable are the types of things that a turn can touch.
var touchable = []normalize.Type{normalize.File, normalize.Package, normalize.Commit, normalize.URL}

// Touched returns the names of the things that a turn touched, as far as the turn itself shows, without duplicates, in the
// order of the text. A call touches the objects of the findings that it would have on success; its result is not used, since it
// does not exist yet. The names are literals of package normalize: files, packages, commits and addresses of pull requests.
func Touched(t *dag.Turn, b *dag.Body) (names []string) {
	if t == nil || b == nil || b.Attrs[attrExchange] != "" {
		return nil
	}
	x := &extraction{self: said{t.ID, t.Conversation, b}}
	switch {
	case b.Attrs[attrCommit] == "true":
		x.commit()
	case t.Role == dag.RoleUser || t.Role == dag.RoleAssistant:
		if slices.Contains(strings.Split(b.Attrs[attrBlocks], ","), blockCall) {
			calls, _, _ := callsOf(&x.self)
			for i := range calls {
				x.answered(&calls[i], &result{})
			}
		}
		x.speech()
	}
	for i := range x.found {
		name := x.found[i].Object
		kind, _, _ := strings.Cut(name, ":")
		if slices.Contains(touchable, normalize.Type(kind)) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// TouchedByDraft is [Touched] for a turn that is not yet admitted.
func TouchedByDraft(d *dag.Draft) []string { return Touched(ofDraft(d)) }
