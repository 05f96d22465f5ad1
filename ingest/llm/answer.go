package llm

import (
	"errors"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
)

// Bounds of an answer.
const (
	MaxFacts = 64  // facts that are taken of it; further ones are refused
	MaxName  = 256 // bytes of a subject, a predicate or an object
)

// DefaultCeiling is the most that a model's facts are held for, unless somebody says
// otherwise: below whatever the rules of extract/1 give.
const DefaultCeiling dag.PPM = 500_000

// A Reason says why something of an answer was refused. Nothing that is refused is repaired.
type Reason string

// The reasons. Those of the first group refuse a whole answer, the others one fact.
const (
	NoJSON  Reason = "no_json"  // not one JSON text: a code fence, words around it, an end that is missing
	NoFacts Reason = "no_facts" // JSON, but not an object with the member facts, a list, and no other
	Forged  Reason = "forged"   // a response in the ledger that this package did not write

	NoFact        Reason = "no_fact"        // not an object of the members that were asked for
	UnknownLabel  Reason = "unknown_label"  // of a turn that was not shown
	EmptyName     Reason = "empty_name"     // normalize.Name leaves nothing of it
	LongName      Reason = "long_name"      // of more than MaxName bytes
	BadConfidence Reason = "bad_confidence" // no number from 0 to 1 that is a whole number of millionths
	TooMany       Reason = "too_many"       // after MaxFacts others
)

// Refusals counts what was refused.
type Refusals map[Reason]int

// Read returns the facts that a model's answer holds, of a question that showed so many turns,
// in their order, and what was refused. Where the model says how sure it is, that counts up to
// the ceiling; else the ceiling does. The evidence is left for the caller to name.
func Read(answer string, shown int, m Model, ceiling dag.PPM) ([]knowledge.Fact, Refusals) {
	refused := Refusals{}
	const values = 16 << 10 // far more than MaxFacts facts are made of
	v, err := canon.ParseSparse([]byte(answer), values)
	if err != nil {
		refused[NoJSON]++
		return nil, refused
	}
	if v.Kind != canon.Object || len(v.Members) != 1 || v.Members[0].Key != "facts" || v.Members[0].Value.Kind != canon.Array {
		refused[NoFacts]++
		return nil, refused
	}
	labels := make(map[string]bool, shown)
	for i := range shown {
		labels[labelOf(i)] = true
	}
	var facts []knowledge.Fact
	for i := range v.Members[0].Value.Items {
		if i >= MaxFacts {
			refused[TooMany]++
			continue
		}
		f, why := readFact(&v.Members[0].Value.Items[i], labels, m, ceiling)
		if why != "" {
			refused[why]++
			continue
		}
		facts = append(facts, f)
	}
	return facts, refused
}

func readFact(v *canon.Value, labels map[string]bool, m Model, ceiling dag.PPM) (f knowledge.Fact, why Reason) {
	c := canon.Open(v)
	names := [...]string{c.Field("subject").String(), c.Field("predicate").String(), c.Field("object").String()}
	label, sure := c.Field("turn").String(), ceiling
	if said := c.Optional("confidence"); said != nil {
		p, err := dag.ReadPPM(said.Number())
		if said.Is(canon.Number) && err != nil {
			return f, BadConfidence
		}
		sure = min(p, ceiling)
	}
	c.Close()
	if c.Err() != nil {
		return f, NoFact
	}
	if !labels[label] {
		return f, UnknownLabel
	}
	for _, n := range names {
		if len(n) > MaxName {
			return f, LongName
		}
	}
	f, err := knowledge.NewFact(names[0], names[1], names[2], m.Source())
	switch {
	case errors.Is(err, normalize.ErrEmpty):
		return f, EmptyName
	case err != nil: // a few characters stand for many when they are normalized
		return f, LongName
	}
	f.Confidence = sure
	return f, ""
}
