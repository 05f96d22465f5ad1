package mcp

import (
	"encoding/json"
	"fmt"

	"github.com/graphkernel/graphkernel/api"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/normalize"
)

// The arguments of tools that are not operations of the service, or that have fewer arguments than the operation.
type (
	nothing struct{}

	// newTurn describes the items, and package ingest reads them.
	newTurns struct {
		Turns []newTurn `json:"turns" min:"1" max:"1000" tool:"In any order."`
	}
	newTurn struct {
		ID           string      `json:"id" is:"AnyUUID" tool:"A new UUID."`
		Conversation string      `json:"conversation" is:"AnyUUID" tool:"A UUID."`
		Parents      []newParent `json:"parents,omitempty" tool:"The turns that this one continues from."`
		Role         string      `json:"role" is:"Role" tool:"Who spoke."`
		Author       string      `json:"author" is:"Author" tool:"Such as human:ada or model:x; ASCII."`
		CreatedAt    string      `json:"created_at" is:"Time" tool:"RFC 3339."`
		Content      string      `json:"content" tool:"What was said."`
		Phase        string      `json:"phase,omitempty" is:"Phase" tool:"The kind of work; assigned if left out."`
		Salience     json.Number `json:"salience,omitempty" is:"Fraction" tool:"How much it matters; assigned if left out."`
		Attrs        string      `json:"attrs,omitempty" is:"Attrs" tool:"external_id is the turn's id elsewhere."`
	}
	newParent struct {
		ID   string `json:"id" is:"AnyUUID" tool:"Recorded before, or in this call."`
		Kind string `json:"kind" is:"reply|spawn|merge|reference" tool:"spawn starts a sub-agent, merge brings its result back."`
	}

	theBundle struct {
		Bundle string `json:"bundle" tool:"The bundle, byte for byte."`
	}
	theTurn struct {
		Turn string `json:"turn" is:"TurnName" tool:"Its id, at least 4 characters that begin it, or its external_id."`
	}
	theSlice struct {
		SliceID *string `json:"slice_id,omitempty" is:"AnySliceID" tool:"16 hex digits."`
		Bundle  *string `json:"bundle,omitempty" tool:"The bundle, byte for byte."`
	}
	question struct {
		Turn   string  `json:"turn" is:"TurnName" tool:"The turn in question, named as the anchor is."`
		Anchor string  `json:"anchor" is:"TurnName" tool:"The turn that the slice is cut around: its id, at least 4 characters that begin it, or its external_id."`
		Policy string  `json:"policy,omitempty" is:"PolicyID" tool:"NAME@VERSION, default@3 if left out."`
		AsOf   dag.Seq `json:"as_of,omitempty" tool:"As of this number; 0: the anchor's (default@1: now)."`
	}

	newFacts struct {
		Facts []api.NewFact `json:"facts" min:"1" max:"1000" tool:"The facts."`
	}
	factSearch struct {
		api.FactFilter
		api.View
		Evidence bool `json:"evidence,omitempty" tool:"Show each fact's assertions."`
		Limit    int  `json:"limit,omitempty" is:"1..1000" tool:"Facts at once; 20 if left out."`
	}
	statement struct {
		Statement  *dag.Digest `json:"statement,omitempty" tool:"Its id."`
		Subject    *string     `json:"subject,omitempty" is:"Name" tool:"What it is about."`
		Predicate  *string     `json:"predicate,omitempty" is:"Name" tool:"How the subject relates to the object."`
		Object     *string     `json:"object,omitempty" is:"Name" tool:"The other end."`
		ValidFrom  *dag.Time   `json:"valid_from,omitempty" tool:"As it was asserted."`
		ValidUntil *dag.Time   `json:"valid_until,omitempty" tool:"As it was asserted."`
	}
)

// The arguments of the public memory server's tools. Names and texts to be created must be valid; names to be searched
// for or deleted may be any text.
type (
	newEntities struct {
		Entities []newEntity `json:"entities" max:"1000" tool:"The entities"`
	}
	newEntity struct {
		Name         memoryName   `json:"name" is:"Name" tool:"The name of the entity"`
		EntityType   memoryText   `json:"entityType" is:"MemoryText" tool:"The type of the entity"`
		Observations []memoryText `json:"observations" is:"MemoryText" max:"1000" tool:"What is known of it"`
	}
	newRelations struct {
		Relations []newRelation `json:"relations" max:"1000" tool:"The relations"`
	}
	newRelation struct {
		From         memoryName `json:"from" is:"Name" tool:"The entity where the relation starts"`
		To           memoryName `json:"to" is:"Name" tool:"The entity where the relation ends"`
		RelationType memoryName `json:"relationType" is:"Name" tool:"The type of the relation, in active voice"`
	}
	newObservations struct {
		Observations []newObservation `json:"observations" max:"1000" tool:"By entity"`
	}
	newObservation struct {
		EntityName memoryName   `json:"entityName" is:"Name" tool:"The name of the entity"`
		Contents   []memoryText `json:"contents" is:"MemoryText" max:"1000" tool:"What is known of it"`
	}
	oldEntities struct {
		EntityNames []string `json:"entityNames" is:"MemoryAny" max:"1000" tool:"Names of entities"`
	}
	oldObservations struct {
		Deletions []oldObservation `json:"deletions" max:"1000" tool:"By entity"`
	}
	oldObservation struct {
		EntityName   string   `json:"entityName" is:"MemoryAny" tool:"The name of the entity"`
		Observations []string `json:"observations" is:"MemoryAny" max:"1000" tool:"The observations"`
	}
	oldRelations struct {
		Relations []oldRelation `json:"relations" max:"1000" tool:"The relations"`
	}
	oldRelation struct {
		From         string `json:"from" is:"MemoryAny" tool:"The entity where the relation starts"`
		To           string `json:"to" is:"MemoryAny" tool:"The entity where the relation ends"`
		RelationType string `json:"relationType" is:"MemoryAny" tool:"The type of the relation"`
	}
	nodeSearch struct {
		Query string `json:"query" is:"MemoryQuery" tool:"What to look for, in any case"`
	}
	nodeNames struct {
		Names []string `json:"names" is:"MemoryAny" max:"1000" tool:"Names of entities"`
	}
)

// A memoryName is to become a name in a fact: an entity, or the type of a relation.
type memoryName string

// UnmarshalText accepts a valid name.
func (n *memoryName) UnmarshalText(text []byte) error {
	switch name, err := normalize.Name(string(text)); {
	case err != nil:
		return fmt.Errorf("%w; a name of an entity or a type of a relation has at most %d bytes, and a letter, a digit or a sign that means something in it: shorten it", err, normalize.MaxName)
	case normalize.IsText(name):
		return fmt.Errorf("%.80q begins with text:, which no name of an entity or a relation does", text)
	}
	*n = memoryName(text)
	return nil
}

// A memoryText is an observation or the type of an entity.
type memoryText string

// UnmarshalText accepts a valid text.
func (t *memoryText) UnmarshalText(text []byte) error {
	if _, err := normalize.Text(string(text)); err != nil {
		return fmt.Errorf("%w; an observation and a type of an entity have at most %d bytes: shorten or split it", err, normalize.MaxText)
	}
	*t = memoryText(text)
	return nil
}
