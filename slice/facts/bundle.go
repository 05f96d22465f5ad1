package facts

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/normalize"
	"github.com/graphkernel/graphkernel/slice"
)

// SchemaVersion is the version of the bundles of this package.
const SchemaVersion = slice.FactsVersion

// A Question is a request for facts, without the policy.
type Question struct {
	Start   []string  // entities in the form of normalize.Name, without repetitions, in the order of the request
	ValidAt *dag.Time // the time at which the facts must hold; nil: any
}

// A Bundle is a slice of facts. A parsed Bundle is an unverified claim; only package token decides whether it is
// admissible.
type Bundle struct {
	AsOf       dag.Seq
	Provenance slice.Provenance
	Seal       slice.Seal
	Policy     Policy
	Question   Question
	Facts      []knowledge.Act // assertions, by ascending statement
	Aliases    []Alias         // by ascending alias
	Evidence   []Turn          // by ascending id
	Reached    []Reached       // in the order of knowledge.Traverse
	Cut        knowledge.Cut
}

// Turns returns the turns of the evidence, ascending.
func (b *Bundle) Turns() []dag.TurnID {
	turns := make([]dag.TurnID, len(b.Evidence))
	for i := range b.Evidence {
		turns[i] = b.Evidence[i].ID
	}
	return turns
}

// An Alias is a name that was replaced by another when the slice was cut.
type Alias struct{ Alias, Canonical string }

// A Turn is a turn that is evidence of a fact.
type Turn struct {
	ID   dag.TurnID
	Leaf dag.Digest // slice.TurnLeaf
}

// A Reached is a reached entity with the best path to it.
type Reached struct {
	Entity, From  string // canonical names
	MinConfidence dag.PPM
	Path          []Step
}

// A Step leads along a fact to an entity.
type Step struct {
	Fact     knowledge.ID
	Incoming bool   // from the fact's object to its subject
	Entity   string // the entity to which the step leads
}

// own returns a copy of the question that the caller may change.
func (q *Question) own() Question {
	c := Question{Start: slices.Clone(q.Start)}
	if q.ValidAt != nil {
		at := *q.ValidAt
		c.ValidAt = &at
	}
	return c
}

// Own returns a copy of the bundle that the caller may change.
func (b *Bundle) Own() Bundle {
	c := *b
	c.Question, c.Facts, c.Reached = b.Question.own(), b.OwnFacts(), b.OwnReached()
	c.Aliases, c.Evidence = slices.Clone(b.Aliases), slices.Clone(b.Evidence)
	return c
}

// OwnFacts returns a copy of the facts that the caller may change.
func (b *Bundle) OwnFacts() []knowledge.Act {
	facts := slices.Clone(b.Facts)
	for i := range facts {
		facts[i].Supersedes = slices.Clone(facts[i].Supersedes)
	}
	return facts
}

// OwnReached returns a copy of the entities that the caller may change.
func (b *Bundle) OwnReached() []Reached {
	reached := slices.Clone(b.Reached)
	for i := range reached {
		reached[i].Path = slices.Clone(reached[i].Path)
	}
	return reached
}

// prefix is the beginning of the bytes of every bundle of facts. No bundle of turns begins with it.
var prefix = func() []byte {
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("aliases")
	w.BeginArray()
	return w.Bytes
}()

// Is reports whether bytes claim, by their beginning, to be a bundle of facts.
func Is(data []byte) bool { return bytes.HasPrefix(data, prefix) }

// Append appends the bundle's canonical bytes. For a parsed bundle, they are the parsed bytes.
func (b *Bundle) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	var text [40]byte
	w.BeginObject()
	w.Key("aliases")
	writeAliases(w, b.Aliases)
	w.Key("anchor")
	w.Text(b.Provenance.Anchor.AppendText(text[:0]))
	w.Key("as_of")
	w.Uint(uint64(b.AsOf))
	if b.Cut != knowledge.Whole {
		w.Key("cut")
		w.String(string(b.Cut))
	}
	w.Key("evidence")
	w.BeginArray()
	for i := range b.Evidence {
		b.Evidence[i].write(w, "")
	}
	w.EndArray()
	w.Key("facts")
	w.BeginArray()
	var act []byte
	for i := range b.Facts {
		act = b.Facts[i].Append(act[:0])
		w.Raw(act)
	}
	w.EndArray()
	w.Key("key_id")
	w.String(b.Seal.KeyID)
	w.Key("policy")
	b.Policy.AppendWire(w)
	w.Key("provenance")
	b.Provenance.AppendWire(w)
	w.Key("question")
	b.Question.write(w, "")
	w.Key("reached")
	writeReached(w, b.Reached)
	w.Key("tenant")
	w.String(string(b.Seal.Tenant))
	w.Key("token")
	w.String(b.Seal.Token)
	w.EndObject()
	return w.Bytes
}

func writeAliases(w *canon.Writer, aliases []Alias) {
	w.BeginArray()
	for _, a := range aliases {
		w.BeginObject()
		w.Key("alias")
		w.String(a.Alias)
		w.Key("canonical")
		w.String(a.Canonical)
		w.EndObject()
	}
	w.EndArray()
}

func writeReached(w *canon.Writer, reached []Reached) {
	w.BeginArray()
	for i := range reached {
		reached[i].write(w)
	}
	w.EndArray()
}

// write writes a turn of the evidence; with a type, it writes the turn's leaf.
func (t *Turn) write(w *canon.Writer, leafType string) {
	var text [40]byte
	w.BeginObject()
	w.Key("leaf")
	w.Hex(t.Leaf[:])
	w.Key("turn")
	w.Text(t.ID.AppendText(text[:0]))
	writeType(w, leafType)
	w.EndObject()
}

// write writes a question; with a type, it writes the question's leaf.
func (q *Question) write(w *canon.Writer, leafType string) {
	w.BeginObject()
	w.Key("start")
	w.BeginArray()
	for _, name := range q.Start {
		w.String(name)
	}
	w.EndArray()
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

func (r *Reached) write(w *canon.Writer) {
	var digits [8]byte
	w.BeginObject()
	w.Key("entity")
	w.String(r.Entity)
	w.Key("from")
	w.String(r.From)
	w.Key("hops")
	w.Uint(uint64(len(r.Path)))
	w.Key("min_confidence")
	w.Raw(r.MinConfidence.AppendDecimal(digits[:0]))
	w.Key("path")
	w.BeginArray()
	for i := range r.Path {
		s := &r.Path[i]
		w.BeginObject()
		w.Key("entity")
		w.String(s.Entity)
		w.Key("fact")
		w.Hex(s.Fact[:])
		if s.Incoming {
			w.Key("incoming")
			w.Bool(true)
		}
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
}

// Parse reads a bundle's canonical bytes. The error for another spelling of the same values is slice.ErrMalformed. It
// checks the form of every field, but computes no hashes; Bundle.Check does.
func Parse(data []byte) (*Bundle, error) {
	return slice.ReadStrict("bundle of facts", data, slice.BytesOfValue, versions, read, nil)
}

func versions(*canon.Value) []slice.KnownVersion {
	return []slice.KnownVersion{slice.Known("provenance", "schema_version", SchemaVersion), slice.Known("policy", "type", PolicyType)}
}

func read(c *canon.Cursor) *Bundle {
	b := &Bundle{
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Provenance: slice.ReadProvenance(c.Field("provenance")),
		Seal:       slice.ReadSeal(c),
		Policy:     ReadPolicy(c.Field("policy")),
		Question:   readQuestion(c.Field("question")),
	}
	if anchor := c.Field("anchor"); canon.Parsed(anchor, dag.ParseTurnID) != b.Provenance.Anchor {
		anchor.Failf("it differs from provenance.anchor_turn_id")
	}
	b.Cut = readCut(c)
	for _, f := range c.Field("facts").Items() {
		b.Facts = append(b.Facts, readFact(f))
	}
	b.Aliases = readAliases(c.Field("aliases"))
	for _, e := range c.Field("evidence").Items() {
		b.Evidence = append(b.Evidence, readTurn(e))
	}
	b.Reached = readReachedList(c.Field("reached"))
	c.Close()
	return b
}

// readCut reads the optional member cut.
func readCut(c *canon.Cursor) knowledge.Cut {
	if f := c.Optional("cut"); f != nil {
		return canon.Parsed(f, parseCut)
	}
	return knowledge.Whole
}

func readFact(c *canon.Cursor) knowledge.Act {
	act := knowledge.ReadAct(c)
	if act.Kind != knowledge.Assert {
		c.Failf("the act is of kind %s, want assert", act.Kind)
	}
	return act
}

func readTurn(c *canon.Cursor) Turn {
	t := Turn{canon.Parsed(c.Field("turn"), dag.ParseTurnID), canon.Parsed(c.Field("leaf"), dag.ParseDigest)}
	c.Close()
	return t
}

func readAliases(c *canon.Cursor) (list []Alias) {
	for _, a := range c.Items() {
		list = append(list, Alias{readName(a.Field("alias")), readName(a.Field("canonical"))})
		a.Close()
	}
	return list
}

func readReachedList(c *canon.Cursor) (list []Reached) {
	for _, r := range c.Items() {
		list = append(list, readReached(r))
	}
	return list
}

func readReached(c *canon.Cursor) Reached {
	r := Reached{Entity: readName(c.Field("entity")), From: readName(c.Field("from")), MinConfidence: canon.ParsedNumber(c.Field("min_confidence"), dag.ParsePPM)}
	for _, s := range c.Field("path").Items() {
		step := Step{Fact: canon.Parsed(s.Field("fact"), dag.ParseDigest), Entity: readName(s.Field("entity"))}
		if f := s.Optional("incoming"); f != nil {
			step.Incoming = f.Bool()
		}
		s.Close()
		r.Path = append(r.Path, step)
	}
	if hops := c.Field("hops"); hops.Uint(knowledge.MaxHops) != uint64(len(r.Path)) || len(r.Path) == 0 {
		hops.Failf("the path has %d steps, want at least 1 and as many as hops says", len(r.Path))
	}
	c.Close()
	return r
}

// ParseQuestion reads a question in the form of [Question.Text].
func ParseQuestion(text string) (Question, error) {
	return slice.ParseText("of facts: question", text, readQuestion, (*Question).Text)
}

// Text returns the question in the form that it has in a bundle.
func (q *Question) Text() string {
	w := canon.NewWriter(nil)
	q.write(w, "")
	return string(w.Bytes)
}

func readQuestion(c *canon.Cursor) (q Question) {
	for _, s := range c.Field("start").Items() {
		q.Start = append(q.Start, readName(s))
	}
	if f := c.Optional("valid_at"); f != nil {
		at := canon.Parsed(f, dag.ParseTime)
		q.ValidAt = &at
	}
	c.Close()
	if err := q.Check(); err != nil {
		c.Fail(err)
	}
	return q
}

// Check returns an error for a question that is not valid.
func (q *Question) Check() error {
	if len(q.Start) == 0 || len(q.Start) > knowledge.MaxStarts {
		return fmt.Errorf("%w: %d entities to start from, want 1 to %d", knowledge.ErrQuery, len(q.Start), knowledge.MaxStarts)
	}
	if q.ValidAt != nil && !q.ValidAt.Valid() {
		return fmt.Errorf("%w: valid_at is %d microseconds, want a time from 1970 to 9999", knowledge.ErrQuery, *q.ValidAt)
	}
	for i, name := range q.Start {
		if !normalize.IsName(name) {
			return fmt.Errorf("%w: %.80q is not a canonical name", knowledge.ErrQuery, name)
		}
		if slices.Contains(q.Start[:i], name) {
			return fmt.Errorf("%w: it starts from %.80q twice", knowledge.ErrQuery, name)
		}
	}
	return nil
}

func parseCut(s string) (knowledge.Cut, error) {
	if c := knowledge.Cut(s); c == knowledge.CutResults || c == knowledge.CutWork {
		return c, nil
	}
	return "", fmt.Errorf("%.40q, want %s, %s or nothing", s, knowledge.CutResults, knowledge.CutWork)
}

func readName(c *canon.Cursor) string {
	name := c.String()
	if !normalize.IsName(name) {
		c.Failf("%.80q is not a canonical name", name)
	}
	return name
}
