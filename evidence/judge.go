package evidence

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/token"
)

// A Judge judges evidence. The zero Judge trusts no key.
type Judge struct {
	Trust *ledger.Trust    // the keys whose signatures count; nil: no trust file
	Keys  *token.Authority // the keys that check tokens; nil: no secret

	RequireFull bool      // every text must be shown
	Since       time.Time // cosignatures from before this time do not count: a checkpoint without newer ones is stale
}

// Judge makes every check that it can. It costs about as much as Bundle.Check, plus the verification of one signature
// per key.
func (j Judge) Judge(f Files) Verdict {
	c := j.court(f)
	switch {
	case f.Bundle != nil && f.Disclosure != nil:
		c.fail(slice.CheckForm, Malformed, "there are both a bundle and a disclosure; pass only one of them")
	case (f.Bundle != nil || f.Disclosure != nil) && (f.Checkpoint != nil || f.OldCheckpoint != nil || f.Consistency != nil):
		c.fail(slice.CheckForm, Malformed, "there are both a slice and a checkpoint or a consistency proof; pass only one of them")
	case f.Bundle == nil && f.Disclosure == nil && f.Checkpoint == nil:
		c.fail(slice.CheckForm, Malformed, "there is neither a bundle, nor a disclosure, nor a checkpoint")
	case f.Bundle == nil && f.Disclosure == nil:
		c.history()
	default:
		c.slice()
	}
	return c.verdict()
}

// JudgeProof judges a proof alone: whether its leaf, of whatever content, is in a trusted log. It is no verdict on a
// slice.
func (j Judge) JudgeProof(proof []byte) Verdict {
	c := j.court(Files{Proof: proof})
	c.leafAlone()
	return c.verdict()
}

// A court is the state of one judgement.
type court struct {
	Judge
	logs
	files     Files
	subject   *subject
	envelope  *attest.Envelope
	statement *attest.Statement      // nil until it is verified
	signers   []ledger.TrustedSigner // the signers of the statement
}

func (j Judge) court(f Files) *court {
	return &court{Judge: j, logs: logs{trust: j.Trust}, files: f}
}

// slice judges a bundle or a disclosure together with the other files.
func (c *court) slice() {
	if !c.read() {
		return
	}
	c.pass(slice.CheckForm, "canonical JSON")
	c.pass(slice.CheckVersion, "%s", c.subject.provenance.SchemaVersion)
	for _, check := range c.subject.checks {
		c.v.Checks = append(c.v.Checks, check)
		if check.Status == slice.StatusFail && c.v.Outcome == "" {
			c.v.Outcome, c.v.Reason = Tampered, string(check.ID)+": "+check.Detail
		}
	}
	c.token()
	if c.Trust == nil {
		c.skip(CheckTrust, "no trust file given: attestation, ledger and witnesses were not looked at")
	} else {
		c.attestation()
		c.log(c.subject)
		c.logged(c.subject, c.statement)
		c.witnesses(c.Since)
		c.signerTime()
	}
	c.redactions()
}

// read parses every file, before the content of any file is trusted. It reports whether all could be read.
func (c *court) read() bool {
	var err, proofErr error
	if c.files.Proof != nil {
		if proofErr = c.readProof(c.files.Proof); proofErr == nil && c.Trust != nil {
			go func() { _, _ = c.opening() }() // verifies the checkpoint's signatures while the bundle is read
		}
	}
	faults := []fault{{file: FileBundle}, {file: FileAttestation}, {file: FileProof}}
	if c.files.Bundle != nil {
		c.subject, err = readBundle(c.files.Bundle)
	} else {
		faults[0].file = FileDisclosure
		c.subject, err = readDisclosure(c.files.Disclosure)
	}
	if faults[0].err = err; err == nil {
		c.v.Claim = c.subject.claim()
	}
	if c.files.Attestation != nil {
		if c.envelope, err = attest.ParseEnvelope(c.files.Attestation); err == nil {
			_, err = attest.ParseStatement(c.envelope.Unverified()) // checks the form; the content counts once it is verified
		}
		faults[1].err = err
	}
	if c.files.Proof != nil {
		if proofErr == nil {
			proofErr = c.readLeaf(c.subject, true)
		}
		faults[2].err = proofErr
	}
	return !c.refuse(faults)
}

// A fault is the error of reading a file, nil if the file could be read.
type fault struct {
	file string
	err  error
}

// refuse reports whether a file could not be read, and records the failure. A malformed file takes precedence over a
// file of an unknown version, regardless of their order.
func (c *court) refuse(faults []fault) bool {
	faults = slices.DeleteFunc(faults, func(f fault) bool { return f.err == nil })
	if len(faults) == 0 {
		return false
	}
	if at := slices.IndexFunc(faults, func(f fault) bool { return !isVersion(f.err) }); at >= 0 {
		c.fail(slice.CheckForm, Malformed, "%s: %v", faults[at].file, faults[at].err)
		c.skip(slice.CheckVersion, "not reached")
		return true
	}
	c.skip(slice.CheckForm, "cannot be checked for this version")
	c.fail(slice.CheckVersion, UnknownVersion, "%s: %v", faults[0].file, faults[0].err)
	return true
}

func isVersion(err error) bool {
	return errors.Is(err, slice.ErrVersion) || errors.Is(err, ledger.ErrVersion) || errors.Is(err, attest.ErrVersion)
}

func (c *court) token() {
	if c.Keys == nil {
		c.skip(slice.CheckToken, "no key given")
		return
	}
	s := c.subject
	switch err := c.Keys.Check(&s.provenance, s.seal); {
	case err == nil:
		c.signed = true
		c.pass(slice.CheckToken, "key %s of tenant %s", s.seal.KeyID, s.seal.Tenant)
	case errors.Is(err, token.ErrKeyUnknown):
		c.fail(slice.CheckToken, KeyUnknown, "%v", err)
	case errors.Is(err, token.ErrKeyRetired):
		c.fail(slice.CheckToken, KeyRetired, "%v", err)
	default:
		c.fail(slice.CheckToken, Tampered, "%v", err)
	}
}

func (c *court) attestation() {
	switch {
	case len(c.Trust.Signers) == 0:
		c.skip(CheckAttestation, "the trust file names no signer")
	case c.envelope == nil && len(c.Trust.Logs) == 0:
		c.fail(CheckAttestation, KeyUnknown, "the trust file names signers and no log, so an attestation is needed, and there is none")
	case c.envelope == nil && c.files.Disclosure != nil: // only the attestation says how many turns there are
		c.fail(CheckAttestation, KeyUnknown, "the trust file names signers, so a disclosure needs the attestation of the whole, and there is none")
	case c.envelope == nil:
		c.skip(CheckAttestation, "there is no attestation")
	default:
		c.verifyEnvelope()
		return
	}
	c.skip(CheckStatement, "no attestation was verified")
}

func (c *court) verifyEnvelope() {
	payload, ids, err := c.envelope.Verify(func(id string) (ledger.Key, bool) {
		s, ok := c.trusted(id)
		return s.Key, ok
	})
	var statement *attest.Statement
	if err == nil {
		if statement, err = attest.ParseStatement(payload); err == nil {
			c.signers, err = c.signersOf(ids, statement.Origin, statement.Tenant)
		}
	}
	switch {
	case errors.Is(err, attest.ErrVersion):
		c.fail(CheckAttestation, UnknownVersion, "%v", err)
	case errors.Is(err, attest.ErrKeyUnknown):
		c.fail(CheckAttestation, KeyUnknown, "%v", err)
	case errors.Is(err, ledger.ErrSignature):
		c.fail(CheckAttestation, Tampered, "%v", err)
	case err != nil:
		c.fail(CheckAttestation, Malformed, "%v", err)
	}
	if err != nil {
		c.skip(CheckStatement, "not reached")
		return
	}
	c.pass(CheckAttestation, "key %.16s… of %s", c.signers[0].HexID(), c.signers[0].Name)
	why, err := c.subject.match(statement)
	if err != nil {
		c.v.Checks = append(c.v.Checks, mismatch(err))
		if c.v.Outcome == "" {
			c.v.Outcome, c.v.Reason = Tampered, string(CheckStatement)+": "+err.Error()
		}
		return
	}
	c.signed, c.statement = true, statement
	c.pass(CheckStatement, "%s", why)
}

func mismatch(err error) slice.Check {
	check := slice.Check{ID: CheckStatement, Status: slice.StatusFail, Detail: err.Error()}
	var m *attest.MismatchError
	if errors.As(err, &m) {
		check.Detail, check.Expected, check.Found = m.Member+" differs from the signed value", m.Expected, m.Found
	}
	return check
}

func (c *court) trusted(keyID string) (ledger.TrustedSigner, bool) {
	at := slices.IndexFunc(c.Trust.Signers, func(s ledger.TrustedSigner) bool { return s.HexID() == keyID })
	if at < 0 {
		return ledger.TrustedSigner{}, false
	}
	return c.Trust.Signers[at], true
}

// signersOf returns those signing keys that may sign for the tenant, or an error if there are none.
func (c *court) signersOf(ids []string, origin string, tenant dag.Tenant) (signers []ledger.TrustedSigner, _ error) {
	if ledger.Origin(origin).Tenant() == tenant {
		for _, id := range ids {
			if signer, _ := c.trusted(id); signer.Name == origin {
				signers = append(signers, signer)
			}
		}
	}
	if len(signers) == 0 {
		return nil, fmt.Errorf("%w: none of the keys signs as %s for tenant %s", attest.ErrKeyUnknown, origin, tenant)
	}
	return signers, nil
}

// signerTime checks that the slice was issued before the end of its signer's key: by the witnesses' time if a quorum
// cosigned, otherwise by the signer's. A key has no beginning, because it may attest a slice long after the slice was
// issued.
func (c *court) signerTime() {
	if c.statement == nil {
		c.skip(CheckSigner, "no attestation was verified")
		return
	}
	at, said := c.statement.IssuedAt, "as the signer says"
	if !c.cosigned.IsZero() {
		at, said = dag.Time(c.cosigned.UnixMicro()), "by the witnesses' clocks"
	}
	for _, s := range c.signers {
		switch {
		case s.Until == nil:
			c.skip(CheckSigner, "in the trust file the key has no end")
			return
		case at <= *s.Until:
			c.pass(CheckSigner, "issued by %s (%s)", at, said)
			return
		}
	}
	c.fail(CheckSigner, KeyRetired, "issued %s (%s), after the end of the key, %s", at, said, c.signers[0].Until)
}

// redactions records the turns whose text is missing and who removed it, and checks the counts of a disclosure.
func (c *court) redactions() {
	for _, id := range c.subject.redacted {
		c.v.Redacted = append(c.v.Redacted, Redaction{id, c.why(id)})
	}
	c.v.Dropped = c.subject.dropped
	part := c.files.Disclosure != nil
	if part && c.statement == nil {
		c.skip(CheckCounts, "only an attestation says how much the slice holds; the disclosure itself states %s", counted(c.subject.counts))
	} else if part {
		c.pass(CheckCounts, "%s", counted(c.statement.Counts))
	}
	if n := len(c.v.Redacted) + c.v.Dropped; c.RequireFull && (n > 0 || part && c.statement == nil) && c.v.Outcome == "" {
		c.v.Outcome, c.v.Reason = Redacted, fmt.Sprintf("%d of %d %s, and the whole was asked for", n, c.subject.all, c.subject.lacks)
	}
}

// counted formats counts for people.
func counted(counts []slice.Count) string {
	texts := make([]string, len(counts))
	for i, n := range counts {
		texts[i] = fmt.Sprintf("%d %s", n.N, n.Name)
	}
	return strings.Join(texts, ", ")
}

func (c *court) why(id dag.TurnID) Why {
	if c.statement == nil {
		return WhyUnknown
	}
	for _, r := range c.statement.Redacted {
		if r.Turn == id {
			return Why(r.Why)
		}
	}
	return WhyDisclosed
}

// leafAlone judges a proof whose leaf may be of any kind.
func (c *court) leafAlone() {
	var err error
	if err = c.readProof(c.files.Proof); err == nil {
		err = c.readLeaf(nil, false)
	}
	switch {
	case errors.Is(err, ledger.ErrVersion):
		c.fail(slice.CheckVersion, UnknownVersion, "%s: %v", FileProof, err)
		return
	case err != nil:
		c.fail(slice.CheckForm, Malformed, "%s: %v", FileProof, err)
		return
	}
	c.pass(slice.CheckForm, "%s", c.proof.Leaf)
	if c.Trust == nil {
		c.skip(CheckTrust, "no trust file given")
		return
	}
	c.log(nil)
	c.logged(nil, nil)
	c.witnesses(c.Since)
}

// history judges a checkpoint, and whether it is consistent with an older one.
func (c *court) history() {
	if c.files.Attestation != nil || c.files.Proof != nil {
		c.fail(slice.CheckForm, Malformed, "there is an attestation or a proof, but no bundle or disclosure to which it belongs")
		return
	}
	proof, err := ledger.ParseHashes(c.files.Consistency)
	if err == nil && c.files.Consistency != nil && c.files.OldCheckpoint == nil {
		err = errors.New("there is a proof of consistency, but no old checkpoint")
	}
	for _, signed := range [][]byte{c.files.Checkpoint, c.files.OldCheckpoint} {
		if err == nil && signed != nil {
			_, err = ledger.ReadCheckpoint(signed)
		}
	}
	if err != nil {
		c.fail(slice.CheckForm, Malformed, "%v", err)
		return
	}
	c.pass(slice.CheckForm, "signed notes")
	if c.Trust == nil {
		c.skip(CheckTrust, "no trust file given")
		return
	}
	if len(c.Trust.Logs) == 0 {
		c.skip(CheckLog, "the trust file names no log")
	} else if c.opened = c.open(CheckLog, c.opens(c.files.Checkpoint)); c.opened != nil {
		c.signed = true
		c.pass(CheckLog, "%s, %d leaves, root %s", c.opened.Origin, c.opened.Size, c.opened.Hash)
	}
	c.consistency(c.files.OldCheckpoint, proof)
	c.witnesses(c.Since)
}

// digestOf returns the SHA-256 of a bundle's bytes.
func digestOf(bundle []byte) dag.Digest { return sha256.Sum256(bundle) }
