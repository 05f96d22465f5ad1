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
	// ErrRange is wrapped when a parameter is outside its bounds.
	ErrRange = errors.New("policy parameter out of range")
	// ErrType is wrapped when this version does not know the type of the parameters.
	ErrType = errors.New("unknown policy type")
	// ErrMismatch is wrapped when a policy has another type than the required one.
	ErrMismatch = errors.New("policy of the wrong type")
)

// Parameters are the values by which a policy decides. They are comparable. [SlicePolicyV1] is one type of parameters;
// packages that select something else have their own types.
type Parameters interface {
	// Type returns the name of the type in canonical forms and bundles.
	Type() string

	// Check returns an error for the first parameter that is out of range.
	Check() error

	// Canonical returns the canonical form, and Hash its SHA-256, which is policy_params_hash.
	Canonical() []byte
	Hash() dag.Digest

	// AppendWire writes the parameters with decimals, as in bundles and in what people write.
	AppendWire(w *canon.Writer)
}

// A Notation is a way to write fractions.
type Notation struct {
	Suffix   string                      // is appended to the keys of fractions
	Fraction func(*canon.Cursor) dag.PPM // reads one fraction
}

// The notations.
var (
	// Canonical is the notation of canonical forms: integers, in millionths.
	Canonical = Notation{"_ppm", func(c *canon.Cursor) dag.PPM { return dag.PPM(c.Uint(uint64(dag.One))) }}
	// Wire is the notation of evidence: plain decimals with at most six digits after the point.
	Wire = Notation{"", func(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ParsePPM) }}
	// Written is the notation of people and programs: any JSON number that is exactly a number of millionths.
	Written = Notation{"", func(c *canon.Cursor) dag.PPM { return canon.ParsedNumber(c, dag.ReadPPM) }}
)

// A Form is a type of parameters: its name, and the function that reads it from a document.
type Form struct {
	Type string
	Read func(*canon.Cursor, Notation) Parameters
}

// Forms is a list of types of parameters, such as those that a program knows.
type Forms []Form

// Types returns the names of the types.
func (f Forms) Types() []string {
	names := make([]string, len(f))
	for i := range f {
		names[i] = f[i].Type
	}
	return names
}

// Read reads parameters of any of the forms. An unknown type is an error of the document.
func (f Forms) Read(c *canon.Cursor, n Notation) Parameters {
	t := c.Field("type")
	for _, form := range f {
		if t.String() == form.Type {
			return form.Read(c, n)
		}
	}
	names := f.Types()
	for i := range names {
		names[i] = strconv.Quote(names[i])
	}
	t.Fail(fmt.Errorf("%w: %.80q, want %s", ErrType, t.String(), strings.Join(names, " or ")))
	return nil
}

// parseCanonical reads the canonical form of parameters and accepts no other form.
func (f Forms) parseCanonical(data []byte) (Parameters, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	c := canon.Open(doc)
	p := f.Read(c, Canonical)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if string(p.Canonical()) != string(data) {
		return nil, fmt.Errorf("policy: %w: not in canonical form", dag.ErrForm)
	}
	return p, nil
}
