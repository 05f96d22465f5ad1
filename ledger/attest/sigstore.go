package attest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strconv"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/history"
	"github.com/graphkernel/graphkernel/internal/canon"
	"github.com/graphkernel/graphkernel/ledger"
)

// Media types of Sigstore's documents.
const (
	sigstoreBundleType      = "application/vnd.dev.sigstore.bundle.v0.3+json"
	sigstoreTrustedRootType = "application/vnd.dev.sigstore.trustedroot+json;version=0.1"
)

// A SigstoreKey is the public key of the Sigstore export: ECDSA on P-256. Plain Ed25519 is not possible, because it
// cannot be verified from the digest of the message, and Rekor's entries contain only the digest.
type SigstoreKey struct {
	public *ecdsa.PublicKey
	spki   []byte // the key in DER, as it is hashed and shown
}

// NewSigstoreKey returns a key; the error for a key on another curve is ErrForm.
func NewSigstoreKey(public *ecdsa.PublicKey) (SigstoreKey, error) {
	if public == nil || public.Curve != elliptic.P256() {
		return SigstoreKey{}, fmt.Errorf("%w: the sigstore key is not on P-256", ErrForm)
	}
	spki, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return SigstoreKey{}, fmt.Errorf("%w: sigstore key: %w", ErrForm, err)
	}
	return SigstoreKey{public, spki}, nil
}

// ID returns the SHA-256 of the key's SubjectPublicKeyInfo, in hex.
func (k SigstoreKey) ID() string {
	sum := sha256.Sum256(k.spki)
	return hex.EncodeToString(sum[:])
}

// PEM returns the key in the form that cosign's --key expects (RFC 7468, section 13).
func (k SigstoreKey) PEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: k.spki}))
}

// sigstoreSigner signs envelopes for Sigstore.
type sigstoreSigner struct{ private *ecdsa.PrivateKey }

// NewSigstoreSigner returns the signer of envelopes for the export to Sigstore, and its public key. It signs the
// SHA-256 of the message, in ASN.1, and deterministically (RFC 6979), so that the same bundle always has the same leaf.
func NewSigstoreSigner(private *ecdsa.PrivateKey) (Signer, SigstoreKey, error) {
	if private == nil {
		return nil, SigstoreKey{}, fmt.Errorf("%w: there is no sigstore key", ErrForm)
	}
	key, err := NewSigstoreKey(&private.PublicKey)
	if err != nil {
		return nil, SigstoreKey{}, err
	}
	return sigstoreSigner{private}, key, nil
}

// KeyID returns "", which DSSE allows. The only other key id that Sigstore's clients accept is the one that they
// compute themselves, the key's SSH fingerprint.
func (s sigstoreSigner) KeyID() string { return "" }

func (s sigstoreSigner) Sign(message []byte) ([]byte, error) {
	digest := sha256.Sum256(message)
	return s.private.Sign(nil, digest[:], crypto.SHA256) // without randomness, hence deterministic
}

// A SigstoreEntry is the content of a Sigstore bundle: an envelope that only the sigstore key has signed, and the place
// of its leaf.
type SigstoreEntry struct {
	Envelope   *Envelope
	Key        SigstoreKey
	Log        ledger.Key
	Index      uint64        // of the leaf
	Path       []ledger.Hash // from the leaf to the checkpoint's root
	Checkpoint []byte        // a signed note
}

// SigstoreLeaf returns the ledger's leaf of an envelope: a log entry of kind hashedrekord 0.0.2, from which Sigstore's
// clients recompute the leaf's hash. The error is ErrForm unless the envelope has exactly one signature, and
// ledger.ErrSignature if that is not the key's.
//
// Source: sigstore/rekor-tiles v2, rekor_v2 hashedrekord.proto, written as RFC 8785 says.
func SigstoreLeaf(e *Envelope, key SigstoreKey) ([]byte, error) {
	if len(e.signatures) != 1 {
		return nil, fmt.Errorf("%w: an envelope for sigstore must have one signature, this one has %d", ErrForm, len(e.signatures))
	}
	digest := sha256.Sum256(PAE(PayloadType, e.payload))
	sig := e.signatures[0].Sig
	if key.public == nil || !ecdsa.VerifyASN1(key.public, digest[:], sig) {
		return nil, fmt.Errorf("attest: by sigstore key %s: %w", key.ID(), ledger.ErrSignature)
	}
	w := canon.NewWriter(nil)
	w.BeginObject()
	w.Key("apiVersion")
	w.String("0.0.2")
	w.Key("kind")
	w.String(string(ledger.KindSigstore))
	w.Key("spec")
	w.BeginObject()
	w.Key("hashedRekordV002")
	w.BeginObject()
	w.Key("data")
	w.BeginObject()
	w.Key("algorithm")
	w.String("SHA2_256")
	w.Key("digest")
	writeBase64(w, digest[:])
	w.EndObject()
	w.Key("signature")
	w.BeginObject()
	w.Key("content")
	writeBase64(w, sig)
	w.Key("verifier")
	w.BeginObject()
	w.Key("keyDetails")
	w.String("PKIX_ECDSA_P256_SHA_256")
	w.Key("publicKey")
	w.BeginObject()
	w.Key("rawBytes")
	writeBase64(w, key.spki)
	for range 5 {
		w.EndObject()
	}
	w.EndObject()
	return w.Bytes, nil
}

// AppendSigstoreBundle appends a Sigstore bundle v0.3 that cosign verifies offline against AppendTrustedRoot of the
// same log and SigstoreKey.PEM. It is canonical JSON. The error for a path that does not lead to the checkpoint's root
// is ledger.ErrNotIncluded. The signature of the checkpoint is not verified, because the caller made it.
//
// Source: sigstore/protobuf-specs v0.5, sigstore_bundle.proto and sigstore_rekor.proto, as
// ProtoJSON: 64-bit integers are strings.
func AppendSigstoreBundle(dst []byte, e *SigstoreEntry) ([]byte, error) {
	leaf, err := SigstoreLeaf(e.Envelope, e.Key)
	if err != nil {
		return nil, err
	}
	checkpoint, err := ledger.ReadCheckpoint(e.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("attest: checkpoint for sigstore: %w", err)
	}
	if checkpoint.Origin != e.Log.Name {
		return nil, fmt.Errorf("attest: %w: the checkpoint is of %s, but the log is %s", ledger.ErrOrigin, checkpoint.Origin, e.Log.Name)
	}
	if err := checkpoint.CheckInclusion(e.Index, ledger.LeafHash(leaf), e.Path); err != nil {
		return nil, fmt.Errorf("attest: proof for sigstore: %w", err)
	}
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("dsseEnvelope")
	e.Envelope.write(w)
	w.Key("mediaType")
	w.String(sigstoreBundleType)
	w.Key("verificationMaterial")
	w.BeginObject()
	w.Key("publicKey")
	w.BeginObject()
	w.Key("hint")
	w.String(e.Key.ID())
	w.EndObject()
	w.Key("tlogEntries")
	w.BeginArray()
	e.writeLogEntry(w, leaf, checkpoint)
	w.EndArray()
	w.EndObject()
	w.EndObject()
	return w.Bytes, nil
}

func (e *SigstoreEntry) writeLogEntry(w *canon.Writer, leaf []byte, checkpoint ledger.Checkpoint) {
	index := strconv.FormatUint(e.Index, 10)
	w.BeginObject()
	w.Key("canonicalizedBody")
	writeBase64(w, leaf)
	w.Key("inclusionProof")
	w.BeginObject()
	w.Key("checkpoint")
	w.BeginObject()
	w.Key("envelope")
	w.String(string(e.Checkpoint))
	w.EndObject()
	w.Key("hashes")
	w.BeginArray()
	for _, h := range e.Path {
		writeBase64(w, h[:])
	}
	w.EndArray()
	w.Key("logIndex")
	w.String(index)
	w.Key("rootHash")
	writeBase64(w, checkpoint.Hash[:])
	w.Key("treeSize")
	w.String(strconv.FormatUint(checkpoint.Size, 10))
	w.EndObject()
	w.Key("kindVersion")
	w.BeginObject()
	w.Key("kind")
	w.String(string(ledger.KindSigstore))
	w.Key("version")
	w.String("0.0.2")
	w.EndObject()
	w.Key("logId")
	writeLogID(w, e.Log)
	w.Key("logIndex")
	w.String(index)
	w.EndObject()
}

// writeLogID writes the whole hash of a log's key (C2SP signed-note), not just the first four bytes that checkpoints
// contain.
func writeLogID(w *canon.Writer, log ledger.Key) {
	id := log.ID()
	w.BeginObject()
	w.Key("keyId")
	writeBase64(w, id[:])
	w.EndObject()
}

// AppendTrustedRoot appends the trusted_root.json for cosign's --trusted-root: the one log, whose host name is the
// origin of its checkpoints, valid from a time on. It lists no certificate authorities; the signer's key is passed to
// cosign separately. The error for a key that is not a log's is ErrForm.
//
// Source: sigstore/protobuf-specs v0.5, sigstore_trustroot.proto, as ProtoJSON.
func AppendTrustedRoot(dst []byte, log ledger.Key, from dag.Time) ([]byte, error) {
	if err := log.Check(); err != nil {
		return nil, fmt.Errorf("attest: log key: %w", err)
	}
	if log.Alg != ledger.AlgEd25519 {
		return nil, fmt.Errorf("%w: the key of %s is not the key of a log", ErrForm, log.Name)
	}
	spki, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(log.Public[:]))
	if err != nil {
		return nil, fmt.Errorf("%w: log key: %w", ErrForm, err)
	}
	w := canon.NewWriter(dst)
	w.BeginObject()
	w.Key("mediaType")
	w.String(sigstoreTrustedRootType)
	w.Key("tlogs")
	w.BeginArray()
	w.BeginObject()
	w.Key("baseUrl")
	w.String("https://" + log.Name)
	w.Key("hashAlgorithm")
	w.String("SHA2_256")
	w.Key("logId")
	writeLogID(w, log)
	w.Key("publicKey")
	w.BeginObject()
	w.Key("keyDetails")
	w.String("PKIX_ED25519")
	w.Key("rawBytes")
	w.String(base64.StdEncoding.EncodeToString(spki))
	w.Key("validFor")
	w.BeginObject()
	w.Key("start")
	w.String(from.String())
	w.EndObject()
	w.EndObject()
	w.EndObject()
	w.EndArray()
	w.EndObject()
	return w.Bytes, nil
}

// Recorded returns the kind of the entries that cosign looks up: the leaves from SigstoreLeaf. These leaves do not name
// their tenant.
func Recorded() *history.Bare {
	return &history.Bare{Kind: "sigstore/1", Index: 134, Check: func(leaf []byte) (dag.Tenant, error) {
		kind, err := ledger.ParseKind(leaf)
		if err != nil {
			return "", err
		}
		doc, err := canon.Parse(leaf)
		if err != nil {
			return "", err
		}
		if of := doc.Get("kind"); kind != "" || of == nil || of.Text != string(ledger.KindSigstore) {
			return "", fmt.Errorf("%w: the leaf is not of kind %s", ErrForm, ledger.KindSigstore)
		}
		return "", nil
	}}
}
