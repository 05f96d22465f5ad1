package attest

import (
	"encoding/base64"
	"fmt"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
)

// KeysVersion is the version of the document that AppendKeys writes.
const KeysVersion = "gkk/1"

// A DatedKey is an attestation key with the times of its creation and retirement in the ledger.
type DatedKey struct {
	Key     ledger.Key
	Created dag.Time
	Retired *dag.Time // nil: the key signs
}

// Keys is the list of public keys that a kernel publishes. It helps a person to write a trust file; a verifier must not
// trust it by itself.
type Keys struct {
	Name        string       // the kernel's name
	Logs        []ledger.Key // one for each tenant in the list
	Attestation []DatedKey
	Sigstore    *SigstoreKey // nil: there is no export to Sigstore
}

// AppendKeys appends graphkernel-keys.json, canonical JSON with the keys in the given order:
//
//	{"attestation":[{"created":TIME,"id":HEX,"retired":TIME,"vkey":VKEY},…],"log":[VKEY,…],
//	"name":"kernel.example","sigstore":{"id":HEX,"pem":PEM},"version":"gkk/1"}
//
// A key that must not be trusted (see ledger.Key.Check) or has another algorithm is an error.
// Source: docs/evidence.md, section 1.
func AppendKeys(dst []byte, k *Keys) ([]byte, error) {
	for _, log := range k.Logs {
		if err := checkPublished(log); err != nil {
			return nil, err
		}
	}
	for _, a := range k.Attestation {
		if err := checkPublished(a.Key); err != nil {
			return nil, err
		}
	}
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("attestation")
	w.BeginArray()
	for _, a := range k.Attestation {
		w.BeginObject()
		w.Key("created")
		w.String(a.Created.String())
		w.Key("id")
		w.String(a.Key.HexID())
		if a.Retired != nil {
			w.Key("retired")
			w.String(a.Retired.String())
		}
		w.Key("vkey")
		w.String(a.Key.String())
		w.EndObject()
	}
	w.EndArray()
	w.Key("log")
	w.BeginArray()
	for _, log := range k.Logs {
		w.String(log.String())
	}
	w.EndArray()
	w.Key("name")
	w.String(k.Name)
	if k.Sigstore != nil {
		w.Key("sigstore")
		w.BeginObject()
		w.Key("id")
		w.String(k.Sigstore.ID())
		w.Key("pem")
		w.String(k.Sigstore.PEM())
		w.EndObject()
	}
	w.Key("version")
	w.String(KeysVersion)
	w.EndObject()
	return w.Bytes, nil
}

func checkPublished(k ledger.Key) error {
	if err := k.Check(); err != nil {
		return fmt.Errorf("attest: publishing keys: %w", err)
	}
	if k.Alg != ledger.AlgEd25519 {
		return fmt.Errorf("%w: the key of %s signs cosignatures, not checkpoints or envelopes", ErrForm, k.Name)
	}
	return nil
}

// AppendJWKS appends the attestation keys and, if there is one, the sigstore key as a JSON Web Key Set, for tools that
// know only this form. A key's kid is its key id. The set cannot say when a key was retired, so pass only keys that may
// still be used to verify.
// Source: RFC 7517, section 5; RFC 8037, section 2 (OKP); RFC 7518, section 6.2 (EC).
func AppendJWKS(dst []byte, attestation []ledger.Key, sigstore *SigstoreKey) ([]byte, error) {
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("keys")
	w.BeginArray()
	for _, k := range attestation {
		if err := checkPublished(k); err != nil {
			return nil, err
		}
		writeJWK(w, "EdDSA", "Ed25519", k.HexID(), "OKP", k.Public[:], nil)
	}
	if sigstore != nil {
		point, err := sigstore.public.Bytes() // the byte 0x04, then x and y
		if err != nil {
			return nil, fmt.Errorf("%w: sigstore key: %w", ErrForm, err)
		}
		writeJWK(w, "ES256", "P-256", sigstore.ID(), "EC", point[1:33], point[33:])
	}
	w.EndArray()
	w.EndObject()
	return w.Bytes, nil
}

// writeJWK writes one key; y is nil if the curve has no y.
func writeJWK(w *canon.Writer, alg, curve, id, kind string, x, y []byte) {
	w.BeginObject()
	w.Key("alg")
	w.String(alg)
	w.Key("crv")
	w.String(curve)
	w.Key("kid")
	w.String(id)
	w.Key("kty")
	w.String(kind)
	w.Key("use")
	w.String("sig")
	w.Key("x")
	w.String(base64.RawURLEncoding.EncodeToString(x))
	if y != nil {
		w.Key("y")
		w.String(base64.RawURLEncoding.EncodeToString(y))
	}
	w.EndObject()
}
