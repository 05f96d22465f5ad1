package knowledge

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// Digested returns the public half and the content of a prepared act.
func (p *Prepared) Digested(i int) ([]byte, dag.Digest) { return p.publics[i], p.contents[i] }

// TraverseWithin is Traverse with other bounds than MaxWork and MaxNewer.
func TraverseWithin(ctx context.Context, g Graph, aliases *normalize.Table, q Query, work, newer int) (Answer, error) {
	return traverse(ctx, g, aliases, q, bounds{work, newer})
}

// PathsWithin is Paths with other bounds than MaxWork and MaxNewer.
func PathsWithin(ctx context.Context, g Graph, aliases *normalize.Table, q Query, to string, work, newer int) (Answer, error) {
	return paths(ctx, g, aliases, q, to, bounds{work, newer})
}
