package policy

import (
	"fmt"

	"github.com/graphkernel/graphkernel/internal/canon"
)

// ParseRegistration reads a policy as people submit it:
//
//	{"policy_id":"narrow@1","policy":{"type":"slice_policy_v1","max_nodes":32}}
//	{"policy_id":"owners@1","policy":{"type":"fact_policy_v1","predicates":["owned by"]}}
//
// Fractions are decimals; an absent parameter has its default. Unknown fields and repeated keys are refused.
func (f Forms) ParseRegistration(data []byte) (Registered, error) {
	doc, err := canon.Parse(data)
	if err != nil {
		return Registered{}, fmt.Errorf("policy: %w", err)
	}
	c := canon.Open(doc)
	id := canon.Parsed(c.Field("policy_id"), ParseID)
	params := f.Read(c.Field("policy"), Written)
	c.Close()
	if err := c.Err(); err != nil {
		return Registered{}, fmt.Errorf("policy: %w", err)
	}
	return Bind(id, params)
}
