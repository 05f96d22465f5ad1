package cli

import (
	"errors"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
	"github.com/graphkernel/graphkernel/client"
)

// A refusal is an error of a service with the text that a kernel over a store has for it.
type refusal struct {
	text string
	err  error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.err }

// refused converts an error of a service to the kernel's error.
func refused(err error) error {
	var p *client.Problem
	if !errors.As(err, &p) {
		return &refusal{strings.TrimPrefix(err.Error(), "client: "), err}
	}
	r := &refusal{p.Detail, err}
	switch api.Code(p.Code) {
	case api.CodeUnauthenticated, api.CodeForbidden, api.CodeRate, api.CodeOverloaded, api.CodeInternal, api.CodeDamaged:
		r.text = "the service refused: " + p.Detail
		if p.RequestID != "" {
			r.text += " (request " + p.RequestID + ")"
		}
	}
	return r
}

// answered adds to the error of an operation of a kernel the code that a service would send.
func answered(err error) error {
	if err == nil {
		return nil
	}
	report := fault.Of(err)
	if sent := report.Kind().Sent; sent != "" {
		return &api.Fault{Code: sent, Err: err}
	}
	return err
}

// told returns an answer of a service, with its error converted to the kernel's.
func told[T any](v T, err error) (T, error) {
	if err != nil {
		err = refused(err)
	}
	return v, err
}
