package rules

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// Type is the value of the member type in the JSON of a policy.
const Type = "promotion_policy_v1"

// The policies that every tenant begins with. ID is used where no policy is named; its parameters are Default.
const (
	ID   policy.ID = "promotion@2"
	V1ID policy.ID = "promotion@1"
)

// Bounds of the parameters.
const (
	MaxSteps     = 64
	MaxThreshold = 1000
	MaxSeconds   = 36_500 * 86_400
)

// A Count decides what the threshold of a step counts.
type Count string

// The counts.
const (
	Evidence Count = "evidence" // sources that support the candidate
	Uses     Count = "uses"     // successful uses of it
	Agents   Count = "agents"   // agents who support it
)

// A Severity is how much depends on a belief.
type Severity int

// The severities. None is the severity of a belief that does not state one.
const (
	None Severity = iota
	Low
	Medium
	High
	Critical
)

// severities lists the names of the severities.
var severities = [...]string{"none", "low", "medium", "high", "critical"}

func (s Severity) String() string {
	if s < None || s > Critical {
		return fmt.Sprintf("severity %d", int(s))
	}
	return severities[s]
}

// ParseSeverity reads the name of a severity.
func ParseSeverity(s string) (Severity, error) {
	for i, name := range severities {
		if name == s {
			return Severity(i), nil
		}
	}
	return None, fmt.Errorf("%w: the severity %.40q, want none, low, medium, high or critical", policy.ErrRange, s)
}

// A Step is a step of promotion: it promotes candidates of a kind that meet all of its conditions. A zero value is no condition.
type Step struct {
	From        string  // kind of the candidates; "": any
	To          string  // kind that they become; "": they keep their kind and get Tag
	Tag         string  // tag that they get; "": none
	Counts      Count   // what Threshold counts
	Threshold   int     // at least 1
	Similarity  dag.PPM // least similarity of evidence that counts
	Seconds     int64   // least time between the first and the last source that counts
	NoneAgainst bool    // there must be no evidence against it
	Confidence  dag.PPM // least confidence of the candidate
	Severity    Severity
	Trigger     bool   // it must say when it is to be used
	Steps       bool   // it must list its steps
	Others      bool   // neither the candidate nor the items from which it was promoted count as sources
	Sources     string // only sources of this kind count; "": any kind
}

// A Policy holds the parameters of a policy of this type. It is comparable.
type Policy struct{ text string } // the canonical form

// usual lists the steps of the default policy. Two similar episodes are the candidate and another episode; three observations that
// support an observation are three others.
var usual = []Step{
	usualV1[0],
	{From: "observation", To: "fact", Counts: Evidence, Threshold: 3, NoneAgainst: true, Confidence: 700_000, Others: true, Sources: "observation"},
	usualV1[2], usualV1[3], usualV1[4],
}

// usualV1 lists the steps of promotion@1.
var usualV1 = []Step{
	{From: "episodic", To: "observation", Counts: Evidence, Threshold: 2, Similarity: 850_000, Seconds: 3600},
	{From: "observation", To: "fact", Counts: Evidence, Threshold: 3, NoneAgainst: true, Confidence: 700_000},
	{From: "fact", To: "policy", Counts: Evidence, Threshold: 1, NoneAgainst: true, Confidence: 900_000, Severity: Medium},
	{From: "action", To: "procedure", Counts: Uses, Threshold: 2, Trigger: true, Steps: true},
	{Tag: Shared, Counts: Agents, Threshold: 3, Seconds: 86_400},
}

// Shared is the tag of beliefs that several agents found independently.
const Shared = "shared"

// Default returns the parameters of promotion@2.
func Default() Policy { return New(usual) }

// DefaultV1 returns the parameters of promotion@1, by which an item and the items from which it was promoted count as sources.
func DefaultV1() Policy { return New(usualV1) }

// New makes a policy from steps. Their order matters: of several steps to a kind, a candidate takes the first that applies.
func New(steps []Step) Policy {
	w := canon.NewWriter(nil)
	write(w, steps, true)
	return Policy{string(w.Bytes)}
}

func write(w *canon.Writer, steps []Step, canonical bool) {
	w.BeginObject()
	w.Key("steps")
	w.BeginArray()
	for i := range steps {
		steps[i].write(w, canonical)
	}
	w.EndArray()
	w.Key("type")
	w.String(Type)
	w.EndObject()
}

func (s *Step) write(w *canon.Writer, canonical bool) {
	fraction := func(key string, v dag.PPM) {
		switch {
		case v == 0:
		case canonical:
			w.Key(key + policy.Canonical.Suffix)
			w.Uint(uint64(v))
		default:
			w.Key(key)
			w.Raw(v.AppendDecimal(nil))
		}
	}
	text := func(key, v string) {
		if v != "" {
			w.Key(key)
			w.String(v)
		}
	}
	flag := func(key string, v bool) {
		if v {
			w.Key(key)
			w.Bool(true)
		}
	}
	w.BeginObject()
	fraction("confidence", s.Confidence)
	text("counts", string(s.Counts))
	text("from", s.From)
	flag("none_against", s.NoneAgainst)
	flag("others", s.Others)
	if s.Seconds > 0 {
		w.Key("seconds")
		w.Uint(uint64(s.Seconds))
	}
	if s.Severity > None {
		w.Key("severity")
		w.String(s.Severity.String())
	}
	fraction("similarity", s.Similarity)
	text("sources", s.Sources)
	flag("steps", s.Steps)
	text("tag", s.Tag)
	w.Key("threshold")
	w.Uint(uint64(s.Threshold))
	text("to", s.To)
	flag("trigger", s.Trigger)
	w.EndObject()
}

// Form reads the parameters. If they have no member steps, the steps are the default's.
var Form = policy.Form{Type: Type, Read: func(c *canon.Cursor, n policy.Notation) policy.Parameters {
	t := c.Field("type")
	if t.String() != Type && c.Err() == nil {
		t.Fail(fmt.Errorf("%w: %.80q, want %q", policy.ErrType, t.String(), Type))
	}
	steps := usual
	if f := c.Optional("steps"); f != nil {
		steps = []Step{}
		for _, item := range f.Items() {
			steps = append(steps, readStep(item, n))
		}
	}
	c.Close()
	p := New(steps)
	if c.Err() == nil {
		if err := p.Check(); err != nil {
			c.Fail(err)
		}
	}
	return p
}}

func readStep(c *canon.Cursor, n policy.Notation) Step {
	s := Step{Counts: Evidence, Threshold: int(c.Field("threshold").Uint(MaxThreshold))}
	for _, m := range []struct {
		key string
		to  *string
	}{{"from", &s.From}, {"to", &s.To}, {"tag", &s.Tag}, {"counts", (*string)(&s.Counts)}, {"sources", &s.Sources}} {
		if f := c.Optional(m.key); f != nil {
			*m.to = f.String()
		}
	}
	for _, m := range []struct {
		key string
		to  *bool
	}{{"none_against", &s.NoneAgainst}, {"trigger", &s.Trigger}, {"steps", &s.Steps}, {"others", &s.Others}} {
		if f := c.Optional(m.key); f != nil {
			*m.to = f.Bool()
		}
	}
	for _, m := range []struct {
		key string
		to  *dag.PPM
	}{{"similarity", &s.Similarity}, {"confidence", &s.Confidence}} {
		if f := c.Optional(m.key + n.Suffix); f != nil {
			*m.to = n.Fraction(f)
		}
	}
	if f := c.Optional("seconds"); f != nil {
		s.Seconds = int64(f.Uint(MaxSeconds))
	}
	if f := c.Optional("severity"); f != nil {
		s.Severity = canon.Parsed(f, ParseSeverity)
	}
	c.Close()
	return s
}

// Steps returns the steps, in their order.
func (p Policy) Steps() (list []Step) {
	doc, err := canon.Parse([]byte(p.text))
	if err != nil {
		return nil // the zero value
	}
	for _, item := range canon.Open(doc).Field("steps").Items() {
		list = append(list, readStep(item, policy.Canonical))
	}
	return list
}

// Type returns the constant Type.
func (Policy) Type() string { return Type }

// Check reports the first parameter that is out of range.
func (p Policy) Check() error {
	steps := p.Steps()
	if p.text == "" || len(steps) == 0 || len(steps) > MaxSteps {
		return fmt.Errorf("%w: %d steps, want 1 to %d", policy.ErrRange, len(steps), MaxSteps)
	}
	for i := range steps {
		if err := steps[i].check(); err != nil {
			return fmt.Errorf("%w: steps[%d]: %w", policy.ErrRange, i, err)
		}
	}
	return nil
}

func (s *Step) check() error {
	for _, n := range [...]struct{ member, name string }{{"from", s.From}, {"to", s.To}, {"tag", s.Tag}, {"sources", s.Sources}} {
		if n.name != "" && !belief.IsTag(n.name) {
			return fmt.Errorf("%s: %.40q, want [a-z][a-z0-9_-]{0,31}", n.member, n.name)
		}
	}
	switch {
	case (s.To == "") == (s.Tag == ""):
		return fmt.Errorf("to is %q and tag is %q, want exactly one of them", s.To, s.Tag)
	case s.To == "hard_rule":
		return fmt.Errorf("to: only a person can state a hard_rule; want another kind")
	case s.Tag == "current" || s.Tag == "published":
		return fmt.Errorf("tag: only a person can move %s; want another tag", s.Tag)
	case s.To != "" && s.To == s.From:
		return fmt.Errorf("to: %s is also the kind in from; want another kind", s.To)
	case s.Counts != Evidence && s.Counts != Uses && s.Counts != Agents:
		return fmt.Errorf("counts: %.20q, want %s, %s or %s", s.Counts, Evidence, Uses, Agents)
	case s.Threshold < 1 || s.Threshold > MaxThreshold:
		return fmt.Errorf("threshold: %d, want 1 to %d", s.Threshold, MaxThreshold)
	case s.Similarity > dag.One || s.Confidence > dag.One:
		return fmt.Errorf("similarity %s and confidence %s: want 0 to 1", s.Similarity, s.Confidence)
	case s.Severity < None || s.Severity > Critical || s.Seconds < 0 || s.Seconds > MaxSeconds:
		return fmt.Errorf("the severity is %s and the time %d seconds, want none to critical, and 0 to %d seconds", s.Severity, s.Seconds, int64(MaxSeconds))
	}
	return nil
}

// Canonical returns the canonical form, from which Hash is computed.
func (p Policy) Canonical() []byte { return []byte(p.text) }

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (p Policy) Hash() dag.Digest { return sha256.Sum256([]byte(p.text)) }

// AppendWire writes the parameters as people write them.
func (p Policy) AppendWire(w *canon.Writer) { write(w, p.Steps(), false) }

// Of returns the parameters of a registered policy. The error is policy.ErrMismatch if the policy is of another type.
func Of(r policy.Registered) (Policy, error) { return policy.ParametersOf[Policy](r, Type) }
