package store

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// CheckIssued reports the first thing about a record that a back end refuses to
// keep.
func CheckIssued(i *Issued) error {
	if err := i.Provenance.Check(); err != nil {
		return err
	}
	if i.AsOf > dag.MaxSeq || !i.At.Valid() {
		return fmt.Errorf("%w: issued slice %s, cut at %d, issued at %d", dag.ErrForm, i.Provenance.SliceID, i.AsOf, i.At)
	}
	return nil
}

// CheckEvent is CheckIssued for events.
func CheckEvent(e *Event) error {
	if e.Kind != Erasure || !e.At.Valid() {
		return fmt.Errorf("%w: event of kind %.40q at %d", dag.ErrForm, e.Kind, e.At)
	}
	return nil
}
