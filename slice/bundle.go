package slice

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
)

// A Seal contains the members that a signer adds to a slice.
type Seal struct {
	Tenant dag.Tenant
	KeyID  string
	Token  string // 32 lowercase hex digits
}

// A Bundle is a slice with its texts, as on the wire. It is an unverified claim; only package token decides whether it
// is admissible.
type Bundle struct {
	Anchor     dag.TurnID
	AsOf       dag.Seq
	Provenance Provenance
	Seal       Seal
	Policy     policy.SlicePolicy
	Settings   []Setting    // under gkp/3: the settings from which the turns' standings follow, by ascending number
	Turns      []BundleTurn // by ascending id
	Edges      []dag.Edge   // by ascending (parent, child)
	Order      []dag.TurnID
}

// A BundleTurn is one turn of a bundle.
type BundleTurn struct {
	dag.Turn
	Body      *dag.Body // nil: redacted
	Admission Admission
}

// EncodedTurn is the canonical JSON of a turn in bundles, without its admission and the outer braces. It does not
// depend on the slice, so it is made once and used in every bundle.
type EncodedTurn []byte

// EncodeTurn encodes a turn for bundles. body is the canonical form from AppendBody, or nil if the turn is redacted.
// The members of body are copied without being decoded or checked, so the caller must first check the digest of a body
// that it received.
func EncodeTurn(t *dag.Turn, body []byte, salt dag.Salt) (EncodedTurn, error) {
	w := canon.NewWriter(make([]byte, 0, len(body)+384))
	w.BeginObject()
	if body == nil {
		writeTurn(w, t, nil)
		return EncodedTurn(w.Bytes[1:]), nil // without the opening brace
	}
	var parts [3][]byte
	if err := canon.Members(body, bodyMembers, parts[:]); err != nil {
		return nil, fmt.Errorf("slice: body of turn %s: %w", t.ID, err)
	}
	writeTurn(w, t, &bodyWriter{
		attrs:   func() { w.Raw(parts[0]) },
		author:  func() { w.Raw(parts[1]) },
		content: func() { w.Raw(parts[2]) },
		salt:    salt,
	})
	return EncodedTurn(w.Bytes[1:]), nil
}

// bodyMembers lists the members of a body's canonical form.
var bodyMembers = []string{"attrs", "author", "content"}

// appendTurn encodes a turn with a decoded body, after an opening brace.
func appendTurn(dst []byte, t *dag.Turn, body *dag.Body) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	writeTurn(w, t, bodyOf(w, body))
	return w.Bytes
}

// bodyOf returns a bodyWriter that writes a decoded body to w, or nil for nil, the body of a redacted turn.
func bodyOf(w *canon.Writer, b *dag.Body) *bodyWriter {
	if b == nil {
		return nil
	}
	return &bodyWriter{
		attrs:   func() { writeAttrs(w, b.Attrs) },
		author:  func() { w.String(b.Author) },
		content: func() { w.String(b.Content) },
		salt:    b.Salt,
	}
}

// A bodyWriter writes the values of a body, whatever their source.
type bodyWriter struct {
	attrs, author, content func()
	salt                   dag.Salt
}

// writeTurn writes the members of a turn except its admission. Without a body, the turn is redacted.
func writeTurn(w *canon.Writer, t *dag.Turn, body *bodyWriter) {
	if body != nil {
		w.Key("attrs")
		body.attrs()
		w.Key("author")
		body.author()
	}
	w.Key("body_digest")
	w.Hex(t.BodyDigest[:])
	if body != nil {
		w.Key("content")
		body.content()
	}
	var text [40]byte
	w.Key("conversation")
	w.Text(t.Conversation.AppendText(text[:0]))
	w.Key("created_at")
	w.Text(t.CreatedAt.AppendText(text[:0]))
	w.Key("id")
	w.Text(t.ID.AppendText(text[:0]))
	w.Key("phase")
	w.String(t.Phase.String())
	if body == nil {
		w.Key("redacted")
		w.Bool(true)
	}
	w.Key("role")
	w.String(t.Role.String())
	w.Key("salience")
	w.Raw(t.Salience.AppendDecimal(text[:0]))
	if body != nil {
		w.Key("salt")
		w.Hex(body.salt[:])
	}
}

// WriteTurn writes a turn with its text in the form of bundles of other kinds: without an admission. Without a body,
// the turn is redacted.
func WriteTurn(w *canon.Writer, t *dag.Turn, body *dag.Body) {
	w.BeginObject()
	writeTurn(w, t, bodyOf(w, body))
	w.EndObject()
}

// ReadTurn reads the output of WriteTurn. The caller must close the object.
func ReadTurn(c *canon.Cursor) (dag.Turn, *dag.Body) { return readTurn(c) }

// AppendBundle appends the bundle of a slice: its canonical bytes. encoded returns the turn at an index of s.Turns.
func AppendBundle(dst []byte, s *Slice, seal Seal, encoded func(i int) EncodedTurn) []byte {
	w := s.wire()
	w.asOf, w.seal = s.AsOf, seal
	w.turn = func(i int) (*Admission, EncodedTurn) { return &s.Turns[i].Admission, encoded(i) }
	return appendWire(dst, w)
}

// wire returns the parts of a bundle that depend on the cut alone.
func (s *Slice) wire() *wire {
	params, _ := s.Policy.Slice() // Cut accepts no other policy
	order := Order(s.Turns, s.Edges)
	return &wire{
		anchor:     s.Provenance.Anchor,
		provenance: &s.Provenance,
		policy:     params,
		settings:   s.Settings,
		edges:      s.Edges,
		turns:      len(s.Turns),
		order:      len(order),
		ordered:    func(i int) dag.TurnID { return s.Turns[order[i]].ID },
	}
}

// Reading returns copies of the turns in reading order. The order of an unverified bundle may name turns that the
// bundle does not contain; they are left out.
func (b *Bundle) Reading() []BundleTurn {
	byID := make(map[dag.TurnID]*BundleTurn, len(b.Turns))
	for i := range b.Turns {
		byID[b.Turns[i].ID] = &b.Turns[i]
	}
	turns := make([]BundleTurn, 0, len(b.Order))
	for _, id := range b.Order {
		t := byID[id]
		if t == nil {
			continue
		}
		own := *t
		if t.Body != nil {
			body := *t.Body
			body.Attrs = maps.Clone(body.Attrs)
			own.Body = &body
		}
		turns = append(turns, own)
	}
	return turns
}

// Append appends the bundle's canonical bytes. For a parsed bundle, they are the parsed bytes.
func (b *Bundle) Append(dst []byte) []byte {
	var buf []byte
	return appendWire(dst, &wire{
		anchor:     b.Anchor,
		asOf:       b.AsOf,
		provenance: &b.Provenance,
		seal:       b.Seal,
		policy:     b.Policy,
		settings:   b.Settings,
		edges:      b.Edges,
		turns:      len(b.Turns),
		turn: func(i int) (*Admission, EncodedTurn) {
			buf = appendTurn(buf[:0], &b.Turns[i].Turn, b.Turns[i].Body)
			return &b.Turns[i].Admission, EncodedTurn(buf[1:]) // without the opening brace
		},
		order:   len(b.Order),
		ordered: func(i int) dag.TurnID { return b.Order[i] },
	})
}

// A wire contains the parts of a bundle, whatever their source.
type wire struct {
	anchor     dag.TurnID
	asOf       dag.Seq
	provenance *Provenance
	seal       Seal
	policy     policy.SlicePolicy
	settings   []Setting
	edges      []dag.Edge
	turns      int
	turn       func(i int) (*Admission, EncodedTurn)
	order      int
	ordered    func(i int) dag.TurnID
	gap        func(at int) // if not nil, it is called at the places of the number, the seal and the texts, which are left out
}

func appendWire(dst []byte, b *wire) []byte {
	w := canon.NewWriter(dst)
	var id [dag.IDText]byte
	text := func(t dag.TurnID) { w.Text(t.AppendText(id[:0])) }
	given := func(write func()) {
		if b.gap == nil {
			write()
			return
		}
		w.Raw(nil)
		b.gap(len(w.Bytes))
	}
	w.BeginObject()
	w.Key("anchor")
	text(b.anchor)
	w.Key("as_of")
	given(func() { w.Uint(uint64(b.asOf)) })
	w.Key("edges")
	w.BeginArray()
	for _, e := range b.edges {
		w.BeginObject()
		w.Key("child")
		text(e.Child)
		w.Key("kind")
		w.String(e.Kind.String())
		w.Key("parent")
		text(e.Parent)
		w.EndObject()
	}
	w.EndArray()
	w.Key("key_id")
	given(func() { w.String(b.seal.KeyID) })
	w.Key("order")
	w.BeginArray()
	for i := range b.order {
		text(b.ordered(i))
	}
	w.EndArray()
	w.Key("policy")
	b.policy.AppendWire(w)
	w.Key("provenance")
	b.provenance.AppendWire(w)
	schema := schemaNamed(b.provenance.SchemaVersion)
	if schema.Counted {
		w.Key("standings")
		WriteSettings(w, b.settings)
	}
	w.Key("tenant")
	given(func() { w.String(string(b.seal.Tenant)) })
	w.Key("token")
	given(func() { w.String(b.seal.Token) })
	w.Key("turns")
	w.BeginArray()
	for i := range b.turns {
		admission, encoded := b.turn(i)
		w.BeginObject()
		w.Key("admission")
		if schema.Marked {
			admission.appendMarkedWire(w)
		} else {
			admission.appendWire(w)
		}
		given(func() { w.Raw(encoded) })
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes
}

// AppendWire writes the object under "provenance" in a bundle.
func (p *Provenance) AppendWire(w *canon.Writer) {
	w.BeginObject()
	w.Key("anchor_turn_id")
	w.String(p.Anchor.String())
	w.Key("graph_snapshot_hash")
	w.Hex(p.GraphSnapshotHash[:])
	w.Key("policy_id")
	w.String(string(p.PolicyID))
	w.Key("policy_params_hash")
	w.Hex(p.PolicyParamsHash[:])
	w.Key("schema_version")
	w.String(p.SchemaVersion)
	w.Key("slice_id")
	w.String(string(p.SliceID))
	w.EndObject()
}

func (a *Admission) appendWire(w *canon.Writer) {
	w.BeginObject()
	a.writeWay(w)
	w.Key("score_nano")
	w.Uint(uint64(a.Score))
	w.Key("via")
	w.String(a.Via.String())
	w.EndObject()
}

// ParseBundle reads a bundle's canonical bytes. The error for another spelling of the same values is ErrMalformed. It
// checks the form of every field, but computes no hashes; Bundle.Check does.
func ParseBundle(data []byte) (*Bundle, error) {
	return ReadStrict("bundle", data, BytesOfValue, bundleVersions, readBundle, nil)
}

// OpenBundle is ParseBundle followed by Bundle.Check. It is faster, because it checks the bundle while its bytes are
// still being compared, on another processor.
func OpenBundle(data []byte) (*Bundle, []Check, error) {
	var checks []Check
	b, err := ReadStrict("bundle", data, BytesOfValue, bundleVersions, readBundle, func(b *Bundle) { checks = b.Check() })
	if err != nil {
		return nil, nil, err
	}
	return b, checks, nil
}

func bundleVersions(doc *canon.Value) []KnownVersion {
	s := schemaAt(doc)
	return []KnownVersion{Known("provenance", "schema_version", s.Version), Known("policy", "type", s.Policy.Type)}
}

// schemaAt returns the schema that a bundle states, or the first schema if it states no known one.
func schemaAt(doc *canon.Value) *Schema { return schemaNamed(StatedVersion(doc)) }

// StatedVersion returns the schema version in the provenance of a document, or "".
func StatedVersion(doc *canon.Value) string {
	if p := doc.Get("provenance"); p != nil {
		if v := p.Get("schema_version"); v != nil && v.Kind == canon.String {
			return v.Text
		}
	}
	return ""
}

func readBundle(c *canon.Cursor) *Bundle {
	schema := schemaAt(c.Value())
	b := &Bundle{
		Anchor:     canon.Parsed(c.Field("anchor"), dag.ParseTurnID),
		AsOf:       dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))),
		Provenance: ReadProvenance(c.Field("provenance")),
		Policy:     policy.ReadWire(c.Field("policy"), schema.Policy.Type),
		Seal:       ReadSeal(c),
	}
	if schema.Counted {
		b.Settings = ReadSettings(c.Field("standings"))
	}
	for _, t := range c.Field("turns").Items() {
		turn := BundleTurn{Admission: readAdmission(t.Field("admission"), schema)}
		turn.Turn, turn.Body = readTurn(t)
		t.Close()
		b.Turns = append(b.Turns, turn)
	}
	for _, e := range c.Field("edges").Items() {
		b.Edges = append(b.Edges, dag.Edge{
			Parent: canon.Parsed(e.Field("parent"), dag.ParseTurnID),
			Child:  canon.Parsed(e.Field("child"), dag.ParseTurnID),
			Kind:   canon.Parsed(e.Field("kind"), dag.ParseEdgeKind),
		})
		e.Close()
	}
	for _, o := range c.Field("order").Items() {
		b.Order = append(b.Order, canon.Parsed(o, dag.ParseTurnID))
	}
	c.Close()
	return b
}

// ReadSeal reads the three members of a seal from an object that has other members too.
func ReadSeal(c *canon.Cursor) Seal {
	return Seal{
		Tenant: canon.Parsed(c.Field("tenant"), dag.ParseTenant),
		KeyID:  canon.Parsed(c.Field("key_id"), parseKeyID),
		Token:  canon.Parsed(c.Field("token"), parseToken),
	}
}

func parseKeyID(s string) (string, error) {
	if !dag.IsLabel(s) {
		return "", fmt.Errorf("%w: key id %.80q, want [a-z0-9][a-z0-9-]{0,62}", dag.ErrForm, s)
	}
	return s, nil
}

func parseToken(s string) (string, error) {
	var b [16]byte
	return s, dag.ParseHex(b[:], s)
}

// versionForm is the form of a schema version. Package slice/kinds decides which versions exist; this package knows
// only its own.
var versionForm = regexp.MustCompile(`^gk[a-z]/[1-9][0-9]{0,3}$`)

func parseVersion(s string) (string, error) {
	if !versionForm.MatchString(s) {
		return "", fmt.Errorf("%w: schema_version %.40q, want gk, a letter, / and a number", ErrVersion, s)
	}
	return s, nil
}

// ReadProvenance reads the output of AppendWire.
func ReadProvenance(c *canon.Cursor) Provenance {
	p := Provenance{
		SliceID:           canon.Parsed(c.Field("slice_id"), ParseSliceID),
		Anchor:            canon.Parsed(c.Field("anchor_turn_id"), dag.ParseTurnID),
		PolicyID:          canon.Parsed(c.Field("policy_id"), policy.ParseID),
		PolicyParamsHash:  canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest),
		GraphSnapshotHash: canon.Parsed(c.Field("graph_snapshot_hash"), dag.ParseDigest),
		SchemaVersion:     canon.Parsed(c.Field("schema_version"), parseVersion),
	}
	c.Close()
	return p
}

// readTurn reads the output of writeTurn. The caller must read the other members and close the object.
func readTurn(c *canon.Cursor) (dag.Turn, *dag.Body) {
	t := dag.Turn{
		ID:           canon.Parsed(c.Field("id"), dag.ParseTurnID),
		Conversation: canon.Parsed(c.Field("conversation"), dag.ParseConversationID),
		Role:         canon.Parsed(c.Field("role"), dag.ParseRole),
		Phase:        canon.Parsed(c.Field("phase"), dag.ParsePhase),
		Salience:     canon.ParsedNumber(c.Field("salience"), dag.ParsePPM),
		CreatedAt:    canon.Parsed(c.Field("created_at"), dag.ParseTime),
		BodyDigest:   canon.Parsed(c.Field("body_digest"), dag.ParseDigest),
	}
	if r := c.Optional("redacted"); r != nil {
		if !r.Bool() {
			r.Failf("want true, or no member")
		}
		return t, nil
	}
	body := &dag.Body{
		Author:  c.Field("author").String(),
		Content: c.Field("content").String(),
		Attrs:   ReadAttrs(c.Field("attrs")),
		Salt:    canon.Parsed(c.Field("salt"), dag.ParseSalt),
	}
	if err := body.Check(); err != nil {
		c.Fail(err)
	}
	return t, body
}

func readAdmission(c *canon.Cursor, schema *Schema) Admission {
	a := Admission{
		Score:    policy.Score(c.Field("score_nano").Uint(uint64(policy.MaxScore))),
		Distance: int(c.Field("distance").Uint(policy.LimitRadius)),
		Via:      canon.Parsed(c.Field("via"), ParseVia),
	}
	if from := c.Optional("from"); from != nil {
		a.From = canon.Parsed(from, dag.ParseTurnID)
		if a.Via == ViaAnchor {
			from.Failf("the anchor must have no from")
		}
	} else if a.Via != ViaAnchor {
		c.Failf("\"from\" is missing")
	}
	if schema.Marked {
		a.readMarks(c, schema.Counted)
	} else if a.Via > ViaSibling {
		c.Field("via").Failf("%s does not exist in %s", a.Via, SchemaVersion)
	}
	c.Close()
	return a
}
