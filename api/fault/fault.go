// Package fault is the table from errors to their codes. Package api has the status, exit code and advice of each code.
package fault

import (
	"context"
	"errors"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/persona"
	"github.com/graphkernel/graphkernel/belief/rules"
	"github.com/graphkernel/graphkernel/belief/space"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ingest"
	"github.com/graphkernel/graphkernel/ingest/admission"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/kernel"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/knowledge/query"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/ledger/identity"
	"github.com/graphkernel/graphkernel/ledger/notary"
	"github.com/graphkernel/graphkernel/ledger/witness"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/projection"
	"github.com/graphkernel/graphkernel/retrieval/find"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/contexts"
	"github.com/graphkernel/graphkernel/slice/contexts/assemble"
	"github.com/graphkernel/graphkernel/slice/issued"
	"github.com/graphkernel/graphkernel/standing/settings"
	"github.com/graphkernel/graphkernel/store"
	"github.com/graphkernel/graphkernel/store/transfer"
	"github.com/graphkernel/graphkernel/token"
	"github.com/graphkernel/graphkernel/working"
	"github.com/graphkernel/graphkernel/working/session"
)

// A Report is the part of an error that a caller may see. The error itself is for the log.
type Report struct {
	Code       api.Code
	Detail     string
	RetryAfter int // seconds; 0: none
}

// Kind returns the entry of [api.Kinds] for the report's code.
func (r *Report) Kind() api.Kind { return api.Kinds[r.Code] }

// Sent returns the code that the service answers with.
func (r *Report) Sent() api.Code {
	switch kind := r.Kind(); {
	case kind.Sent != "":
		return kind.Sent
	case kind.Status == 0:
		return api.CodeInternal
	}
	return r.Code
}

// Of returns the report of an error. The code of an error that is not in the table is api.CodeInternal.
func Of(err error) Report {
	var own *api.Fault
	if errors.As(err, &own) {
		r := Report{Code: own.Code, Detail: own.Error()}
		if own.Code == "" {
			r = Of(own.Err)
		}
		if r.Detail == own.Error() { // the error may have more text around the fault
			r.Detail = err.Error()
		}
		return r
	}
	for i := range table {
		row := &table[i]
		if !row.matches(err) {
			continue
		}
		r := Report{row.code, row.detail, row.retryAfter}
		if r.Detail == "" {
			r.Detail = err.Error()
		}
		return r
	}
	var code api.Code // of another service that was called
	if !errors.As(err, &code) || api.Kinds[code].Title == "" {
		code = api.CodeInternal
	}
	return Report{Code: code, Detail: err.Error()}
}

// A row is an error with its code. If it has no detail, the text of the error is reported.
type row struct {
	is         error
	code       api.Code
	detail     string
	retryAfter int
	as         func(error) bool // replaces is, for errors of a type
}

func (r *row) matches(err error) bool {
	if r.as != nil {
		return r.as(err)
	}
	return errors.Is(err, r.is)
}

// typed returns the row for errors of a type.
func typed[E error](code api.Code) row {
	return row{code: code, as: func(err error) bool {
		var e E
		return errors.As(err, &e)
	}}
}

const (
	again  = "the store is not available; the request may be repeated"
	absent = "there is no such slice" // another tenant's evidence does not exist for the caller
)

// table is searched from the top, and the first match counts: an error may wrap several of these.
var table = []row{
	typed[*store.ConflictError](api.CodeConflict),
	typed[*store.ParentError](api.CodeParent),
	typed[*store.CycleError](api.CodeCycle),
	typed[*kernel.AmbiguousError](api.CodeAmbiguous),

	// Requests to a witness. These errors wrap the fault in the signature or the proof.
	{is: witness.ErrRequest, code: api.CodeInvalid},
	{is: witness.ErrUnsigned, code: api.CodeForbidden},
	{is: witness.ErrUnknownLog, code: api.CodeNotFound},
	{is: witness.ErrProof, code: api.CodeNotContinued},

	// This program's own files and stored data, whatever is wrong with them.
	{is: ledger.ErrTrust, code: api.CodeUsage},
	{is: token.ErrKeyFile, code: api.CodeInternal},
	{is: identity.ErrFile, code: api.CodeInternal},
	{is: transfer.ErrDamaged, code: api.CodeDamaged},
	{is: store.ErrUnreadable, code: api.CodeDamaged},
	{is: store.ErrDamaged, code: api.CodeDamaged},

	// Faults of a request or of its input.
	{is: space.ErrPersona, code: api.CodePersona},
	{is: persona.ErrTooLarge, code: api.CodeTooLarge},
	{is: persona.ErrVersion, code: api.CodeEvidenceVersion},
	{is: persona.ErrForm, code: api.CodeMalformed},
	{is: rules.ErrAlias, code: api.CodeInvalid},
	{is: contexts.ErrRequest, code: api.CodeInvalid},
	{is: find.ErrNoWords, code: api.CodeInvalid},
	{is: projection.ErrEmbedder, code: api.CodeInvalid},
	{is: find.ErrReranker, code: api.CodeInvalid},
	{is: token.ErrNotAdmissible, code: api.CodeInvalid},
	{is: slice.ErrCost, code: api.CodeSliceTooLarge},
	{is: query.ErrNoFilter, code: api.CodeInvalid},
	{is: knowledge.ErrQuery, code: api.CodeInvalid},
	{is: projection.ErrBeyondHead, code: api.CodeBeyondHead},
	{is: access.ErrKey, code: api.CodeUnauthenticated},
	{is: kernel.ErrKind, code: api.CodeNotFound},
	{is: assemble.ErrNothing, code: api.CodeNotFound},
	{is: kernel.ErrNotBelieved, code: api.CodeNotFound},
	{is: kernel.ErrTaskGone, code: api.CodeNotFound},
	{is: session.ErrNoMessage, code: api.CodeNotFound},
	{is: contexts.ErrNoCandidate, code: api.CodeNotFound},
	{is: working.ErrDiffers, code: api.CodeConflict},
	{is: working.ErrTooLarge, code: api.CodeTooLarge},
	{is: working.ErrFull, code: api.CodeWorkingFull},
	{is: store.ErrNotFound, code: api.CodeNotFound},
	{is: policy.ErrConflict, code: api.CodePolicyConflict},
	{is: policy.ErrUnknown, code: api.CodePolicyUnknown},
	{is: policy.ErrMismatch, code: api.CodeMismatch},
	{is: policy.ErrType, code: api.CodeVersion},
	{is: slice.ErrVersion, code: api.CodeVersion},
	{is: ledger.ErrVersion, code: api.CodeEvidenceVersion},
	{is: attest.ErrVersion, code: api.CodeEvidenceVersion},
	{is: token.ErrKeyRetired, code: api.CodeKeyRetired},
	{is: token.ErrKeyUnknown, code: api.CodeKeyUnknown},
	{is: attest.ErrKeyUnknown, code: api.CodeKeyUnknown},
	{is: ledger.ErrOrigin, code: api.CodeKeyUnknown},
	{is: ledger.ErrSignature, code: api.CodeTampered},
	{is: ledger.ErrNotIncluded, code: api.CodeNotInLog},
	{is: notary.ErrForked, code: api.CodeForked, retryAfter: 300, detail: "the ledger is not the history that this kernel has signed, so nothing is issued until the operator decides which history continues (graphkernel fsck, identity adopt)"},
	{is: ledger.ErrInconsistent, code: api.CodeInconsistent},
	{is: ledger.ErrQuorum, code: api.CodeQuorum},
	{is: slice.ErrMalformed, code: api.CodeBundle},
	{is: slice.ErrAnchor, code: api.CodeAnchor},
	{is: slice.ErrTooLarge, code: api.CodeSliceTooLarge},
	{is: admission.ErrBatch, code: api.CodeTooLarge},
	{is: canon.ErrMany, code: api.CodeTooLarge},
	{is: token.ErrNoKey, code: api.CodeNoKey},
	{is: issued.ErrErasedSince, code: api.CodeErased},
	{is: notary.ErrNoExport, code: api.CodeInvalid},
	{is: knowledge.ErrNotBelieved, code: api.CodeNotBelieved},
	{is: knowledge.ErrNoEvidence, code: api.CodeEvidence},
	{is: journal.ErrNoText, code: api.CodeEvidence},
	{is: knowledge.ErrHeld, code: api.CodeBelief},
	{is: normalize.ErrAmbiguous, code: api.CodeAlias},
	{is: normalize.ErrChain, code: api.CodeAlias},
	{is: normalize.ErrUnknown, code: api.CodeAlias},
	{is: normalize.ErrSelf, code: api.CodeInvalid},
	{is: belief.ErrInput, code: api.CodeInvalid},
	{is: belief.ErrKind, code: api.CodeInvalid},
	{is: belief.ErrProtected, code: api.CodeBelief},
	{is: belief.ErrConflict, code: api.CodeBelief},
	{is: journal.ErrSpace, code: api.CodeNotFound},
	{is: journal.ErrNoItem, code: api.CodeNotFound},
	{is: journal.ErrNoConflict, code: api.CodeNotFound},
	{is: space.ErrArchive, code: api.CodeBelief},
	{is: space.ErrOriginal, code: api.CodeInvalid},
	{is: journal.ErrArchive, code: api.CodeMalformed},
	{is: journal.ErrChanged, code: api.CodeBelief},
	{is: journal.ErrDeprecated, code: api.CodeBelief},
	{is: journal.ErrTooWide, code: api.CodeInvalid},
	{is: journal.ErrTooManyConstraints, code: api.CodeConstraints},
	{is: journal.ErrTooManyWaiting, code: api.CodeWaiting},
	{is: settings.ErrTooMany, code: api.CodeSettings},
	{is: settings.ErrChanged, code: api.CodeStanding},
	{is: access.ErrMayNot, code: api.CodeForbidden},

	// Malformed input.
	{is: canon.ErrSyntax, code: api.CodeSyntax},
	{is: policy.ErrRange, code: api.CodeMalformed},
	{is: normalize.ErrEmpty, code: api.CodeMalformed},
	{is: normalize.ErrForm, code: api.CodeMalformed},
	{is: ingest.ErrFormat, code: api.CodeMalformed},
	{is: ingest.ErrSecret, code: api.CodeMalformed},
	{is: ingest.ErrNotFile, code: api.CodeUsage},
	{is: ingest.ErrArchive, code: api.CodeMalformed},
	{is: ingest.ErrBroken, code: api.CodeMalformed},
	{is: belief.ErrForm, code: api.CodeMalformed},
	{is: dag.ErrForm, code: api.CodeMalformed},
	{is: ledger.ErrForm, code: api.CodeMalformed},
	{is: ledger.ErrEmptyRoot, code: api.CodeMalformed},
	{is: attest.ErrForm, code: api.CodeMalformed},
	typed[*canon.FieldError](api.CodeMalformed),
	typed[*ingest.LineError](api.CodeMalformed),

	// The state of the service.
	{is: identity.ErrNone, code: api.CodeNoIdentity, detail: "the kernel has no identity, so it signs nothing for third parties; the operator has to run graphkernel identity init"},
	{is: token.ErrTenant, code: api.CodeNotFound, detail: absent},
	{is: access.ErrUnavailable, code: api.CodeKeys, retryAfter: 5, detail: "the key cannot be looked up now; try again"},
	{is: projection.ErrModel, code: api.CodeModel, retryAfter: 5, detail: "a model that the policy names does not answer, or its answer is invalid; the log of the service names the model and the reason"},
	{is: projection.ErrWentBack, code: api.CodeStore, retryAfter: 60, detail: "the store has lost entries of this tenant; the operator has to find the cause and restart the service"},
	{is: projection.ErrIndexing, code: api.CodeStore, retryAfter: 2, detail: "the search index is still being built, and this request needs all of it; try again in a few seconds"},
	{is: store.ErrUncertain, code: api.CodeStore, retryAfter: 1, detail: "the store did not answer, so it is unknown whether the change was stored; repeating it is safe, and is the way to find out"},
	{is: store.ErrUnwritable, code: api.CodeStore, retryAfter: 10, detail: "the store's disk is full or takes no writes; nothing was changed, and read requests still work"},
	{is: store.ErrLost, code: api.CodeStore, retryAfter: 1, detail: "the store cannot be reached; nothing was changed"},
	{is: store.ErrBusy, code: api.CodeStore, retryAfter: 1, detail: "the store is busy with other work; repeating the request is safe"},
	{is: store.ErrClosed, code: api.CodeStore, retryAfter: 5, detail: again},
	{is: store.ErrBroken, code: api.CodeStore, retryAfter: 5, detail: again},
	{is: context.DeadlineExceeded, code: api.CodeTimeout, detail: "the request took too long; if it was to change something, repeating it is safe"},
	{is: context.Canceled, code: api.CodeGone, detail: "the client cancelled the call"},

	// Errors that callers do not see: they did nothing wrong.
	{is: dag.ErrDuplicate, code: api.CodeInternal},
	{is: dag.ErrParent, code: api.CodeInternal},
	{is: dag.ErrFull, code: api.CodeInternal},
	{is: slice.ErrDecode, code: api.CodeInternal},
	{is: token.ErrKeyExists, code: api.CodeInternal},
	{is: token.ErrSecret, code: api.CodeInternal},
	{is: token.ErrDecode, code: api.CodeInternal},
	{is: token.ErrToken, code: api.CodeInternal},
	{is: identity.ErrName, code: api.CodeInternal},
	{is: knowledge.ErrForm, code: api.CodeInternal},
	{is: knowledge.ErrErased, code: api.CodeInternal},
	{is: store.ErrQuery, code: api.CodeInternal},
	{is: store.ErrGap, code: api.CodeInternal},
	{is: journal.ErrMoved, code: api.CodeInternal},
	{is: store.ErrMoved, code: api.CodeInternal},
	{is: store.ErrOvertaken, code: api.CodeInternal},
	{is: store.ErrSchema, code: api.CodeInternal},
	{is: transfer.ErrDiffers, code: api.CodeInternal},
	{is: witness.ErrFork, code: api.CodeInternal},
	{is: witness.ErrAhead, code: api.CodeInternal},
	{is: issued.ErrDamaged, code: api.CodeInternal},
}
