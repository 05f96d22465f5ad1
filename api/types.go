package api

import (
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

import "encoding/json"

// A Receipt is the outcome of an admission.
type Receipt struct {
	Admitted int     `json:"admitted" doc:"Turns that are new."`
	Existing int     `json:"existing" doc:"Turns that were there already."`
	Edges    int     `json:"edges" doc:"Edges of the new turns."`
	Head     dag.Seq `json:"head" is:"Seq"`

	HeldBack     int `json:"held_back,omitempty" doc:"New turns that were admitted without their text, because it was erased under another id."`
	ErasedBefore int `json:"erased_before,omitempty" doc:"New turns in which a person says again what was erased. They have their text."`
	Brought      int `json:"brought,omitempty" doc:"Turns of the request that are stored as data and as nobody's word, because they are in the name of a person for whom the key does not speak."`
}

// Add adds a later receipt of the same history.
func (r *Receipt) Add(later Receipt) {
	r.Admitted, r.Existing, r.Edges, r.Head = r.Admitted+later.Admitted, r.Existing+later.Existing, r.Edges+later.Edges, max(r.Head, later.Head)
	r.HeldBack, r.ErasedBefore, r.Brought = r.HeldBack+later.HeldBack, r.ErasedBefore+later.ErasedBefore, r.Brought+later.Brought
}

// A StoredTurn is a turn with the store's data about it. Turn is the turn in the form in which it would be admitted.
type StoredTurn struct {
	Seq        dag.Seq         `json:"seq" is:"Seq"`
	BodyDigest dag.Digest      `json:"body_digest" is:"Digest"`
	Leaf       dag.Digest      `json:"leaf" is:"Digest"`
	Redacted   bool            `json:"redacted" doc:"The text was withheld or erased."`
	Key        string          `json:"key,omitempty" is:"Credential"` // the credential that brought it
	Turn       json.RawMessage `json:"turn" is:"Turn"`
}

// StoredTurns is a page of turns, in the order of admission.
type StoredTurns struct {
	Turns []StoredTurn `json:"turns"`
	Next  string       `json:"next,omitempty" is:"Next"`
}

// A ResolvedTurn is the turn that a name refers to.
type ResolvedTurn struct {
	ID dag.TurnID `json:"id" is:"UUID"`
}

// A Conversation is a line of a listing.
type Conversation struct {
	ID      dag.ConversationID `json:"id" is:"UUID"`
	Turns   int                `json:"turns" is:"1.."`
	First   dag.Seq            `json:"first" is:"Seq"`
	Last    dag.Seq            `json:"last" is:"Seq"`
	FirstAt dag.Time           `json:"first_at" is:"Time"`
	LastAt  dag.Time           `json:"last_at" is:"Time"`
	Title   string             `json:"title,omitempty" doc:"The title in the first turn, if it has one and its text was not erased."`
}

// Conversations is a page of conversations.
type Conversations struct {
	Conversations []Conversation `json:"conversations"`
	Next          string         `json:"next,omitempty" is:"Next"`
}

// A Folder is a folder in which agents worked, as the first turns of conversations spell it.
type Folder struct {
	Folder        string               `json:"folder,omitempty" doc:"Absent if only its digest is known, as for Gemini CLI."`
	Digest        string               `json:"digest,omitempty" doc:"The SHA-256 of the path, if only that is known."`
	Conversations int                  `json:"conversations" is:"1.."`
	LastAt        dag.Time             `json:"last_at" is:"Time" doc:"The latest time at which something was said there."`
	Newest        []RecentConversation `json:"newest" doc:"The conversations with the latest turns, up to 5, the newest first."`
}

// A RecentConversation is a conversation of a folder, with the time of its latest turn.
type RecentConversation struct {
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	LastAt       dag.Time           `json:"last_at" is:"Time" doc:"The latest time of its turns."`
	Turn         dag.TurnID         `json:"turn" is:"UUID" doc:"The turn that was admitted last."`
}

// Folders are the folders in which agents worked.
type Folders struct {
	Folders []Folder `json:"folders"`
	Total   int      `json:"total" doc:"The total number."`

	NotIndexed uint64 `json:"not_indexed,omitempty" doc:"The number of the newest sequence numbers that were not examined, because their index is still being made."`
}

// A FolderQuery asks for the first folders of the list.
type FolderQuery struct {
	Limit int `json:"limit,omitempty" is:"1..10000" doc:"1000 if left out."`
}

// ConversationTurns is a page of a conversation's turns.
type ConversationTurns struct {
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Turns        []StoredTurn       `json:"turns"`
	Next         string             `json:"next,omitempty" is:"Next"`
}

// A SliceRequest asks for a slice.
type SliceRequest struct {
	Anchor string    `json:"anchor" is:"TurnName" tool:"The turn, usually the one to answer: its id, at least 4 characters that begin it, or its external_id."`
	Policy policy.ID `json:"policy,omitempty" is:"PolicyID" tool:"NAME@VERSION, default@3 if left out."`
	AsOf   dag.Seq   `json:"as_of,omitempty" is:"Seq" doc:"The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present." tool:"As of this number; 0: the anchor's (default@1: now)."`
	Format string    `json:"format,omitempty" is:"bundle|markdown|messages" doc:"bundle is evidence; markdown and messages (OpenAI chat form) are for people and prompts." tool:"What the text is; bundle by default."`
}

// The formats of a SliceRequest.
const (
	FormatBundle   = "bundle"
	FormatMarkdown = "markdown"
	FormatMessages = "messages"
)

// A Cutting selects a slice without issuing it.
type Cutting struct {
	Anchor string    `json:"anchor" is:"TurnName"`
	Policy policy.ID `json:"policy,omitempty" is:"PolicyID"`
	AsOf   dag.Seq   `json:"as_of,omitempty" is:"Seq" doc:"The graph as of this sequence number; 0 is the anchor's own, or the newest setting's of the standing policy, under a policy with direction past, otherwise the present."`
}

// ExplainCutting selects a slice and a turn to explain.
type ExplainCutting struct {
	Cutting
	Turn string `json:"turn" is:"TurnName"`
}

// A Preview lists the turns that a slice would select, in order.
type Preview struct {
	Turns []Rival `json:"turns"`
	AsOf  dag.Seq `json:"as_of" is:"Seq"`
}

// SliceRequests is the body of a batch.
type SliceRequests struct {
	Requests []SliceRequest `json:"requests" min:"1" max:"100"`
}

// A BatchResult is the answer to one request of a batch.
type BatchResult struct {
	Status       int             `json:"status" is:".." doc:"The HTTP status that the request alone would have had."`
	SliceID      slice.SliceID   `json:"slice_id,omitempty" is:"SliceID"`
	BundleSHA256 dag.Digest      `json:"bundle_sha256,omitzero" is:"Digest"`
	Bundle       json.RawMessage `json:"bundle,omitempty" is:"Bundle"`
	Markdown     string          `json:"markdown,omitempty"`
	Messages     json.RawMessage `json:"messages,omitempty" is:"Objects"`
	Problem      *Problem        `json:"problem,omitempty"`
}

// BatchResults is the answer to a batch, in the order of its requests.
type BatchResults struct {
	Results []BatchResult `json:"results"`
}

// A TokenClaim is the six fields of a slice's provenance, with its token.
type TokenClaim struct {
	SliceID           string `json:"slice_id"`
	AnchorTurnID      string `json:"anchor_turn_id"`
	PolicyID          string `json:"policy_id"`
	PolicyParamsHash  string `json:"policy_params_hash"`
	GraphSnapshotHash string `json:"graph_snapshot_hash"`
	SchemaVersion     string `json:"schema_version"`
	Token             string `json:"token"`
	KeyID             string `json:"key_id,omitempty"`
}

// A TokenVerdict is the outcome of verifying a TokenClaim.
type TokenVerdict struct {
	Admissible bool   `json:"admissible"`
	Outcome    string `json:"outcome" is:"Outcome"`
	KeyID      string `json:"key_id" doc:"The key that signed; if not admissible, the key that the token names."`
	Reason     string `json:"reason" doc:"Why it is not admissible; empty if it is."`
}

// A Check is the verdict of one check.
type Check = slice.Check

// A BundleVerdict is the outcome of verifying a bundle.
type BundleVerdict struct {
	Admissible   bool         `json:"admissible"`
	Outcome      string       `json:"outcome" is:"Outcome"`
	KeyID        string       `json:"key_id"`
	Reason       string       `json:"reason"`
	SliceID      string       `json:"slice_id,omitempty"`
	BundleSHA256 dag.Digest   `json:"bundle_sha256" is:"Digest"`
	Redacted     []dag.TurnID `json:"redacted" is:"UUID"`
	Checks       []Check      `json:"checks" min:"1"`
}

// Issued is the record of one issued bundle.
type Issued struct {
	Number            uint64        `json:"number" is:"1.." doc:"The tenant's first issued slice is 1."`
	SliceID           slice.SliceID `json:"slice_id" is:"SliceID"`
	Anchor            dag.TurnID    `json:"anchor" is:"UUID" doc:"For a slice of facts, it names the question and not a turn."`
	PolicyID          policy.ID     `json:"policy_id" is:"PolicyID"`
	PolicyParamsHash  string        `json:"policy_params_hash"`
	GraphSnapshotHash string        `json:"graph_snapshot_hash"`
	SchemaVersion     string        `json:"schema_version"`
	AsOf              dag.Seq       `json:"as_of" is:"Seq"`
	KeyID             string        `json:"key_id"`
	Token             string        `json:"token"`
	BundleSHA256      dag.Digest    `json:"bundle_sha256" is:"Digest"`
	IssuedAt          dag.Time      `json:"issued_at" is:"Time"`
	By                string        `json:"by,omitempty" is:"Asker" doc:"The first caller that was handed it. Absent if that was not recorded."`
	Recipient         *Recipient    `json:"recipient,omitempty" doc:"The session of an agent for which a context was made. Absent if no hook asked for it."`
	Folders           []string      `json:"folders,omitempty" doc:"The turns were chosen only from conversations that were held in these folders."`
	NotGiven          dag.Seq       `json:"not_given,omitempty" is:"Seq" doc:"The number under which it is recorded that the context did not reach its recipient."`
	Leaf              uint64        `json:"leaf" is:"LogSize" doc:"The index of its leaf in the ledger."`
	Asked             string        `json:"asked,omitempty" doc:"The task of a context, or the names that a slice of facts starts from, in lists and records of slices. Absent once erased."`
	Holds             int           `json:"holds,omitempty" doc:"The number of facts in a slice of facts, or of turns in a context or in a slice of turns; for slices of turns only if counted was asked for."`
}

// Holding lists the issued records of contexts and of slices that held a turn. Only the newest 1000 records are searched for
// slices; Older counts the others. Only slices of turns are listed; listFacts has the facts learned from a turn.
type Holding struct {
	Contexts []Issued `json:"contexts"`
	Slices   []Issued `json:"slices"`
	Looked   int      `json:"looked" doc:"How many records, the newest ones, were examined for slices."`
	Older    uint64   `json:"older" doc:"How many older records were not examined."`
}

// Slices is a page of records.
type Slices struct {
	Slices []Issued `json:"slices"`
	Next   string   `json:"next,omitempty" is:"Next"`
}

// SliceRecord is every record of one slice id.
type SliceRecord struct {
	SliceID slice.SliceID `json:"slice_id" is:"SliceID"`
	Issued  []Issued      `json:"issued" min:"1"`
}

// Evidence is the material, other than the bundle itself, that convinces a third party of a bundle.
type Evidence struct {
	Attestation  json.RawMessage `json:"attestation" is:"Envelope" doc:"A DSSE envelope around an in-toto statement. Its bytes here are canonical."`
	Proof        string          `json:"proof" doc:"A file (C2SP tlog-proof) with the leaf, its path and a checkpoint."`
	Index        uint64          `json:"index" doc:"The index of the leaf in the ledger."`
	Origin       string          `json:"origin" doc:"The origin of the ledger."`
	BundleSHA256 dag.Digest      `json:"bundle_sha256" is:"Digest"`
	SliceID      slice.SliceID   `json:"slice_id" is:"SliceID"`
	KeyID        string          `json:"key_id" doc:"The id of the key that signed the attestation."`
	IssuedAt     dag.Time        `json:"issued_at" is:"Time" doc:"When the bundle was issued, as the attestation says."`
}

// Converted is a bundle in another format: files by name, each to be written unchanged.
type Converted struct {
	Files map[string]string `json:"files"`
}

// A Difference is the first place where two bundles differ.
type Difference struct {
	Offset   int    `json:"offset" doc:"Bytes before the first difference."`
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
}

// A Replay is the outcome of cutting a slice again.
type Replay struct {
	Outcome    string        `json:"outcome" is:"identical|erased|lost|different"`
	Reason     string        `json:"reason"`
	SliceID    slice.SliceID `json:"slice_id" is:"SliceID"`
	AsOf       dag.Seq       `json:"as_of" is:"Seq"`
	Erased     []dag.TurnID  `json:"erased" is:"UUID"`
	Lost       []dag.TurnID  `json:"lost" is:"UUID" doc:"Turns whose text is gone although no erasure is on record."`
	Redacted   []dag.TurnID  `json:"redacted" is:"UUID"`
	Difference *Difference   `json:"difference,omitempty"`
	Provenance Provenance    `json:"provenance"`
	Checks     []Check       `json:"checks"`
}

// A Provenance is the six fields of a slice that its token covers.
type Provenance struct {
	SliceID           slice.SliceID `json:"slice_id" is:"SliceID"`
	AnchorTurnID      string        `json:"anchor_turn_id" is:"UUID"`
	PolicyID          policy.ID     `json:"policy_id" is:"PolicyID"`
	PolicyParamsHash  string        `json:"policy_params_hash"`
	GraphSnapshotHash string        `json:"graph_snapshot_hash"`
	SchemaVersion     string        `json:"schema_version"`
}

// An ExplainRequest names the turn to explain.
type ExplainRequest struct {
	SliceByID
	Turn    string `json:"turn" is:"TurnName"`
	Without bool   `json:"without,omitempty" doc:"Also show what the slice would have contained without the turn: it is cut again, in memory."`
}

// An Admission is the reason why a turn was selected. ScoreNano is in billionths.
type Admission struct {
	ScoreNano uint64     `json:"score_nano" doc:"The score in billionths."`
	Distance  int        `json:"distance"`
	Via       string     `json:"via" is:"anchor|parent|child|sibling|prompt|touch"`
	From      dag.TurnID `json:"from,omitzero" is:"UUID"`
	Number    uint64     `json:"number,omitempty" doc:"From slice_policy_v2 on: the number of the turn."`
	Voice     string     `json:"voice,omitempty" is:"person|agent|tool|harness" doc:"From slice_policy_v2 on: who produced the words of the turn."`
	Cost      int        `json:"cost,omitempty" doc:"From slice_policy_v2 on: the cost in tokens of bytes/4@1."`
	Standing  string     `json:"standing,omitempty" is:"outside|guest|agent|member|owner|system" doc:"Under slice_policy_v3: what the turn counts for."`
	Rule      int        `json:"rule,omitempty" is:"0..256" doc:"Under slice_policy_v3: the number of the rule of the standing policy that decides, from 1."`
}

// A Rival is a selected turn with the reason for its selection: in a preview, or where another turn was not selected.
type Rival struct {
	ID        dag.TurnID `json:"id" is:"UUID"`
	Admission Admission  `json:"admission"`
}

// An Explanation says why a turn is in a slice, or is not.
type Explanation struct {
	Turn         dag.TurnID    `json:"turn" is:"UUID"`
	Anchor       dag.TurnID    `json:"anchor" is:"UUID"`
	SliceID      slice.SliceID `json:"slice_id,omitempty" is:"SliceID"`
	PolicyID     policy.ID     `json:"policy_id" is:"PolicyID"`
	AsOf         dag.Seq       `json:"as_of" is:"Seq"`
	Selected     bool          `json:"selected"`
	Outcome      string        `json:"outcome" is:"selected|beaten|too_costly|too_far|later|unreached|unconnected|not_in_view"`
	Rank         int           `json:"rank,omitempty" is:"1.." doc:"Its place in the order of selection, from 1."`
	TurnsInSlice int           `json:"turns_in_slice"`
	EdgesAway    int           `json:"edges_away" is:"-1.." doc:"The fewest edges from the anchor; -1 if no path was found."`
	Admission    *Admission    `json:"admission,omitempty"`
	CountsBy     policy.ID     `json:"counts_by,omitempty" is:"PolicyID" doc:"Under slice_policy_v3: the standing policy that decides what the turn counts for."`
	BeatenBy     *Rival        `json:"beaten_by,omitempty"`
	Lost         []dag.TurnID  `json:"lost,omitempty" is:"UUID" doc:"If without was asked for: other turns that would not have been selected without it."`
	Instead      []dag.TurnID  `json:"instead,omitempty" is:"UUID" doc:"If without was asked for: turns that would have been selected instead."`
	Explanation  string        `json:"explanation" doc:"The same in a sentence."`
}

// A RegisteredPolicy is a policy with its id.
type RegisteredPolicy struct {
	PolicyID         policy.ID       `json:"policy_id" is:"PolicyID"`
	PolicyParamsHash string          `json:"policy_params_hash"`
	Policy           json.RawMessage `json:"policy" is:"Policy"`
}

// Policies is a tenant's registry.
type Policies struct {
	Policies            []RegisteredPolicy `json:"policies" min:"1"`
	RegistryFingerprint string             `json:"registry_fingerprint" is:"Fingerprint"`
}

// An ErasureRequest is the reason for erasing a text.
type ErasureRequest struct {
	Reason string `json:"reason" is:"Reason"`
}

// An Event is the record of an erasure.
type Event struct {
	Seq    dag.Seq    `json:"seq" is:"Seq"`
	AsOf   dag.Seq    `json:"as_of,omitempty" is:"Seq" doc:"The number of the last entry of the change: in an event, and in the answer to an erasure; absent in a list."`
	Kind   string     `json:"kind" is:"EventKind"`
	Turn   dag.TurnID `json:"turn" is:"UUID"`
	Reason string     `json:"reason"`
	At     dag.Time   `json:"at" is:"Time"`
	By     string     `json:"by,omitempty" is:"Asker" doc:"Who asked for it. Absent if that was not recorded."`
}

// An ErasedTurn is the record of an erasure, with the tasks that were erased along with the turn.
type ErasedTurn struct {
	Event
	Tasks []slice.SliceID `json:"tasks,omitempty" is:"SliceID" doc:"The contexts whose tasks contained words of the turn and were erased with it."`

	Unguarded string `json:"unguarded,omitempty" doc:"Why copies of the text under other ids are not held back. Absent if they are."`
}

// HeldBackTurns is a page of turns that were held back, the oldest first.
type HeldBackTurns struct {
	HeldBack []HeldBack `json:"held_back"`
	Next     string     `json:"next,omitempty" is:"Next"`
}

// A HeldBack is a turn that was admitted without its text, because the text was erased under another id.
type HeldBack struct {
	Seq      dag.Seq    `json:"seq" is:"Seq"`
	Turn     dag.TurnID `json:"turn" is:"UUID"`
	Erased   dag.TurnID `json:"erased" is:"UUID" doc:"The erased turn with the same text."`
	Rule     string     `json:"rule" is:"place|reply|words" doc:"Why it was held back: the same text at the same instant, after the same text, or of 64 bytes and more."`
	At       dag.Time   `json:"at" is:"Time"`
	By       string     `json:"by,omitempty" is:"Asker" doc:"Who brought it."`
	Place    string     `json:"place,omitempty" doc:"The place that it came from, such as a file and a line."`
	Released bool       `json:"released" doc:"The turn is admitted with its text when it comes again."`
}

// Released is the outcome of a release.
type Released struct {
	Released int `json:"released" doc:"Turns that were not released before."`
}

// Erasures is a page of erasures of turns, the oldest first.
type Erasures struct {
	Erasures []Event `json:"erasures"`
	Next     string  `json:"next,omitempty" is:"Next"`
}

// A TaskErased is the record of an erasure of the task of a context.
type TaskErased struct {
	Seq     dag.Seq       `json:"seq" is:"Seq"`
	AsOf    dag.Seq       `json:"as_of,omitempty" is:"Seq" doc:"The number of the last entry of the change."`
	Context slice.SliceID `json:"context" is:"SliceID"`
	Reason  string        `json:"reason"`
	At      dag.Time      `json:"at" is:"Time"`
	By      string        `json:"by,omitempty" is:"Asker" doc:"Who asked for it. Absent if that was not recorded."`
}

// A TurnEvent reports an admission, without the text.
type TurnEvent struct {
	Seq          uint64  `json:"seq"`
	AsOf         dag.Seq `json:"as_of" is:"Seq" doc:"The number of the last entry of the change: a query as of it shows the result."`
	ID           string  `json:"id"`
	Conversation string  `json:"conversation"`
	Role         string  `json:"role"`
	CreatedAt    string  `json:"created_at"`
}

// The names of the events of a stream.
const (
	EventTurn    = "turn"         // the data is a TurnEvent
	EventErasure = "erasure"      // the data is an Event
	EventTask    = "task_erasure" // the data is a TaskErased
	EventBelief  = "belief"       // the data is a BeliefEvent
	EventSlice   = "slice"        // the data is an Issued
)

// Health is the state of the service.
type Health struct {
	Status string            `json:"status" is:"ok|starting|unavailable|stopping"`
	Checks map[string]string `json:"checks,omitempty"`
}

// A Problem is the body of an error answer (RFC 9457). Code is stable; docs/service.md lists every code.
type Problem struct {
	Type       string       `json:"type" doc:"Where the code is explained, relative to the service."`
	Title      string       `json:"title"`
	Status     int          `json:"status" is:"400..599"`
	Detail     string       `json:"detail" doc:"The value, the rule and the place, in one sentence."`
	Code       string       `json:"code" is:"Code"`
	RequestID  string       `json:"request_id"`
	Place      string       `json:"place,omitempty" doc:"Where in the request the fault lies, such as turns[3].salience, a query parameter or a line."`
	Turn       dag.TurnID   `json:"turn,omitzero" is:"UUID" doc:"With conflict and cycle, the turn; with unknown_parent, the parent."`
	Stored     string       `json:"stored,omitempty" doc:"With conflict, the digest of what is stored."`
	Arriving   string       `json:"arriving,omitempty" doc:"With conflict, the digest of what arrived."`
	Candidates []dag.TurnID `json:"candidates,omitempty" is:"UUID" doc:"With ambiguous, some of the turns that match."`
	Admitted   *int         `json:"admitted,omitempty" doc:"For a stream, the number of turns that were acknowledged before the fault."`
	Existing   *int         `json:"existing,omitempty"`
}

// An APIKey is a key of the tenant, without its secret.
type APIKey struct {
	ID        string   `json:"id" is:"KeyID"`
	Role      string   `json:"role"`
	Roles     string   `json:"admits_roles" doc:"The roles of the turns that it may admit; empty: none."`
	Authors   string   `json:"admits_authors" doc:"Patterns of the authors whose turns it may admit; empty: none."`
	SpeaksFor string   `json:"speaks_for,omitempty" doc:"Patterns of the authors for whom it speaks; absent: nobody, or everybody if its role is admin."`
	Spaces    string   `json:"spaces,omitempty" doc:"Patterns of the spaces of beliefs that it sees; absent: no limit."`
	CreatedAt dag.Time `json:"created_at" is:"Time"`
	RevokedAt dag.Time `json:"revoked_at,omitzero" is:"Time"`
	Note      string   `json:"note,omitempty"`
}

// APIKeys is every key of a tenant, the oldest first.
type APIKeys struct {
	Tenant string   `json:"tenant" is:"Tenant"`
	Keys   []APIKey `json:"keys"`
}

// A MadeAPIKey contains the text of a new key, which is shown only once.
type MadeAPIKey struct {
	Key       string `json:"key" doc:"The key itself. Only its hash is stored."`
	ID        string `json:"id" is:"KeyID"`
	Tenant    string `json:"tenant" is:"Tenant"`
	Role      string `json:"role"`
	Roles     string `json:"admits_roles"`
	Authors   string `json:"admits_authors"`
	SpeaksFor string `json:"speaks_for,omitempty"`
	Spaces    string `json:"spaces,omitempty"`
}

// A RevokedAPIKey is a revoked key.
type RevokedAPIKey struct {
	APIKey
	Tenant  string `json:"tenant" is:"Tenant"`
	Already bool   `json:"already" doc:"The key was already revoked."`
}

// A Caller is the caller, and the tenant's newest sequence number.
type Caller struct {
	Tenant string  `json:"tenant" is:"Tenant"`
	Role   string  `json:"role"`
	Head   dag.Seq `json:"head" is:"Seq" doc:"The newest sequence number of the tenant."`

	Standing string `json:"standing" is:"outside|guest|agent|member|owner|system" doc:"How much what the caller asks for counts, under the standing policy in force."`
}
