package storetest

import (
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
)

// few is a page size that makes small stores take several pages, too.
const few = 7

// Check is package fsck's check of one tenant, and reports the first thing that does
// not fit. Issued slices are not cut again, since those of this package never were.
func Check(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{Page: few, Uncut: true})
	if err != nil {
		return err
	}
	return report.Err()
}

// sameList compares without telling nil from empty.
func sameList[T comparable](a, b []T) bool { return slices.Equal(a, b) }
