package store

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
)

// CheckEvent reports the first thing about an event that a back end refuses to keep.
func CheckEvent(e *Event) error {
	if e.Kind != Erasure || !e.At.Valid() {
		return fmt.Errorf("%w: event of kind %.40q at %d", dag.ErrForm, e.Kind, e.At)
	}
	return nil
}
