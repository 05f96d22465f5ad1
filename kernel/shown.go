package kernel

import (
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/history/erasures"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/store"
)

// Stored returns the record of a turn in the form of the service's answers.
func Stored(r *store.Record) (api.StoredTurn, error) {
	line, err := AppendRecord(nil, r)
	if err != nil {
		return api.StoredTurn{}, err
	}
	return api.StoredTurn{
		Seq: r.Seq, BodyDigest: r.Turn.BodyDigest, Leaf: r.Leaf, Redacted: r.Body == nil, Key: r.Key, Turn: line,
	}, nil
}

// conversation returns one line of a list of conversations.
func conversation(c *store.Conversation, title string) api.Conversation {
	return api.Conversation{
		ID: c.ID, Turns: c.Turns, First: c.First, Last: c.Last, FirstAt: c.FirstAt, LastAt: c.LastAt, Title: title,
	}
}

// Answer returns the evidence in the form of the service's answers.
func (e *Evidence) Answer() api.Evidence {
	s := e.Statement
	return api.Evidence{
		Attestation: e.Envelope, Proof: string(e.Proof), Index: s.Index, Origin: s.Origin, BundleSHA256: s.Subject,
		SliceID: s.Provenance.SliceID, KeyID: e.KeyID, IssuedAt: s.IssuedAt,
	}
}

// Answer returns the replay in the form of the service's answers.
func (r *Replay) Answer() api.Replay {
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

// ErasureEvent returns the event of an erasure.
func ErasureEvent(e *erasures.Erasure) api.Event {
	return api.Event{Seq: e.Seq, Kind: api.EventErasure, Turn: e.Turn, Reason: e.Reason, At: e.At, By: e.By}
}

// TaskErased returns the service's answer for an erased task.
func TaskErased(e *issued.TaskErasure) api.TaskErased {
	return api.TaskErased{Seq: e.Seq, Context: e.Context, Reason: e.Reason, At: e.At, By: e.By}
}

// TurnEvent returns the event of an admitted turn.
func TurnEvent(r *store.Record) api.TurnEvent {
	return api.TurnEvent{
		Seq: uint64(r.Seq), AsOf: r.Seq, ID: r.Turn.ID.String(), Conversation: r.Turn.Conversation.String(), Role: r.Turn.Role.String(), CreatedAt: r.Turn.CreatedAt.String(),
	}
}

func listed[T any](list []T) []T { return append([]T{}, list...) }
