package history

import (
	"context"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// Leaves returns up to limit leaves of a ledger from an index on, in order: the public
// halves of the record's entries. A gap among them is an error that wraps ErrDamaged.
func Leaves(ctx context.Context, s interface {
	Entries(ctx context.Context, tenant dag.Tenant, p Page) ([]Entry, error)
}, tenant dag.Tenant, from uint64, limit int) ([][]byte, error) {
	if from >= uint64(dag.MaxSeq) || limit <= 0 {
		return nil, nil
	}
	list, err := s.Entries(ctx, tenant, Page{Stream: Record, After: dag.Seq(from), Limit: limit})
	if err != nil {
		return nil, err
	}
	leaves := make([][]byte, len(list))
	for i := range list {
		if want := dag.Seq(from) + dag.Seq(i) + 1; list[i].Seq != want {
			return nil, fmt.Errorf("%w: the ledger lacks leaf %d; the next one is leaf %d", ErrDamaged, want-1, list[i].Seq-1)
		}
		leaves[i] = list[i].Public
	}
	return leaves, nil
}
