package api

// A Code names a kind of problem. It is stable, and callers branch on it: it is an error so that
// errors.Is finds it.
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
	CodeNoIdentity      Code = "no_identity"
	CodeErased          Code = "erased"
	CodeNotBelieved     Code = "not_believed"
	CodeEvidence        Code = "unknown_evidence"
	CodeAlias           Code = "alias_conflict"
	CodeInternal        Code = "internal"
)

// A Kind is the HTTP status of a code, and a title.
type Kind struct {
	Status int
	Title  string
}

// Kinds lists every code. docs/service.md repeats it, and a test compares.
var Kinds = map[Code]Kind{
	CodeSyntax:          {400, "The body is not strict JSON"},
	CodeInvalid:         {400, "The request does not have its form"},
	CodeMediaType:       {415, "The body is of another media type"},
	CodeUnauthenticated: {401, "No valid key"},
	CodeForbidden:       {403, "The key's role does not permit this"},
	CodeNoRoute:         {404, "There is no such route"},
	CodeMethod:          {405, "The route does not have this method"},
	CodeNotFound:        {404, "Not found"},
	CodeAmbiguous:       {409, "The name fits several turns"},
	CodeConflict:        {409, "The turn was admitted with other content"},
	CodeParent:          {422, "A parent is not known"},
	CodeCycle:           {422, "Turns are each other's ancestors"},
	CodePolicyConflict:  {409, "The policy id is bound to other parameters"},
	CodePolicyUnknown:   {404, "The policy is not known"},
	CodeBeyondHead:      {422, "The view does not exist yet"},
	CodeBundle:          {422, "The bytes are no bundle"},
	CodeVersion:         {422, "The bundle is of an unknown version"},
	CodeTooLarge:        {413, "The request is too large"},
	CodeSliceTooLarge:   {422, "The slice is too large"},
	CodeRate:            {429, "Too many requests"},
	CodeOverloaded:      {503, "The service is busy"},
	CodeTimeout:         {504, "The request took too long"},
	CodeSlowClient:      {408, "The body came too slowly"},
	CodeNoKey:           {503, "No key signs"},
	CodeGone:            {499, "The client is gone"},
	CodeStore:           {503, "The store is not available"},
	CodeKeys:            {503, "Keys cannot be looked up"},
	CodeNoIdentity:      {503, "The kernel has no identity"},
	CodeErased:          {410, "Text was erased since"},
	CodeNotBelieved:     {409, "The statement is not believed"},
	CodeEvidence:        {422, "The evidence of a fact is not known"},
	CodeAlias:           {409, "The aliases contradict each other"},
	CodeInternal:        {500, "Internal error"},
}
