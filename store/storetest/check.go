package storetest

import (
	"context"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/fsck"
)

// few is a page size so small that small stores take several pages, too.
const few = 7

// Check checks one tenant with package fsck, and returns the first finding. It
// does not cut issued slices again, since those of this package never were cut.
func Check(ctx context.Context, s store.Store, tenant dag.Tenant) error {
	report, err := fsck.Tenant(ctx, s, tenant, fsck.Options{Page: few, Uncut: true})
	if err != nil {
		return err
	}
	return report.Err()
}

// sameList compares lists, and treats nil as empty.
func sameList[T comparable](a, b []T) bool { return slices.Equal(a, b) }
