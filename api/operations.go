package api

import (
	"cmp"
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// None is the In of operations without input, and the Out of operations whose answer is not JSON.
type None struct{}

// A Document is an answer whose bytes are canonical or come from elsewhere. Each type has the name of its shape.
type (
	Bundle       json.RawMessage // of GKP/1
	FactBundle   json.RawMessage // of GKF/2
	BeliefBundle json.RawMessage // of gkb/1
	Keys         json.RawMessage // of package identity
	JWKS         json.RawMessage
)

// Media types and headers of answers, and a status, with their shapes.
var (
	text    = map[string]string{"text/plain": "Text"}
	binary  = map[string]string{"application/octet-stream": "Binary"}
	sealed  = map[string]string{"ETag": "ETag", "Slice-Id": "SliceID"}
	private = map[string]string{"Cache-Control": "Immutable"}
	public  = map[string]string{"Cache-Control": "PublicImmutable"}
	unwell  = map[int]map[string]string{503: {"application/json": "Health"}}
)

// Turns.
var (
	AdmitTurns = declare[Turns, Receipt](Spec{ID: "admitTurns", Method: "POST", Path: "/api/turns", Tag: "turns", Tool: "admit_turns", May: access.Admit,
		Takes: map[string]string{"application/x-ndjson": "Turn"}, Lines: true, Fails: []int{409, 422}})
	GetTurn           = declare[TurnByID, StoredTurn](Spec{ID: "getTurn", Method: "GET", Path: "/api/turns/{id}", Tag: "turns", May: access.Read, Fails: []int{404}})
	EraseTurn         = declare[Erasure, ErasedTurn](Spec{ID: "eraseTurn", Method: "DELETE", Path: "/api/turns/{id}", Tag: "turns", May: access.Erase, Fails: []int{404}})
	ListErasures      = declare[ErasureQuery, Erasures](Spec{ID: "listErasures", Method: "GET", Path: "/api/erasures", Tag: "turns", May: access.Read, Fails: []int{404}})
	ListHeldBack      = declare[HeldBackQuery, HeldBackTurns](Spec{ID: "listHeldBack", Method: "GET", Path: "/api/held-back", Tag: "turns", May: access.Erase})
	ReleaseTurns      = declare[TurnIDs, Released](Spec{ID: "releaseTurns", Method: "POST", Path: "/api/held-back/release", Tag: "turns", May: access.Erase, Fails: []int{404}})
	ListTurns         = declare[TurnQuery, StoredTurns](Spec{ID: "listTurns", Method: "GET", Path: "/api/turns", Tag: "turns", May: access.Read})
	LookUpTurns       = declare[TurnIDs, StoredTurns](Spec{ID: "lookUpTurns", Method: "POST", Path: "/api/turns/lookup", Tag: "turns", May: access.Read})
	ResolveTurn       = declare[TurnNamed, ResolvedTurn](Spec{ID: "resolveTurn", Method: "GET", Path: "/api/turn", Tag: "turns", May: access.Recall, Fails: []int{404, 409}})
	ListFolders       = declare[FolderQuery, Folders](Spec{ID: "listFolders", Method: "GET", Path: "/api/folders", Tag: "turns", May: access.Read})
	ListConversations = declare[ConversationQuery, Conversations](Spec{ID: "listConversations", Method: "GET", Path: "/api/conversations", Tag: "turns", May: access.Read})
	TurnHolding       = declare[TurnByID, Holding](Spec{ID: "turnHolding", Method: "GET", Path: "/api/turns/{id}/holding", Tag: "turns", May: access.Read, Fails: []int{404}})
	GetConversation   = declare[ConversationByID, ConversationTurns](Spec{ID: "getConversation", Method: "GET", Path: "/api/conversations/{id}", Tag: "turns", May: access.Read, Fails: []int{404}})
)

// Turns is the body of an admission.
type Turns struct {
	Turns []Turn `json:"turns" min:"1"`
}

// A Turn is a turn to be admitted. It has author and content; a turn without its text has redacted, body_digest, phase and
// salience instead. Package ingest reads it.
type Turn struct {
	ID           string            `json:"id" is:"AnyUUID"`
	Conversation string            `json:"conversation" is:"AnyUUID"`
	Parents      []Parent          `json:"parents,omitempty"`
	Role         string            `json:"role" is:"Role"`
	Phase        string            `json:"phase,omitempty" is:"Phase"`
	Salience     json.Number       `json:"salience,omitempty" is:"Fraction"`
	Author       string            `json:"author,omitempty"`
	CreatedAt    dag.Time          `json:"created_at" is:"Time"`
	Content      string            `json:"content,omitempty"`
	Salt         string            `json:"salt,omitempty" is:"Salt"`
	Attrs        map[string]string `json:"attrs,omitempty"`
	Redacted     bool              `json:"redacted,omitempty" is:"True"`
	BodyDigest   string            `json:"body_digest,omitempty" is:"AnyDigest"`
}

// A Parent is a turn that another turn continues.
type Parent struct {
	ID   string `json:"id" is:"AnyUUID"`
	Kind string `json:"kind" is:"reply|spawn|merge|reference"`
}

// TurnByID names a turn.
type TurnByID struct {
	ID dag.TurnID `json:"id"`
}

// An Erasure says which text to erase, and why. The reason may also be a query parameter.
type Erasure struct {
	ID     dag.TurnID     `json:"id"`
	Reason string         `json:"reason,omitempty" is:"Reason" doc:"The reason, if there is no body."`
	Body   ErasureRequest `json:"body,omitempty" in:"body"`
}

// ReasonOf returns the reason of an erasure: from the query, or else from the body. If both are empty, the error is a fault.
func ReasonOf(query string, body ErasureRequest) (string, error) {
	reason := cmp.Or(query, body.Reason)
	if reason == "" {
		return "", Faultf(CodeInvalid, "reason", `an erasure needs a reason, in the body: {"reason": "…"}`)
	}
	return reason, nil
}

// A TurnQuery asks for a page of turns.
type TurnQuery struct {
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"Only turns of this conversation."`
	Key          string              `json:"key,omitempty" is:"Credential" doc:"Only turns that this credential brought. At most 10 000 turns are examined for one answer, so a page may be empty and still have a next."`
	Role         string              `json:"role,omitempty" is:"Role" doc:"Only turns of this role. At most 10 000 turns are examined for one answer, as for key."`
	Paging
}

// A ConversationQuery asks for a page of conversations.
type ConversationQuery struct {
	Newest bool `json:"newest,omitempty" doc:"Sort by the time of the latest turn, the newest first, instead of by id."`
	Paging
}

// TurnIDs is a list of turn ids.
type TurnIDs struct {
	IDs []dag.TurnID `json:"ids" min:"1" max:"1000"`
}

// An ErasureQuery asks for a page of erasures.
type ErasureQuery struct {
	Turn *dag.TurnID `json:"turn,omitempty" doc:"Only the erasure of this turn."`
	Paging
}

// A HeldBackQuery asks for a page of turns that were held back.
type HeldBackQuery struct {
	Paging
}

// TurnNamed names a turn in one of several ways.
type TurnNamed struct {
	Name string `json:"name" is:"TurnName"`
}

// ConversationByID asks for turns of a conversation.
type ConversationByID struct {
	ID  dag.ConversationID `json:"id"`
	Key string             `json:"key,omitempty" is:"Credential" doc:"Only turns that this credential brought. At most 10 000 turns are examined for one answer, so a page may be empty and still have a next."`
	Paging
}

// Slices and verification.
var (
	CutSlice = declare[SliceRequest, Bundle](Spec{ID: "cutSlice", Method: "POST", Path: "/api/slice", Tag: "slices", Tool: "cut_slice", May: access.Cut, Fails: []int{404, 409, 422, 503}, Headers: sealed,
		Answers: map[string]string{"application/json": "Rendering", "text/markdown": "Text"}})
	CutSlices    = declare[SliceRequests, BatchResults](Spec{ID: "cutSlices", Method: "POST", Path: "/api/slice/batch", Tag: "slices", May: access.Cut})
	VerifyToken  = declare[TokenClaim, TokenVerdict](Spec{ID: "verifyToken", Method: "POST", Path: "/api/verify_token", Tag: "verification", May: access.Verify, Alone: true})
	VerifyBundle = declare[TheBundle, BundleVerdict](Spec{ID: "verifyBundle", Method: "POST", Path: "/api/verify_bundle", Tag: "verification", Tool: "verify_bundle", May: access.Verify, Alone: true})
	PreviewSlice = declare[Cutting, Preview](Spec{ID: "previewSlice", Method: "POST", Path: "/api/slice/preview", Tag: "slices", May: access.Explain, Fails: []int{404, 409, 422}})
	ExplainCut   = declare[ExplainCutting, Explanation](Spec{ID: "explainCut", Method: "POST", Path: "/api/explain", Tag: "slices", May: access.Explain, Fails: []int{404, 409, 422}})
	ListSlices   = declare[SliceQuery, Slices](Spec{ID: "listSlices", Method: "GET", Path: "/api/slices", Tag: "slices", May: access.Read})
	EraseTask    = declare[TaskErasing, TaskErased](Spec{ID: "eraseTask", Method: "DELETE", Path: "/api/slices/{slice_id}/task", Tag: "slices", May: access.Erase, Fails: []int{404}})
	GetSlice     = declare[SliceByID, SliceRecord](Spec{ID: "getSlice", Method: "GET", Path: "/api/slices/{slice_id}", Tag: "slices", May: access.Read, Fails: []int{404}})
	ReplaySlice  = declare[Replaying, Replay](Spec{ID: "replaySlice", Method: "POST", Path: "/api/slices/{slice_id}/replay", Tag: "slices", Tool: "replay_slice", May: access.Replay, Fails: []int{404, 422}})
	ExplainTurn  = declare[ExplainRequest, Explanation](Spec{ID: "explainTurn", Method: "POST", Path: "/api/slices/{slice_id}/explain", Tag: "slices", Tool: "explain_turn", May: access.Explain, Fails: []int{404, 409}})
	GetBundle    = declare[EvidenceOf, Bundle](Spec{ID: "getBundle", Method: "GET", Path: "/api/slices/{slice_id}/bundle", Tag: "slices", May: access.Read, Fails: []int{404, 410}, Headers: sealed,
		Answers: map[string]string{"application/json": "AnyBundle"}})
	GetEvidence   = declare[EvidenceOf, Evidence](Spec{ID: "getEvidence", Method: "GET", Path: "/api/slices/{slice_id}/evidence", Tag: "ledger", May: access.Read, Fails: []int{404, 410, 503}})
	ConvertBundle = declare[Converting, Converted](Spec{ID: "convertBundle", Method: "POST", Path: "/api/convert", Tag: "ledger", May: access.Verify, Fails: []int{404, 422, 503}})
	AttestBundle  = declare[TheBundle, Evidence](Spec{ID: "attestBundle", Method: "POST", Path: "/api/attest", Tag: "ledger", May: access.Verify, Fails: []int{404, 422, 503}})
)

// TheBundle is a bundle, byte for byte. Any bytes are accepted and judged.
type TheBundle struct {
	Bundle json.RawMessage `json:"bundle" in:"body" is:"Anything" doc:"The bundle, byte for byte; one line feed at the end is a file's, and no part of it. Any bytes are accepted and judged."`
}

// Converting asks for a bundle in another format.
type Converting struct {
	To     string          `json:"to" in:"query" is:"prov|openlineage|sigstore"`
	Bundle json.RawMessage `json:"bundle" in:"body" is:"Anything" doc:"A bundle that was issued here, byte for byte."`
}

// A SliceQuery asks for a page of issued records.
type SliceQuery struct {
	Kind    string `json:"kind,omitempty" is:"slice|facts|context|belief" doc:"Only slices of turns, slices of facts, contexts, or evidence of beliefs. At most 1 000 records are examined for one answer, so a page may be empty and still have a next."`
	Begins  string `json:"begins,omitempty" is:"SliceBegin" doc:"Only records whose slice id begins with this, by ascending id and all on one page, which has no next."`
	Newest  bool   `json:"newest,omitempty" doc:"Return the newest first."`
	Counted bool   `json:"counted,omitempty" doc:"Return how many turns each slice of turns holds; each is cut again for this."`
	Paging
}

// SliceByID names a slice.
type SliceByID struct {
	SliceID slice.SliceID `json:"slice_id" is:"AnySliceID"`
}

// A TaskErasing says which context's task to erase, and why. The reason may also be a query parameter.
type TaskErasing struct {
	SliceID slice.SliceID  `json:"slice_id" is:"AnySliceID"`
	Reason  string         `json:"reason,omitempty" is:"Reason" doc:"The reason, if there is no body."`
	Body    ErasureRequest `json:"body,omitempty" in:"body"`
}

// Replaying asks for a slice to be cut again.
type Replaying struct {
	SliceByID
	Bundle json.RawMessage `json:"bundle,omitempty" in:"body" is:"Anything" doc:"The bundle to compare, byte for byte."`
}

// EvidenceOf names a slice and, if the slice has several bundles, one of them.
type EvidenceOf struct {
	SliceByID
	Bundle string `json:"bundle,omitempty" is:"AnyDigest" doc:"The SHA-256 of the bundle; the newest bundle of this slice id if left out."`
}

// Policies.
var (
	ListPolicies   = declare[None, Policies](Spec{ID: "listPolicies", Method: "GET", Path: "/api/policies", Tag: "policies", Tool: "list_policies", May: access.ListPolicies})
	RegisterPolicy = declare[PolicyRegistration, RegisteredPolicy](Spec{ID: "registerPolicy", Method: "POST", Path: "/api/policies", Tag: "policies", May: access.Register, Fails: []int{409, 422}})
	GetPolicy      = declare[PolicyByID, RegisteredPolicy](Spec{ID: "getPolicy", Method: "GET", Path: "/api/policies/{policy_id}", Tag: "policies", May: access.ListPolicies, Fails: []int{404}})
)

// A PolicyRegistration binds an id to parameters. Package policy reads it.
type PolicyRegistration struct {
	PolicyID policy.ID       `json:"policy_id" is:"PolicyID"`
	Policy   json.RawMessage `json:"policy" is:"Policy"`
}

// SlicePolicy is the policy for cutting a slice of turns.
type SlicePolicy struct {
	Type            string       `json:"type" is:"SlicePolicyType"`
	MaxNodes        int          `json:"max_nodes,omitempty" is:"1..10000"`
	MaxRadius       int          `json:"max_radius,omitempty" is:"0..64"`
	PhaseWeights    PhaseWeights `json:"phase_weights,omitempty"`
	SalienceWeight  json.Number  `json:"salience_weight,omitempty" is:"Fraction"`
	DistanceDecay   json.Number  `json:"distance_decay,omitempty" is:"Fraction"`
	IncludeSiblings bool         `json:"include_siblings,omitempty"`
	MaxSiblings     int          `json:"max_siblings,omitempty" is:"0..100"`
}

// PhaseWeights are the weights of a SlicePolicy.
type PhaseWeights struct {
	Synthesis     json.Number `json:"synthesis,omitempty" is:"Fraction"`
	Planning      json.Number `json:"planning,omitempty" is:"Fraction"`
	Consolidation json.Number `json:"consolidation,omitempty" is:"Fraction"`
	Debugging     json.Number `json:"debugging,omitempty" is:"Fraction"`
	Exploration   json.Number `json:"exploration,omitempty" is:"Fraction"`
}

// FactPolicy is the policy for gathering a slice of facts.
type FactPolicy struct {
	Type          string      `json:"type" is:"FactPolicyType"`
	Predicates    []string    `json:"predicates,omitempty" is:"Name" max:"64" doc:"The predicates that are followed; all if left out."`
	Direction     string      `json:"direction,omitempty" is:"Direction"`
	MaxHops       int         `json:"max_hops,omitempty" is:"1..8"`
	MaxResults    int         `json:"max_results,omitempty" is:"1..1000"`
	MinConfidence json.Number `json:"min_confidence,omitempty" is:"Fraction"`
}

// DenyRules are rules that deny tool calls.
type DenyRules struct {
	Type  string     `json:"type" is:"DenyRulesType"`
	Rules []DenyRule `json:"rules" max:"256"`
}

// A DenyRule denies calls of tools. Patterns are regular expressions of RE2.
type DenyRule struct {
	Tool     string `json:"tool" max:"1024" doc:"Matches the whole name of a tool."`
	Argument string `json:"argument,omitempty" max:"1024" doc:"Matches a part of any text, number or name in the arguments; every call of the tool if left out."`
	Reason   string `json:"reason" max:"1024" doc:"The reason that the agent is given."`
}

// Retention says how long turns keep their text. The first rule that a turn matches applies; a turn that matches no rule keeps
// its text for ever.
type Retention struct {
	Type  string          `json:"type" is:"RetentionType"`
	Rules []RetentionRule `json:"rules" max:"256"`
}

// A RetentionRule applies to the turns that match it.
type RetentionRule struct {
	Folder string `json:"cwd,omitempty" max:"4096" doc:"Turns said while the agent worked in this folder, or below it."`
	Author string `json:"author,omitempty" max:"4096"`
	Role   string `json:"role,omitempty" is:"Role"`
	Days   int    `json:"days,omitempty" is:"1..36500" doc:"The days from the turn's created_at on; for ever if left out."`
}

// PolicyByID names a policy.
type PolicyByID struct {
	PolicyID policy.ID `json:"policy_id" is:"PolicyID"`
}

// StreamEvents streams events.
var StreamEvents = declare[EventsAfter, None](Spec{ID: "streamEvents", Method: "GET", Path: "/api/events", Tag: "events", May: access.Read, Answers: map[string]string{"text/event-stream": "Text"}})

// EventsAfter says after which event a stream begins.
type EventsAfter struct {
	Header string `json:"Last-Event-ID,omitempty" in:"header" is:"EventID"`
	Query  string `json:"last_event_id,omitempty" is:"EventID" doc:"The same as a query parameter, for clients that cannot set headers. If both are given, the header counts."`
}

// The ledger.
var (
	GetCheckpoint       = declare[None, None](Spec{ID: "getCheckpoint", Method: "GET", Path: "/log/checkpoint", Tag: "ledger", May: access.Follow, Fails: []int{503}, Answers: text})
	GetTile             = declare[TileAt, None](Spec{ID: "getTile", Method: "GET", Path: "/log/tile/{tile...}", Tag: "ledger", May: access.Follow, Fails: []int{404, 503}, Answers: binary, Headers: private})
	GetEntries          = declare[EntriesAt, None](Spec{ID: "getEntries", Method: "GET", Path: "/log/entries/{entries...}", Tag: "ledger", May: access.Read, Fails: []int{404, 503}, Answers: binary, Headers: private})
	GetProof            = declare[LeafAt, None](Spec{ID: "getProof", Method: "GET", Path: "/log/proof", Tag: "ledger", May: access.Read, Fails: []int{404, 503}, Answers: text})
	GetConsistency      = declare[Sizes, None](Spec{ID: "getConsistency", Method: "GET", Path: "/log/consistency", Tag: "ledger", May: access.Follow, Fails: []int{404, 503}, Answers: text})
	GetLogKeys          = declare[None, Keys](Spec{ID: "getLogKeys", Method: "GET", Path: "/log/keys", Tag: "ledger", May: access.Follow, Fails: []int{503}})
	GetPublicCheckpoint = declare[PublicLog, None](Spec{ID: "getPublicCheckpoint", Method: "GET", Path: "/log/of/{tenant}/checkpoint", Tag: "ledger", Limited: true, Fails: []int{404, 503}, Answers: text})
	GetPublicTile       = declare[PublicTileAt, None](Spec{ID: "getPublicTile", Method: "GET", Path: "/log/of/{tenant}/tile/{tile...}", Tag: "ledger", Limited: true, Fails: []int{404, 503}, Answers: binary, Headers: public})
	WellKnownKeys       = declare[None, Keys](Spec{ID: "wellKnownKeys", Method: "GET", Path: "/.well-known/graphkernel-keys.json", Tag: "ledger", Limited: true, Fails: []int{503}})
	WellKnownJWKS       = declare[None, JWKS](Spec{ID: "wellKnownJWKS", Method: "GET", Path: "/.well-known/jwks.json", Tag: "ledger", Limited: true, Fails: []int{503}})
	AddCheckpoint       = declare[None, None](Spec{ID: "addCheckpoint", Method: "POST", Path: "/witness/add-checkpoint", Tag: "ledger", Limited: true, Plain: true,
		Takes: map[string]string{"*/*": "Checkpoint"}, Answers: text, Other: map[int]map[string]string{409: {"text/x.tlog.size": "Text"}}})
)

// TileAt names a tile.
type TileAt struct {
	Tile string `json:"tile" is:"Tile"`
}

// EntriesAt names a tile of entries.
type EntriesAt struct {
	Entries string `json:"entries" is:"TileIndex"`
}

// LeafAt names a leaf.
type LeafAt struct {
	Index uint64 `json:"index" is:"LogSize" doc:"The index of the leaf; the first is 0."`
}

// Sizes are two sizes of a ledger.
type Sizes struct {
	From uint64 `json:"from" is:"LogSize"`
	To   uint64 `json:"to" is:"LogSize"`
}

// PublicLog names the tenant of a public ledger.
type PublicLog struct {
	Tenant string `json:"tenant" is:"Tenant"`
}

// PublicTileAt names a tile of a public ledger.
type PublicTileAt struct {
	PublicLog
	TileAt
}

// Operations on API keys, for callers who may create keys.
var (
	ListKeys  = declare[None, APIKeys](Spec{ID: "listKeys", Method: "GET", Path: "/api/keys", Tag: "keys", May: access.ManageKeys})
	CreateKey = declare[NewAPIKey, MadeAPIKey](Spec{ID: "createKey", Method: "POST", Path: "/api/keys", Tag: "keys", May: access.ManageKeys, Once: true, Fails: []int{409}})
	RevokeKey = declare[APIKeyByID, RevokedAPIKey](Spec{ID: "revokeKey", Method: "DELETE", Path: "/api/keys/{id}", Tag: "keys", May: access.ManageKeys, Fails: []int{404}})
)

// NewAPIKey describes the key to create.
type NewAPIKey struct {
	Role      string `json:"role" is:"verifier|agent|auditor|admin"`
	Note      string `json:"note,omitempty" is:"KeyNote"`
	Roles     string `json:"admits_roles,omitempty" doc:"The roles of the turns that it may admit, separated by commas; those of its role if absent."`
	Authors   string `json:"admits_authors,omitempty" doc:"Patterns of the authors whose turns it may admit, separated by commas; any if absent."`
	SpeaksFor string `json:"speaks_for,omitempty" doc:"Patterns of the authors for whom it speaks, separated by commas; nobody if absent. A turn that a key of role agent brings in the name of another person is data; a key of role admin speaks for everybody. PATTERN=owner and PATTERN=member say what the author counts for. Only for these two roles."`
	Spaces    string `json:"spaces,omitempty" doc:"Patterns of the spaces of beliefs that it sees, separated by commas; all if absent. Only for the role agent."`
}

// APIKeyByID names a key.
type APIKeyByID struct {
	ID string `json:"id" is:"KeyID"`
}

// GetCaller returns the caller.
var GetCaller = declare[None, Caller](Spec{ID: "getCaller", Method: "GET", Path: "/api/caller", Tag: "keys", May: access.Verify})

// Operations for operators.
var (
	Live        = declare[None, Health](Spec{ID: "live", Method: "GET", Path: "/health/live", Tag: "operations", Other: unwell})
	Ready       = declare[None, Health](Spec{ID: "ready", Method: "GET", Path: "/health/ready", Tag: "operations", Other: unwell})
	Startup     = declare[None, Health](Spec{ID: "startup", Method: "GET", Path: "/health/startup", Tag: "operations", Other: unwell})
	Metrics     = declare[None, None](Spec{ID: "metrics", Method: "GET", Path: "/metrics", Tag: "operations", Answers: text})
	Description = declare[None, None](Spec{ID: "openapi", Method: "GET", Path: "/openapi.json", Tag: "operations", Answers: map[string]string{"application/json": "Object"}})
	Docs        = declare[None, None](Spec{ID: "docs", Method: "GET", Path: "/docs", Tag: "operations", Answers: map[string]string{"text/html": "Text"}})
)
