package evidence

import (
	"fmt"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/slice/kinds"
)

// A subject is the slice that the evidence is about: a bundle, with all its texts or some withheld, or a disclosure of
// one.
type subject struct {
	kind       *slice.Kind
	provenance slice.Provenance
	seal       slice.Seal
	asOf       dag.Seq
	turns      int // the number of turns, if bundles of this kind count them
	facts      int // the number of facts, if bundles of this kind count them
	counts     []slice.Count
	all        int    // turns in the slice, or leaves of a disclosed slice of another kind
	dropped    int    // turns or leaves of the slice that are not shown at all
	lacks      string // the complaint if the whole was asked for, as in "3 of 8 turns have no text"
	redacted   []dag.TurnID
	checks     []slice.Check
	digest     dag.Digest // of the whole bundle, as far as it is known: see match
	match      func(*attest.Statement) (string, error)
}

func (s *subject) claim() Claim {
	return Claim{Provenance: s.provenance, Tenant: s.seal.Tenant, KeyID: s.seal.KeyID, AsOf: s.asOf, Turns: s.turns, Facts: s.facts}
}

// readBundle reads a bundle of any kind.
func readBundle(data []byte) (*subject, error) {
	s := &subject{kind: kinds.Of(data)}
	var beside sync.WaitGroup
	beside.Go(func() { s.digest = digestOf(data) })
	b, checks, err := s.kind.Open(data)
	beside.Wait()
	if err != nil {
		return nil, err
	}
	s.whole(b, checks)
	return s, nil
}

// whole fills in the fields that bundles of all kinds have. The digest is already set.
func (s *subject) whole(b slice.Body, checks []slice.Check) {
	h := b.Head()
	s.provenance, s.seal, s.asOf, s.redacted, s.checks = h.Provenance, h.Seal, h.AsOf, b.Redacted(), checks
	s.turns, s.facts = int(h.Count("turns")), int(h.Count("facts"))
	s.all, s.lacks = s.turns, "turns have no text"
	s.match = func(st *attest.Statement) (string, error) {
		withheld, err := st.Match(b, s.digest)
		if err != nil || len(withheld) == 0 {
			return "the whole bundle, sha256:" + s.digest.String(), err
		}
		s.digest = st.Subject // the bundle is a disclosure of the attested one
		return fmt.Sprintf("a disclosure of sha256:%s without the text of %d turns", st.Subject, len(withheld)), nil
	}
}

// matchLeaf checks that a leaf is the leaf of the subject, and returns the time of issue in the leaf.
func (s *subject) matchLeaf(leaf ledger.Leaf) (dag.Time, error) {
	p := &s.provenance
	switch l := leaf.(type) {
	case *issued.SliceLeaf:
		if s.kind == slice.Bundles {
			return l.At, s.same([]compared{
				{"tenant", string(l.Tenant), string(s.seal.Tenant)}, {"key_id", l.KeyID, s.seal.KeyID}, {"as_of", fmt.Sprint(l.AsOf), fmt.Sprint(s.asOf)},
				{"provenance", fmt.Sprint(l.Provenance), fmt.Sprint(*p)}, {"bundle", l.Bundle.String(), s.digest.String()},
			})
		}
	case *issued.AskedLeaf:
		if string(l.Kind) == s.kind.Name {
			return l.At, s.same([]compared{
				{"tenant", string(l.Tenant), string(s.seal.Tenant)}, {"key_id", l.KeyID, s.seal.KeyID}, {"as_of", fmt.Sprint(l.AsOf), fmt.Sprint(s.asOf)},
				{"policy_id", string(l.PolicyID), string(p.PolicyID)}, {"policy_params_hash", l.PolicyParamsHash.String(), p.PolicyParamsHash.String()},
				{"bundle", l.Bundle.String(), s.digest.String()},
			})
		}
	}
	return 0, fmt.Errorf("the leaf in the proof is not the leaf of %s", s.kind.Noun)
}

// compared is a member of a leaf, with its value in the leaf and its expected value.
type compared struct{ member, leaf, here string }

func (s *subject) same(members []compared) error {
	for _, m := range members {
		if m.leaf != m.here {
			return fmt.Errorf("the proof is of another slice: its %s is %s, not %s", m.member, m.leaf, m.here)
		}
	}
	return nil
}

func readDisclosure(data []byte) (*subject, error) {
	d, err := kinds.ParseDisclosure(data)
	if err != nil {
		return nil, err
	}
	h := d.Head()
	kind, _ := kinds.OfSchema(h.Provenance.SchemaVersion)
	s := &subject{
		kind: kind, provenance: h.Provenance, seal: h.Seal, asOf: h.AsOf, redacted: d.Redacted(), checks: d.Check(), digest: d.Bundle, counts: h.Counts,
		turns: int(h.Count("turns")), facts: int(h.Count("facts")),
	}
	all, of := s.turns, "turns"
	s.lacks = "turns have no text"
	if kind != slice.Bundles {
		all, of, s.lacks = d.Size(), "leaves", "leaves are not shown"
	}
	s.all, s.dropped = all, all-len(d.Shown)
	s.match = func(st *attest.Statement) (string, error) {
		if err := st.MatchDisclosure(d); err != nil {
			return "", err
		}
		return fmt.Sprintf("%d of %d %s of sha256:%s", len(d.Shown), all, of, d.Bundle), nil
	}
	return s, nil
}
