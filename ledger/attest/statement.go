package attest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// StatementType is the version of the statements that this package writes. The error for a statement of another version
// is ErrVersion.
const StatementType = "https://in-toto.io/Statement/v1"

// A Why is the reason why a turn's text is not in a bundle.
type Why string

// The reasons. The zero Why is no reason.
const (
	Erased   Why = "erased"   // the body was deleted, and the ledger records it
	Withheld Why = "withheld" // the kernel never received the body
)

// A Redaction is a turn whose text was not in the bundle when it was issued.
type Redaction struct {
	Turn dag.TurnID
	Why  Why
}

// A Statement is a kernel's statement about a bundle that it issued. The schema version of its provenance determines
// the kind of the bundle.
type Statement struct {
	Tenant     dag.Tenant
	Provenance slice.Provenance
	Policy     policy.Parameters
	AsOf       dag.Seq
	TokenKeyID string        // the key of the bundle's token
	Counts     []slice.Count // as in the bundle, by ascending name
	Redacted   []Redaction   // as in the bundle, by ascending id
	IssuedAt   dag.Time      // as the signer claims
	Origin     string        // the origin of the log with the bundle's leaf
	Index      uint64        // the index of that leaf
	Subject    dag.Digest    // the SHA-256 of the bundle's bytes
}

// NewStatement returns a statement with the bundle's own claims and the kernel's knowledge about it: the digest of its
// bytes, its time of issue, and the log and index of its leaf. why is called for each redacted turn, by ascending id.
func NewStatement(b slice.Outline, digest dag.Digest, at dag.Time, index uint64, origin string, why func(dag.TurnID) Why) *Statement {
	h := b.Head()
	s := &Statement{
		Tenant: h.Seal.Tenant, Provenance: h.Provenance, Policy: h.Policy, AsOf: h.AsOf, TokenKeyID: h.Seal.KeyID,
		Counts: h.Counts, IssuedAt: at, Origin: origin, Index: index, Subject: digest,
	}
	for _, id := range b.Redacted() {
		s.Redacted = append(s.Redacted, Redaction{id, why(id)})
	}
	return s
}

// Name returns the file name of the bundle in the statement.
func (s *Statement) Name() string { return "slice-" + string(s.Provenance.SliceID) + ".json" }

// Append appends the statement's canonical form. It panics if no kind of bundle has the statement's schema version; the
// version of a parsed statement, and of a statement about a parsed bundle, is always known.
func (s *Statement) Append(dst []byte) []byte {
	k := kindOf(s.Provenance.SchemaVersion)
	if k == nil {
		panic("attest: a statement about a bundle of version " + s.Provenance.SchemaVersion)
	}
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("_type")
	w.String(StatementType)
	w.Key("predicate")
	s.appendPredicate(w, k)
	w.Key("predicateType")
	w.String(k.Predicate)
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

func (s *Statement) appendPredicate(w *canon.Writer, k *kind) {
	text := func(key, value string) canon.Field {
		return canon.Field{Key: key, Write: func(w *canon.Writer) { w.String(value) }}
	}
	number := func(key string, n uint64) canon.Field {
		return canon.Field{Key: key, Write: func(w *canon.Writer) { w.Uint(n) }}
	}
	p := &s.Provenance
	fields := []canon.Field{
		text("anchorTurnId", p.Anchor.String()), number("asOf", uint64(s.AsOf)), text("graphSnapshotHash", p.GraphSnapshotHash.String()),
		text("issuedAt", s.IssuedAt.String()), {Key: "ledger", Write: s.writeLedger}, {Key: "policy", Write: s.Policy.AppendWire},
		text("policyId", string(p.PolicyID)), text("policyParamsHash", p.PolicyParamsHash.String()), text("schemaVersion", p.SchemaVersion),
		text("sliceId", string(p.SliceID)), text("tenant", string(s.Tenant)), text("tokenKeyId", s.TokenKeyID),
	}
	for _, c := range s.Counts {
		fields = append(fields, number(c.Name, c.N))
	}
	if k.Redacts {
		fields = append(fields, canon.Field{Key: "redacted", Write: s.writeRedacted})
	}
	w.Object(fields)
}

func (s *Statement) writeLedger(w *canon.Writer) {
	w.BeginObject()
	w.Key("index")
	w.Uint(s.Index)
	w.Key("origin")
	w.String(s.Origin)
	w.EndObject()
}

func (s *Statement) writeRedacted(w *canon.Writer) {
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
}

// ParseStatement reads a statement's canonical bytes. The error is ErrForm for another spelling of the same values, and
// ErrVersion for another version. Unknown members of predicate are ignored, because a later minor version may have
// added them. Unknown members in other places are refused.
func ParseStatement(data []byte) (*Statement, error) {
	if len(data) > MaxEnvelope {
		return nil, fmt.Errorf("%w: a statement of %d bytes, at most %d", ErrForm, len(data), MaxEnvelope)
	}
	doc, err := canon.ParseSparse(data, len(data)/bytesOfValue+64)
	if err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	k, err := checkVersion(doc)
	if err != nil {
		if !doc.PlainKeys() { // no version has such keys
			return nil, fmt.Errorf("%w: statement: a key is not printable ASCII, or is empty", ErrForm)
		}
		return nil, err
	}
	if err := ledger.CheckSpelling(doc, data, belowDecimal); err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	c := canon.Open(doc)
	s := readStatement(c, k, data)
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	return s, nil
}

// bytesOfValue is a lower bound of the average size, in bytes, of a JSON value in a real statement. A text with smaller
// values is refused, because parsing it would take a hundred times its size in memory.
const bytesOfValue = 8

// belowDecimal is the bound of the decimals in a statement: no weight of a policy is above 10, and 10 itself is an
// integer.
const belowDecimal = 10

func readStatement(c *canon.Cursor, k *kind, data []byte) *Statement {
	want := func(key, value string) {
		if f := c.Field(key); f.String() != value {
			f.Failf("want %q", value)
		}
	}
	want("_type", StatementType)
	want("predicateType", k.Predicate)
	s := readPredicate(c.Field("predicate"), k, data)
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

func readPredicate(c *canon.Cursor, k *kind, data []byte) *Statement {
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
		Policy:     k.readPolicy(c.Field("policy"), data),
		AsOf:       dag.Seq(c.Field("asOf").Uint(uint64(dag.MaxSeq))),
		TokenKeyID: c.Field("tokenKeyId").String(),
		IssuedAt:   canon.Parsed(c.Field("issuedAt"), dag.ParseTime),
	}
	if !dag.IsLabel(s.TokenKeyID) {
		c.Field("tokenKeyId").Failf("want [a-z0-9][a-z0-9-]{0,62}")
	}
	log := c.Field("ledger")
	s.Index = log.Field("index").Uint(canon.MaxInt)
	s.Origin = canon.Parsed(log.Field("origin"), parseOrigin)
	log.Close()
	for _, name := range k.Counts {
		s.Counts = append(s.Counts, slice.Count{Name: name, N: c.Field(name).Uint(canon.MaxInt)})
	}
	if k.Redacts {
		s.Redacted = readRedacted(c.Field("redacted"))
	}
	return s
}

// readRedacted reads a list that writeRedacted has written.
func readRedacted(c *canon.Cursor) (list []Redaction) {
	for _, item := range c.Items() {
		r := Redaction{canon.Parsed(item.Field("turn"), dag.ParseTurnID), Why(item.Field("why").String())}
		if r.Why != Erased && r.Why != Withheld {
			item.Field("why").Failf("want %q or %q", Erased, Withheld)
		}
		if n := len(list); n > 0 && list[n-1].Turn.Compare(r.Turn) >= 0 {
			item.Field("turn").Failf("redacted turns are by ascending id, each once")
		}
		item.Close()
		list = append(list, r)
	}
	return list
}

func parseOrigin(s string) (string, error) {
	if !ledger.IsName(s) {
		return "", fmt.Errorf("%w: origin %.200q, want 1 to 255 bytes of printable ASCII without spaces and +", dag.ErrForm, s)
	}
	return s, nil
}

// A MismatchError names the first member, by ascending key, in which a statement and a bundle differ. The digest comes
// last, because it differs whenever anything else does.
type MismatchError struct {
	Member   string // such as predicate.asOf
	Expected string // the value in the statement
	Found    string // the value in the bundle
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("%s: the statement says %s, the bundle %s", e.Member, e.Expected, e.Found)
}

// Match compares the statement with a bundle and the digest of its bytes. The bundle may match as the whole, or as a
// disclosure: then withheld lists, by ascending id, the turns whose text was removed after the bundle was issued. If it
// does not match in either way, the error is a *MismatchError. The bundle must have passed its own Check, which
// compares the texts with their digests.
func (s *Statement) Match(b slice.Outline, digest dag.Digest) (withheld []dag.TurnID, err error) {
	if err := s.matchHead(b.Head()); err != nil {
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

// matchRedacted returns the turns that are redacted in a bundle but not in the statement. A turn that is redacted in
// the statement must be redacted in the bundle.
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

// matchHead compares the members that the bundle's head determines. A bundle shows its head in full even if texts are
// withheld.
func (s *Statement) matchHead(h slice.Head) error {
	if mine, its := kindOf(s.Provenance.SchemaVersion), kindOf(h.Provenance.SchemaVersion); its != nil && mine != its {
		return &MismatchError{"predicateType", mine.Predicate, its.Predicate}
	}
	p, q := &s.Provenance, &h.Provenance
	type compared struct{ name, expected, found string }
	members := []compared{
		{"anchorTurnId", p.Anchor.String(), q.Anchor.String()},
		{"anchorTurnId", p.Anchor.String(), h.Anchor.String()},
		{"asOf", number(s.AsOf), number(h.AsOf)},
		{"graphSnapshotHash", p.GraphSnapshotHash.String(), q.GraphSnapshotHash.String()},
		{"policy", wirePolicy(s.Policy), wirePolicy(h.Policy)},
		{"policyId", string(p.PolicyID), string(q.PolicyID)},
		{"policyParamsHash", p.PolicyParamsHash.String(), q.PolicyParamsHash.String()},
		{"schemaVersion", p.SchemaVersion, q.SchemaVersion},
		{"sliceId", string(p.SliceID), string(q.SliceID)},
		{"tenant", string(s.Tenant), string(h.Seal.Tenant)},
		{"tokenKeyId", s.TokenKeyID, h.Seal.KeyID},
	}
	for _, c := range s.Counts {
		members = append(members, compared{c.Name, number(c.N), number(h.Count(c.Name))})
	}
	slices.SortStableFunc(members, func(a, b compared) int { return strings.Compare(a.name, b.name) })
	for _, m := range members {
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
