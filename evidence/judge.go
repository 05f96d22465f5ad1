package evidence

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/dag"
	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
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
	c := &court{Judge: j, files: f}
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
	c := &court{Judge: j, files: Files{Proof: proof}}
	c.leafAlone()
	return c.verdict()
}

// verdict returns the verdict. If nothing failed, it is Verified, or WellFormed if no signature was checked.
func (c *court) verdict() Verdict {
	if c.v.Outcome == "" {
		c.v.Outcome = Verified
		if !c.signed {
			c.v.Outcome, c.v.Reason = WellFormed, "no signature was checked: give a trust file, or the key of the token"
		}
	}
	return c.v
}

// A court is the state of one judgement.
type court struct {
	Judge
	files  Files
	v      Verdict
	signed bool // at least one signature was checked and is good

	subject   *subject
	envelope  *attest.Envelope
	proof     *ledger.Proof
	opening   func() (*ledger.Opened, error) // opens the proof's checkpoint
	leaf      ledger.Leaf
	statement *attest.Statement      // nil until it is verified
	signers   []ledger.TrustedSigner // the signers of the statement
	opened    *ledger.Opened         // nil until a log's signature is verified
	cosigned  time.Time              // the time by which a quorum had cosigned; zero if none is required
}

func (c *court) check(id slice.CheckID, status slice.Status, format string, args ...any) {
	c.v.Checks = append(c.v.Checks, slice.Check{ID: id, Status: status, Detail: fmt.Sprintf(format, args...)})
}

func (c *court) pass(id slice.CheckID, format string, args ...any) {
	c.check(id, slice.StatusOK, format, args...)
}

func (c *court) skip(id slice.CheckID, format string, args ...any) {
	c.check(id, slice.StatusSkipped, format, args...)
}

// fail records a failed check. The first one decides the outcome.
func (c *court) fail(id slice.CheckID, o Outcome, format string, args ...any) {
	c.check(id, slice.StatusFail, format, args...)
	if c.v.Outcome != "" {
		return
	}
	c.v.Outcome, c.v.Reason = o, fmt.Sprintf(format, args...)
	if o != KeyUnknown && o != KeyRetired { // these outcomes say enough
		c.v.Reason = string(id) + ": " + c.v.Reason
	}
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
		c.log()
		c.logged()
		c.witnesses()
		c.signerTime()
	}
	c.redactions()
}

// read parses every file, before the content of any file is trusted. It reports whether all could be read.
func (c *court) read() bool {
	var err, proofErr error
	if c.files.Proof != nil {
		if proofErr = c.readProof(); proofErr == nil && c.Trust != nil {
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
			proofErr = c.readLeaf()
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

func (c *court) readProof() (err error) {
	if c.proof, err = ledger.ParseProof(c.files.Proof); err == nil {
		c.opening = c.opens(c.proof.Checkpoint)
	}
	return err
}

// opens returns a function that verifies a checkpoint's signatures; it verifies them once and returns the same result
// every time.
func (c *court) opens(signed []byte) func() (*ledger.Opened, error) {
	return sync.OnceValues(func() (*ledger.Opened, error) { return c.Trust.Open(signed) })
}

// readLeaf reads the leaf of a proof. If there is a bundle or a disclosure and the leaf is not of a slice's kind, the
// rest of the leaf is not read: it cannot match.
func (c *court) readLeaf() error {
	kind, err := ledger.ParseKind(c.proof.Leaf)
	if err != nil {
		return err
	}
	if beside := c.files.Bundle != nil || c.files.Disclosure != nil; beside && !slices.ContainsFunc(issued.Forms(), func(f ledger.Form) bool { return f.Kind == kind }) {
		c.leaf = ledger.Foreign{Bytes: c.proof.Leaf}
		return nil
	}
	if c.leaf, err = ledger.ParseLeaf(c.proof.Leaf, append(issued.Forms(), registry.Form())...); err != nil {
		return err
	}
	switch leaf := c.leaf.(type) {
	case ledger.Foreign:
		return leaf.Version
	case *issued.SliceLeaf: // with a bundle of turns, the leaf must have the bundle's version
		if s := c.subject; s != nil && slice.IsSchema(s.provenance.SchemaVersion) && leaf.Provenance.SchemaVersion != s.provenance.SchemaVersion {
			return fmt.Errorf("%w: the leaf has the schema_version %q, but the slice has %q", slice.ErrVersion, leaf.Provenance.SchemaVersion, s.provenance.SchemaVersion)
		}
	}
	return nil
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

// log verifies and opens the checkpoint of the proof.
func (c *court) log() {
	switch {
	case len(c.Trust.Logs) == 0:
		c.skip(CheckLog, "the trust file names no log")
	case c.proof == nil:
		c.skip(CheckLog, "there is no proof")
	default:
		claimed, err := ledger.ReadCheckpoint(c.proof.Checkpoint)
		if err == nil && c.subject != nil && ledger.Origin(claimed.Origin).Tenant() != c.subject.seal.Tenant {
			c.fail(CheckLog, KeyUnknown, "%s is not a log of tenant %s", claimed.Origin, c.subject.seal.Tenant)
			return
		}
		if c.opened = c.open(CheckLog, c.opening); c.opened != nil {
			c.pass(CheckLog, "%s, %d leaves", c.opened.Origin, c.opened.Size)
		}
	}
}

// open opens a checkpoint, and records a failed check if no trusted key signed it.
func (c *court) open(id slice.CheckID, opening func() (*ledger.Opened, error)) *ledger.Opened {
	o, err := opening()
	switch {
	case errors.Is(err, ledger.ErrForm):
		c.fail(id, Malformed, "%v", err)
	case errors.Is(err, ledger.ErrSignature):
		c.fail(id, Tampered, "%v", err)
	case err != nil:
		c.fail(id, KeyUnknown, "%v", err)
	}
	return o
}

// logged checks that the proof's leaf belongs to the evidence and is included in the checkpoint.
func (c *court) logged() {
	if c.opened == nil {
		if len(c.Trust.Logs) > 0 && c.proof == nil {
			c.fail(CheckLogged, NotInLog, "the trust file names a log, so a proof of inclusion is needed, and there is none")
			return
		}
		c.skip(CheckLogged, "no checkpoint was verified")
		return
	}
	at, err := c.subject.matchLeaf(c.leaf)
	if err != nil {
		c.fail(CheckLogged, NotInLog, "%v", err)
		return
	}
	if s := c.statement; s != nil && (s.Index != c.proof.Index || s.Origin != c.opened.Origin) {
		c.fail(CheckLogged, NotInLog, "the proof is of leaf %d of %s, the attestation names %d of %s", c.proof.Index, c.opened.Origin, s.Index, s.Origin)
		return
	}
	if err := c.opened.CheckInclusion(c.proof.Index, ledger.LeafHash(c.proof.Leaf), c.proof.Path); err != nil {
		c.fail(CheckLogged, NotInLog, "%v", err)
		return
	}
	c.signed = true
	c.v.Inclusion = &Inclusion{Origin: c.opened.Origin, Index: c.proof.Index, Size: c.opened.Size, Issued: at}
	c.pass(CheckLogged, "%s #%d of %d, issued %s", c.opened.Origin, c.proof.Index, c.opened.Size, at)
}

func (c *court) witnesses() {
	switch {
	case c.opened == nil:
		c.skip(CheckWitnesses, "no checkpoint was verified")
	case !c.Trust.Quorum():
		c.skip(CheckWitnesses, "the trust file asks for none")
	default:
		at, err := c.opened.Quorum(c.Since)
		if err != nil {
			c.fail(CheckWitnesses, QuorumNotMet, "%v", err)
			return
		}
		c.cosigned = at
		newest := c.opened.Cosigned[len(c.opened.Cosigned)-1].At
		c.pass(CheckWitnesses, "%d of %d cosigned, a quorum by %s, the newest at %s", len(c.opened.Cosigned), len(c.Trust.Witnesses), at.Format(time.RFC3339), newest.Format(time.RFC3339))
	}
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
	if err = c.readProof(); err == nil {
		err = c.readLeaf()
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
	c.log()
	if c.opened == nil {
		c.skip(CheckLogged, "no checkpoint was verified")
	} else if err := c.opened.CheckInclusion(c.proof.Index, ledger.LeafHash(c.proof.Leaf), c.proof.Path); err != nil {
		c.fail(CheckLogged, NotInLog, "%v", err)
	} else {
		c.signed = true
		c.v.Inclusion = &Inclusion{Origin: c.opened.Origin, Index: c.proof.Index, Size: c.opened.Size}
		c.pass(CheckLogged, "%s #%d of %d", c.opened.Origin, c.proof.Index, c.opened.Size)
	}
	c.witnesses()
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
	c.consistency(proof)
	c.witnesses()
}

func (c *court) consistency(proof []ledger.Hash) {
	if c.files.OldCheckpoint == nil || c.opened == nil {
		c.skip(CheckConsistency, "this check needs two checkpoints of a trusted log")
		return
	}
	old := c.open(CheckConsistency, c.opens(c.files.OldCheckpoint))
	if old == nil {
		return
	}
	if old.Origin != c.opened.Origin {
		c.fail(CheckConsistency, KeyUnknown, "the old checkpoint is of %s, the new one of %s", old.Origin, c.opened.Origin)
		return
	}
	if len(proof) == 0 && 0 < old.Size && old.Size < c.opened.Size {
		c.fail(CheckConsistency, LogInconsistent, "no proof that its %d leaves continue the %d leaves with the root %s was given", c.opened.Size, old.Size, old.Hash)
		return
	}
	if err := c.opened.CheckConsistency(old.Root, proof); err != nil {
		c.fail(CheckConsistency, LogInconsistent, "%v", err)
		return
	}
	c.pass(CheckConsistency, "%d leaves continue %d", c.opened.Size, old.Size)
}

// digestOf returns the SHA-256 of a bundle's bytes.
func digestOf(bundle []byte) dag.Digest { return sha256.Sum256(bundle) }
