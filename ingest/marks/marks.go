// Package marks owns marks/2, the rules by which a turn is marked at admission: whose voice it has, what its content costs, and
// what it touched. Selection uses marks and never reads text, so erasing a text changes no slice.
//
// Package extract names the things that a turn touched. A mark stores 16 bytes of a name's HMAC under a key of the tenant. This
// package owns the key: it is drawn once for each tenant and stored in a cell of the store, so that all processes use the same
// key. No API shows it; a copy of the store contains it. docs/phases.md has the rules.
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

// Counter names the rule that computes a cost from a content.
const Counter = "bytes/4@1"

// Of returns the marks of a turn without its things, and the names of the things. A turn without text has the voice of its
// role, no cost and no things.
func Of(d *dag.Draft) (dag.Marks, []string) {
	m := dag.Marks{Rules: dag.Marks2, Voice: ingest.VoiceOf(d), Cost: uint32((len(d.Content) + 3) / 4)}
	return m, extract.TouchedByDraft(d)
}

// A Key is the key of one tenant. The zero value is no key.
type Key [32]byte

// Things returns the things for the first [dag.MaxThings] names, in ascending order and without duplicates.
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

// Author returns the thing by which marks name an author.
func (k Key) Author(name string) dag.Thing { return k.Things([]string{"author:" + name})[0] }

// Credential returns the thing by which marks name a credential.
func (k Key) Credential(name string) dag.Thing { return k.Things([]string{"credential:" + name})[0] }

// Names computes the things of authors and credentials of one tenant, and remembers them: a batch names few of them in many turns. The zero value remembers none.
// It is for one goroutine.
type Names struct {
	key                  Key
	authors, credentials map[string]dag.Thing
}

// keptNames is the maximum number of authors, and of credentials, that Names remembers.
const keptNames = 10_000

// Under sets the key. If the key changes, the cached names are dropped.
func (n *Names) Under(key Key) {
	if n.authors == nil || n.key != key {
		*n = Names{key, map[string]dag.Thing{}, map[string]dag.Thing{}}
	}
}

// Author is like [Key.Author].
func (n *Names) Author(name string) dag.Thing { return remembered(n.authors, name, n.key.Author) }

// Credential is like [Key.Credential].
func (n *Names) Credential(name string) dag.Thing {
	return remembered(n.credentials, name, n.key.Credential)
}

func remembered(known map[string]dag.Thing, name string, compute func(string) dag.Thing) dag.Thing {
	thing, there := known[name]
	if !there {
		if len(known) == keptNames {
			clear(known)
		}
		thing = compute(name)
		known[name] = thing
	}
	return thing
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

// Prefix returns the name of the cell.
func (CellCodec) Prefix() string { return Cell }

// Check refuses a value that is not a key, and any other cell.
func (CellCodec) Check(c *history.Cell) error {
	if c.Name != Cell {
		return fmt.Errorf("%w: the cell %.300q is not known to this version", dag.ErrForm, c.Name)
	}
	_, err := ParseKey(c.Value)
	return err
}

// Follows refuses to replace a key by another, since things under different keys cannot be compared.
func (CellCodec) Follows(old, next *history.Cell) error {
	if old == nil || next != nil && bytes.Equal(old.Value, next.Value) {
		return nil
	}
	return fmt.Errorf("the two stores have marked turns under different keys")
}
