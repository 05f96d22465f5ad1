package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// EnrichHits adds what is known to turns that were found.
var EnrichHits = declare[EnrichRequest, Enriched](Spec{ID: "enrichHits", Method: "POST", Path: "/api/enrich", Tag: "turns", May: access.Recall, Fails: []int{404, 422}})

// An EnrichRequest asks what is known around turns that were found.
type EnrichRequest struct {
	Hits  []HitScore `json:"hits" min:"1" max:"200" doc:"Turns with their scores, as a search has them or any other; each turn once."`
	Query string     `json:"query,omitempty" max:"4096" doc:"What was searched for. A fact counts by the share of these words that its names have; without it all facts count alike."`
	Alpha *dag.PPM   `json:"alpha,omitempty" doc:"The share of what the facts say in the combined score, from 0 to 1; 0.5 if left out."`
	Hops  int        `json:"hops,omitempty" is:"1..2" default:"1" doc:"How far from the entities of a hit."`
	Facts int        `json:"facts,omitempty" is:"1..100" default:"10" doc:"At most so many facts of each hit."`
	AsOf  dag.Seq    `json:"as_of,omitempty" is:"Seq" doc:"The knowledge as it was at this sequence number; 0 is the present."`
}

// A HitScore is a turn that was found, with its score.
type HitScore struct {
	Turn  dag.TurnID `json:"turn"`
	Score uint64     `json:"score" doc:"At most 2^40."`
}

// Enriched are hits with what is known around them.
type Enriched struct {
	AsOf dag.Seq       `json:"as_of" is:"Seq"`
	Hits []EnrichedHit `json:"hits" doc:"The best first, by the combined score."`
}

// An EnrichedHit is a hit with what is known around it.
type EnrichedHit struct {
	Turn     dag.TurnID `json:"turn" is:"UUID"`
	Score    uint64     `json:"score" doc:"As it was given."`
	Graph    dag.PPM    `json:"graph" is:"Fraction" doc:"What its facts say for it, as a share of the best hit's."`
	Combined dag.PPM    `json:"combined" is:"Fraction" doc:"The share of the best score times 1 - alpha, and graph times alpha."`
	Entities []string   `json:"entities" is:"Name" doc:"What the turn speaks of: the ends of facts that were learned from it, and names known in its first words."`
	Facts    []NearFact `json:"facts" doc:"What is known around these entities, the nearest first."`
}

// A NearFact is a fact some steps from an entity.
type NearFact struct {
	Hops int  `json:"hops" is:"1.."`
	Fact Step `json:"fact"`
}
