package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// Whose words count.
var (
	GetStanding = declare[StandingQuery, Standing](Spec{ID: "getStanding", Method: "GET", Path: "/api/standing", Tag: "standing", May: access.ListPolicies,
		Says: "The standing policy in force\n\nIt says whose words count: the operator's, the owner's, a member's, a guest's. Each earlier setting is listed, with who set it.",
		Curl: `curl -sS $URL/api/standing -H "Authorization: Bearer $KEY"`})
	ListStandings = declare[StandingsQuery, Standings](Spec{ID: "listStandings", Method: "GET", Path: "/api/standings", Tag: "standing", May: access.Read, Fails: []int{404},
		Says: "The standings of turns, with why\n\nOf one turn, or of the turns of one conversation by ascending number. A standing follows from the policy and from how a turn came in, never from its text, so an erased turn keeps the standing that it had.",
		Curl: `curl -sS "$URL/api/standings?conversation=6a2f0000-0000-4000-8000-000000000001" -H "Authorization: Bearer $KEY"`})
	SetStanding = declare[NewStanding, StandingChange](Spec{ID: "setStanding", Method: "POST", Path: "/api/standing", Tag: "standing", May: access.Govern, Fails: []int{404, 409, 422},
		Says: "Put a standing policy in force\n\nWith `dry_run` it changes nothing and answers the difference. The standing of a turn that is there falls with the new policy, and rises only with `retroactive`. What was handed out stays as it was. A policy that is in force already is not set again, except with `retroactive`.",
		Curl: `curl -sS $URL/api/standing -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"policy_id":"standing-team@1","dry_run":true}'`})
)

// A StandingPolicy says what turns count for. The first rule that a turn matches applies.
type StandingPolicy struct {
	Type  string         `json:"type" is:"StandingPolicyType"`
	Rules []StandingRule `json:"rules" max:"256"`
}

// A StandingRule applies to the turns that match it. One that says guest, member or owner is about people.
type StandingRule struct {
	Key          string              `json:"key,omitempty" max:"1024" doc:"Turns that this credential brought: the id of an API key, or jwt: and a subject."`
	Channel      string              `json:"channel,omitempty" is:"import|program|command|harness|chat|trace|lines|commits|api|agent" doc:"The way by which they came in; import is every way of importing conversations."`
	Author       string              `json:"author,omitempty" max:"1024"`
	Role         string              `json:"role,omitempty" is:"Role"`
	Grant        string              `json:"grant,omitempty" is:"refused|speaks|member|owner|operator" doc:"What the key that brought them was granted for the author."`
	Conversation *dag.ConversationID `json:"conversation,omitempty"`
	Standing     string              `json:"standing" is:"outside|guest|agent|member|owner"`
}

// A StandingQuery asks for the standing policy as of a number.
type StandingQuery struct {
	AsOf dag.Seq `json:"as_of,omitempty" is:"Seq" flag:": the standings as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present."`
}

// A Standing is the standing policy in force, and how it came to be.
type Standing struct {
	PolicyID policy.ID         `json:"policy_id" is:"PolicyID"`
	Hash     dag.Digest        `json:"policy_params_hash" is:"Digest"`
	AsOf     dag.Seq           `json:"as_of" is:"Seq"`
	Settings []StandingSetting `json:"settings" doc:"The oldest first; none if the tenant has the policy that every tenant begins with."`
}

// A StandingSetting is an entry that puts a standing policy in force.
type StandingSetting struct {
	Seq         dag.Seq    `json:"seq" is:"Seq"`
	PolicyID    policy.ID  `json:"policy_id" is:"PolicyID"`
	Hash        dag.Digest `json:"policy_params_hash" is:"Digest"`
	Retroactive bool       `json:"retroactive,omitempty" doc:"It also raised the standings of turns that were there."`
	At          dag.Time   `json:"at" is:"Time"`
	By          string     `json:"by,omitempty" is:"Asker"`
}

// A StandingsQuery asks for the standings of one turn, or of a page of a conversation's turns.
type StandingsQuery struct {
	Turn         *dag.TurnID         `json:"turn,omitempty" doc:"Only this turn."`
	Conversation *dag.ConversationID `json:"conversation,omitempty" doc:"The turns of this conversation. Either this or turn is required."`
	Only         string              `json:"only,omitempty" is:"outside|guest|agent|member|owner|system" doc:"Only turns of this standing."`
	StandingQuery
	Paging
}

// Standings is a page of the standings of turns, by ascending number.
type Standings struct {
	Turns []TurnStanding `json:"turns"`
	AsOf  dag.Seq        `json:"as_of" is:"Seq"`
	Next  string         `json:"next,omitempty" is:"Next"`
}

// A TurnStanding is the standing of a turn, and the facts from which it follows.
type TurnStanding struct {
	Turn         dag.TurnID         `json:"turn" is:"UUID"`
	Conversation dag.ConversationID `json:"conversation" is:"UUID"`
	Seq          dag.Seq            `json:"seq" is:"Seq"`
	Standing     string             `json:"standing" is:"outside|guest|agent|member|owner|system"`
	Reason       string             `json:"reason" doc:"Why it has this standing, in words."`
	PolicyID     policy.ID          `json:"policy_id" is:"PolicyID"`
	Rule         int                `json:"rule,omitempty" doc:"The number of the policy's rule that matched, from 1; absent if none did."`
	Role         string             `json:"role" is:"Role"`
	Author       string             `json:"author,omitempty" doc:"Absent if the text was erased."`
	Voice        string             `json:"voice" is:"person|agent|tool|harness"`
	Channel      string             `json:"channel" is:"program|command|harness|chat|trace|lines|commits|api|agent" doc:"The way by which the turn came in."`
	Grant        string             `json:"grant,omitempty" is:"refused|speaks|member|owner|operator" doc:"What the key that brought it was granted for its author."`
	Key          string             `json:"key,omitempty" is:"Credential"`
}

// A NewStanding asks to put a standing policy in force.
type NewStanding struct {
	PolicyID    policy.ID `json:"policy_id" is:"PolicyID"`
	Retroactive bool      `json:"retroactive,omitempty" flag:": raise the standings of turns that are there, too" doc:"Raise the standings of turns that are there, too."`
	DryRun      bool      `json:"dry_run,omitempty" flag:": change nothing, and show what would change" doc:"Change nothing, and answer what would change."`
	Seen        *dag.Seq  `json:"seen,omitempty" is:"Seq" flag:"-" doc:"The number of the newest setting that the caller knows, 0 if there was none: since in a dry run, or seq of the last of settings. If another setting has been made since, nothing is changed, and the error says what is in force. Absent: put the policy in force in place of whichever is."`
}

// A StandingChange is what a setting changes.
type StandingChange struct {
	Before   policy.ID        `json:"before" is:"PolicyID" doc:"The policy in force before."`
	Since    dag.Seq          `json:"since" is:"Seq" doc:"The number of the setting that put it in force; 0 if nobody has made a setting."`
	PolicyID policy.ID        `json:"policy_id" is:"PolicyID"`
	DryRun   bool             `json:"dry_run,omitempty"`
	Already  bool             `json:"already,omitempty" doc:"The policy was in force before, so nothing was changed."`
	Set      *StandingSetting `json:"set,omitempty" doc:"The entry; absent if nothing was changed."`
	Turns    int              `json:"turns" doc:"How many turns there are."`
	Raised   int              `json:"raised" doc:"How many turns count more."`
	Lowered  int              `json:"lowered" doc:"How many turns count less."`
	Held     int              `json:"held" doc:"How many turns would count more with retroactive, and keep the standing that they have."`
	Moved    []MovedStanding  `json:"moved" max:"40" doc:"The newest 20 turns that are raised or held, and then the newest 20 that are lowered."`
}

// A MovedStanding is a turn whose standing a setting changes, or would change with retroactive.
type MovedStanding struct {
	Turn   dag.TurnID `json:"turn" is:"UUID"`
	Author string     `json:"author,omitempty"`
	Before string     `json:"before" is:"outside|guest|agent|member|owner|system"`
	After  string     `json:"after" is:"outside|guest|agent|member|owner|system"`
	Held   bool       `json:"held,omitempty" doc:"It keeps the standing that it had, since the setting is not retroactive."`
}
