package cli

import (
	"errors"
	"iter"
	"strings"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/client"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// sentinels is the table from the codes of a service to the errors that a kernel over a store has in
// their place.
var sentinels = map[api.Code]error{
	api.CodeInvalid:       knowledge.ErrQuery,
	api.CodeNotFound:      store.ErrNotFound,
	api.CodePolicyUnknown: policy.ErrUnknown,
	api.CodeBeyondHead:    kernel.ErrBeyondHead,
	api.CodeBundle:        slice.ErrMalformed,
	api.CodeVersion:       slice.ErrVersion,
	api.CodeNoKey:         token.ErrNoKey,
	api.CodeNoIdentity:    identity.ErrNone,
	api.CodeErased:        kernel.ErrErasedSince,
	api.CodeNotBelieved:   knowledge.ErrNotBelieved,
	api.CodeEvidence:      kernel.ErrNoEvidence,
	api.CodeAlias:         normalize.ErrAmbiguous,
}

// A refusal is what a service said, in the words that a kernel over a store has for it.
type refusal struct {
	text string
	is   []error
}

func (r *refusal) Error() string   { return r.text }
func (r *refusal) Unwrap() []error { return r.is }

// refused returns the error of a service as the kernel's.
func refused(err error) error {
	var p *client.Problem
	if !errors.As(err, &p) {
		return &refusal{strings.TrimPrefix(err.Error(), "client: "), []error{err}}
	}
	r := &refusal{text: p.Detail, is: []error{err}}
	if sentinel, ok := sentinels[api.Code(p.Code)]; ok {
		r.is = append(r.is, sentinel)
	}
	switch api.Code(p.Code) {
	case api.CodeAmbiguous:
		ambiguous := &kernel.AmbiguousError{}
		for _, text := range p.Candidates {
			if id, err := dag.ParseTurnID(text); err == nil {
				ambiguous.Fits = append(ambiguous.Fits, id)
			}
		}
		r.is = append(r.is, ambiguous)
	case api.CodeUnauthenticated, api.CodeForbidden, api.CodeRate, api.CodeOverloaded, api.CodeInternal:
		r.text = "the service refused: " + p.Detail
		if p.RequestID != "" {
			r.text += " (request " + p.RequestID + ")"
		}
	}
	return r
}

// told is an answer of a service with its error as the kernel's.
func told[T any](v T, err error) (T, error) {
	if err != nil {
		err = refused(err)
	}
	return v, err
}

// each is told for a sequence.
func each[T any](seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range seq {
			if !yield(told(v, err)) {
				return
			}
		}
	}
}
