package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
)

// Facts.
var (
	ListFacts    = declare[FactQuery, Facts](Spec{ID: "listFacts", Method: "GET", Path: "/api/knowledge", Tag: "knowledge", Tool: "knowledge_find", May: access.Recall, Fails: []int{404, 409, 422}})
	LearnFact    = declare[NewFact, KnowledgeOutcome](Spec{ID: "learnFact", Method: "POST", Path: "/api/knowledge", Tag: "knowledge", May: access.Admit, Fails: []int{409, 422}})
	RetractFacts = declare[Retracting, Retracted](Spec{ID: "retractFacts", Method: "DELETE", Path: "/api/knowledge", Tag: "knowledge", Tool: "knowledge_retract", May: access.Admit, Fails: []int{404, 409}})
	LearnFacts   = declare[Knowledge, KnowledgeOutcomes](Spec{ID: "learnFacts", Method: "POST", Path: "/api/knowledge/batch", Tag: "knowledge", Tool: "knowledge_assert", May: access.Admit, Fails: []int{409, 422},
		Takes: map[string]string{"application/x-ndjson": "KnowledgeLine"}})
	FactsHistory      = declare[HistoryOf, FactHistory](Spec{ID: "factHistory", Method: "GET", Path: "/api/knowledge/{statement}/history", Tag: "knowledge", Tool: "knowledge_history", May: access.Recall, Fails: []int{404}})
	TraverseKnowledge = declare[TraverseRequest, Traversal](Spec{ID: "traverseKnowledge", Method: "POST", Path: "/api/knowledge/traverse", Tag: "knowledge", Tool: "knowledge_traverse", May: access.Recall, Fails: []int{422}})
	CutFacts          = declare[FactSliceRequest, FactBundle](Spec{ID: "cutFacts", Method: "POST", Path: "/api/knowledge/slice", Tag: "knowledge", Tool: "knowledge_slice", May: access.Cut, Fails: []int{404, 422, 503}, Headers: sealed})
	FindPaths         = declare[PathQuery, Traversal](Spec{ID: "findPaths", Method: "GET", Path: "/api/knowledge/path", Tag: "knowledge", Tool: "knowledge_path", May: access.Recall, Fails: []int{422}})
	KnowledgeSince    = declare[Paging, KnowledgeChanges](Spec{ID: "knowledgeChanges", Method: "GET", Path: "/api/knowledge/changes", Tag: "knowledge", May: access.Recall})
	CountKnowledge    = declare[KnowledgeCount, KnowledgeStats](Spec{ID: "knowledgeStats", Method: "GET", Path: "/api/knowledge/stats", Tag: "knowledge", May: access.Recall, Fails: []int{422}})
	DrawKnowledge     = declare[Drawing, D3Graph](Spec{ID: "drawKnowledge", Method: "GET", Path: "/api/knowledge/graph", Tag: "knowledge", May: access.Recall, Fails: []int{422},
		Answers: map[string]string{"application/json": "D3Graph", "application/ld+json": "Object", "text/plain": "Text", "text/vnd.graphviz": "Text"}})
	ListAliases = declare[AliasesOf, Aliases](Spec{ID: "listAliases", Method: "GET", Path: "/api/knowledge/aliases", Tag: "knowledge", May: access.Recall, Fails: []int{422}})
	AddAliases  = declare[NewAliases, AliasesAdded](Spec{ID: "addAliases", Method: "POST", Path: "/api/knowledge/aliases", Tag: "knowledge", May: access.Believe, Fails: []int{409, 422},
		Takes: map[string]string{"text/csv": "AliasCSV"}})
	RemoveAlias = declare[AliasNamed, KnowledgeOutcome](Spec{ID: "removeAlias", Method: "DELETE", Path: "/api/knowledge/aliases/{alias}", Tag: "knowledge", May: access.Believe, Fails: []int{409}})
)

// A FactFilter selects facts. Names may have any spelling, and a field with its zero value does not restrict the selection.
type FactFilter struct {
	Subject       string      `json:"subject,omitempty" flag:": facts of this subject" is:"Name" tool:"What the fact is about."`
	Predicate     string      `json:"predicate,omitempty" flag:": facts with this predicate" is:"Name" tool:"How the subject relates to the object."`
	Object        string      `json:"object,omitempty" flag:": facts with this object" is:"Name" tool:"The other end."`
	Entity        string      `json:"entity,omitempty" flag:": facts with this subject or object" is:"Name" doc:"The subject or the object." tool:"Subject or object."`
	Source        string      `json:"source,omitempty" flag:": facts whose confidence comes from this source" is:"Source" doc:"The source of the assertion that gave the confidence." tool:"Who says so."`
	Turn          string      `json:"turn,omitempty" flag:": facts whose evidence is this turn" is:"TurnName" doc:"The turn that is the evidence of that assertion." tool:"The turn it was learned from."`
	Statement     *dag.Digest `json:"statement,omitempty" flag:": the statement with this id" tool:"Its id."`
	MinConfidence dag.PPM     `json:"min_confidence,omitempty" flag:": facts with at least this confidence, from 0 to 1" doc:"Only facts with at least this confidence." tool:"At least this sure."`
	ValidAt       *dag.Time   `json:"valid_at,omitempty" flag:": facts that hold at this date or time (default: facts that hold at any time)" doc:"Only facts that hold at this time; facts of any time if left out." tool:"Holds at: a date or RFC 3339."`
}

// A View is the knowledge as of a sequence number.
type View struct {
	AsOf dag.Seq `json:"as_of,omitempty" flag:": the facts as of this sequence number; 0 is the present" doc:"The knowledge as of this sequence number; 0 is the present." tool:"As of this sequence number; 0 is now."`
}

// A KnowledgeCount asks for the number of facts and entities.
type KnowledgeCount struct {
	View
	Brief bool `json:"brief,omitempty" doc:"Return only the numbers of facts, entities and aliases, which takes a small part of the time."`
}

// A FactQuery asks for a page of facts.
type FactQuery struct {
	FactFilter
	View
	Paging
}

// Retracting selects the facts to retract.
type Retracting struct {
	FactFilter
	Reason string `json:"reason,omitempty" is:"RetractionReason" flag:": the reason, for the record" doc:"Kept with the retractions." tool:"Is recorded."`
	DryRun bool   `json:"dry_run,omitempty" flag:": change nothing; show which facts would be retracted" tool:"Only show what would be retracted."`
}

// HistoryOf asks for a page of the history of a statement.
type HistoryOf struct {
	Statement dag.Digest `json:"statement"`
	Paging
}

// A TraverseRequest asks which entities can be reached. A zero value means the default.
type TraverseRequest struct {
	Start         Names               `json:"start" tool:"Names of entities."`
	Predicates    []string            `json:"predicates,omitempty" flag:"predicate: follow only facts with this predicate; may be repeated" is:"Name" max:"256" tool:"Only along these."`
	Direction     knowledge.Direction `json:"direction,omitempty" flag:": outgoing (from subjects to objects), incoming or both" tool:"From subject to object is outgoing."`
	MaxHops       int                 `json:"max_hops,omitempty" flag:"hops: the most facts on a path" is:"1..8" default:"3" tool:"Default 3."`
	MaxResults    int                 `json:"max_results,omitempty" flag:"results: the most entities to list" is:"1..1000" default:"100" tool:"Default 20."`
	MinConfidence dag.PPM             `json:"min_confidence,omitempty" flag:": follow facts with at least this confidence, from 0 to 1" tool:"Of each fact."`
	AsOf          dag.Seq             `json:"as_of,omitempty" flag:": the facts as of this sequence number; 0 is the present" tool:"As of this sequence number; 0 is now."`
	ValidAt       *dag.Time           `json:"valid_at,omitempty" flag:": facts that hold at this date or time (default: facts that hold at any time)" tool:"Holds at: a date or RFC 3339."`
	Within        json.RawMessage     `json:"within,omitempty" flag:": use only the turns of the bundle in this file, which the kernel handed out, and the facts that rest on them" is:"Anything" doc:"A bundle that the kernel handed out, byte for byte. The traversal follows facts that are in it or were learned from its turns, as of its number unless as_of is given." tool:"-"`
}

// A FactSliceRequest asks for a slice of facts.
type FactSliceRequest struct {
	Start   Names     `json:"start" tool:"Names of entities."`
	Policy  policy.ID `json:"policy,omitempty" is:"PolicyID" tool:"NAME@VERSION, facts@1 if left out."`
	AsOf    dag.Seq   `json:"as_of,omitempty" tool:"As of this sequence number; 0 is now."`
	ValidAt *dag.Time `json:"valid_at,omitempty" tool:"Holds at: a date or RFC 3339."`
}

// A PathQuery asks for paths from one entity to another. A zero value means the default.
type PathQuery struct {
	From          string              `json:"from" is:"Name" tool:"An entity."`
	To            string              `json:"to" is:"Name" tool:"Another entity."`
	Count         int                 `json:"count,omitempty" is:"1..50" default:"1" flag:": the most paths to list" doc:"The most paths to return." tool:"How many paths; default 1."`
	Predicates    []string            `json:"predicates,omitempty" flag:"predicate: follow only facts with this predicate; may be repeated" is:"Name" max:"256" tool:"Only along these." doc:"Only these predicates, separated by commas; all if left out."`
	Direction     knowledge.Direction `json:"direction,omitempty" flag:": outgoing (from subjects to objects), incoming or both" tool:"From subject to object is outgoing."`
	MaxHops       int                 `json:"max_hops,omitempty" flag:"hops: the most facts on a path" is:"1..8" default:"3" tool:"Default 3."`
	MinConfidence dag.PPM             `json:"min_confidence,omitempty" doc:"Only facts with at least this confidence." flag:": follow facts with at least this confidence, from 0 to 1" tool:"Of each fact."`
	AsOf          dag.Seq             `json:"as_of,omitempty" flag:": the facts as of this sequence number; 0 is the present" doc:"The knowledge as of this sequence number; 0 is the present." tool:"As of this sequence number; 0 is now."`
	ValidAt       *dag.Time           `json:"valid_at,omitempty" flag:": facts that hold at this date or time (default: facts that hold at any time)" doc:"Only facts that hold at this time; facts of any time if left out." tool:"Holds at: a date or RFC 3339."`
}

// A Drawing selects what to draw.
type Drawing struct {
	Entity        string              `json:"entity" is:"Name"`
	Format        string              `json:"format,omitempty" is:"d3|mermaid|dot|jsonld" default:"d3"`
	MaxHops       int                 `json:"max_hops,omitempty" flag:"hops: the most facts on a path" is:"1..8" default:"3" tool:"Default 3."`
	MaxResults    int                 `json:"max_results,omitempty" flag:"results: the most entities to list" is:"1..1000" default:"100" doc:"The most entities to return, besides the first."`
	Direction     knowledge.Direction `json:"direction,omitempty" flag:": outgoing (from subjects to objects), incoming or both" tool:"From subject to object is outgoing."`
	Predicates    []string            `json:"predicates,omitempty" flag:"predicate: follow only facts with this predicate; may be repeated" is:"Name" max:"256" tool:"Only along these." doc:"Only these predicates, separated by commas; all if left out."`
	MinConfidence dag.PPM             `json:"min_confidence,omitempty" doc:"Only facts with at least this confidence." flag:": follow facts with at least this confidence, from 0 to 1" tool:"Of each fact."`
	AsOf          dag.Seq             `json:"as_of,omitempty" flag:": the facts as of this sequence number; 0 is the present" doc:"The knowledge as of this sequence number; 0 is the present." tool:"As of this sequence number; 0 is now."`
	ValidAt       *dag.Time           `json:"valid_at,omitempty" flag:": facts that hold at this date or time (default: facts that hold at any time)" doc:"Only facts that hold at this time; facts of any time if left out." tool:"Holds at: a date or RFC 3339."`
}

// A D3Graph is a drawing as nodes and links.
type D3Graph struct {
	AsOf  dag.Seq  `json:"as_of" is:"Seq"`
	Cut   string   `json:"cut" is:"|results|work"`
	Nodes []D3Node `json:"nodes"`
	Links []D3Link `json:"links"`
}

// A D3Node is an entity of a drawing.
type D3Node struct {
	ID   string `json:"id" is:"Name"`
	Hops int    `json:"hops"`
}

// A D3Link is a fact of a drawing.
type D3Link struct {
	Source     string     `json:"source" is:"Name"`
	Target     string     `json:"target" is:"Name"`
	Predicate  string     `json:"predicate" is:"Name"`
	Confidence dag.PPM    `json:"confidence" is:"Fraction"`
	Statement  dag.Digest `json:"statement" is:"Digest"`
	Since      dag.Seq    `json:"since" is:"Seq"`
}

// AliasesOf asks for a page of the alias table.
type AliasesOf struct {
	View
	Paging
}

// NewAliases are added to the alias table, either all of them or none.
type NewAliases struct {
	Aliases []Alias `json:"aliases" min:"1" max:"10000"`
}

// AliasNamed names an alias.
type AliasNamed struct {
	Alias string `json:"alias" is:"Name"`
}

// Names are names of entities; in JSON a single name may be written without a list.
type Names []string
