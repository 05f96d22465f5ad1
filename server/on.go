package server

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/server/view"
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

// answering adds a route for each operation that has none.
func answering(operations []view.Answered, routes []route) []route {
	for _, op := range operations {
		spec := op.Declared()
		if slices.ContainsFunc(routes, func(r route) bool { return r.spec.ID == spec.ID }) {
			continue
		}
		routes = append(routes, route{spec, func(c *call) error {
			in, err := readAs(c, spec.In, op.Read)
			if err != nil {
				return err
			}
			c.slice = strings.ToLower(c.params["slice_id"])
			out, err := op.Ask(c.ctx, c.server.config.Kernel, c.tenant(), in)
			if err != nil {
				return err
			}
			return c.json(http.StatusOK, out)
		}})
	}
	return routes
}

// as is the route of an operation that answers in its own way, or must be fast.
func as[In, Out any](op api.Operation[In, Out], do handler) route { return route{&op.Spec, do} }

// readIn reads the parameters and the body of a call, which the description has let through.
func readIn[In any](c *call) (In, error) { return readAs(c, reflect.TypeFor[In](), api.Read[In]) }

// readAs reads the fields of a type from where a call has them.
func readAs[In any](c *call, t reflect.Type, read func(*canon.Cursor) In) (in In, err error) {
	whole := &canon.Value{Kind: canon.Object}
	if c.value != nil {
		whole.Members = c.value.Members[:len(c.value.Members):len(c.value.Members)]
	}
	for _, f := range api.Fields(t) {
		if text, given := c.params[f.Key]; given {
			if whole.Get(f.Key) != nil {
				return in, &problem{code: api.CodeInvalid, place: "query parameter " + f.Key, detail: f.Key + " is given in the body and in the query; want one"}
			}
			whole.Members = append(whole.Members, canon.Member{Key: f.Key, Value: f.Value(items(&f, text)...)})
		}
	}
	at := canon.Open(whole)
	in = read(at)
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

// items are the texts of a parameter. Names in a list have commas between them, which no name that is normalized holds.
func items(f *api.Field, text string) []string {
	if f.Type.Kind() == reflect.Slice {
		return strings.Split(text, ",")
	}
	return []string{text}
}
