package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// The graph of what was used.
var (
	AtlasSnapshot    = declare[AtlasView, Snapshot](Spec{ID: "atlasSnapshot", Method: "GET", Path: "/api/atlas", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasOverlap     = declare[AtlasQuery, Overlap](Spec{ID: "atlasOverlap", Method: "GET", Path: "/api/atlas/overlap", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasInfluence   = declare[InfluenceQuery, Influence](Spec{ID: "atlasInfluence", Method: "GET", Path: "/api/atlas/influence", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasCommunities = declare[CommunityQuery, Communities](Spec{ID: "atlasCommunities", Method: "GET", Path: "/api/atlas/communities", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasManifest    = declare[ManifestQuery, Manifest](Spec{ID: "atlasManifest", Method: "GET", Path: "/api/atlas/manifest", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	BlameTurn        = declare[BlameQuery, Blame](Spec{ID: "blameTurn", Method: "GET", Path: "/api/turns/{id}/blame", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
)

// An AtlasView says as of when the graph is.
type AtlasView struct {
	AsOf   dag.Seq `json:"as_of,omitempty" is:"Seq" doc:"The turns as they were at this sequence number; 0 is the present."`
	Issued uint64  `json:"issued,omitempty" is:"0.." doc:"What was handed out up to this record; 0 is the present."`
}

// An AtlasQuery asks for the first of a list.
type AtlasQuery struct {
	AtlasView
	Limit int `json:"limit,omitempty" is:"1..1000" default:"20" flag:": list at most so many" doc:"At most so many."`
}

// AtlasOf says what an answer is of.
type AtlasOf struct {
	AsOf    dag.Seq `json:"as_of" is:"Seq"`
	Issued  uint64  `json:"issued" doc:"The number of the newest record of what was handed out."`
	Slices  int     `json:"slices" doc:"Slices of turns that were looked at."`
	Handed  int     `json:"contexts" doc:"Contexts that were looked at."`
	Unknown uint64  `json:"older" doc:"Older records that were not looked at: the newest 10 000 are."`
}

// A NameShare is how many there are of something with a name.
type NameShare struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// A GrowthStep says what there was up to a number.
type GrowthStep struct {
	Upto          dag.Seq     `json:"upto" is:"Seq"`
	Turns         int         `json:"turns"`
	Conversations int         `json:"conversations"`
	Roles         []NameShare `json:"roles" doc:"Turns of each role."`
	Phases        []NameShare `json:"phases" doc:"Turns of each phase."`
	Authors       []NameShare `json:"authors" doc:"The 20 with the most turns."`
}

// A Snapshot counts the graph.
type Snapshot struct {
	AtlasOf
	Turns         int          `json:"turns"`
	Edges         int          `json:"edges"`
	Conversations int          `json:"conversations"`
	Roots         int          `json:"roots" doc:"Turns that continue nothing."`
	Leaves        int          `json:"leaves" doc:"Turns that nothing continues."`
	Branches      int          `json:"branches" doc:"Turns that several continue."`
	Merges        int          `json:"merges" doc:"Turns that continue several."`
	Depth         int          `json:"depth" doc:"The most edges from a turn that continues nothing."`
	Depths        []NameShare  `json:"depths" doc:"Turns by their depth."`
	Kinds         []NameShare  `json:"kinds" doc:"Edges by their kind."`
	Roles         []NameShare  `json:"roles"`
	Phases        []NameShare  `json:"phases"`
	Authors       []NameShare  `json:"authors" doc:"The 20 with the most turns. A turn whose text was erased has none."`
	Largest       []NameShare  `json:"largest" doc:"The 20 conversations with the most turns."`
	Growth        []GrowthStep `json:"growth" doc:"At each tenth of the numbers."`
}

// An Overlap lists the slices and contexts that share most.
type Overlap struct {
	AtlasOf
	Sampled bool          `json:"sampled,omitempty" doc:"There are more than 10 000, so pairs were found by MinHash and some may be missing: one that shares half of its turns with a probability of 1 in 8, one that shares 7 of 10 with 1 in 10 000."`
	Pairs   []OverlapPair `json:"pairs" doc:"The most alike first."`
}

// An OverlapPair is two of what was handed out.
type OverlapPair struct {
	A       slice.SliceID `json:"a" is:"SliceID"`
	B       slice.SliceID `json:"b" is:"SliceID"`
	Shared  int           `json:"shared" doc:"Turns that both held."`
	Jaccard int           `json:"jaccard" doc:"Turns that both held, of those that either held, in millionths."`
}

// An InfluenceQuery asks for the turns that were used most, or for one.
type InfluenceQuery struct {
	AtlasQuery
	Turn *dag.TurnID `json:"turn,omitempty" doc:"Only this turn."`
	By   string      `json:"by,omitempty" flag:": sort by weight, rank or betweenness" is:"weight|rank|betweenness" default:"weight" doc:"What the list is sorted by."`
}

// Influence lists turns by how they were used.
type Influence struct {
	AtlasOf
	Sampled bool             `json:"sampled,omitempty" doc:"There are more than 5 000 turns, so betweenness is counted from 256 of them, drawn by a fixed seed."`
	Cuts    int              `json:"cuts" doc:"Turns without which others would not be connected."`
	Bridges int              `json:"bridges" doc:"Edges of that kind."`
	Turns   []InfluencedTurn `json:"turns"`
}

// An InfluencedTurn is a turn and how it was used.
type InfluencedTurn struct {
	Turn        dag.TurnID `json:"turn" is:"UUID"`
	Slices      int        `json:"slices" doc:"Slices that held it."`
	Contexts    int        `json:"contexts" doc:"Contexts that showed it."`
	Weight      uint64     `json:"weight" doc:"The sum of its scores in slices, and one for each context, in millionths."`
	Degree      int        `json:"degree" doc:"Turns that it has an edge with."`
	Rank        uint64     `json:"rank" doc:"PageRank, in millionths of a millionth: those of all turns add up to 10^12, less rounding."`
	Betweenness uint64     `json:"betweenness" doc:"Pairs of other turns whose shortest ways lead through it, in thousandths."`
	Cut         bool       `json:"cut,omitempty" doc:"Others would not be connected without it."`
}

// A CommunityQuery asks what belongs together: turns, or the names of facts.
type CommunityQuery struct {
	AtlasQuery
	Of string `json:"of,omitempty" flag:": of turns or of facts" is:"turns|facts" default:"turns" doc:"Turns by their edges, or names by the facts that are believed now."`
}

// Communities are parts with more edges within than chance would have.
type Communities struct {
	AtlasOf
	Total      int         `json:"total" doc:"How many there are."`
	Modularity int         `json:"modularity" doc:"The share of edges within them, less what chance would have there, in millionths."`
	List       []Community `json:"communities" doc:"The largest first."`
}

// A Community is one of them.
type Community struct {
	Size    int      `json:"size"`
	Members []string `json:"members" doc:"The first 20, ascending: ids of turns, or names."`
	Central string   `json:"central" doc:"The member with the most edges."`
}

// A ManifestQuery asks for a manifest.
type ManifestQuery struct {
	AtlasView
	Unsigned bool `json:"unsigned,omitempty" doc:"Leave the signature out."`
}

// A Manifest is the whole of an atlas as one document.
type Manifest struct {
	Document json.RawMessage `json:"document" is:"Object" doc:"Canonical JSON (RFC 8785) of all parts, with the lists at their default lengths."`
	Envelope json.RawMessage `json:"envelope,omitempty" is:"Envelope" doc:"An in-toto statement that names the digest, signed by the attestation key (DSSE). Absent without an identity, or if none was asked for."`
	SHA256   dag.Digest      `json:"sha256" is:"Digest" doc:"Of the document."`
}

// A BlameQuery names a turn.
type BlameQuery struct {
	AtlasView
	ID     dag.TurnID `json:"id"`
	Policy policy.ID  `json:"policy,omitempty" flag:": cut slices again under this policy (default: default@2)" is:"PolicyID" doc:"Under which slices are cut again; default@2 if left out."`
}

// A Blame says what may have led to a turn.
type Blame struct {
	Turn     dag.TurnID   `json:"turn" is:"UUID"`
	AsOf     dag.Seq      `json:"as_of" is:"Seq" doc:"Of the graph."`
	UpTo     uint64       `json:"issued" doc:"The number of the newest record of what was handed out."`
	For      []Issued     `json:"handed_out" doc:"What was handed out for it: around the turns that it follows, before there was it."`
	InAll    []dag.TurnID `json:"in_all" is:"UUID" doc:"Turns that all of that held."`
	Policy   policy.ID    `json:"policy" is:"PolicyID"`
	Selected int          `json:"selected" doc:"Turns that the policy selects around the turn that it follows."`
	Pivots   []Pivot      `json:"pivots" doc:"Those of them without which others would have been selected otherwise, the most first."`
	Minimal  []dag.TurnID `json:"minimal" is:"UUID" doc:"A smallest set of that kind, or one of which no turn can be left out; empty if the others would be selected in any case."`
	Tried    int          `json:"tried" doc:"How often was cut again."`
}

// A Pivot is a turn on which the choice of others hangs.
type Pivot struct {
	Turn    dag.TurnID `json:"turn" is:"UUID"`
	Dropped int        `json:"dropped" doc:"Other turns that would not have been selected without it."`
	Added   int        `json:"added" doc:"Other turns that would have been."`
}
