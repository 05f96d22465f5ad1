package server

import (
	"context"
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
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/token"
)

// A code names a kind of problem. Codes are stable; callers branch on them.
type code string

const (
	codeSyntax          code = "malformed_json"
	codeInvalid         code = "invalid_request"
	codeMediaType       code = "unsupported_media_type"
	codeUnauthenticated code = "unauthenticated"
	codeForbidden       code = "forbidden"
	codeNoRoute         code = "no_such_route"
	codeMethod          code = "method_not_allowed"
	codeNotFound        code = "not_found"
	codeAmbiguous       code = "ambiguous"
	codeConflict        code = "conflict"
	codeParent          code = "unknown_parent"
	codeCycle           code = "cycle"
	codePolicyConflict  code = "policy_conflict"
	codePolicyUnknown   code = "unknown_policy"
	codeBeyondHead      code = "beyond_head"
	codeBundle          code = "malformed_bundle"
	codeVersion         code = "unknown_version"
	codeTooLarge        code = "too_large"
	codeSliceTooLarge   code = "slice_too_large"
	codeRate            code = "rate_limited"
	codeOverloaded      code = "overloaded"
	codeTimeout         code = "timeout"
	codeSlowClient      code = "slow_client"
	codeNoKey           code = "no_signing_key"
	codeGone            code = "client_gone"
	codeStore           code = "store_unavailable"
	codeKeys            code = "keys_unavailable"
	codeNoIdentity      code = "no_identity"
	codeErased          code = "erased"
	codeNotBelieved     code = "not_believed"
	codeEvidence        code = "unknown_evidence"
	codeAlias           code = "alias_conflict"
	codeInternal        code = "internal"
)

// kinds lists every code with its status and title. docs/service.md repeats it, and
// a test compares.
var kinds = map[code]struct {
	status int
	title  string
}{
	codeSyntax:          {http.StatusBadRequest, "The body is not strict JSON"},
	codeInvalid:         {http.StatusBadRequest, "The request does not have its form"},
	codeMediaType:       {http.StatusUnsupportedMediaType, "The body is of another media type"},
	codeUnauthenticated: {http.StatusUnauthorized, "No valid key"},
	codeForbidden:       {http.StatusForbidden, "The key's role does not permit this"},
	codeNoRoute:         {http.StatusNotFound, "There is no such route"},
	codeMethod:          {http.StatusMethodNotAllowed, "The route does not have this method"},
	codeNotFound:        {http.StatusNotFound, "Not found"},
	codeAmbiguous:       {http.StatusConflict, "The name fits several turns"},
	codeConflict:        {http.StatusConflict, "The turn was admitted with other content"},
	codeParent:          {http.StatusUnprocessableEntity, "A parent is not known"},
	codeCycle:           {http.StatusUnprocessableEntity, "Turns are each other's ancestors"},
	codePolicyConflict:  {http.StatusConflict, "The policy id is bound to other parameters"},
	codePolicyUnknown:   {http.StatusNotFound, "The policy is not known"},
	codeBeyondHead:      {http.StatusUnprocessableEntity, "The view does not exist yet"},
	codeBundle:          {http.StatusUnprocessableEntity, "The bytes are no bundle"},
	codeVersion:         {http.StatusUnprocessableEntity, "The bundle is of an unknown version"},
	codeTooLarge:        {http.StatusRequestEntityTooLarge, "The request is too large"},
	codeSliceTooLarge:   {http.StatusUnprocessableEntity, "The slice is too large"},
	codeRate:            {http.StatusTooManyRequests, "Too many requests"},
	codeOverloaded:      {http.StatusServiceUnavailable, "The service is busy"},
	codeTimeout:         {http.StatusGatewayTimeout, "The request took too long"},
	codeSlowClient:      {http.StatusRequestTimeout, "The body came too slowly"},
	codeNoKey:           {http.StatusServiceUnavailable, "No key signs"},
	codeGone:            {499, "The client is gone"},
	codeStore:           {http.StatusServiceUnavailable, "The store is not available"},
	codeKeys:            {http.StatusServiceUnavailable, "Keys cannot be looked up"},
	codeNoIdentity:      {http.StatusServiceUnavailable, "The kernel has no identity"},
	codeErased:          {http.StatusGone, "Text was erased since"},
	codeNotBelieved:     {http.StatusConflict, "The statement is not believed"},
	codeEvidence:        {http.StatusUnprocessableEntity, "The evidence of a fact is not known"},
	codeAlias:           {http.StatusConflict, "The aliases contradict each other"},
	codeInternal:        {http.StatusInternalServerError, "Internal error"},
}

// A problem is an error whose cause is known: what it says may be sent.
type problem struct {
	code       code
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
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &conflict):
		return &problem{
			code: codeConflict, place: conflict.Place, turn: conflict.ID, stored: conflict.Stored, arriving: conflict.Arriving, detail: conflict.Error(),
		}
	case errors.As(err, &parent):
		return &problem{code: codeParent, place: parent.Place, turn: parent.Parent, detail: parent.Error()}
	case errors.As(err, &cycle):
		return &problem{code: codeCycle, place: cycle.Place, turn: cycle.ID, detail: cycle.Error()}
	case errors.As(err, &ambiguous):
		return &problem{code: codeAmbiguous, candidates: ambiguous.Fits, detail: err.Error()}
	case errors.As(err, &tooLarge):
		return &problem{code: codeTooLarge, detail: fmt.Sprintf("the body has more than %d bytes (limits.body_bytes); turns can be streamed as %s", tooLarge.Limit, typeLines)}
	case errors.As(err, &field) && !errors.Is(err, slice.ErrMalformed):
		return &problem{code: codeInvalid, place: field.Path, detail: err.Error()}
	}
	for _, row := range [...]struct {
		is   error
		code code
	}{
		{access.ErrKey, codeUnauthenticated},
		{kernel.ErrDamaged, codeInternal}, // before the sentinels that it may wrap
		{store.ErrNotFound, codeNotFound},
		{policy.ErrConflict, codePolicyConflict},
		{policy.ErrUnknown, codePolicyUnknown},
		{policy.ErrRange, codeInvalid},
		{policy.ErrMismatch, codeInvalid},
		{policy.ErrType, codeVersion},
		{slice.ErrVersion, codeVersion},
		{slice.ErrMalformed, codeBundle},
		{slice.ErrAnchor, codeNotFound},
		{kernel.ErrBeyondHead, codeBeyondHead},
		{kernel.ErrTooLarge, codeSliceTooLarge},
		{kernel.ErrBatch, codeTooLarge},
		{token.ErrNoKey, codeNoKey},
		{kernel.ErrErasedSince, codeErased},
		{kernel.ErrNoAttestation, codeInvalid},
		{canon.ErrSyntax, codeSyntax},
		{knowledge.ErrNotBelieved, codeNotBelieved},
		{kernel.ErrNoEvidence, codeEvidence},
		{kernel.ErrNoFilter, codeInvalid},
		{normalize.ErrAmbiguous, codeAlias},
		{normalize.ErrChain, codeAlias},
		{normalize.ErrUnknown, codeAlias},
		{normalize.ErrSelf, codeInvalid},
		{normalize.ErrEmpty, codeInvalid},
		{normalize.ErrForm, codeInvalid},
		{knowledge.ErrQuery, codeInvalid},
		{ingest.ErrFormat, codeInvalid},
		{dag.ErrForm, codeInvalid},
	} {
		if errors.Is(err, row.is) {
			if row.code == codeInternal {
				break
			}
			return &problem{code: row.code, detail: err.Error(), cause: err}
		}
	}
	switch {
	case errors.Is(err, identity.ErrNone):
		return &problem{code: codeNoIdentity, detail: "the kernel has no identity, so it signs nothing for third parties; its keeper runs graphkernel identity init", cause: err}
	case errors.Is(err, kernel.ErrTenant): // another tenant's evidence does not exist here
		return &problem{code: codeNotFound, detail: "there is no such slice", cause: err}
	case errors.Is(err, access.ErrUnavailable):
		return &problem{code: codeKeys, detail: "whose key it is cannot be found out now; try again", retryAfter: 5, cause: err}
	case errors.Is(err, kernel.ErrWentBack):
		return &problem{code: codeStore, detail: "the store holds less of this tenant than it did; its keeper has to look into it and to restart the service", retryAfter: 60, cause: err}
	case errors.Is(err, kernel.ErrForked):
		return &problem{code: codeStore, detail: "the ledger is not the history that this kernel has signed, so nothing is issued until its keeper has decided which one goes on (graphkernel fsck, identity adopt)", retryAfter: 300, cause: err}
	case errors.Is(err, store.ErrUncertain):
		return &problem{code: codeStore, detail: "the store did not answer, and whether this was kept is not known; repeating it is safe, and the way to find out", retryAfter: 1, cause: err}
	case errors.Is(err, store.ErrUnwritable):
		return &problem{code: codeStore, detail: "the store's disk is full or takes no writes; nothing was changed, and what only reads goes on", retryAfter: 10, cause: err}
	case errors.Is(err, store.ErrLost):
		return &problem{code: codeStore, detail: "the store cannot be reached; nothing was changed", retryAfter: 1, cause: err}
	case errors.Is(err, store.ErrBusy):
		return &problem{code: codeStore, detail: "others are at work on the store; repeating the request is safe", retryAfter: 1, cause: err}
	case errors.Is(err, store.ErrClosed), errors.Is(err, store.ErrBroken):
		return &problem{code: codeStore, detail: "the store is not available; what was asked may be repeated", retryAfter: 5, cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &problem{code: codeTimeout, detail: "the request took too long; if it was to change something, repeating it is safe", cause: err}
	case errors.Is(err, context.Canceled):
		return &problem{code: codeGone, detail: "the client went away", cause: err}
	}
	return &problem{code: codeInternal, detail: "something failed here; the log has it under the request id", cause: err}
}

// wire gives the problem as it is sent.
func (p *problem) wire(requestID string) *api.Problem {
	kind := kinds[p.code]
	w := &api.Problem{
		Type: "/docs#problem-" + string(p.code), Title: kind.title, Status: kind.status,
		Detail: p.detail, Code: string(p.code), RequestID: requestID, Place: p.place,
	}
	if p.turn != (dag.TurnID{}) {
		w.Turn = p.turn.String()
	}
	if p.code == codeConflict {
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
