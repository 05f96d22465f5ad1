package evidence

import (
	"errors"
	"fmt"
	"sync"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/beliefs"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/facts"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// A subject is what the evidence is about: a bundle, whole or with texts withheld, or a
// disclosure of one.
type subject struct {
	provenance slice.Provenance
	seal       slice.Seal
	asOf       dag.Seq
	turns      int // of the slice
	facts      int // of a slice of facts, which has no turns
	counts     []slice.Count
	all        int    // turns of the slice, or leaves of a part of one of facts
	dropped    int    // what of the slice is not shown at all: turns, or leaves of facts
	lacks      string // what somebody asks for in vain who wants the whole, as in 3 of 8 turns have no text
	redacted   []dag.TurnID
	checks     []slice.Check
	digest     dag.Digest // of the whole bundle, as far as is known: see match
	match      func(*attest.Statement) (string, error)
}

func (s *subject) claim() Claim {
	return Claim{Provenance: s.provenance, Tenant: s.seal.Tenant, KeyID: s.seal.KeyID, AsOf: s.asOf, Turns: s.turns, Facts: s.facts}
}

func readBundle(data []byte) (*subject, error) {
	s := &subject{}
	var beside sync.WaitGroup
	beside.Go(func() { s.digest = digestOf(data) })
	b, checks, err := slice.OpenBundle(data)
	beside.Wait()
	if err != nil {
		return nil, err
	}
	s.whole(b, checks)
	s.turns, s.all, s.lacks = len(b.Turns), len(b.Turns), "turns have no text"
	return s, nil
}

// whole fills in what bundles of all kinds have. The digest is known already.
func (s *subject) whole(b slice.Body, checks []slice.Check) {
	h := b.Head()
	s.provenance, s.seal, s.asOf, s.redacted, s.checks = h.Provenance, h.Seal, h.AsOf, b.Redacted(), checks
	s.match = func(st *attest.Statement) (string, error) {
		withheld, err := st.Match(b, s.digest)
		if err != nil || len(withheld) == 0 {
			return "the whole bundle, sha256:" + s.digest.String(), err
		}
		s.digest = st.Subject // what is shown is a part of that one
		return fmt.Sprintf("a disclosure of sha256:%s without the text of %d turns", st.Subject, len(withheld)), nil
	}
}

// matchLeaf compares a leaf with what it should be the leaf of, and returns when that was issued.
func (s *subject) matchLeaf(leaf ledger.Leaf) (dag.Time, error) {
	p := &s.provenance
	asked := func(l *issued.FactsLeaf) (dag.Time, error) {
		return l.At, s.same([]compared{
			{"tenant", string(l.Tenant), string(s.seal.Tenant)}, {"key_id", l.KeyID, s.seal.KeyID}, {"as_of", fmt.Sprint(l.AsOf), fmt.Sprint(s.asOf)},
			{"policy_id", string(l.PolicyID), string(p.PolicyID)}, {"policy_params_hash", l.PolicyParamsHash.String(), p.PolicyParamsHash.String()},
			{"bundle", l.Bundle.String(), s.digest.String()},
		})
	}
	switch l := leaf.(type) {
	case *issued.SliceLeaf:
		if !slice.IsSchema(p.SchemaVersion) {
			break
		}
		return l.At, s.same([]compared{
			{"tenant", string(l.Tenant), string(s.seal.Tenant)}, {"key_id", l.KeyID, s.seal.KeyID}, {"as_of", fmt.Sprint(l.AsOf), fmt.Sprint(s.asOf)},
			{"provenance", fmt.Sprint(l.Provenance), fmt.Sprint(*p)}, {"bundle", l.Bundle.String(), s.digest.String()},
		})
	case *issued.FactsLeaf:
		if p.SchemaVersion == slice.FactsVersion {
			return asked(l)
		}
	case *issued.ContextLeaf:
		if p.SchemaVersion == slice.ContextVersion {
			return asked(&l.FactsLeaf)
		}
	case *issued.BeliefLeaf:
		if p.SchemaVersion == slice.BeliefVersion {
			return asked(&l.FactsLeaf)
		}
	}
	switch p.SchemaVersion {
	case slice.FactsVersion:
		return 0, errors.New("the proof is not of an issued slice of facts")
	case slice.ContextVersion:
		return 0, errors.New("the proof is not of an issued context")
	case slice.BeliefVersion:
		return 0, errors.New("the proof is not of evidence of a belief that was issued")
	}
	return 0, errors.New("the proof is not of an issued slice")
}

// compared is a member of a leaf, and what it should be.
type compared struct{ member, leaf, here string }

func (s *subject) same(members []compared) error {
	for _, m := range members {
		if m.leaf != m.here {
			return fmt.Errorf("the proof is of another slice: its %s is %s, not %s", m.member, m.leaf, m.here)
		}
	}
	return nil
}

// readFacts reads a bundle of facts.
func readFacts(data []byte) (*subject, error) {
	b, err := facts.Parse(data)
	if err != nil {
		return nil, err
	}
	s := &subject{facts: len(b.Facts), digest: digestOf(data)}
	s.whole(b, b.Check())
	return s, nil
}

// readContext reads a context.
func readContext(data []byte) (*subject, error) {
	b, err := contexts.Parse(data)
	if err != nil {
		return nil, err
	}
	s := &subject{turns: len(b.Turns), facts: len(b.Facts), all: len(b.Turns), digest: digestOf(data)}
	s.whole(b, b.Check())
	return s, nil
}

// readBelief reads evidence of a belief.
func readBelief(data []byte) (*subject, error) {
	b, err := beliefs.Parse(data)
	if err != nil {
		return nil, err
	}
	s := &subject{digest: digestOf(data)}
	s.whole(b, b.Check())
	return s, nil
}

func readDisclosure(data []byte) (*subject, error) {
	d, err := slice.ParseDisclosure(data, slice.TurnDisclosures, slice.TurnDisclosuresV2, facts.Disclosures, contexts.Disclosures)
	if err != nil {
		return nil, err
	}
	h := d.Head()
	s := &subject{
		provenance: h.Provenance, seal: h.Seal, asOf: h.AsOf, redacted: d.Redacted(), checks: d.Check(), digest: d.Bundle, counts: h.Counts,
		turns: int(h.Count("turns")), facts: int(h.Count("facts")),
	}
	all, of := s.turns, "turns"
	s.lacks = "turns have no text"
	if !slice.IsSchema(h.Provenance.SchemaVersion) {
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
