package mcp

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
)

// shownEvidence is how many assertions of a fact are shown with it at most, the newest ones.
const shownEvidence = 20

// The forms in which facts are shown. Names are canonical; Written is how they were
// spelled, if otherwise.
type (
	// A triple is what every form begins with.
	triple struct {
		Statement  string   `json:"statement"`
		Subject    string   `json:"subject"`
		Predicate  string   `json:"predicate"`
		Object     string   `json:"object"`
		ValidFrom  string   `json:"valid_from,omitempty"`
		ValidUntil string   `json:"valid_until,omitempty"`
		Written    *written `json:"written,omitempty"`
	}

	written struct {
		Subject   string `json:"subject"`
		Predicate string `json:"predicate"`
		Object    string `json:"object"`
	}

	shownFact struct {
		triple
		Confidence    json.Number `json:"confidence"`
		Source        string      `json:"source"`
		Turn          string      `json:"turn,omitempty"`
		Since         uint64      `json:"since"`
		Evidence      []shownAct  `json:"evidence,omitempty"`
		EvidenceTotal int         `json:"evidence_total,omitempty"`
	}

	// A shownAct is one thing that was said of a statement.
	shownAct struct {
		Seq        uint64      `json:"seq"`
		At         string      `json:"at"`
		Kind       string      `json:"kind"`
		Confidence json.Number `json:"confidence,omitempty"`
		Source     string      `json:"source,omitempty"`
		Turn       string      `json:"turn,omitempty"`
		Slice      string      `json:"slice,omitempty"`
		Written    *written    `json:"written,omitempty"`
		Supersedes []string    `json:"supersedes,omitempty"`
		Reason     string      `json:"reason,omitempty"`
		Until      uint64      `json:"until,omitempty"`
	}
)

func ppm(p dag.PPM) json.Number { return json.Number(p.String()) }

// turnText returns a turn's id, or "" if none is named.
func turnText(id dag.TurnID) string {
	if id == (dag.TurnID{}) {
		return ""
	}
	return id.String()
}

// tripleOf shows a statement under names that are resolved.
func tripleOf(s *knowledge.Statement, subject, object string) triple {
	t := triple{Statement: s.ID().String(), Subject: subject, Predicate: s.Predicate, Object: object}
	if s.From != 0 {
		t.ValidFrom = s.From.String()
	}
	if s.Until != knowledge.Forever {
		t.ValidUntil = s.Until.String()
	}
	return t
}

// writtenIn returns how the names of a fact were spelled, or nil if canonically.
func writtenIn(f *knowledge.Fact) *written {
	if f.Written == (knowledge.Written{}) {
		return nil
	}
	subject, predicate, object := f.Spelled()
	return &written{subject, predicate, object}
}

// spelling returns the assertion that gave a fact its confidence, and with it the spelling
// of its names.
func spelling(f *kernel.Fact) *knowledge.Fact {
	for i := range f.Evidence {
		if f.Evidence[i].Seq == f.Version.Since {
			return &f.Evidence[i].Act.Fact
		}
	}
	return &knowledge.Fact{Statement: f.Version.Statement}
}

// showFact shows a fact, with its newest assertions if evidence is wanted.
func showFact(f *kernel.Fact, evidence bool) shownFact {
	v := &f.Version
	w := shownFact{
		triple:     tripleOf(&v.Statement, f.Subject, f.Object),
		Confidence: ppm(v.Confidence), Source: v.Source, Turn: turnText(v.Turn), Since: uint64(v.Since),
		EvidenceTotal: len(f.Evidence),
	}
	w.Written = writtenIn(spelling(f))
	if !evidence {
		return w
	}
	for i := max(0, len(f.Evidence)-shownEvidence); i < len(f.Evidence); i++ {
		w.Evidence = append(w.Evidence, showAct(&f.Evidence[i]))
	}
	return w
}

func showAct(r *knowledge.Recorded) shownAct {
	a := shownAct{Seq: uint64(r.Seq), At: r.At.String(), Kind: string(r.Act.Kind), Reason: r.Act.Reason}
	if r.Act.Kind != knowledge.Assert {
		return a
	}
	f := &r.Act.Fact
	a.Confidence, a.Source, a.Turn, a.Slice, a.Written = ppm(f.Confidence), f.Source, turnText(f.Turn), f.Slice, writtenIn(f)
	for _, id := range r.Act.Supersedes {
		a.Supersedes = append(a.Supersedes, id.String())
	}
	if r.Until != dag.MaxSeq {
		a.Until = uint64(r.Until)
	}
	return a
}
