package ledger

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// Version is the version of the leaves that this package writes.
const Version = "gkl/1"

// A Kind is the type of a leaf, as in its JSON.
type Kind string

// The kinds of leaves that every reader of a ledger knows, and the kind of Sigstore's leaves. A reader skips kinds that
// it does not know.
const (
	KindErasure  Kind = "erasure"
	KindKey      Kind = "key"
	KindSigstore Kind = "hashedrekord" // in Sigstore's own form
)

// An ErasureLeaf records that a turn's body was deleted. It does not contain the reason, which is free text.
type ErasureLeaf struct {
	Tenant dag.Tenant
	Turn   dag.TurnID
	Seq    dag.Seq // the number of the event
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

// A Purpose says what a key is used for.
type Purpose string

// The purposes.
const (
	PurposeToken       Purpose = "token"       // signs slices with HMAC; only its id is public
	PurposeAttestation Purpose = "attestation" // signs envelopes; its public key is in the leaf
	PurposeAPI         Purpose = "api"         // gives access to the service
)

// A KeyAct is an event in the life of a key.
type KeyAct string

// The acts.
const (
	KeyCreated KeyAct = "created"
	KeyRetired KeyAct = "retired" // or revoked
)

// A KeyLeaf records that a key was created or retired. It contains no secret.
type KeyLeaf struct {
	Tenant    dag.Tenant
	Purpose   Purpose
	Event     KeyAct
	KeyID     string
	PublicKey []byte // 32 bytes; only for PurposeAttestation
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
	EndLeaf(w, l.Tenant, KindKey)
	return w.Bytes
}

// EndLeaf writes tenant, type and version, the last members of most kinds of leaves, and ends the object.
func EndLeaf(w *canon.Writer, tenant dag.Tenant, kind Kind) {
	w.Key("tenant")
	w.String(string(tenant))
	w.Key("type")
	w.String(string(kind))
	w.Key("version")
	w.String(Version)
	w.EndObject()
}

// A Leaf is a parsed leaf: an *ErasureLeaf or *KeyLeaf, the type that a Form returns, or Foreign if its kind or version
// is not known.
type Leaf interface{ Append(dst []byte) []byte }

// A Form describes how the leaves of one kind are read.
type Form struct {
	Kind Kind
	Read func(c *canon.Cursor) Leaf // reads all members except type and version
	// Version returns ErrVersion if a part of the leaf has an unknown version. It is called before Read, and may be nil.
	Version func(doc *canon.Value) error
}

// own returns the forms of this package's leaves.
func own() []Form {
	return []Form{{Kind: KindErasure, Read: readErasure}, {Kind: KindKey, Read: readKey}}
}

// Foreign is a leaf of an unknown kind or version.
type Foreign struct {
	Bytes   []byte
	Version error // ErrVersion if the kind is known but the version is not
}

// Append appends the unchanged bytes of the leaf.
func (f Foreign) Append(dst []byte) []byte { return append(dst, f.Bytes...) }

// ParseLeaf reads a leaf's canonical bytes: a JSON object. It knows the kinds of this package and the kinds of forms.
// The error for a leaf of a known kind that does not have its form is ErrForm.
func ParseLeaf(data []byte, forms ...Form) (Leaf, error) {
	doc, kind, err := openLeaf(data)
	if err != nil {
		return nil, err
	}
	form, ok := formOf(kind, forms)
	if !ok {
		return Foreign{Bytes: data}, nil
	}
	if err := form.checkVersion(doc); err != nil {
		return Foreign{data, err}, nil
	}
	c := canon.Open(doc)
	c.Field("type")
	if f := c.Field("version"); f.String() != Version {
		f.Failf("want %q", Version)
	}
	l := form.Read(c)
	c.Close()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: leaf: %w", ErrForm, err)
	}
	if string(l.Append(nil)) != string(data) {
		return nil, fmt.Errorf("%w: the leaf differs from the one that this program would write", ErrForm)
	}
	return l, nil
}

func formOf(kind Kind, forms []Form) (Form, bool) {
	for _, list := range [][]Form{own(), forms} {
		for _, f := range list {
			if f.Kind == kind {
				return f, true
			}
		}
	}
	return Form{}, false
}

// checkVersion returns ErrVersion if the leaf names another version. The version is checked before anything else,
// because another version may have other members.
func (f *Form) checkVersion(doc *canon.Value) error {
	if err := CheckVersion(doc, "version", Version); err != nil || f.Version == nil {
		return err
	}
	return f.Version(doc)
}

// CheckVersion returns ErrVersion if a member of a leaf, or of an object in it, names a version that is not in known.
// It accepts an absent version; the reader must refuse it.
func CheckVersion(in *canon.Value, key string, known ...string) error {
	if in == nil {
		return nil
	}
	if v := in.Get(key); v != nil && v.Kind == canon.String && !slices.Contains(known, v.Text) {
		return fmt.Errorf("%w: the %s of the leaf is %.40q, this program knows %q", ErrVersion, key, v.Text, strings.Join(known, ", "))
	}
	return nil
}

// ParseKind returns the kind of a leaf in canonical JSON; the kind of a leaf without a type is "".
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
		return nil, "", fmt.Errorf("%w: a leaf must be a JSON object", ErrForm)
	}
	if err := CheckSpelling(doc, data, 1); err != nil {
		return nil, "", fmt.Errorf("%w: leaf: %w", ErrForm, err)
	}
	if kind := doc.Get("type"); kind != nil && kind.Kind == canon.String {
		return doc, Kind(kind.Text), nil
	}
	return doc, "", nil
}

func readErasure(c *canon.Cursor) Leaf {
	return &ErasureLeaf{
		Tenant: readTenant(c), Turn: canon.Parsed(c.Field("turn"), dag.ParseTurnID),
		Seq: dag.Seq(c.Field("seq").Uint(uint64(dag.MaxSeq))), At: canon.Parsed(c.Field("at"), dag.ParseTime),
	}
}

func readTenant(c *canon.Cursor) dag.Tenant { return canon.Parsed(c.Field("tenant"), dag.ParseTenant) }

func readKey(c *canon.Cursor) Leaf {
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
