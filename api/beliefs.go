package api

import (
	"cmp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/said"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// Operations on the beliefs of agents.
var (
	SetSpace        = declare[NewSpace, Space](Spec{ID: "setSpace", Method: "POST", Path: "/api/spaces", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ListSpaces      = declare[SpacesQuery, Spaces](Spec{ID: "listSpaces", Method: "GET", Path: "/api/spaces", Tag: "beliefs", May: access.Recall})
	ReviseBeliefs   = declare[BeliefRequest, BeliefOutcome](Spec{ID: "reviseBeliefs", Method: "POST", Path: "/api/beliefs/revise", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ContractBeliefs = declare[BeliefRequest, BeliefOutcome](Spec{ID: "contractBeliefs", Method: "POST", Path: "/api/beliefs/contract", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ExpandBeliefs   = declare[BeliefRequest, BeliefOutcome](Spec{ID: "expandBeliefs", Method: "POST", Path: "/api/beliefs/expand", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ProposeBeliefs  = declare[BeliefRequest, BeliefOutcome](Spec{ID: "proposeBeliefs", Method: "POST", Path: "/api/beliefs/propose", Tag: "beliefs", Tool: "propose_belief", Sets: []string{"beliefs"}, May: access.Admit, Fails: []int{404, 409, 422}})
	GetBeliefBase   = declare[BaseQuery, BeliefBase](Spec{ID: "getBeliefBase", Method: "GET", Path: "/api/beliefs/base", Tag: "beliefs", Tool: "base", Sets: []string{"beliefs"}, May: access.Recall, Fails: []int{404, 422}})
	ExplainBelief   = declare[WhyQuery, Why](Spec{ID: "explainBelief", Method: "GET", Path: "/api/beliefs/why", Tag: "beliefs", Tool: "explain_belief", Sets: []string{"beliefs"}, May: access.Recall, Fails: []int{404, 422}})
	ProveBelief     = declare[BeliefProofRequest, BeliefBundle](Spec{ID: "proveBelief", Method: "POST", Path: "/api/beliefs/evidence", Tag: "beliefs", May: access.Cut, Fails: []int{404, 422, 503}, Headers: sealed})
	BeliefImpact    = declare[ImpactQuery, Impact](Spec{ID: "beliefImpact", Method: "GET", Path: "/api/beliefs/impact", Tag: "beliefs", Tool: "impact", Sets: []string{"beliefs"}, May: access.Recall, Fails: []int{404, 422}})
	DiffBeliefs     = declare[BaseDiffQuery, BaseDiff](Spec{ID: "diffBeliefs", Method: "GET", Path: "/api/beliefs/diff", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	ListItems       = declare[ItemsQuery, Items](Spec{ID: "listItems", Method: "GET", Path: "/api/beliefs/items", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	BeliefConflicts = declare[ConflictsQuery, Conflicts](Spec{ID: "beliefConflicts", Method: "GET", Path: "/api/beliefs/conflicts", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	ResolveKref     = declare[KrefQuery, ResolvedKref](Spec{ID: "resolveKref", Method: "GET", Path: "/api/krefs", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	TagKref         = declare[NewTag, KrefChange](Spec{ID: "tagKref", Method: "POST", Path: "/api/krefs/tag", Tag: "beliefs", May: access.Admit, Fails: []int{404, 409, 422}})
	DeprecateItem   = declare[Deprecation, KrefChange](Spec{ID: "deprecateItem", Method: "POST", Path: "/api/krefs/deprecate", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	RestoreItem     = declare[Deprecation, KrefChange](Spec{ID: "restoreItem", Method: "POST", Path: "/api/krefs/restore", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	LinkKref        = declare[NewLink, KrefChange](Spec{ID: "linkKref", Method: "POST", Path: "/api/krefs/link", Tag: "beliefs", May: access.Admit, Fails: []int{404, 422}})
)

// A NewSpace is a space with the policy of its item kinds.
type NewSpace struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy,omitempty" is:"PolicyID" doc:"A registered policy of the type kind_policy_v1. If left out, a space keeps its policy, and a new space is under beliefs@2."`
}

// A Space is the current state of a space.
type Space struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy" is:"PolicyID"`
	Seq    dag.Seq      `json:"seq,omitempty" is:"Seq" doc:"The number since which the space has this policy."`

	Constraints *ConstraintLoad `json:"constraints,omitempty" doc:"The constraints, if they were asked for."`
}

// A SpacesQuery asks for the spaces.
type SpacesQuery struct {
	Constraints bool `json:"constraints,omitempty" doc:"Count the constraints of each space; this reads all of its beliefs."`
}

// A ConstraintLoad measures the constraints of a space. A constraint is a statement by a person in an item whose kind is hard or
// always.
type ConstraintLoad struct {
	Count    int  `json:"count"`
	Bytes    int  `json:"bytes" doc:"The bytes of all texts together."`
	Longest  int  `json:"longest" doc:"The bytes of the longest text."`
	Over     bool `json:"over" doc:"There are more than 64 constraints, one of more than 2048 bytes, or more than 16384 bytes together."`
	Proposed int  `json:"proposed,omitempty" doc:"Items of these kinds that are not constraints, because no person vouches for everything that they state."`
}

// An OverfullSpace has more constraints than allowed, and more than a context had room for.
type OverfullSpace struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	Count int          `json:"count" doc:"The number of its constraints."`
	Left  int          `json:"left" doc:"The number of its newest constraints that are not in the context as constraints."`
}

// Spaces are all spaces of a tenant.
type Spaces struct {
	Spaces []Space `json:"spaces"`
}

// A BeliefStatement says that a subject is in a relation to an object, or that it is not.
type BeliefStatement = belief.Literal

// A WrittenStatement is a statement with its canonical names and with the names as they were written.
type WrittenStatement struct {
	BeliefStatement
	Written Written `json:"written,omitzero" doc:"The names as they were written, if these differ; for a text, the text. Absent if they are the same, or were not recorded."`
}

// Words returns the names to show to people: each as it was written, or the canonical name if the written form was not kept.
func (s *WrittenStatement) Words() Written {
	return Written{Subject: cmp.Or(s.Written.Subject, s.Subject), Predicate: cmp.Or(s.Written.Predicate, s.Predicate), Object: cmp.Or(s.Written.Object, s.Object)}
}

// Said returns the text of which this is the statement; "" if it was stated in names.
func (s *WrittenStatement) Said() string {
	if said.Is(s.BeliefStatement) {
		return s.Written.Subject
	}
	return ""
}

// Text returns the statement as people read it: the text of which it is the statement, or its names.
func (s *WrittenStatement) Text() string {
	if text := s.Said(); text != "" {
		return text
	}
	w := s.Words()
	text := w.Subject + " " + w.Predicate + " " + w.Object
	if s.Not {
		return "not " + text
	}
	return text
}

// A BeliefRequest asks for an operation on the beliefs of a space.
type BeliefRequest struct {
	Space      belief.Space      `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	Item       belief.Item       `json:"item,omitempty" is:"ItemAddress" doc:"The item whose revision this becomes. If left out, the item with a conflicting or an equal statement, or a new one." tool:"-"`
	Beside     bool              `json:"beside,omitempty" flag:": what the item states stays beside the statements" doc:"What the named item states stays beside the statements. Without it, they take its place." tool:"-"`
	Statements []BeliefStatement `json:"statements" max:"64" doc:"At least one, unless there is a text." tool:"All are asserted."`
	Premises   []BeliefStatement `json:"premises,omitempty" max:"16" doc:"The statements follow from these: they are believed as long as all of these are." tool:"-"`
	Text       string            `json:"text,omitempty" max:"8192" doc:"What is to be remembered, byte for byte. Without statements, the request makes the statement of the text, by which texts replace and contradict each other." tool:"-"`
	Slot       string            `json:"slot,omitempty" max:"64" doc:"A name for what the text settles: a newer text with the same name replaces it." tool:"-"`
	Kind       string            `json:"kind,omitempty" is:"ItemKind" default:"fact" doc:"The kind of a new item, which the policy of the space must list." tool:"fact, preference, observation, procedure, …"`
	ValidFrom  *dag.Time         `json:"valid_from,omitempty" tool:"Holds from: a date or RFC 3339."`
	ValidUntil *dag.Time         `json:"valid_until,omitempty" tool:"Holds until."`
	Turns      []dag.TurnID      `json:"turns,omitempty" max:"256" doc:"The turns that the statements rest on: the statements lose their text when these turns lose theirs." tool:"The recorded turns that say so."`
	Title      string            `json:"title,omitempty" is:"BeliefReason" tool:"A few words that name it."`
	Summary    string            `json:"summary,omitempty" max:"65536" tool:"The text: in sentences, as it should be read."`
	Keywords   []string          `json:"keywords,omitempty" max:"64" tool:"-"`
	Topics     []string          `json:"topics,omitempty" max:"64" tool:"-"`
	Artifacts  []Artifact        `json:"artifacts,omitempty" max:"16" doc:"The artifacts of the revision; their names are unique in it." tool:"-"`
	Links      []BeliefLink      `json:"links,omitempty" max:"64" doc:"The links from the revision, each once. They are recorded in the same change, or not at all if the outcome is not changed. A contraction has none." tool:"-"`
	Tags       []string          `json:"tags,omitempty" is:"TagName" max:"16" doc:"The tags that point to the revision from then on, each once; current does anyway. They are recorded like links. current and published need the permission to revise." tool:"-"`
	NewSpace   bool              `json:"new_space,omitempty" doc:"Make the space, under beliefs@2, if there is none. This needs the permission to revise." tool:"-"`
	Confidence *dag.PPM          `json:"confidence,omitempty" doc:"1 if left out." tool:"Default 1."`
	Source     string            `json:"source,omitempty" is:"BeliefSource" doc:"manual if left out, or inference for a proposal." tool:"-"`
	Reason     string            `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record" tool:"Why."`
	Key        string            `json:"key,omitempty" doc:"A name for the request: a request with the same key is carried out once." tool:"-"`
	DryRun     bool              `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing." tool:"-"`
}

// A BeliefLink is a typed edge from the revision that a request creates.
type BeliefLink struct {
	Type string `json:"type" is:"TagName" doc:"depends_on, derived_from, supersedes, referenced, contains, created_from, or another word."`
	To   string `json:"to" is:"LinkTarget"`
}

// A BeliefLoss is a statement that gave way in an operation.
type BeliefLoss struct {
	Statement WrittenStatement   `json:"statement"`
	Premises  []WrittenStatement `json:"premises,omitempty" doc:"The statement was the conclusion of a rule with these premises."`
	Item      belief.Item        `json:"item" is:"ItemAddress"`
	Revision  int                `json:"revision"`
	Conflict  []WrittenStatement `json:"conflict" doc:"A minimal set that cannot be believed together, or from which a statement to be given up would still follow; the statement is in it."`
	Until     *dag.Time          `json:"until,omitempty" doc:"The statement holds until this time, at which the statement that it gave way to begins."`
}

// A BeliefOutcome says what an operation did.
type BeliefOutcome struct {
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused" doc:"If the outcome is not changed, no link and no tag is recorded."`
	Item     belief.Item        `json:"item,omitempty" is:"ItemAddress"`
	Revision int                `json:"revision,omitempty"`
	Kept     int                `json:"kept" doc:"The number of kept elements that rules and constraints connect with the request. All unconnected elements are kept, too."`
	GaveWay  []BeliefLoss       `json:"gave_way" doc:"The statements that gave way; for a refused request, the statements that would have given way."`
	Fell     []WrittenStatement `json:"fell" doc:"Conclusions that no longer follow."`
	Review   []string           `json:"review" doc:"Revisions that depend on what gave way by a link that is not a rule: a person should review them."`
	Reason   string             `json:"reason,omitempty" is:"conflict|protected|vouched" doc:"Why it was refused. vouched: a person vouches for statements of the item that it would change."`
	Repeated bool               `json:"repeated,omitempty" doc:"The request was answered before, and this answer only says where; or the same proposer proposed the same before: if unchanged, it is believed; if refused, it waits."`
}

// A BaseQuery asks for the statements believed in a space.
type BaseQuery struct {
	Space   belief.Space `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	AsOf    dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": the beliefs as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present." tool:"-"`
	ValidAt *dag.Time    `json:"valid_at,omitempty" flag:": statements that hold at this date or time (default: statements that hold at any time)" doc:"Only statements that hold at this instant." tool:"Only what holds at: a date or RFC 3339."`
	Subject string       `json:"subject,omitempty" is:"Name" flag:": statements about this" doc:"Only statements about this." tool:"Only statements about this."`
}

// A HeldStatement is a statement that is believed.
type HeldStatement struct {
	WrittenStatement
	Item       belief.Item `json:"item" is:"ItemAddress" doc:"The item that states it, or the rule by which it follows."`
	Revision   int         `json:"revision"`
	Derived    bool        `json:"derived,omitempty" doc:"The statement follows by a rule, and no item states it."`
	ValidFrom  *dag.Time   `json:"valid_from,omitempty"`
	ValidUntil *dag.Time   `json:"valid_until,omitempty"`
	Since      dag.Seq     `json:"since,omitempty" is:"Seq" doc:"The number from which on its revision is believed."`
	Text       string      `json:"text,omitempty" doc:"What was said, byte for byte; it is shown in the place of the statement."`
	Title      string      `json:"title,omitempty" doc:"The title of its revision, as contexts show it."`
	Summary    string      `json:"summary,omitempty" doc:"The text of its revision, as contexts show it."`
	Standing   string      `json:"standing" is:"outside|guest|agent|member|owner" doc:"Whose word it counts as; of a derived statement, the least of those from which it follows."`
}

// A BeliefBase lists the statements believed in a space.
type BeliefBase struct {
	AsOf       dag.Seq         `json:"as_of" is:"Seq"`
	Space      belief.Space    `json:"space" is:"BeliefSpace"`
	Policy     policy.ID       `json:"policy" is:"PolicyID"`
	Statements []HeldStatement `json:"statements"`
}

// A WhyQuery asks why a statement is believed, or why it no longer is.
type WhyQuery struct {
	Space     belief.Space `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	Subject   string       `json:"subject" is:"Name" tool:"What it is about."`
	Predicate string       `json:"predicate" is:"Name" tool:"A verb or an attribute."`
	Object    string       `json:"object" is:"Name" tool:"An entity or a value."`
	Not       bool         `json:"not,omitempty" flag:": explain why it is denied" doc:"Ask about its negation." tool:"true for its negation."`
	AsOf      dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": the beliefs as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present." tool:"-"`
}

// A BeliefProofRequest asks for evidence that a statement is believed.
type BeliefProofRequest struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	BeliefStatement
	AsOf    dag.Seq   `json:"as_of,omitempty" is:"Seq" flag:": the beliefs as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present."`
	ValidAt *dag.Time `json:"valid_at,omitempty" doc:"The statement must hold at this instant; at any time if left out."`
}

// A Support is an element that a believed statement rests on.
type Support struct {
	Statement WrittenStatement   `json:"statement"`
	Premises  []WrittenStatement `json:"premises,omitempty"`
	Item      belief.Item        `json:"item" is:"ItemAddress"`
	Revision  int                `json:"revision"`
	Turns     []dag.TurnID       `json:"turns,omitempty" is:"UUID"`
	By        string             `json:"by,omitempty" is:"Asker"`
	Class     string             `json:"class" is:"inferred|tool|verified|human|published|hard_rule"`
	Since     dag.Seq            `json:"since" is:"Seq" doc:"The number of the event that began the unbroken belief."`
}

// An EndedBelief is a period in which a statement was believed without interruption, and how the period ended.
type EndedBelief struct {
	Since   dag.Seq           `json:"since" is:"Seq"`
	Until   dag.Seq           `json:"until" is:"Seq" doc:"The number of the entry that ended it."`
	Derived bool              `json:"derived,omitempty" doc:"At the end it followed from other statements, and no item stated it."`
	Ending  string            `json:"ending" is:"given_up|contradicted|deprecated|moved|policy" doc:"given_up: the item that stated it, or a premise, was contracted. contradicted: it gave way to a contradicting statement. deprecated: the item was deprecated. moved: current points to another revision of the item. policy: the space came under another policy."`
	At      dag.Time          `json:"at" doc:"When it ended."`
	By      string            `json:"by,omitempty" is:"Asker" doc:"The caller who ended it."`
	Reason  string            `json:"reason,omitempty"`
	Lost    []Support         `json:"lost" doc:"The elements that ended with it: those that stated it, or the part of its premises that fell."`
	Instead *WrittenStatement `json:"instead,omitempty" doc:"The contradicting statement that was believed from then on."`
}

// An ErasedRevision is a revision whose text was erased together with a turn that it rested on.
type ErasedRevision struct {
	Item     belief.Item `json:"item" is:"ItemAddress"`
	Revision int         `json:"revision"`
	Seq      dag.Seq     `json:"seq" is:"Seq"`
	Turn     dag.TurnID  `json:"turn,omitzero" is:"UUID" doc:"The turn that was erased."`
	Erasure  dag.Seq     `json:"erasure,omitempty" is:"Seq" doc:"The number of the erasure."`
}

// A Why explains why a statement is believed, or when and how the belief in it ended.
type Why struct {
	AsOf      dag.Seq          `json:"as_of" is:"Seq"`
	Statement WrittenStatement `json:"statement" doc:"The statement that was asked about."`
	State     string           `json:"state" is:"believed|ended|erased|never" doc:"ended: it was believed. erased: no remaining revision ever made it believed, but erased revisions of the space may have. never: no revision made it believed."`
	Believed  bool             `json:"believed"`
	Support   []Support        `json:"support" doc:"A set of elements from which it follows."`
	Ended     []EndedBelief    `json:"ended" doc:"Past periods in which it was believed, among the newest 512 changes of the elements that it could follow from."`
	Erased    []ErasedRevision `json:"erased,omitempty" doc:"For the state erased: revisions that may have stated it. Their words are gone."`
}

// An ImpactQuery asks what would change if a revision were not believed.
type ImpactQuery struct {
	Ref   string `json:"ref" is:"Kref" tool:"The address of an item."`
	Depth int    `json:"depth,omitempty" is:"1..20" default:"10" doc:"The most links to follow." tool:"-"`
}

// Impact lists the conclusions and revisions that depend on a revision.
type Impact struct {
	AsOf  dag.Seq            `json:"as_of" is:"Seq"`
	Ref   string             `json:"ref" is:"Kref"`
	Falls []WrittenStatement `json:"falls" doc:"Conclusions that would no longer follow without it."`
	Links []Dependent        `json:"links" doc:"Revisions that link to it, over any number of links."`
}

// A Dependent is a revision that links to another.
type Dependent struct {
	Ref   string `json:"ref" is:"Kref"`
	Type  string `json:"type"`
	To    string `json:"to" is:"Kref"`
	Depth int    `json:"depth"`

	Deprecated bool `json:"deprecated,omitempty" doc:"The item is deprecated, so none of its statements is believed."`
}

// A BaseDiffQuery asks for the difference between two bases of a space.
type BaseDiffQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	From  dag.Seq      `json:"from" is:"Seq"`
	To    dag.Seq      `json:"to,omitempty" is:"Seq" doc:"Up to this sequence number; 0 is the present."`
}

// A BaseDiff is the difference between two bases.
type BaseDiff struct {
	From    dag.Seq         `json:"from" is:"Seq"`
	To      dag.Seq         `json:"to" is:"Seq"`
	Added   []HeldStatement `json:"added"`
	Removed []HeldStatement `json:"removed"`
}

// An ItemsQuery asks for the items of a space.
type ItemsQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	AsOf  dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": the beliefs as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present."`
	Limit int          `json:"limit,omitempty" is:"1..1000" default:"100" flag:": the most items to list"`
	After string       `json:"after,omitempty" flag:": the value of \"next\" in the previous page" doc:"The value of next in the previous page."`

	Deprecated bool `json:"deprecated,omitempty" doc:"Also list deprecated items."`
}

// Items is a page of items, by ascending name.
type Items struct {
	Items   []ListedItem `json:"items"`
	LeftOut int          `json:"left_out,omitempty" doc:"The number of deprecated items of the page that are not listed because they were not asked for."`
	Next    string       `json:"next,omitempty" is:"Next"`
}

// A ListedItem is an item of a page, with its current revision.
type ListedItem struct {
	Item       belief.Item       `json:"item" is:"ItemAddress"`
	Revision   int               `json:"revision,omitempty" doc:"The revision that current points to. Absent if nothing of the item is believed."`
	Statements []RevisionElement `json:"statements" doc:"The statements of that revision. They are not believed while the item is deprecated."`
	Title      string            `json:"title,omitempty"`
	Deprecated bool              `json:"deprecated,omitempty"`
	Erased     bool              `json:"erased,omitempty" doc:"The content of the revision was erased with the turns that it rested on."`
}

// A ConflictsQuery asks for the proposals that were not accepted.
type ConflictsQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
}

// Conflicts are proposals that were not accepted and wait for a decision.
type Conflicts struct {
	Conflicts []Conflict `json:"conflicts"`
}

// A Conflict is a proposal that was not accepted.
type Conflict struct {
	Seq        dag.Seq            `json:"seq" is:"Seq"`
	At         dag.Time           `json:"at"`
	By         string             `json:"by,omitempty" is:"Asker"`
	Item       belief.Item        `json:"item,omitempty" is:"ItemAddress" doc:"The item that the proposal named."`
	Statements []WrittenStatement `json:"statements"`
	Premises   []WrittenStatement `json:"premises,omitempty" doc:"The premises from which the statements were to follow."`
	ValidFrom  *dag.Time          `json:"valid_from,omitempty"`
	ValidUntil *dag.Time          `json:"valid_until,omitempty"`
	Confidence dag.PPM            `json:"confidence" doc:"0 if it was erased."`
	With       []string           `json:"with" is:"Kref" doc:"Revisions that would have given way."`
	Turns      []dag.TurnID       `json:"turns,omitempty" is:"UUID"`
	Reason     string             `json:"reason,omitempty"`
	Erased     bool               `json:"erased,omitempty"`
}

// A KrefQuery asks for the target of an address.
type KrefQuery struct {
	Ref string `json:"ref" is:"Kref" doc:"kref://PROJECT/SPACE/NAME.KIND, with ?r=3 for a revision or ?t=published for a tag, at=TIME or seq=NUMBER for the state as of then, and a=NAME for an artifact of the revision."`
}

// A ResolvedKref is the target of an address.
type ResolvedKref struct {
	Ref        string        `json:"ref" is:"Kref"`
	AsOf       dag.Seq       `json:"as_of" is:"Seq"`
	Item       belief.Item   `json:"item" is:"ItemAddress"`
	Deprecated bool          `json:"deprecated"`
	Revision   *ItemRevision `json:"revision,omitempty" doc:"Absent if the tag points to no revision."`
	Artifact   *Artifact     `json:"artifact,omitempty" doc:"The artifact that the address names."`
	Revisions  int           `json:"revisions" doc:"The total number."`
	Tags       []ItemTag     `json:"tags" doc:"Each period in which a tag pointed to a revision, by tag and number."`
}

// An ItemRevision is a state of an item.
type ItemRevision struct {
	Revision   int               `json:"revision"`
	Seq        dag.Seq           `json:"seq" is:"Seq"`
	At         dag.Time          `json:"at"`
	By         string            `json:"by,omitempty" is:"Asker"`
	Supersedes int               `json:"supersedes,omitempty"`
	Statements []RevisionElement `json:"statements"`
	Title      string            `json:"title,omitempty"`
	Summary    string            `json:"summary,omitempty"`
	Withheld   bool              `json:"withheld,omitempty" doc:"Title and summary may contain something that was given up, so contexts leave them out."`
	Keywords   []string          `json:"keywords,omitempty"`
	Topics     []string          `json:"topics,omitempty"`
	Artifacts  []Artifact        `json:"artifacts,omitempty"`
	Confidence dag.PPM           `json:"confidence"`
	Source     string            `json:"source,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	Erased     bool              `json:"erased,omitempty" doc:"The content was erased with the turns that it rested on."`
}

// An Artifact is a pointer of a revision to something stored elsewhere.
type Artifact = belief.Artifact

// A RevisionElement is a statement of a revision, or a rule.
type RevisionElement struct {
	WrittenStatement
	Premises   []WrittenStatement `json:"premises,omitempty"`
	ValidFrom  *dag.Time          `json:"valid_from,omitempty"`
	ValidUntil *dag.Time          `json:"valid_until,omitempty"`
	Turns      []dag.TurnID       `json:"turns,omitempty" is:"UUID"`
	Class      string             `json:"class" is:"inferred|tool|verified|human|published|hard_rule"`
}

// An ItemTag is a period in which a tag pointed to a revision.
type ItemTag struct {
	Tag      string  `json:"tag"`
	Revision int     `json:"revision"`
	Since    dag.Seq `json:"since" is:"Seq"`
	Until    dag.Seq `json:"until,omitempty" is:"Seq" doc:"The number until which the tag pointed to it; absent while it does."`
}

// A NewTag points a tag to a revision.
type NewTag struct {
	Ref      belief.Item `json:"ref" is:"ItemAddress"`
	Tag      string      `json:"tag" is:"TagName"`
	Revision int         `json:"revision" is:"0.." doc:"The revision that the tag is to point to; 0 removes the tag."`
	Reason   string      `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record"`
}

// A Deprecation deprecates an item, so that none of its statements is believed, or restores it.
type Deprecation struct {
	Ref    belief.Item `json:"ref" is:"ItemAddress"`
	Reason string      `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record"`
}

// A NewLink is a typed edge from a revision.
type NewLink struct {
	From string `json:"from" is:"Kref" doc:"The address of a revision, with ?r=."`
	Type string `json:"type" is:"TagName" doc:"depends_on, derived_from, supersedes, referenced, contains, created_from, or another word."`
	To   string `json:"to" is:"LinkTarget"`
}

// A KrefChange is the outcome of changing a tag, a deprecation or a link.
type KrefChange struct {
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused"`
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq"`
	Conflict []WrittenStatement `json:"conflict,omitempty" doc:"A set of statements that contradict each other."`
}

// A BeliefEvent reports that an entry about beliefs was recorded. It contains no text.
type BeliefEvent struct {
	Seq      dag.Seq      `json:"seq" is:"Seq"`
	AsOf     dag.Seq      `json:"as_of" is:"Seq" doc:"The number of the last entry of the change: a query as of it shows the result."`
	At       dag.Time     `json:"at"`
	Kind     string       `json:"kind" is:"space|revision|tag|deprecation|link|conflict|resolution|use"`
	Space    belief.Space `json:"space" is:"BeliefSpace"`
	Item     belief.Item  `json:"item,omitempty" is:"ItemAddress"`
	Revision int          `json:"revision,omitempty" doc:"The revision that was made, or that a tag points to."`
	Tag      string       `json:"tag,omitempty"`
	By       string       `json:"by,omitempty" is:"Asker"`
	Erased   bool         `json:"erased,omitempty"`
}
