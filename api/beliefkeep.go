package api

import (
	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// Operations on beliefs that are old or too specific.
var (
	DecayBeliefs     = declare[DecayRequest, Decay](Spec{ID: "decayBeliefs", Method: "POST", Path: "/api/beliefs/decay", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	AbstractBeliefs  = declare[AbstractionRequest, Abstraction](Spec{ID: "abstractBeliefs", Method: "POST", Path: "/api/beliefs/abstract", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	ArchiveBeliefs   = declare[ArchiveRequest, Archive](Spec{ID: "archiveBeliefs", Method: "POST", Path: "/api/beliefs/archive", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
	UnarchiveBeliefs = declare[UnarchiveRequest, Unarchived](Spec{ID: "unarchiveBeliefs", Method: "POST", Path: "/api/beliefs/unarchive", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
)

// A DecayRequest asks for confidence to be lowered by age.
type DecayRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	Least  *dag.PPM     `json:"least,omitempty" doc:"A revision that would lose less than this is not changed yet. 0.01 if left out."`
	DryRun bool         `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing."`
}

// A Decay lists the revisions that lost confidence.
type Decay struct {
	Seq      dag.Seq         `json:"seq,omitempty" is:"Seq" doc:"The sequence number as of which all results are visible; absent if nothing was recorded."`
	Lowered  []DecayedBelief `json:"lowered"`
	Excepted []string        `json:"excepted" is:"Kref" doc:"Published revisions, which keep their confidence."`
}

// A DecayedBelief is a revision that lost confidence.
type DecayedBelief struct {
	Ref    string  `json:"ref" is:"Kref"`
	Origin string  `json:"origin" is:"Kref" doc:"The last revision that decay did not make; the new confidence is computed from its confidence and time."`
	Before dag.PPM `json:"before"`
	After  dag.PPM `json:"after"`
	Reason string  `json:"reason"`
}

// An AbstractionRequest asks to state something more general than the beliefs it names.
type AbstractionRequest struct {
	Space       belief.Space      `json:"space" is:"BeliefSpace"`
	From        []string          `json:"from" is:"Kref" min:"1" max:"64" doc:"The originals: items, or their believed revisions."`
	Statements  []BeliefStatement `json:"statements" min:"1" max:"64"`
	Specificity dag.PPM           `json:"specificity" doc:"How much of the content of the originals it states. From 0.7 on it replaces them."`
	Item        belief.Item       `json:"item,omitempty" is:"ItemAddress" doc:"The item whose revision this becomes. If left out, the item with an equal statement, or a new one."`
	Kind        string            `json:"kind,omitempty" is:"ItemKind" default:"fact" doc:"The kind of a new item, which the policy of the space must list."`
	Title       string            `json:"title,omitempty" is:"BeliefReason"`
	Summary     string            `json:"summary,omitempty"`
	Confidence  *dag.PPM          `json:"confidence,omitempty" doc:"The least confidence of the originals if left out."`
	Reason      string            `json:"reason,omitempty" is:"BeliefReason" flag:": the reason, for the record"`
	Key         string            `json:"key,omitempty" doc:"A name for the request: a request with the same key is carried out once."`
	DryRun      bool              `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show what would happen, and record nothing."`
}

// An Abstraction is the result of an AbstractionRequest.
type Abstraction struct {
	Outcome BeliefOutcome `json:"outcome"`
	From    []string      `json:"from" is:"Kref"`
	Kept    bool          `json:"kept" doc:"The originals are still believed. Otherwise they are deprecated."`
}

// An ArchiveRequest asks for the old items of a space, and archives them if SHA256 is set.
type ArchiveRequest struct {
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	SHA256 dag.Digest   `json:"sha256,omitzero" is:"Digest" doc:"The digest of the document, which the caller has saved. If left out, nothing is recorded."`
}

// An Archive lists the items that are archived, or that would be.
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
	SHA256     dag.Digest  `json:"sha256" is:"Digest" doc:"The digest of its line, which its deprecation records."`
	Seq        dag.Seq     `json:"seq,omitempty" is:"Seq" doc:"The number of its deprecation; absent if nothing was recorded."`
}

// An UnarchiveRequest asks for the items of an archive to be restored.
type UnarchiveRequest struct {
	Document string `json:"document" doc:"The file."`
	DryRun   bool   `json:"dry_run,omitempty" flag:": change nothing; show what would happen" doc:"Show which items were archived with this file, and record nothing."`
}

// Unarchived lists the outcomes of restoring an archive, one per item.
type Unarchived struct {
	Items []UnarchivedItem `json:"items"`
}

// An UnarchivedItem is an item of an archive, with the outcome of restoring it.
type UnarchivedItem struct {
	Item     belief.Item        `json:"item" is:"ItemAddress"`
	Outcome  string             `json:"outcome" is:"changed|unchanged|refused"`
	Seq      dag.Seq            `json:"seq,omitempty" is:"Seq" doc:"Absent if nothing was recorded."`
	Reason   string             `json:"reason,omitempty" doc:"Why it was refused, or has not changed."`
	Conflict []WrittenStatement `json:"conflict,omitempty" doc:"A set of statements that contradict each other."`
}
