package evidence

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/graphkernel/graphkernel/ledger"
	"github.com/graphkernel/graphkernel/ledger/attest"
	"github.com/graphkernel/graphkernel/policy/registry"
	"github.com/graphkernel/graphkernel/slice"
	"github.com/graphkernel/graphkernel/slice/issued"
)

// logs checks what trusted logs and their witnesses have signed.
type logs struct {
	record
	trust    *ledger.Trust
	proof    *ledger.Proof
	opening  func() (*ledger.Opened, error) // opens the proof's checkpoint
	leaf     ledger.Leaf
	opened   *ledger.Opened // nil until a log's signature is verified
	cosigned time.Time      // the time by which a quorum had cosigned; zero if none is required
}

func (l *logs) readProof(data []byte) (err error) {
	if l.proof, err = ledger.ParseProof(data); err == nil {
		l.opening = l.opens(l.proof.Checkpoint)
	}
	return err
}

// opens returns a function that verifies a checkpoint's signatures; it verifies them once and returns the same result
// every time.
func (l *logs) opens(signed []byte) func() (*ledger.Opened, error) {
	return sync.OnceValues(func() (*ledger.Opened, error) { return l.trust.Open(signed) })
}

// readLeaf reads the leaf of a proof. It reads only the kind of a leaf that cannot match: one of another kind than slices, in a proof beside a bundle or a
// disclosure.
func (l *logs) readLeaf(s *subject, beside bool) error {
	kind, err := ledger.ParseKind(l.proof.Leaf)
	if err != nil {
		return err
	}
	if beside && !slices.ContainsFunc(issued.Forms(), func(f ledger.Form) bool { return f.Kind == kind }) {
		l.leaf = ledger.Foreign{Bytes: l.proof.Leaf}
		return nil
	}
	if l.leaf, err = ledger.ParseLeaf(l.proof.Leaf, append(issued.Forms(), registry.Form())...); err != nil {
		return err
	}
	switch leaf := l.leaf.(type) {
	case ledger.Foreign:
		return leaf.Version
	case *issued.SliceLeaf: // with a bundle of turns, the leaf must have the bundle's version
		if s != nil && slice.IsSchema(s.provenance.SchemaVersion) && leaf.Provenance.SchemaVersion != s.provenance.SchemaVersion {
			return fmt.Errorf("%w: the leaf has the schema_version %q, but the slice has %q", slice.ErrVersion, leaf.Provenance.SchemaVersion, s.provenance.SchemaVersion)
		}
	}
	return nil
}

// log verifies and opens the checkpoint of the proof.
func (l *logs) log(s *subject) {
	switch {
	case len(l.trust.Logs) == 0:
		l.skip(CheckLog, "the trust file names no log")
	case l.proof == nil:
		l.skip(CheckLog, "there is no proof")
	default:
		claimed, err := ledger.ReadCheckpoint(l.proof.Checkpoint)
		if err == nil && s != nil && ledger.Origin(claimed.Origin).Tenant() != s.seal.Tenant {
			l.fail(CheckLog, KeyUnknown, "%s is not a log of tenant %s", claimed.Origin, s.seal.Tenant)
			return
		}
		if l.opened = l.open(CheckLog, l.opening); l.opened != nil {
			l.pass(CheckLog, "%s, %d leaves", l.opened.Origin, l.opened.Size)
		}
	}
}

// open opens a checkpoint, and records a failed check if no trusted key signed it.
func (l *logs) open(id slice.CheckID, opening func() (*ledger.Opened, error)) *ledger.Opened {
	o, err := opening()
	switch {
	case errors.Is(err, ledger.ErrForm):
		l.fail(id, Malformed, "%v", err)
	case errors.Is(err, ledger.ErrSignature):
		l.fail(id, Tampered, "%v", err)
	case err != nil:
		l.fail(id, KeyUnknown, "%v", err)
	}
	return o
}

// logged checks that the proof's leaf is included in the checkpoint and, if there is more evidence than the proof, belongs to it.
func (l *logs) logged(of *subject, s *attest.Statement) {
	if l.opened == nil {
		if len(l.trust.Logs) > 0 && l.proof == nil {
			l.fail(CheckLogged, NotInLog, "the trust file names a log, so a proof of inclusion is needed, and there is none")
			return
		}
		l.skip(CheckLogged, "no checkpoint was verified")
		return
	}
	in := &Inclusion{Origin: l.opened.Origin, Index: l.proof.Index, Size: l.opened.Size}
	issued := ""
	if of != nil {
		at, err := of.matchLeaf(l.leaf)
		if err != nil {
			l.fail(CheckLogged, NotInLog, "%v", err)
			return
		}
		in.Issued, issued = at, fmt.Sprintf(", issued %s", at)
	}
	if s != nil && (s.Index != l.proof.Index || s.Origin != l.opened.Origin) {
		l.fail(CheckLogged, NotInLog, "the proof is of leaf %d of %s, the attestation names %d of %s", l.proof.Index, l.opened.Origin, s.Index, s.Origin)
		return
	}
	if err := l.opened.CheckInclusion(l.proof.Index, ledger.LeafHash(l.proof.Leaf), l.proof.Path); err != nil {
		l.fail(CheckLogged, NotInLog, "%v", err)
		return
	}
	l.signed = true
	l.v.Inclusion = in
	l.pass(CheckLogged, "%s #%d of %d%s", in.Origin, in.Index, in.Size, issued)
}

func (l *logs) witnesses(since time.Time) {
	switch {
	case l.opened == nil:
		l.skip(CheckWitnesses, "no checkpoint was verified")
	case !l.trust.Quorum():
		l.skip(CheckWitnesses, "the trust file asks for none")
	default:
		at, err := l.opened.Quorum(since)
		if err != nil {
			l.fail(CheckWitnesses, QuorumNotMet, "%v", err)
			return
		}
		l.cosigned = at
		newest := l.opened.Cosigned[len(l.opened.Cosigned)-1].At
		l.pass(CheckWitnesses, "%d of %d cosigned, a quorum by %s, the newest at %s", len(l.opened.Cosigned), len(l.trust.Witnesses), at.Format(time.RFC3339), newest.Format(time.RFC3339))
	}
}

func (l *logs) consistency(before []byte, proof []ledger.Hash) {
	if before == nil || l.opened == nil {
		l.skip(CheckConsistency, "this check needs two checkpoints of a trusted log")
		return
	}
	old := l.open(CheckConsistency, l.opens(before))
	if old == nil {
		return
	}
	if old.Origin != l.opened.Origin {
		l.fail(CheckConsistency, KeyUnknown, "the old checkpoint is of %s, the new one of %s", old.Origin, l.opened.Origin)
		return
	}
	if len(proof) == 0 && 0 < old.Size && old.Size < l.opened.Size {
		l.fail(CheckConsistency, LogInconsistent, "no proof that its %d leaves continue the %d leaves with the root %s was given", l.opened.Size, old.Size, old.Hash)
		return
	}
	if err := l.opened.CheckConsistency(old.Root, proof); err != nil {
		l.fail(CheckConsistency, LogInconsistent, "%v", err)
		return
	}
	l.pass(CheckConsistency, "%d leaves continue %d", l.opened.Size, old.Size)
}
