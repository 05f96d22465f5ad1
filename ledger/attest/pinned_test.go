package attest_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
)

// TestPinned keeps every document as it is, on every processor: what was signed or logged
// once is never written differently.
func TestPinned(t *testing.T) {
	signer, key := hand(0)
	_, sigstore := sigstoreHand(1)
	entry := logged()
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"statement", "9b2a718b40f4050b", issued().Append(nil)},
		{"envelope", "65534f50c457856c", must(attest.Seal(issued().Append(nil), signer))},
		{"sigstore leaf", "5dcfd9e2252ce102", must(attest.SigstoreLeaf(entry.Envelope, entry.Key))},
		{"sigstore bundle", "ebead825a53f5229", must(attest.AppendSigstoreBundle(nil, entry))},
		{"trusted root", "7cd661973a991afc", must(attest.AppendTrustedRoot(nil, entry.Log, issued().IssuedAt))},
		{"keys", "5a7cd4eb71ad8fc8", must(attest.AppendKeys(nil, &attest.Keys{Name: "kernel.example", Attestation: []attest.DatedKey{{Key: key}}, Sigstore: &sigstore}))},
		{"JWKS", "2a6095a54e5ee823", must(attest.AppendJWKS(nil, []ledger.Key{key}, &sigstore))},
		{"PROV", "cc48d2c434f794a8", must(attest.AppendProv(nil, issued(), meeting()))},
		{"OpenLineage", "6cde801d1668be05", must(attest.AppendOpenLineage(nil, issued(), meeting()))},
	} {
		sum := sha256.Sum256(c.data)
		if got := hex.EncodeToString(sum[:8]); got != c.want {
			t.Errorf("%s: SHA-256 begins with %s, want %s:\n%s", c.name, got, c.want, c.data)
		}
	}
}

// Test 2 of RFC 8032, section 7.1.
func TestSignerVector(t *testing.T) {
	seed := must(hex.DecodeString("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
	s, key, err := attest.NewSigner(origin, ed25519.NewKeyFromSeed(seed))
	if err != nil {
		t.Fatal(err)
	}
	sig := must(s.Sign([]byte{0x72}))
	const want = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
	if got := hex.EncodeToString(sig); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := attest.CheckSignature(key, []byte{0x72}, sig); err != nil {
		t.Error(err)
	}
}

// The vector of RFC 6979, section A.2.5, for "sample" with SHA-256.
func TestSigstoreSignerVector(t *testing.T) {
	private := must(ecdsa.ParseRawPrivateKey(elliptic.P256(), must(hex.DecodeString("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"))))
	s, _, err := attest.NewSigstoreSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	var sig struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(must(s.Sign([]byte("sample"))), &sig); err != nil {
		t.Fatal(err)
	}
	const r, q = "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716", "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
	if sig.R.Text(16) != r || sig.S.Text(16) != q {
		t.Errorf("got r %x and s %x, want %s and %s", sig.R, sig.S, r, q)
	}
}

// TestManyRedacted signs the largest statement there is: every turn of the largest slice
// is redacted.
func TestManyRedacted(t *testing.T) {
	s := issued()
	s.Redacted = nil
	for n := range uint32(10_000) {
		var id dag.TurnID
		binary.BigEndian.PutUint32(id[:], n+1)
		s.Redacted = append(s.Redacted, attest.Redaction{Turn: id, Why: attest.Withheld})
	}
	signer, key := hand(0)
	payload, _, err := must(attest.ParseEnvelope(must(attest.Seal(s.Append(nil), signer)))).Verify(trusting(key))
	if err != nil {
		t.Fatal(err)
	}
	if read := must(attest.ParseStatement(payload)); !bytes.Equal(read.Append(nil), payload) || len(read.Redacted) != 10_000 {
		t.Errorf("%d turns are redacted, want 10000", len(read.Redacted))
	}
}
