package api

import (
	"encoding/json"

	"github.com/graphkernel/graphkernel/access"
	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/dag"
)

// Operations that export a space as a persona, and import a persona into a space.
var (
	ExportPersona = declare[PersonaRequest, Persona](Spec{ID: "exportPersona", Method: "POST", Path: "/api/beliefs/persona/export", Tag: "beliefs", May: access.Believe, Fails: []int{404, 422, 503}})
	ImportPersona = declare[PersonaImport, ImportedPersona](Spec{ID: "importPersona", Method: "POST", Path: "/api/beliefs/persona/import", Tag: "beliefs", May: access.Believe, Fails: []int{404, 409, 422}})
)

// A PersonaRequest asks for the exportable part of a space.
type PersonaRequest struct {
	Space   belief.Space   `json:"space" is:"BeliefSpace"`
	Aliases []PersonaAlias `json:"aliases,omitempty" max:"1000" doc:"The aliases that replace names of people, in statements and texts, however they are spelled."`
	People  []string       `json:"people,omitempty" max:"1000" is:"Name" doc:"Names of people, in addition to those that the space knows as such. Names without an alias are listed."`
}

// A PersonaAlias is a name with the alias that replaces it.
type PersonaAlias struct {
	Name  string `json:"name" is:"Name"`
	Alias string `json:"alias" is:"Name" doc:"The alias must not contain a name that is replaced."`
}

// A Persona is the exported part of a space, signed.
type Persona struct {
	Envelope json.RawMessage `json:"envelope" is:"Envelope" doc:"A DSSE envelope around a document gkpersona/1, signed by the attestation key. Its bytes here are canonical."`
	SHA256   dag.Digest      `json:"sha256" is:"Digest" doc:"The digest of the document."`
	Items    int             `json:"items"`
	Links    int             `json:"links"`
	Left     []PersonaLeft   `json:"left" doc:"Items that were left out, and names that could not be replaced."`
}

// A PersonaLeft is an item that was not exported, or that was exported with a name in it.
type PersonaLeft struct {
	Item   belief.Item `json:"item" is:"ItemAddress"`
	Name   string      `json:"name,omitempty" doc:"The name that could not be replaced. Absent: the item may not leave the space."`
	Taken  bool        `json:"taken,omitempty" doc:"The item is in the document, with the name in it."`
	Reason string      `json:"reason"`
}

// A PersonaImport asks for a persona to be imported into a space.
type PersonaImport struct {
	Space    belief.Space    `json:"space" is:"BeliefSpace"`
	Envelope json.RawMessage `json:"envelope" is:"Envelope" doc:"The envelope of an export."`
	Signers  []string        `json:"signers" is:"VKey" min:"1" max:"64" doc:"The keys whose signatures count, in the form of a trust file. The key that signed must belong to the kernel that the persona names as its origin."`
	Revise   bool            `json:"revise,omitempty" doc:"Revise with the authority of the caller. Otherwise everything is proposed."`
	DryRun   bool            `json:"dry_run,omitempty" doc:"Show for each item by itself what would happen, and record nothing."`
}

// An ImportedPersona is the outcome of importing a persona.
type ImportedPersona struct {
	SHA256 dag.Digest     `json:"sha256" is:"Digest" doc:"The digest of the document."`
	Origin PersonaOrigin  `json:"origin"`
	Items  []ImportedItem `json:"items"`
	Links  int            `json:"links" doc:"Links between imported items."`
}

// A PersonaOrigin is the origin of a persona.
type PersonaOrigin struct {
	Kernel string       `json:"kernel" doc:"The name that its key signs as."`
	Tenant dag.Tenant   `json:"tenant"`
	Space  belief.Space `json:"space" is:"BeliefSpace"`
	AsOf   dag.Seq      `json:"as_of" is:"Seq"`
	At     dag.Time     `json:"at"`
}

// An ImportedItem is the outcome of importing an item of a persona.
type ImportedItem struct {
	ID       string          `json:"id" doc:"The item's id in the persona."`
	Outcomes []BeliefOutcome `json:"outcomes" doc:"One outcome for each time of its statements, and for each rule."`
}
