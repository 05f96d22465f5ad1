package api

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// AdmissionOf returns the API form of the reason for a turn's admission to a slice.
func AdmissionOf(a *slice.Admission) Admission {
	w := Admission{ScoreNano: uint64(a.Score), Distance: a.Distance, Via: a.Via.String(), Number: uint64(a.Number), Voice: a.Voice.String(), Cost: a.Cost, Standing: a.Standing.String(), Rule: int(a.Rule)}
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

// StepOf returns an edge as a step: with its canonical names, and the names that were asserted and written.
func StepOf(e *knowledge.Edge, aliases *normalize.Table) Step {
	subject, object := aliases.Resolve(e.Subject), aliases.Resolve(e.Object)
	return Step{
		Statement: e.ID, Subject: subject, Predicate: e.Predicate, Object: object, Asserted: AssertedOf(&e.Statement, subject, object),
		Written: e.Written, Direction: string(e.Direction()), Confidence: e.Confidence, Source: e.Source, Turn: e.Turn, Since: e.Since,
		ValidFrom: e.From, ValidUntil: EndOf(&e.Statement),
	}
}

// EndOf is when a statement ends; 0: it does not.
func EndOf(s *knowledge.Statement) dag.Time {
	if s.Until == knowledge.Forever {
		return 0
	}
	return s.Until
}

// AssertedOf returns the names that a statement has itself, where aliases give others.
func AssertedOf(s *knowledge.Statement, subject, object string) (w Written) {
	if s.Subject != subject {
		w.Subject = s.Subject
	}
	if s.Object != object {
		w.Object = s.Object
	}
	return w
}
