package slice

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// The versions of disclosures of turns, by the schema of the bundle. (gkd/2 is the version of disclosures of facts.)
const (
	DisclosureVersion   = "gkd/1" // for gkp/1
	DisclosureVersionV2 = "gkd/3" // for gkp/2
	DisclosureVersionV3 = "gkd/5" // for gkp/3
)

// maxTurns and maxEdges are the upper bounds of the counts in a disclosure of turns. A tree over maxEdges edges is 27
// levels high.
const (
	maxTurns = policy.LimitNodes
	maxEdges = maxTurns * maxTurns
)

// TurnDisclosures are the forms of disclosures of bundles of turns, in the order of Schemas. They do not show edges and reasons.
var TurnDisclosures = []*DisclosureForm{
	turnDisclosures(DisclosureVersion, &Schemas[0]), turnDisclosures(DisclosureVersionV2, &Schemas[1]), turnDisclosures(DisclosureVersionV3, &Schemas[2]),
}

func turnDisclosures(version string, of *Schema) *DisclosureForm {
	return &DisclosureForm{
		Version: version, Schema: of.Version, Policy: policy.Forms{of.Policy}, ShownIn: "turns",
		Counts: []CountForm{{"edges", "edges", maxEdges}, {"turns", "turn_count", maxTurns}}, Bound: boundTurns, MaxIndex: maxTurns - 1,
		Sections: []Section{{"turn", "turns", readShownTurn}, {"edge", "edges", nil}, {"admissions", "", nil}},
		Check:    checkShownTurns, Redacted: redactedShown,
	}
}

// boundTurns returns an error if the number of edges is impossible for the number of turns. The bound is rough.
func boundTurns(counts []Count) error {
	h := Head{Counts: counts}
	turns, edges := h.Count("turns"), h.Count("edges")
	if turns < 1 {
		return fmt.Errorf("0 turns, want 1 to %d", maxTurns)
	}
	if most := turns * turns; edges > most {
		return fmt.Errorf("%d edges among %d turns, want 0 to %d", edges, turns, most)
	}
	return nil
}

// A ShownTurn is a turn in a disclosure. It has no admission, because the admissions of all turns are one leaf.
type ShownTurn struct {
	dag.Turn
	Body *dag.Body // nil: redacted
}

// Member, ID, Hash and Write implement Leaf.
func (t *ShownTurn) Member() string   { return "turn" }
func (t *ShownTurn) ID() string       { return t.Turn.ID.String() }
func (t *ShownTurn) Hash() dag.Digest { return TurnLeaf(&t.Turn) }

func (t *ShownTurn) Write(w *canon.Writer) {
	w.BeginObject()
	writeTurn(w, &t.Turn, bodyOf(w, t.Body))
	w.EndObject()
}

func readShownTurn(c *canon.Cursor) Leaf {
	t := &ShownTurn{}
	t.Turn, t.Body = readTurn(c)
	c.Close()
	return t
}

// Withhold returns the bundle with the text of the shown turns only. The result is a bundle like any other: its header,
// its token and every check remain valid, and Redacted lists the turns whose text is missing. A shown turn whose text
// was missing before still has none. Showing all turns yields the same bytes; showing none is allowed. It is an error
// to show a turn that is not in the bundle.
//
// Neither bundle may be changed afterwards: they share texts, edges and order.
func (b *Bundle) Withhold(shown []dag.TurnID) (*Bundle, error) {
	places, err := b.places(shown)
	if err != nil {
		return nil, err
	}
	part := *b
	part.Turns = slices.Clone(b.Turns)
	for i := range part.Turns {
		if len(places) > 0 && places[0] == i {
			places = places[1:]
			continue
		}
		part.Turns[i].Body = nil
	}
	return &part, nil
}

// places returns the indexes of some turns, ascending, without repetitions.
func (b *Bundle) places(of []dag.TurnID) ([]int, error) {
	index := b.index()
	places := make([]int, len(of))
	for i, id := range of {
		at, ok := index[id]
		if !ok {
			return nil, fmt.Errorf("slice: turn %s is not among the %d turns of the bundle, so it cannot be shown", id, len(b.Turns))
		}
		places[i] = at
	}
	slices.Sort(places)
	return slices.Compact(places), nil
}

// Disclose returns a disclosure of some turns of the bundle; the other turns are left out. A turn is shown as in the
// bundle: with its text, or redacted. To show a turn without its text, call Withhold first:
//
//	part, err := whole.Withhold(spoken)
//	d, err := part.Disclose(sha256.Sum256(bytes), shown) // spoken, and more
//
// issued is the SHA-256 of the bundle's bytes as the kernel issued it, which an attestation and the ledger state. If
// texts have been withheld since, it is not the SHA-256 of b's bytes.
//
// The bundle must have passed its own Check. Errors are those of NewDisclosure; it is also an error to show a turn that
// is not in the bundle. Texts are shared with the bundle, as by Withhold. A disclosure of all turns is larger than its
// bundle, so if the bundle is near MaxBundle, the disclosure may be too large to be read.
func (b *Bundle) Disclose(issued dag.Digest, shown []dag.TurnID) (*Disclosure, error) {
	places, err := b.places(shown)
	if err != nil {
		return nil, err
	}
	form := slices.IndexFunc(TurnDisclosures, func(f *DisclosureForm) bool { return f.Schema == b.Provenance.SchemaVersion })
	return NewDisclosure(TurnDisclosures[max(form, 0)], b.Head(), issued, b.leaves(), places, func(i int) Leaf {
		return &ShownTurn{Turn: b.Turns[i].Turn, Body: b.Turns[i].Body}
	})
}

// leaves returns the hashes of all leaves, in the order of the tree.
func (b *Bundle) leaves() []dag.Digest {
	leaves := make([]dag.Digest, 0, len(b.Turns)+len(b.Edges)+1)
	for i := range b.Turns {
		leaves = append(leaves, TurnLeaf(&b.Turns[i].Turn))
	}
	for _, e := range b.Edges {
		leaves = append(leaves, EdgeLeaf(e))
	}
	return append(leaves, dag.Digest(tlog.RecordHash(AppendAdmissionsLeaf(nil, b.Provenance.SchemaVersion, b.AsOf, b.Settings, b.selected()))))
}

// shownTurns returns the turns that are shown.
func shownTurns(d *Disclosure) []*ShownTurn {
	turns := make([]*ShownTurn, len(d.Shown))
	for i := range d.Shown {
		turns[i] = d.Shown[i].Leaf.(*ShownTurn) // these forms read only leaves of this type
	}
	return turns
}

func redactedShown(d *Disclosure) (ids []dag.TurnID) {
	for _, t := range shownTurns(d) {
		if t.Body == nil {
			ids = append(ids, t.Turn.ID)
		}
	}
	return ids
}

// checkShownTurns makes the checks of Bundle.Check. The only part of CheckAdmissions that it can make is that the
// anchor is the header's.
func checkShownTurns(d *Disclosure) []Check {
	turns := shownTurns(d)
	admissions := Skipped(CheckAdmissions, "a disclosure does not show the reasons")
	if d.Anchor != d.Provenance.Anchor {
		admissions = otherAnchor(d.Anchor, d.Provenance.Anchor)
	}
	return []Check{
		checkBodies(len(turns), func(i int) (*dag.Turn, *dag.Body) { return &turns[i].Turn, turns[i].Body }),
		d.CheckOrder(),
		Skipped(CheckEdges, "a disclosure does not show the edges"),
		admissions,
		Skipped(CheckOrder, "the reading order follows from the edges and all turns, and a disclosure does not show them"),
		d.CheckPolicy(),
		d.CheckPaths(),
		Skipped(CheckSliceID, "slice_id is computed from all turns and edges, and a disclosure does not show them"),
	}
}
