package attest

import (
	"crypto/sha256"
	"slices"

	"github.com/google/uuid"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/slice"
)

// Names that OpenLineage requires from producers of events and facets.
const (
	lineageProducer = "https://github.com/graphkernel/graphkernel"
	lineageSchema   = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
	lineageSlice    = lineageProducer + "/openlineage/slice/v1.json#/$defs/GraphkernelSliceDatasetFacet"
	lineageTurns    = lineageProducer + "/openlineage/turns/v1.json#/$defs/GraphkernelTurnsInputDatasetFacet"
)

// RunID returns the id of the run that represents the bundle's cut in OpenLineage: the UUIDv5, in the URL namespace, of
// graphkernel:/bundle/ and the digest of the bundle as it was issued.
func (s *Statement) RunID() string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("graphkernel:/bundle/"+s.Subject.String())).String()
}

// AppendOpenLineage appends a bundle as an OpenLineage RunEvent of type COMPLETE, canonical JSON: the job is the
// policy, the inputs are the conversations of the turns, and the output is the slice with the six fields of its
// provenance in a facet, all in the namespace graphkernel://ORIGIN. The event's time is the statement's. It contains no
// text and no author. The errors are those of Match.
//
// Source: OpenLineage.json 2-0-2, RunEvent; "Custom Facet Naming" in the OpenLineage documentation for the names of
// custom facets, their _producer and their _schemaURL.
func AppendOpenLineage(dst []byte, s *Statement, b *slice.Bundle) ([]byte, error) {
	if _, err := s.Match(b, sha256.Sum256(b.Append(nil))); err != nil {
		return nil, err
	}
	namespace := "graphkernel://" + s.Origin
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("eventTime")
	w.String(s.IssuedAt.String())
	w.Key("eventType")
	w.String("COMPLETE")
	w.Key("inputs")
	writeInputs(w, b, namespace)
	w.Key("job")
	w.BeginObject()
	writeDataset(w, namespace, string(s.Provenance.PolicyID))
	w.EndObject()
	w.Key("outputs")
	w.BeginArray()
	w.BeginObject()
	w.Key("facets")
	w.BeginObject()
	w.Key("graphkernel_slice")
	s.writeFacet(w)
	w.EndObject()
	writeDataset(w, namespace, "slice/"+string(s.Provenance.SliceID))
	w.EndObject()
	w.EndArray()
	w.Key("producer")
	w.String(lineageProducer)
	w.Key("run")
	w.BeginObject()
	w.Key("runId")
	w.String(s.RunID())
	w.EndObject()
	w.Key("schemaURL")
	w.String(lineageSchema)
	w.EndObject()
	return w.Bytes, nil
}

// writeInputs writes one dataset per conversation, by ascending id, with the bundle's turns from that conversation.
func writeInputs(w *canon.Writer, b *slice.Bundle, namespace string) {
	var conversations []dag.ConversationID
	for i := range b.Turns {
		conversations = append(conversations, b.Turns[i].Conversation)
	}
	slices.SortFunc(conversations, dag.ConversationID.Compare)
	w.BeginArray()
	for _, c := range slices.Compact(conversations) {
		w.BeginObject()
		w.Key("inputFacets")
		w.BeginObject()
		w.Key("graphkernel_turns")
		w.BeginObject()
		writeFacetBase(w, lineageTurns)
		w.Key("turns")
		w.BeginArray()
		for i := range b.Turns {
			if b.Turns[i].Conversation == c {
				w.String(b.Turns[i].ID.String())
			}
		}
		w.EndArray()
		w.EndObject()
		w.EndObject()
		writeDataset(w, namespace, "conversation/"+c.String())
		w.EndObject()
	}
	w.EndArray()
}

// writeDataset writes the last two members of a dataset or a job.
func writeDataset(w *canon.Writer, namespace, name string) {
	w.Key("name")
	w.String(name)
	w.Key("namespace")
	w.String(namespace)
}

func writeFacetBase(w *canon.Writer, schema string) {
	w.Key("_producer")
	w.String(lineageProducer)
	w.Key("_schemaURL")
	w.String(schema)
}

func (s *Statement) writeFacet(w *canon.Writer) {
	w.BeginObject()
	writeFacetBase(w, lineageSlice)
	w.Key("anchorTurnId")
	w.String(s.Provenance.Anchor.String())
	w.Key("bundleSha256")
	w.Hex(s.Subject[:])
	w.Key("graphSnapshotHash")
	w.Hex(s.Provenance.GraphSnapshotHash[:])
	w.Key("policyId")
	w.String(string(s.Provenance.PolicyID))
	w.Key("policyParamsHash")
	w.Hex(s.Provenance.PolicyParamsHash[:])
	w.Key("schemaVersion")
	w.String(s.Provenance.SchemaVersion)
	w.Key("sliceId")
	w.String(string(s.Provenance.SliceID))
	w.EndObject()
}
