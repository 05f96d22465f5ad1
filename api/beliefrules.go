package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
)

// Operations that change beliefs over time.
var (
	PromoteBeliefs  = declare[PromotionRequest, Promotions](Spec{ID: "promoteBeliefs", Method: "POST", Path: "/api/beliefs/promote", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	CascadeBeliefs  = declare[CascadeRequest, Cascade](Spec{ID: "cascadeBeliefs", Method: "POST", Path: "/api/beliefs/cascade", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ResolveConflict = declare[ConflictResolution, ResolvedConflict](Spec{ID: "resolveConflict", Method: "POST", Path: "/api/beliefs/resolve", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	BeliefRules     = declare[RulesQuery, BeliefBase](Spec{ID: "beliefRules", Method: "GET", Path: "/api/beliefs/rules", Tag: "beliefs", May: access.Recall, Fails: []int{404, 422}})
	UseBelief       = declare[BeliefUse, UseRecord](Spec{ID: "useBelief", Method: "POST", Path: "/api/beliefs/used", Tag: "beliefs", May: access.Admit, Fails: []int{404, 422}})
)

// A PromotionRequest asks for the promotions that are due in a space.
type PromotionRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Policy policy.ID    `json:"policy,omitempty" is:"PolicyID" default:"promotion@2" flag:": the promotion policy (type promotion_policy_v1)" doc:"A policy of the type promotion_policy_v1."`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing."`
}

// Promotions lists the promotions of a request.
type Promotions struct {
	Promotions []Promotion `json:"promotions"`
}

// A Promotion says that an item was promoted to an item of another kind, or was given a tag.
type Promotion struct {
	From      string      `json:"from" is:"Kref"`
	To        belief.Item `json:"to" is:"ItemAddress" doc:"The new item; for a promotion to a tag, the item itself."`
	Tag       string      `json:"tag,omitempty"`
	Support   uint64      `json:"support_ppm" doc:"The support that counted, in millionths. A source that was derived from the item counts half."`
	Threshold int         `json:"threshold"`
	Sources   []string    `json:"sources" doc:"The addresses of items, or the numbers of uses."`
	Reason    string      `json:"reason"`
	Outcome   string      `json:"outcome" is:"changed|unchanged|refused"`
	Seq       dag.Seq     `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
}

// A CascadeRequest asks to lower the beliefs whose evidence fell.
type CascadeRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing."`
}

// A Cascade lists the beliefs that were lowered because their evidence fell.
type Cascade struct {
	Seq      dag.Seq         `json:"seq,omitempty" is:"Seq" doc:"The sequence number as of which all results are visible; absent if nothing was recorded."`
	Lowered  []LoweredBelief `json:"lowered"`
	Excepted []string        `json:"excepted" is:"Kref" doc:"Published revisions, which keep their confidence."`
}

// A LoweredBelief is a revision whose evidence fell.
type LoweredBelief struct {
	Ref     string   `json:"ref" is:"Kref"`
	Before  dag.PPM  `json:"before"`
	After   dag.PPM  `json:"after" doc:"The confidence that the remaining evidence leaves."`
	Invalid bool     `json:"invalid,omitempty" doc:"Its statements end now, because too little supports them."`
	Fell    []string `json:"fell" doc:"Evidence that fell."`
	Reason  string   `json:"reason"`
}

// A ConflictResolution ends a waiting conflict.
type ConflictResolution struct {
	Space    belief.Space `json:"space" is:"BeliefSpace"`
	Conflict dag.Seq      `json:"conflict" is:"Seq" doc:"The conflict's number in the list of conflicts."`
	How      string       `json:"how" is:"taken|dropped|deferred" doc:"taken revises with the proposal, by the authority of the caller."`
	Reason   string       `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record"`
	DryRun   bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing."`
}

// A ResolvedConflict says how a conflict ended.
type ResolvedConflict struct {
	Seq      dag.Seq          `json:"seq,omitempty" is:"Seq" doc:"Absent if the conflict keeps waiting, because of dry_run or because revising was refused."`
	Conflict dag.Seq          `json:"conflict" is:"Seq"`
	How      string           `json:"how" is:"taken|dropped|deferred"`
	Outcome  *BeliefOutcome   `json:"outcome,omitempty" doc:"The outcome of the revision, if the proposal was to be taken."`
	Advice   []ConflictAdvice `json:"advice" doc:"The advice for each revision that the proposal contradicts."`
}

// A ConflictAdvice is the advice of the rules on a conflict. Nobody has to follow it.
type ConflictAdvice struct {
	Advice   string  `json:"advice" is:"keep_both|ask_person|prefer_new|prefer_old"`
	Proposed dag.PPM `json:"proposed" doc:"The score of the proposal: confidence, weighted by recency."`
	Believed dag.PPM `json:"believed"`
	Reason   string  `json:"reason"`
}

// A RulesQuery asks for the rules of a space.
type RulesQuery struct {
	Space belief.Space `json:"space" is:"BeliefSpace"`
	AsOf  dag.Seq      `json:"as_of,omitempty" is:"Seq" flag:": the beliefs as of this sequence number; 0 is the present" doc:"As of this sequence number; 0 is the present."`
}

// A BeliefUse says that a revision was used.
type BeliefUse struct {
	Ref     string `json:"ref" is:"Kref"`
	Success bool   `json:"success"`
}

// A UseRecord counts the uses of an item.
type UseRecord struct {
	Seq       dag.Seq `json:"seq" is:"Seq"`
	Ref       string  `json:"ref" is:"Kref" doc:"The revision that was used."`
	Uses      int     `json:"uses"`
	Successes int     `json:"successes"`
	Rate      dag.PPM `json:"rate" doc:"Successes in uses, rounded down."`
}
