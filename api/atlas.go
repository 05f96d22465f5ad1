package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Operations on the graph of uses: which turns were handed out, and in which slices and contexts.
var (
	AtlasSnapshot    = declare[AtlasView, Snapshot](Spec{ID: "atlasSnapshot", Method: "GET", Path: "/api/atlas", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasOverlap     = declare[AtlasQuery, Overlap](Spec{ID: "atlasOverlap", Method: "GET", Path: "/api/atlas/overlap", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasInfluence   = declare[InfluenceQuery, Influence](Spec{ID: "atlasInfluence", Method: "GET", Path: "/api/atlas/influence", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasCommunities = declare[CommunityQuery, Communities](Spec{ID: "atlasCommunities", Method: "GET", Path: "/api/atlas/communities", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	AtlasManifest    = declare[ManifestQuery, Manifest](Spec{ID: "atlasManifest", Method: "GET", Path: "/api/atlas/manifest", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
	BlameTurn        = declare[BlameQuery, Blame](Spec{ID: "blameTurn", Method: "GET", Path: "/api/turns/{id}/blame", Tag: "atlas", May: access.Read, Fails: []int{404, 422}})
)

// An AtlasView names the state of the graph that is asked about.
type AtlasView struct {
	AsOf   dag.Seq `json:"as_of,omitempty" is:"Seq" doc:"The turns as of this sequence number; 0 is the present."`
	Issued uint64  `json:"issued,omitempty" is:"0.." doc:"The records of what was handed out up to this number; 0 is the present."`
}

// An AtlasQuery asks for the first entries of a list.
type AtlasQuery struct {
	AtlasView
	Limit int `json:"limit,omitempty" is:"1..1000" default:"20" flag:": the most items to list" doc:"The most items to return."`
}

// AtlasOf says which data an answer was computed from.
type AtlasOf struct {
	AsOf    dag.Seq `json:"as_of" is:"Seq"`
	Issued  uint64  `json:"issued" doc:"The number of the newest record of what was handed out."`
	Slices  int     `json:"slices" doc:"Slices of turns that were examined."`
	Handed  int     `json:"contexts" doc:"Contexts that were examined."`
	Unknown uint64  `json:"older" doc:"Older records that were not examined: only the newest 10 000 are."`
}

// A NameShare is a name with the number of things that have it.
type NameShare struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// A GrowthStep counts what the graph held up to a sequence number.
type GrowthStep struct {
	Upto          dag.Seq     `json:"upto" is:"Seq"`
	Turns         int         `json:"turns"`
	Conversations int         `json:"conversations"`
	Roles         []NameShare `json:"roles" doc:"Turns of each role."`
	Phases        []NameShare `json:"phases" doc:"Turns of each phase."`
	Authors       []NameShare `json:"authors" doc:"The 20 authors with the most turns."`
}

// A Snapshot counts the graph.
type Snapshot struct {
	AtlasOf
	Turns         int          `json:"turns"`
	Edges         int          `json:"edges"`
	Conversations int          `json:"conversations"`
	Roots         int          `json:"roots" doc:"Turns that continue no other turn."`
	Leaves        int          `json:"leaves" doc:"Turns that no other turn continues."`
	Branches      int          `json:"branches" doc:"Turns that several turns continue."`
	Merges        int          `json:"merges" doc:"Turns that continue several turns."`
	Depth         int          `json:"depth" doc:"The largest number of edges from a turn that continues no other."`
	Depths        []NameShare  `json:"depths" doc:"Turns by their depth."`
	Kinds         []NameShare  `json:"kinds" doc:"Edges by their kind."`
	Roles         []NameShare  `json:"roles"`
	Phases        []NameShare  `json:"phases"`
	Authors       []NameShare  `json:"authors" doc:"The 20 authors with the most turns. A turn whose text was erased has no author."`
	Largest       []NameShare  `json:"largest" doc:"The 20 conversations with the most turns."`
	Growth        []GrowthStep `json:"growth" doc:"The growth at each tenth of the sequence numbers."`
}

// An Overlap lists the pairs of slices and contexts that share most turns.
type Overlap struct {
	AtlasOf
	Sampled bool          `json:"sampled,omitempty" doc:"There are more than 10 000 slices and contexts, so pairs were found by MinHash and some may be missing: a pair that shares half of its turns with a probability of 1 in 8, a pair that shares 7 of 10 with 1 in 10 000."`
	Pairs   []OverlapPair `json:"pairs" doc:"The pairs, the most alike first."`
}

// An OverlapPair is two slices or contexts, with the turns they share.
type OverlapPair struct {
	A       slice.SliceID `json:"a" is:"SliceID"`
	B       slice.SliceID `json:"b" is:"SliceID"`
	Shared  int           `json:"shared" doc:"Turns that both contained."`
	Jaccard int           `json:"jaccard" doc:"The turns that both contained, as a share of the turns that either contained, in millionths."`
}

// An InfluenceQuery asks for the turns that were used most, or for one turn.
type InfluenceQuery struct {
	AtlasQuery
	Turn *dag.TurnID `json:"turn,omitempty" doc:"Only this turn."`
	By   string      `json:"by,omitempty" flag:": sort by weight, rank or betweenness" is:"weight|rank|betweenness" default:"weight" doc:"The order of the list."`
}

// Influence lists turns with figures about their use.
type Influence struct {
	AtlasOf
	Sampled bool             `json:"sampled,omitempty" doc:"There are more than 5 000 turns, so betweenness is computed from 256 of them, drawn with a fixed seed."`
	Cuts    int              `json:"cuts" doc:"Turns without which others would not be connected."`
	Bridges int              `json:"bridges" doc:"Edges without which turns would not be connected."`
	Turns   []InfluencedTurn `json:"turns"`
}

// An InfluencedTurn is a turn with figures about its use.
type InfluencedTurn struct {
	Turn        dag.TurnID `json:"turn" is:"UUID"`
	Slices      int        `json:"slices" doc:"Slices that contained the turn."`
	Contexts    int        `json:"contexts" doc:"Contexts that showed the turn."`
	Weight      uint64     `json:"weight" doc:"The sum of its scores in slices, plus one for each context, in millionths."`
	Degree      int        `json:"degree" doc:"Turns with which it has an edge."`
	Rank        uint64     `json:"rank" doc:"PageRank, in millionths of a millionth: the ranks of all turns add up to 10^12, less rounding."`
	Betweenness uint64     `json:"betweenness" doc:"Pairs of other turns whose shortest paths lead through it, in thousandths."`
	Cut         bool       `json:"cut,omitempty" doc:"Other turns would not be connected without it."`
}

// A CommunityQuery asks for communities of turns, or of the names of facts.
type CommunityQuery struct {
	AtlasQuery
	Of string `json:"of,omitempty" flag:": what to group: turns or facts" is:"turns|facts" default:"turns" doc:"Group turns by their edges, or names by the facts that are believed now."`
}

// Communities are parts of the graph with more edges inside than chance would produce.
type Communities struct {
	AtlasOf
	Total      int         `json:"total" doc:"The total number."`
	Modularity int         `json:"modularity" doc:"The share of edges inside communities, less the share that chance would give, in millionths."`
	List       []Community `json:"communities" doc:"The communities, the largest first."`
}

// A Community is one such part.
type Community struct {
	Size    int      `json:"size"`
	Members []string `json:"members" doc:"The first 20, ascending: ids of turns, or names."`
	Central string   `json:"central" doc:"The member with the most edges."`
}

// A ManifestQuery asks for a manifest.
type ManifestQuery struct {
	AtlasView
	Unsigned bool `json:"unsigned,omitempty" doc:"Return no signature."`
}

// A Manifest is a whole atlas as one document.
type Manifest struct {
	Document json.RawMessage `json:"document" is:"Object" doc:"Canonical JSON (RFC 8785) of all parts, with the lists at their default lengths."`
	Envelope json.RawMessage `json:"envelope,omitempty" is:"Envelope" doc:"An in-toto statement that names the digest, signed by the attestation key (DSSE). Absent without an identity, and if unsigned was asked for."`
	SHA256   dag.Digest      `json:"sha256" is:"Digest" doc:"The digest of the document."`
}

// A BlameQuery names a turn.
type BlameQuery struct {
	AtlasView
	ID     dag.TurnID `json:"id"`
	Policy policy.ID  `json:"policy,omitempty" flag:": the policy under which slices are cut again (default: default@3)" is:"PolicyID" doc:"The policy under which slices are cut again; default@3 if left out."`
}

// A Blame lists the turns that may have led to a turn.
type Blame struct {
	Turn     dag.TurnID   `json:"turn" is:"UUID"`
	AsOf     dag.Seq      `json:"as_of" is:"Seq" doc:"The sequence number of the graph."`
	UpTo     uint64       `json:"issued" doc:"The number of the newest record of what was handed out."`
	For      []Issued     `json:"handed_out" doc:"What was handed out for the turn: slices and contexts around the turns that it follows, from before it existed."`
	InAll    []dag.TurnID `json:"in_all" is:"UUID" doc:"Turns that all of these contained."`
	Policy   policy.ID    `json:"policy" is:"PolicyID"`
	Selected int          `json:"selected" doc:"Turns that the policy selects around the turn that it follows."`
	Pivots   []Pivot      `json:"pivots" doc:"The selected turns whose absence would change which others are selected, those with the greatest effect first."`
	Minimal  []dag.TurnID `json:"minimal" is:"UUID" doc:"A smallest set of turns with this effect, or a set from which no turn can be left out; empty if the others would be selected in any case."`
	Tried    int          `json:"tried" doc:"How many times slices were cut again."`
}

// A Pivot is a turn that the selection of other turns depends on.
type Pivot struct {
	Turn    dag.TurnID `json:"turn" is:"UUID"`
	Dropped int        `json:"dropped" doc:"Other turns that would not have been selected without it."`
	Added   int        `json:"added" doc:"Other turns that would have been selected without it."`
}
