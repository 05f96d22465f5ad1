package evidence

import (
	"errors"
	"fmt"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
)

// CheckDigest checks that a manifest's document has the digest that the manifest names.
const CheckDigest slice.CheckID = "digest"

// A ManifestVerdict is the result of judging a manifest.
type ManifestVerdict struct {
	Verdict  // its Claim has only Tenant and AsOf
	Manifest *attest.Manifest
	Signers  []ledger.TrustedSigner // the signers of the manifest
}

// JudgeManifest judges the manifest of an atlas: its form, the digest of its document, whether the statement in its
// envelope is about that document and, with a trust file, who signed it. It does not check that the numbers are right;
// to check them, compute them again from a store.
func (j Judge) JudgeManifest(data []byte) ManifestVerdict {
	c := j.court(Files{})
	m := c.manifest(data)
	v := ManifestVerdict{Verdict: c.verdict(), Manifest: m, Signers: c.signers}
	if m != nil {
		v.Claim.Tenant, v.Claim.AsOf = m.Tenant, m.AsOf
	}
	if v.Outcome == WellFormed {
		v.Reason = "no signature was checked: it is not known who made the manifest"
	}
	return v
}

func (c *court) manifest(data []byte) *attest.Manifest {
	m, err := attest.ParseManifest(data)
	if err != nil {
		c.refuse([]fault{{"manifest", err}})
		return nil
	}
	var statement *attest.AtlasStatement
	if m.Envelope != nil {
		if c.envelope, err = attest.ParseEnvelope(m.Envelope); err == nil {
			statement, err = attest.ParseAtlasStatement(c.envelope.Unverified()) // checks the form; the content counts once it is verified
		}
		if err != nil {
			c.refuse([]fault{{"envelope", err}})
			return m
		}
	}
	c.pass(slice.CheckForm, "canonical JSON")
	c.pass(slice.CheckVersion, attest.AtlasForm)
	if digest := m.Digest(); digest != m.SHA256 {
		c.fail(CheckDigest, Tampered, "the digest of the document differs from the one in the manifest")
		last := &c.v.Checks[len(c.v.Checks)-1]
		last.Expected, last.Found = m.SHA256.String(), digest.String()
	} else {
		c.pass(CheckDigest, "%s", digest)
	}
	c.manifestSigned(statement)
	switch {
	case statement == nil:
		c.skip(CheckStatement, "there is no envelope")
	default:
		c.matched(statement.Match(m))
	}
	c.manifestTime()
	return m
}

// manifestSigned checks who signed the envelope.
func (c *court) manifestSigned(statement *attest.AtlasStatement) {
	switch {
	case c.Trust == nil && c.envelope == nil:
		c.skip(CheckAttestation, "nobody signed it, and no trust file was given")
	case c.Trust == nil:
		c.skip(CheckAttestation, "no trust file was given, so it is not known whose signature this is")
	case len(c.Trust.Signers) == 0:
		c.skip(CheckAttestation, "the trust file names no signer")
	case c.envelope == nil:
		c.fail(CheckAttestation, KeyUnknown, "the trust file names signers, so a signature is needed, and the manifest has none")
	default:
		c.verifySigners(statement)
	}
}

func (c *court) verifySigners(s *attest.AtlasStatement) {
	_, ids, err := c.envelope.Verify(func(id string) (ledger.Key, bool) {
		s, ok := c.trusted(id)
		return s.Key, ok
	})
	if err == nil {
		c.signers, err = c.signersOf(ids, s.Origin, s.Tenant)
	}
	switch {
	case err == nil:
		c.signed = true
		c.pass(CheckAttestation, "key %.16s… of %s", c.signers[0].HexID(), c.signers[0].Name)
	case errors.Is(err, attest.ErrKeyUnknown):
		c.fail(CheckAttestation, KeyUnknown, "%v", err)
	case errors.Is(err, ledger.ErrSignature):
		c.fail(CheckAttestation, Tampered, "%v", err)
	default:
		c.fail(CheckAttestation, Malformed, "%v", err)
	}
}

// matched records whether the statement is about the document.
func (c *court) matched(err error) {
	var m *attest.MismatchError
	if errors.As(err, &m) {
		c.v.Checks = append(c.v.Checks, mismatch(err))
		if c.v.Outcome == "" {
			c.v.Outcome, c.v.Reason = Tampered, fmt.Sprintf("%s: %s: the statement says %s, the document %s", CheckStatement, m.Member, m.Expected, m.Found)
		}
		return
	}
	c.pass(CheckStatement, "the document")
}

// manifestTime fails if every signing key has an end, because a manifest does not prove when it was signed.
func (c *court) manifestTime() {
	if len(c.signers) == 0 {
		c.skip(CheckSigner, "no signature was verified")
		return
	}
	for _, s := range c.signers {
		if s.Until == nil {
			c.skip(CheckSigner, "in the trust file the key has no end")
			return
		}
	}
	c.fail(CheckSigner, KeyRetired, "the key ended at %s, and the manifest does not prove when it was signed", c.signers[0].Until)
}
