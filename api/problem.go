package api

import (
	"cmp"
	"fmt"
	"slices"
)

// A Code names a kind of problem. It is stable, and callers branch on it. It is an error, so errors.Is finds it.
//
//	if errors.Is(err, api.CodeNotFound) {
type Code string

func (c Code) Error() string { return string(c) }

// The codes of the service. docs/service.md explains each.
const (
	CodeSyntax          Code = "malformed_json"
	CodeInvalid         Code = "invalid_request"
	CodeMediaType       Code = "unsupported_media_type"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeNoRoute         Code = "no_such_route"
	CodeMethod          Code = "method_not_allowed"
	CodeNotFound        Code = "not_found"
	CodeAmbiguous       Code = "ambiguous"
	CodeConflict        Code = "conflict"
	CodeParent          Code = "unknown_parent"
	CodeCycle           Code = "cycle"
	CodePolicyConflict  Code = "policy_conflict"
	CodePolicyUnknown   Code = "unknown_policy"
	CodeBeyondHead      Code = "beyond_head"
	CodeBundle          Code = "malformed_bundle"
	CodeVersion         Code = "unknown_version"
	CodeTooLarge        Code = "too_large"
	CodeSliceTooLarge   Code = "slice_too_large"
	CodeRate            Code = "rate_limited"
	CodeOverloaded      Code = "overloaded"
	CodeTimeout         Code = "timeout"
	CodeSlowClient      Code = "slow_client"
	CodeNoKey           Code = "no_signing_key"
	CodeGone            Code = "client_gone"
	CodeStore           Code = "store_unavailable"
	CodeKeys            Code = "keys_unavailable"
	CodeModel           Code = "model_unavailable"
	CodeNoIdentity      Code = "no_identity"
	CodeErased          Code = "erased"
	CodeNotBelieved     Code = "not_believed"
	CodeBelief          Code = "belief_conflict"
	CodeEvidence        Code = "unknown_evidence"
	CodeConstraints     Code = "too_many_constraints"
	CodeWaiting         Code = "too_many_waiting"
	CodeSettings        Code = "too_many_settings"
	CodeStanding        Code = "standing_changed"
	CodePersona         Code = "persona_refused"
	CodeAlias           Code = "alias_conflict"
	CodeForked          Code = "ledger_forked"
	CodeWorkingFull     Code = "working_full"
	CodeNotContinued    Code = "not_continued"
	CodeInternal        Code = "internal"
)

// Codes of errors that the service sends under another code.
const (
	CodeMalformed Code = "malformed"
	CodeMismatch  Code = "policy_mismatch"
	CodeAnchor    Code = "anchor_not_in_view"
)

// Codes of errors of a command; no service returns them.
const (
	CodeUsage           Code = "usage"
	CodeTampered        Code = "tampered"
	CodeKeyUnknown      Code = "key_unknown"
	CodeKeyRetired      Code = "key_retired"
	CodeNotInLog        Code = "not_in_log"
	CodeInconsistent    Code = "log_inconsistent"
	CodeQuorum          Code = "quorum_not_met"
	CodeRedacted        Code = "redacted"
	CodeDamaged         Code = "damaged"
	CodeEvidenceVersion Code = "unknown_evidence_version"
)

// The exit codes of commands. They are stable; docs/cli.md lists them.
const (
	ExitOK             = 0
	ExitInternal       = 1  // something failed: I/O, a conflict, a turn that does not exist
	ExitUsage          = 2  // the command line or an argument is wrong
	ExitTampered       = 10 // evidence does not match what was signed
	ExitKeyUnknown     = 11 // the signer's key is not known here
	ExitKeyRetired     = 12 // the key no longer verifies anything
	ExitNotInLog       = 13 // no proof leads to a checkpoint of a trusted log
	ExitInconsistent   = 14 // a log showed two histories
	ExitQuorumNotMet   = 15 // too few witnesses cosigned
	ExitRedacted       = 16 // text is missing, and --require-full was given
	ExitReplayDiffers  = 17
	ExitDamaged        = 18 // a store is damaged
	ExitReplayLost     = 19 // a replay lacks text that existed, and no erasure is on record
	ExitMalformed      = 20 // the bytes are malformed
	ExitUnknownVersion = 21
)

// A Kind says how the errors of a code are reported over HTTP, by a command and to an agent.
type Kind struct {
	Status   int    // of an HTTP answer; 0: the service has no such answer
	Title    string // of a problem
	Exit     int    // of a command
	Sent     Code   // the code that the service returns instead; "": the code itself
	Advice   string // appended to the text that an agent sees
	Withheld bool   // agents do not see it: the error concerns this program, or its stored data
}

// Kinds lists every code. docs/service.md repeats the codes with a status, and a test compares the two.
var Kinds = map[Code]Kind{
	CodeSyntax:          {Status: 400, Title: "The body is not strict JSON", Exit: ExitMalformed, Withheld: true},
	CodeInvalid:         {Status: 400, Title: "The request does not have its form", Exit: ExitUsage},
	CodeMediaType:       {Status: 415, Title: "The body is of another media type", Exit: ExitInternal},
	CodeUnauthenticated: {Status: 401, Title: "No valid key", Exit: ExitInternal, Withheld: true},
	CodeForbidden:       {Status: 403, Title: "The key's role does not permit this", Exit: ExitInternal},
	CodeNoRoute:         {Status: 404, Title: "There is no such route", Exit: ExitInternal},
	CodeMethod:          {Status: 405, Title: "The route does not have this method", Exit: ExitInternal},
	CodeNotFound:        {Status: 404, Title: "Not found", Exit: ExitInternal},
	CodeAmbiguous:       {Status: 409, Title: "The name fits several turns", Exit: ExitUsage},
	CodeConflict:        {Status: 409, Title: "The turn was admitted with other content", Exit: ExitInternal, Advice: "; a turn never changes, so give the new one an id of its own"},
	CodeParent:          {Status: 422, Title: "A parent is not known", Exit: ExitInternal, Advice: "; admit it first, or in the same call"},
	CodeCycle:           {Status: 422, Title: "Turns are each other's ancestors", Exit: ExitInternal, Advice: "; leave out one of the edges"},
	CodePolicyConflict:  {Status: 409, Title: "The policy id is bound to other parameters", Exit: ExitInternal},
	CodePolicyUnknown:   {Status: 404, Title: "The policy is not known", Exit: ExitInternal, Advice: "; list_policies names those that there are"},
	CodeBeyondHead:      {Status: 422, Title: "The view does not exist yet", Exit: ExitUsage, Advice: "; leave as_of out for the present"},
	CodeBundle:          {Status: 422, Title: "The bytes are no bundle", Exit: ExitMalformed, Withheld: true},
	CodeVersion:         {Status: 422, Title: "The bundle is of an unknown version", Exit: ExitUnknownVersion, Withheld: true},
	CodeTooLarge:        {Status: 413, Title: "The request is too large", Exit: ExitInternal},
	CodeSliceTooLarge:   {Status: 422, Title: "The slice is too large", Exit: ExitInternal, Advice: "; name another policy"},
	CodeRate:            {Status: 429, Title: "Too many requests", Exit: ExitInternal},
	CodeOverloaded:      {Status: 503, Title: "The service is busy", Exit: ExitInternal},
	CodeTimeout:         {Status: 504, Title: "The request took too long", Exit: ExitInternal},
	CodeSlowClient:      {Status: 408, Title: "The body came too slowly", Exit: ExitInternal},
	CodeNoKey:           {Status: 503, Title: "There is no signing key", Exit: ExitInternal, Advice: "; nothing can be cut until the operator of this server makes one (graphkernel keys init)"},
	CodeGone:            {Status: 499, Title: "The client is gone", Exit: ExitInternal},
	CodeStore:           {Status: 503, Title: "The store is not available", Exit: ExitInternal},
	CodeKeys:            {Status: 503, Title: "Keys cannot be looked up", Exit: ExitInternal},
	CodeModel:           {Status: 503, Title: "A model cannot be used", Exit: ExitInternal, Advice: "; leave policy out to search by words"},
	CodeNoIdentity:      {Status: 503, Title: "The kernel has no identity", Exit: ExitInternal},
	CodeErased:          {Status: 410, Title: "Text was erased since", Exit: ExitInternal},
	CodeNotBelieved:     {Status: 409, Title: "The statement is not believed", Exit: ExitInternal, Advice: "; nothing was changed; knowledge_find says what is believed now"},
	CodeEvidence:        {Status: 422, Title: "The evidence of a fact is not known", Exit: ExitInternal, Advice: "; nothing was changed"},
	CodePersona:         {Status: 422, Title: "The persona is not accepted", Exit: ExitMalformed, Advice: "; nothing was changed"},
	CodeBelief:          {Status: 409, Title: "The statements contradict a belief", Exit: ExitInternal, Advice: "; nothing was changed; base says what is believed now"},
	CodeConstraints:     {Status: 422, Title: "The space has too many constraints", Exit: ExitInternal, Advice: "; only a person ends one; ask with spaces for other spaces meanwhile"},
	CodeWaiting:         {Status: 422, Title: "Too many proposals wait", Exit: ExitInternal, Advice: "; nothing was changed; a person has to decide some of them first"},
	CodeSettings:        {Status: 422, Title: "The tenant has too many settings of its standing policy", Exit: ExitInternal},
	CodeStanding:        {Status: 409, Title: "Another standing policy is in force by now", Exit: ExitInternal},
	CodeWorkingFull:     {Status: 422, Title: "Working memory is full", Exit: ExitInternal, Advice: "; consolidate or clear a session"},
	CodeAlias:           {Status: 409, Title: "The aliases contradict each other", Exit: ExitInternal},
	CodeInternal:        {Status: 500, Title: "Internal error", Exit: ExitInternal, Withheld: true},

	CodeForked:       {Status: 503, Title: "The ledger is not the history that was signed", Exit: ExitInconsistent},
	CodeNotContinued: {Status: 422, Title: "The log does not continue what was signed", Exit: ExitInconsistent, Withheld: true},

	CodeMalformed: {Status: 400, Title: "The input does not have the required form", Exit: ExitMalformed, Sent: CodeInvalid, Withheld: true},
	CodeMismatch:  {Status: 400, Title: "The policy is of another type", Exit: ExitUsage, Sent: CodeInvalid, Advice: "; list_policies shows their types"},
	CodeAnchor:    {Status: 404, Title: "The anchor is not in the view", Exit: ExitInternal, Sent: CodeNotFound, Advice: "; it was admitted later, so give a higher as_of or leave it out"},

	CodeUsage:           {Title: "The command line is wrong", Exit: ExitUsage, Withheld: true},
	CodeTampered:        {Title: "Evidence does not match what was signed", Exit: ExitTampered, Withheld: true},
	CodeKeyUnknown:      {Title: "Nobody here can say who signed it", Exit: ExitKeyUnknown, Withheld: true},
	CodeKeyRetired:      {Title: "The key verifies nothing any more", Exit: ExitKeyRetired, Withheld: true},
	CodeNotInLog:        {Title: "No proof leads to a checkpoint of a trusted log", Exit: ExitNotInLog, Withheld: true},
	CodeInconsistent:    {Title: "A log showed two histories", Exit: ExitInconsistent, Withheld: true},
	CodeQuorum:          {Title: "Too few witnesses cosigned", Exit: ExitQuorumNotMet, Withheld: true},
	CodeRedacted:        {Title: "Text is missing", Exit: ExitRedacted, Withheld: true},
	CodeDamaged:         {Status: 500, Title: "A store is damaged", Exit: ExitDamaged, Withheld: true},
	CodeEvidenceVersion: {Title: "Evidence of an unknown version", Exit: ExitUnknownVersion, Withheld: true},
}

// Problems lists the codes that the service returns, by status and name.
func Problems() []Code {
	var list []Code
	for code, kind := range Kinds {
		if kind.Status != 0 && kind.Sent == "" {
			list = append(list, code)
		}
	}
	slices.SortFunc(list, func(a, b Code) int { return cmp.Or(cmp.Compare(Kinds[a].Status, Kinds[b].Status), cmp.Compare(a, b)) })
	return list
}

// A Fault is an error with its own code, whatever error it wraps. A Fault without a code only adds the place in the request to
// another error.
type Fault struct {
	Code  Code   // "": the code of Err
	Place string // in a request, such as query parameter as_of; "": none
	Err   error  // the message
}

// Faultf makes a Fault with a message.
func Faultf(code Code, place, format string, args ...any) *Fault {
	return &Fault{code, place, fmt.Errorf(format, args...)}
}

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns the wrapped error.
func (f *Fault) Unwrap() error { return f.Err }
