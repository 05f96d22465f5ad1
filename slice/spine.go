package slice

import "github.com/graphkernel/graphkernel/dag"

// noNode is the absence of a node.
const noNode = ^dag.Node(0)

// A lineage decides which turns are prompts, and which parents lead to them.
type lineage interface {
	// saysWhat reports whether a turn can be a prompt.
	saysWhat(n dag.Node) bool
	// appendLeads appends the parents of a turn to which it leads. The view shows all of them.
	appendLeads(dst []dag.Node, n dag.Node) []dag.Node
}

// A spine finds the nearest prompts before turns of one view, and caches them.
type spine struct {
	known map[dag.Node]dag.Node // by node: the nearest ancestor that is a prompt, or noNode
	path  []dag.Node
	leads []dag.Node
}

// prompt returns the nearest ancestor of a turn that is a prompt, or noNode: on each path of parents the first such
// turn, and of these the one with the greatest number. The results for ancestors are reused, so a spine looks at
// each ancestor once, however many turns it is asked about.
func (x *spine) prompt(v dag.View, by lineage, n dag.Node) dag.Node {
	x.path = append(x.path[:0], n)
	for len(x.path) > 0 {
		top := x.path[len(x.path)-1]
		if _, known := x.known[top]; known {
			x.path = x.path[:len(x.path)-1]
			continue
		}
		if nearest, whole := x.nearest(v, by, top); whole {
			x.known[top] = nearest
			x.path = x.path[:len(x.path)-1]
		}
	}
	return x.known[n]
}

// nearest returns the result of prompt for a turn if the results for its parents are known. Otherwise whole is false,
// and the parents without a known result are added to the path.
func (x *spine) nearest(v dag.View, by lineage, n dag.Node) (nearest dag.Node, whole bool) {
	nearest, whole = noNode, true
	x.leads = by.appendLeads(x.leads[:0], n)
	for _, found := range x.leads {
		if !by.saysWhat(found) {
			before, known := x.known[found]
			if !known {
				x.path = append(x.path, found)
				whole = false
				continue
			}
			found = before
		}
		if found != noNode && (nearest == noNode || v.Admitted(found) > v.Admitted(nearest)) {
			nearest = found
		}
	}
	return nearest, whole
}
