package beliefs

import (
	"crypto/sha256"

	"github.com/graphkernel/graphkernel/belief"
	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/belief/kinds"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// SchemaVersion is the version of the bundles of this package.
const SchemaVersion = slice.BeliefVersion

// A Question asks why a statement is believed.
type Question struct {
	Space   belief.Space
	Literal belief.Literal
	ValidAt *dag.Time // the time at which the statement must hold; nil: any
}

// A Bundle is evidence of a belief. A parsed Bundle is an unverified claim; only package token decides whether it is
// admissible.
type Bundle struct {
	AsOf       dag.Seq
	Provenance slice.Provenance
	Seal       slice.Seal
	Policy     kinds.Policy // the policy of the space
	Question   Question
	Revisions  []journal.Revision // by ascending address
	Steps      []Step             // each step follows from those before it
	Evidence   []Turn             // by ascending id
}

// A Step uses a statement of a revision. Revision is an index into Revisions, Statement one into its Statements.
type Step struct{ Revision, Statement int }

// A Turn is a turn on which a statement rests.
type Turn struct {
	ID   dag.TurnID
	Leaf dag.Digest // slice.TurnLeaf
}

// Is reports whether bytes claim, by their beginning, to be evidence of a belief.
func Is(data []byte) bool { return slice.Begins(data, "evidence") }

// Append appends the bundle's canonical bytes. For a parsed bundle, they are the parsed bytes.
func (b *Bundle) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.Object([]canon.Field{
		{Key: "as_of", Write: func(w *canon.Writer) { w.Uint(uint64(b.AsOf)) }},
		{Key: "evidence", Write: func(w *canon.Writer) {
			w.BeginArray()
			for i := range b.Evidence {
				b.Evidence[i].write(w, "")
			}
			w.EndArray()
		}},
		{Key: "key_id", Write: func(w *canon.Writer) { w.String(b.Seal.KeyID) }},
		{Key: "policy", Write: b.Policy.AppendWire},
		{Key: "provenance", Write: b.Provenance.AppendWire},
		{Key: "question", Write: func(w *canon.Writer) { b.Question.write(w, "") }},
		{Key: "revisions", Write: func(w *canon.Writer) {
			w.BeginArray()
			for i := range b.Revisions {
				b.Revisions[i].WriteEvidence(w)
			}
			w.EndArray()
		}},
		{Key: "steps", Write: func(w *canon.Writer) { writeSteps(w, b.Steps) }},
		{Key: "tenant", Write: func(w *canon.Writer) { w.String(string(b.Seal.Tenant)) }},
		{Key: "token", Write: func(w *canon.Writer) { w.String(b.Seal.Token) }},
	})
	return w.Bytes
}

func writeSteps(w *canon.Writer, steps []Step) {
	w.BeginArray()
	for _, s := range steps {
		w.BeginArray()
		w.Uint(uint64(s.Revision))
		w.Uint(uint64(s.Statement))
		w.EndArray()
	}
	w.EndArray()
}

// write writes a turn of the evidence; with a type, it writes the turn's leaf.
func (t *Turn) write(w *canon.Writer, leafType string) {
	w.BeginObject()
	w.Key("leaf")
	w.Hex(t.Leaf[:])
	w.Key("turn")
	w.String(t.ID.String())
	writeType(w, leafType)
	w.EndObject()
}

// write writes a question; with a type, it writes the question's leaf.
func (q *Question) write(w *canon.Writer, leafType string) {
	w.BeginObject()
	if q.Literal.Not {
		w.Key("not")
		w.Bool(true)
	}
	w.Key("object")
	w.String(q.Literal.Object)
	w.Key("predicate")
	w.String(q.Literal.Predicate)
	w.Key("space")
	w.String(string(q.Space))
	w.Key("subject")
	w.String(q.Literal.Subject)
	writeType(w, leafType)
	if q.ValidAt != nil {
		w.Key("valid_at")
		w.String(q.ValidAt.String())
	}
	w.EndObject()
}

func writeType(w *canon.Writer, leafType string) {
	if leafType != "" {
		w.Key("type")
		w.String(leafType)
	}
}

// Text returns the question in the form that it has in a bundle.
func (q *Question) Text() string {
	w := canon.NewWriter(nil)
	q.write(w, "")
	return string(w.Bytes)
}

// ParseQuestion reads a question in the form of [Question.Text].
func ParseQuestion(text string) (Question, error) {
	return slice.ParseText("evidence of a belief: question", text, readQuestion, (*Question).Text)
}

// Parse reads a bundle's canonical bytes. The error for another spelling of the same values is slice.ErrMalformed. It
// checks the form of every field, but computes no hashes; Bundle.Check does.
func Parse(data []byte) (*Bundle, error) {
	return slice.ReadStrict("evidence of a belief", data, slice.BytesOfValue, versions, read, nil)
}

func versions(*canon.Value) []slice.KnownVersion {
	return []slice.KnownVersion{slice.Known("provenance", "schema_version", SchemaVersion), slice.Known("policy", "type", kinds.Type)}
}

func read(c *canon.Cursor) *Bundle {
	b := &Bundle{
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Provenance: slice.ReadProvenance(c.Field("provenance")),
		Seal:       slice.ReadSeal(c),
		Question:   readQuestion(c.Field("question")),
	}
	b.Policy, _ = kinds.Form.Read(c.Field("policy"), policy.Wire).(kinds.Policy)
	for _, f := range c.Field("revisions").Items() {
		b.Revisions = append(b.Revisions, *journal.ReadEvidence(f))
	}
	for _, f := range c.Field("evidence").Items() {
		b.Evidence = append(b.Evidence, Turn{canon.Parsed(f.Field("turn"), dag.ParseTurnID), canon.Parsed(f.Field("leaf"), dag.ParseDigest)})
		f.Close()
	}
	for _, f := range c.Field("steps").Items() {
		b.Steps = append(b.Steps, b.readStep(f))
	}
	c.Close()
	return b
}

// readStep reads a step. Its statement must exist.
func (b *Bundle) readStep(c *canon.Cursor) (s Step) {
	items := c.Items()
	if len(items) != 2 || len(b.Revisions) == 0 {
		c.Failf("want the index of a revision and the index of one of its statements")
		return s
	}
	s.Revision = int(items[0].Uint(uint64(len(b.Revisions) - 1)))
	of := b.Revisions[s.Revision].Statements
	if len(of) == 0 {
		c.Failf("the revision states nothing")
		return s
	}
	s.Statement = int(items[1].Uint(uint64(len(of) - 1)))
	return s
}

func readQuestion(c *canon.Cursor) Question {
	q := Question{
		Space:   canon.Parsed(c.Field("space"), belief.ParseSpace),
		Literal: belief.Literal{Subject: c.Field("subject").String(), Predicate: c.Field("predicate").String(), Object: c.Field("object").String()},
	}
	if f := c.Optional("not"); f != nil {
		if q.Literal.Not = f.Bool(); !q.Literal.Not {
			f.Failf("want true, or no member")
		}
	}
	if f := c.Optional("valid_at"); f != nil {
		at := canon.Parsed(f, dag.ParseTime)
		q.ValidAt = &at
	}
	c.Close()
	if err := q.Literal.Check(); err != nil && c.Err() == nil {
		c.Fail(err)
	}
	return q
}

func (q *Question) leaf() []byte {
	return slice.LeafBytes(func(w *canon.Writer) { q.write(w, "question") })
}

// anchor returns the anchor of the evidence that answers the question.
func (q *Question) anchor() dag.TurnID { return dag.ExternalTurnID("belief", string(q.leaf()[1:])) }

// fingerprint computes the six fields of the provenance from the body, except the policy's id, which it copies.
func (b *Bundle) fingerprint() slice.Provenance {
	var leaves []dag.Digest
	refs := []string{}
	for i := range b.Revisions {
		leaves = append(leaves, b.Revisions[i].Leaf())
		refs = append(refs, b.Revisions[i].Address().String())
	}
	for i := range b.Evidence {
		leaves = append(leaves, slice.HashLeaf(func(w *canon.Writer) { b.Evidence[i].write(w, "evidence") }))
	}
	leaves = append(leaves, sha256.Sum256(b.Question.leaf()), slice.HashLeaf(func(w *canon.Writer) {
		w.BeginObject()
		w.Key("steps")
		writeSteps(w, b.Steps)
		writeType(w, "steps")
		w.EndObject()
	}))
	p := slice.Provenance{
		Anchor: b.Question.anchor(), PolicyID: b.Provenance.PolicyID, PolicyParamsHash: b.Policy.Hash(), GraphSnapshotHash: slice.TreeHash(leaves), SchemaVersion: SchemaVersion,
	}
	p.SliceID = slice.NameOf(&p, map[string][]string{"beliefs": refs})
	return p
}
