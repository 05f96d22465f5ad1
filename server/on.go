package server

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
)

// A route is an operation with its handler.
type route struct {
	spec   *api.Spec
	handle handler
}

// on is the route of an operation that reads its In and answers with its Out as JSON.
func on[In, Out any](op api.Operation[In, Out], do func(*call, In) (Out, error)) route {
	return route{&op.Spec, func(c *call) error {
		in, err := readIn[In](c)
		if err != nil {
			return err
		}
		out, err := do(c, in)
		if err != nil {
			return err
		}
		return c.json(http.StatusOK, out)
	}}
}

// of makes the handler of an operation that needs nothing but the kernel.
func of[In, Out any](do func(context.Context, *kernel.Kernel, dag.Tenant, In) (Out, error)) func(*call, In) (Out, error) {
	return func(c *call, in In) (Out, error) { return do(c.ctx, c.server.config.Kernel, c.tenant(), in) }
}

// as is the route of an operation that answers in its own way, or must be fast.
func as[In, Out any](op api.Operation[In, Out], do handler) route { return route{&op.Spec, do} }

// readIn reads the parameters and the body of a call, which the description has let through.
func readIn[In any](c *call) (In, error) {
	whole := &canon.Value{Kind: canon.Object}
	if c.value != nil {
		whole.Members = c.value.Members[:len(c.value.Members):len(c.value.Members)]
	}
	for _, f := range api.Fields(reflect.TypeFor[In]()) {
		if text, given := c.params[f.Key]; given {
			if whole.Get(f.Key) != nil {
				var in In
				return in, &problem{code: api.CodeInvalid, place: "query parameter " + f.Key, detail: f.Key + " is given in the body and in the query; want one"}
			}
			whole.Members = append(whole.Members, canon.Member{Key: f.Key, Value: parameter(f.Type, text)})
		}
	}
	at := canon.Open(whole)
	in := api.Read[In](at)
	var fault *canon.FieldError
	if !errors.As(at.Err(), &fault) {
		return in, nil
	}
	for i := range c.op.params {
		if p := c.op.params[i]; fault.Path == p.Name || strings.HasPrefix(fault.Path, p.Name+"[") {
			place := p.In + " parameter " + p.Name
			return in, &problem{code: api.CodeInvalid, place: place, detail: place + ": " + fault.Err.Error(), cause: fault}
		}
	}
	return in, fault
}

// parameter is the text of a parameter as the JSON that a field of a type would have. Names in a
// list have commas between them, which no name that is normalized holds.
func parameter(t reflect.Type, text string) canon.Value {
	v := canon.Value{Kind: canon.String, Text: text}
	switch {
	case t == reflect.TypeFor[dag.PPM](), t.Kind() == reflect.Int, t.Kind() == reflect.Uint64:
		v.Kind = canon.Number
	case t.Kind() == reflect.Bool:
		v.Kind = canon.Bool
	case t.Kind() == reflect.Slice:
		v = canon.Value{Kind: canon.Array}
		for _, item := range strings.Split(text, ",") {
			v.Items = append(v.Items, canon.Value{Kind: canon.String, Text: item})
		}
	}
	return v
}
