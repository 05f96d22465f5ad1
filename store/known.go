package store

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/factslice"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// KnownTo gathers what a slice of facts needs beside the answer that it is of: the assertions
// of its edges, and the leaves of the turns that they name. It takes two queries.
func KnownTo(ctx context.Context, s interface {
	ActsAt(ctx context.Context, tenant dag.Tenant, seqs []dag.Seq) ([]knowledge.Recorded, error)
	Turns(ctx context.Context, tenant dag.Tenant, ids []dag.TurnID) ([]Record, error)
}, tenant dag.Tenant, aliases *normalize.Table, answer *knowledge.Answer) (factslice.Known, error) {
	known := factslice.Known{Aliases: aliases, Acts: map[dag.Seq]*knowledge.Recorded{}, Leaves: map[dag.TurnID]dag.Digest{}}
	var seqs []dag.Seq
	for i := range answer.Reached {
		for _, e := range answer.Reached[i].Path {
			if _, ok := known.Acts[e.Since]; !ok {
				known.Acts[e.Since] = nil
				seqs = append(seqs, e.Since)
			}
		}
	}
	if len(seqs) == 0 {
		return known, nil
	}
	acts, err := s.ActsAt(ctx, tenant, seqs)
	if err != nil {
		return known, err
	}
	var turns []dag.TurnID
	for i := range acts {
		known.Acts[acts[i].Seq] = &acts[i]
		turn := acts[i].Act.Fact.Turn
		if _, ok := known.Leaves[turn]; !ok && turn != (dag.TurnID{}) {
			known.Leaves[turn] = dag.Digest{}
			turns = append(turns, turn)
		}
	}
	if len(turns) == 0 {
		return known, nil
	}
	records, err := s.Turns(ctx, tenant, turns)
	if err != nil {
		return known, err
	}
	clear(known.Leaves) // a turn that is not there has no leaf
	for i := range records {
		known.Leaves[records[i].Turn.ID] = records[i].Leaf
	}
	return known, nil
}
