package policy

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Rules are parameters that are a list of rules, in their order, and nothing else: {"rules":[…],"type":TYPE}. A type of policy embeds
// them, and adds Type, Check, AppendWire and what its rules mean. They have no fractions, so what people write is the canonical form.
type Rules struct {
	list string // the canonical form of the list
}

// NewRules makes rules of n values that a function writes, each as one JSON value.
func NewRules(n int, write func(w *canon.Writer, i int)) Rules {
	w := canon.NewWriter(nil)
	w.BeginArray()
	for i := range n {
		write(w, i)
	}
	w.EndArray()
	return Rules{string(w.Bytes)}
}

// Items returns the rules, to be read one by one. The zero value has none.
func (r Rules) Items() []*canon.Cursor {
	doc, err := canon.Parse([]byte(r.list))
	if err != nil {
		return nil // the zero value
	}
	return canon.Open(doc).Items()
}

// Append writes parameters of a type.
func (r Rules) Append(w *canon.Writer, typ string) {
	w.BeginObject()
	w.Key("rules")
	w.Raw([]byte(r.list))
	w.Key("type")
	w.String(typ)
	w.EndObject()
}

// Bytes returns the canonical form of parameters of a type, which Digest is taken of.
func (r Rules) Bytes(typ string) []byte {
	w := canon.NewWriter(make([]byte, 0, len(r.list)+32))
	r.Append(w, typ)
	return w.Bytes
}

// Digest is policy_params_hash of parameters of a type.
func (r Rules) Digest(typ string) dag.Digest { return sha256.Sum256(r.Bytes(typ)) }

// RulesForm is how rules of a type are read: items makes parameters of the list.
func RulesForm[P Parameters](typ string, items func(list []*canon.Cursor) P) Form {
	return Form{Type: typ, Read: func(c *canon.Cursor, _ Notation) Parameters {
		t := c.Field("type")
		if t.String() != typ && c.Err() == nil {
			t.Fail(fmt.Errorf("%w: %.80q, want %q", ErrType, t.String(), typ))
		}
		p := items(c.Field("rules").Items())
		c.Close()
		if c.Err() == nil {
			if err := p.Check(); err != nil {
				c.Fail(err)
			}
		}
		return p
	}}
}
