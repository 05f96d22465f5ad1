package facts

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// A Leaves calls leaf with the leaf hash of each of the given turns that exists.
type Leaves func(ctx context.Context, turns []dag.TurnID, leaf func(dag.TurnID, dag.Digest)) error

// Gather reads the data that a slice of facts needs in addition to an answer: the assertions of its edges, and the
// leaves of the turns that the assertions name.
func Gather(ctx context.Context, base knowledge.Base, leaves Leaves, tenant dag.Tenant, aliases *normalize.Table, answer *knowledge.Answer) (Known, error) {
	known := Known{Aliases: aliases, Acts: map[dag.Seq]*knowledge.Recorded{}, Leaves: map[dag.TurnID]dag.Digest{}}
	var seqs []dag.Seq
	for i := range answer.Reached {
		for _, e := range answer.Reached[i].Path {
			if _, ok := known.Acts[e.Since]; !ok {
				known.Acts[e.Since] = nil
				seqs = append(seqs, e.Since)
			}
		}
	}
	acts, err := base.ActsAt(ctx, tenant, seqs)
	if err != nil {
		return known, err
	}
	var turns []dag.TurnID
	named := map[dag.TurnID]bool{{}: true}
	for i := range acts {
		if acts[i].Erased {
			return known, fmt.Errorf("number %d: %w", acts[i].Seq, knowledge.ErrErased)
		}
		known.Acts[acts[i].Seq] = &acts[i]
		if turn := acts[i].Act.Fact.Turn; !named[turn] {
			named[turn] = true
			turns = append(turns, turn)
		}
	}
	if len(turns) == 0 {
		return known, nil
	}
	return known, leaves(ctx, turns, func(id dag.TurnID, leaf dag.Digest) { known.Leaves[id] = leaf })
}
