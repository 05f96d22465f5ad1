package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
)

// EnrichHits adds known facts to turns that were found.
var EnrichHits = declare[EnrichRequest, Enriched](Spec{ID: "enrichHits", Method: "POST", Path: "/api/enrich", Tag: "turns", May: access.Recall, Fails: []int{404, 422}})

// An EnrichRequest asks for the facts around turns that were found.
type EnrichRequest struct {
	Hits  []HitScore `json:"hits" min:"1" max:"200" doc:"Turns with their scores, from a search or from elsewhere; each turn once."`
	Query string     `json:"query,omitempty" max:"4096" doc:"The query of the search. A fact counts by the share of these words that its names have; without a query all facts count alike."`
	Alpha *dag.PPM   `json:"alpha,omitempty" doc:"The share of the facts in the combined score, from 0 to 1; 0.5 if left out."`
	Hops  int        `json:"hops,omitempty" is:"1..2" default:"1" doc:"The largest distance from the entities of a hit."`
	Facts int        `json:"facts,omitempty" is:"1..100" default:"10" doc:"The most facts for each hit."`
	AsOf  dag.Seq    `json:"as_of,omitempty" is:"Seq" doc:"The knowledge as of this sequence number; 0 is the present."`
}

// A HitScore is a turn that was found, with its score.
type HitScore struct {
	Turn  dag.TurnID `json:"turn"`
	Score uint64     `json:"score" doc:"At most 2^40."`
}

// Enriched is a list of hits with the facts around them.
type Enriched struct {
	AsOf dag.Seq       `json:"as_of" is:"Seq"`
	Hits []EnrichedHit `json:"hits" doc:"The hits, the best combined score first."`
}

// An EnrichedHit is a hit with the facts around it.
type EnrichedHit struct {
	Turn     dag.TurnID `json:"turn" is:"UUID"`
	Score    uint64     `json:"score" doc:"The score that was given."`
	Graph    dag.PPM    `json:"graph" is:"Fraction" doc:"The score of its facts, as a share of the best hit's."`
	Combined dag.PPM    `json:"combined" is:"Fraction" doc:"The score as a share of the best one, times 1 - alpha, plus graph times alpha."`
	Entities []string   `json:"entities" is:"Name" doc:"The entities that the turn mentions: the ends of facts that were learned from it, and known names in its first words."`
	Facts    []NearFact `json:"facts" doc:"The facts around these entities, the nearest first."`
}

// A NearFact is a fact at a number of steps from an entity.
type NearFact struct {
	Hops int  `json:"hops" is:"1.."`
	Fact Step `json:"fact"`
}
