package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// What is to happen to beliefs over time.
var (
	PromoteBeliefs  = declare[PromotionRequest, Promotions](Spec{ID: "promoteBeliefs", Method: "POST", Path: "/api/beliefs/promote", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	CascadeBeliefs  = declare[CascadeRequest, Cascade](Spec{ID: "cascadeBeliefs", Method: "POST", Path: "/api/beliefs/cascade", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ResolveConflict = declare[ConflictResolution, ResolvedConflict](Spec{ID: "resolveConflict", Method: "POST", Path: "/api/beliefs/resolve", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	BeliefRules     = declare[RulesQuery, BeliefBase](Spec{ID: "beliefRules", Method: "GET", Path: "/api/beliefs/rules", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	UseBelief       = declare[BeliefUse, UseRecord](Spec{ID: "useBelief", Method: "POST", Path: "/api/beliefs/used", Tag: "beliefs", May: access.Admit, Fails: []int{404, 422}})
)

// A PromotionRequest asks for what is to be promoted in a space.
type PromotionRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy,omitempty" is:"PolicyID" default:"promotion@2" flag:": a policy of the type promotion_policy_v1" doc:"Of the type promotion_policy_v1."`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing."`
}

// Promotions are what was promoted.
type Promotions struct {
	Promotions []Promotion `json:"promotions"`
}

// A Promotion says that an item became something of another kind, or got a tag.
type Promotion struct {
	From      string      `json:"from" is:"Kref"`
	To        belief.Item `json:"to" is:"ItemAddress" doc:"Of a promotion to a tag the item itself."`
	Tag       string      `json:"tag,omitempty"`
	Support   uint64      `json:"support_ppm" doc:"What counted, in millionths. A source that was derived from the item counts half."`
	Threshold int         `json:"threshold"`
	Sources   []string    `json:"sources" doc:"Items, or numbers of uses."`
	Reason    string      `json:"reason"`
	Outcome   string      `json:"outcome" is:"changed|unchanged|refused"`
	Seq       dag.Seq     `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
}

// A CascadeRequest asks what becomes of beliefs whose evidence fell.
type CascadeRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing."`
}

// A Cascade is what becomes of beliefs whose evidence fell.
type Cascade struct {
	Seq      dag.Seq         `json:"seq,omitempty" is:"Seq" doc:"As of it all is seen; absent if nothing was recorded."`
	Lowered  []LoweredBelief `json:"lowered"`
	Excepted []string        `json:"excepted" is:"Kref" doc:"Revisions that are published, and keep their confidence."`
}

// A LoweredBelief is a revision whose evidence fell.
type LoweredBelief struct {
	Ref     string   `json:"ref" is:"Kref"`
	Before  dag.PPM  `json:"before"`
	After   dag.PPM  `json:"after" doc:"The confidence that the remaining evidence leaves."`
	Invalid bool     `json:"invalid,omitempty" doc:"What it states ends now, for too little supports it."`
	Fell    []string `json:"fell" doc:"Evidence that fell."`
	Reason  string   `json:"reason"`
}

// A ConflictResolution ends a conflict that waits.
type ConflictResolution struct {
	Space    belief.Space `json:"space" is:"BeliefSpace"`
	Conflict dag.Seq      `json:"conflict" is:"Seq" doc:"Its number, as the list of conflicts has it."`
	How      string       `json:"how" is:"taken|dropped|deferred" doc:"taken revises with what was proposed, by the authority of the caller."`
	Reason   string       `json:"reason,omitempty" is:"BeliefReason" flag:": why, for the record"`
	DryRun   bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing."`
}

// A ResolvedConflict says how a conflict ended.
type ResolvedConflict struct {
	Seq      dag.Seq          `json:"seq,omitempty" is:"Seq" doc:"Absent if the conflict goes on waiting: it was dry, or revising was refused."`
	Conflict dag.Seq          `json:"conflict" is:"Seq"`
	How      string           `json:"how" is:"taken|dropped|deferred"`
	Outcome  *BeliefOutcome   `json:"outcome,omitempty" doc:"Of the revision, if the proposal was to be taken."`
	Advice   []ConflictAdvice `json:"advice" doc:"For each revision that the proposal contradicts."`
}

// A ConflictAdvice is what the rules advise. Nobody has to follow it.
type ConflictAdvice struct {
	Advice   string  `json:"advice" is:"keep_both|ask_person|prefer_new|prefer_old"`
	Proposed dag.PPM `json:"proposed" doc:"The score of the proposal: confidence, weighted by recency."`
	Believed dag.PPM `json:"believed"`
	Reason   string  `json:"reason"`
}

// A RulesQuery asks for the rules of a space.
type RulesQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	AsOf  dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": what was believed at this sequence number; 0 is the present" doc:"0 is the present."`
}

// A BeliefUse says that a revision was used.
type BeliefUse struct {
	Ref     string `json:"ref" is:"Kref"`
	Success bool   `json:"success"`
}

// A UseRecord is how often an item was used.
type UseRecord struct {
	Seq       dag.Seq `json:"seq" is:"Seq"`
	Ref       string  `json:"ref" is:"Kref" doc:"The revision that was used."`
	Uses      int     `json:"uses"`
	Successes int     `json:"successes"`
	Rate      dag.PPM `json:"rate" doc:"Successes in uses, rounded down."`
}
