package server

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/server/view"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A problem is an error whose cause is known: what it says may be sent.
type problem struct {
	code       api.Code
	detail     string
	place      string
	retryAfter int // seconds; 0: none
	turn       dag.TurnID
	stored     dag.Digest
	arriving   dag.Digest
	candidates []dag.TurnID
	receipt    *store.Receipt // of a stream: what was acknowledged before
	cause      error          // for the log
}

func (p *problem) Error() string { return string(p.code) + ": " + p.detail }
func (p *problem) Unwrap() error { return p.cause }

// problemOf is the one table from errors to problems. What it does not know is
// internal: it is logged, and the caller learns the request id.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	var conflict *store.ConflictError
	var parent *store.ParentError
	var cycle *store.CycleError
	var ambiguous *kernel.AmbiguousError
	var field *canon.FieldError
	var query *view.QueryError
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &conflict):
		return &problem{
			code: api.CodeConflict, place: conflict.Place, turn: conflict.ID, stored: conflict.Stored, arriving: conflict.Arriving, detail: conflict.Error(),
		}
	case errors.As(err, &parent):
		return &problem{code: api.CodeParent, place: parent.Place, turn: parent.Parent, detail: parent.Error()}
	case errors.As(err, &cycle):
		return &problem{code: api.CodeCycle, place: cycle.Place, turn: cycle.ID, detail: cycle.Error()}
	case errors.As(err, &ambiguous):
		return &problem{code: api.CodeAmbiguous, candidates: ambiguous.Fits, detail: err.Error()}
	case errors.As(err, &query):
		return &problem{code: api.CodeInvalid, place: "query parameter " + query.Parameter, detail: query.Detail}
	case errors.Is(err, kernel.ErrNoFilter):
		return &problem{code: api.CodeInvalid, place: "query", detail: err.Error(), cause: err}
	case errors.As(err, &tooLarge):
		return &problem{code: api.CodeTooLarge, detail: fmt.Sprintf("the body has more than %d bytes (limits.body_bytes); turns can be streamed as %s", tooLarge.Limit, typeLines)}
	case errors.As(err, &field) && !errors.Is(err, slice.ErrMalformed):
		return &problem{code: api.CodeInvalid, place: field.Path, detail: err.Error()}
	}
	for _, row := range [...]struct {
		is   error
		code api.Code
	}{
		{access.ErrKey, api.CodeUnauthenticated},
		{kernel.ErrDamaged, api.CodeInternal}, // before the sentinels that it may wrap
		{store.ErrNotFound, api.CodeNotFound},
		{policy.ErrConflict, api.CodePolicyConflict},
		{policy.ErrUnknown, api.CodePolicyUnknown},
		{policy.ErrRange, api.CodeInvalid},
		{policy.ErrMismatch, api.CodeInvalid},
		{policy.ErrType, api.CodeVersion},
		{slice.ErrVersion, api.CodeVersion},
		{slice.ErrMalformed, api.CodeBundle},
		{slice.ErrAnchor, api.CodeNotFound},
		{kernel.ErrBeyondHead, api.CodeBeyondHead},
		{kernel.ErrTooLarge, api.CodeSliceTooLarge},
		{kernel.ErrBatch, api.CodeTooLarge},
		{token.ErrNoKey, api.CodeNoKey},
		{kernel.ErrErasedSince, api.CodeErased},
		{kernel.ErrNoExport, api.CodeInvalid},
		{canon.ErrSyntax, api.CodeSyntax},
		{knowledge.ErrNotBelieved, api.CodeNotBelieved},
		{kernel.ErrNoEvidence, api.CodeEvidence},
		{normalize.ErrAmbiguous, api.CodeAlias},
		{normalize.ErrChain, api.CodeAlias},
		{normalize.ErrUnknown, api.CodeAlias},
		{normalize.ErrSelf, api.CodeInvalid},
		{normalize.ErrEmpty, api.CodeInvalid},
		{normalize.ErrForm, api.CodeInvalid},
		{knowledge.ErrQuery, api.CodeInvalid},
		{ingest.ErrFormat, api.CodeInvalid},
		{dag.ErrForm, api.CodeInvalid},
	} {
		if errors.Is(err, row.is) {
			if row.code == api.CodeInternal {
				break
			}
			return &problem{code: row.code, detail: err.Error(), cause: err}
		}
	}
	if s, ok := view.StateOf(err); ok {
		return &problem{code: s.Code, detail: s.Detail, retryAfter: s.RetryAfter, cause: err}
	}
	return &problem{code: api.CodeInternal, detail: "something failed here; the log has it under the request id", cause: err}
}

// wire returns the problem as it is sent.
func (p *problem) wire(requestID string) *api.Problem {
	kind := api.Kinds[p.code]
	w := &api.Problem{
		Type: "/docs#problem-" + string(p.code), Title: kind.Title, Status: kind.Status,
		Detail: p.detail, Code: string(p.code), RequestID: requestID, Place: p.place,
	}
	if p.turn != (dag.TurnID{}) {
		w.Turn = p.turn.String()
	}
	if p.code == api.CodeConflict {
		w.Stored, w.Arriving = p.stored.String(), p.arriving.String()
	}
	for _, id := range p.candidates {
		w.Candidates = append(w.Candidates, id.String())
	}
	if p.receipt != nil {
		w.Admitted, w.Existing = &p.receipt.Admitted, &p.receipt.Existing
	}
	return w
}
