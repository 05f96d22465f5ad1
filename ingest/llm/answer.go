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
	MaxFacts = 64  // facts that are read from an answer; more are refused
	MaxName  = 256 // bytes of a subject, a predicate or an object
)

// DefaultCeiling is the default upper bound of the confidence of a model's facts. It is below every confidence of package
// extract.
const DefaultCeiling dag.PPM = 500_000

// A Reason says why a part of an answer was refused. Refused parts are not repaired.
type Reason string

// The reasons. Those of the first group refuse a whole answer, those of the second one fact.
const (
	NoJSON  Reason = "no_json"  // not one JSON text: a code fence, words around it, a missing end
	NoFacts Reason = "no_facts" // not a JSON object whose only member is facts, a list
	Forged  Reason = "forged"   // a response in the ledger that this package did not write

	NoFact        Reason = "no_fact"        // not an object with exactly the requested members
	UnknownLabel  Reason = "unknown_label"  // the label of a turn that was not shown
	EmptyName     Reason = "empty_name"     // normalize.Name makes the name empty
	LongName      Reason = "long_name"      // a name of more than MaxName bytes
	BadConfidence Reason = "bad_confidence" // not a number from 0 to 1 with at most six decimal places
	TooMany       Reason = "too_many"       // more than MaxFacts facts
)

// Refusals counts refused answers and facts by reason.
type Refusals map[Reason]int

// Read returns the facts in a model's answer, in their order, and what was refused. shown is the number of turns in the
// question. A fact has the confidence that the model states, up to the ceiling; if the model states none, it has the ceiling.
// The caller sets the evidence.
func Read(answer string, shown int, m Model, ceiling dag.PPM) ([]knowledge.Fact, Refusals) {
	refused := Refusals{}
	const values = 16 << 10 // far more values than MaxFacts facts have
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
	case err != nil: // a few characters can become many when they are normalized
		return f, LongName
	}
	f.Confidence = sure
	return f, ""
}
