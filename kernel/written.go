package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
)

// keptWritten bounds the bytes of spellings that are kept.
const keptWritten = 8 << 20

// A writtenKey names the assertion that spells names: of a tenant, by its number.
type writtenKey struct {
	tenant dag.Tenant
	seq    dag.Seq
}

// Written returns how the names on the paths of an answer were written, by the number since which
// each edge is believed (Edge.Since). Edges whose names were written as they are have none. A
// text of more than knowledge.MaxWritten bytes is left out: [Kernel.Facts] has it.
//
// It is not part of the answer because edges hold canonical names alone, and to read all
// assertions on its paths takes longer than to find them.
func (k Facts) Written(ctx context.Context, tenant dag.Tenant, t *Traversed) (map[dag.Seq]knowledge.Written, error) {
	var numbers []dag.Seq
	for i := range t.Reached {
		for _, e := range t.Reached[i].Path {
			numbers = append(numbers, e.Since)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return steady(k.engine, func(c *cache) (map[dag.Seq]knowledge.Written, error) { return c.written(ctx, tenant, numbers) })
}

func (c *cache) written(ctx context.Context, tenant dag.Tenant, numbers []dag.Seq) (map[dag.Seq]knowledge.Written, error) {
	all := map[dag.Seq]knowledge.Written{}
	missing := make([]dag.Seq, 0, len(numbers))
	add := func(seq dag.Seq, w knowledge.Written) {
		if w != (knowledge.Written{}) {
			all[seq] = w
		}
	}
	for _, seq := range numbers {
		if w, ok := c.facts.written.get(writtenKey{tenant, seq}); ok {
			add(seq, w)
		} else {
			missing = append(missing, seq)
		}
	}
	for some := range slices.Chunk(missing, knowledge.MaxActs) {
		acts, err := c.store.knowledge().ActsAt(ctx, tenant, some)
		if err != nil {
			return nil, err
		}
		if len(acts) != len(some) {
			return nil, fmt.Errorf("%w: of %d facts on paths %d are recorded", ErrDamaged, len(some), len(acts))
		}
		for i := range acts {
			w := acts[i].Act.Fact.Written
			for _, text := range [...]*string{&w.Subject, &w.Predicate, &w.Object} {
				if len(*text) > knowledge.MaxWritten {
					*text = ""
				}
			}
			add(acts[i].Seq, w)
			c.facts.written.put(writtenKey{tenant, acts[i].Seq}, w, 128+len(w.Subject)+len(w.Predicate)+len(w.Object))
		}
	}
	return all, nil
}
