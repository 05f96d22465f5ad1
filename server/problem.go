package server

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/api/fault"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/store"
)

// A problem is an error with a known cause: its text may be sent to the caller.
type problem struct {
	code       api.Code
	detail     string
	place      string
	retryAfter int // seconds; 0: none
	turn       dag.TurnID
	stored     dag.Digest
	arriving   dag.Digest
	candidates []dag.TurnID
	receipt    *api.Receipt // of a stream: the turns acknowledged before the error
	cause      error        // for the log
}

func (p *problem) Error() string { return string(p.code) + ": " + p.detail }
func (p *problem) Unwrap() error { return p.cause }

// problemOf converts an error into a problem: package fault has its code, and typed errors have further details.
// Internal errors are logged, and the caller gets the request id.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return &problem{code: api.CodeTooLarge, detail: fmt.Sprintf("the body has more than %d bytes (limits.body_bytes); turns can be streamed as %s", tooLarge.Limit, typeLines)}
	}
	report := fault.Of(err)
	p = &problem{code: report.Sent(), detail: report.Detail, retryAfter: report.RetryAfter, cause: err}
	var conflict *store.ConflictError
	var parent *store.ParentError
	var cycle *store.CycleError
	var ambiguous *kernel.AmbiguousError
	var own *api.Fault
	var field *canon.FieldError
	switch {
	case p.code == api.CodeInternal:
		p.detail = "something failed in the service; its log has the cause under the request id"
	case p.code == api.CodeDamaged:
		p.detail = "the store is damaged; the log has the place under the request id, and graphkernel fsck finds all"
	case errors.As(err, &conflict):
		p.place, p.turn, p.stored, p.arriving, p.detail = conflict.Place, conflict.ID, conflict.Stored, conflict.Arriving, conflict.Error()
	case errors.As(err, &parent):
		p.place, p.turn, p.detail = parent.Place, parent.Parent, parent.Error()
	case errors.As(err, &cycle):
		p.place, p.turn, p.detail = cycle.Place, cycle.ID, cycle.Error()
	case errors.As(err, &ambiguous):
		p.candidates = ambiguous.Fits
	case errors.Is(err, query.ErrNoFilter):
		p.place = "query"
	case p.code == api.CodeInvalid && errors.As(err, &field):
		p.place = field.Path
	}
	if errors.As(err, &own) && own.Place != "" && api.Kinds[p.code].Status < 500 {
		p.place = own.Place
	}
	return p
}

// wire returns the problem as it is sent.
func (p *problem) wire(requestID string) *api.Problem {
	kind := api.Kinds[p.code]
	w := &api.Problem{
		Type: "/docs#problem-" + string(p.code), Title: kind.Title, Status: kind.Status,
		Detail: p.detail, Code: string(p.code), RequestID: requestID, Place: p.place,
	}
	if p.turn != (dag.TurnID{}) {
		w.Turn = p.turn
	}
	if p.code == api.CodeConflict {
		w.Stored, w.Arriving = p.stored.String(), p.arriving.String()
	}
	w.Candidates = p.candidates
	if p.receipt != nil {
		w.Admitted, w.Existing = &p.receipt.Admitted, &p.receipt.Existing
	}
	return w
}
