package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// What of a space leaves it, and comes into another.
var (
	ExportPersona = declare[PersonaRequest, Persona](Spec{ID: "exportPersona", Method: "POST", Path: "/api/beliefs/persona/export", Tag: "beliefs", May: access.Believe, Fails: []int{404, 422, 503}})
	ImportPersona = declare[PersonaImport, ImportedPersona](Spec{ID: "importPersona", Method: "POST", Path: "/api/beliefs/persona/import", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
)

// A PersonaRequest asks for what of a space may leave it.
type PersonaRequest struct {
	Space   belief.Space   `json:"space" is:"BeliefSpace"`
	Aliases []PersonaAlias `json:"aliases,omitempty" max:"1000" doc:"What names of people are replaced by, in statements and texts, however they are spelled."`
	People  []string       `json:"people,omitempty" max:"1000" is:"Name" doc:"Names of people beside those that the space knows as such. Those without an alias are listed."`
}

// A PersonaAlias is what a name is replaced by.
type PersonaAlias struct {
	Name  string `json:"name" is:"Name"`
	Alias string `json:"alias" is:"Name" doc:"It must not hold a name that is replaced."`
}

// A Persona is what left a space, signed.
type Persona struct {
	Envelope json.RawMessage `json:"envelope" is:"Envelope" doc:"A DSSE envelope around a document gkpersona/1, signed by the attestation key. The bytes given here are canonical."`
	SHA256   dag.Digest      `json:"sha256" is:"Digest" doc:"Of the document."`
	Items    int             `json:"items"`
	Links    int             `json:"links"`
	Left     []PersonaLeft   `json:"left" doc:"What did not leave, and names that left."`
}

// A PersonaLeft is an item that stays, or that left with a name in it.
type PersonaLeft struct {
	Item   belief.Item `json:"item" is:"ItemAddress"`
	Name   string      `json:"name,omitempty" doc:"That could not be replaced. Absent: the item may not leave."`
	Taken  bool        `json:"taken,omitempty" doc:"The item left, with the name in it."`
	Reason string      `json:"reason"`
}

// A PersonaImport asks for a persona to be taken into a space.
type PersonaImport struct {
	Space    belief.Space    `json:"space" is:"BeliefSpace"`
	Envelope json.RawMessage `json:"envelope" is:"Envelope" doc:"As an export gave it."`
	Signers  []string        `json:"signers" is:"VKey" min:"1" max:"64" doc:"The keys whose signatures count, as a trust file has them. The one that signed must be of the kernel that the persona says it is from."`
	Revise   bool            `json:"revise,omitempty" doc:"Revise with the authority of the caller. Without it everything is proposed."`
	DryRun   bool            `json:"dry_run,omitempty" doc:"Say of each item by itself what would happen, and record nothing."`
}

// An ImportedPersona is what became of a persona.
type ImportedPersona struct {
	SHA256 dag.Digest     `json:"sha256" is:"Digest" doc:"Of the document."`
	Origin PersonaOrigin  `json:"origin"`
	Items  []ImportedItem `json:"items"`
	Links  int            `json:"links" doc:"Between items that were taken."`
}

// A PersonaOrigin is where a persona is from.
type PersonaOrigin struct {
	Kernel string       `json:"kernel" doc:"The name that its key signs as."`
	Tenant dag.Tenant   `json:"tenant"`
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	AsOf   dag.Seq      `json:"as_of" is:"Seq"`
	At     dag.Time     `json:"at"`
}

// An ImportedItem is what became of an item of a persona.
type ImportedItem struct {
	ID       string          `json:"id" doc:"In the persona."`
	Outcomes []BeliefOutcome `json:"outcomes" doc:"One for its statements of each time, and for each rule."`
}
