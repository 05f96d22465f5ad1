package store

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/slice"
)

// CheckIssued reports the first thing about a record that a back end refuses to
// keep.
func CheckIssued(i *Issued) error {
	if err := i.Provenance.Check(); err != nil {
		return err
	}
	if !dag.IsLabel(i.KeyID) {
		return fmt.Errorf("%w: issued slice %s, key id %.80q, want [a-z0-9][a-z0-9-]{0,62}", dag.ErrForm, i.Provenance.SliceID, i.KeyID)
	}
	if ofFacts := i.Provenance.SchemaVersion == slice.FactsVersion; ofFacts != (i.Question != "") || !utf8.ValidString(i.Question) || strings.ContainsRune(i.Question, 0) {
		return fmt.Errorf("%w: issued slice %s of version %s, question %.80q; a slice of facts has one, and no other", dag.ErrForm, i.Provenance.SliceID, i.Provenance.SchemaVersion, i.Question)
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
