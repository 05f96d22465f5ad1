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

// AssembleContext chooses what an agent is given for a task.
var AssembleContext = declare[ContextRequest, Context](Spec{ID: "assembleContext", Method: "POST", Path: "/api/context", Tag: "contexts", Tool: "recall", Sets: []string{"everyday"},
	May: access.Recall, Fails: []int{404, 409, 422, 503}, Headers: sealed, Answers: map[string]string{"application/json": "ContextAnswer"}})

// A ContextRequest asks for a context.
type ContextRequest struct {
	Task   string         `json:"task,omitempty" max:"65536" doc:"What the agent is about to do, in words. It may be absent if there is an anchor." tool:"What you are about to do, or the question to answer, in words."`
	Anchor string         `json:"anchor,omitempty" is:"TurnName" doc:"The turn that the agent goes on from." tool:"The turn to go on from: its id, at least 4 characters that begin it, or its external_id."`
	Budget int            `json:"budget,omitempty" is:"1..1000000" doc:"Tokens of text, counted as UTF-8 bytes over four; the policy's if left out, which is also the most. Headings and markup are not counted: cost says what the whole prompt has." tool:"Tokens of text; 1500 if left out."`
	Policy policy.ID      `json:"policy,omitempty" is:"PolicyID" doc:"context@1 if left out." tool:"-"`
	AsOf   dag.Seq        `json:"as_of,omitempty" is:"Seq" doc:"Choose from what was there at this sequence number; 0 is the anchor's own, or the present without an anchor." tool:"-"`
	Spaces []belief.Space `json:"spaces,omitempty" is:"BeliefSpace" doc:"The spaces of beliefs that count, up to 16; all that there are if left out. What is believed in them of kinds that every context has, such as hard rules, is always in it." tool:"-"`
	Format string         `json:"format,omitempty" is:"bundle|markdown|xml|text|openai|anthropic|json" doc:"bundle is evidence; the others are prompts. markdown if left out." tool:"-"`
	Prompt string         `json:"prompt,omitempty" is:"markdown|xml|text|openai|anthropic|json" doc:"The format of the prompt that a bundle is evidence of; markdown if left out." tool:"-"`

	Fit       int                  `json:"fit,omitempty" is:"1..67108864" doc:"The most bytes that the prompt may have: the budget is lowered until it does." tool:"-"`
	NonEmpty  bool                 `json:"non_empty,omitempty" doc:"A context in which nothing was chosen is an error, not_found, and is not recorded." tool:"-"`
	Folders   []string             `json:"folders,omitempty" max:"4096" doc:"Choose only from conversations that were held in these folders, up to 200, as their first turns spell them." tool:"-"`
	Except    []dag.ConversationID `json:"except,omitempty" is:"UUID" doc:"Choose no turns of these conversations, up to 1000." tool:"-"`
	TaskOf    []dag.TurnID         `json:"task_of,omitempty" is:"UUID" doc:"The turns whose words the task has, up to 100: the erasure of one of them takes the task." tool:"-"`
	Recipient *Recipient           `json:"recipient,omitempty" doc:"The session of an agent that is handed the context. Each such context is recorded by itself." tool:"-"`
}

// A Recipient names a session of an agent, and the agent's event at which a hook hands it a context.
type Recipient = issued.Recipient

// ReportNotGiven records that a context did not reach its recipient.
var ReportNotGiven = declare[NotGivenReport, NotGiven](Spec{ID: "reportNotGiven", Method: "POST", Path: "/api/contexts/{context_id}/not-given", Tag: "contexts", May: access.Recall, Fails: []int{404}})

// A NotGivenReport says why a context did not reach its recipient. Whoever asked for the context reports it, or an admin.
type NotGivenReport struct {
	ContextID slice.SliceID `json:"context_id" is:"AnySliceID"`
	Bundle    dag.Digest    `json:"bundle_sha256" is:"Digest" doc:"Of the context's bundle."`
	Reason    string        `json:"reason" max:"1024" doc:"Why, in words."`
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

// A Context is what an agent is given for a task, and what is known of it.
type Context struct {
	ContextID    slice.SliceID   `json:"context_id" is:"SliceID"`
	BundleSHA256 dag.Digest      `json:"bundle_sha256" is:"Digest"`
	PolicyID     policy.ID       `json:"policy_id" is:"PolicyID"`
	AsOf         dag.Seq         `json:"as_of" is:"Seq"`
	Format       string          `json:"format"`
	Prompt       string          `json:"prompt,omitempty" doc:"The prompt, in the formats markdown, xml and text."`
	Body         json.RawMessage `json:"body,omitempty" is:"Object" doc:"The prompt, in the formats openai and anthropic (members of a request to these APIs) and json."`
	Cost         int             `json:"cost" doc:"Tokens of the prompt, markup included."`
	Candidates   int             `json:"candidates" doc:"How many turns, facts and beliefs it was chosen from."`
	Turns        []dag.TurnID    `json:"turns" is:"UUID" doc:"The turns that were chosen, by ascending id."`
	Facts        []dag.Digest    `json:"facts" is:"Digest" doc:"The statements that were chosen, ascending."`
	Beliefs      []string        `json:"beliefs" is:"Kref" doc:"The revisions that were chosen, ascending."`
	Sufficiency  Sufficiency     `json:"sufficiency"`
	Overfull     []OverfullSpace `json:"overfull,omitempty" doc:"Spaces with too many constraints, of which not all are there."`
}

// A Sufficiency says how far a context answers to its task.
type Sufficiency struct {
	PPM     int      `json:"ppm" doc:"The share of the task's words that occur in what was chosen, in millionths."`
	Level   string   `json:"level" is:"healthy|low|critical" doc:"healthy above 700000, low above 400000, critical below."`
	Missing []string `json:"missing" doc:"Words of the task for which nothing was found."`
}

// ExplainContext says why a turn, a fact or a belief is in a context, or is not.
var ExplainContext = declare[ExplainContextRequest, ContextExplanation](Spec{ID: "explainContext", Method: "POST", Path: "/api/contexts/{context_id}/explain", Tag: "contexts", May: access.Explain, Fails: []int{404, 409, 410}})

// An ExplainContextRequest names what to explain: a turn, a fact or a belief.
type ExplainContextRequest struct {
	ContextID slice.SliceID `json:"context_id" is:"AnySliceID"`
	Turn      string        `json:"turn,omitempty" is:"TurnName"`
	Fact      string        `json:"fact,omitempty" is:"AnyDigest" doc:"The statement of a fact, in place of a turn."`
	Belief    string        `json:"belief,omitempty" is:"Kref" doc:"The address of a revision, in place of a turn."`
}

// A ContextExplanation says why a turn, a fact or a belief is in a context, or is not. Scores are in millionths.
type ContextExplanation struct {
	ContextID   slice.SliceID `json:"context_id" is:"SliceID"`
	Turn        string        `json:"turn,omitempty" is:"UUID"`
	Fact        string        `json:"fact,omitempty" is:"Digest"`
	Belief      string        `json:"belief,omitempty" is:"Kref"`
	Standing    string        `json:"standing" is:"chosen|required|too_costly|worthless|no_candidate"`
	Rank        int           `json:"rank,omitempty" is:"1.." doc:"Its place in the order of the choice, from 1."`
	Chosen      int           `json:"chosen" doc:"How many turns, facts and beliefs were chosen."`
	Candidates  int           `json:"candidates" doc:"From how many."`
	Score       int           `json:"score,omitempty" doc:"When it was chosen or passed over, in millionths."`
	Cost        int           `json:"cost,omitempty" doc:"Tokens of its text."`
	Left        int           `json:"left,omitempty" doc:"Tokens of the budget that those before it had left."`
	From        []string      `json:"from,omitempty" is:"beliefs|constraints|facts|prompts|recent|search|slice" doc:"The sources that found it."`
	Features    []Feature     `json:"features,omitempty"`
	BeatenBy    *ChosenBefore `json:"beaten_by,omitempty"`
	Explanation string        `json:"explanation" doc:"The same in a sentence."`
}

// A Feature is what speaks for a turn, a fact or a belief; contested speaks against it.
type Feature struct {
	Name  string `json:"name" is:"confidence|contested|evidence|prompt|recency|recent|salience|slice|task"`
	Value int    `json:"value" is:"1..1000000" doc:"In millionths."`
}

// A ChosenBefore is the last turn, fact or belief that was chosen before another, for which it left no room.
type ChosenBefore struct {
	Turn   string `json:"turn,omitempty" is:"UUID"`
	Fact   string `json:"fact,omitempty" is:"Digest"`
	Belief string `json:"belief,omitempty" is:"Kref"`
	Score  int    `json:"score" doc:"In millionths."`
	Cost   int    `json:"cost" doc:"Tokens of its text."`
}
