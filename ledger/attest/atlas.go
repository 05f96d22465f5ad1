package attest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
)

// AtlasForm is the version of the documents in the manifests of this package, and AtlasPredicateType the predicate type
// of the statements about them.
const (
	AtlasForm          = "gka/1"
	AtlasPredicateType = "https://github.com/graphkernel/graphkernel/attestation/atlas/v1"
)

// A Manifest is an atlas as one parsed document: {"document":OBJECT,"envelope":ENVELOPE,"sha256":HEX}, in canonical
// form. The envelope may be absent. Nothing in it is verified yet.
type Manifest struct {
	Document []byte     // canonical JSON
	Envelope []byte     // nil: not signed
	SHA256   dag.Digest // the digest that the manifest states; Digest computes it

	// The tenant and the snapshot that the document states.
	Tenant dag.Tenant
	AsOf   dag.Seq
	Issued uint64
}

// Digest returns the digest of the document.
func (m *Manifest) Digest() dag.Digest { return sha256.Sum256(m.Document) }

// Append appends the manifest's canonical form.
func (m *Manifest) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("document")
	w.Raw(m.Document)
	if m.Envelope != nil {
		w.Key("envelope")
		w.Raw(m.Envelope)
	}
	w.Key("sha256")
	w.Hex(m.SHA256[:])
	w.EndObject()
	return w.Bytes
}

// ParseManifest reads a manifest. The error is ErrForm, and names the part (document, envelope or sha256), if it is not
// in canonical form, and ErrVersion if the document has another version. It does not parse the envelope; ParseEnvelope
// does.
func ParseManifest(data []byte) (*Manifest, error) {
	parts := make([][]byte, 3)
	err := canon.Members(data, []string{"document", "envelope", "sha256"}, parts)
	if err != nil && canon.Members(data, []string{"document", "sha256"}, parts[:2]) == nil {
		parts, err = [][]byte{parts[0], nil, parts[1]}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: want an object with document, envelope and sha256: %w", ErrForm, err)
	}
	m := &Manifest{Document: parts[0], Envelope: parts[1]}
	digest, err := canon.Parse(parts[2])
	if err == nil && digest.Kind != canon.String {
		err = errors.New("want a string")
	}
	if err == nil {
		m.SHA256, err = dag.ParseDigest(digest.Text)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: sha256: %w", ErrForm, err)
	}
	if err := m.read(); err != nil {
		return nil, err
	}
	if !bytes.Equal(m.Append(make([]byte, 0, len(data))), data) {
		return nil, fmt.Errorf("%w: sha256: it is not in canonical form", ErrForm)
	}
	return m, nil
}

// read reads the tenant and the snapshot from the document.
func (m *Manifest) read() error {
	doc, err := canon.Parse(m.Document)
	if err != nil {
		return fmt.Errorf("%w: document: %w", ErrForm, err)
	}
	if !bytes.Equal(canon.AppendValue(make([]byte, 0, len(m.Document)), doc), m.Document) {
		return fmt.Errorf("%w: document: it is not canonical JSON", ErrForm)
	}
	if said := stringAt(doc, "form"); said != nil && *said != AtlasForm {
		return unknown("document.form", *said, AtlasForm)
	}
	c := canon.Open(doc)
	c.Field("form")
	m.Tenant = canon.Parsed(c.Field("tenant"), dag.ParseTenant)
	of := c.Field("snapshot")
	m.AsOf, m.Issued = dag.Seq(of.Field("as_of").Uint(uint64(dag.MaxSeq))), of.Field("issued").Uint(uint64(dag.MaxSeq))
	if err := c.Err(); err != nil {
		return fmt.Errorf("%w: document: %w", ErrForm, err)
	}
	return nil
}

// An AtlasStatement is a kernel's statement about an atlas.
type AtlasStatement struct {
	Tenant  dag.Tenant
	AsOf    dag.Seq
	Issued  uint64
	Origin  string     // the origin of the tenant's log, under which the key signs
	Subject dag.Digest // the digest of the document
}

// Append appends the statement's canonical form.
func (s *AtlasStatement) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("_type")
	w.String(StatementType)
	w.Key("predicate")
	w.BeginObject()
	w.Key("as_of")
	w.Uint(uint64(s.AsOf))
	w.Key("issued")
	w.Uint(s.Issued)
	w.Key("origin")
	w.String(s.Origin)
	w.Key("tenant")
	w.String(string(s.Tenant))
	w.EndObject()
	w.Key("predicateType")
	w.String(AtlasPredicateType)
	w.Key("subject")
	w.BeginArray()
	w.BeginObject()
	w.Key("digest")
	w.BeginObject()
	w.Key("sha256")
	w.Hex(s.Subject[:])
	w.EndObject()
	w.Key("name")
	w.String("atlas-" + strconv.FormatUint(uint64(s.AsOf), 10) + ".json")
	w.EndObject()
	w.EndArray()
	w.EndObject()
	return w.Bytes
}

// ParseAtlasStatement reads a statement's canonical bytes. The error is ErrVersion for another version, and ErrForm for
// anything else.
func ParseAtlasStatement(data []byte) (*AtlasStatement, error) {
	doc, err := canon.ParseSparse(data, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	for member, known := range map[string]string{"_type": StatementType, "predicateType": AtlasPredicateType} {
		if said := stringAt(doc, member); said != nil && *said != known {
			return nil, unknown(member, *said, known)
		}
	}
	c := canon.Open(doc)
	s := &AtlasStatement{}
	predicate := c.Field("predicate")
	s.AsOf, s.Issued = dag.Seq(predicate.Field("as_of").Uint(uint64(dag.MaxSeq))), predicate.Field("issued").Uint(uint64(dag.MaxSeq))
	s.Origin, s.Tenant = predicate.Field("origin").String(), canon.Parsed(predicate.Field("tenant"), dag.ParseTenant)
	subjects := c.Field("subject")
	if items := subjects.Items(); len(items) == 1 {
		s.Subject = canon.Parsed(items[0].Field("digest").Field("sha256"), dag.ParseDigest)
	} else {
		subjects.Failf("%d subjects, want 1", len(items))
	}
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: statement: %w", ErrForm, err)
	}
	if !bytes.Equal(s.Append(nil), data) {
		return nil, fmt.Errorf("%w: statement: it has unknown members or is not in canonical form", ErrForm)
	}
	return s, nil
}

// Match compares the statement with a manifest. The error for a difference is a *MismatchError.
func (s *AtlasStatement) Match(m *Manifest) error {
	digest := m.Digest()
	for _, c := range []MismatchError{
		{"subject", hex.EncodeToString(s.Subject[:]), hex.EncodeToString(digest[:])},
		{"predicate.tenant", string(s.Tenant), string(m.Tenant)},
		{"predicate.as_of", strconv.FormatUint(uint64(s.AsOf), 10), strconv.FormatUint(uint64(m.AsOf), 10)},
		{"predicate.issued", strconv.FormatUint(s.Issued, 10), strconv.FormatUint(m.Issued, 10)},
	} {
		if c.Expected != c.Found {
			return &c
		}
	}
	return nil
}
