// Package kinds lists the kinds of entries and of cells that this program knows. Checking a store and copying one need all of them.
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
	"github.com/graphkernel/graphkernel/standing/settings"
)

// All returns the codecs of all kinds of entries.
func All() history.Codecs {
	return history.Codecs{knowledge.Codec{}, journal.Codec{}, &erasures.Codec{With: adopting}, erasures.LoggedCodec{}, heldback.Codec{}, registry.Codec{}, apikeys.Codec{}, issued.Codec{}, issued.TaskCodec{}, issued.UndeliveredCodec{}, settings.Codec{}, identity.Announced(), attest.Recorded()}
}

// Leaves returns the forms of all leaves, except those of package ledger itself.
func Leaves() []ledger.Form { return append(issued.Forms(), registry.Form()) }

// Erasing returns the changes that are part of the erasure of a turn at a time: they remove
// what was learned from the turn, and the segments of indexes that contain its words.
func Erasing(turn dag.TurnID, at dag.Time) []history.Change {
	return erasing(&knowledge.Erasure{Turn: turn, At: at})
}

func adopting(e *erasures.Erasure) []history.Change {
	return erasing(&knowledge.Erasure{Turn: e.Turn, At: e.At, Adopting: true})
}

func erasing(facts *knowledge.Erasure) []history.Change {
	return []history.Change{facts, &journal.Erasure{Turn: facts.Turn, At: facts.At, Adopting: facts.Adopting}, &issued.Forgetting{Turn: facts.Turn, Lost: facts.Lost}, &segments.Erasure{Turn: facts.Turn}}
}

// OfCell returns the codec of the cell with a name.
func OfCell(name string) (history.CellCodec, error) {
	for _, c := range []history.CellCodec{witness.CellCodec{}, marks.CellCodec{}} {
		if strings.HasPrefix(name, c.Prefix()) {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: the cell %.300q is not known to this version", dag.ErrForm, name)
}
