package history

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// A History keeps entries and terms, separately for each tenant. Every store is a History.
type History interface {
	// Write writes what a change plans from the data stored at the commit, all of it or nothing. It appends entries under the next
	// sequence numbers, appends to the record and with it to the ledger, begins and ends terms, replaces snapshots, and removes private
	// halves and bodies. If the plan erases, removed data and dropped snapshots cannot be recovered from the store's own files. Adding to
	// the record alone does not move the head. A change that plans nothing leaves no trace. Errors of Change.Plan are returned unchanged.
	Write(ctx context.Context, tenant dag.Tenant, c Change) error

	// Entries returns the entries of a page, ascending. Numbers in Page.At without an entry are left out.
	Entries(ctx context.Context, tenant dag.Tenant, p Page) ([]Entry, error)

	// Terms returns the terms of each range, in their order, all as of one moment, and with their entries where a range asks for them.
	// It accepts at most MaxRanges ranges. It takes a constant number of queries, or one look-up per range in a store without a server.
	Terms(ctx context.Context, tenant dag.Tenant, ranges []Range) ([][]Term, error)
}

// Cells keeps values that change in place, separately for each tenant.
type Cells interface {
	// Cells returns the cells whose names begin with a prefix, in the order of their names' bytes. Cells are few, so all are returned at once.
	Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]Cell, error)

	// Swap replaces the value of a cell if the value is still old; else it changes nothing and the
	// error wraps store.ErrMoved. Of two concurrent swaps from the same old value one succeeds. A cell
	// that does not exist has an empty value. A name or value that Cell.Check refuses is dag.ErrForm.
	Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error
}
