package attest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
)

// The types of the payloads in envelopes. A signature covers the type, so that no payload can be mistaken for one of
// another type.
const (
	PayloadType = "application/vnd.in-toto+json"             // a statement
	PersonaType = "application/vnd.graphkernel.persona+json" // a persona, as package belief/persona defines it
)

// MaxEnvelope is the maximum size of an envelope in bytes, and MaxSignatures the maximum number of its signatures. A
// statement has some hundred bytes for each redacted turn, and at most 10 000 redacted turns.
const (
	MaxEnvelope   = 8 << 20
	MaxSignatures = 16
)

// A Signature is one signature of an envelope. It does not cover KeyID, which only says which key to try.
type Signature struct {
	KeyID string
	Sig   []byte
}

// An Envelope is a parsed payload with signatures. Nothing in it is verified yet: Verify returns the verified payload.
type Envelope struct {
	of         string // the payload's type
	payload    []byte
	signatures []Signature
}

// PAE returns the message that an envelope's signatures sign: the type and the payload, each with its length, so that
// different types and payloads never produce the same bytes.
// Source: DSSE v1.0, protocol, "signature definition".
func PAE(payloadType string, payload []byte) []byte {
	dst := make([]byte, 0, len(payload)+len(payloadType)+64)
	dst = append(dst, "DSSEv1 "...)
	dst = strconv.AppendInt(dst, int64(len(payloadType)), 10)
	dst = append(dst, ' ')
	dst = append(dst, payloadType...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(len(payload)), 10)
	dst = append(dst, ' ')
	return append(dst, payload...)
}

// Seal signs a payload of PayloadType and returns the envelope's canonical bytes, with the signatures in the order of
// the signers. ParseEnvelope reads them.
func Seal(payload []byte, signers ...Signer) ([]byte, error) {
	return SealAs(PayloadType, payload, signers...)
}

// SealAs is Seal for a payload of another type. ParseEnvelopeOf reads the result.
func SealAs(payloadType string, payload []byte, signers ...Signer) ([]byte, error) {
	e := Envelope{of: payloadType, payload: payload}
	message := PAE(payloadType, payload)
	for _, s := range signers {
		sig, err := s.Sign(message)
		if err != nil {
			return nil, fmt.Errorf("attest: signing with key %s: %w", s.KeyID(), err)
		}
		e.signatures = append(e.signatures, Signature{s.KeyID(), sig})
	}
	if len(signers) > MaxSignatures {
		return nil, fmt.Errorf("%w: %d signatures, at most %d", ErrForm, len(signers), MaxSignatures)
	}
	data := e.Append(nil)
	if len(data) > MaxEnvelope {
		return nil, fmt.Errorf("%w: an envelope of %d bytes, at most %d", ErrForm, len(data), MaxEnvelope)
	}
	return data, nil
}

// Append appends the envelope's canonical form. For a parsed envelope, that is the parsed bytes.
func (e *Envelope) Append(dst []byte) []byte {
	w := canon.NewWriter(dst)
	e.write(w)
	return w.Bytes
}

func (e *Envelope) write(w *canon.Writer) {
	w.BeginObject()
	w.Key("payload")
	writeBase64(w, e.payload)
	w.Key("payloadType")
	w.String(e.of)
	w.Key("signatures")
	w.BeginArray()
	for _, s := range e.signatures {
		w.BeginObject()
		w.Key("keyid")
		w.String(s.KeyID)
		w.Key("sig")
		writeBase64(w, s.Sig)
		w.EndObject()
	}
	w.EndArray()
	w.EndObject()
}

func writeBase64(w *canon.Writer, b []byte) { w.String(base64.StdEncoding.EncodeToString(b)) }

// ParseEnvelope reads an envelope's canonical bytes. The error for anything else, including another spelling of its
// base64, is ErrForm.
func ParseEnvelope(data []byte) (*Envelope, error) { return ParseEnvelopeOf(PayloadType, data) }

// ParseEnvelopeOf is ParseEnvelope for a payload of another type.
func ParseEnvelopeOf(payloadType string, data []byte) (*Envelope, error) {
	if len(data) > MaxEnvelope {
		return nil, fmt.Errorf("%w: an envelope of %d bytes, at most %d", ErrForm, len(data), MaxEnvelope)
	}
	doc, err := canon.ParseSparse(data, 8+3*MaxSignatures+64)
	if err != nil {
		return nil, fmt.Errorf("%w: envelope: %w", ErrForm, err)
	}
	c := canon.Open(doc)
	e := &Envelope{of: payloadType, payload: readBase64(c.Field("payload"))}
	if t := c.Field("payloadType"); t.String() != payloadType {
		t.Failf("want %q", payloadType)
	}
	list := c.Field("signatures")
	items := list.Items()
	if len(items) > MaxSignatures {
		list.Failf("%d signatures, at most %d", len(items), MaxSignatures)
	}
	for _, item := range items {
		e.signatures = append(e.signatures, Signature{item.Field("keyid").String(), readBase64(item.Field("sig"))})
		item.Close()
	}
	c.Close()
	if err := c.Err(); err != nil {
		return nil, fmt.Errorf("%w: envelope: %w", ErrForm, err)
	}
	if !bytes.Equal(e.Append(make([]byte, 0, len(data))), data) { // also refuses line breaks in base64
		return nil, fmt.Errorf("%w: the envelope is not in canonical form", ErrForm)
	}
	return e, nil
}

func readBase64(c *canon.Cursor) []byte {
	text := c.String()
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		c.Failf("want base64 with padding: %w", err)
	}
	return b
}

// Unverified returns the payload without verifying any signature. Use it only to check its form.
func (e *Envelope) Unverified() []byte { return slices.Clone(e.payload) }

// Signatures returns the envelope's signatures, unverified.
func (e *Envelope) Signatures() []Signature { return slices.Clone(e.signatures) }

// Verify returns the payload that trusted keys signed, and their ids without repetitions, in the order of the
// signatures. trusted returns the key with an id (see ledger.Key.HexID); signatures by other keys are ignored. The
// error is ErrKeyUnknown if no trusted key signed, and ledger.ErrSignature if a trusted key's signature does not
// verify, regardless of other signatures. Read the statement from the returned payload only: it is the one that was
// verified.
func (e *Envelope) Verify(trusted func(keyID string) (ledger.Key, bool)) (payload []byte, keyIDs []string, err error) {
	message := PAE(e.of, e.payload)
	for _, s := range e.signatures {
		key, ok := trusted(s.KeyID)
		if !ok {
			continue
		}
		if key.HexID() != s.KeyID {
			return nil, nil, fmt.Errorf("%w: the lookup of key %s returned another key", ErrForm, s.KeyID)
		}
		if err := CheckSignature(key, message, s.Sig); err != nil {
			return nil, nil, err
		}
		if !slices.Contains(keyIDs, s.KeyID) {
			keyIDs = append(keyIDs, s.KeyID)
		}
	}
	if len(keyIDs) == 0 {
		if len(e.signatures) == 1 {
			return nil, nil, fmt.Errorf("%w: it has 1 signature, which is not by a trusted key", ErrKeyUnknown)
		}
		return nil, nil, fmt.Errorf("%w: it has %d signatures, none of them by a trusted key", ErrKeyUnknown, len(e.signatures))
	}
	return slices.Clone(e.payload), keyIDs, nil
}
