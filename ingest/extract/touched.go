package extract

import (
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// touchable are the types of what a turn can touch.
var touchable = []normalize.Type{normalize.File, normalize.Package, normalize.Commit, normalize.URL}

// Touched returns the names of what a turn touched, as far as the turn itself says it, each once, in
// the order of the text: a call touches what it would be the subject of if it succeeded, without
// a word of its result, which is not there yet. They are literals of package normalize: files,
// packages, commits and addresses of pull requests.
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

// TouchedByDraft is [Touched] for a turn on its way in.
func TouchedByDraft(d *dag.Draft) []string { return Touched(ofDraft(d)) }
