package slice

import (
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// DisclosureVersion is the version of disclosures that this package implements.
const DisclosureVersion = "gkd/1"

// disclosureType tells a disclosure from the other documents that have a version.
const disclosureType = "disclosure"

// Bounds of a disclosure's form. A tree of maxEdges edges is 27 levels high.
const (
	maxTurns = policy.LimitNodes
	maxPath  = 63 // as in a C2SP tlog-proof
)

// maxEdges bounds the edges among some turns, roughly. It is below 2^31.
func maxEdges(turns int) int { return turns * turns }

// A Disclosure is a part of a bundle that still leads to the bundle's
// graph_snapshot_hash: some of its turns, and of the other leaves nothing but hashes
// on the way to the root.
//
// The paths bind the turns, and their text by body_digest. They do not bind how many
// leaves there are: where a path would be the same in a tree of another size, or with
// one turn more and one edge less, Check cannot tell TurnCount, EdgeCount and Index from
// others. AsOf, Bundle, the seal, and slice_id and policy_id of the provenance are claims
// to it as well. The token binds the seal and the provenance; an attestation binds all of
// these but the token, and with the two counts every index.
type Disclosure struct {
	Anchor     dag.TurnID
	AsOf       dag.Seq
	Bundle     dag.Digest // SHA-256 of the bundle's bytes as it was issued
	Provenance Provenance
	Seal       Seal
	Policy     policy.SlicePolicyV1
	TurnCount  int // of the bundle
	EdgeCount  int
	Turns      []DisclosedTurn // by ascending index, which is by ascending id too
}

// A DisclosedTurn is one turn of a disclosure. The reason why it was let in is not
// shown: that of all turns is a single leaf.
type DisclosedTurn struct {
	dag.Turn
	Body  *dag.Body    // nil: redacted
	Index int          // its place among the bundle's turns
	Path  []dag.Digest // from its leaf's sibling to the root's child
}

// Withhold returns the bundle without the text of all turns but some. It is a bundle like
// any other: its header, its token and every check hold as before, and Redacted lists the
// turns whose text is gone. A turn to be shown whose text was missing before still has
// none. Showing all turns gives the same bytes, showing none is allowed. It is an error
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

// places returns the indexes of some turns, ascending, each once.
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

// Disclose returns some turns of the bundle and drops the others. A turn is shown as it
// is in the bundle: with its text, or redacted. To show a turn without its text,
// Withhold that first:
//
//	part, err := whole.Withhold(spoken)
//	d, err := part.Disclose(sha256.Sum256(bytes), shown) // spoken, and more
//
// issued is the SHA-256 of the bundle's bytes as the kernel issued it, which an attestation
// and the ledger name. Where texts have been withheld since, it is not that of b's bytes.
//
// The bundle must have passed its own Check. It is an error to show no turn, or one that
// is not in the bundle, and to take a part of a bundle that does not lead to its own
// graph_snapshot_hash. That costs as much as hashing all turns and edges once, without
// their text. Texts are shared with the bundle, as by Withhold. A disclosure of all turns is
// larger than its bundle, and of a bundle near MaxBundle nobody reads it.
//
// Source: RFC 6962, section 2.1.1; docs/evidence.md, section 7.
func (b *Bundle) Disclose(issued dag.Digest, shown []dag.TurnID) (*Disclosure, error) {
	if len(shown) == 0 {
		return nil, fmt.Errorf("slice: a disclosure shows at least one turn")
	}
	places, err := b.places(shown)
	if err != nil {
		return nil, err
	}
	d := &Disclosure{
		Anchor:     b.Anchor,
		AsOf:       b.AsOf,
		Bundle:     issued,
		Provenance: b.Provenance,
		Seal:       b.Seal,
		Policy:     b.Policy,
		TurnCount:  len(b.Turns),
		EdgeCount:  len(b.Edges),
		Turns:      make([]DisclosedTurn, len(places)),
	}
	if err := checkCounts(d.TurnCount, d.EdgeCount); err != nil {
		return nil, fmt.Errorf("slice: disclosing a part of a bundle: %w", err)
	}
	root, paths := auditPaths(b.leaves(), places)
	if want := b.Provenance.GraphSnapshotHash; dag.Digest(root) != want {
		return nil, fmt.Errorf("slice: disclosing a part of a bundle: its turns, edges and reasons lead to %s, and graph_snapshot_hash is %s", root, want)
	}
	for i, at := range places {
		d.Turns[i] = DisclosedTurn{Turn: b.Turns[at].Turn, Body: b.Turns[at].Body, Index: at, Path: paths[i]}
	}
	return d, nil
}

// leaves returns the hashes of all leaves, in the order of the tree.
func (b *Bundle) leaves() []tlog.Hash {
	leaves := make([]tlog.Hash, 0, len(b.Turns)+len(b.Edges)+1)
	for i := range b.Turns {
		leaves = append(leaves, tlog.Hash(TurnLeaf(&b.Turns[i].Turn)))
	}
	for _, e := range b.Edges {
		leaves = append(leaves, tlog.Hash(EdgeLeaf(e)))
	}
	return append(leaves, tlog.RecordHash(AppendAdmissionsLeaf(nil, b.selected())))
}

// checkCounts bounds the size of the tree, before anything is computed with it.
func checkCounts(turns, edges int) error {
	if turns < 1 || turns > maxTurns {
		return fmt.Errorf("%d turns, want 1 to %d", turns, maxTurns)
	}
	if most := maxEdges(turns); edges < 0 || edges > most {
		return fmt.Errorf("%d edges among %d turns, want 0 to %d", edges, turns, most)
	}
	return nil
}

// Append appends the disclosure's canonical bytes. For one that ParseDisclosure read,
// they are the bytes it was read from.
func (d *Disclosure) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("anchor")
	w.String(d.Anchor.String())
	w.Key("as_of")
	w.Uint(uint64(d.AsOf))
	w.Key("bundle")
	w.Hex(d.Bundle[:])
	w.Key("edges")
	w.Uint(uint64(d.EdgeCount))
	w.Key("key_id")
	w.String(d.Seal.KeyID)
	w.Key("policy")
	d.Policy.AppendWire(w)
	w.Key("provenance")
	d.Provenance.AppendWire(w)
	w.Key("tenant")
	w.String(string(d.Seal.Tenant))
	w.Key("token")
	w.String(d.Seal.Token)
	w.Key("turn_count")
	w.Uint(uint64(d.TurnCount))
	w.Key("turns")
	w.BeginArray()
	for i := range d.Turns {
		d.Turns[i].appendWire(w)
	}
	w.EndArray()
	w.Key("type")
	w.String(disclosureType)
	w.Key("version")
	w.String(DisclosureVersion)
	w.EndObject()
	return w.Bytes
}

func (t *DisclosedTurn) appendWire(w *canon.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Uint(uint64(t.Index))
	w.Key("path")
	w.BeginArray()
	for i := range t.Path {
		w.Hex(t.Path[i][:])
	}
	w.EndArray()
	w.Key("turn")
	w.BeginObject()
	writeTurn(w, &t.Turn, bodyOf(w, t.Body))
	w.EndObject()
	w.EndObject()
}

// ParseDisclosure reads a disclosure's canonical bytes and nothing else, as ParseBundle
// does a bundle's: another spelling is ErrMalformed, another version of it, of its schema
// or of its policy ErrVersion. At most MaxBundle bytes are read. It checks the form of
// every field, and nothing that needs computing; that is Disclosure.Check.
func ParseDisclosure(data []byte) (*Disclosure, error) {
	return parseStrict("disclosure", data, disclosureVersions, readDisclosure, nil)
}

var disclosureVersions = append([]knownVersion{{"", "version", DisclosureVersion}}, bundleVersions...)

func readDisclosure(c *canon.Cursor) *Disclosure {
	if t := c.Field("type"); t.String() != disclosureType {
		t.Failf("%.40q, want %q", t.String(), disclosureType)
	}
	_ = c.Field("version").String() // its value was looked at before
	d := &Disclosure{
		Anchor:     canon.Parsed(c.Field("anchor"), dag.ParseTurnID),
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Bundle:     canon.Parsed(c.Field("bundle"), dag.ParseDigest),
		Provenance: ReadProvenance(c.Field("provenance")),
		Seal:       ReadSeal(c),
		Policy:     policy.ReadWire(c.Field("policy")),
		TurnCount:  int(c.Field("turn_count").Uint(maxTurns)),
		EdgeCount:  int(c.Field("edges").Uint(uint64(maxEdges(maxTurns)))),
	}
	if err := checkCounts(d.TurnCount, d.EdgeCount); err != nil {
		c.Fail(err)
	}
	turns := c.Field("turns")
	for _, t := range turns.Items() {
		d.Turns = append(d.Turns, readDisclosedTurn(t))
	}
	if len(d.Turns) == 0 {
		turns.Failf("want at least one turn")
	}
	c.Close()
	return d
}

func readDisclosedTurn(c *canon.Cursor) DisclosedTurn {
	t := DisclosedTurn{Index: int(c.Field("index").Uint(maxTurns - 1))}
	path := c.Field("path")
	hashes := path.Items()
	if len(hashes) > maxPath {
		path.Failf("%d hashes, at most %d", len(hashes), maxPath)
	}
	for _, h := range hashes {
		t.Path = append(t.Path, canon.Parsed(h, dag.ParseDigest))
	}
	turn := c.Field("turn")
	t.Turn, t.Body = readTurn(turn)
	turn.Close()
	c.Close()
	return t
}

// Redacted lists the turns that are shown without their text, by ascending id. Of those
// that are not shown nothing is known, this neither.
func (d *Disclosure) Redacted() []dag.TurnID {
	var ids []dag.TurnID
	for i := range d.Turns {
		if d.Turns[i].Body == nil {
			ids = append(ids, d.Turns[i].ID)
		}
	}
	return ids
}

// Check makes the checks that a part allows and returns one verdict for each, in the order
// in which Bundle.Check has them, with CheckInclusion in the place of CheckSnapshot. Those
// that need the whole are skipped, with the reason; of CheckAdmissions it remains that the
// anchor is the header's. Neither the token nor Bundle is looked at. It costs one hash for
// each hash of a path, and hashing the texts that are shown.
func (d *Disclosure) Check() []Check {
	return []Check{
		checkBodies(len(d.Turns), func(i int) (*dag.Turn, *dag.Body) { return &d.Turns[i].Turn, d.Turns[i].Body }),
		d.checkCanonicalOrder(),
		skipped(CheckEdges, "a disclosure does not show the edges"),
		d.checkAdmissions(),
		skipped(CheckOrder, "a disclosure shows neither the edges nor all turns, which the reading order follows from"),
		checkPolicyHash(&d.Policy, &d.Provenance),
		d.checkInclusion(),
		skipped(CheckSliceID, "a disclosure does not show all turns and edges, which slice_id is computed of"),
	}
}

func (d *Disclosure) checkCanonicalOrder() Check {
	for i := range d.Turns {
		t := &d.Turns[i]
		if t.Index < 0 || t.Index >= d.TurnCount {
			return Failed(CheckCanonicalOrder, "", fmt.Sprint(t.Index), "turns[%d]: turn %s has index %d among %d turns", i, t.ID, t.Index, d.TurnCount)
		}
		if i == 0 {
			continue
		}
		before := &d.Turns[i-1]
		if before.Index >= t.Index {
			return Failed(CheckCanonicalOrder, "", fmt.Sprint(t.Index), "turns[%d]: index %d does not come after %d", i, t.Index, before.Index)
		}
		if before.ID.Compare(t.ID) >= 0 {
			return Failed(CheckCanonicalOrder, "", t.ID.String(), "turns[%d]: %s does not come after %s", i, t.ID, before.ID)
		}
	}
	return Passed(CheckCanonicalOrder, "%d of %d turns", len(d.Turns), d.TurnCount)
}

func (d *Disclosure) checkAdmissions() Check {
	if d.Anchor != d.Provenance.Anchor {
		return otherAnchor(d.Anchor, d.Provenance.Anchor)
	}
	return skipped(CheckAdmissions, "a disclosure does not show the reasons")
}

func (d *Disclosure) checkInclusion() Check {
	if err := checkCounts(d.TurnCount, d.EdgeCount); err != nil {
		return Failed(CheckInclusion, "", "", "%v", err)
	}
	if len(d.Turns) == 0 {
		return Failed(CheckInclusion, "", "", "no turn is shown, so nothing leads to graph_snapshot_hash")
	}
	size, root := d.TurnCount+d.EdgeCount+1, d.Provenance.GraphSnapshotHash
	for i := range d.Turns {
		t := &d.Turns[i]
		if !leads(t.Path, size, t.Index, TurnLeaf(&t.Turn), root) {
			return Failed(CheckInclusion, root.String(), "", "turns[%d]: the path of %d hashes does not lead from turn %s at index %d to the root of %d leaves", i, len(t.Path), t.ID, t.Index, size)
		}
	}
	return Passed(CheckInclusion, "%d of %d leaves", len(d.Turns), size)
}
