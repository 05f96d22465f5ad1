package policy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

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

// Parameters are what a policy decides by. They are comparable. [SlicePolicyV1] is one type of
// them; packages that select something else have their own.
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

// A Notation is a way in which fractions are written.
type Notation struct {
	Suffix   string                      // of the keys of fractions
	Fraction func(*canon.Cursor) dag.PPM // reads one
}

// The notations.
var (
	// Canonical is that of canonical forms: integers, in millionths.
	Canonical = Notation{"_ppm", func(c *canon.Cursor) dag.PPM { return dag.PPM(c.Uint(uint64(dag.One))) }}
	// Wire is that of evidence: decimals in their shortest form.
	Wire = Notation{"", func(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ParsePPM) }}
	// Written is that of people and programs: any JSON number that millionths hold exactly.
	Written = Notation{"", func(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ReadPPM) }}
)

// A Form is a type of parameters: its name, and how they are read from a document.
type Form struct {
	Type string
	Read func(*canon.Cursor, Notation) Parameters
}

// Forms are the types of parameters that a program knows.
type Forms []Form

// read reads parameters of any of the forms. A type that is not known fails the document.
func (f Forms) read(c *canon.Cursor, n Notation) Parameters {
	t := c.Field("type")
	names := make([]string, len(f))
	for i, form := range f {
		if t.String() == form.Type {
			return form.Read(c, n)
		}
		names[i] = strconv.Quote(form.Type)
	}
	t.Fail(fmt.Errorf("%w: %.80q, want %s", ErrType, t.String(), strings.Join(names, " or ")))
	return nil
}

// parseCanonical reads what Canonical writes and nothing else.
func (f Forms) parseCanonical(data []byte) (Parameters, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	c := canon.Open(doc)
	p := f.read(c, Canonical)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if string(p.Canonical()) != string(data) {
		return nil, fmt.Errorf("policy: %w: not in canonical form", dag.ErrForm)
	}
	return p, nil
}
