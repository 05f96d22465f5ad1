package standing

import "github.com/graphkernel/graphkernel/dag"

// A Standing says how much words count.
type Standing = dag.Standing

// The standings, see package dag.
const (
	Outside = dag.StandingOutside
	Guest   = dag.StandingGuest
	Agent   = dag.StandingAgent
	Member  = dag.StandingMember
	Owner   = dag.StandingOwner
	System  = dag.StandingSystem
)
