package server

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// A route is an operation with its handler.
type route struct {
	spec   *api.Spec
	handle handler
}

// on returns the route of an operation that reads its In and answers with its Out as JSON.
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

// answering adds a route for each operation without one. A facet of the kernel answers it.
func answering(operations []*api.Spec, routes []route) []route {
	for _, spec := range operations {
		if slices.ContainsFunc(routes, func(r route) bool { return r.spec.ID == spec.ID }) {
			continue
		}
		routes = append(routes, route{spec, func(c *call) error {
			op, found := c.server.config.Kernel.Answer(spec.ID)
			if !found {
				return fmt.Errorf("server: no facet of the kernel answers %s", spec.ID)
			}
			in, err := readAs(c, op.Read)
			if err != nil {
				return err
			}
			c.slice = strings.ToLower(c.params["slice_id"])
			out, err := op.Ask(c.ctx, c.tenant(), in)
			if err != nil {
				return err
			}
			return c.json(http.StatusOK, out)
		}})
	}
	return routes
}

// as returns the route of an operation that writes its answer itself, or that must be fast.
func as[In, Out any](op api.Operation[In, Out], do handler) route { return route{&op.Spec, do} }

// readIn reads the parameters and the body of a call.
func readIn[In any](c *call) (In, error) { return readAs(c, api.Read[In]) }

// readAs reads an In from the parameters and the body of a call. A value that does not fit is a problem, and so is an
// unknown member of the body.
func readAs[In any](c *call, read func(*canon.Cursor) In) (in In, err error) {
	whole := &canon.Value{Kind: canon.Object}
	if c.value != nil {
		at := canon.Open(c.value)
		for _, key := range c.op.members {
			at.Optional(key)
		}
		at.CloseOf(func() []string { return c.op.members })
		for _, key := range c.op.required { // also if the query has one of that name
			at.Field(key)
		}
		if at.Err() != nil {
			return in, misread(at.Err())
		}
		whole.Members = slices.Clip(c.value.Members)
	}
	for _, m := range c.given {
		if whole.Get(m.Key) != nil {
			return in, &problem{code: api.CodeInvalid, place: "query parameter " + m.Key, detail: m.Key + " is given in the body and in the query; want one"}
		}
		whole.Members = append(whole.Members, m)
	}
	at := canon.Open(whole)
	in = read(at)
	return in, misread(at.Err())
}
