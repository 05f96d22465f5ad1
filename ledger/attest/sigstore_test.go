package attest_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

// sigstoreHand returns a sigstore key that is the same in every run.
func sigstoreHand(seed byte) (attest.Signer, attest.SigstoreKey) {
	private := must(ecdsa.ParseRawPrivateKey(elliptic.P256(), bytes.Repeat([]byte{seed}, 32)))
	s, key, err := attest.NewSigstoreSigner(private)
	if err != nil {
		panic(err)
	}
	return s, key
}

// logged is an entry in a log of three leaves.
func logged() *attest.SigstoreEntry {
	s, key := sigstoreHand(1)
	e := must(attest.ParseEnvelope(must(attest.Seal(issued().Append(nil), s))))
	leaf := must(attest.SigstoreLeaf(e, key))
	var tree ledger.Tree
	before, after := ledger.LeafHash([]byte("{}")), ledger.LeafHash([]byte("[]"))
	for _, h := range []ledger.Hash{before, ledger.LeafHash(leaf), after} {
		must(tree.Append(h, nil))
	}
	signer, log, err := ledger.NewLogSigner(origin, ed25519.NewKeyFromSeed(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	checkpoint := must(ledger.Checkpoint{Origin: origin, Root: ledger.Root{Size: 3, Hash: tree.Root()}}.Sign(signer))
	return &attest.SigstoreEntry{Envelope: e, Key: key, Log: log, Index: 1, Path: []ledger.Hash{before, after}, Checkpoint: checkpoint}
}

func TestSigstoreLeaf(t *testing.T) {
	s, key := sigstoreHand(1)
	payload := issued().Append(nil)
	sealed := must(attest.Seal(payload, s))
	if !bytes.Equal(sealed, must(attest.Seal(payload, s))) {
		t.Error("signing again gives other bytes: not deterministic")
	}
	e := must(attest.ParseEnvelope(sealed))
	block, rest := pem.Decode([]byte(key.PEM()))
	if block == nil || block.Type != "PUBLIC KEY" || len(rest) > 0 {
		t.Fatalf("no PEM: %s", key.PEM())
	}
	if id := sha256.Sum256(block.Bytes); hex.EncodeToString(id[:]) != key.ID() || s.KeyID() != "" {
		t.Errorf("the id is %s, want the hash of the PEM's bytes", key.ID())
	}
	digest := sha256.Sum256(attest.PAE(attest.PayloadType, payload))
	encode := base64.StdEncoding.EncodeToString
	want := `{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{"hashedRekordV002":{` +
		`"data":{"algorithm":"SHA2_256","digest":"` + encode(digest[:]) + `"},` +
		`"signature":{"content":"` + encode(e.Signatures()[0].Sig) + `","verifier":{"keyDetails":"PKIX_ECDSA_P256_SHA_256",` +
		`"publicKey":{"rawBytes":"` + encode(block.Bytes) + `"}}}}}}`
	leaf := must(attest.SigstoreLeaf(e, key))
	if string(leaf) != want {
		t.Errorf("got\n%s\nwant\n%s", leaf, want)
	}
	if _, err := ledger.ParseLeaf(leaf); err != nil {
		t.Errorf("no leaf of a ledger: %v", err)
	}
	if public, err := x509.ParsePKIXPublicKey(block.Bytes); err != nil || !ecdsa.VerifyASN1(public.(*ecdsa.PublicKey), digest[:], e.Signatures()[0].Sig) {
		t.Errorf("the signature does not verify with the PEM: %v", err)
	}
}

func TestSigstoreRefuses(t *testing.T) {
	s, key := sigstoreHand(1)
	_, otherKey := sigstoreHand(2)
	plain, _ := hand(0)
	payload := issued().Append(nil)
	e := must(attest.ParseEnvelope(must(attest.Seal(payload, s))))
	for _, c := range []struct {
		name string
		e    *attest.Envelope
		key  attest.SigstoreKey
		want error
	}{
		{"another key", e, otherKey, ledger.ErrSignature},
		{"no key", e, attest.SigstoreKey{}, ledger.ErrSignature},
		{"Ed25519", must(attest.ParseEnvelope(must(attest.Seal(payload, plain)))), key, ledger.ErrSignature},
		{"two signatures", must(attest.ParseEnvelope(must(attest.Seal(payload, s, plain)))), key, attest.ErrForm},
		{"none", must(attest.ParseEnvelope(must(attest.Seal(payload)))), key, attest.ErrForm},
	} {
		if _, err := attest.SigstoreLeaf(c.e, c.key); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for _, private := range []*ecdsa.PrivateKey{nil, must(ecdsa.ParseRawPrivateKey(elliptic.P384(), append(make([]byte, 47), 1)))} {
		if _, _, err := attest.NewSigstoreSigner(private); !errors.Is(err, attest.ErrForm) {
			t.Errorf("a key that is not on P-256: %v, want ErrForm", err)
		}
	}
	change := func(name string, want error, change func(e *attest.SigstoreEntry)) {
		e := logged()
		change(e)
		if _, err := attest.AppendSigstoreBundle(nil, e); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	change("other index", ledger.ErrNotIncluded, func(e *attest.SigstoreEntry) { e.Index = 0 })
	change("other path", ledger.ErrNotIncluded, func(e *attest.SigstoreEntry) { e.Path[0][0] ^= 1 })
	change("other log", ledger.ErrOrigin, func(e *attest.SigstoreEntry) { e.Log.Name = "other.kernel.example" })
	change("no checkpoint", ledger.ErrForm, func(e *attest.SigstoreEntry) { e.Checkpoint = []byte("{}") })
}

// TestSigstoreBundle reads the export with encoding/json and looks at what a verifier uses.
// Module interop lets cosign judge it.
func TestSigstoreBundle(t *testing.T) {
	entry := logged()
	data := must(attest.AppendSigstoreBundle(nil, entry))
	var b struct {
		MediaType            string `json:"mediaType"`
		DSSEEnvelope         json.RawMessage
		VerificationMaterial struct {
			PublicKey   struct{ Hint string }
			TlogEntries []struct {
				LogIndex          string
				LogID             struct{ KeyID []byte }
				KindVersion       struct{ Kind, Version string }
				CanonicalizedBody []byte
				InclusionProof    struct {
					LogIndex, TreeSize string
					RootHash           []byte
					Hashes             [][]byte
					Checkpoint         struct{ Envelope string }
				}
			}
		}
	}
	if err := json.Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	id := entry.Log.ID()
	log := b.VerificationMaterial.TlogEntries[0]
	if string(b.DSSEEnvelope) != string(entry.Envelope.Append(nil)) || b.MediaType != "application/vnd.dev.sigstore.bundle.v0.3+json" ||
		log.LogIndex != "1" || log.InclusionProof.LogIndex != "1" || log.InclusionProof.TreeSize != "3" || !bytes.Equal(log.LogID.KeyID, id[:]) ||
		log.KindVersion.Kind != "hashedrekord" || log.KindVersion.Version != "0.0.2" || len(log.InclusionProof.Hashes) != 2 ||
		log.InclusionProof.Checkpoint.Envelope != string(entry.Checkpoint) || b.VerificationMaterial.PublicKey.Hint != entry.Key.ID() ||
		!bytes.Equal(log.CanonicalizedBody, must(attest.SigstoreLeaf(entry.Envelope, entry.Key))) {
		t.Errorf("got %s", data)
	}
}

func TestTrustedRoot(t *testing.T) {
	log := logged().Log
	data := must(attest.AppendTrustedRoot(nil, log, issued().IssuedAt))
	id := log.ID()
	want := `{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1","tlogs":[{"baseUrl":"https://default.kernel.example",` +
		`"hashAlgorithm":"SHA2_256","logId":{"keyId":"` + base64.StdEncoding.EncodeToString(id[:]) + `"},"publicKey":{"keyDetails":"PKIX_ED25519",` +
		`"rawBytes":"MCowBQYDK2VwAyEA` + base64.StdEncoding.EncodeToString(log.Public[:]) + `","validFor":{"start":"2026-01-02T03:04:05.000006Z"}}}]}`
	if string(data) != want { // RFC 8410, section 4: 12 bytes, then the key
		t.Errorf("got\n%s\nwant\n%s", data, want)
	}
	witness := log
	witness.Alg = ledger.AlgCosignature
	if _, err := attest.AppendTrustedRoot(nil, witness, 0); !errors.Is(err, attest.ErrForm) {
		t.Errorf("a witness's key: %v, want ErrForm", err)
	}
	low := log
	low.Public = [32]byte{1}
	if _, err := attest.AppendTrustedRoot(nil, low, 0); !errors.Is(err, ledger.ErrForm) {
		t.Errorf("a key of low order: %v, want ErrForm", err)
	}
}

func TestKeysDocuments(t *testing.T) {
	_, first := hand(0)
	_, second := hand(1)
	_, sigstore := sigstoreHand(1)
	log := logged().Log
	at := issued().IssuedAt
	later := at + 1
	keys := &attest.Keys{
		Name: "kernel.example", Logs: []ledger.Key{log}, Sigstore: &sigstore,
		Attestation: []attest.DatedKey{{Key: first, Created: at, Retired: &later}, {Key: second, Created: at + 1}},
	}
	want := `{"attestation":[{"created":"2026-01-02T03:04:05.000006Z","id":"` + first.HexID() + `","retired":"2026-01-02T03:04:05.000007Z","vkey":"` + first.String() + `"},` +
		`{"created":"2026-01-02T03:04:05.000007Z","id":"` + second.HexID() + `","vkey":"` + second.String() + `"}],"log":["` + log.String() + `"],"name":"kernel.example",` +
		`"sigstore":{"id":"` + sigstore.ID() + `","pem":"` + strings.ReplaceAll(sigstore.PEM(), "\n", `\n`) + `"},"version":"gkk/1"}`
	if got := string(must(attest.AppendKeys(nil, keys))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(must(attest.AppendKeys(nil, &attest.Keys{Name: "k"}))); got != `{"attestation":[],"log":[],"name":"k","version":"gkk/1"}` {
		t.Errorf("without keys: %s", got)
	}
	low := first
	low.Public = [32]byte{1}
	witness := first
	witness.Alg = ledger.AlgCosignature
	for _, bad := range []ledger.Key{low, witness} {
		if _, err := attest.AppendKeys(nil, &attest.Keys{Logs: []ledger.Key{bad}}); err == nil {
			t.Errorf("log key %s is published", bad)
		}
		if _, err := attest.AppendKeys(nil, &attest.Keys{Attestation: []attest.DatedKey{{Key: bad}}}); err == nil {
			t.Errorf("attestation key %s is published", bad)
		}
		if _, err := attest.AppendJWKS(nil, []ledger.Key{bad}, nil); err == nil {
			t.Errorf("key %s is published as a JWK", bad)
		}
	}
}

// The key of RFC 8037, appendix A, and the form of RFC 7517, appendix A.1.
func TestJWKS(t *testing.T) {
	key := ledger.Key{Name: origin, Alg: ledger.AlgEd25519}
	copy(key.Public[:], must(hex.DecodeString("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")))
	_, sigstore := sigstoreHand(1)
	point := must(x509.ParsePKIXPublicKey(func() []byte { b, _ := pem.Decode([]byte(sigstore.PEM())); return b.Bytes }())).(*ecdsa.PublicKey)
	raw := must(point.Bytes())
	encode := base64.RawURLEncoding.EncodeToString
	want := `{"keys":[{"alg":"EdDSA","crv":"Ed25519","kid":"` + key.HexID() + `","kty":"OKP","use":"sig","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},` +
		`{"alg":"ES256","crv":"P-256","kid":"` + sigstore.ID() + `","kty":"EC","use":"sig","x":"` + encode(raw[1:33]) + `","y":"` + encode(raw[33:65]) + `"}]}`
	if got := string(must(attest.AppendJWKS(nil, []ledger.Key{key}, &sigstore))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := string(must(attest.AppendJWKS(nil, nil, nil))); got != `{"keys":[]}` {
		t.Errorf("without keys: %s", got)
	}
}

// TestRecorded takes entries for cosign, and nothing else.
func TestRecorded(t *testing.T) {
	if of, err := attest.Recorded().Check([]byte(`{"apiVersion":"0.0.2","kind":"hashedrekord","spec":{}}`)); err != nil || of != "" {
		t.Errorf("%q, %v", of, err)
	}
	for _, bad := range []string{`{"apiVersion":"0.0.2","kind":"other","spec":{}}`, `{}`, `{"kind": "hashedrekord"}`, `{"kind":"hashedrekord","type":"slice","version":"gkl/1"}`, ``, `[]`} {
		if _, err := attest.Recorded().Check([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
