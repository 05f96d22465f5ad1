// Package wire owns the JSON that the service and its clients exchange: one struct
// for each schema of server/openapi.yaml, under the same name and with the same
// fields. It holds no rule and no conversion; package server writes these structs,
// package client reads them. Bundles and turns have their own canonical form, which
// passes through here as raw bytes.
//
// Ids and digests are lowercase hex as in GKP/1, times are RFC 3339 in UTC, sequence
// numbers are integers below 2^53.
package wire

import "encoding/json"

// A Receipt says what an admission did.
type Receipt struct {
	Admitted int    `json:"admitted"`
	Existing int    `json:"existing"`
	Edges    int    `json:"edges"`
	Head     uint64 `json:"head"`
}

// A StoredTurn is a turn with what the store says of it. Turn is the form in which
// it would be admitted.
type StoredTurn struct {
	Seq        uint64          `json:"seq"`
	BodyDigest string          `json:"body_digest"`
	Leaf       string          `json:"leaf"`
	Redacted   bool            `json:"redacted"`
	Key        string          `json:"key,omitempty"` // the credential that brought it
	Turn       json.RawMessage `json:"turn"`
}

// A Conversation is a line of a listing.
type Conversation struct {
	ID      string `json:"id"`
	Turns   int    `json:"turns"`
	First   uint64 `json:"first"`
	Last    uint64 `json:"last"`
	FirstAt string `json:"first_at"`
	LastAt  string `json:"last_at"`
}

// Conversations is a page of conversations.
type Conversations struct {
	Conversations []Conversation `json:"conversations"`
	Next          string         `json:"next,omitempty"`
}

// ConversationTurns is a page of a conversation's turns.
type ConversationTurns struct {
	Conversation string       `json:"conversation"`
	Turns        []StoredTurn `json:"turns"`
	Next         string       `json:"next,omitempty"`
}

// A SliceRequest asks for a slice.
type SliceRequest struct {
	Anchor string `json:"anchor"`
	Policy string `json:"policy,omitempty"` // default@1 if absent
	AsOf   uint64 `json:"as_of,omitempty"`  // the present if absent
	Format string `json:"format,omitempty"` // bundle if absent
}

// The formats of a SliceRequest.
const (
	FormatBundle   = "bundle"
	FormatMarkdown = "markdown"
	FormatMessages = "messages"
)

// SliceRequests is the body of a batch.
type SliceRequests struct {
	Requests []SliceRequest `json:"requests"`
}

// A BatchResult is the answer to one request of a batch.
type BatchResult struct {
	Status       int             `json:"status"`
	SliceID      string          `json:"slice_id,omitempty"`
	BundleSHA256 string          `json:"bundle_sha256,omitempty"`
	Bundle       json.RawMessage `json:"bundle,omitempty"`
	Markdown     string          `json:"markdown,omitempty"`
	Messages     json.RawMessage `json:"messages,omitempty"`
	Problem      *Problem        `json:"problem,omitempty"`
}

// BatchResults is the answer to a batch, in the order of its requests.
type BatchResults struct {
	Results []BatchResult `json:"results"`
}

// A TokenClaim is the six fields of a slice's provenance with its token.
type TokenClaim struct {
	SliceID           string `json:"slice_id"`
	AnchorTurnID      string `json:"anchor_turn_id"`
	PolicyID          string `json:"policy_id"`
	PolicyParamsHash  string `json:"policy_params_hash"`
	GraphSnapshotHash string `json:"graph_snapshot_hash"`
	SchemaVersion     string `json:"schema_version"`
	Token             string `json:"token"`
	KeyID             string `json:"key_id,omitempty"` // every live key is tried if absent
}

// A TokenVerdict is what came of judging a TokenClaim.
type TokenVerdict struct {
	Admissible bool   `json:"admissible"`
	Outcome    string `json:"outcome"`
	KeyID      string `json:"key_id"`
	Reason     string `json:"reason"`
}

// A Check is the verdict of one check.
type Check struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Detail   string `json:"detail"`
	Expected string `json:"expected,omitempty"`
	Found    string `json:"found,omitempty"`
}

// A BundleVerdict is what came of judging a bundle.
type BundleVerdict struct {
	Admissible   bool     `json:"admissible"`
	Outcome      string   `json:"outcome"`
	KeyID        string   `json:"key_id"`
	Reason       string   `json:"reason"`
	SliceID      string   `json:"slice_id,omitempty"`
	BundleSHA256 string   `json:"bundle_sha256"`
	Redacted     []string `json:"redacted"`
	Checks       []Check  `json:"checks"`
}

// Issued is the record of one bundle that was handed out.
type Issued struct {
	Number            uint64 `json:"number"`
	SliceID           string `json:"slice_id"`
	Anchor            string `json:"anchor"`
	PolicyID          string `json:"policy_id"`
	PolicyParamsHash  string `json:"policy_params_hash"`
	GraphSnapshotHash string `json:"graph_snapshot_hash"`
	SchemaVersion     string `json:"schema_version"`
	AsOf              uint64 `json:"as_of"`
	KeyID             string `json:"key_id"`
	Token             string `json:"token"`
	BundleSHA256      string `json:"bundle_sha256"`
	IssuedAt          string `json:"issued_at"`
}

// Slices is a page of records.
type Slices struct {
	Slices []Issued `json:"slices"`
	Next   string   `json:"next,omitempty"`
}

// SliceRecord is every record of one slice id.
type SliceRecord struct {
	SliceID string   `json:"slice_id"`
	Issued  []Issued `json:"issued"`
}

// Evidence is what convinces a third party of a bundle, beside the bundle.
type Evidence struct {
	Attestation  json.RawMessage `json:"attestation"` // a DSSE envelope, canonical
	Proof        string          `json:"proof"`       // a tlog-proof file
	Index        uint64          `json:"index"`       // of the leaf in the ledger
	Origin       string          `json:"origin"`      // of the ledger
	BundleSHA256 string          `json:"bundle_sha256"`
}

// A Difference is the first place where two bundles part.
type Difference struct {
	Offset   int    `json:"offset"`
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// A Replay says what came of cutting a slice again.
type Replay struct {
	Outcome    string      `json:"outcome"`
	Reason     string      `json:"reason"`
	SliceID    string      `json:"slice_id"`
	AsOf       uint64      `json:"as_of"`
	Erased     []string    `json:"erased"`
	Lost       []string    `json:"lost"`
	Redacted   []string    `json:"redacted"`
	Difference *Difference `json:"difference,omitempty"`
	Checks     []Check     `json:"checks"`
}

// An ExplainRequest names the turn to explain.
type ExplainRequest struct {
	Turn string `json:"turn"`
}

// An Admission is the reason why a turn was let in. ScoreNano is in billionths.
type Admission struct {
	ScoreNano uint64 `json:"score_nano"`
	Distance  int    `json:"distance"`
	Via       string `json:"via"`
	From      string `json:"from,omitempty"`
}

// A Rival is a turn that took the place of another.
type Rival struct {
	ID        string    `json:"id"`
	Admission Admission `json:"admission"`
}

// An Explanation says why a turn is in a slice, or is not.
type Explanation struct {
	Turn         string     `json:"turn"`
	Anchor       string     `json:"anchor"`
	SliceID      string     `json:"slice_id,omitempty"`
	PolicyID     string     `json:"policy_id"`
	AsOf         uint64     `json:"as_of"`
	Selected     bool       `json:"selected"`
	Standing     string     `json:"standing"`
	Rank         int        `json:"rank,omitempty"`
	TurnsInSlice int        `json:"turns_in_slice"`
	EdgesAway    int        `json:"edges_away"`
	Admission    *Admission `json:"admission,omitempty"`
	BeatenBy     *Rival     `json:"beaten_by,omitempty"`
	Explanation  string     `json:"explanation"`
}

// A RegisteredPolicy is a policy under its id.
type RegisteredPolicy struct {
	PolicyID         string          `json:"policy_id"`
	PolicyParamsHash string          `json:"policy_params_hash"`
	Policy           json.RawMessage `json:"policy"`
}

// Policies is a tenant's registry.
type Policies struct {
	Policies            []RegisteredPolicy `json:"policies"`
	RegistryFingerprint string             `json:"registry_fingerprint"`
}

// An ErasureRequest says why a text is to be erased.
type ErasureRequest struct {
	Reason string `json:"reason"`
}

// An Event is the record of an erasure.
type Event struct {
	Seq    uint64 `json:"seq"`
	Kind   string `json:"kind"`
	Turn   string `json:"turn"`
	Reason string `json:"reason"`
	At     string `json:"at"`
}

// A TurnEvent tells of an admission, without the text.
type TurnEvent struct {
	Seq          uint64 `json:"seq"`
	ID           string `json:"id"`
	Conversation string `json:"conversation"`
	Role         string `json:"role"`
	CreatedAt    string `json:"created_at"`
}

// The names of the events of a stream.
const (
	EventTurn    = "turn"    // the data is a TurnEvent
	EventErasure = "erasure" // the data is an Event
	EventSlice   = "slice"   // the data is an Issued
)

// Health says how the service is.
type Health struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks,omitempty"`
}

// A Problem is what an error looks like (RFC 9457). Code is stable; docs/service.md
// lists every one.
type Problem struct {
	Type       string   `json:"type"`
	Title      string   `json:"title"`
	Status     int      `json:"status"`
	Detail     string   `json:"detail"`
	Code       string   `json:"code"`
	RequestID  string   `json:"request_id"`
	Place      string   `json:"place,omitempty"`
	Turn       string   `json:"turn,omitempty"`
	Stored     string   `json:"stored,omitempty"`
	Arriving   string   `json:"arriving,omitempty"`
	Candidates []string `json:"candidates,omitempty"`
	Admitted   *int     `json:"admitted,omitempty"`
	Existing   *int     `json:"existing,omitempty"`
}
