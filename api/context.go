package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// AssembleContext selects the context of an agent for a task.
var AssembleContext = declare[ContextRequest, Context](Spec{ID: "assembleContext", Method: "POST", Path: "/api/context", Tag: "contexts", Tool: "recall", Sets: []string{"everyday"},
	May: access.Recall, Fails: []int{404, 409, 422, 503}, Headers: sealed, Answers: map[string]string{"application/json": "ContextAnswer"}})

// A ContextRequest asks for a context.
type ContextRequest struct {
	Task      string         `json:"task,omitempty" max:"65536" doc:"What the agent is about to do, in words. It may be left out if there is an anchor." tool:"What you are about to do, or the question to answer, in words."`
	Anchor    string         `json:"anchor,omitempty" is:"TurnName" doc:"The turn from which the agent goes on." tool:"The turn to go on from: its id, at least 4 characters that begin it, or its external_id."`
	Budget    int            `json:"budget,omitempty" is:"1..1000000" doc:"The most tokens of the prompt, headings and markup included, counted as UTF-8 bytes divided by four; the policy's budget if left out, which is also the limit." tool:"Tokens of the prompt; default 1500."`
	Policy    policy.ID      `json:"policy,omitempty" is:"PolicyID" doc:"context@2 if left out." tool:"-"`
	AsOf      dag.Seq        `json:"as_of,omitempty" is:"Seq" doc:"The graph as of this sequence number; 0 is the anchor's own, or the present without an anchor. If it is given, rules and beliefs are as of it, too, and the prompt says that it is of the past." tool:"-"`
	Present   bool           `json:"present,omitempty" doc:"The graph as it is now, also with an anchor." tool:"-"`
	RulesAsOf dag.Seq        `json:"rules_as_of,omitempty" is:"Seq" doc:"Asks for the bundle of a context that was handed out, once more: its rules_as_of, with its as_of, if it was asked for without as_of. Left out, rules, beliefs and standings are those of the present, or of as_of if that is given." tool:"-"`
	Spaces    []belief.Space `json:"spaces,omitempty" is:"BeliefSpace" doc:"The spaces of beliefs to use, up to 16; all if left out. Their beliefs of kinds that every context contains, such as hard rules, are always in it." tool:"-"`
	Format    string         `json:"format,omitempty" is:"bundle|markdown|xml|text|openai|anthropic|json|brief" doc:"bundle is evidence; the other formats are prompts. markdown if left out." tool:"-"`
	Prompt    string         `json:"prompt,omitempty" is:"markdown|xml|text|openai|anthropic|json|brief" doc:"The format of the prompt that a bundle is evidence of; markdown if left out." tool:"-"`

	Fit       int                  `json:"fit,omitempty" is:"1..67108864" doc:"The most bytes of the prompt: the budget is lowered until the prompt fits." tool:"-"`
	NonEmpty  bool                 `json:"non_empty,omitempty" doc:"If nothing is chosen, the answer is the error not_found, and no context is recorded." tool:"-"`
	Folders   []string             `json:"folders,omitempty" max:"4096" doc:"Choose only from conversations that were held in these folders, up to 200, as their first turns spell them." tool:"-"`
	Except    []dag.ConversationID `json:"except,omitempty" is:"UUID" doc:"Choose no turns of these conversations, up to 1000." tool:"-"`
	TaskOf    []dag.TurnID         `json:"task_of,omitempty" is:"UUID" doc:"The turns whose words are in the task, up to 100: erasing one of them erases the task." tool:"-"`
	Recipient *Recipient           `json:"recipient,omitempty" doc:"The session of an agent to which the context is handed. Each such context is recorded separately." tool:"-"`
}

// A Recipient names a session of an agent, and the agent's event at which a hook hands it a context.
type Recipient = issued.Recipient

// ReportNotGiven records that a context did not reach its recipient.
var ReportNotGiven = declare[NotGivenReport, NotGiven](Spec{ID: "reportNotGiven", Method: "POST", Path: "/api/contexts/{context_id}/not-given", Tag: "contexts", May: access.Recall, Fails: []int{404}})

// A NotGivenReport says why a context did not reach its recipient. Only the caller who asked for the context, or a caller with
// the permission to erase, may report it.
type NotGivenReport struct {
	ContextID slice.SliceID `json:"context_id" is:"AnySliceID"`
	Bundle    dag.Digest    `json:"bundle_sha256" is:"Digest" doc:"The digest of the context's bundle."`
	Reason    string        `json:"reason" max:"1024" doc:"The reason, in words."`
}

// A NotGiven is the record that a context did not reach its recipient.
type NotGiven struct {
	Seq       dag.Seq       `json:"seq" is:"Seq"`
	ContextID slice.SliceID `json:"context_id" is:"SliceID"`
	Bundle    dag.Digest    `json:"bundle_sha256" is:"Digest"`
	Reason    string        `json:"reason"`
	At        dag.Time      `json:"at" is:"Time"`
	By        string        `json:"by,omitempty" is:"Asker" doc:"Who reported it. Absent if that was not recorded."`
}

// A Context is the context of an agent for a task, with details about it.
type Context struct {
	ContextID    slice.SliceID   `json:"context_id" is:"SliceID"`
	BundleSHA256 dag.Digest      `json:"bundle_sha256" is:"Digest"`
	PolicyID     policy.ID       `json:"policy_id" is:"PolicyID"`
	AsOf         dag.Seq         `json:"as_of" is:"Seq"`
	Format       string          `json:"format"`
	Prompt       string          `json:"prompt,omitempty" doc:"The prompt, in the formats markdown, xml and text."`
	Body         json.RawMessage `json:"body,omitempty" is:"Object" doc:"The prompt, in the formats openai and anthropic (members of a request to these APIs) and json."`
	RulesAsOf    dag.Seq         `json:"rules_as_of" is:"Seq" doc:"The number as of which rules, beliefs and standings are."`
	Cost         int             `json:"cost" doc:"Tokens of the prompt, markup included."`
	Candidates   int             `json:"candidates" doc:"The number of turns, facts and beliefs that it was chosen from."`
	Turns        []dag.TurnID    `json:"turns" is:"UUID" doc:"The turns that were chosen, by ascending id."`
	Facts        []dag.Digest    `json:"facts" is:"Digest" doc:"The statements that were chosen, ascending."`
	Beliefs      []string        `json:"beliefs" is:"Kref" doc:"The revisions that were chosen, ascending."`
	Sufficiency  Sufficiency     `json:"sufficiency"`
	Overfull     []OverfullSpace `json:"overfull,omitempty" doc:"Spaces with too many constraints, not all of which are in the context."`
}

// A Sufficiency says how well a context covers its task.
type Sufficiency struct {
	PPM     int      `json:"ppm" doc:"The share of the task's words that occur in the chosen items, in millionths."`
	Level   string   `json:"level" is:"healthy|low|critical" doc:"healthy above 700000, low above 400000, critical below."`
	Missing []string `json:"missing" doc:"Words of the task for which nothing was found."`
	LeftOut []string `json:"left_out" doc:"Words of the task for which something was found that did not fit into the budget, or was worth too little."`
}

// ExplainContext says why a turn, a fact or a belief is in a context, or is not.
var ExplainContext = declare[ExplainContextRequest, ContextExplanation](Spec{ID: "explainContext", Method: "POST", Path: "/api/contexts/{context_id}/explain", Tag: "contexts", May: access.Explain, Fails: []int{404, 409, 410}})

// An ExplainContextRequest names what to explain: a turn, a fact or a belief.
type ExplainContextRequest struct {
	ContextID slice.SliceID `json:"context_id" is:"AnySliceID"`
	Turn      string        `json:"turn,omitempty" is:"TurnName"`
	Fact      string        `json:"fact,omitempty" is:"AnyDigest" doc:"The statement of a fact, instead of a turn."`
	Belief    string        `json:"belief,omitempty" is:"Kref" doc:"The address of a revision, instead of a turn."`
}

// A ContextExplanation says why a turn, a fact or a belief is in a context, or is not. Scores are in millionths.
type ContextExplanation struct {
	ContextID   slice.SliceID `json:"context_id" is:"SliceID"`
	Turn        string        `json:"turn,omitempty" is:"UUID"`
	Fact        string        `json:"fact,omitempty" is:"Digest"`
	Belief      string        `json:"belief,omitempty" is:"Kref"`
	Outcome     string        `json:"outcome" is:"chosen|required|too_costly|worthless|no_candidate"`
	Rank        int           `json:"rank,omitempty" is:"1.." doc:"Its place in the order of the choice, from 1."`
	Chosen      int           `json:"chosen" doc:"The number of turns, facts and beliefs that were chosen."`
	Candidates  int           `json:"candidates" doc:"The number that they were chosen from."`
	Score       int           `json:"score,omitempty" doc:"The score when it was chosen or passed over, in millionths."`
	Cost        int           `json:"cost,omitempty" doc:"Tokens that it takes of the budget; of what was not looked at, those of its text."`
	Left        int           `json:"left,omitempty" doc:"Tokens of the budget that the items before it had left."`
	From        []string      `json:"from,omitempty" is:"beliefs|constraints|facts|prompts|recent|search|slice" doc:"The sources that found it."`
	Features    []Feature     `json:"features,omitempty"`
	BeatenBy    *ChosenBefore `json:"beaten_by,omitempty"`
	Explanation string        `json:"explanation" doc:"The same in a sentence."`
}

// A Feature is a reason to choose a turn, a fact or a belief; the feature contested is a reason against it.
type Feature struct {
	Name  string `json:"name" is:"confidence|contested|evidence|prompt|recency|recent|salience|slice|task"`
	Value int    `json:"value" is:"1..1000000" doc:"The value in millionths."`
}

// A ChosenBefore is the last turn, fact or belief that was chosen before another one, which then had no room.
type ChosenBefore struct {
	Turn   string `json:"turn,omitempty" is:"UUID"`
	Fact   string `json:"fact,omitempty" is:"Digest"`
	Belief string `json:"belief,omitempty" is:"Kref"`
	Score  int    `json:"score" doc:"The score in millionths."`
	Cost   int    `json:"cost" doc:"Tokens that it takes of the budget."`
}
