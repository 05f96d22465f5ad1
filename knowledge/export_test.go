package knowledge

import (
	"context"

	"github.com/graphkernel/graphkernel/normalize"
)

// TraverseWithin is Traverse with other bounds than MaxWork and MaxNewer.
func TraverseWithin(ctx context.Context, g Graph, aliases *normalize.Table, q Query, work, newer int) (Answer, error) {
	return traverse(ctx, g, aliases, q, bounds{work, newer})
}

// PathsWithin is Paths with other bounds than MaxWork and MaxNewer.
func PathsWithin(ctx context.Context, g Graph, aliases *normalize.Table, q Query, to string, work, newer int) (Answer, error) {
	return paths(ctx, g, aliases, q, to, bounds{work, newer})
}
