package policy

import (
	"crypto/sha256"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Rules are the parameters of a policy that consists only of an ordered list of rules: {"rules":[…],"type":TYPE}. A
// type of policy embeds Rules and adds Type, Check, AppendWire and the meaning of its rules. Rules have no fractions,
// so the form that people write is the canonical form.
type Rules struct {
	list string // the canonical form of the list
}

// NewRules returns n rules; write writes the i-th rule as one JSON value.
func NewRules(n int, write func(w *canon.Writer, i int)) Rules {
	w := canon.NewWriter(nil)
	w.BeginArray()
	for i := range n {
		write(w, i)
	}
	w.EndArray()
	return Rules{string(w.Bytes)}
}

// Items returns the rules as cursors. The zero value has none.
func (r Rules) Items() []*canon.Cursor {
	doc, err := canon.Parse([]byte(r.list))
	if err != nil {
		return nil // the zero value
	}
	return canon.Open(doc).Items()
}

// Append writes the parameters of a type that has these rules.
func (r Rules) Append(w *canon.Writer, typ string) {
	w.BeginObject()
	w.Key("rules")
	w.Raw([]byte(r.list))
	w.Key("type")
	w.String(typ)
	w.EndObject()
}

// Bytes returns the canonical form of the parameters of a type that has these rules.
func (r Rules) Bytes(typ string) []byte {
	w := canon.NewWriter(make([]byte, 0, len(r.list)+32))
	r.Append(w, typ)
	return w.Bytes
}

// Digest returns the policy_params_hash of the parameters of a type that has these rules.
func (r Rules) Digest(typ string) dag.Digest { return sha256.Sum256(r.Bytes(typ)) }

// RulesForm returns the form of a type of rules: items makes the parameters from the list.
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
