package policy

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A Table describes the parameters of one type field by field. Writing, reading and checking follow from the table, so
// a type of parameters needs only its struct, its table, and five methods of one line each.
type Table[P any] struct {
	Type    string
	Default P // the values of absent parameters
	Fields  []Field[P]
	Further func(*P) error // checks rules that involve more than one field; nil: none
}

// A Field is one parameter, or a group of parameters.
type Field[P any] struct {
	name     string
	fraction bool // the key has the notation's suffix
	write    func(*canon.Writer, *P, bool)
	read     func(c *canon.Cursor, p *P, n Notation, whole bool)
	check    func(*P, string) error
	shape    Shape
	absent   func(*P) bool // reports whether the field is absent; nil: never
}

// A Shape describes a field for documentation.
type Shape struct {
	Name        string
	Kind        string  // as in JSON Schema: integer, number, boolean, string, object
	Least, Most float64 // bounds of a number
	Values      []string
	Members     []Shape // of an object, in the order of declaration
}

// Shapes returns the shapes of the type's parameters.
func (t *Table[P]) Shapes() []Shape { return shapesOf(t.Fields) }

func shapesOf[P any](fields []Field[P]) (all []Shape) {
	for i := range fields {
		s := fields[i].shape
		s.Name = fields[i].name
		all = append(all, s)
	}
	return all
}

func (f *Field[P]) key(suffix string) string {
	if f.fraction {
		return f.name + suffix
	}
	return f.name
}

// Int returns a field with a whole number from least to most.
func Int[P any](name string, least, most int, at func(*P) *int) Field[P] {
	return Field[P]{
		name: name, shape: Shape{Kind: "integer", Least: float64(least), Most: float64(most)},
		write: func(w *canon.Writer, p *P, _ bool) { w.Uint(uint64(*at(p))) },
		read:  func(c *canon.Cursor, p *P, _ Notation, _ bool) { *at(p) = int(c.Uint(uint64(most))) },
		check: func(p *P, name string) error {
			if v := *at(p); v < least || v > most {
				return fmt.Errorf("%w: %s is %d, want %d to %d", ErrRange, name, v, least, most)
			}
			return nil
		},
	}
}

// Fraction returns a field with a number of millionths from 0 to most, which may be above 1.
func Fraction[P any](name string, most dag.PPM, at func(*P) *dag.PPM) Field[P] {
	return Field[P]{
		name: name, fraction: true, shape: Shape{Kind: "number", Most: float64(most) / float64(dag.One)},
		write: func(w *canon.Writer, p *P, canonical bool) { writeFraction(w, *at(p), canonical) },
		read: func(c *canon.Cursor, p *P, n Notation, _ bool) {
			switch {
			case n.Suffix != "":
				*at(p) = dag.PPM(c.Uint(uint64(most)))
			case most <= dag.One:
				*at(p) = n.Fraction(c)
			default:
				*at(p) = canon.ParsedNumber(c, parseDecimal)
			}
		},
		check: func(p *P, name string) error {
			if v := *at(p); v > most {
				return fmt.Errorf("%w: %s is %s, want 0 to %s", ErrRange, name, v, most)
			}
			return nil
		},
	}
}

func writeFraction(w *canon.Writer, v dag.PPM, canonical bool) {
	if canonical {
		w.Uint(uint64(v))
		return
	}
	var digits [16]byte
	w.Raw(v.AppendDecimal(digits[:0]))
}

// parseDecimal reads a plain decimal with at most six digits after the point and four before it.
func parseDecimal(s string) (dag.PPM, error) {
	whole, frac, point := strings.Cut(s, ".")
	n, err := strconv.ParseUint(whole, 10, 12)
	if err != nil || whole != strconv.FormatUint(n, 10) {
		return 0, fmt.Errorf("%w: %.40q is not a plain decimal below 4096", dag.ErrForm, s)
	}
	part := dag.PPM(0)
	if point {
		if part, err = dag.ParsePPM("0." + frac); err != nil {
			return 0, err
		}
	}
	return dag.PPM(n)*dag.One + part, nil
}

// Switch returns a field that is true or false.
func Switch[P any](name string, at func(*P) *bool) Field[P] {
	return Field[P]{
		name: name, shape: Shape{Kind: "boolean"},
		write: func(w *canon.Writer, p *P, _ bool) { w.Bool(*at(p)) },
		read:  func(c *canon.Cursor, p *P, _ Notation, _ bool) { *at(p) = c.Bool() },
		check: func(*P, string) error { return nil },
	}
}

// Text returns a field with a string that check accepts.
func Text[P any, T ~string](name string, at func(*P) *T, check func(T) error) Field[P] {
	return Field[P]{
		name: name, shape: Shape{Kind: "string"},
		write: func(w *canon.Writer, p *P, _ bool) { w.String(string(*at(p))) },
		read:  func(c *canon.Cursor, p *P, _ Notation, _ bool) { *at(p) = T(c.String()) },
		check: func(p *P, name string) error {
			if err := check(*at(p)); err != nil {
				return fmt.Errorf("%w: %s: %w", ErrRange, name, err)
			}
			return nil
		},
	}
}

// Word returns a field with one of the given strings.
func Word[P any](name string, at func(*P) *string, of ...string) Field[P] {
	f := Text(name, at, func(s string) error {
		if !slices.Contains(of, s) {
			return fmt.Errorf("%.40q, want %s", s, strings.Join(of, ", "))
		}
		return nil
	})
	f.shape.Values = of
	return f
}

// Group returns a field that is an object of fields. In the canonical form, the keys of its fractions carry the suffix.
func Group[P any](name string, fields ...Field[P]) Field[P] {
	return Field[P]{
		name: name, shape: Shape{Kind: "object", Members: shapesOf(fields)},
		write: func(w *canon.Writer, p *P, canonical bool) { writeFields(w, p, fields, "", canonical) },
		read: func(c *canon.Cursor, p *P, n Notation, whole bool) {
			readFields(c, p, fields, n, whole)
			c.Close()
		},
		check: func(p *P, name string) error { return checkFields(p, fields, name+".") },
	}
}

// Optional returns f as a field that is written only if it is not absent, so that parameters without it have the same
// bytes as before the field was introduced. A reader refuses the field if it has the value that absent reports as
// absent.
func Optional[P any](f Field[P], absent func(*P) bool) Field[P] {
	read := f.read
	f.absent = absent
	f.read = func(c *canon.Cursor, p *P, n Notation, whole bool) {
		read(c, p, n, whole)
		if absent(p) && c.Err() == nil {
			c.Fail(fmt.Errorf("%w: %s is present but empty; leave it out", ErrRange, f.name))
		}
	}
	return f
}

// Fractions returns a field that is an object of named fractions. The names must ascend; at returns the fraction with
// the i-th name. The object's own key carries the suffix, and the names do not.
func Fractions[P any](name string, at func(*P, int) *dag.PPM, names ...string) Field[P] {
	shape := Shape{Kind: "object"}
	for _, n := range names {
		shape.Members = append(shape.Members, Shape{Name: n, Kind: "number", Most: 1})
	}
	return Field[P]{
		name: name, fraction: true, shape: shape,
		write: func(w *canon.Writer, p *P, canonical bool) {
			w.BeginObject()
			for i, n := range names {
				w.Key(n)
				writeFraction(w, *at(p, i), canonical)
			}
			w.EndObject()
		},
		read: func(c *canon.Cursor, p *P, n Notation, whole bool) {
			for i, name := range names {
				if whole {
					c.Field(name)
				}
				if f := c.Optional(name); f != nil {
					*at(p, i) = n.Fraction(f)
				}
			}
			c.Close()
		},
		check: func(p *P, name string) error {
			for i, n := range names {
				if *at(p, i) > dag.One {
					return fmt.Errorf("%w: %s.%s is above 1", ErrRange, name, n)
				}
			}
			return nil
		},
	}
}

func suffixOf(canonical bool) string {
	if canonical {
		return Canonical.Suffix
	}
	return Wire.Suffix
}

// writeFields writes an object of fields, and of the type if typ is not empty.
func writeFields[P any](w *canon.Writer, p *P, fields []Field[P], typ string, canonical bool) {
	suffix := suffixOf(canonical)
	if typ != "" {
		fields = append(slices.Clip(fields), Field[P]{name: "type", write: func(w *canon.Writer, _ *P, _ bool) { w.String(typ) }})
	}
	sorted := slices.SortedFunc(slices.Values(fields), func(a, b Field[P]) int { return cmp.Compare(a.key(suffix), b.key(suffix)) })
	w.BeginObject()
	for i := range sorted {
		if a := sorted[i].absent; a != nil && a(p) {
			continue
		}
		w.Key(sorted[i].key(suffix))
		sorted[i].write(w, p, canonical)
	}
	w.EndObject()
}

// readFields reads the fields that are present; if whole, all except optional ones must be.
func readFields[P any](c *canon.Cursor, p *P, fields []Field[P], n Notation, whole bool) {
	for i := range fields {
		key := fields[i].key(n.Suffix)
		if whole && fields[i].absent == nil {
			c.Field(key)
		}
		if f := c.Optional(key); f != nil {
			fields[i].read(f, p, n, whole)
		}
	}
}

func checkFields[P any](p *P, fields []Field[P], under string) error {
	for i := range fields {
		if err := fields[i].check(p, under+fields[i].name); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for the first parameter that is out of range.
func (t *Table[P]) Check(p P) error {
	err := checkFields(&p, t.Fields, "")
	if err == nil && t.Further != nil {
		err = t.Further(&p)
	}
	return err
}

// Canonical returns the canonical form of the parameters, over which Hash is computed.
func (t *Table[P]) Canonical(p P) []byte {
	w := canon.NewWriter(make([]byte, 0, 1024))
	writeFields(w, &p, t.Fields, t.Type, true)
	return w.Bytes
}

// Hash returns policy_params_hash: the SHA-256 of the canonical form.
func (t *Table[P]) Hash(p P) dag.Digest { return sha256.Sum256(t.Canonical(p)) }

// AppendWire writes parameters with decimals, as in bundles and in what people write.
func (t *Table[P]) AppendWire(w *canon.Writer, p P) { writeFields(w, &p, t.Fields, t.Type, false) }

// Read reads parameters. An absent parameter has its default.
func (t *Table[P]) Read(c *canon.Cursor, n Notation) P { return t.read(c, n, false) }

// ReadWhole reads parameters as AppendWire writes them: every parameter must be present, because a default would be a
// value that the signer did not sign.
func (t *Table[P]) ReadWhole(c *canon.Cursor) P { return t.read(c, Wire, true) }

func (t *Table[P]) read(c *canon.Cursor, n Notation, whole bool) P {
	p := t.Default
	if typ := c.Field("type"); typ.String() != t.Type && c.Err() == nil {
		typ.Fail(fmt.Errorf("%w: %.80q, want %q", ErrType, typ.String(), t.Type))
	}
	readFields(c, &p, t.Fields, n, whole)
	c.Close()
	if err := t.Check(p); err != nil {
		c.Fail(err)
	}
	return p
}
