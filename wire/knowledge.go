package wire

import "encoding/json"

// A NewFact is a fact to be recorded. Confidence is a decimal; "" is 1.
type NewFact struct {
	Subject    string      `json:"subject"`
	Predicate  string      `json:"predicate"`
	Object     string      `json:"object"`
	Confidence json.Number `json:"confidence,omitempty"`
	Source     string      `json:"source,omitempty"` // api if absent
	Turn       string      `json:"turn,omitempty"`
	Slice      string      `json:"slice,omitempty"`
	ValidFrom  string      `json:"valid_from,omitempty"`
	ValidUntil string      `json:"valid_until,omitempty"`
	Supersedes []string    `json:"supersedes,omitempty"`
}

// A Retraction ends the belief in a statement.
type Retraction struct {
	Statement string `json:"statement"`
	Reason    string `json:"reason,omitempty"`
}

// Knowledge is the body of a batch: retractions come before facts.
type Knowledge struct {
	Retractions []Retraction `json:"retractions,omitempty"`
	Facts       []NewFact    `json:"facts,omitempty"`
}

// A KnowledgeOutcome says what became of a fact, a retraction or an alias.
type KnowledgeOutcome struct {
	Result    string `json:"result"`
	Seq       uint64 `json:"seq,omitempty"` // absent if nothing changed
	Statement string `json:"statement,omitempty"`
}

// KnowledgeOutcomes is the answer to a batch, each list in the order of its items.
type KnowledgeOutcomes struct {
	Retractions []KnowledgeOutcome `json:"retractions"`
	Facts       []KnowledgeOutcome `json:"facts"`
}

// Written is how names were spelled, where that is not the canonical name.
type Written struct {
	Subject   string `json:"subject,omitempty"`
	Predicate string `json:"predicate,omitempty"`
	Object    string `json:"object,omitempty"`
}

// A FactEvidence is an assertion that counts for a fact.
type FactEvidence struct {
	Seq        uint64      `json:"seq"`
	At         string      `json:"at"`
	Source     string      `json:"source"`
	Confidence json.Number `json:"confidence"`
	Turn       string      `json:"turn,omitempty"`
	Slice      string      `json:"slice,omitempty"`
	Written    *Written    `json:"written,omitempty"`
}

// A Fact is a statement that is believed. The names are canonical under the aliases that
// counted.
type Fact struct {
	Statement     string         `json:"statement"`
	Subject       string         `json:"subject"`
	Predicate     string         `json:"predicate"`
	Object        string         `json:"object"`
	Confidence    json.Number    `json:"confidence"`
	Source        string         `json:"source"`
	Turn          string         `json:"turn,omitempty"`
	Since         uint64         `json:"since"`
	ValidFrom     string         `json:"valid_from,omitempty"`
	ValidUntil    string         `json:"valid_until,omitempty"`
	Evidence      []FactEvidence `json:"evidence"` // the newest, by ascending number
	EvidenceTotal int            `json:"evidence_total"`
}

// Facts is a page of facts.
type Facts struct {
	Facts []Fact `json:"facts"`
	Total int    `json:"total"`
	AsOf  uint64 `json:"as_of"`
	Next  string `json:"next,omitempty"`
}

// A KnowledgeAct is a change of what is known, as it was recorded. The names are as they
// were asserted, without aliases.
type KnowledgeAct struct {
	Seq        uint64      `json:"seq"`
	At         string      `json:"at"`
	Kind       string      `json:"kind"`
	Leaf       string      `json:"leaf"`
	Statement  string      `json:"statement,omitempty"`
	Subject    string      `json:"subject,omitempty"`
	Predicate  string      `json:"predicate,omitempty"`
	Object     string      `json:"object,omitempty"`
	Written    *Written    `json:"written,omitempty"`
	Confidence json.Number `json:"confidence,omitempty"`
	Source     string      `json:"source,omitempty"`
	Turn       string      `json:"turn,omitempty"`
	Slice      string      `json:"slice,omitempty"`
	ValidFrom  string      `json:"valid_from,omitempty"`
	ValidUntil string      `json:"valid_until,omitempty"`
	Supersedes []string    `json:"supersedes,omitempty"`
	Version    bool        `json:"version,omitempty"` // the confidence of the statement was that of this assertion from then on
	Until      uint64      `json:"until,omitempty"`   // and up to before this number; absent: it still is
	Reason     string      `json:"reason,omitempty"`
	Alias      string      `json:"alias,omitempty"`
	Canonical  string      `json:"canonical,omitempty"`
}

// FactHistory is all that was said of a statement, or a page of it.
type FactHistory struct {
	Statement string         `json:"statement"`
	Acts      []KnowledgeAct `json:"acts"`
	Next      string         `json:"next,omitempty"`
}

// KnowledgeChanges is what changed behind a number. After is the number to go on behind.
type KnowledgeChanges struct {
	Acts  []KnowledgeAct `json:"acts"`
	After uint64         `json:"after"`
	More  bool           `json:"more"`
}

// Retracted is what was, or with DryRun would be, retracted.
type Retracted struct {
	DryRun bool           `json:"dry_run"`
	Total  int            `json:"total"`
	Acts   []KnowledgeAct `json:"acts"` // the assertions that counted
}

// A FactSliceRequest asks for a slice of facts.
type FactSliceRequest struct {
	Start   []string `json:"start"`
	Policy  string   `json:"policy,omitempty"` // absent: facts@1
	AsOf    uint64   `json:"as_of,omitempty"`
	ValidAt string   `json:"valid_at,omitempty"`
}

// A TraverseRequest asks which entities can be reached. Zero values are the defaults.
type TraverseRequest struct {
	Start         []string    `json:"start"`
	Predicates    []string    `json:"predicates,omitempty"`
	Direction     string      `json:"direction,omitempty"`
	MaxHops       int         `json:"max_hops,omitempty"`
	MaxResults    int         `json:"max_results,omitempty"`
	MinConfidence json.Number `json:"min_confidence,omitempty"`
	AsOf          uint64      `json:"as_of,omitempty"`
	ValidAt       string      `json:"valid_at,omitempty"`
}

// A Step is a fact on a path, with canonical names and how they were written. An outgoing step leads from its subject
// to its object.
type Step struct {
	Statement  string      `json:"statement"`
	Subject    string      `json:"subject"`
	Predicate  string      `json:"predicate"`
	Object     string      `json:"object"`
	Written    *Written    `json:"written,omitempty"`
	Direction  string      `json:"direction"`
	Confidence json.Number `json:"confidence"`
	Source     string      `json:"source"`
	Turn       string      `json:"turn,omitempty"`
	Since      uint64      `json:"since"`
	ValidFrom  string      `json:"valid_from,omitempty"`
	ValidUntil string      `json:"valid_until,omitempty"`
}

// A Reached entity has a way to it.
type Reached struct {
	Entity        string      `json:"entity"`
	Hops          int         `json:"hops"`
	MinConfidence json.Number `json:"min_confidence"`
	From          string      `json:"from"`
	Path          []Step      `json:"path"`
}

// Traversal is the answer to a traversal, and to a question for paths.
type Traversal struct {
	Reached []Reached `json:"reached"`
	Cut     string    `json:"cut"` // "", results or work
	Looked  int       `json:"looked"`
	AsOf    uint64    `json:"as_of"`
}

// An Alias says which canonical name a name stands for.
type Alias struct {
	Alias     string `json:"alias"`
	Canonical string `json:"canonical"`
}

// Aliases is a page of the alias table, or the body that adds to it.
type Aliases struct {
	Aliases []Alias `json:"aliases"`
	Total   int     `json:"total"`
	AsOf    uint64  `json:"as_of"`
	Next    string  `json:"next,omitempty"`
}

// AliasesAdded says what came of adding aliases.
type AliasesAdded struct {
	Added    int        `json:"added"`
	Existing int        `json:"existing"`
	List     *AliasList `json:"list,omitempty"` // of a list that was read
}

// An AliasList says what of a list was not used. The counts and the changes that it held sum
// up to Entries.
type AliasList struct {
	Entries   int         `json:"entries"`
	Same      int         `json:"same"`      // alias and canonical name have the same form
	Repeated  int         `json:"repeated"`  // the same entry came before
	Ambiguous int         `json:"ambiguous"` // several names claim the alias
	Chained   int         `json:"chained"`   // a name is alias and canonical at once
	Skipped   int         `json:"skipped"`   // one side has no name
	Examples  []AliasSkip `json:"examples"`
}

// An AliasSkip is an entry that was not used.
type AliasSkip struct {
	Place string `json:"place"`
	Why   string `json:"why"`
}

// A NameCount says how many facts a name has.
type NameCount struct {
	Name  string `json:"name"`
	Facts int    `json:"facts"`
}

// KnowledgeStats counts what is believed.
type KnowledgeStats struct {
	Facts           int         `json:"facts"`
	Entities        int         `json:"entities"`
	Predicates      []NameCount `json:"predicates"`
	PredicatesTotal int         `json:"predicates_total"`
	Sources         []NameCount `json:"sources"`
	SourcesTotal    int         `json:"sources_total"`
	Aliases         int         `json:"aliases"`
	AsOf            uint64      `json:"as_of"`
}

// A KnowledgeEvent tells of a change of what is known.
type KnowledgeEvent struct {
	Seq        uint64      `json:"seq"`
	At         string      `json:"at"`
	Kind       string      `json:"kind"`
	Statement  string      `json:"statement,omitempty"`
	Subject    string      `json:"subject,omitempty"`
	Predicate  string      `json:"predicate,omitempty"`
	Object     string      `json:"object,omitempty"`
	Confidence json.Number `json:"confidence,omitempty"`
	Source     string      `json:"source,omitempty"`
	Alias      string      `json:"alias,omitempty"`
	Canonical  string      `json:"canonical,omitempty"`
}

// EventKnowledge names an event whose data is a KnowledgeEvent.
const EventKnowledge = "knowledge"
