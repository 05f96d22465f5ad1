package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// What becomes of beliefs that are old, or too special.
var (
	DecayBeliefs     = declare[DecayRequest, Decay](Spec{ID: "decayBeliefs", Method: "POST", Path: "/api/beliefs/decay", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	AbstractBeliefs  = declare[AbstractionRequest, Abstraction](Spec{ID: "abstractBeliefs", Method: "POST", Path: "/api/beliefs/abstract", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ArchiveBeliefs   = declare[ArchiveRequest, Archive](Spec{ID: "archiveBeliefs", Method: "POST", Path: "/api/beliefs/archive", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	UnarchiveBeliefs = declare[UnarchiveRequest, Unarchived](Spec{ID: "unarchiveBeliefs", Method: "POST", Path: "/api/beliefs/unarchive", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
)

// A DecayRequest asks for confidence to be lowered by age.
type DecayRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Least  *dag.PPM     `json:"least,omitempty" doc:"What would lose less than this waits. 0.01 if left out."`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing."`
}

// A Decay is what lost confidence.
type Decay struct {
	Seq      dag.Seq         `json:"seq,omitempty" is:"Seq" doc:"As of it all is seen; absent if nothing was recorded."`
	Lowered  []DecayedBelief `json:"lowered"`
	Excepted []string        `json:"excepted" is:"Kref" doc:"Revisions that are published, and keep their confidence."`
}

// A DecayedBelief is a revision that lost confidence.
type DecayedBelief struct {
	Ref    string  `json:"ref" is:"Kref"`
	Origin string  `json:"origin" is:"Kref" doc:"The last revision that decay did not make, from whose confidence and time the new confidence follows."`
	Before dag.PPM `json:"before"`
	After  dag.PPM `json:"after"`
	Reason string  `json:"reason"`
}

// An AbstractionRequest asks for something more general to be stated of what is believed.
type AbstractionRequest struct {
	Space       belief.Space      `json:"space" is:"BeliefSpace"`
	From        []string          `json:"from" is:"Kref" min:"1" max:"64" doc:"The originals: items, or the revisions that are believed of them."`
	Statements  []BeliefStatement `json:"statements" min:"1" max:"64"`
	Specificity dag.PPM           `json:"specificity" doc:"How much of what the originals say it says. From 0.7 on it takes their place."`
	Item        belief.Item       `json:"item,omitempty" is:"ItemAddress" doc:"The item whose revision this becomes. Without it, the item that holds an equal statement, else a new one."`
	Kind        string            `json:"kind,omitempty" is:"ItemKind" default:"fact" doc:"Of a new item: one that the policy of the space lists."`
	Title       string            `json:"title,omitempty" is:"BeliefReason"`
	Summary     string            `json:"summary,omitempty"`
	Confidence  *dag.PPM          `json:"confidence,omitempty" doc:"The least of the originals' if left out."`
	Reason      string            `json:"reason,omitempty" is:"BeliefReason" flag:": why, for the record"`
	Key         string            `json:"key,omitempty" doc:"Names the request: one that has been answered is not done again."`
	DryRun      bool              `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say what would happen, and record nothing."`
}

// An Abstraction is what became of it.
type Abstraction struct {
	Outcome BeliefOutcome `json:"outcome"`
	From    []string      `json:"from" is:"Kref"`
	Kept    bool          `json:"kept" doc:"The originals are believed beside it. Else they are deprecated."`
}

// An ArchiveRequest asks for what is to be archived.
type ArchiveRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	SHA256 dag.Digest   `json:"sha256,omitzero" is:"Digest" doc:"Of the document, which the caller has saved. Without it nothing is recorded."`
}

// An Archive is what is to be archived, or was.
type Archive struct {
	Document string         `json:"document,omitempty" doc:"The file: lines of canonical JSON, gkarchive/1. Absent once it is saved."`
	SHA256   dag.Digest     `json:"sha256" is:"Digest"`
	Items    []ArchivedItem `json:"items"`
	Left     int            `json:"left" doc:"Items for which this file has no room: archive them next."`
}

// An ArchivedItem is an item in an archive.
type ArchivedItem struct {
	Item       belief.Item `json:"item" is:"ItemAddress"`
	Revisions  int         `json:"revisions"`
	Confidence dag.PPM     `json:"confidence"`
	LastUsed   dag.Time    `json:"last_used"`
	SHA256     dag.Digest  `json:"sha256" is:"Digest" doc:"Of its line, which its deprecation keeps."`
	Seq        dag.Seq     `json:"seq,omitempty" is:"Seq" doc:"Of its deprecation; absent if nothing was recorded."`
}

// An UnarchiveRequest asks for the items of an archive to be restored.
type UnarchiveRequest struct {
	Document string `json:"document" doc:"The file."`
	DryRun   bool   `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Say which items are archived with this file, and record nothing."`
}

// Unarchived is what became of the items of an archive.
type Unarchived struct {
	Items []UnarchivedItem `json:"items"`
}

// An UnarchivedItem is an item of an archive.
type UnarchivedItem struct {
	Item     belief.Item        `json:"item" is:"ItemAddress"`
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused"`
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
	Reason   string             `json:"reason,omitempty" doc:"Why it was refused, or has not changed."`
	Conflict []WrittenStatement `json:"conflict,omitempty" doc:"What it would contradict itself by."`
}
