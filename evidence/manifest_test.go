package evidence_test

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/evidence"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

const manifestOrigin = "default.atlas.example"

// manifestKey is a key that is the same in every run.
func manifestKey(name string, seed byte) (attest.Signer, ledger.Key) {
	s, key, err := attest.NewSigner(name, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize)))
	if err != nil {
		panic(err)
	}
	return s, key
}

// manifestOf is a small manifest, whose statement and signers a test may change.
func manifestOf(t *testing.T, change func(*attest.AtlasStatement), signers ...attest.Signer) attest.Manifest {
	t.Helper()
	m := attest.Manifest{Document: []byte(`{"form":"gka/1","snapshot":{"as_of":25,"authors":[{"count":2,"name":"a \"b\" <c>"}],"issued":2},"tenant":"default"}`)}
	m.SHA256 = m.Digest()
	s := attest.AtlasStatement{Tenant: "default", AsOf: 25, Issued: 2, Origin: manifestOrigin, Subject: m.SHA256}
	if change != nil {
		change(&s)
	}
	if len(signers) > 0 {
		var err error
		if m.Envelope, err = attest.Seal(s.Append(nil), signers...); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func trusts(keys ...ledger.Key) *ledger.Trust {
	trust := &ledger.Trust{}
	for _, k := range keys {
		trust.Signers = append(trust.Signers, ledger.TrustedSigner{Key: k})
	}
	return trust
}

// failed names the checks that failed.
func failed(v *evidence.ManifestVerdict) (names string) {
	for _, c := range v.Checks {
		if c.Status == slice.StatusFail {
			names += string(c.ID) + " "
		}
	}
	return strings.TrimSpace(names)
}

func TestManifest(t *testing.T) {
	signer, key := manifestKey(manifestOrigin, 1)
	stranger, strangerKey := manifestKey(manifestOrigin, 2)
	elsewhere, elsewhereKey := manifestKey("other.atlas.example", 3)
	end := dag.Time(1)
	ended := trusts(key)
	ended.Signers[0].Until = &end
	for _, c := range []struct {
		name    string
		m       attest.Manifest
		trust   *ledger.Trust
		outcome evidence.Outcome
		fails   string
		says    string
	}{
		{"signed", manifestOf(t, nil, signer), trusts(key), evidence.Verified, "", ""},
		{"by two", manifestOf(t, nil, stranger, signer), trusts(key), evidence.Verified, "", ""},
		{"no trust file", manifestOf(t, nil, signer), nil, evidence.WellFormed, "", "it is not known who made the manifest"},
		{"no trust file and no envelope", manifestOf(t, nil), nil, evidence.WellFormed, "", "it is not known who made the manifest"},
		{"a trust file without signers", manifestOf(t, nil, signer), &ledger.Trust{}, evidence.WellFormed, "", "it is not known who made the manifest"},
		{"no envelope", manifestOf(t, nil), trusts(key), evidence.KeyUnknown, "attestation", "so a signature is needed, and the manifest has none"},
		{"by a stranger", manifestOf(t, nil, stranger), trusts(key), evidence.KeyUnknown, "attestation", "it has 1 signature, which is not by a trusted key"},
		{"by a key of another tenant", manifestOf(t, nil, elsewhere), trusts(elsewhereKey), evidence.KeyUnknown, "attestation", "none of the keys signs as default.atlas.example for tenant default"},
		{"as another origin", manifestOf(t, func(s *attest.AtlasStatement) { s.Origin = "other.atlas.example" }, signer), trusts(key, strangerKey), evidence.KeyUnknown, "attestation", "none of the keys signs as other.atlas.example"},
		{"by a key with an end", manifestOf(t, nil, signer), ended, evidence.KeyRetired, "signer_time", "the manifest does not prove when it was signed"},
		{"of another document", manifestOf(t, func(s *attest.AtlasStatement) { s.Subject[0]++ }, signer), trusts(key), evidence.Tampered, "statement", "subject"},
		{"of another document, no trust file", manifestOf(t, func(s *attest.AtlasStatement) { s.Subject[0]++ }, signer), nil, evidence.Tampered, "statement", "subject"},
		{"of another number", manifestOf(t, func(s *attest.AtlasStatement) { s.AsOf++ }, signer), trusts(key), evidence.Tampered, "statement", "predicate.as_of"},
		{"of another record", manifestOf(t, func(s *attest.AtlasStatement) { s.Issued++ }, signer), trusts(key), evidence.Tampered, "statement", "predicate.issued"},
		{"of another tenant", manifestOf(t, func(s *attest.AtlasStatement) { s.Tenant, s.Origin = "other", "other.atlas.example" }, elsewhere), trusts(elsewhereKey), evidence.Tampered, "statement", "predicate.tenant"},
	} {
		v := evidence.Judge{Trust: c.trust}.JudgeManifest(c.m.Append(nil))
		if v.Outcome != c.outcome || failed(&v) != c.fails || !strings.Contains(v.Reason, c.says) {
			t.Errorf("%s: %s, %q failed, %q; want %s, %q, %q", c.name, v.Outcome, failed(&v), v.Reason, c.outcome, c.fails, c.says)
		}
		if c.outcome == evidence.Verified && (len(v.Signers) != 1 || v.Signers[0].Key != key || v.Claim.AsOf != 25 || v.Manifest.Issued != 2) {
			t.Errorf("%s: signed by %v, %+v", c.name, v.Signers, v.Claim)
		}
	}
	// What is signed, and has another spelling or more members than it must have.
	spaced := attest.Manifest{Document: bytes.Replace(manifestOf(t, nil).Document, []byte(`"as_of":25`), []byte(`"as_of": 25`), 1)}
	spaced.SHA256 = spaced.Digest()
	statement := attest.AtlasStatement{Tenant: "default", AsOf: 25, Issued: 2, Origin: manifestOrigin, Subject: spaced.SHA256}
	var err error
	if spaced.Envelope, err = attest.Seal(statement.Append(nil), signer); err != nil {
		t.Fatal(err)
	}
	more := manifestOf(t, nil)
	statement.Subject = more.SHA256
	if more.Envelope, err = attest.Seal(bytes.Replace(statement.Append(nil), []byte(`"issued":2`), []byte(`"issued":2,"more":1`), 1), signer); err != nil {
		t.Fatal(err)
	}
	for says, m := range map[string]attest.Manifest{"document: it is not canonical": spaced, "statement: it has unknown members": more} {
		if v := (evidence.Judge{Trust: trusts(key)}).JudgeManifest(m.Append(nil)); v.Outcome != evidence.Malformed || !strings.Contains(v.Reason, says) {
			t.Errorf("%s: %s, want malformed, %q", v.Outcome, v.Reason, says)
		}
	}
	other := manifestOf(t, nil, signer)
	other.Document = bytes.Replace(other.Document, []byte("gka/1"), []byte("gka/2"), 1)
	if v := (evidence.Judge{}).JudgeManifest(other.Append(nil)); v.Outcome != evidence.UnknownVersion || failed(&v) != "version" {
		t.Errorf("a later version: %s, %s", v.Outcome, v.Reason)
	}
}

// TestManifestMangled changes every byte of a manifest in several ways. Each time it is refused, and what is said names the part: its own name in the reason, or the check of it.
func TestManifestMangled(t *testing.T) {
	signer, key := manifestKey(manifestOrigin, 1)
	m := manifestOf(t, nil, signer)
	whole := m.Append(nil)
	judge := evidence.Judge{Trust: trusts(key)}
	if v := judge.JudgeManifest(whole); v.Outcome != evidence.Verified {
		t.Fatalf("%s: %s", v.Outcome, v.Reason)
	}
	at := func(part string) [2]int {
		n := bytes.Index(whole, []byte(part))
		if n < 0 || bytes.Count(whole, []byte(part)) != 1 {
			t.Fatalf("%d times %q", bytes.Count(whole, []byte(part)), part)
		}
		return [2]int{n, n + len(part)}
	}
	e, err := attest.ParseEnvelope(m.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	between := func(from, to string) string {
		_, rest, _ := bytes.Cut(m.Envelope, []byte(from))
		part, _, _ := bytes.Cut(rest, []byte(to))
		return string(part)
	}
	parts := []struct {
		name  string
		at    [2]int
		named []string // one of these
	}{
		{"document", at(string(m.Document)), []string{"document", "digest: "}},
		{"sha256", at(m.SHA256.String() + `"}`), []string{"sha256", "digest: "}},
		{"payload", at(between(`"payload":"`, `"`)), []string{"envelope", "attestation: ", "statement"}},
		{"payloadType", at(attest.PayloadType), []string{"envelope"}},
		{"keyid", at(e.Signatures()[0].KeyID), []string{"it has 1 signature, which is not by a trusted key", "envelope"}},
		{"sig", at(between(`"sig":"`, `"`)), []string{"envelope", "attestation: "}},
		{"the whole", [2]int{0, len(whole)}, nil},
	}
	cases := 0
	for _, p := range parts {
		for i := p.at[0]; i < p.at[1]; i++ {
			for _, to := range []byte{whole[i] ^ 1, whole[i] ^ 0x20, '"', ' ', 0, 0xff, '0'} {
				if to == whole[i] {
					continue
				}
				mangled := bytes.Clone(whole)
				mangled[i] = to
				v := judge.JudgeManifest(mangled)
				cases++
				named := p.named == nil
				for _, name := range p.named {
					named = named || strings.Contains(v.Reason, name)
				}
				if v.Outcome == evidence.Verified || v.Outcome == evidence.WellFormed || failed(&v) == "" || !named {
					t.Fatalf("%s, byte %d, %q for %q: %s, %q", p.name, i, to, whole[i], v.Outcome, v.Reason)
				}
			}
		}
	}
	for n := range whole { // cut short, and with something more
		for _, mangled := range [][]byte{whole[:n], append(bytes.Clone(whole[:n]), append([]byte(" "), whole[n:]...)...)} {
			if v := judge.JudgeManifest(mangled); v.Outcome == evidence.Verified || v.Outcome == evidence.WellFormed {
				t.Fatalf("byte %d: %s", n, fmt.Sprintf("%.100q", mangled))
			}
			cases++
		}
	}
	if cases < 10_000 {
		t.Errorf("%d cases", cases)
	}
}
