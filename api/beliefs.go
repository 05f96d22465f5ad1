package api

import (
	"cmp"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// What agents hold to be true.
var (
	SetSpace        = declare[NewSpace, Space](Spec{ID: "setSpace", Method: "POST", Path: "/api/spaces", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ListSpaces      = declare[SpacesQuery, Spaces](Spec{ID: "listSpaces", Method: "GET", Path: "/api/spaces", Tag: "beliefs", May: access.Recall})
	ReviseBeliefs   = declare[BeliefRequest, BeliefOutcome](Spec{ID: "reviseBeliefs", Method: "POST", Path: "/api/beliefs/revise", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ContractBeliefs = declare[BeliefRequest, BeliefOutcome](Spec{ID: "contractBeliefs", Method: "POST", Path: "/api/beliefs/contract", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ExpandBeliefs   = declare[BeliefRequest, BeliefOutcome](Spec{ID: "expandBeliefs", Method: "POST", Path: "/api/beliefs/expand", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ProposeBeliefs  = declare[BeliefRequest, BeliefOutcome](Spec{ID: "proposeBeliefs", Method: "POST", Path: "/api/beliefs/propose", Tag: "beliefs", Tool: "remember", Sets: []string{"beliefs"}, May: access.Admit, Fails: []int{404, 409, 422}})
	GetBeliefBase   = declare[BaseQuery, BeliefBase](Spec{ID: "getBeliefBase", Method: "GET", Path: "/api/beliefs/base", Tag: "beliefs", Tool: "base", Sets: []string{"beliefs"}, May: access.Recall, Fails: []int{404, 422}})
	ExplainBelief   = declare[WhyQuery, Why](Spec{ID: "explainBelief", Method: "GET", Path: "/api/beliefs/why", Tag: "beliefs", Tool: "why", Sets: []string{"beliefs"}, May: access.Recall, Fails: []int{404, 422}})
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

// A NewSpace is a space with the policy of its kinds.
type NewSpace struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy,omitempty" is:"PolicyID" doc:"A registered policy of the type kind_policy_v1. Without it a space keeps its policy, and a new one is under beliefs@1."`
}

// A Space is a space as it is.
type Space struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy" is:"PolicyID"`
	Seq    dag.Seq      `json:"seq,omitempty" is:"Seq" doc:"The number since which it has this policy."`

	Constraints *ConstraintLoad `json:"constraints,omitempty" doc:"If they were asked for."`
}

// A SpacesQuery asks for the spaces.
type SpacesQuery struct {
	Constraints bool `json:"constraints,omitempty" doc:"Count the constraints of each space, which reads all that is believed in it."`
}

// A ConstraintLoad is what the constraints of a space add up to. A constraint is what a person states in an item of a kind that is hard or always.
type ConstraintLoad struct {
	Count    int  `json:"count"`
	Bytes    int  `json:"bytes" doc:"Of all texts together."`
	Longest  int  `json:"longest" doc:"Bytes of the longest text."`
	Over     bool `json:"over" doc:"More than 64, one of more than 2048 bytes, or more than 16384 bytes together."`
	Proposed int  `json:"proposed,omitempty" doc:"Items of such kinds that are no constraints, since no person vouches for all that they say."`
}

// An OverfullSpace has more constraints than a space may, and more than a context had room for.
type OverfullSpace struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	Count int          `json:"count" doc:"Its constraints."`
	Left  int          `json:"left" doc:"Those of them, the newest, that are not in the context as constraints."`
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
	Written Written `json:"written,omitzero" doc:"The names as they were written, where these differ; of a text the text. Absent if they are the same, or if nobody kept them."`
}

// Words returns the names to show to people: each as it was written, or the canonical name if nobody kept how it was written.
func (s *WrittenStatement) Words() Written {
	return Written{Subject: cmp.Or(s.Written.Subject, s.Subject), Predicate: cmp.Or(s.Written.Predicate, s.Predicate), Object: cmp.Or(s.Written.Object, s.Object)}
}

// A BeliefRequest asks for an operation on what is believed in a space.
type BeliefRequest struct {
	Space      belief.Space      `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	Item       belief.Item       `json:"item,omitempty" is:"ItemAddress" doc:"The item whose revision this becomes. Without it, the item that holds a conflicting or an equal statement, else a new one." tool:"-"`
	Statements []BeliefStatement `json:"statements" min:"1" max:"64" tool:"All of them are meant."`
	Premises   []BeliefStatement `json:"premises,omitempty" max:"16" doc:"The statements follow from these: they are believed as long as all of these are." tool:"-"`
	Kind       string            `json:"kind,omitempty" is:"ItemKind" default:"fact" doc:"Of a new item: one that the policy of the space lists." tool:"fact, preference, observation, procedure, …"`
	ValidFrom  *dag.Time         `json:"valid_from,omitempty" tool:"Holds from then: a date or RFC 3339."`
	ValidUntil *dag.Time         `json:"valid_until,omitempty" tool:"Holds before then."`
	Turns      []dag.TurnID      `json:"turns,omitempty" max:"256" doc:"The turns that the statements rest on: their text goes when these lose theirs." tool:"The recorded turns that say so."`
	Title      string            `json:"title,omitempty" is:"BeliefReason" tool:"A few words that name it."`
	Summary    string            `json:"summary,omitempty" max:"65536" tool:"The text: in sentences, as it should be read."`
	Keywords   []string          `json:"keywords,omitempty" max:"64" tool:"-"`
	Topics     []string          `json:"topics,omitempty" max:"64" tool:"-"`
	Artifacts  []Artifact        `json:"artifacts,omitempty" max:"16" doc:"Of the revision; their names are unique in it." tool:"-"`
	Links      []BeliefLink      `json:"links,omitempty" max:"64" doc:"From the revision, each once. Recorded in the same change, or not at all if the outcome is not changed. A contraction has none." tool:"-"`
	Tags       []string          `json:"tags,omitempty" is:"TagName" max:"16" doc:"That point to the revision from then on, each once; current does anyway. Recorded as links are. current and published need the permission to revise." tool:"-"`
	NewSpace   bool              `json:"new_space,omitempty" doc:"Make the space, under beliefs@1, if it is not there. It needs the permission to revise." tool:"-"`
	Confidence *dag.PPM          `json:"confidence,omitempty" doc:"1 if left out." tool:"1 if left out."`
	Source     string            `json:"source,omitempty" is:"BeliefSource" doc:"manual if left out, and inference of a proposal." tool:"-"`
	Reason     string            `json:"reason,omitempty" is:"BeliefReason" flag:": why, for the record" tool:"Why."`
	Key        string            `json:"key,omitempty" doc:"Names the request: one that has been answered is not done again." tool:"-"`
	DryRun     bool              `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing." tool:"-"`
}

// A BeliefLink is a typed edge from the revision that a request becomes.
type BeliefLink struct {
	Type string `json:"type" is:"TagName" doc:"depends_on, derived_from, supersedes, referenced, contains, created_from, or another word."`
	To   string `json:"to" is:"LinkTarget"`
}

// A BeliefLoss is a statement that gave way.
type BeliefLoss struct {
	Statement WrittenStatement   `json:"statement"`
	Premises  []WrittenStatement `json:"premises,omitempty" doc:"It was a rule with these premises."`
	Item      belief.Item        `json:"item" is:"ItemAddress"`
	Revision  int                `json:"revision"`
	Conflict  []WrittenStatement `json:"conflict" doc:"A smallest set that cannot be believed together, or that would leave what is given up; the statement is one of it."`
	Until     *dag.Time          `json:"until,omitempty" doc:"It holds until then, where what it gave way to begins."`
}

// A BeliefOutcome says what an operation did.
type BeliefOutcome struct {
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused" doc:"Of a request that is not changed, no link and no tag is recorded."`
	Item     belief.Item        `json:"item,omitempty" is:"ItemAddress"`
	Revision int                `json:"revision,omitempty"`
	Kept     int                `json:"kept" doc:"Elements that rules and constraints connect with the request and that are kept. All others are, too."`
	GaveWay  []BeliefLoss       `json:"gave_way" doc:"Of a request that was refused, what would have given way."`
	Fell     []WrittenStatement `json:"fell" doc:"Conclusions that no longer follow."`
	Review   []string           `json:"review" doc:"Revisions that depend on what gave way by a link that is no rule: somebody should look at them."`
	Reason   string             `json:"reason,omitempty" is:"conflict|protected|vouched" doc:"Why it was refused. vouched: a person vouches for what the item states that it would change."`
	Repeated bool               `json:"repeated,omitempty" doc:"The request was answered before, and this says only where; or a proposal says what its proposer said already: unchanged, it is believed; refused, it waits."`
}

// A BaseQuery asks what is believed in a space.
type BaseQuery struct {
	Space   belief.Space `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	AsOf    dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": what was believed at this sequence number; 0 is the present" doc:"0 is the present." tool:"-"`
	ValidAt *dag.Time    `json:"valid_at,omitempty" flag:": statements that hold at this date or time; whenever they hold if left out" doc:"Only what holds at this instant." tool:"Only what holds then: a date or RFC 3339."`
	Subject string       `json:"subject,omitempty" is:"Name" flag:": statements about this" doc:"Only statements about this." tool:"Only statements about this."`
}

// A HeldStatement is a statement that is believed.
type HeldStatement struct {
	WrittenStatement
	Item       belief.Item `json:"item" is:"ItemAddress" doc:"That states it, or the rule by which it follows."`
	Revision   int         `json:"revision"`
	Derived    bool        `json:"derived,omitempty" doc:"It follows by a rule, and nothing states it."`
	ValidFrom  *dag.Time   `json:"valid_from,omitempty"`
	ValidUntil *dag.Time   `json:"valid_until,omitempty"`
	Since      dag.Seq     `json:"since,omitempty" is:"Seq" doc:"From which number on its revision is believed."`
	Title      string      `json:"title,omitempty" doc:"That of its revision, as contexts show it."`
	Summary    string      `json:"summary,omitempty" doc:"The text of its revision, as contexts show it."`
}

// A BeliefBase is what is believed in a space.
type BeliefBase struct {
	AsOf       dag.Seq         `json:"as_of" is:"Seq"`
	Space      belief.Space    `json:"space" is:"BeliefSpace"`
	Policy     policy.ID       `json:"policy" is:"PolicyID"`
	Statements []HeldStatement `json:"statements"`
}

// A WhyQuery asks why a statement is believed, or why not any more.
type WhyQuery struct {
	Space     belief.Space `json:"space" is:"BeliefSpace" tool:"Such as acme/support."`
	Subject   string       `json:"subject" is:"Name" tool:"What it is about."`
	Predicate string       `json:"predicate" is:"Name" tool:"A verb or an attribute."`
	Object    string       `json:"object" is:"Name" tool:"An entity or a value."`
	Not       bool         `json:"not,omitempty" flag:": why it is denied" doc:"Its negation is meant." tool:"true for its negation."`
	AsOf      dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": what was believed at this sequence number; 0 is the present" doc:"0 is the present." tool:"-"`
}

// A BeliefProofRequest asks for evidence that a statement is believed.
type BeliefProofRequest struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	BeliefStatement
	AsOf    dag.Seq   `json:"as_of,omitempty" is:"Seq" flag:": what was believed at this sequence number; 0 is the present" doc:"0 is the present."`
	ValidAt *dag.Time `json:"valid_at,omitempty" doc:"It must hold at this instant; whenever it held if left out."`
}

// A Support is an element by which a statement is believed.
type Support struct {
	Statement WrittenStatement   `json:"statement"`
	Premises  []WrittenStatement `json:"premises,omitempty"`
	Item      belief.Item        `json:"item" is:"ItemAddress"`
	Revision  int                `json:"revision"`
	Turns     []dag.TurnID       `json:"turns,omitempty" is:"UUID"`
	By        string             `json:"by,omitempty" is:"Asker"`
	Class     string             `json:"class" is:"inferred|tool|verified|human|published|hard_rule"`
	Since     dag.Seq            `json:"since" is:"Seq" doc:"The event that began the unbroken belief."`
}

// An EndedBelief is a period in which a statement was believed without interruption, and how the period ended.
type EndedBelief struct {
	Since   dag.Seq           `json:"since" is:"Seq"`
	Until   dag.Seq           `json:"until" is:"Seq" doc:"The number of the entry that ended it."`
	Derived bool              `json:"derived,omitempty" doc:"At its end it followed from others, and nothing stated it."`
	Ending  string            `json:"ending" is:"given_up|contradicted|deprecated|moved|policy" doc:"given_up: what stated it, or what it followed from, was contracted. contradicted: it gave way to what contradicts it. deprecated: the item was. moved: current points to another revision of the item. policy: the space came under another policy."`
	At      dag.Time          `json:"at" doc:"When it ended."`
	By      string            `json:"by,omitempty" is:"Asker" doc:"Who ended it."`
	Reason  string            `json:"reason,omitempty"`
	Lost    []Support         `json:"lost" doc:"What ended with it: what stated it, or of what it followed from the part that fell."`
	Instead *WrittenStatement `json:"instead,omitempty" doc:"What contradicts it and was believed from then on."`
}

// An ErasedRevision is a revision whose words were erased with a turn that it rested on.
type ErasedRevision struct {
	Item     belief.Item `json:"item" is:"ItemAddress"`
	Revision int         `json:"revision"`
	Seq      dag.Seq     `json:"seq" is:"Seq"`
	Turn     dag.TurnID  `json:"turn,omitzero" is:"UUID" doc:"That was erased."`
	Erasure  dag.Seq     `json:"erasure,omitempty" is:"Seq" doc:"The number of the erasure."`
}

// A Why explains why a statement is believed, or when and how the belief in it ended.
type Why struct {
	AsOf      dag.Seq          `json:"as_of" is:"Seq"`
	Statement WrittenStatement `json:"statement" doc:"That was asked about."`
	State     string           `json:"state" is:"believed|ended|erased|never" doc:"ended: it was believed. erased: nothing that is left ever made it believed, and revisions of the space were erased, which may have. never: no revision made it believed."`
	Believed  bool             `json:"believed"`
	Support   []Support        `json:"support" doc:"A set of elements from which it follows."`
	Ended     []EndedBelief    `json:"ended" doc:"Times in which it was believed and that have ended, among the newest 512 changes of what it could follow from."`
	Erased    []ErasedRevision `json:"erased,omitempty" doc:"Of the state erased: these revisions may have stated it. Their words are gone."`
}

// An ImpactQuery asks what would stand without a revision.
type ImpactQuery struct {
	Ref   string `json:"ref" is:"Kref" tool:"The address of an item."`
	Depth int    `json:"depth,omitempty" is:"1..20" default:"10" doc:"How many links to follow." tool:"-"`
}

// Impact is what depends on a revision.
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

	Deprecated bool `json:"deprecated,omitempty" doc:"Its item is deprecated, so nothing of it is believed."`
}

// A BaseDiffQuery asks how two bases of a space differ.
type BaseDiffQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	From  dag.Seq      `json:"from" is:"Seq"`
	To    dag.Seq      `json:"to,omitempty" is:"Seq" doc:"0 is the present."`
}

// A BaseDiff is how two bases differ.
type BaseDiff struct {
	From    dag.Seq         `json:"from" is:"Seq"`
	To      dag.Seq         `json:"to" is:"Seq"`
	Added   []HeldStatement `json:"added"`
	Removed []HeldStatement `json:"removed"`
}

// An ItemsQuery asks for the items of a space.
type ItemsQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	AsOf  dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": what was believed at this sequence number; 0 is the present" doc:"0 is the present."`
	Limit int          `json:"limit,omitempty" is:"1..1000" default:"100" flag:": how many at most"`
	After string       `json:"after,omitempty" flag:": the next page: next of the page before" doc:"next of the page before."`

	Deprecated bool `json:"deprecated,omitempty" doc:"Deprecated items, too."`
}

// Items is a page of items, by ascending name.
type Items struct {
	Items   []ListedItem `json:"items"`
	LeftOut int          `json:"left_out,omitempty" doc:"Deprecated items of the page, which are not listed unless they are asked for."`
	Next    string       `json:"next,omitempty" is:"Next"`
}

// A ListedItem is an item of a page with its current revision.
type ListedItem struct {
	Item       belief.Item       `json:"item" is:"ItemAddress"`
	Revision   int               `json:"revision,omitempty" doc:"That current points to. Absent if nothing of the item is believed."`
	Statements []RevisionElement `json:"statements" doc:"Of that revision. They are not believed while the item is deprecated."`
	Title      string            `json:"title,omitempty"`
	Deprecated bool              `json:"deprecated,omitempty"`
	Erased     bool              `json:"erased,omitempty" doc:"What the revision said is gone, with the turns that it rested on."`
}

// A ConflictsQuery asks for the proposals that were not taken.
type ConflictsQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
}

// Conflicts are proposals that were not taken, for somebody to decide.
type Conflicts struct {
	Conflicts []Conflict `json:"conflicts"`
}

// A Conflict is a proposal that was not taken.
type Conflict struct {
	Seq        dag.Seq            `json:"seq" is:"Seq"`
	At         dag.Time           `json:"at"`
	By         string             `json:"by,omitempty" is:"Asker"`
	Item       belief.Item        `json:"item,omitempty" is:"ItemAddress" doc:"That the proposal named."`
	Statements []WrittenStatement `json:"statements"`
	Premises   []WrittenStatement `json:"premises,omitempty" doc:"From which the statements were to follow."`
	ValidFrom  *dag.Time          `json:"valid_from,omitempty"`
	ValidUntil *dag.Time          `json:"valid_until,omitempty"`
	Confidence dag.PPM            `json:"confidence" doc:"0 if it was erased."`
	With       []string           `json:"with" is:"Kref" doc:"Revisions that would have given way."`
	Turns      []dag.TurnID       `json:"turns,omitempty" is:"UUID"`
	Reason     string             `json:"reason,omitempty"`
	Erased     bool               `json:"erased,omitempty"`
}

// A KrefQuery asks where an address leads.
type KrefQuery struct {
	Ref string `json:"ref" is:"Kref" doc:"kref://PROJECT/SPACE/NAME.KIND, with ?r=3 for a revision or ?t=published for a tag, at=TIME or seq=NUMBER for how it was then, and a=NAME for an artifact of the revision."`
}

// A ResolvedKref is what an address leads to.
type ResolvedKref struct {
	Ref        string        `json:"ref" is:"Kref"`
	AsOf       dag.Seq       `json:"as_of" is:"Seq"`
	Item       belief.Item   `json:"item" is:"ItemAddress"`
	Deprecated bool          `json:"deprecated"`
	Revision   *ItemRevision `json:"revision,omitempty" doc:"Absent if the tag points to none."`
	Artifact   *Artifact     `json:"artifact,omitempty" doc:"That the address names."`
	Revisions  int           `json:"revisions" doc:"How many there are."`
	Tags       []ItemTag     `json:"tags" doc:"Each time that a tag pointed to a revision, by tag and number."`
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
	Withheld   bool              `json:"withheld,omitempty" doc:"Title and summary may say what was given up, so contexts leave them out."`
	Keywords   []string          `json:"keywords,omitempty"`
	Topics     []string          `json:"topics,omitempty"`
	Artifacts  []Artifact        `json:"artifacts,omitempty"`
	Confidence dag.PPM           `json:"confidence"`
	Source     string            `json:"source,omitempty"`
	Reason     string            `json:"reason,omitempty"`
	Erased     bool              `json:"erased,omitempty" doc:"What it said is gone, with the turns that it rested on."`
}

// An Artifact is a pointer of a revision to something that is kept elsewhere.
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

// An ItemTag is a time in which a tag pointed to a revision.
type ItemTag struct {
	Tag      string  `json:"tag"`
	Revision int     `json:"revision"`
	Since    dag.Seq `json:"since" is:"Seq"`
	Until    dag.Seq `json:"until,omitempty" is:"Seq" doc:"Absent while it does."`
}

// A NewTag points a tag to a revision.
type NewTag struct {
	Ref      belief.Item `json:"ref" is:"ItemAddress"`
	Tag      string      `json:"tag" is:"TagName"`
	Revision int         `json:"revision" is:"0.." doc:"0 takes the tag away."`
	Reason   string      `json:"reason,omitempty" is:"BeliefReason" flag:": why, for the record"`
}

// A Deprecation takes an item out of what is believed, or puts it back.
type Deprecation struct {
	Ref    belief.Item `json:"ref" is:"ItemAddress"`
	Reason string      `json:"reason,omitempty" is:"BeliefReason" flag:": why, for the record"`
}

// A NewLink is a typed edge from a revision.
type NewLink struct {
	From string `json:"from" is:"Kref" doc:"With ?r=, a revision."`
	Type string `json:"type" is:"TagName" doc:"depends_on, derived_from, supersedes, referenced, contains, created_from, or another word."`
	To   string `json:"to" is:"LinkTarget"`
}

// A KrefChange says what became of a tag, a deprecation or a link.
type KrefChange struct {
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused"`
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq"`
	Conflict []WrittenStatement `json:"conflict,omitempty" doc:"What it would contradict itself by."`
}

// A BeliefEvent says that something was recorded of beliefs. It holds no text.
type BeliefEvent struct {
	Seq      dag.Seq      `json:"seq" is:"Seq"`
	AsOf     dag.Seq      `json:"as_of" is:"Seq" doc:"The number of the last entry of the change: ask as of it to see what happened."`
	At       dag.Time     `json:"at"`
	Kind     string       `json:"kind" is:"space|revision|tag|deprecation|link|conflict|resolution|use"`
	Space    belief.Space `json:"space" is:"BeliefSpace"`
	Item     belief.Item  `json:"item,omitempty" is:"ItemAddress"`
	Revision int          `json:"revision,omitempty" doc:"That was made, or that a tag points to."`
	Tag      string       `json:"tag,omitempty"`
	By       string       `json:"by,omitempty" is:"Asker"`
	Erased   bool         `json:"erased,omitempty"`
}
