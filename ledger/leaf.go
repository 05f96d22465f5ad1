package ledger

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/policy"
	"github.com/graphkernel/graphkernel/slice"
)

// Version is the version of the leaves that this package writes.
const Version = "gkl/1"

// A Kind is the type of a leaf, as it is written.
type Kind string

// The kinds of leaves. A reader skips those that it does not know.
const (
	KindSlice    Kind = "slice"
	KindFacts    Kind = "facts"
	KindPolicy   Kind = "policy"
	KindErasure  Kind = "erasure"
	KindKey      Kind = "key"
	KindSigstore Kind = "hashedrekord" // in Sigstore's own form
)

// A SliceLeaf says that a bundle was handed out.
type SliceLeaf struct {
	Tenant     dag.Tenant
	Provenance slice.Provenance
	AsOf       dag.Seq
	KeyID      string     // of the token; the token itself is nobody's business
	Bundle     dag.Digest // SHA-256 of the bundle's bytes
	At         dag.Time   // when it was first issued
}

// Append appends the leaf's canonical form.
func (l *SliceLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(l.AsOf))
	w.Key("at")
	w.String(l.At.String())
	w.Key("bundle")
	w.String(l.Bundle.String())
	w.Key("key_id")
	w.String(l.KeyID)
	w.Key("provenance")
	l.Provenance.AppendWire(w)
	end(w, l.Tenant, KindSlice)
	return w.Bytes
}

// A FactsLeaf says that a bundle of facts was handed out. Beside the bundle's digest it has
// nothing that follows from what was asked: entities may be people, a ledger forgets nothing,
// and whoever knew a hash of the question could try out names at it. The digest is of the
// token too, which nobody guesses.
type FactsLeaf struct {
	Tenant           dag.Tenant
	PolicyID         policy.ID
	PolicyParamsHash dag.Digest
	AsOf             dag.Seq
	KeyID            string     // of the token
	Bundle           dag.Digest // SHA-256 of the bundle's bytes
	At               dag.Time   // when it was first issued
}

// Append appends the leaf's canonical form.
func (l *FactsLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(l.AsOf))
	w.Key("at")
	w.String(l.At.String())
	w.Key("bundle")
	w.String(l.Bundle.String())
	w.Key("key_id")
	w.String(l.KeyID)
	w.Key("policy_id")
	w.String(string(l.PolicyID))
	w.Key("policy_params_hash")
	w.String(l.PolicyParamsHash.String())
	end(w, l.Tenant, KindFacts)
	return w.Bytes
}

// A PolicyLeaf says that a policy was registered.
type PolicyLeaf struct {
	Tenant dag.Tenant
	ID     policy.ID
	Hash   dag.Digest
}

// Append appends the leaf's canonical form.
func (l *PolicyLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("policy_id")
	w.String(string(l.ID))
	w.Key("policy_params_hash")
	w.String(l.Hash.String())
	end(w, l.Tenant, KindPolicy)
	return w.Bytes
}

// An ErasureLeaf says that a turn's body was deleted. The reason is not in it: it is
// free text.
type ErasureLeaf struct {
	Tenant dag.Tenant
	Turn   dag.TurnID
	Seq    dag.Seq // of the event
	At     dag.Time
}

// Append appends the leaf's canonical form.
func (l *ErasureLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("at")
	w.String(l.At.String())
	w.Key("seq")
	w.Uint(uint64(l.Seq))
	w.Key("tenant")
	w.String(string(l.Tenant))
	w.Key("turn")
	w.String(l.Turn.String())
	w.Key("type")
	w.String(string(KindErasure))
	w.Key("version")
	w.String(Version)
	w.EndObject()
	return w.Bytes
}

// A Purpose says what a key is for.
type Purpose string

// The purposes.
const (
	PurposeToken       Purpose = "token"       // signs slices with HMAC; the id alone is known
	PurposeAttestation Purpose = "attestation" // signs envelopes; its public key is in the leaf
	PurposeAPI         Purpose = "api"         // opens the service
)

// A KeyAct is what happened to a key.
type KeyAct string

// The acts.
const (
	KeyCreated KeyAct = "created"
	KeyRetired KeyAct = "retired" // or revoked
)

// A KeyLeaf says that a key came or went. It holds no secret.
type KeyLeaf struct {
	Tenant    dag.Tenant
	Purpose   Purpose
	Event     KeyAct
	KeyID     string
	PublicKey []byte // 32 bytes; of PurposeAttestation alone
	At        dag.Time
}

// Append appends the leaf's canonical form.
func (l *KeyLeaf) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("at")
	w.String(l.At.String())
	w.Key("event")
	w.String(string(l.Event))
	w.Key("key_id")
	w.String(l.KeyID)
	if l.Purpose == PurposeAttestation {
		w.Key("public_key")
		w.String(base64.StdEncoding.EncodeToString(l.PublicKey))
	}
	w.Key("purpose")
	w.String(string(l.Purpose))
	end(w, l.Tenant, KindKey)
	return w.Bytes
}

// end ends a leaf with what all of them end with.
func end(w *canon.Writer, tenant dag.Tenant, kind Kind) {
	w.Key("tenant")
	w.String(string(tenant))
	w.Key("type")
	w.String(string(kind))
	w.Key("version")
	w.String(Version)
	w.EndObject()
}

// A Leaf is one that was read: a *SliceLeaf, *FactsLeaf, *PolicyLeaf, *ErasureLeaf or *KeyLeaf, or
// Foreign if it is of a kind or a version that is not known here.
type Leaf interface{ Append(dst []byte) []byte }

// Foreign is a leaf that this package does not know.
type Foreign []byte

// Append appends the leaf as it is.
func (f Foreign) Append(dst []byte) []byte { return append(dst, f...) }

// ParseLeaf reads a leaf's canonical bytes. A known leaf that is not of its form is ErrForm.
func ParseLeaf(data []byte) (Leaf, error) {
	doc, kind, err := openLeaf(data)
	if err != nil {
		return nil, err
	}
	if err := checkLeafVersion(doc, kind); err != nil {
		return Foreign(data), nil
	}
	c := canon.Open(doc)
	c.Field("type")
	if f := c.Field("version"); f.String() != Version {
		f.Failf("want %q", Version)
	}
	var l Leaf
	switch kind {
	case KindSlice:
		l = readSlice(c)
	case KindFacts:
		l = readFacts(c)
	case KindPolicy:
		l = &PolicyLeaf{Tenant: readTenant(c), ID: canon.Parsed(c.Field("policy_id"), policy.ParseID),
			Hash: canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest)}
	case KindErasure:
		l = &ErasureLeaf{Tenant: readTenant(c), Turn: canon.Parsed(c.Field("turn"), dag.ParseTurnID),
			Seq: dag.Seq(c.Field("seq").Uint(uint64(dag.MaxSeq))), At: canon.Parsed(c.Field("at"), dag.ParseTime)}
	case KindKey:
		l = readKey(c)
	default:
		return Foreign(data), nil
	}
	c.Close()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: leaf: %w", ErrForm, err)
	}
	if string(l.Append(nil)) != string(data) {
		return nil, fmt.Errorf("%w: the leaf is not as it would be written", ErrForm)
	}
	return l, nil
}

// ParseKind reads the type of a leaf: canonical JSON of an object. A leaf without one is of
// kind "".
func ParseKind(data []byte) (Kind, error) {
	_, kind, err := openLeaf(data)
	return kind, err
}

func openLeaf(data []byte) (*canon.Value, Kind, error) {
	if len(data) > MaxLeaf {
		return nil, "", fmt.Errorf("%w: a leaf of %d bytes, at most %d", ErrForm, len(data), MaxLeaf)
	}
	doc, err := canon.Parse(data)
	if err != nil {
		return nil, "", fmt.Errorf("%w: leaf: %w", ErrForm, err)
	}
	if doc.Kind != canon.Object {
		return nil, "", fmt.Errorf("%w: a leaf is an object", ErrForm)
	}
	if err := CheckSpelling(doc, data); err != nil {
		return nil, "", fmt.Errorf("%w: leaf: %w", ErrForm, err)
	}
	if kind := doc.Get("type"); kind != nil && kind.Kind == canon.String {
		return doc, Kind(kind.Text), nil
	}
	return doc, "", nil
}

// checkLeafVersion reports ErrVersion if a leaf of a known kind names another version, its own or
// that of the slice. The version is looked at before anything else, since a later one may have
// other members. A version that is absent is for the reader to refuse.
func checkLeafVersion(doc *canon.Value, kind Kind) error {
	other := func(in *canon.Value, key, known string) error {
		if in == nil {
			return nil
		}
		if v := in.Get(key); v != nil && v.Kind == canon.String && v.Text != known {
			return fmt.Errorf("%w: a leaf whose %s is %.40q, this program knows %q", ErrVersion, key, v.Text, known)
		}
		return nil
	}
	switch kind {
	case KindSlice, KindFacts, KindPolicy, KindErasure, KindKey:
	default:
		return nil
	}
	if err := other(doc, "version", Version); err != nil || kind != KindSlice {
		return err
	}
	return other(doc.Get("provenance"), "schema_version", slice.SchemaVersion)
}

func readTenant(c *canon.Cursor) dag.Tenant { return canon.Parsed(c.Field("tenant"), dag.ParseTenant) }

func readSlice(c *canon.Cursor) *SliceLeaf {
	return &SliceLeaf{
		Tenant: readTenant(c), AsOf: dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))), KeyID: readKeyID(c),
		Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), At: canon.Parsed(c.Field("at"), dag.ParseTime),
		Provenance: slice.ReadProvenance(c.Field("provenance")),
	}
}

func readFacts(c *canon.Cursor) *FactsLeaf {
	return &FactsLeaf{
		Tenant: readTenant(c), AsOf: dag.Seq(c.Field("as_of").Uint(uint64(dag.MaxSeq))), KeyID: readKeyID(c),
		Bundle: canon.Parsed(c.Field("bundle"), dag.ParseDigest), At: canon.Parsed(c.Field("at"), dag.ParseTime),
		PolicyID: canon.Parsed(c.Field("policy_id"), policy.ParseID), PolicyParamsHash: canon.Parsed(c.Field("policy_params_hash"), dag.ParseDigest),
	}
}

// readKeyID reads the id of a token's key.
func readKeyID(c *canon.Cursor) string {
	f := c.Field("key_id")
	if id := f.String(); dag.IsLabel(id) {
		return id
	}
	f.Failf("want [a-z0-9][a-z0-9-]{0,62}")
	return ""
}

func readKey(c *canon.Cursor) *KeyLeaf {
	l := &KeyLeaf{
		Tenant: readTenant(c), Purpose: Purpose(c.Field("purpose").String()), Event: KeyAct(c.Field("event").String()),
		KeyID: c.Field("key_id").String(), At: canon.Parsed(c.Field("at"), dag.ParseTime),
	}
	if l.Event != KeyCreated && l.Event != KeyRetired {
		c.Field("event").Failf("want created or retired")
	}
	switch l.Purpose {
	case PurposeToken, PurposeAPI:
		if len(l.KeyID) == 0 || len(l.KeyID) > 128 {
			c.Field("key_id").Failf("want 1 to 128 bytes")
		}
	case PurposeAttestation:
		key, err := base64.StdEncoding.Strict().DecodeString(c.Field("public_key").String())
		if err != nil || len(key) != 32 {
			c.Field("public_key").Failf("want 32 bytes of base64")
		}
		if id, err := hex.DecodeString(l.KeyID); err != nil || len(id) != 32 {
			c.Field("key_id").Failf("want 64 hex digits")
		}
		l.PublicKey = key
	default:
		c.Field("purpose").Failf("want attestation, api or token")
	}
	return l
}

// CheckLeaf reports ErrForm unless the bytes can stand in a log: canonical JSON of an
// object, and if of a kind and version that is known, then of its form.
func CheckLeaf(data []byte) error {
	_, err := ParseLeaf(data)
	return err
}

// Version reports ErrVersion if the leaf is of a kind that is known here and of a version
// that is not.
func (f Foreign) Version() error {
	doc, kind, err := openLeaf(f)
	if err != nil {
		return err
	}
	return checkLeafVersion(doc, kind)
}
