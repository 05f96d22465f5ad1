// Package view turns what the kernel gives into the structs of package api. It is
// shared by the HTTP and the MCP side of the server, so that both say the same.
package view

import (
	"cmp"
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/render"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// Turn shows a record.
func Turn(r *store.Record) (api.StoredTurn, error) {
	line, err := kernel.AppendRecord(nil, r)
	if err != nil {
		return api.StoredTurn{}, err
	}
	return api.StoredTurn{
		Seq: r.Seq, BodyDigest: r.Turn.BodyDigest, Leaf: r.Leaf, Redacted: r.Body == nil, Key: r.Key, Turn: line,
	}, nil
}

// conversation shows a line of a listing.
func conversation(c *store.Conversation, title string) api.Conversation {
	return api.Conversation{
		ID: c.ID, Turns: c.Turns, First: c.First, Last: c.Last, FirstAt: c.FirstAt, LastAt: c.LastAt, Title: title,
	}
}

// TokenVerdict shows the judgement of a token.
func TokenVerdict(v token.TokenVerdict) api.TokenVerdict {
	return api.TokenVerdict{Admissible: v.Outcome == token.Verified, Outcome: string(v.Outcome), KeyID: string(v.KeyID), Reason: v.Reason}
}

// Judge has the bytes of a bundle of any kind judged for a tenant, and shows the verdict.
func Judge(k *kernel.Kernel, tenant dag.Tenant, bundle []byte) api.BundleVerdict {
	v := k.Slices().JudgeFor(tenant, bundle)
	return api.BundleVerdict{
		Admissible: v.Outcome == token.Verified, Outcome: string(v.Outcome), KeyID: v.Claim.Seal.KeyID, Reason: v.Reason,
		SliceID: string(v.Claim.Provenance.SliceID), BundleSHA256: dag.Digest(sha256.Sum256(bundle)),
		Redacted: listed(v.Redacted), Checks: listed(v.Checks),
	}
}

// Evidence shows what was signed for third parties.
func Evidence(e *kernel.Evidence) api.Evidence {
	s := e.Statement
	return api.Evidence{
		Attestation: e.Envelope, Proof: string(e.Proof), Index: s.Index, Origin: s.Origin, BundleSHA256: s.Subject,
		SliceID: s.Provenance.SliceID, KeyID: e.KeyID, IssuedAt: s.IssuedAt,
	}
}

// Replay shows what came of cutting a slice again.
func Replay(r *kernel.Replay) api.Replay {
	w := api.Replay{
		Outcome: string(r.Outcome), Reason: r.Reason, SliceID: r.Provenance.SliceID, AsOf: r.AsOf,
		Erased: listed(r.Erased), Lost: listed(r.Lost), Redacted: listed(r.Redacted), Checks: listed(r.Checks),
	}
	p := &r.Provenance
	w.Provenance = api.Provenance{
		SliceID: p.SliceID, AnchorTurnID: p.Anchor.String(), PolicyID: p.PolicyID, PolicyParamsHash: p.PolicyParamsHash.String(),
		GraphSnapshotHash: p.GraphSnapshotHash.String(), SchemaVersion: p.SchemaVersion,
	}
	if d := r.Difference; d != nil {
		w.Difference = &api.Difference{Offset: d.Offset, Path: d.Path, Expected: d.Expected, Found: d.Found}
	}
	return w
}

// Admission shows why a turn was let in.
func Admission(a *slice.Admission) api.Admission {
	w := api.Admission{ScoreNano: uint64(a.Score), Distance: a.Distance, Via: a.Via.String(), Number: uint64(a.Number), Voice: a.Voice.String(), Cost: a.Cost}
	if a.Via != slice.ViaAnchor {
		w.From = a.From
	}
	return w
}

// Policy shows a policy.
func Policy(p policy.Registered) api.RegisteredPolicy {
	params := p.Params()
	w := canon.NewWriter(nil)
	params.AppendWire(w)
	return api.RegisteredPolicy{PolicyID: p.ID(), PolicyParamsHash: p.Hash().String(), Policy: w.Bytes}
}

// Policies shows a registry.
func Policies(r policy.Registry) api.Policies {
	all := r.All()
	w := api.Policies{Policies: make([]api.RegisteredPolicy, len(all)), RegistryFingerprint: r.Fingerprint()}
	for i, p := range all {
		w.Policies[i] = Policy(p)
	}
	return w
}

// Event shows an erasure.
func Event(e *erasures.Erasure) api.Event {
	return api.Event{Seq: e.Seq, Kind: api.EventErasure, Turn: e.Turn, Reason: e.Reason, At: e.At, By: e.By}
}

// TaskErased shows an erasure of a task.
func TaskErased(e *issued.TaskErasure) api.TaskErased {
	return api.TaskErased{Seq: e.Seq, Context: e.Context, Reason: e.Reason, At: e.At, By: e.By}
}

// TurnEvent shows an admission.
func TurnEvent(r *store.Record) api.TurnEvent {
	return api.TurnEvent{
		Seq: uint64(r.Seq), AsOf: r.Seq, ID: r.Turn.ID.String(), Conversation: r.Turn.Conversation.String(), Role: r.Turn.Role.String(), CreatedAt: r.Turn.CreatedAt.String(),
	}
}

func listed[T any](list []T) []T { return append([]T{}, list...) }

// Explanation shows why a turn is in the slice of a request, or is not.
func Explanation(turn dag.TurnID, r *kernel.Request, e *slice.Explanation) api.Explanation {
	id := cmp.Or(r.Policy, policy.DefaultID)
	w := api.Explanation{
		Turn: turn, Anchor: r.Anchor, PolicyID: id, AsOf: r.AsOf,
		Selected: e.Standing == slice.Chosen, Standing: string(e.Standing), Rank: e.Rank, TurnsInSlice: e.Selected, EdgesAway: e.Edges,
		Explanation: render.Explanation(e, id, r.AsOf),
	}
	if e.Admission.Via != 0 {
		a := Admission(&e.Admission)
		w.Admission = &a
	}
	if e.BeatenBy != nil {
		w.BeatenBy = &api.Rival{ID: e.BeatenBy.ID, Admission: Admission(&e.BeatenBy.Admission)}
	}
	return w
}
