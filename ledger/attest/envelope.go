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

// The types of payloads that envelopes hold here. A signature covers the type, so that no payload can be taken for one of another type.
const (
	PayloadType = "application/vnd.in-toto+json"             // a statement
	PersonaType = "application/vnd.graphkernel.persona+json" // a persona, as package belief/persona has it
)

// MaxEnvelope bounds the bytes of an envelope, and MaxSignatures the signatures in it. A
// statement has some hundred bytes for each redacted turn, of which there are at
// most 10 000.
const (
	MaxEnvelope   = 8 << 20
	MaxSignatures = 16
)

// A Signature is one of an envelope's. KeyID is outside the signature: it says whose key
// to try and nothing else.
type Signature struct {
	KeyID string
	Sig   []byte
}

// An Envelope is a payload with signatures, as it was read. Nothing in it is believed yet:
// Verify gives the payload.
type Envelope struct {
	of         string // the payload's type
	payload    []byte
	signatures []Signature
}

// PAE is what an envelope's signatures are taken of: the type and the payload, each with
// its length, so that no type and payload give the bytes of other ones.
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

// Seal signs a payload of PayloadType and returns the envelope's canonical bytes, its
// signatures in the order of the signers. What it returns ParseEnvelope reads.
func Seal(payload []byte, signers ...Signer) ([]byte, error) {
	return SealAs(PayloadType, payload, signers...)
}

// SealAs is Seal for a payload of another type, which ParseEnvelopeOf reads.
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

// Append appends the envelope's canonical form: of one that was read, the bytes that it
// was read from.
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

// ParseEnvelope reads an envelope's canonical bytes; anything else, another spelling of
// its base64 included, is ErrForm.
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
	if !bytes.Equal(e.Append(make([]byte, 0, len(data))), data) { // line breaks in base64, too
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

// Unverified returns the payload as it was read, which nobody may have signed: for a look at
// its form, and for nothing else.
func (e *Envelope) Unverified() []byte { return slices.Clone(e.payload) }

// Signatures returns the envelope's signatures as they were read, unverified.
func (e *Envelope) Signatures() []Signature { return slices.Clone(e.signatures) }

// Verify returns the payload that trusted keys signed, and their ids in the order of the
// signatures, each once. trusted looks a key up by its id (see ledger.Key.HexID);
// signatures by others are passed over. None by a trusted key is ErrKeyUnknown, and one by
// a trusted key that does not verify is ledger.ErrSignature, whatever the others are. The
// payload is the one place to read the statement from: it is what was verified.
func (e *Envelope) Verify(trusted func(keyID string) (ledger.Key, bool)) (payload []byte, keyIDs []string, err error) {
	message := PAE(e.of, e.payload)
	for _, s := range e.signatures {
		key, ok := trusted(s.KeyID)
		if !ok {
			continue
		}
		if key.HexID() != s.KeyID {
			return nil, nil, fmt.Errorf("%w: key %s was looked up, and another one found", ErrForm, s.KeyID)
		}
		if err := CheckSignature(key, message, s.Sig); err != nil {
			return nil, nil, err
		}
		if !slices.Contains(keyIDs, s.KeyID) {
			keyIDs = append(keyIDs, s.KeyID)
		}
	}
	if len(keyIDs) == 0 {
		return nil, nil, fmt.Errorf("%w: %d signatures, none by a key that is trusted", ErrKeyUnknown, len(e.signatures))
	}
	return slices.Clone(e.payload), keyIDs, nil
}
