package contexts

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/graphkernel/graphkernel/belief/journal"
	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/knowledge"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/retrieval"
	"github.com/graphkernel/graphkernel/slice"
)

// The versions of the bundles of this package. A request that names the number of its rules has a bundle of SchemaVersionV2, which is what a kernel makes.
const (
	SchemaVersion   = slice.ContextVersion
	SchemaVersionV2 = slice.ContextVersionV2
)

// LimitSettings is the maximum number of settings of the standing policy in a bundle.
const LimitSettings = policy.LimitNodes

// A Bundle is a context with the candidates from which it was chosen. A parsed Bundle is an unverified claim; only
// package token decides whether it is admissible.
type Bundle struct {
	AsOf       dag.Seq
	Provenance slice.Provenance
	Seal       slice.Seal
	Policy     Policy
	Request    Request
	Choice
	Prompt Prompt
}

// A ChosenTurn is a turn with its text.
type ChosenTurn struct {
	dag.Turn
	Body dag.Body
}

// A Prompt has the cost and the HMAC of the rendered prompt.
type Prompt struct {
	Cost int        // in tokens, see Tokens
	HMAC dag.Digest // under the request's salt
}

// A Choice has the candidates, and the texts that Select chooses of them, which New accepts in any order.
type Choice struct {
	Candidates []Candidate           // by kind, then by id
	Overlaps   []Overlap             // between candidates, by First, then by Second
	Settings   []slice.Setting       // under gkc/2: those by which the candidates count that were looked at, by ascending number
	Statistics *retrieval.Statistics // the scores of the search depend on them; nil: there was no task to search for
	Turns      []ChosenTurn          // by ascending id
	Facts      []knowledge.Act       // assertions, by ascending statement
	Beliefs    []journal.Revision    // by ascending address; none of them is erased
}

// New returns a bundle, not yet sealed.
func New(r Request, asOf dag.Seq, registered policy.Registered, c Choice) (*Bundle, error) {
	p, err := PolicyOf(registered)
	if err != nil {
		return nil, err
	}
	b := &Bundle{AsOf: asOf, Policy: p, Request: r, Choice: c}
	slices.SortFunc(b.Turns, func(x, y ChosenTurn) int { return x.ID.Compare(y.ID) })
	slices.SortFunc(b.Facts, func(x, y knowledge.Act) int { return cmp.Compare(x.Fact.ID().String(), y.Fact.ID().String()) })
	slices.SortFunc(b.Beliefs, func(x, y journal.Revision) int { return cmp.Compare(x.Address().String(), y.Address().String()) })
	candidates := make(chan []dag.Digest, 1)
	go func() { candidates <- b.candidateLeaves() }()
	b.Prompt = b.prompt(b.Render())
	b.Provenance = slice.Provenance{PolicyID: registered.ID()}
	b.Provenance = b.fingerprint(<-candidates)
	return b, nil
}

// Shown returns the turns that this context showed to the agent, ascending, without repetitions: the chosen turns, the
// anchor, the evidence of facts, and the turns on which beliefs rest.
func (b *Bundle) Shown() []dag.TurnID {
	var shown []dag.TurnID
	for i := range b.Turns {
		shown = append(shown, b.Turns[i].ID)
	}
	if b.Request.Anchor != nil {
		shown = append(shown, *b.Request.Anchor)
	}
	for i := range b.Facts {
		if turn := b.Facts[i].Fact.Turn; turn != (dag.TurnID{}) {
			shown = append(shown, turn)
		}
	}
	for i := range b.Beliefs {
		shown = append(shown, b.Beliefs[i].RestsOn()...)
	}
	slices.SortFunc(shown, dag.TurnID.Compare)
	return slices.Compact(shown)
}

// chosen returns the kinds and ids of the chosen turns, facts and beliefs.
func (ch *Choice) chosen() map[string]bool {
	chosen := map[string]bool{}
	for i := range ch.Turns {
		chosen[string(KindTurn)+ch.Turns[i].ID.String()] = true
	}
	for i := range ch.Facts {
		chosen[string(KindFact)+ch.Facts[i].Fact.ID().String()] = true
	}
	for i := range ch.Beliefs {
		chosen[string(KindBelief)+ch.Beliefs[i].Address().String()] = true
	}
	return chosen
}

// Spent returns the tokens of the budget that were spent: those of the prompt; under gkc/1 those of the chosen texts, without the headings and markup that
// Prompt.Cost counts too.
func (b *Bundle) Spent() (tokens int) {
	if b.Request.Counted() {
		return b.Prompt.Cost
	}
	chosen := b.chosen()
	for i := range b.Candidates {
		if c := &b.Candidates[i]; chosen[string(c.Kind)+c.ID] {
			tokens += c.Cost
		}
	}
	return tokens
}

func (b *Bundle) prompt(text []byte) Prompt {
	return Prompt{Tokens(string(text)), b.Request.digest("prompt", text)}
}

// Is reports whether bytes claim, by their beginning, to be a context.
func Is(data []byte) bool { return slice.Begins(data, "beliefs") }

// Append appends the bundle's canonical bytes. For a parsed bundle, they are the parsed bytes.
func (b *Bundle) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(b.AsOf))
	w.Key("beliefs")
	w.BeginArray()
	for i := range b.Beliefs {
		b.Beliefs[i].WriteEvidence(w)
	}
	w.EndArray()
	w.Key("candidates")
	w.BeginArray()
	for i := range b.Candidates {
		b.Candidates[i].write(w, "")
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
	w.Key("overlaps")
	writeOverlaps(w, b.Overlaps)
	w.Key("policy")
	b.Policy.AppendWire(w)
	w.Key("prompt")
	b.Prompt.write(w, "")
	w.Key("provenance")
	b.Provenance.AppendWire(w)
	w.Key("request")
	b.Request.write(w, false, 0)
	if b.Request.Counted() {
		w.Key("standings")
		slice.WriteSettings(w, b.Settings)
	}
	if b.Statistics != nil {
		w.Key("statistics")
		writeStatistics(w, b.Statistics)
	}
	w.Key("tenant")
	w.String(string(b.Seal.Tenant))
	w.Key("token")
	w.String(b.Seal.Token)
	w.Key("turns")
	w.BeginArray()
	for i := range b.Turns {
		slice.WriteTurn(w, &b.Turns[i].Turn, &b.Turns[i].Body)
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes
}

func writeOverlaps(w *canon.Writer, overlaps []Overlap) {
	w.BeginArray()
	for _, o := range overlaps {
		w.BeginArray()
		w.Uint(uint64(o.First))
		w.Uint(uint64(o.Second))
		w.Uint(uint64(o.Share))
		w.EndArray()
	}
	w.EndArray()
}

// write writes the cost and the HMAC of the prompt; with a type, it writes the prompt's leaf.
func (p *Prompt) write(w *canon.Writer, leafType string) {
	w.BeginObject()
	w.Key("cost")
	w.Uint(uint64(p.Cost))
	w.Key("counter")
	w.String(Counter)
	w.Key("hmac")
	w.Hex(p.HMAC[:])
	if leafType != "" {
		w.Key("type")
		w.String(leafType)
	}
	w.EndObject()
}

func (p *Prompt) hash() dag.Digest {
	return slice.HashLeaf(func(w *canon.Writer) { p.write(w, "prompt") })
}

// Parse reads a bundle's canonical bytes. The error for another spelling of the same values is slice.ErrMalformed. It
// checks the form of every field, but computes no hashes; Bundle.Check does.
func Parse(data []byte) (*Bundle, error) {
	return slice.ReadStrict("context", data, bytesOfValue, versions, read, nil)
}

// bytesOfValue is a lower bound of the bytes per JSON value in overlaps and counts, where most values are numbers.
const bytesOfValue = 3

func versions(doc *canon.Value) []slice.KnownVersion {
	schema := SchemaVersion
	if slice.StatedVersion(doc) == SchemaVersionV2 {
		schema = SchemaVersionV2
	}
	return []slice.KnownVersion{slice.Known("provenance", "schema_version", schema), {In: "policy", Key: "type", Versions: formsOf(schema).Types()}}
}

func read(c *canon.Cursor) *Bundle {
	b := &Bundle{
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Provenance: slice.ReadProvenance(c.Field("provenance")),
		Seal:       slice.ReadSeal(c),
		Policy:     readWhole(c.Field("policy")),
		Request:    readRequest(c.Field("request")),
		Prompt:     readPrompt(c.Field("prompt")),
	}
	if counted := b.Provenance.SchemaVersion == SchemaVersionV2; counted != b.Request.Counted() && c.Err() == nil {
		c.Failf("request.rules_as_of is there if and only if the version is %s", SchemaVersionV2)
	} else if counted {
		b.Settings = slice.ReadSettings(c.Field("standings"))
	}
	if f := c.Optional("statistics"); f != nil {
		b.Statistics = readStatistics(f)
	}
	if (b.Statistics == nil) != (b.Request.Task == "") && c.Err() == nil {
		c.Failf("statistics are there if and only if there is a task")
	}
	for _, f := range c.Field("candidates").Items() {
		b.Candidates = append(b.Candidates, readCandidate(f, b.Request.Counted()))
	}
	for _, f := range c.Field("overlaps").Items() {
		b.Overlaps = append(b.Overlaps, readOverlap(f, len(b.Candidates)))
	}
	for _, f := range c.Field("facts").Items() {
		b.Facts = append(b.Facts, readFact(f))
	}
	for _, f := range c.Field("beliefs").Items() {
		b.Beliefs = append(b.Beliefs, *journal.ReadEvidence(f))
	}
	for _, f := range c.Field("turns").Items() {
		b.Turns = append(b.Turns, readChosen(f))
	}
	c.Close()
	return b
}

func readFact(c *canon.Cursor) knowledge.Act {
	act := knowledge.ReadAct(c)
	if act.Kind != knowledge.Assert {
		c.Failf("the act is of kind %s, want assert", act.Kind)
	}
	return act
}

func readChosen(c *canon.Cursor) ChosenTurn {
	t, body := slice.ReadTurn(c)
	if body == nil {
		c.Failf("a context holds no turn without its text")
		body = &dag.Body{}
	}
	c.Close()
	return ChosenTurn{t, *body}
}

// bound reports whether the turn's leaf binds the text.
func (t *ChosenTurn) bound() bool {
	return slice.DigestBody(slice.AppendBody(nil, &t.Body), t.Body.Salt) == t.BodyDigest
}

const notBound = "its text does not match its body_digest"

func readOverlap(c *canon.Cursor, candidates int) (o Overlap) {
	items := c.Items()
	if len(items) != 3 || candidates == 0 {
		c.Failf("want two indexes of candidates and a share")
		return o
	}
	most := uint64(candidates - 1)
	return Overlap{First: int(items[0].Uint(most)), Second: int(items[1].Uint(most)), Share: dag.PPM(items[2].Uint(uint64(dag.One)))}
}

func readPrompt(c *canon.Cursor) Prompt {
	p := Prompt{Cost: int(c.Field("cost").Uint(slice.MaxBundle)), HMAC: canon.Parsed(c.Field("hmac"), dag.ParseDigest)}
	if f := c.Field("counter"); f.String() != Counter && c.Err() == nil {
		f.Failf("%.40q, want %s", f.String(), Counter)
	}
	c.Close()
	return p
}

// fingerprint computes the six fields of the provenance from the body and the leaves of the candidates, except the
// policy's id, which it copies.
func (b *Bundle) fingerprint(candidates []dag.Digest) slice.Provenance {
	p := slice.Provenance{
		Anchor:            b.Request.anchor(b.AsOf),
		PolicyID:          b.Provenance.PolicyID,
		PolicyParamsHash:  b.Policy.Hash(),
		GraphSnapshotHash: slice.TreeHash(b.leaves(candidates)),
		SchemaVersion:     b.Request.schema(),
	}
	holds := map[string][]string{"beliefs": {}, "facts": {}, "turns": {}}
	for i := range b.Beliefs {
		holds["beliefs"] = append(holds["beliefs"], b.Beliefs[i].Address().String())
	}
	for i := range b.Facts {
		holds["facts"] = append(holds["facts"], b.Facts[i].Fact.ID().String())
	}
	for i := range b.Turns {
		holds["turns"] = append(holds["turns"], b.Turns[i].ID.String())
	}
	p.SliceID = slice.NameOf(&p, holds)
	return p
}

// candidateLeaves returns the leaf hashes of the candidates, in their order.
func (ch *Choice) candidateLeaves() []dag.Digest {
	leaves := make([]dag.Digest, len(ch.Candidates))
	for i := range ch.Candidates {
		leaves[i] = ch.Candidates[i].hash()
	}
	return leaves
}

// leaves returns the leaf hashes of the tree, in their order. candidates are the leaf hashes of the candidates.
func (b *Bundle) leaves(candidates []dag.Digest) []dag.Digest {
	leaves := make([]dag.Digest, 0, len(b.Turns)+len(b.Facts)+len(b.Beliefs)+len(b.Candidates)+5)
	for i := range b.Turns {
		leaves = append(leaves, slice.TurnLeaf(&b.Turns[i].Turn))
	}
	for i := range b.Facts {
		leaves = append(leaves, b.Facts[i].Leaf())
	}
	for i := range b.Beliefs {
		leaves = append(leaves, b.Beliefs[i].Leaf())
	}
	leaves = append(append(leaves, candidates...), slice.HashLeaf(func(w *canon.Writer) {
		w.BeginObject()
		w.Key("overlaps")
		writeOverlaps(w, b.Overlaps)
		w.Key("type")
		w.String("overlaps")
		w.EndObject()
	}))
	if b.Request.Counted() {
		leaves = append(leaves, slice.HashLeaf(func(w *canon.Writer) {
			w.BeginObject()
			slice.WriteSettingsLeaf(w, b.Settings)
			w.Key("type")
			w.String("standings")
			w.EndObject()
		}))
	}
	return append(leaves,
		sha256.Sum256(b.Request.leaf(b.AsOf)),
		b.Prompt.hash(),
		slice.HashLeaf(b.writeStatisticsLeaf))
}
