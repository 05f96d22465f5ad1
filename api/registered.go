package api

import (
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// AdmissionOf returns the API form of the reason for a turn's admission to a slice.
func AdmissionOf(a *slice.Admission) Admission {
	w := Admission{ScoreNano: uint64(a.Score), Distance: a.Distance, Via: a.Via.String(), Number: uint64(a.Number), Voice: a.Voice.String(), Cost: a.Cost}
	if a.Via != slice.ViaAnchor {
		w.From = a.From
	}
	return w
}

// PolicyOf returns the API form of a policy.
func PolicyOf(p policy.Registered) RegisteredPolicy {
	params := p.Params()
	w := canon.NewWriter(nil)
	params.AppendWire(w)
	return RegisteredPolicy{PolicyID: p.ID(), PolicyParamsHash: p.Hash().String(), Policy: w.Bytes}
}

// PoliciesOf returns the API form of a registry.
func PoliciesOf(r policy.Registry) Policies {
	all := r.All()
	w := Policies{Policies: make([]RegisteredPolicy, len(all)), RegistryFingerprint: r.Fingerprint()}
	for i, p := range all {
		w.Policies[i] = PolicyOf(p)
	}
	return w
}
