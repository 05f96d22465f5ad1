package policy

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

var (
	// ErrRange is wrapped when a parameter lies outside its bounds.
	ErrRange = errors.New("policy parameter out of range")
	// ErrType is wrapped when parameters are of a type that this version does
	// not know.
	ErrType = errors.New("unknown policy type")
	// ErrMismatch is wrapped when a policy is not of the type that is needed.
	ErrMismatch = errors.New("policy of another type")
)

// Parameters are what a policy decides by. They are of one of the types of this package,
// [SlicePolicyV1] and [FactPolicyV1]; a registry holds both. They are comparable.
type Parameters interface {
	// Type names the type, as canonical forms and bundles do.
	Type() string

	// Check reports the first parameter that is out of range.
	Check() error

	// Canonical returns the canonical form, and Hash its SHA-256, which is policy_params_hash.
	Canonical() []byte
	Hash() dag.Digest

	// AppendWire writes the parameters as bundles and people do, as decimals.
	AppendWire(w *canon.Writer)
}

// parseCanonical reads what Canonical writes and nothing else.
func parseCanonical(data []byte) (Parameters, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	c := canon.Open(doc)
	p := readParameters(c, "_ppm", func(c *canon.Cursor) dag.PPM { return dag.PPM(c.Uint(uint64(dag.One))) })
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if string(p.Canonical()) != string(data) {
		return nil, fmt.Errorf("policy: %w: not in canonical form", dag.ErrForm)
	}
	return p, nil
}

// decimal reads a fraction as evidence writes it.
func decimal(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ParsePPM) }

// written reads a fraction as people and programs write it.
func written(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ReadPPM) }

// readParameters reads parameters of either type. A type that is not known fails the document.
func readParameters(c *canon.Cursor, suffix string, fraction func(*canon.Cursor) dag.PPM) Parameters {
	switch t := c.Field("type"); t.String() {
	case FactType:
		return readFacts(c, suffix, fraction)
	case Type:
	default:
		t.Fail(fmt.Errorf("%w: %.80q, want %q or %q", ErrType, t.String(), Type, FactType))
	}
	return read(c, suffix, fraction)
}
