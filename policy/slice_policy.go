package policy

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Type is the type that canonical forms and bundles name.
const Type = "slice_policy_v1"

// Type is the constant of that name.
func (SlicePolicyV1) Type() string { return Type }

// Bounds of the parameters. The lower bound is 0, except for MaxNodes, where it is 1.
const (
	LimitNodes    = 10_000
	LimitRadius   = 64
	LimitSiblings = 100
)

// A SlicePolicyV1 is a set of parameters. Its zero value is not valid; start
// from Default.
type SlicePolicyV1 struct {
	MaxNodes        int        // turns in a slice, the anchor included
	MaxRadius       int        // edges away from the anchor
	Weights         PhaseTable // W of equation 1, by phase
	SalienceWeight  dag.PPM    // α: how much salience counts
	DistanceDecay   dag.PPM    // β: what each edge leaves of the score
	IncludeSiblings bool
	MaxSiblings     int // per turn, the best first
}

// A PhaseTable holds a fraction for each phase, at the phase's number.
type PhaseTable [len(dag.Phases) + 1]dag.PPM

// Default returns the parameters of the policy default@1.
func Default() SlicePolicyV1 {
	return SlicePolicyV1{
		MaxNodes:  256,
		MaxRadius: 10,
		Weights: PhaseTable{
			dag.Synthesis:     1_000_000,
			dag.Planning:      900_000,
			dag.Consolidation: 600_000,
			dag.Debugging:     500_000,
			dag.Exploration:   300_000,
		},
		SalienceWeight:  300_000,
		DistanceDecay:   900_000,
		IncludeSiblings: true,
		MaxSiblings:     5,
	}
}

// Check reports the first parameter that is out of range.
func (p SlicePolicyV1) Check() error {
	for _, f := range [...]struct {
		name       string
		value      int
		least, top int
	}{
		{"max_nodes", p.MaxNodes, 1, LimitNodes},
		{"max_radius", p.MaxRadius, 0, LimitRadius},
		{"max_siblings", p.MaxSiblings, 0, LimitSiblings},
	} {
		if f.value < f.least || f.value > f.top {
			return fmt.Errorf("%w: %s is %d, want %d to %d", ErrRange, f.name, f.value, f.least, f.top)
		}
	}
	if p.Weights[0] != 0 {
		return fmt.Errorf("%w: a weight for no phase", ErrRange)
	}
	for _, ph := range dag.Phases {
		if p.Weights[ph] > dag.One {
			return fmt.Errorf("%w: phase_weights.%s is above 1", ErrRange, ph)
		}
	}
	if p.SalienceWeight > dag.One {
		return fmt.Errorf("%w: salience_weight is above 1", ErrRange)
	}
	if p.DistanceDecay > dag.One {
		return fmt.Errorf("%w: distance_decay is above 1", ErrRange)
	}
	return nil
}

// Canonical returns the canonical form, which Hash is taken of.
func (p SlicePolicyV1) Canonical() []byte {
	w := canon.NewWriter(make([]byte, 0, 320))
	p.write(w, "_ppm", func(f dag.PPM) { w.Uint(uint64(f)) })
	return w.Bytes
}

// Hash is policy_params_hash: SHA-256 of the canonical form.
func (p SlicePolicyV1) Hash() dag.Digest { return sha256.Sum256(p.Canonical()) }

// AppendWire writes the parameters as bundles and people do, as decimals.
func (p SlicePolicyV1) AppendWire(w *canon.Writer) {
	var digits [8]byte
	p.write(w, "", func(f dag.PPM) { w.Raw(f.AppendDecimal(digits[:0])) })
}

// write writes the members in order; fractions carry a suffix in their key and
// are written by fraction. The suffix does not change the order of the keys.
func (p SlicePolicyV1) write(w *canon.Writer, suffix string, fraction func(dag.PPM)) {
	w.BeginObject()
	w.Key("distance_decay" + suffix)
	fraction(p.DistanceDecay)
	w.Key("include_siblings")
	w.Bool(p.IncludeSiblings)
	w.Key("max_nodes")
	w.Uint(uint64(p.MaxNodes))
	w.Key("max_radius")
	w.Uint(uint64(p.MaxRadius))
	w.Key("max_siblings")
	w.Uint(uint64(p.MaxSiblings))
	w.Key("phase_weights" + suffix)
	w.BeginObject()
	for _, ph := range [...]dag.Phase{dag.Consolidation, dag.Debugging, dag.Exploration, dag.Planning, dag.Synthesis} {
		w.Key(ph.String())
		fraction(p.Weights[ph])
	}
	w.EndObject()
	w.Key("salience_weight" + suffix)
	fraction(p.SalienceWeight)
	w.Key("type")
	w.String(Type)
	w.EndObject()
}

// ParseCanonical reads what Canonical writes and nothing else.
func ParseCanonical(data []byte) (SlicePolicyV1, error) {
	p, err := Forms{SliceForm}.parseCanonical(data)
	if err != nil {
		return SlicePolicyV1{}, err
	}
	s, ok := p.(SlicePolicyV1)
	if !ok {
		return SlicePolicyV1{}, fmt.Errorf("policy: %w: %s, want %q", ErrType, p.Type(), Type)
	}
	return s, nil
}

// Read reads the parameters as decimals in a document that people wrote: a
// parameter that is absent has its default.
func Read(c *canon.Cursor) SlicePolicyV1 { return read(c, Wire) }

// SliceForm is how policies for slices are read.
var SliceForm = Form{Type: Type, Read: func(c *canon.Cursor, n Notation) Parameters { return read(c, n) }}

// ReadWire reads what AppendWire writes: every parameter must be there, since a default
// would put words into a signer's mouth.
func ReadWire(c *canon.Cursor) SlicePolicyV1 {
	for _, key := range [...]string{"distance_decay", "include_siblings", "max_nodes", "max_radius", "max_siblings", "salience_weight"} {
		c.Field(key)
	}
	weights := c.Field("phase_weights")
	for _, phase := range dag.Phases {
		weights.Field(phase.String())
	}
	return Read(c)
}

func read(c *canon.Cursor, n Notation) SlicePolicyV1 {
	p := Default()
	if t := c.Field("type"); t.String() != Type && c.Err() == nil {
		t.Fail(fmt.Errorf("%w: %.80q, want %q", ErrType, t.String(), Type))
	}
	number := func(key string, into *int, most uint64) {
		if f := c.Optional(key); f != nil {
			*into = int(f.Uint(most))
		}
	}
	part := func(of *canon.Cursor, key string, into *dag.PPM) {
		if f := of.Optional(key); f != nil {
			*into = n.Fraction(f)
		}
	}
	number("max_nodes", &p.MaxNodes, LimitNodes)
	number("max_radius", &p.MaxRadius, LimitRadius)
	number("max_siblings", &p.MaxSiblings, LimitSiblings)
	if f := c.Optional("include_siblings"); f != nil {
		p.IncludeSiblings = f.Bool()
	}
	part(c, "salience_weight"+n.Suffix, &p.SalienceWeight)
	part(c, "distance_decay"+n.Suffix, &p.DistanceDecay)
	if f := c.Optional("phase_weights" + n.Suffix); f != nil {
		for _, ph := range dag.Phases {
			part(f, ph.String(), &p.Weights[ph])
		}
		f.Close()
	}
	c.Close()
	if err := p.Check(); err != nil {
		c.Fail(err)
	}
	return p
}
