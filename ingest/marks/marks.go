// Package marks owns marks/1, the rules by which a turn is marked at admission: whose voice it
// has, what its content costs, and what it touched. Selection goes by marks and never reads a text,
// so that erasing a text changes no slice.
//
// The things that a turn touched are named by package extract. What is kept of a name is 16 bytes of its
// HMAC under a key of the tenant, which this package owns, too: it is drawn once for each tenant and
// kept in a cell of the store, so that all processes agree. Nothing shows it; a copy of the
// store has it. docs/phases.md has the rules.
package marks

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/extract"
	"github.com/graphkernel/graphkernel/internal/mac"
)

// Counter is the name of the rule by which a cost follows from a content.
const Counter = "bytes/4@1"

// Of returns the marks of a turn without its things, and the names of these. A turn that comes
// without its text has the voice of its role, no cost and no things.
func Of(d *dag.Draft) (dag.Marks, []string) {
	m := dag.Marks{Rules: dag.Marks1, Voice: ingest.VoiceOf(d), Cost: uint32((len(d.Content) + 3) / 4)}
	if d.Attrs[dag.AttrBroughtBy] != "" {
		m.Voice = dag.VoiceTool
	}
	return m, extract.TouchedByDraft(d)
}

// A Key is a tenant's. Its zero value is none.
type Key [32]byte

// Things returns what stands for names: of the first [dag.MaxThings], ascending, each once.
func (k Key) Things(names []string) []dag.Thing {
	names = names[:min(len(names), dag.MaxThings)]
	if len(names) == 0 {
		return nil
	}
	things := make([]dag.Thing, len(names))
	for i, name := range names {
		things[i] = dag.Thing(mac.Sum(k[:], []byte(name)))
	}
	slices.SortFunc(things, dag.Thing.Compare)
	return slices.Compact(things)
}

// Cell is the name of the cell that holds a tenant's key.
const Cell = "marks/key"

// ParseKey reads the value of the cell.
func ParseKey(value []byte) (k Key, err error) {
	if len(value) != len(k) || bytes.Equal(value, k[:]) {
		return Key{}, fmt.Errorf("%w: the cell %q is damaged: %d bytes are no key of marks", dag.ErrForm, Cell, len(value))
	}
	return Key(value), nil
}

// CellCodec is the codec of the cell.
type CellCodec struct{}

// Prefix is the name of the cell.
func (CellCodec) Prefix() string { return Cell }

// Check refuses what is no key.
func (CellCodec) Check(c *history.Cell) error {
	if c.Name != Cell {
		return fmt.Errorf("%w: the cell %.300q is not known to this version", dag.ErrForm, c.Name)
	}
	_, err := ParseKey(c.Value)
	return err
}

// Follows refuses another key in the place of one: things that were marked under the one are not
// those that were marked under the other.
func (CellCodec) Follows(old, next *history.Cell) error {
	if old == nil || next != nil && bytes.Equal(old.Value, next.Value) {
		return nil
	}
	return fmt.Errorf("the two stores have marked turns under different keys")
}
