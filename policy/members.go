package policy

import (
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A member is a parameter of a policy for slices, as it is written, read and checked. It points
// to its value by the one of its fields that is not nil.
type member struct {
	key         string
	number      *int
	least, most int // of the number
	flag        *bool
	fraction    *dag.PPM
	table       []entry // by ascending name
	direction   *Direction
	text        string // of the type, which is no parameter
}

// An entry is a fraction in a table.
type entry struct {
	name     string
	fraction *dag.PPM
}

func number(key string, into *int, least, most int) member {
	return member{key: key, number: into, least: least, most: most}
}

func fraction(key string, into *dag.PPM) member { return member{key: key, fraction: into} }

// phases is the table of the weights of phases.
func phases(t *PhaseTable) member {
	m := member{key: "phase_weights"}
	for _, ph := range [...]dag.Phase{dag.Consolidation, dag.Debugging, dag.Exploration, dag.Planning, dag.Synthesis} {
		m.table = append(m.table, entry{ph.String(), &t[ph]})
	}
	return m
}

// voices is the table of the weights of voices.
func voices(t *VoiceTable) member {
	m := member{key: "voice_weights"}
	for _, v := range [...]dag.Voice{dag.VoiceAgent, dag.VoiceHarness, dag.VoicePerson, dag.VoiceTool} {
		m.table = append(m.table, entry{v.String(), &t[v]})
	}
	return m
}

// members are the parameters of a policy by ascending key, with its type among them.
type members []member

// check reports the first parameter that is out of range.
func (list members) check() error {
	for _, m := range list {
		switch {
		case m.number != nil && (*m.number < m.least || *m.number > m.most):
			return fmt.Errorf("%w: %s is %d, want %d to %d", ErrRange, m.key, *m.number, m.least, m.most)
		case m.fraction != nil && *m.fraction > dag.One:
			return fmt.Errorf("%w: %s is above 1", ErrRange, m.key)
		case m.direction != nil && m.direction.String() == "":
			return fmt.Errorf("%w: direction is %d, want past or both", ErrRange, *m.direction)
		}
		for _, e := range m.table {
			if *e.fraction > dag.One {
				return fmt.Errorf("%w: %s.%s is above 1", ErrRange, m.key, e.name)
			}
		}
	}
	return nil
}

// write writes the members in order; fractions carry a suffix in their key, or in that of their
// table, and are written by the function given. The suffix does not change the order of the keys.
func (list members) write(w *canon.Writer, suffix string, fraction func(dag.PPM)) {
	w.BeginObject()
	for _, m := range list {
		switch {
		case m.fraction != nil:
			w.Key(m.key + suffix)
			fraction(*m.fraction)
		case m.table != nil:
			w.Key(m.key + suffix)
			w.BeginObject()
			for _, e := range m.table {
				w.Key(e.name)
				fraction(*e.fraction)
			}
			w.EndObject()
		default:
			w.Key(m.key)
			m.writePlain(w)
		}
	}
	w.EndObject()
}

func (m *member) writePlain(w *canon.Writer) {
	switch {
	case m.number != nil:
		w.Uint(uint64(*m.number))
	case m.flag != nil:
		w.Bool(*m.flag)
	case m.direction != nil:
		w.String(m.direction.String())
	default:
		w.String(m.text)
	}
}

// canonical returns the canonical form.
func (list members) canonical() []byte {
	w := canon.NewWriter(make([]byte, 0, 512))
	list.write(w, Canonical.Suffix, func(f dag.PPM) { w.Uint(uint64(f)) })
	return w.Bytes
}

// appendWire writes the parameters as decimals.
func (list members) appendWire(w *canon.Writer) {
	var digits [8]byte
	list.write(w, Wire.Suffix, func(f dag.PPM) { w.Raw(f.AppendDecimal(digits[:0])) })
}

// read reads what is there, and leaves to the others the values that they have.
func (list members) read(c *canon.Cursor, n Notation) {
	for _, m := range list {
		key := m.key
		if m.fraction != nil || m.table != nil {
			key += n.Suffix
		}
		f := c.Optional(key)
		switch {
		case m.text != "":
			if t := c.Field("type"); t.String() != m.text && c.Err() == nil {
				t.Fail(fmt.Errorf("%w: %.80q, want %q", ErrType, t.String(), m.text))
			}
		case f == nil:
		case m.number != nil:
			*m.number = int(f.Uint(uint64(m.most)))
		case m.flag != nil:
			*m.flag = f.Bool()
		case m.fraction != nil:
			*m.fraction = n.Fraction(f)
		case m.direction != nil:
			*m.direction = canon.Parsed(f, parseDirection)
		default:
			for _, e := range m.table {
				if part := f.Optional(e.name); part != nil {
					*e.fraction = n.Fraction(part)
				}
			}
			f.Close()
		}
	}
	c.Close()
	if err := list.check(); err != nil {
		c.Fail(err)
	}
}

// demand fails the document if a member is not there.
func (list members) demand(c *canon.Cursor) {
	for _, m := range list {
		f := c.Field(m.key)
		for _, e := range m.table {
			f.Field(e.name)
		}
	}
}
