package interop_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"testing"

	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// theirs verifies for the library with the standard library alone.
type theirs struct {
	id     string
	verify func(data, sig []byte) bool
}

func (v theirs) KeyID() (string, error)   { return v.id, nil }
func (v theirs) Public() crypto.PublicKey { return nil }
func (v theirs) Verify(_ context.Context, data, sig []byte) error {
	if !v.verify(data, sig) {
		return errors.New("bad signature")
	}
	return nil
}

func ed25519Verifier(key ledger.Key) dsse.Verifier {
	return theirs{key.HexID(), func(data, sig []byte) bool { return ed25519.Verify(key.Public[:], data, sig) }}
}

func ecdsaVerifier(t *testing.T, key attest.SigstoreKey) dsse.Verifier {
	block, _ := pem.Decode([]byte(key.PEM()))
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return theirs{key.ID(), func(data, sig []byte) bool {
		sum := sha256.Sum256(data)
		return ecdsa.VerifyASN1(public.(*ecdsa.PublicKey), sum[:], sig)
	}}
}

func TestPAEAgrees(t *testing.T) {
	for _, c := range [][2]string{{"", ""}, {"a", "b"}, {"application/vnd.in-toto+json", "{}"}, {"ünï", "\x00\xff 12 "}} {
		if got, want := attest.PAE(c[0], []byte(c[1])), dsse.PAE(c[0], []byte(c[1])); !bytes.Equal(got, want) {
			t.Errorf("PAE of %q: %q, the library's is %q", c, got, want)
		}
	}
}

// TestEnvelopes lets go-securesystemslib verify what we sign, with Ed25519 and with ECDSA,
// and refuse it once a bit of the payload or the signature is another one.
func TestEnvelopes(t *testing.T) {
	first, firstKey := attestationHand(1)
	second, secondKey := attestationHand(2)
	sigstore, sigstoreKey := sigstoreHand()
	issued(t, func(t *testing.T, _ []byte, _ *slice.Bundle, s *attest.Statement) {
		payload := s.Append(nil)
		for name, c := range map[string]struct {
			sealed []byte
			by     []dsse.Verifier
		}{
			"one":      {must(attest.Seal(payload, first)), []dsse.Verifier{ed25519Verifier(firstKey)}},
			"two":      {must(attest.Seal(payload, first, second)), []dsse.Verifier{ed25519Verifier(firstKey), ed25519Verifier(secondKey)}},
			"sigstore": {must(attest.Seal(payload, sigstore)), []dsse.Verifier{ecdsaVerifier(t, sigstoreKey)}},
		} {
			verifier := must(dsse.NewMultiEnvelopeVerifier(len(c.by), c.by...))
			var e dsse.Envelope
			if err := json.Unmarshal(c.sealed, &e); err != nil {
				t.Fatal(err)
			}
			accepted, err := verifier.Verify(context.Background(), &e)
			if err != nil || len(accepted) != len(c.by) {
				t.Errorf("%s: %d keys accepted, %v", name, len(accepted), err)
			}
			if got, err := e.DecodeB64Payload(); err != nil || !bytes.Equal(got, payload) || e.PayloadType != attest.PayloadType {
				t.Errorf("%s: payload %q of type %s, %v", name, got, e.PayloadType, err)
			}
			for _, change := range []func(e *dsse.Envelope){
				func(e *dsse.Envelope) { e.Payload = "AA" + e.Payload[2:] },
				func(e *dsse.Envelope) { e.PayloadType += "x" },
				func(e *dsse.Envelope) { e.Signatures[0].Sig = "AAAA" + e.Signatures[0].Sig[4:] },
			} {
				bad := e
				bad.Signatures = append([]dsse.Signature(nil), e.Signatures...)
				change(&bad)
				if _, err := verifier.Verify(context.Background(), &bad); err == nil {
					t.Errorf("%s: accepted when changed", name)
				}
			}
		}
	})
}

// TestTheirEnvelopes reads what go-securesystemslib signs.
func TestTheirEnvelopes(t *testing.T) {
	signer, key := attestationHand(1)
	theirSigner := must(dsse.NewEnvelopeSigner(signs{signer, ed25519Verifier(key)}))
	e := must(theirSigner.SignPayload(context.Background(), attest.PayloadType, []byte("{}")))
	ours := must(attest.ParseEnvelope(must(attest.Seal([]byte("{}"), signer))))
	if got := e.Signatures[0].Sig; len(ours.Signatures()) != 1 || got != signatureText(t, ours) {
		t.Errorf("the library's signature of the same payload is %s", got)
	}
}

// signs is one of our signers as the library wants it.
type signs struct {
	by attest.Signer
	dsse.Verifier
}

func (s signs) Sign(_ context.Context, data []byte) ([]byte, error) { return s.by.Sign(data) }

func signatureText(t *testing.T, e *attest.Envelope) string {
	var text struct{ Signatures []struct{ Sig string } }
	if err := json.Unmarshal(e.Append(nil), &text); err != nil {
		t.Fatal(err)
	}
	return text.Signatures[0].Sig
}

// TestStatements lets in-toto's own type read and validate our statements.
func TestStatements(t *testing.T) {
	issued(t, func(t *testing.T, _ []byte, _ *slice.Bundle, s *attest.Statement) {
		var their intoto.Statement
		if err := protojson.Unmarshal(s.Append(nil), &their); err != nil {
			t.Fatal(err)
		}
		if err := their.Validate(); err != nil {
			t.Error(err)
		}
		if their.GetType() != intoto.StatementTypeUri || their.GetPredicateType() != slice.Bundles.Forms[0].Predicate || their.GetSubject()[0].GetName() != s.Name() ||
			their.GetSubject()[0].GetDigest()["sha256"] != s.Subject.String() || their.GetPredicate().GetFields()["sliceId"].GetStringValue() != string(s.Provenance.SliceID) {
			t.Errorf("read as %v", &their)
		}
		their.Subject[0].Digest["sha256"] = "00"
		if their.Validate() == nil {
			t.Error("Validate accepts a digest of one byte: it looks at nothing")
		}
	})
}
