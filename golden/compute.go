package golden

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// smallCase is the number of selected turns up to which a vector holds the
// bundle and the leaves in full.
const smallCase = 8

// Compute returns this kernel's answer to a case.
func Compute(c *Case) (Expect, error) {
	g, err := c.Load()
	if err != nil {
		return Expect{}, err
	}
	s, bundle, err := c.bundle(g)
	if err != nil {
		return Expect{}, err
	}
	parsed, err := slice.ParseBundle(bundle)
	if err != nil {
		return Expect{}, err
	}
	canonical, err := s.Provenance.Canonical()
	if err != nil {
		return Expect{}, err
	}
	registry, err := policy.Registry{}.With(s.Policy)
	if err != nil {
		return Expect{}, err
	}
	params, err := s.Policy.Slice()
	if err != nil {
		return Expect{}, err
	}
	sum := sha256.Sum256(bundle)
	e := Expect{
		Selected: make([]Selected, 0, len(s.Turns)),
		Order:    make([]string, 0, len(s.Turns)),
		Edges:    make([][3]string, 0, len(s.Edges)),
		Provenance: map[string]string{
			"slice_id": string(s.Provenance.SliceID), "anchor_turn_id": s.Provenance.Anchor.String(),
			"policy_id": string(s.Provenance.PolicyID), "policy_params_hash": s.Provenance.PolicyParamsHash.String(),
			"graph_snapshot_hash": s.Provenance.GraphSnapshotHash.String(), "schema_version": s.Provenance.SchemaVersion,
		},
		Token:               parsed.Seal.Token,
		PolicyCanonical:     string(params.Canonical()),
		RegistryFingerprint: registry.Fingerprint(),
		TokenCanonical:      canonical,
		BundleSHA256:        hex.EncodeToString(sum[:]),
	}
	for _, at := range s.Picked {
		t := &s.Turns[at]
		from := ""
		if t.Admission.Via != slice.ViaAnchor {
			from = t.Admission.From.String()
		}
		e.Selected = append(e.Selected, Selected{t.ID.String(), uint64(t.Admission.Score), t.Admission.Distance, t.Admission.Via.String(), from})
	}
	for _, id := range parsed.Order {
		e.Order = append(e.Order, id.String())
	}
	for _, d := range s.Edges {
		e.Edges = append(e.Edges, [3]string{d.Parent.String(), d.Child.String(), d.Kind.String()})
	}
	if len(s.Turns) <= smallCase {
		e.fillSmall(g, s, bundle)
	}
	return e, nil
}

func (e *Expect) fillSmall(g *Graph, s *slice.Slice, bundle []byte) {
	e.Bundle = string(bundle)
	e.AdmissionsLeaf = string(slice.AppendAdmissionsLeaf(nil, s.Provenance.SchemaVersion, s.AsOf, s.Settings, s.Turns))
	for i := range s.Turns {
		t := g.Turns[s.Turns[i].ID]
		if i == 0 {
			e.LeafExample = string(slice.AppendTurnLeaf(nil, t))
		}
		leaf := slice.TurnLeaf(t)
		e.LeafHashes = append(e.LeafHashes, dag.Digest(leaf).String())
	}
}
