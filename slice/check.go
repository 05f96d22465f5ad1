package slice

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// A CheckID names one check of a verification. The names are stable.
type CheckID string

// The checks, in the order in which they are made. Package token makes CheckToken; the others need only the bundle.
const (
	CheckForm           CheckID = "form"            // the bytes are canonical and every field has its form
	CheckVersion        CheckID = "version"         // this program knows the schema
	CheckBodies         CheckID = "bodies"          // every body shown matches its digest
	CheckCanonicalOrder CheckID = "canonical_order" // turns and edges ascend, without repetitions
	CheckEdges          CheckID = "edges"           // both ends of every edge are among the turns
	CheckAdmissions     CheckID = "admissions"      // every score follows from the policy, every reason from the edges
	CheckOrder          CheckID = "order"           // the reading order follows from turns and edges
	CheckPolicyHash     CheckID = "policy_hash"     // policy_params_hash is the hash of the policy in the bundle
	CheckSnapshot       CheckID = "snapshot"        // graph_snapshot_hash is the hash of the turns, edges and reasons in the bundle
	CheckInclusion      CheckID = "inclusion"       // of a disclosure, in place of snapshot: every path leads to graph_snapshot_hash
	CheckSliceID        CheckID = "slice_id"        // slice_id is the id of the turns, edges and policy in the bundle
	CheckToken          CheckID = "token"           // a live key signed the six provenance fields
)

// A Status is the outcome of one check.
type Status string

// The outcomes. A check that was not made is reported as skipped.
const (
	StatusOK      Status = "ok"
	StatusFail    Status = "fail"
	StatusSkipped Status = "skipped"
)

// A Check is the result of one check.
type Check struct {
	ID       CheckID `json:"id"`
	Status   Status  `json:"status" is:"ok|fail|skipped"`
	Detail   string  `json:"detail"`             // what was checked, or what is wrong and where
	Expected string  `json:"expected,omitempty"` // with StatusFail, if two values were compared
	Found    string  `json:"found,omitempty"`
}

// Check recomputes from the bundle's body everything that its header claims, and returns one result per check, from
// CheckBodies to CheckSliceID, even if some fail. It does not check the token. It costs about as much as hashing the
// bundle's bytes three times, on two processors if they are free.
func (b *Bundle) Check() []Check {
	var beside sync.WaitGroup
	var bodies Check
	beside.Go(func() { bodies = b.checkBodies() })
	turns := b.selected()
	want := b.fingerprint(turns)
	checks := []Check{
		{}, // the check of bodies, set below
		b.checkCanonicalOrder(),
		b.checkEdges(),
		b.checkAdmissions(),
		b.checkOrder(turns),
		checkPolicyHash(b.Policy, &b.Provenance),
		b.checkSnapshot(want),
		b.checkSliceID(want),
	}
	beside.Wait()
	checks[0] = bodies
	return checks
}

// Redacted returns the turns whose body is withheld or erased, by ascending id.
func (b *Bundle) Redacted() []dag.TurnID {
	var ids []dag.TurnID
	for i := range b.Turns {
		if b.Turns[i].Body == nil {
			ids = append(ids, b.Turns[i].ID)
		}
	}
	return ids
}

// Passed returns the result of a check that found nothing wrong.
func Passed(id CheckID, format string, args ...any) Check {
	return Check{ID: id, Status: StatusOK, Detail: fmt.Sprintf(format, args...)}
}

// Skipped returns the result of a check that was not made.
func Skipped(id CheckID, reason string) Check {
	return Check{ID: id, Status: StatusSkipped, Detail: reason}
}

// Failed returns the result of a check that found something wrong; expected and found may be "".
func Failed(id CheckID, expected, found, format string, args ...any) Check {
	return Check{ID: id, Status: StatusFail, Detail: fmt.Sprintf(format, args...), Expected: expected, Found: found}
}

func (b *Bundle) checkBodies() Check {
	return checkBodies(len(b.Turns), func(i int) (*dag.Turn, *dag.Body) { return &b.Turns[i].Turn, b.Turns[i].Body })
}

func checkBodies(turns int, turn func(i int) (*dag.Turn, *dag.Body)) Check {
	shown := 0
	var buf []byte
	for i := range turns {
		t, body := turn(i)
		if body == nil {
			continue
		}
		shown++
		buf = AppendBody(buf[:0], body)
		if got := DigestBody(buf, body.Salt); got != t.BodyDigest {
			return Failed(CheckBodies, t.BodyDigest.String(), got.String(), "the body of turn %s does not match its body_digest", t.ID)
		}
	}
	if shown < turns {
		return Passed(CheckBodies, "%d shown, %d redacted", shown, turns-shown)
	}
	return Passed(CheckBodies, "%d", shown)
}

func (b *Bundle) checkCanonicalOrder() Check {
	for i := 1; i < len(b.Turns); i++ {
		if b.Turns[i-1].ID.Compare(b.Turns[i].ID) >= 0 {
			return Failed(CheckCanonicalOrder, "", "", "turns[%d]: %s does not come after %s", i, b.Turns[i].ID, b.Turns[i-1].ID)
		}
	}
	for i := 1; i < len(b.Edges); i++ {
		p, q := b.Edges[i-1], b.Edges[i]
		if d := p.Parent.Compare(q.Parent); d > 0 || d == 0 && p.Child.Compare(q.Child) >= 0 {
			return Failed(CheckCanonicalOrder, "", "", "edges[%d]: %s to %s does not come after %s to %s", i, q.Parent, q.Child, p.Parent, p.Child)
		}
	}
	return Passed(CheckCanonicalOrder, "%d turns, %d edges", len(b.Turns), len(b.Edges))
}

// index returns the index of every turn.
func (b *Bundle) index() map[dag.TurnID]int {
	index := make(map[dag.TurnID]int, len(b.Turns))
	for i := range b.Turns {
		index[b.Turns[i].ID] = i
	}
	return index
}

func (b *Bundle) checkEdges() Check {
	index := b.index()
	for i, e := range b.Edges {
		for _, end := range [...]dag.TurnID{e.Parent, e.Child} {
			if _, ok := index[end]; !ok {
				return Failed(CheckEdges, "", end.String(), "edges[%d] ends at turn %s, which is not among the turns", i, end)
			}
		}
	}
	return Passed(CheckEdges, "%d", len(b.Edges))
}

// selected returns the turns in the form that a cut uses.
func (b *Bundle) selected() []Selected {
	turns := make([]Selected, len(b.Turns))
	for i := range b.Turns {
		turns[i] = Selected{ID: b.Turns[i].ID, CreatedAt: b.Turns[i].CreatedAt, Admission: b.Turns[i].Admission}
	}
	return turns
}

func (b *Bundle) checkOrder(turns []Selected) Check {
	order := Order(turns, b.Edges)
	if len(order) != len(b.Turns) {
		return Failed(CheckOrder, "", "", "the edges hold a cycle")
	}
	if len(order) != len(b.Order) {
		return Failed(CheckOrder, fmt.Sprint(len(order)), fmt.Sprint(len(b.Order)), "order lists a different number of turns than the bundle")
	}
	for i, at := range order {
		if want := b.Turns[at].ID; b.Order[i] != want {
			return Failed(CheckOrder, want.String(), b.Order[i].String(), "order[%d]", i)
		}
	}
	return Passed(CheckOrder, "%d", len(order))
}

// Compared returns the result of a check that recomputes a field of the header.
func Compared[T interface {
	comparable
	fmt.Stringer
}](id CheckID, want, got T) Check {
	if want != got {
		return Failed(id, want.String(), got.String(), "the header does not match the body")
	}
	return Passed(id, "%s", want)
}

func checkPolicyHash(p policy.SlicePolicy, header *Provenance) Check {
	want := p.Hash()
	return Compared(CheckPolicyHash, want, header.PolicyParamsHash)
}

func (b *Bundle) checkSnapshot(want *Provenance) Check {
	got := b.Provenance.GraphSnapshotHash
	return Compared(CheckSnapshot, want.GraphSnapshotHash, got)
}

func (b *Bundle) checkSliceID(want *Provenance) Check {
	got := b.Provenance.SliceID
	return Compared(CheckSliceID, want.SliceID, got)
}

// fingerprint recomputes the snapshot hash and the slice id from the body.
func (b *Bundle) fingerprint(turns []Selected) *Provenance {
	c := cuts.Get().(*cut)
	defer cuts.Put(c)
	defer c.reset()
	c.sorted = c.sorted[:0]
	c.read(turns, b.Edges)
	var buf []byte
	for i := range b.Turns {
		buf = AppendTurnLeaf(append(buf[:0], 0), &b.Turns[i].Turn)
		leaf := sha256.Sum256(buf)
		c.tree.add(&leaf)
	}
	for _, e := range b.Edges {
		buf = AppendEdgeLeaf(append(buf[:0], 0), e)
		leaf := sha256.Sum256(buf)
		c.tree.add(&leaf)
	}
	p := b.Provenance
	p.Anchor = b.Anchor
	c.fingerprint(&p, b.AsOf, b.Settings, turns, b.Edges)
	return &p
}
