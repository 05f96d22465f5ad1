package attest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Versions of what is written here. A statement that says another one is ErrVersion: by
// the rules of in-toto a member whose absence would change the meaning of the others
// takes a new predicate type.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/graphkernel/graphkernel/attestation/slice/v1"
)

// A Why says why a turn's text is not in a bundle.
type Why string

// The reasons. The zero Why is none of them.
const (
	Erased   Why = "erased"   // its body was deleted, and the ledger says so
	Withheld Why = "withheld" // its body never came
)

// A Redaction is a turn whose text was not in the bundle when it was issued.
type Redaction struct {
	Turn dag.TurnID
	Why  Why
}

// A Statement is what a kernel says of a bundle that it handed out.
type Statement struct {
	Tenant     dag.Tenant
	Provenance slice.Provenance
	Policy     policy.SlicePolicyV1
	AsOf       dag.Seq
	TokenKeyID string // of the bundle's token
	Turns      uint64 // of the bundle
	Edges      uint64
	Redacted   []Redaction // by ascending id
	IssuedAt   dag.Time    // as the signer claims
	Origin     string      // of the log that holds the bundle's leaf
	Index      uint64      // of that leaf
	Subject    dag.Digest  // SHA-256 of the bundle's bytes
}

// NewStatement states of a bundle what it says of itself, and what the kernel knows
// besides: the digest of its bytes, when it was issued, and where its leaf is in which
// log. why is asked for each redacted turn, by ascending id.
func NewStatement(b *slice.Bundle, digest dag.Digest, at dag.Time, index uint64, origin string, why func(dag.TurnID) Why) *Statement {
	s := &Statement{
		Tenant: b.Seal.Tenant, Provenance: b.Provenance, Policy: b.Policy, AsOf: b.AsOf, TokenKeyID: b.Seal.KeyID,
		Turns: uint64(len(b.Turns)), Edges: uint64(len(b.Edges)), IssuedAt: at, Origin: origin, Index: index, Subject: digest,
	}
	for _, id := range b.Redacted() {
		s.Redacted = append(s.Redacted, Redaction{id, why(id)})
	}
	return s
}

// Name is the file name that the statement gives its subject.
func (s *Statement) Name() string { return "slice-" + string(s.Provenance.SliceID) + ".json" }

// Append appends the statement's canonical form.
func (s *Statement) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("_type")
	w.String(StatementType)
	w.Key("predicate")
	s.appendPredicate(w)
	w.Key("predicateType")
	w.String(PredicateType)
	w.Key("subject")
	w.BeginArray()
	w.BeginObject()
	w.Key("digest")
	w.BeginObject()
	w.Key("sha256")
	w.Hex(s.Subject[:])
	w.EndObject()
	w.Key("name")
	w.String(s.Name())
	w.EndObject()
	w.EndArray()
	w.EndObject()
	return w.Bytes
}

func (s *Statement) appendPredicate(w *canon.Writer) {
	w.BeginObject()
	w.Key("anchorTurnId")
	w.String(s.Provenance.Anchor.String())
	w.Key("asOf")
	w.Uint(uint64(s.AsOf))
	w.Key("edges")
	w.Uint(s.Edges)
	w.Key("graphSnapshotHash")
	w.Hex(s.Provenance.GraphSnapshotHash[:])
	w.Key("issuedAt")
	w.String(s.IssuedAt.String())
	w.Key("ledger")
	w.BeginObject()
	w.Key("index")
	w.Uint(s.Index)
	w.Key("origin")
	w.String(s.Origin)
	w.EndObject()
	w.Key("policy")
	s.Policy.AppendWire(w)
	w.Key("policyId")
	w.String(string(s.Provenance.PolicyID))
	w.Key("policyParamsHash")
	w.Hex(s.Provenance.PolicyParamsHash[:])
	w.Key("redacted")
	w.BeginArray()
	for _, r := range s.Redacted {
		w.BeginObject()
		w.Key("turn")
		w.String(r.Turn.String())
		w.Key("why")
		w.String(string(r.Why))
		w.EndObject()
	}
	w.EndArray()
	w.Key("schemaVersion")
	w.String(s.Provenance.SchemaVersion)
	w.Key("sliceId")
	w.String(string(s.Provenance.SliceID))
	w.Key("tenant")
	w.String(string(s.Tenant))
	w.Key("tokenKeyId")
	w.String(s.TokenKeyID)
	w.Key("turns")
	w.Uint(s.Turns)
	w.EndObject()
}

// ParseStatement reads a statement's canonical bytes; another spelling of the same values
// is ErrForm, another version ErrVersion. Members of predicate that are not known here are
// passed over: a later minor version may have added them. Everywhere else there are none.
func ParseStatement(data []byte) (*Statement, error) {
	if len(data) > MaxEnvelope {
		return nil, fmt.Errorf("%w: a statement of %d bytes, at most %d", ErrForm, len(data), MaxEnvelope)
	}
	doc, err := canon.ParseSparse(data, len(data)/bytesOfValue+64)
	if err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	if err := checkVersion(doc); err != nil {
		if !doc.PlainKeys() { // no version has such keys
			return nil, fmt.Errorf("%w: statement: a key is not printable ASCII, or is empty", ErrForm)
		}
		return nil, err
	}
	if err := ledger.CheckSpelling(doc, data); err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	c := canon.Open(doc)
	s := readStatement(c)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	return s, nil
}

// bytesOfValue is less than a value takes in any statement that is worth its bytes: a
// text of shorter ones would take a hundred times its size of memory.
const bytesOfValue = 8

// checkVersion looks at the versions before anything else, since a later one may
// have other members.
func checkVersion(doc *canon.Value) error {
	known := func(in *canon.Value, path, key, version string) error {
		if in == nil {
			return nil // malformed, as the reader will say
		}
		if v := in.Get(key); v != nil && v.Kind == canon.String && v.Text != version {
			return fmt.Errorf("%w: %s is %.100q, this program knows %q", ErrVersion, path+key, v.Text, version)
		}
		return nil
	}
	if err := known(doc, "", "_type", StatementType); err != nil {
		return err
	}
	if err := known(doc, "", "predicateType", PredicateType); err != nil {
		return err
	}
	predicate := doc.Get("predicate")
	if err := known(predicate, "predicate.", "schemaVersion", slice.SchemaVersion); err != nil {
		return err
	}
	if predicate == nil {
		return nil
	}
	return known(predicate.Get("policy"), "predicate.policy.", "type", policy.Type)
}

func readStatement(c *canon.Cursor) *Statement {
	want := func(key, value string) {
		if f := c.Field(key); f.String() != value {
			f.Failf("want %q", value)
		}
	}
	want("_type", StatementType)
	want("predicateType", PredicateType)
	s := readPredicate(c.Field("predicate"))
	subjects := c.Field("subject")
	items := subjects.Items()
	if len(items) != 1 {
		subjects.Failf("%d subjects, want 1", len(items))
		return s
	}
	digest := items[0].Field("digest")
	s.Subject = canon.Parsed(digest.Field("sha256"), dag.ParseDigest)
	digest.Close()
	if name := items[0].Field("name"); name.String() != s.Name() {
		name.Failf("want %q", s.Name())
	}
	items[0].Close()
	c.Close()
	return s
}

func readPredicate(c *canon.Cursor) *Statement {
	s := &Statement{
		Tenant: canon.Parsed(c.Field("tenant"), dag.ParseTenant),
		Provenance: slice.Provenance{
			SliceID:           canon.Parsed(c.Field("sliceId"), slice.ParseSliceID),
			Anchor:            canon.Parsed(c.Field("anchorTurnId"), dag.ParseTurnID),
			PolicyID:          canon.Parsed(c.Field("policyId"), policy.ParseID),
			PolicyParamsHash:  canon.Parsed(c.Field("policyParamsHash"), dag.ParseDigest),
			GraphSnapshotHash: canon.Parsed(c.Field("graphSnapshotHash"), dag.ParseDigest),
			SchemaVersion:     c.Field("schemaVersion").String(),
		},
		Policy:     policy.ReadWire(c.Field("policy")),
		AsOf:       dag.Seq(c.Field("asOf").Uint(uint64(dag.MaxSeq))),
		TokenKeyID: c.Field("tokenKeyId").String(),
		Turns:      c.Field("turns").Uint(canon.MaxInt),
		Edges:      c.Field("edges").Uint(canon.MaxInt),
		IssuedAt:   canon.Parsed(c.Field("issuedAt"), dag.ParseTime),
	}
	if !dag.IsLabel(s.TokenKeyID) {
		c.Field("tokenKeyId").Failf("want [a-z0-9][a-z0-9-]{0,62}")
	}
	log := c.Field("ledger")
	s.Index = log.Field("index").Uint(canon.MaxInt)
	s.Origin = canon.Parsed(log.Field("origin"), parseOrigin)
	log.Close()
	for _, item := range c.Field("redacted").Items() {
		r := Redaction{canon.Parsed(item.Field("turn"), dag.ParseTurnID), Why(item.Field("why").String())}
		if r.Why != Erased && r.Why != Withheld {
			item.Field("why").Failf("want %q or %q", Erased, Withheld)
		}
		if n := len(s.Redacted); n > 0 && s.Redacted[n-1].Turn.Compare(r.Turn) >= 0 {
			item.Field("turn").Failf("redacted turns are by ascending id, each once")
		}
		item.Close()
		s.Redacted = append(s.Redacted, r)
	}
	return s
}

func parseOrigin(s string) (string, error) {
	if !ledger.IsName(s) {
		return "", fmt.Errorf("%w: origin %.200q, want 1 to 255 bytes of printable ASCII without spaces and +", dag.ErrForm, s)
	}
	return s, nil
}

// A MismatchError says in which member a statement and a bundle differ first, by
// ascending key; the digest comes last, since it differs whatever does.
type MismatchError struct {
	Member   string // such as predicate.asOf
	Expected string // what the statement says
	Found    string // what the bundle says
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: the statement says %s, the bundle %s", e.Member, e.Expected, e.Found)
}

// Match compares the statement with a bundle and the digest of its bytes. It matches as
// the whole, or as a disclosure: then withheld names, by ascending id, the turns whose text
// somebody took out after the bundle was issued. If it matches in neither way the error
// is a *MismatchError. The bundle must have passed its own Check: what the texts say is
// bound by the digests there.
func (s *Statement) Match(b *slice.Bundle, digest dag.Digest) (withheld []dag.TurnID, err error) {
	if err := s.matchMembers(b); err != nil {
		return nil, err
	}
	withheld, err = s.matchRedacted(b.Redacted())
	switch {
	case err != nil:
		return nil, err
	case digest == s.Subject && len(withheld) > 0:
		return nil, &MismatchError{"predicate.redacted", "nothing of turn " + withheld[0].String(), "that it is redacted"}
	case digest != s.Subject && len(withheld) == 0:
		return nil, &MismatchError{"subject[0].digest.sha256", s.Subject.String(), digest.String()}
	}
	return withheld, nil
}

// matchRedacted returns the turns that are redacted in a bundle and not in the statement. A
// text that the statement says is missing cannot have come back.
func (s *Statement) matchRedacted(redacted []dag.TurnID) (more []dag.TurnID, err error) {
	stated := make([]dag.TurnID, len(s.Redacted))
	for i, r := range s.Redacted {
		if stated[i] = r.Turn; !within(redacted, r.Turn) {
			return nil, &MismatchError{"predicate.redacted", "turn " + r.Turn.String() + " is " + string(r.Why), "that it is not"}
		}
	}
	for _, id := range redacted {
		if !within(stated, id) {
			more = append(more, id)
		}
	}
	return more, nil
}

// matchMembers compares the members that a bundle shows in full even if texts are
// withheld.
func (s *Statement) matchMembers(b *slice.Bundle) error {
	return s.matchHeader(b, len(b.Turns), len(b.Edges))
}

// matchHeader compares the members that follow from a bundle's header and its counts.
func (s *Statement) matchHeader(b *slice.Bundle, turns, edges int) error {
	p, q := &s.Provenance, &b.Provenance
	for _, m := range [...]struct{ name, expected, found string }{
		{"anchorTurnId", p.Anchor.String(), q.Anchor.String()},
		{"anchorTurnId", p.Anchor.String(), b.Anchor.String()},
		{"asOf", number(s.AsOf), number(b.AsOf)},
		{"edges", number(s.Edges), number(edges)},
		{"graphSnapshotHash", p.GraphSnapshotHash.String(), q.GraphSnapshotHash.String()},
		{"policy", wirePolicy(&s.Policy), wirePolicy(&b.Policy)},
		{"policyId", string(p.PolicyID), string(q.PolicyID)},
		{"policyParamsHash", p.PolicyParamsHash.String(), q.PolicyParamsHash.String()},
		{"schemaVersion", p.SchemaVersion, q.SchemaVersion},
		{"sliceId", string(p.SliceID), string(q.SliceID)},
		{"tenant", string(s.Tenant), string(b.Seal.Tenant)},
		{"tokenKeyId", s.TokenKeyID, b.Seal.KeyID},
		{"turns", number(s.Turns), number(turns)},
	} {
		if m.expected != m.found {
			return &MismatchError{"predicate." + m.name, m.expected, m.found}
		}
	}
	return nil
}

func within(ascending []dag.TurnID, id dag.TurnID) bool {
	_, found := slices.BinarySearchFunc(ascending, id, dag.TurnID.Compare)
	return found
}

func number[N ~int | ~uint64](n N) string { return strconv.FormatUint(uint64(n), 10) }

func wirePolicy(p *policy.SlicePolicyV1) string {
	w := canon.NewWriter(nil)
	p.AppendWire(w)
	return string(w.Bytes)
}
