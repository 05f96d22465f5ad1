// Package kinds lists the kinds of entries and of cells that this program knows, for what goes
// through all of them: checking a store, and copying one.
package kinds

import (
	"fmt"
	"strings"

	"github.com/graphkernel/graphkernel/access/apikeys"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/history/heldback"
	"github.com/graphkernel/graphkernel/ingest/marks"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/retrieval/segments"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// All are the codecs of every kind of entry.
func All() history.Codecs {
	return history.Codecs{knowledge.Codec{}, journal.Codec{}, &erasures.Codec{With: adopting}, erasures.LoggedCodec{}, heldback.Codec{}, registry.Codec{}, apikeys.Codec{}, issued.Codec{}, issued.TaskCodec{}, issued.UndeliveredCodec{}, identity.Announced(), attest.Recorded()}
}

// Leaves are the forms of all leaves, except those of package ledger itself.
func Leaves() []ledger.Form { return append(issued.Forms(), registry.Form()) }

// Erasing are the parts of the erasure of a turn at a time: what takes away that which was learned
// from it, and the segments of indexes that have its words.
func Erasing(turn dag.TurnID, at dag.Time) []history.Change {
	return erasing(&knowledge.Erasure{Turn: turn, At: at})
}

func adopting(e *erasures.Erasure) []history.Change {
	return erasing(&knowledge.Erasure{Turn: e.Turn, At: e.At, Adopting: true})
}

func erasing(facts *knowledge.Erasure) []history.Change {
	return []history.Change{facts, &journal.Erasure{Turn: facts.Turn, At: facts.At, Adopting: facts.Adopting}, &issued.Forgetting{Turn: facts.Turn, Lost: facts.Lost}, &segments.Erasure{Turn: facts.Turn}}
}

// OfCell finds the codec of a cell by its name.
func OfCell(name string) (history.CellCodec, error) {
	for _, c := range []history.CellCodec{witness.CellCodec{}, marks.CellCodec{}} {
		if strings.HasPrefix(name, c.Prefix()) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: the cell %.300q is not known to this version", dag.ErrForm, name)
}
