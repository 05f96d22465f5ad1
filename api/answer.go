package api

import (
	"context"
	"fmt"
	"reflect"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// An Answer is an operation with the function that answers it for a tenant. Each facet of the kernel lists the operations it
// answers. The service, the tools for agents, and the commands over an open store call the same function.
type Answer struct {
	*Spec

	// Read reads an In from the object at the cursor. The cursor records the faults.
	Read func(c *canon.Cursor) any
	// Ask answers an In with an Out.
	Ask func(ctx context.Context, tenant dag.Tenant, in any) (any, error)
}

// By returns the operation with the function that answers it.
//
//	func (a Atlas) Operations() []api.Answer { return []api.Answer{api.BlameTurn.By(a.Blame)} }
func (o Operation[In, Out]) By(answer func(context.Context, dag.Tenant, In) (Out, error)) Answer {
	return Answer{
		Spec: &o.Spec,
		Read: func(c *canon.Cursor) any { return Read[In](c) },
		Ask: func(ctx context.Context, tenant dag.Tenant, in any) (any, error) {
			its, ok := in.(In)
			if !ok {
				return nil, fmt.Errorf("%s takes %s and was given %T", o.ID, reflect.TypeFor[In](), in)
			}
			return answer(ctx, tenant, its)
		},
	}
}

// Declared lists every operation, in the order of declaration.
func Declared() []*Spec { return declared }

var declared []*Spec
