package history

import (
	"context"

	"github.com/graphkernel/graphkernel/dag"
)

// A History keeps entries and terms, for each tenant apart. Every store does.
type History interface {
	// Write does what a change plans, all of it or nothing, with what is stored at the commit:
	// it appends entries under the next sequence numbers, appends to the record and with it to
	// the ledger, begins and ends terms, replaces snapshots, and takes private halves and bodies away: beyond
	// recovery from the store's own files, as is a snapshot that is dropped, if the plan erases. What is added to the record alone does not move
	// the head. A change that plans nothing leaves no trace. Errors of Change.Plan come back as they are.
	Write(ctx context.Context, tenant dag.Tenant, c Change) error

	// Entries returns the entries of a page, ascending. Numbers in Page.At that are of no entry
	// are left out.
	Entries(ctx context.Context, tenant dag.Tenant, p Page) ([]Entry, error)

	// Terms returns the terms of each range, in their order, as they were at one moment, and with their
	// entries where a range asks for them. At most
	// MaxRanges, and a constant number of queries, or one look-up for each where there
	// is no server to ask.
	Terms(ctx context.Context, tenant dag.Tenant, ranges []Range) ([][]Term, error)
}

// Cells keep what changes in place, for each tenant apart.
type Cells interface {
	// Cells returns the cells whose names begin with a prefix, in the order of their names'
	// bytes. They are few: what there is of them all comes at once.
	Cells(ctx context.Context, tenant dag.Tenant, prefix string) ([]Cell, error)

	// Swap replaces the value of a cell, if that is still old; else the error wraps store.ErrMoved and it
	// changes nothing. Of two that are made at once from the same old value one succeeds. An
	// empty value is that of a cell that is not there. A name or value that Cell.Check refuses
	// is dag.ErrForm.
	Swap(ctx context.Context, tenant dag.Tenant, name string, old, next []byte) error
}
